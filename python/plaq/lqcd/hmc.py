r"""Hybrid Monte Carlo (Duane, Kennedy, Pendleton and Roweth, Phys. Lett. B 195, 216 (1987)): a gauge field is
moved along $\dot U = P U$, $\dot P = -F$ from random momenta,
and what it comes to is accepted with probability $\min(1, e^{-\Delta H})$.

Forces that cost much and are weak are integrated with longer steps (Sexton and Weingarten, Nucl. Phys. B 380, 665
(1992)). Integrators are those of Omelyan, Mryglod and Folk, Comput. Phys. Commun. 151, 272 (2003): "2mn" of second
order (their equation 31), "omf4" of fourth (their equation 71).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plaq.lqcd.choices import INTEGRATORS
from plaq.lqcd.fields import GaugeField, Momenta
from plaq.lqcd.terms import Term


@dataclass(frozen=True)
class Scale:
    """A time scale: terms whose forces are taken together, in ``steps`` steps for each move of the scale before."""

    terms: tuple[Term, ...]
    steps: int
    integrator: str = "2mn"


@dataclass(frozen=True)
class Outcome:
    """Of a trajectory: H at its end less that at its beginning, and whether it was accepted."""

    delta_h: float
    accepted: bool


def integrate(gauge: GaugeField, momenta: Momenta, scales: Sequence[Scale], time: float) -> None:
    """Move field and momenta by ``time``; the first scale has the longest steps. The last kick of a step and the
    first of the next are one. Collective."""
    if not scales:
        momenta.move(gauge, time)
        return
    (scale, *finer), h = scales, time / scales[0].steps
    kicks, moves = INTEGRATORS[scale.integrator]

    def kick(part: float) -> None:
        for term in scale.terms:
            term.kick(momenta, gauge, part * h)

    kick(kicks[0])
    for step in range(scale.steps):
        for part, move in zip(kicks[1:-1], moves):
            integrate(gauge, momenta, finer, move * h)
            kick(part)
        integrate(gauge, momenta, finer, moves[-1] * h)
        kick(kicks[-1] + kicks[0] if step + 1 < scale.steps else kicks[-1])


def trajectory(gauge: GaugeField, scales: Sequence[Scale], length: float, seed: int, number: int) -> Outcome:
    """One trajectory, by random numbers of (seed, number); the field is where it was if it is not accepted, as
    where H is not finite at the end. Collective."""
    terms = [term for scale in scales for term in scale.terms]
    momenta, before = Momenta(gauge.lattice).gaussian(seed, number), gauge.copy()
    start = [momenta.kinetic_energy(), *(term.begin(gauge, seed, number) for term in terms)]
    integrate(gauge, momenta, scales, length)
    end = [momenta.kinetic_energy(), *(term.value(gauge) for term in terms)]
    delta_h = math.fsum([*end, *(-value for value in start)]) if np.isfinite(end).all() else math.inf
    drawn = np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, 2, number])).random()
    accepted = drawn < math.exp(min(0.0, -delta_h))
    if not accepted:
        gauge.array[:] = before.array
    return Outcome(delta_h, accepted)
