"""Averages over the configurations of a chain, with errors by jackknife."""

from __future__ import annotations

import numpy as np

from plaq.data.estimate import Estimate
from plaq.data.statistics import BIN_OVER_TAU, MINIMUM_BINS, jackknife, unsupported

MOST_BINS = 32


def bins_for(configurations: int, tau: float | None) -> int:
    """As many as may be, up to 32, so that each has `BIN_OVER_TAU` autocorrelation times;
    16 if that many have not."""
    wanted = configurations / (BIN_OVER_TAU * tau) if tau else MOST_BINS
    return min(configurations, max(MINIMUM_BINS, min(MOST_BINS, int(wanted))))


def average(name: str, series: np.ndarray, bins: int, tau: float | None, function=lambda mean: mean,
            **labels) -> Estimate:
    """function(average of the series [configuration, ...]) by jackknife over bins of neighbouring configurations.
    Where bins are too few, or shorter than some of the autocorrelation time ``tau``, there is no error,
    and a note why."""
    parts = np.array_split(series, bins)
    means, weights = np.array([part.mean(axis=0) for part in parts]), np.array([len(part) for part in parts], float)
    note = unsupported(weights, np.ones(len(weights)), tau)
    return jackknife(function, means, weights=weights).estimate(name, tau_int=tau, note=note, **labels)
