"""Doubts about an input, in sentences with the numbers, before it runs."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from plaq.data.formatting import format_size
from plaq.machine import memory
from plaq.pic.loads import Loads, recorded_bytes
from plaq.pic.setup import Setup
from plaq.pic.table import DIRECTIONS

FAST = 0.5  # ω_p Δt
TURN = 1.0  # ω_c Δt
COARSE = 10  # cells to a wavelength
LONG = 100.0  # 1/ω_p, in which a mesh heats what is cold
GROWS = 20.0  # 1/ω_p, in which numerical Cherenkov radiation grows by a few powers of e
LIGHT = 10.0  # m_e, of species that a mesh heats


def doubts(setup: Setup, loads: Loads) -> list[str]:
    with np.errstate(all="ignore"):
        found = [sentence for name in setup.p.species for sentence in _of_species(setup, loads, name)]
    return [*found, *_of_magnets(setup), *_of_outside(setup), *_of_lasers(setup), *_of_memory(setup)]


def _of_species(setup: Setup, loads: Loads, name: str) -> Iterator[str]:
    """Doubt the mesh and the step at the place where a species is densest."""
    one, (density, place, temperature) = setup.p.species[name], loads.densest[name]
    if density <= 0 or one.charge == 0:
        return
    widest, omega = max(setup.spacing), abs(one.charge) * math.sqrt(density / one.mass)
    if omega * setup.dt > FAST:
        yield f"species {name}: ω_p Δt = {omega * setup.dt:.3g} where it is densest, and from 2 on a step is unstable"
    drift = np.array([profile.at(place[None])[0] for profile in setup.drift[name]])
    debye, heated = np.sqrt(temperature / density) / abs(one.charge), density * (one.charge * widest / np.pi) ** 2
    if temperature == 0:
        if one.mass < LIGHT and not drift.any() and omega * _stay(setup) > LONG:
            yield (f"species {name} is cold and at rest: the mesh heats it in some {LONG:g} /ω_p until its Debye "
                   f"length is about a cell over π, which is a temperature of {heated:.2g} m_e c²")
    elif one.mass < LIGHT and debye < widest / np.pi:
        where = ", ".join(f"{d} = {value / setup.length_unit:.4g}" for d, value in zip(setup.directions, place))
        yield (f"species {name}: the Debye length {debye:.3g} c/ω_p at {where} is {debye / widest:.2g} "
               "of a cell, so that the mesh heats the plasma; from 1/π cells on it is resolved")
    if setup.p.fields.solver == "electromagnetic" and setup.dimension > 1:
        speed = float(np.linalg.norm(drift) / np.sqrt(1 + drift @ drift))
        slowest = speed_of_light(setup, int(np.argmax(np.abs(drift[:setup.dimension]))), 2)
        if speed > slowest and omega * _stay(setup) > GROWS:
            yield (f"species {name}: its drift of {speed:.4g} c is faster than the slowest light on the mesh, "
                   f"{slowest:.3g} c, which it makes grow (numerical Cherenkov radiation)")


def speed_of_light(setup: Setup, direction: int, cells: float) -> float:
    """The phase velocity on the mesh of a wave of so many cells along a direction: sin(ω Δt/2)/Δt = sin(k Δx/2)/Δx."""
    step, half = setup.dt / setup.spacing[direction], math.pi / cells  # k Δx/2
    return math.asin(min(1.0, step * math.sin(half))) / (step * half)


def _stay(setup: Setup) -> float:
    """How long particles are in the box, 1/ω_p: until the end, or until a window has passed."""
    duration, speed = setup.steps * setup.dt, setup.p.window.speed
    return min(duration, setup.lengths[0] / speed) if speed else duration


def _of_magnets(setup: Setup) -> Iterator[str]:
    fields = [profile for name, profile in setup.first_fields.items() if name.startswith("b")]
    if not fields:
        return
    if all(profile.constant is not None for profile in fields):
        strongest = math.hypot(*(profile.constant for profile in fields))
    else:
        strongest = max(float(np.max(np.linalg.norm([profile.at(places) for profile in fields], axis=0)))
                        for places in setup.places())
    for name, one in setup.p.species.items():
        turn = abs(one.charge) / one.mass * strongest * setup.dt
        if turn > TURN:
            yield (f"species {name}: ω_c Δt = {turn:.3g} where fields.b is strongest, {2 * math.pi / turn:.2g} steps "
                   "to a turn, whose frequency and radius are not right then")


def _of_outside(setup: Setup) -> Iterator[str]:
    """E that conductors would not let stand."""
    for name in setup.outside_fields:
        d = DIRECTIONS.index(name[1])
        if d < setup.dimension and (setup.p.conductor or "periodic" not in getattr(setup.p.boundaries, name[1])):
            yield (f"fields.e: conductors do not answer E_{name[1]} from outside, as those of a laboratory would; a "
                   f"voltage between sides is boundaries.potential_{name[1]}")


def _of_lasers(setup: Setup) -> Iterator[str]:
    for name, one in setup.p.laser.items():
        d = setup.directions.index(one.normal)
        cells = one.wavelength * setup.length_unit / setup.spacing[d]
        if cells < COARSE:
            yield (f"laser {name}: {cells:.3g} cells to a wavelength; on the mesh its light has "
                   f"{speed_of_light(setup, d, cells):.3g} of its speed, and less off the axes; {COARSE} and more are "
                   "usual")
        if "periodic" in getattr(setup.p.boundaries, one.normal) and setup.steps * setup.dt > setup.lengths[d]:
            yield (f"laser {name}: the box is periodic in {one.normal}, so that the light of both sides of its antenna "
                   f"comes back to it; boundaries.{one.normal} = \"absorbing\" takes it out")


def _of_memory(setup: Setup) -> Iterator[str]:
    needed, available = recorded_bytes(setup), memory()
    if needed > available:
        yield (f"what is recorded in {setup.steps} steps grows to {format_size(needed)} on each rank, and there are "
               f"{format_size(available)}")
