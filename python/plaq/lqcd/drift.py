"""Whether a chain had forgotten its start when it was measured: the first half of a series against the second.

Two tests of a stationary chain, by series of measurements x:

1. Means of both halves over blocks of at least five autocorrelation times (estimated from the second half, plus its
   error). Student's t of their difference has the variance of blocks in the second half, which a start that is still
   remembered does not widen; for what does not fluctuate normally, such as correlators and Q^2, where one configuration
   may stand out in either half, that of the half where it is larger.
2. Where the whole series does not tell its autocorrelation time, or says that it is over an eighth of its length,
   halves that differ by more than four errors of independent measurements.

The first fires at a chance of `CHANCE` for all series together, by Bonferroni. On synthetic chains with exponential
autocorrelation and at least 100 autocorrelation times, both together fire in fewer than one run of a thousand.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy import special

from plaq.data.estimate import with_error
from plaq.data.statistics import BIN_OVER_TAU, autocorrelation_time

CHANCE = 1e-4
FEWEST, MOST = 6, 32  # blocks of a half
SHORTEST, LONG, FAR = 16, 8, 4  # measurements; see the second test


def drifting(normal: Mapping[str, np.ndarray], others: Mapping[str, np.ndarray]) -> list[str]:
    """Names of the series [measurement] whose halves differ; ``normal``: those that fluctuate normally."""
    p = {**{name: chance(series, False) for name, series in normal.items()},
         **{name: chance(series, True) for name, series in others.items()}}
    return [name for name, value in p.items() if value < CHANCE / len(p)]


def halves(series: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first and the last half, of equal lengths."""
    half = len(series) // 2
    return series[:half], series[-half:]


def chance(series: np.ndarray, wider: bool) -> float:
    """Probability that halves of a stationary series differ so much: 0 by the second test, 1 where neither can tell.
    ``wider``: takes the variance of the half where it is larger."""
    if len(series) < SHORTEST or np.ptp(series) == 0:
        return 1.0
    first, second = halves(series)
    apart = abs(second.mean() - first.mean())
    tau, _ = autocorrelation_time(series)
    if tau > len(series) / LONG:
        return 0.0 if apart > FAR * series.std() * np.sqrt(2 / len(first)) else 1.0
    tau, error = autocorrelation_time(second)
    if not np.isfinite(tau):
        return 1.0
    blocks = int(min(MOST, len(second) / (BIN_OVER_TAU * max(tau + error, 0.5))))
    if blocks < FEWEST:
        return 1.0
    variances = [np.var([part.mean() for part in np.array_split(half, blocks)], ddof=1) for half in (first, second)]
    variance = max(variances) if wider else variances[1]
    if variance == 0:
        return 1.0
    return float(2 * special.stdtr(blocks - 1, -apart / np.sqrt(2 * variance / blocks)))


def doubt(name: str, series: np.ndarray, more: list[str]) -> str:
    """The sentence of a chain in which ``name`` drifts, and ``more``."""
    first, second = (with_error(half.mean(), half.std() / np.sqrt(len(half))) for half in halves(series))
    also = f"; so do {', '.join(more)}" if more else ""
    return (f"doubtful: the chain is too short or not thermal: {name} is {first} in its first half and {second} in its "
            f"second{also}. Take more thermalisation, and configurations")
