"""Expected content of the patches, before the first particle exists: counts from the profiles, memory.

A cell counts as full where the density at its centre is above 0, as it will be when particles are placed in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from plaq.data.formatting import format_size
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
    cells = np.ones(1)
    for starts in setup.starts:
        cells = np.multiply.outer(np.diff(starts).astype(float), cells).ravel()
    particles, densest = {}, {}
    for name, one in setup.p.species.items():
        profile, share, taken = setup.density[name], [], []  # share of the cells that are full, of which patches
        best = (0.0, np.zeros(setup.dimension), 0.0)
        even = all(part.constant is not None for part in (profile, *setup.temperature[name], *setup.drift[name]))
        middle = np.array([[setup.lengths]]) / 2
        for patches, places in [(np.zeros(1, int), middle)] if even else setup.places_in_patches():
            shape, places = places.shape[:2], places.reshape(-1, setup.dimension)
            density = profile.at(places)
            positive(f"species.{name}.density", profile.text, density, places, setup)
            full = density > 0
            taken.append(patches)
            share.append(full.reshape(shape).mean(axis=1))
            if full.any():
                coldest = _coldest(setup, name, places[full])
                _ = [part.at(places[full]) for part in setup.drift[name]]
                most = int(np.argmax(density[full]))
                if density[full][most] > best[0]:
                    best = (float(density[full][most]), places[full][most], float(coldest[most]))
        nearest = np.searchsorted(np.concatenate(taken), np.arange(len(cells)), side="right") - 1
        particles[name], densest[name] = one.per_cell * cells * np.concatenate(share)[nearest], best
    return Loads(cells, particles, densest)


def positive(key: str, text: str, values: np.ndarray, places: np.ndarray, setup: Setup) -> None:
    if values.min() < 0:
        at = places[int(np.argmin(values))] / setup.length_unit
        where = ", ".join(f"{d} = {value:.6g}" for d, value in zip(setup.directions, at))
        raise InputError(f"{key}: {text} is below 0 at {where}")


def _coldest(setup: Setup, name: str, places: np.ndarray) -> np.ndarray:
    """The least of the three temperatures at each place."""
    found = [profile.at(places) for profile in setup.temperature[name]]
    for profile, values in zip(setup.temperature[name], found):
        positive(f"species.{name}.temperature", profile.text, values, places, setup)
    return np.min(found, axis=0)


def bytes_of(setup: Setup, loads: Loads) -> np.ndarray:
    """Of every patch."""
    return FIELD_BYTES * loads.cells + sum(particle_bytes(setup, name) * counts
                                           for name, counts in loads.particles.items())


def particle_bytes(setup: Setup, species: str) -> float:
    """Bytes of a macro-particle: cell and place in each direction, three momenta, weight, and its id if any."""
    number = 8 if setup.p.solver.precision == "double" else 4
    return ROOM * (setup.dimension * (4 + number) + 4 * number + 8 * setup.tracked(species))


def emitted_particles(setup: Setup, name: str) -> float:
    """Macro-particles that [emission.NAME] gives off until the end, of a given flux."""
    return float(setup.flux(name, setup.every).mean()) * setup.steps * per_flux(setup, name)


def most_emitted(setup: Setup, name: str, flux: np.ndarray) -> float:
    """Macro-particles that [emission.NAME] gives off in a step, at most; ``flux`` in steps."""
    return float(flux.max(initial=0.0)) * per_flux(setup, name)


def per_flux(setup: Setup, name: str) -> float:
    """Macro-particles of [emission.NAME] in a step at a flux of n_0 c."""
    plate = setup.p.emission[name]
    area = (2 * (plate.half_width or 0.0) * setup.length_unit) ** (setup.dimension - 1)
    return setup.dt * area * plate.per_cell / setup.cell_volume


def emitted_bytes(setup: Setup) -> float:
    """Of all that plates give off until the end, as if nothing left the box."""
    return sum(particle_bytes(setup, plate.species) * emitted_particles(setup, name)
               for name, plate in setup.p.emission.items() if not plate.space_charge_limited)


def check_memory(setup: Setup, loads: Loads, ranks: int, place: float | None) -> None:
    """InputError where the patches of a rank would not fit. They are dealt out by their expected work."""
    available = memory() if place is None else place
    needed = max(float(bytes_of(setup, loads).sum()) / ranks, float(bytes_of(setup, loads).max()))
    if needed > available:
        raise InputError(f"this input needs about {format_size(needed)} of memory on each of {ranks} ranks for "
                         f"{loads.all_particles.sum():.4g} particles and {loads.cells.sum():.4g} cells, "
                         f"and there are {format_size(available)}; take more ranks, smaller species.NAME.per_cell or "
                         "a smaller grid")


def recorded_bytes(setup: Setup) -> float:
    """Bytes of the history, and of all probes, histograms and pictures until the end, on each rank."""
    columns = 8 + 22 * len(setup.p.species)
    cells = dict(zip(setup.directions, setup.cells))
    probes = sum(cells.get(one.along, 1) / one.every for one in setup.p.probe.values())
    histograms = sum(math.prod(one.bins) / one.every for one in setup.p.histogram.values())
    return 8.0 * setup.steps * (columns + probes + histograms)
