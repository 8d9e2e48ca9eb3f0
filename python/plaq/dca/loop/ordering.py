"""The loop where a symmetry may be broken: a field at the start, and steps that know the slow mode.

Let x be the order in the input Sigma and y(x) that in the output (`plaq.dca.physics.order.OrderParameter.size`). Near a
transition y - y* = r (x - x*) with r near 1, so that plain iterations approach x* as r^n: slower the nearer it is. Here
r is the slope of y against x over the iterations of a temperature without field whose normal part is steady. The input
x is known without noise, so a straight line is fitted. The slow mode is a change of size of the whole ordered part S of
Sigma. It takes Newton's step, x + (y - x)/(1 - r), which also multiplies the noise of y by 1/(1 - r): that is the noise
of x* itself. All other modes take the output.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from plaq.dca.lattice.order import SEEDED
from plaq.dca.loop.convergence import UNORDERED

STEEPEST = 0.95  # largest slope r that is believed
SURE = 0.2  # largest error of r
LAST = 3  # iterations of the approach that must show no trend
LONGEST = 0.4  # part of S that a step may add or take
SPREAD = 0.15  # of the groups' order in their baths, relative to their mean
LEAST_FRACTION = 0.25  # of the groups' own order, that their baths must have for errors to contain its noise


def is_seeded(p: Any, records: Sequence[dict[str, Any]]) -> bool:
    """Return whether the iteration after ``records`` of its temperature has the field of the order.

    It stays until the normal part of Sigma and the density have settled, for half of ``dca.iterations`` at most, as
    order cannot be told from a transient of these.
    """
    if p.hamiltonian.order is None or p.dca.isolated:
        return p.hamiltonian.order is not None
    settled = any(record["steady"] for record in records[SEEDED - 1:])
    return len(records) < SEEDED or (not settled and len(records) < p.dca.iterations // 2)


def has_settled(records: Sequence[dict[str, Any]], tolerance: float) -> bool:
    """Return whether y - x of the last `LAST` iterations without field is noise, within twice ``tolerance``.

    A slow mode moves by less than the noise of one iteration, in the same direction in all of them.
    """
    last = [r for r in records if not r["seeded"]][-LAST:]
    if len(last) < LAST:
        return False
    change = np.mean([r["order_out"] - r["order_in"] for r in last])
    noise = np.sqrt(np.mean([r["order_error"]**2 for r in last]) / LAST)
    return bool(abs(change) <= max(2 * tolerance * noise, UNORDERED))


def slope(records: Sequence[dict[str, Any]]) -> float:
    """Return r less its error from the records of a temperature's iterations, 0 where it is not known to `SURE`."""
    free = [r for r in records if not r["seeded"] and r["steady"]]
    if len(free) < 2:
        return 0.0
    x, y, error = (np.array([r[name] for r in free]) for name in ("order_in", "order_out", "order_error"))
    weight = 1 / np.maximum(error, 1e-2 * np.abs(y) + 1e-12) ** 2  # a line is good to 1 % at best
    x = x - np.average(x, weights=weight)
    spread = float(weight @ x**2)
    if spread <= 0 or spread**-0.5 > SURE:
        return 0.0
    return float(np.clip(weight @ (x * y) / spread - spread**-0.5, 0.0, STEEPEST))


def accelerated(order: Any, sigma: np.ndarray, inputs: np.ndarray, r: float) -> np.ndarray:
    """Return Sigma_out [1 + group, ...] with Newton's step of the size of the ordered part of ``inputs``."""
    part = order.part(inputs)
    inner = lambda a, b: np.einsum("gskabw,gskabw->g", a.conj(), np.broadcast_to(b, a.shape)).real
    part = np.broadcast_to(part, sigma.shape)
    square = inner(part, part)
    growth = inner(part, order.part(sigma) - part) / np.where(square > 0, square, 1)
    step = np.clip(r / (1 - r) * growth, -LONGEST, LONGEST)
    return sigma + step[:, None, None, None, None, None] * part


def fraction(order: Any, deviations: np.ndarray, mean: np.ndarray, omega: np.ndarray) -> float:
    """Return the part of the groups' own order, ``deviations`` of 1/G0 [group, ...] from ``mean``, that they walk with.

    The order in the output is no straight line in that of the bath: with a spread of more than `SPREAD` its mean would
    be off.
    """
    spread = float(np.sqrt(np.mean(order.size(deviations, omega) ** 2)))
    return min(1.0, SPREAD * abs(float(order.size(mean, omega))) / spread) if spread > 0 else 0.0
