"""How fast particles are at the beginning."""

from __future__ import annotations

import numpy as np

from plaq.pic.setup import Setup

TAIL = 4  # thermal speeds: few are faster


def cells_in_a_step(setup: Setup, name: str) -> float:
    """The longest way of particles of a species in a step at the beginning, along any axis in its cells: with mean
    momentum and TAIL times √(T/m), those that plates give off too."""
    one = setup.p.species[name]
    most = 0.0
    for places in setup.places() if one.density != 0.0 else ():
        full = places[setup.density[name].at(places) > 0]
        for d, h in enumerate(setup.spacing):
            if len(full):
                temperature, drift = setup.temperature[name][d].at(full), setup.drift[name][d].at(full)
                most = max(most, _way(np.abs(drift) + TAIL * np.sqrt(temperature / one.mass), h))
    for plate in setup.p.emission.values():
        if plate.species == name:
            thermal = np.sqrt(plate.temperature * setup.units.of("temperature") / one.mass)
            most = max(most, _way(np.array([plate.drift + TAIL * thermal]), min(setup.spacing)))
    return most * setup.dt


def _way(u: np.ndarray, cell: float) -> float:
    """Cells in a unit of time, of momenta γβ."""
    return float((u / np.sqrt(1 + u * u)).max()) / cell
