r"""Hybrid Monte Carlo (Duane, Kennedy, Pendleton and Roweth, Phys. Lett. B 195, 216 (1987)).

A gauge field is moved along $\dot U = P U$, $\dot P = -F$ from random momenta. The final field is accepted with
probability $\min(1, e^{-\Delta H})$.

Forces that cost much and are weak are integrated with longer steps (Sexton and Weingarten, Nucl. Phys. B 380, 665
(1992)). Integrators are those of Omelyan, Mryglod and Folk, Comput. Phys. Commun. 151, 272 (2003): "2mn" of second
order (their equation 31), "omf4" of fourth (their equation 71).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plaq.lqcd.action.terms import Term
from plaq.lqcd.choices import INTEGRATORS
from plaq.lqcd.fields.fields import GaugeField, Momenta


@dataclass(frozen=True)
class TimeScale:
    """Time scale: terms whose forces are computed together, in ``steps`` steps for each move of the coarser scale."""

    terms: tuple[Term, ...]
    steps: int
    integrator: str = "2mn"


@dataclass(frozen=True)
class TrajectoryResult:
    """Result of a trajectory: final H minus initial H, and whether it was accepted."""

    delta_h: float
    accepted: bool


def integrate(gauge: GaugeField, momenta: Momenta, scales: Sequence[TimeScale], time: float) -> None:
    """Move field and momenta by ``time``; the first scale has the longest steps.

    The last kick of a step and the first of the next are merged. Collective.
    """
    if not scales:
        momenta.move(gauge, time)
        return
    (scale, *finer), h = scales, time / scales[0].steps
    kicks, moves = INTEGRATORS[scale.integrator]

    def kick(part: float) -> None:
        with gauge.frozen():
            for term in scale.terms:
                term.kick(momenta, gauge, part * h)

    kick(kicks[0])
    for step in range(scale.steps):
        for part, move in zip(kicks[1:-1], moves):
            integrate(gauge, momenta, finer, move * h)
            kick(part)
        integrate(gauge, momenta, finer, moves[-1] * h)
        kick(kicks[-1] + kicks[0] if step + 1 < scale.steps else kicks[-1])


def trajectory(gauge: GaugeField, scales: Sequence[TimeScale], length: float, seed: int,
               number: int) -> TrajectoryResult:
    """Run one trajectory with random numbers of (seed, number).

    The field is restored if the trajectory is not accepted, for instance because the final H is not finite. Collective.
    """
    terms = [term for scale in scales for term in scale.terms]
    momenta, before = Momenta(gauge.lattice).gaussian(seed, number), gauge.copy()
    with gauge.frozen():
        start = [momenta.kinetic_energy(), *(term.begin(gauge, seed, number) for term in terms)]
    integrate(gauge, momenta, scales, length)
    with gauge.frozen():
        end = [momenta.kinetic_energy(), *(term.value(gauge) for term in terms)]
    delta_h = math.fsum([*end, *(-value for value in start)]) if np.isfinite(end).all() else math.inf
    drawn = np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, 2, number])).random()
    accepted = drawn < math.exp(min(0.0, -delta_h))
    if not accepted:
        gauge.array[:] = before.array
    return TrajectoryResult(delta_h, accepted)
