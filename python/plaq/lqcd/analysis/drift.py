"""Tests whether a chain was thermalised: first parts of a series against the second half.

Two tests of a stationary chain, by series of measurements x:

1. Differences between the means of the first half, quarter and eighth, and that of the second half, in bins of at least
   five autocorrelation times (estimated from the second half, plus its error). Student's t has the variance of bins in
   the second half, which a correlation with the start does not widen. Quantities without normal fluctuations, such as
   correlators and Q^2, have outliers in either half: they compare the halves alone, with the larger variance of both.
2. If the autocorrelation time of the whole series is undetermined (`plaq.data.gamma_method`): a difference of the
   halves by more than four errors of independent measurements.

The first has a false-positive probability of `CHANCE` for all series and parts together, by Bonferroni. On synthetic
chains with exponential autocorrelation and at least 100 autocorrelation times, both together have less than one in a
thousand.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy

from plaq.data.estimate import with_error
from plaq.data.gamma_method import gamma_method
from plaq.data.statistics import BIN_OVER_TAU

CHANCE = 1e-4
FEWEST, MOST = 6, 32  # bins in half a series
PARTS = (2, 4, 8)  # of a series, of which the first one is compared
NAMES = {2: "half", 4: "quarter", 8: "eighth"}
SHORTEST, FAR = 16, 4  # measurements; see the second test


def drifting_series(normal: Mapping[str, np.ndarray], others: Mapping[str, np.ndarray]) -> list[str]:
    """Return names of the series [measurement] whose halves differ; those of ``normal`` fluctuate normally."""
    p = {**{name: compare(series, False)[0] for name, series in normal.items()},
         **{name: compare(series, True)[0] for name, series in others.items()}}
    return [name for name, value in p.items() if value < CHANCE / len(p)]


def halves(series: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and the last half, of equal lengths."""
    half = len(series) // 2
    return series[:half], series[-half:]


def compare(series: np.ndarray, wider: bool) -> tuple[float, int]:
    """Return the probability that parts of a stationary series differ so much, and the part (2: half) that does most.

    It is 0 if the second test fails, 1 if neither test is conclusive. ``wider`` takes the larger variance of both
    halves.
    """
    if len(series) < SHORTEST or np.ptp(series) == 0:
        return 1.0, 2
    first, second = halves(series)
    difference = abs(second.mean() - first.mean())
    if not np.isfinite(gamma_method([series]).tau_int):
        return (0.0 if difference > FAR * series.std() * np.sqrt(2 / len(first)) else 1.0), 2
    found = gamma_method([second])
    tau, error = float(found.tau_int), float(found.tau_int_error)
    if not np.isfinite(tau):
        return 1.0, 2
    bins = int(min(MOST, len(second) / (BIN_OVER_TAU * max(tau + error, 0.5))))
    if bins < FEWEST:
        return 1.0, 2
    variances = [np.var([part.mean() for part in np.array_split(half, bins)], ddof=1) for half in (first, second)]
    variance = max(variances) if wider else variances[1]
    if variance == 0:
        return 1.0, 2
    p = []
    for part in PARTS[:1] if wider else PARTS:
        begin = series[:len(series) // part]
        if len(begin) * bins >= len(second):  # a bin or more
            size = np.sqrt(variance * (1 + part / 2) / bins)
            p.append((2 * scipy.special.stdtr(bins - 1, -abs(second.mean() - begin.mean()) / size), part))
    return min(1.0, len(p) * float(min(p)[0])), min(p)[1]


def drift_sentence(name: str, series: np.ndarray, more: list[str]) -> str:
    """Return the sentence on a chain in which ``name`` drifts, and ``more``."""
    part = compare(series, False)[1]
    first, second = (with_error(values.mean(), values.std() / np.sqrt(len(values)))
                     for values in (series[:len(series) // part], halves(series)[1]))
    others = f"; so do {', '.join(more)}" if more else ""
    return (f"warning: the chain is too short or not thermalised: {name} is {first} in its first {NAMES[part]} and "
            f"{second} in its second half{others}. Take more thermalisation, and configurations")
