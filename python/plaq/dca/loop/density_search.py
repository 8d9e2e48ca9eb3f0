"""Search for the mu of an isolated cluster that has a density, from noisy iterations.

N is conserved without a bath, so that dn/dmu = beta (<N^2> - <N>^2)/N_c is measured with n. Each iteration gives an
estimate of the mu wanted, mu_i + (n - n_i)/(dn/dmu), with the error of n_i over dn/dmu. Half of its step counts as a
further error, since n is no straight line: iterations far from the end lose their weight by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

SURE = 3.0  # errors of n that make a bracket of mu
STEEPEST = 1e-3  # least dn/dmu that a step is made with
LONGEST = 2.0  # step without a bracket on one side, in the larger of 1 and T


def compressibility(equations: Any, measured: Any, density: float, beta: float, sites: int) -> float:
    """Return dn/dmu of the cluster, from bins of equal-time correlations."""
    norm = float(measured.weights @ measured.norm)
    charge = float(measured.weights @ equations.number_pairs(measured.correlations)) / norm
    return beta * (charge - sites * density**2)


def next_mu(target: float, T: float, records: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """Return (mu, its error) for the density ``target``, from the records of all iterations of a temperature."""
    mu, n, error, slope = (np.array([r[name] for r in records]) for name in
                           ("mu", "density", "density_error", "compressibility"))
    off = target - n
    step = off / np.maximum(slope, STEEPEST)
    spread = np.hypot(error / np.maximum(slope, STEEPEST), step / 2)
    weight = 1 / np.maximum(spread, 1e-12) ** 2
    best, width = float(weight @ (mu + step) / weight.sum()), float(weight.sum() ** -0.5)
    low = max(mu[off > SURE * error], default=-np.inf)
    high = min(mu[off < -SURE * error], default=np.inf)
    low, high = (low, high) if low < high else (-np.inf, np.inf)
    longest = LONGEST * max(1.0, T)
    if np.isfinite([low, high]).all():
        return (best if low < best < high else (low + high) / 2), width
    return float(np.clip(best, mu[-1] - longest, mu[-1] + longest)), width


def average_mu(records: Sequence[dict[str, Any]]) -> float:
    """Return the mean mu of the final iterations, by their measurements."""
    final = [r for r in records if r["phase"] == "final"]
    return float(np.average([r["mu"] for r in final], weights=[r["measurements"] for r in final]))
