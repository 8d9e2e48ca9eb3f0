"""Tests whether a chain was thermalised: the first half of a series against the second.

Two tests of a stationary chain, by series of measurements x:

1. Difference of the means of both halves, in bins of at least five autocorrelation times (estimated from the second
   half, plus its error). Student's t has the variance of bins in the second half, which a correlation with the start
   does not widen. Quantities without normal fluctuations, such as correlators and Q^2, have outliers in either half:
   they take the larger variance of the two halves.
2. If the autocorrelation time of the whole series is undetermined, or over an eighth of its length: a difference of the
   halves by more than four errors of independent measurements.

The first has a false-positive probability of `CHANCE` for all series together, by Bonferroni. On synthetic chains with
exponential autocorrelation and at least 100 autocorrelation times, both together have less than one in a thousand.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy import special

from plaq.data.estimate import with_error
from plaq.data.statistics import BIN_OVER_TAU, autocorrelation_time

CHANCE = 1e-4
FEWEST, MOST = 6, 32  # bins in half a series
SHORTEST, LONG, FAR = 16, 8, 4  # measurements; see the second test


def drifting_series(normal: Mapping[str, np.ndarray], others: Mapping[str, np.ndarray]) -> list[str]:
    """Return names of the series [measurement] whose halves differ; those of ``normal`` fluctuate normally."""
    p = {**{name: p_value(series, False) for name, series in normal.items()},
         **{name: p_value(series, True) for name, series in others.items()}}
    return [name for name, value in p.items() if value < CHANCE / len(p)]


def halves(series: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and the last half, of equal lengths."""
    half = len(series) // 2
    return series[:half], series[-half:]


def p_value(series: np.ndarray, wider: bool) -> float:
    """Return the probability that halves of a stationary series differ so much.

    It is 0 if the second test fails, 1 if neither test is conclusive. ``wider`` takes the larger variance of both
    halves.
    """
    if len(series) < SHORTEST or np.ptp(series) == 0:
        return 1.0
    first, second = halves(series)
    difference = abs(second.mean() - first.mean())
    tau, _ = autocorrelation_time(series)
    if tau > len(series) / LONG:
        return 0.0 if difference > FAR * series.std() * np.sqrt(2 / len(first)) else 1.0
    tau, error = autocorrelation_time(second)
    if not np.isfinite(tau):
        return 1.0
    bins = int(min(MOST, len(second) / (BIN_OVER_TAU * max(tau + error, 0.5))))
    if bins < FEWEST:
        return 1.0
    variances = [np.var([part.mean() for part in np.array_split(half, bins)], ddof=1) for half in (first, second)]
    variance = max(variances) if wider else variances[1]
    if variance == 0:
        return 1.0
    return float(2 * special.stdtr(bins - 1, -difference / np.sqrt(2 * variance / bins)))


def drift_sentence(name: str, series: np.ndarray, more: list[str]) -> str:
    """Return the sentence on a chain in which ``name`` drifts, and ``more``."""
    first, second = (with_error(half.mean(), half.std() / np.sqrt(len(half))) for half in halves(series))
    others = f"; so do {', '.join(more)}" if more else ""
    return (f"warning: the chain is too short or not thermalised: {name} is {first} in its first half and {second} in "
            f"its second{others}. Take more thermalisation, and configurations")
