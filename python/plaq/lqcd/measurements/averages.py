"""Averages over the configurations of a chain, with errors by jackknife."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from plaq.data.estimate import Estimate
from plaq.data.statistics import BIN_OVER_TAU, MINIMUM_BINS, autocorrelation_time, jackknife, unsupported

MOST_BINS = 32
INDEPENDENT = 0.5  # autocorrelation time of independent measurements


def bins_for(measurements: int, tau: float | None) -> int:
    """Return the number of bins, at most 32, so that each has `BIN_OVER_TAU` autocorrelation times, but at least 16."""
    wanted = measurements / (BIN_OVER_TAU * tau) if tau else MOST_BINS
    return min(measurements, max(MINIMUM_BINS, min(MOST_BINS, int(wanted))))


def longest_tau(deviations: np.ndarray) -> tuple[float | None, float | None]:
    """Return the integrated autocorrelation time of the columns of [measurement, ...] that vary, and its error.

    Both are in measurements: inf if the time is undetermined, None if no column varies. The time is that of the
    autocorrelation averaged over columns, or of a column whose time is longer by more than its error. The largest time
    of many columns would be too long by chance.
    """
    columns = deviations.reshape(len(deviations), -1)
    columns = columns[:, np.isfinite(columns).all(axis=0) & (np.ptp(columns, axis=0) > 0)]
    if not columns.size:
        return None, None
    if columns.shape[1] == 1:
        return autocorrelation_time(columns[:, 0])
    mean_tau, error = autocorrelation_time(((columns - columns.mean(axis=0)) / columns.std(axis=0)).T)
    taus = [(mean_tau, error * np.sqrt(columns.shape[1])), *((tau - error, error) if np.isfinite(tau) else (tau, error)
                                                             for tau, error in map(autocorrelation_time, columns.T))]
    return max(taus)


def first_order(series: np.ndarray, function: Callable) -> np.ndarray:
    r"""Return [measurement]: $\sum_a \partial f / \partial \bar o_a\,(o_a - \bar o_a)$.

    It is the change of the number f of averages by each measurement of the series [measurement, ...]. Derivatives are
    differences over one standard error (Wolff, Comput. Phys. Commun. 156, 143 (2004), eq. (17)); nan if f has none.
    """
    mean = series.mean(axis=0)
    deviations, steps = series - mean, series.std(axis=0) / np.sqrt(len(series))
    moved = np.zeros(len(series))
    for at in np.argwhere(steps > 0):
        index, step = tuple(at), np.zeros_like(mean)
        step[index] = steps[index]
        moved += (function(mean + step) - function(mean - step)) / (2 * steps[index]) * deviations[:, *index]
    return moved


def average(name: str, series: np.ndarray, function: Callable | None = None, **labels) -> Estimate:
    """Return function(average of the series [measurement, ...]) by jackknife over bins of successive measurements.

    The length of bins follows from its autocorrelation time: for a number that of `first_order`, for an array that of
    the series (`longest_tau`). If bins are too few, or shorter than the time minus its error allows, there is no error,
    but a note with the reason.
    """
    deviations = series - series.mean(axis=0)
    if function is not None and np.ndim(function(series.mean(axis=0))) == 0:
        moved = first_order(series, function)
        deviations = moved if np.isfinite(moved).all() else deviations
    tau, error = longest_tau(deviations)
    known_tau = tau if tau is not None and np.isfinite(tau) else None
    parts = np.array_split(series, bins_for(len(series), known_tau and max(known_tau, INDEPENDENT)))
    means, weights = np.array([part.mean(axis=0) for part in parts]), np.array([len(part) for part in parts], float)
    note = unsupported(weights, np.ones(len(weights)), known_tau and known_tau - error)
    if not note and tau is not None and known_tau is None:
        note = f"{len(series)} measurements are too few to tell the autocorrelation time"
    resampled = jackknife(function or (lambda mean: mean), means, weights=weights)
    estimate = resampled.estimate(name, tau_int=known_tau, note=note, **labels)
    return replace(estimate, tau_int_error=abs(error) if known_tau else None)
