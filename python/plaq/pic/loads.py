"""What the patches will hold, before the first particle exists: counts from the profiles, memory, and doubts.

A cell counts as full where the density at its centre is above 0, as it will be when particles are placed in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaq.data.words import size
from plaq.errors import InputError
from plaq.machine import memory
from plaq.pic.setup import Setup

FIELD_BYTES = 16 * 8  # of a cell: six fields, three currents, densities, and copies while they travel
ROOM = 2.0  # particles are moved to be sorted, and their arrays have room to grow
CELL_WORK = 2.0  # of a cell's fields in a step, in pushes of particles


@dataclass(frozen=True)
class Loads:
    """Of every patch, x fastest: ``cells`` and ``particles`` by species [patch]; ``densest`` by species: (density,
    place, temperature there)."""

    cells: np.ndarray
    particles: dict[str, np.ndarray]
    densest: dict[str, tuple[float, np.ndarray, float]]

    @property
    def all_particles(self) -> np.ndarray:
        return sum(self.particles.values(), np.zeros(len(self.cells)))

    def work(self) -> np.ndarray:
        """Of a step, in pushes."""
        return self.all_particles + CELL_WORK * self.cells


def expected(setup: Setup) -> Loads:
    """From the profiles. InputError where one is not finite, or a density or temperature is below 0."""
    boxes = setup.patch_boxes()
    cells = np.array([np.prod(extent) for _, extent in boxes], float)
    particles, densest = {}, {}
    for name, one in setup.p.species.items():
        profile, counts = setup.density[name], np.zeros(len(boxes))
        best = (0.0, np.zeros(setup.dimension), 0.0)
        even = all(part.constant is not None for part in (profile, *setup.temperature[name], *setup.drift[name]))
        for number, (first, extent) in enumerate(boxes):
            places = np.array([setup.lengths]) / 2 if even else setup.centres(first, extent)
            density = profile.at(places)
            _positive(f"{name}.density", profile.text, density, places, setup)
            full = density > 0
            counts[number] = one.per_cell * cells[number] * np.mean(full)
            if full.any():
                coldest = _coldest(setup, name, places[full])
                _ = [part.at(places[full]) for part in setup.drift[name]]
                most = int(np.argmax(density[full]))
                if density[full][most] > best[0]:
                    best = (float(density[full][most]), places[full][most], float(coldest[most]))
            if even:
                counts[:] = one.per_cell * cells * full[0]
                break
        particles[name], densest[name] = counts, best
    return Loads(cells, particles, densest)


def _positive(key: str, text: str, values: np.ndarray, places: np.ndarray, setup: Setup) -> None:
    if values.min() < 0:
        at = places[int(np.argmin(values))] / setup.length_unit
        where = ", ".join(f"{d} = {value:.6g}" for d, value in zip(setup.directions, at))
        raise InputError(f"species.{key}: {text} is below 0 at {where}")


def _coldest(setup: Setup, name: str, places: np.ndarray) -> np.ndarray:
    """The least of the three temperatures at each place."""
    found = [profile.at(places) for profile in setup.temperature[name]]
    for profile, values in zip(setup.temperature[name], found):
        _positive(f"{name}.temperature", profile.text, values, places, setup)
    return np.min(found, axis=0)


def bytes_of(setup: Setup, loads: Loads) -> np.ndarray:
    """Of every patch."""
    return FIELD_BYTES * loads.cells + particle_bytes(setup) * loads.all_particles


def particle_bytes(setup: Setup) -> float:
    """Of a macro-particle: cell and place in each direction, three momenta, weight."""
    number = 8 if setup.p.solver.precision == "double" else 4
    return ROOM * (setup.dimension * (4 + number) + 4 * number)


def emitted_particles(setup: Setup, name: str) -> float:
    """Macro-particles that [emission.NAME] gives off until the end, of a given flux."""
    plate, flux = setup.p.emission[name], setup.flux(name)
    area = (2 * (plate.half_width or 0.5) * (setup.length_unit if plate.half_width else 1)) ** (setup.dimension - 1)
    total = flux.sum() * setup.dt if len(flux) > 1 else flux[0] * setup.dt * setup.steps
    return float(total * area * plate.per_cell / setup.cell_volume)


def emitted_bytes(setup: Setup) -> float:
    """Of all that plates give off until the end, as if nothing left the box."""
    given = [name for name, plate in setup.p.emission.items() if not plate.space_charge_limited]
    return particle_bytes(setup) * sum(emitted_particles(setup, name) for name in given)


def check_memory(setup: Setup, loads: Loads, ranks: int, place: float | None) -> None:
    """InputError where the patches of a rank would not fit. They are dealt out by their expected work."""
    available = memory() if place is None else place
    needed = max(float(bytes_of(setup, loads).sum()) / ranks, float(bytes_of(setup, loads).max()))
    if needed > available:
        raise InputError(f"this input needs about {size(needed)} of memory on each of {ranks} ranks for "
                         f"{loads.all_particles.sum():.4g} particles and {loads.cells.sum():.4g} cells, "
                         f"and there are {size(available)}; take more ranks, smaller species.NAME.per_cell or "
                         "a smaller grid")


def doubts(setup: Setup, loads: Loads) -> list[str]:
    """What is allowed but seldom wanted, in sentences with the numbers."""
    found = []
    widest = max(setup.spacing)
    for name, one in setup.p.species.items():
        density, place, temperature = loads.densest[name]
        if density <= 0 or one.charge == 0:
            continue
        omega = abs(one.charge) * np.sqrt(density / one.mass)
        if omega * setup.dt > 0.5:
            found.append(f"species {name}: ω_p Δt = {omega * setup.dt:.3g} where it is densest, and from 2 on a "
                         "step is unstable")
        debye = np.sqrt(temperature / density) / abs(one.charge)
        if temperature == 0 and one.mass < 10:
            found.append(f"species {name} is cold where it is densest: a Debye length of 0 is resolved by no "
                         f"mesh, which heats the plasma until it is about {widest / np.pi:.2g} c/ω_p, "
                         "a cell over π; nothing to worry about in short runs and beams")
        elif one.mass < 10 and debye < widest / np.pi:
            where = ", ".join(f"{d} = {value / setup.length_unit:.4g}" for d, value in zip(setup.directions, place))
            found.append(f"species {name}: the Debye length {debye:.3g} c/ω_p at {where} is {debye / widest:.2g} "
                         "of a cell, so that the mesh heats the plasma; from 1/π cells on it is resolved")
    return found
