"""Secondary emission, [secondary.NAME], as the core takes it: tables of its coefficient."""

from __future__ import annotations

import numpy as np

from plaq import _core
from plaq.errors import InputError
from plaq.pic.inputs.refusals import read_formula
from plaq.pic.inputs.setup import Setup, finite

ENERGIES = np.concatenate([[0.0], np.geomspace(1e-9, 10.0, 501)])  # of the table, m_e c²
COSINES = np.linspace(0.0, 1.0, 33)


def secondary_of(setup: Setup, name: str) -> _core.pic.SecondaryEmission:
    """Return [secondary.NAME]. InputError where its coefficient is not finite, below 0 or above what is possible."""
    section, names = setup.p.secondary[name], list(setup.p.species)
    key, unit = f"secondary.{name}.coefficient", setup.units.of("temperature")
    formula = read_formula(section.coefficient, ("energy", "angle"), setup.p.constants, key)
    energy, angle = np.meshgrid(ENERGIES / unit, np.arccos(COSINES), indexing="ij")
    number = np.ascontiguousarray(finite(key, formula, 1.0, energy=energy, angle=angle))
    if number.min() < 0:
        at = np.unravel_index(np.argmin(number), number.shape)
        raise InputError(f"{key}: {formula.text} is below 0 at energy = {energy[at]:.6g}, angle = {angle[at]:.6g}")
    return _core.pic.SecondaryEmission(names.index(section.by), names.index(section.emits), sides_of(setup, name),
                                       section.temperature * unit, ENERGIES, number)


def sides_of(setup: Setup, name: str) -> list[list[bool]]:
    """Return whether each side emits [direction][low, high]."""
    chosen = setup.p.secondary[name].at
    absorbing = [[setup.sides("particles_", side)[d] == "absorbed" for side in (0, 1)] for d in range(setup.dimension)]
    if not chosen:
        return absorbing
    return [[f"{d} {end}" in chosen for end in ("low", "high")] for d in setup.directions]
