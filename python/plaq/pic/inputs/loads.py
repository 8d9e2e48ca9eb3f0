"""Expected load of the patches before a run: particles by the profiles, work, memory.

A cell counts as full where the density at its centre is above 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from plaq.data.formatting import format_size
from plaq.errors import InputError
from plaq.machine import memory
from plaq.pic.inputs import particle_files
from plaq.pic.inputs.setup import Setup

FIELD_BYTES = 16 * 8  # of a cell: six fields, three currents, densities, and copies in messages
COPIES = 2.0  # of particles: sorting copies them, and their arrays have room to grow
CELL_WORK = 2.0  # of a cell's fields in a step, in pushes of particles


@dataclass(frozen=True)
class Loads:
    """Loads of every patch, x fastest: ``cells`` and ``particles`` by species [patch].

    ``densest`` by species: (density, point, temperature) where a species is densest.
    """

    cells: np.ndarray
    particles: dict[str, np.ndarray]
    densest: dict[str, tuple[float, np.ndarray, float]]

    @property
    def all_particles(self) -> np.ndarray:
        return sum(self.particles.values(), np.zeros(len(self.cells)))

    def work(self) -> np.ndarray:
        """Return the work of a step of each patch, in pushes."""
        return self.all_particles + CELL_WORK * self.cells


def expected_loads(setup: Setup) -> Loads:
    """Return the loads by the profiles.

    InputError where a profile is not finite, or a density or temperature is below 0.
    """
    cells = np.ones(1)
    for starts in setup.starts:
        cells = np.multiply.outer(np.diff(starts).astype(float), cells).ravel()
    particles, densest = {}, {}
    for name, species in setup.p.species.items():
        profile, share, sampled = setup.density[name], [], []  # share of full cells of the sampled patches
        best = (0.0, np.zeros(setup.dimension), 0.0)
        even = all(part.constant is not None for part in (profile, *setup.temperature[name], *setup.drift[name]))
        middle = np.array([[setup.lengths]]) / 2
        for patches, points in [(np.zeros(1, int), middle)] if even else setup.points_in_patches():
            shape, points = points.shape[:2], points.reshape(-1, setup.dimension)
            density = profile.at(points)
            check_positive(f"species.{name}.density", profile.text, density, points, setup)
            full = density > 0
            sampled.append(patches)
            share.append(full.reshape(shape).mean(axis=1))
            if full.any():
                coldest = _coldest(setup, name, points[full])
                _ = [part.at(points[full]) for part in setup.drift[name]]
                most = int(np.argmax(density[full]))
                if density[full][most] > best[0]:
                    best = (float(density[full][most]), points[full][most], float(coldest[most]))
        nearest = np.searchsorted(np.concatenate(sampled), np.arange(len(cells)), side="right") - 1
        particles[name], densest[name] = species.per_cell * cells * np.concatenate(share)[nearest], best
        if species.file is not None:
            patches = particle_files.patches_of(setup, particle_files.particles_of(setup, name)[0])
            particles[name] = particles[name] + np.bincount(patches, minlength=len(cells))
    return Loads(cells, particles, densest)


def check_positive(key: str, text: str, values: np.ndarray, points: np.ndarray, setup: Setup) -> None:
    """Raise InputError with the point where a value is below 0."""
    if values.min() < 0:
        at = points[int(np.argmin(values))] / setup.length_unit
        where = ", ".join(f"{d} = {value:.6g}" for d, value in zip(setup.directions, at))
        raise InputError(f"{key}: {text} is below 0 at {where}")


def _coldest(setup: Setup, name: str, points: np.ndarray) -> np.ndarray:
    """Return the least of the three temperatures at each point."""
    temperatures = [profile.at(points) for profile in setup.temperature[name]]
    for profile, values in zip(setup.temperature[name], temperatures):
        check_positive(f"species.{name}.temperature", profile.text, values, points, setup)
    return np.min(temperatures, axis=0)


def bytes_of(setup: Setup, loads: Loads) -> np.ndarray:
    """Return the bytes of every patch."""
    return FIELD_BYTES * setup.parts * loads.cells + sum(particle_bytes(setup, name) * counts
                                           for name, counts in loads.particles.items())


def particle_bytes(setup: Setup, species: str) -> float:
    """Return the bytes of a macro-particle: cell and position in each direction, momentum, weight, id if any."""
    number = 8 if setup.p.solver.precision == "double" else 4
    numbers = 4 if setup.parts == 1 else 6  # momentum and weight; azimuth
    return COPIES * (setup.dimension * (4 + number) + numbers * number + 8 * setup.tracked(species))


def emitted_particles(setup: Setup, name: str) -> float:
    """Return the number of macro-particles that [emission.NAME] with a flux emits until the end."""
    return float(setup.flux(name, setup.sampled_step).mean()) * setup.steps * per_flux(setup, name)


def most_emitted(setup: Setup, name: str, flux: np.ndarray) -> float:
    """Return the largest number of macro-particles that [emission.NAME] emits in a step, by its ``flux`` [step]."""
    return float(flux.max(initial=0.0)) * per_flux(setup, name)


def per_flux(setup: Setup, name: str) -> float:
    """Return the number of macro-particles of [emission.NAME] in a step at a flux of n_0 c."""
    plate = setup.p.emission[name]
    area = (2 * (plate.half_width or 0.0) * setup.length_unit) ** (setup.dimension - 1)
    if setup.cylinder:
        area *= 2 * math.pi * plate.at[1] * setup.length_unit
    return setup.dt * area / emitted_weight(setup, name)


def emitted_weight(setup: Setup, name: str) -> float:
    """Return the weight of a macro-particle of [emission.NAME], by the volume of a cell at the middle of the plate."""
    plate = setup.p.emission[name]
    middle = np.array([plate.at]) * setup.length_unit
    return float(np.squeeze(setup.volume_at(middle))) / plate.per_cell


def emitted_bytes(setup: Setup) -> float:
    """Return the bytes of all particles that plates emit until the end, as if none left the box."""
    return sum(particle_bytes(setup, plate.species) * emitted_particles(setup, name)
               for name, plate in setup.p.emission.items() if plate.flux is not None)


def check_memory(setup: Setup, loads: Loads, ranks: int, limit: float | None) -> None:
    """Raise InputError where the patches of a rank do not fit in memory, or in ``limit`` bytes."""
    available = memory() if limit is None else limit
    needed = max(float(bytes_of(setup, loads).sum()) / ranks, float(bytes_of(setup, loads).max()))
    if needed > available:
        raise InputError(f"this input needs about {format_size(needed)} of memory on each of {ranks} ranks for "
                         f"{loads.all_particles.sum():.4g} particles and {loads.cells.sum():.4g} cells, "
                         f"and there are {format_size(available)}; take more ranks, smaller species.NAME.per_cell or "
                         "a smaller grid")


def recorded_bytes(setup: Setup) -> float:
    """Return the bytes of the history, probes, histograms and pictures until the end, on each rank."""
    columns = 8 + 22 * len(setup.p.species)
    cells = dict(zip(setup.directions, setup.cells))
    probes = sum(cells.get(probe.along, 1) / probe.every for probe in setup.p.probe.values())
    histograms = sum(math.prod(histogram.bins) / histogram.every for histogram in setup.p.histogram.values())
    return 8.0 * setup.steps * (columns / setup.p.output.history + probes + histograms)
