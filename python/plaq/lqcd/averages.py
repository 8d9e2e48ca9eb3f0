"""Averages over the configurations of a chain, with errors by jackknife."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from plaq.data.estimate import Estimate
from plaq.data.statistics import BIN_OVER_TAU, MINIMUM_BINS, autocorrelation_time, jackknife, unsupported

MOST_BINS = 32
INDEPENDENT = 0.5  # the autocorrelation time of measurements that are


def bins_for(measurements: int, tau: float | None) -> int:
    """As many as may be, up to 32, so that each has `BIN_OVER_TAU` autocorrelation times;
    16 if that many have not."""
    wanted = measurements / (BIN_OVER_TAU * tau) if tau else MOST_BINS
    return min(measurements, max(MINIMUM_BINS, min(MOST_BINS, int(wanted))))


def longest_tau(deviations: np.ndarray) -> tuple[float | None, float | None]:
    """The integrated autocorrelation time of the columns of [measurement, ...] that vary, with its error, in
    measurements: inf where one cannot be told, None where none varies. It is that of their autocorrelation on average
    over columns, or of a column that has a longer one by more than its error: the largest of many would be too long by
    chance alone."""
    columns = deviations.reshape(len(deviations), -1)
    columns = columns[:, np.isfinite(columns).all(axis=0) & (np.ptp(columns, axis=0) > 0)]
    if not columns.size:
        return None, None
    if columns.shape[1] == 1:
        return autocorrelation_time(columns[:, 0])
    together, error = autocorrelation_time(((columns - columns.mean(axis=0)) / columns.std(axis=0)).T)
    taus = [(together, error * np.sqrt(columns.shape[1])), *((tau - error, error) if np.isfinite(tau) else (tau, error)
                                                             for tau, error in map(autocorrelation_time, columns.T))]
    return max(taus)


def first_order(series: np.ndarray, function: Callable) -> np.ndarray:
    r"""[measurement]: $\sum_a \partial f / \partial \bar o_a\,(o_a - \bar o_a)$, by how much each measurement of
    the series [measurement, ...] moves the number f of its averages. Derivatives are differences over one standard
    error (Wolff, Comput. Phys. Commun. 156, 143 (2004), eq. (17)); nan where f has none."""
    mean = series.mean(axis=0)
    deviations, steps = series - mean, series.std(axis=0) / np.sqrt(len(series))
    moved = np.zeros(len(series))
    for at in np.argwhere(steps > 0):
        place, step = tuple(at), np.zeros_like(mean)
        step[place] = steps[place]
        moved += (function(mean + step) - function(mean - step)) / (2 * steps[place]) * deviations[:, *place]
    return moved


def average(name: str, series: np.ndarray, function: Callable | None = None, **labels) -> Estimate:
    """function(average of the series [measurement, ...]) by jackknife over bins of neighbouring measurements, which
    have the length that its own autocorrelation time asks for: of a number that of `first_order`, of an array that of
    the series (`longest_tau`). Where bins are too few, or shorter than some of that time even if it is
    less by its error, there is no error, and a note why."""
    deviations = series - series.mean(axis=0)
    if function is not None and np.ndim(function(series.mean(axis=0))) == 0:
        moved = first_order(series, function)
        deviations = moved if np.isfinite(moved).all() else deviations
    tau, error = longest_tau(deviations)
    told = tau if tau is not None and np.isfinite(tau) else None
    parts = np.array_split(series, bins_for(len(series), told and max(told, INDEPENDENT)))
    means, weights = np.array([part.mean(axis=0) for part in parts]), np.array([len(part) for part in parts], float)
    note = unsupported(weights, np.ones(len(weights)), told and told - error)
    if not note and tau is not None and told is None:
        note = f"{len(series)} measurements are too few to tell the autocorrelation time"
    found = jackknife(function or (lambda mean: mean), means, weights=weights)
    return replace(found.estimate(name, tau_int=told, note=note, **labels), tau_int_error=abs(error) if told else None)
