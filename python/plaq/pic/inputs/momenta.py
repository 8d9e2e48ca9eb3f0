"""Momenta drawn from the density that a species of an input has as a formula."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from plaq.errors import InputError
from plaq.pic.inputs.refusals import read_formula
from plaq.pic.inputs.setup import Setup

MOST_ROUNDS = 1 << 14  # of draws for a particle


def draw(setup: Setup, name: str, x: np.ndarray, uniform: Callable[[np.ndarray, int], np.ndarray]) -> np.ndarray:
    """Return u [n, 3] of particles at x [n, D], distributed as ``species.NAME.momenta`` between its bounds.

    A point between the bounds is accepted with the formula's value as probability (von Neumann). ``uniform`` (which,
    round) returns four numbers in [0, 1) for each of some particles. InputError where a value is not in [0, 1], or no
    point of MOST_ROUNDS is accepted.
    """
    species, key = setup.p.species[name], f"species.{name}.momenta"
    momenta = [f"u{d}" for d in setup.axes]
    formula = read_formula(species.momenta, (*momenta, *setup.directions), setup.p.constants, key)
    low, high = np.array(species.momenta_low), np.array(species.momenta_high)
    u, waiting = np.zeros((len(x), 3)), np.arange(len(x))
    for number in range(MOST_ROUNDS):
        if not len(waiting):
            return u
        numbers = np.asarray(uniform(waiting, number))
        tried = low + (high - low) * numbers[:, :3]
        at = {**dict(zip(momenta, tried.T)),
              **{d: x[waiting, i] / setup.length_unit for i, d in enumerate(setup.directions)}}
        value = formula(**at)
        if not (good := (value >= 0) & (value <= 1)).all():
            worst = int(np.argmin(good))
            where = ", ".join(f"{symbol} = {float(values[worst]):.6g}" for symbol, values in at.items())
            raise InputError(f"{key}: {formula.text} is {value[worst]:.6g} at {where}: a density of momenta is from "
                             f"0 to 1")
        accepted = numbers[:, 3] < value
        u[waiting[accepted]] = tried[accepted]
        waiting = waiting[~accepted]
    raise InputError(f"{key}: {formula.text} accepts no momentum of {MOST_ROUNDS} for {len(waiting)} particles: set "
                     "momenta_low and momenta_high closer to where it is not 0")
