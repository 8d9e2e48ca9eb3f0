"""Warnings about an input before it runs, in sentences with numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from plaq.data.formatting import format_size
from plaq.machine import memory
from plaq.pic.inputs.external import strongest
from plaq.pic.inputs.loads import Loads, recorded_bytes
from plaq.pic.inputs.setup import Setup

FAST = 0.5  # ω_p Δt
TURN = 1.0  # ω_c Δt
COARSE = 10  # cells to a wavelength
LONG = 100.0  # 1/ω_p, in which a mesh heats a cold plasma
GROWS = 20.0  # 1/ω_p, in which numerical Cherenkov radiation grows by a few powers of e
LIGHT = 10.0  # m_e, of species that a mesh heats
AZIMUTHS = 16  # particles of a cell, with which each place has several azimuths


def input_warnings(setup: Setup, loads: Loads) -> list[str]:
    """Return the warnings as sentences."""
    with np.errstate(all="ignore"):
        of_species = [sentence for name in setup.p.species for sentence in _of_species(setup, loads, name)]
    return [*of_species, *_of_magnets(setup), *_of_external_fields(setup), *_of_lasers(setup), *_of_memory(setup)]


def _of_species(setup: Setup, loads: Loads, name: str) -> Iterator[str]:
    """Warn of the mesh and the step at the point where a species is densest."""
    species, (density, point, temperature) = setup.p.species[name], loads.densest[name]
    if density <= 0 or species.charge == 0:
        return
    if setup.p.grid.modes > 1 and species.moves and 0 < species.per_cell < AZIMUTHS:
        yield (f"species {name}: with modes a cell of a dense plasma needs some {AZIMUTHS} particles, so that each "
               f"place has several azimuths; per_cell is {species.per_cell}")
    widest, omega = max(setup.spacing), abs(species.charge) * math.sqrt(density / species.mass)
    if omega * setup.dt > FAST:
        yield f"species {name}: ω_p Δt = {omega * setup.dt:.3g} where it is densest, and from 2 on a step is unstable"
    drift = np.array([profile.at(point[None])[0] for profile in setup.drift[name]])
    debye = np.sqrt(temperature / density) / abs(species.charge)
    heated = density * (species.charge * widest / np.pi) ** 2
    if temperature == 0:
        if species.mass < LIGHT and not drift.any() and omega * _residence_time(setup) > LONG:
            yield (f"species {name} is cold and at rest: the mesh heats it in some {LONG:g} /ω_p until its Debye "
                   f"length is about a cell over π, which is a temperature of {heated:.2g} m_e c²")
    elif species.mass < LIGHT and debye < widest / np.pi:
        where = ", ".join(f"{d} = {value / setup.length_unit:.4g}" for d, value in zip(setup.directions, point))
        yield (f"species {name}: the Debye length {debye:.3g} c/ω_p at {where} is {debye / widest:.2g} "
               "of a cell, so that the mesh heats the plasma; from 1/π cells on it is resolved")
    if setup.p.fields.solver == "electromagnetic" and setup.dimension > 1:
        speed = float(np.linalg.norm(drift) / np.sqrt(1 + drift @ drift))
        slowest = speed_of_light(setup, int(np.argmax(np.abs(drift[:setup.dimension]))), 2)
        if speed > slowest and not setup.p.fields.filter_passes and omega * _residence_time(setup) > GROWS:
            yield (f"species {name}: its drift of {speed:.4g} c is faster than the slowest light on the mesh, "
                   f"{slowest:.3g} c, which then grows (numerical Cherenkov radiation); fields.filter_passes damps it")


def speed_of_light(setup: Setup, direction: int, cells: float) -> float:
    """Return the phase velocity on the mesh of a wave of so many cells along a direction.

    sin(ω Δt/2)/Δt = sin(k Δx/2)/Δx.
    """
    step, half = setup.dt / setup.spacing[direction], math.pi / cells  # k Δx/2
    return math.asin(min(1.0, step * math.sin(half))) / (step * half)


def _residence_time(setup: Setup) -> float:
    """Return the time that particles are in the box, 1/ω_p: until the end, or until a window has passed."""
    duration, speed = setup.steps * setup.dt, setup.p.window.speed
    return min(duration, setup.lengths[0] / speed) if speed else duration


def _of_magnets(setup: Setup) -> Iterator[str]:
    fields = [profile for name, profile in setup.initial_fields.items() if name.startswith("b")]
    outside = strongest(setup, "b")
    if not fields and not outside:
        return
    if all(profile.constant is not None for profile in fields):
        inside = math.hypot(*(profile.constant for profile in fields))
    else:
        inside = max(float(np.max(np.linalg.norm([profile.at(points) for profile in fields], axis=0)))
                     for points in setup.sample_points())
    for name, species in setup.p.species.items():
        turn = abs(species.charge) / species.mass * (inside + outside) * setup.dt
        if turn > TURN:
            yield (f"species {name}: ω_c Δt = {turn:.3g} where B is strongest, {2 * math.pi / turn:.2g} steps "
                   "to a turn, so that frequency and radius are wrong")


def _of_external_fields(setup: Setup) -> Iterator[str]:
    """Warn of an external E that conductors would change."""
    for i, d in enumerate(setup.directions):
        conductors = setup.p.conductor or "conducting" in getattr(setup.p.boundaries, d)
        if setup.p.fields.solver == "electrostatic" and conductors and setup.p.external.e[i] != 0.0:
            yield (f"external.e: conductors do not respond to the external E_{d}, as real ones would; a "
                   f"voltage between sides is boundaries.potential_{d}")


def _of_lasers(setup: Setup) -> Iterator[str]:
    for name, laser in setup.p.laser.items():
        d = setup.directions.index(laser.normal)
        cells = 2 * math.pi / (setup.laser_omega(name) * setup.spacing[d])
        if cells < COARSE:
            yield (f"laser {name}: {cells:.3g} cells to a wavelength; on the mesh its light has "
                   f"{speed_of_light(setup, d, cells):.3g} of its speed, and less off the axes; {COARSE} and more are "
                   "usual")
        if "periodic" in getattr(setup.p.boundaries, laser.normal) and setup.steps * setup.dt > setup.lengths[d]:
            yield (f"laser {name}: the box is periodic in {laser.normal}, so that the light of both sides of its "
                   f"antenna returns to it; boundaries.{laser.normal} = \"absorbing\" removes it")


def _of_memory(setup: Setup) -> Iterator[str]:
    needed, available = recorded_bytes(setup), memory()
    if needed > available:
        yield (f"the records of {setup.steps} steps grow to {format_size(needed)} on each rank, and there are "
               f"{format_size(available)}")
