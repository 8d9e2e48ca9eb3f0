"""Speeds of particles at the beginning."""

from __future__ import annotations

import numpy as np

from plaq.pic.inputs.setup import Setup

TAIL = 4  # thermal speeds that few particles exceed


def cells_per_step(setup: Setup, name: str) -> float:
    """Return the longest path of a species in a step at the beginning, in cells along any axis.

    Of particles with the mean momentum and TAIL times √(T/m), those from plates included.
    """
    species = setup.p.species[name]
    most = 0.0
    for points in setup.sample_points() if species.density != 0.0 else ():
        full = points[setup.density[name].at(points) > 0]
        for d, h in enumerate(setup.spacing):
            if len(full):
                temperature, drift = setup.temperature[name][d].at(full), setup.drift[name][d].at(full)
                most = max(most, _cells_per_time(np.abs(drift) + TAIL * np.sqrt(temperature / species.mass), h))
    for plate in setup.p.emission.values():
        if plate.species == name:
            thermal = np.sqrt(plate.temperature * setup.units.of("temperature") / species.mass)
            most = max(most, _cells_per_time(np.array([plate.drift + TAIL * thermal]), min(setup.spacing)))
    return most * setup.dt


def _cells_per_time(u: np.ndarray, cell: float) -> float:
    """Return the largest number of cells in a unit of time, of momenta γβ."""
    return float((u / np.sqrt(1 + u * u)).max()) / cell
