r"""Hybrid Monte Carlo (Duane, Kennedy, Pendleton and Roweth, Phys. Lett. B 195, 216 (1987)).

A gauge field is moved along $\dot U = P U$, $\dot P = -F$ from random momenta. The final field is accepted with
probability $\min(1, e^{-\Delta H})$.

Forces that cost much and are weak are integrated with longer steps (Sexton and Weingarten, Nucl. Phys. B 380, 665
(1992)). Integrators: `plaq.lqcd.integrators`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from plaq.lqcd.action.terms import Term
from plaq.lqcd.fields.gauge_field import GaugeField
from plaq.lqcd.fields.momenta import Momenta
from plaq.lqcd.integrators import LAMBDA, operations


@dataclass(frozen=True)
class TimeScale:
    """Time scale: terms whose forces are computed together, in ``steps`` steps for each move of the coarser scale."""

    terms: tuple[Term, ...]
    steps: int
    integrator: str = "2mn"
    weight: float = LAMBDA


@dataclass(frozen=True)
class TrajectoryResult:
    """Result of a trajectory: final H minus initial H, and whether it was accepted.

    ``returned``, if it was integrated backwards as well: (H there and back minus initial H, largest change of a number
    in a link).
    """

    delta_h: float
    accepted: bool
    returned: tuple[float, float] | None = None


class Watch(Protocol):
    """Receiver of forces: of each kick by one term the momenta before and after it, and the time."""

    def __call__(self, term: Term, before: Momenta, after: Momenta, time: float) -> None: ...


def integrate(gauge: GaugeField, momenta: Momenta, scales: Sequence[TimeScale], time: float,
              watch: Watch | None = None) -> None:
    """Move field and momenta by ``time``; the first scale has the longest steps. Collective."""
    if not scales:
        momenta.move(gauge, time)
        return
    (scale, *finer), h = scales, time / scales[0].steps
    for operation in operations(scale.integrator, scale.steps, scale.weight):
        if not operation.is_kick:
            integrate(gauge, momenta, finer, operation.part * h, watch)
            continue
        at = _displaced(gauge, momenta, scale.terms, operation.gradient * h * h) if operation.gradient else gauge
        _kick(at, momenta, scale.terms, operation.part * h, watch)


def _kick(gauge: GaugeField, momenta: Momenta, terms: Sequence[Term], time: float, watch: Watch | None = None) -> None:
    with gauge.frozen():
        for term in terms:
            before = momenta.copy() if watch else None
            term.kick(momenta, gauge, time)
            if watch:
                watch(term, before, momenta, time)


def _displaced(gauge: GaugeField, momenta: Momenta, terms: Sequence[Term], factor: float) -> GaugeField:
    """Return exp(-factor F) U with the force F of the terms, for links that have momenta."""
    moved, force = gauge.copy(), Momenta(gauge.lattice, moving=momenta.moving)
    _kick(gauge, force, terms, 1.0)
    force.move(moved, factor)
    return moved


def trajectory(gauge: GaugeField, scales: Sequence[TimeScale], length: float, seed: int, number: int, *,
               corrections: Sequence[Term] = (), always: bool = False, reverse: bool = False,
               moving: np.ndarray | None = None, watch: Watch | None = None) -> TrajectoryResult:
    """Run one trajectory with random numbers of (seed, number).

    The field is restored if the trajectory is not accepted, for instance because the final H is not finite.

    corrections : terms without force that H has as well. always : accept unless H is not finite. reverse : integrate
    backwards from the end, too. moving : of `Momenta`. watch : receives the forces. Collective.
    """
    terms = [*(term for scale in scales for term in scale.terms), *corrections]
    momenta, before = Momenta(gauge.lattice, moving=moving).gaussian(seed, number), gauge.copy()
    with gauge.frozen():
        start = [momenta.kinetic_energy(), *(term.begin(gauge, seed, number) for term in terms)]
    integrate(gauge, momenta, scales, length, watch)
    delta_h = _energy(gauge, momenta, terms, start)
    returned = None
    if reverse and math.isfinite(delta_h):
        back, momenta = gauge.copy(), momenta.copy()
        momenta.array[:] *= -1
        for term in terms:
            term.forget()
        integrate(back, momenta, scales, length)
        change = np.abs(back.array - before.array).max(initial=0.0)
        returned = (_energy(back, momenta, terms, start), float(gauge.lattice.comm.allreduce(change, "max")))
    drawn = np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, 2, number])).random()
    accepted = math.isfinite(delta_h) if always else drawn < math.exp(min(0.0, -delta_h))
    if not accepted:
        gauge.array[:] = before.array
    return TrajectoryResult(delta_h, accepted, returned)


def _energy(gauge: GaugeField, momenta: Momenta, terms: Sequence[Term], start: Sequence[float]) -> float:
    """Return H minus the sum of ``start``, inf if it is not finite."""
    with gauge.frozen():
        end = [momenta.kinetic_energy(), *(term.value(gauge) for term in terms)]
    return math.fsum([*end, *(-value for value in start)]) if np.isfinite(end).all() else math.inf
