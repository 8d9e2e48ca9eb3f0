"""Reactions, [reaction.NAME], as the core takes them: tables of their rate coefficients."""

from __future__ import annotations

import numpy as np

from plaq import _core
from plaq.errors import InputError
from plaq.pic.inputs.refusals import read_formula
from plaq.pic.inputs.secondary import ENERGIES
from plaq.pic.inputs.setup import Setup, finite


def reaction_of(setup: Setup, name: str) -> _core.pic.Reaction:
    """Return [reaction.NAME]. InputError where its rate is not finite or below 0."""
    section, names = setup.p.reaction[name], list(setup.p.species)
    part = "cross_section" if section.rate is None else "rate"
    key = f"reaction.{name}.{part}"
    unit = setup.units.of("cross section" if section.rate is None else "rate coefficient")
    formula = read_formula(getattr(section, part), ("energy",), setup.p.constants, key)
    rate = unit * np.broadcast_to(finite(key, formula, unit, energy=ENERGIES / setup.units.of("temperature")),
                                  ENERGIES.shape)
    if rate.min() < 0:
        at = ENERGIES[int(np.argmin(rate))] / setup.units.of("temperature")
        raise InputError(f"{key}: {formula.text} is below 0 at energy = {at:.6g}")
    if section.rate is None:
        rate = rate * relative_velocity(*(setup.p.species[species].mass for species in section.between))
    released = section.released * setup.units.of("temperature")
    rate = np.where(ENERGIES + released < 0, 0.0, rate)
    return _core.pic.Reaction(name, *(names.index(species) for species in section.between),
                              [names.index(species) for species in section.products], released, ENERGIES,
                              np.ascontiguousarray(rate))


def relative_velocity(first: float, second: float) -> np.ndarray:
    """Return the relative velocity at the energies of the table, with relativistic kinematics."""
    masses = first + second
    projectile = ENERGIES * (ENERGIES + 2 * masses) / (2 * first * second)  # γ - 1 where the other one rests
    return np.sqrt(projectile * (projectile + 2)) / (projectile + 1)
