"""Averages over the configurations of one or several chains, with errors by jackknife and by the Gamma method."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace

import numpy as np

from plaq.data.estimate import Estimate
from plaq.data.gamma_method import FEWEST, SHORTEST, GammaErrors, gamma_method
from plaq.data.statistics import MINIMUM_BINS, jackknife, no_error, unsupported
from plaq.errors import InputError

_chains: ContextVar[tuple[int, ...]] = ContextVar("chains", default=())
MOST_BINS = 32
LONG_BINS = 10  # autocorrelation times in a bin, if there are enough of them
INDEPENDENT = 0.5  # autocorrelation time of independent measurements


@contextmanager
def chains(replicas: Sequence[int]) -> Iterator[None]:
    """Take series in this block as of several chains with so many measurements, one after the other."""
    token = _chains.set(tuple(replicas))
    try:
        yield
    finally:
        _chains.reset(token)


def split(series: np.ndarray, replicas: Sequence[int]) -> list[np.ndarray]:
    """Return the part of each replica, from the measurements of all, one after the other.

    replicas : numbers of measurements; none for one replica.
    """
    if len(replicas) and sum(replicas) != len(series):
        raise InputError(f"chains of {', '.join(map(str, replicas))} measurements are not a series of {len(series)}")
    return np.split(series, np.cumsum(replicas)[:-1]) if len(replicas) else [series]


def bins_for(measurements: int, tau: float | None) -> int:
    """Return the number of bins, at most 32, so that each has `LONG_BINS` autocorrelation times, but at least 16."""
    wanted = measurements / (LONG_BINS * max(tau, INDEPENDENT)) if tau else MOST_BINS
    return min(measurements, max(MINIMUM_BINS, min(MOST_BINS, int(wanted))))


def cut(series: np.ndarray, replicas: Sequence[int], bins: int) -> list[np.ndarray]:
    """Return about ``bins`` bins of successive measurements, none of which belongs to two replicas."""
    return [piece for part in split(series, replicas)
            for piece in np.array_split(part, min(len(part), max(1, round(bins * len(part) / len(series)))))]


def longest_tau(replicas: Sequence[np.ndarray]) -> tuple[float | None, float | None]:
    """Return the integrated autocorrelation time of the columns of [measurement, ...] that vary, and its error.

    Both are in measurements: inf if the time is undetermined, None if no column varies. The time is that of the
    autocorrelation averaged over columns, or of a column whose time is longer by more than its error. The largest time
    of many columns would be too long by chance; undetermined ones count if half of them are.
    """
    columns = [reals(part).reshape(len(part), -1) for part in replicas]
    whole = np.concatenate(columns)
    vary = np.isfinite(whole).all(axis=0) & (np.ptp(whole, axis=0) > 0)
    if not vary.any():
        return None, None
    each = gamma_method([part[:, vary] for part in columns])
    found = [(float(tau), float(error)) for tau, error in zip(each.tau_int, each.tau_int_error) if not np.isnan(tau)]
    if len(found) < 2:
        return found[0] if found else (None, None)
    known = [(tau - error, error) for tau, error in found if np.isfinite(tau)]
    if 2 * len(known) <= len(found):
        return np.inf, np.inf
    unit = (whole[:, vary] - whole[:, vary].mean(axis=0)) / whole[:, vary].std(axis=0)
    return max(mean_tau(unit, [len(part) for part in columns]), *known)


def mean_tau(unit: np.ndarray, replicas: Sequence[int]) -> tuple[float, float]:
    """Return the time of the autocorrelation averaged over columns, and an error as if these were alike.

    ``unit`` [measurement, column] has mean 0 and variance 1. Columns one after the other are replicas of one series.
    """
    found = gamma_method([column for part in split(unit, replicas) for column in part.T])
    if not len(unit) >= max(FEWEST, SHORTEST * found.tau_int):
        return np.inf, np.inf
    return float(found.tau_int), float(found.tau_int_error * np.sqrt(unit.shape[1]))


def reals(series: np.ndarray) -> np.ndarray:
    """Return a complex array with real and imaginary parts along a further axis; a real one as it is."""
    return np.stack([series.real, series.imag], axis=-1) if np.iscomplexobj(series) else series


def first_order(series: np.ndarray, function: Callable) -> np.ndarray:
    r"""Return [measurement, ...]: $\sum_a \partial f / \partial \bar o_a\,(o_a - \bar o_a)$.

    It is the change of the numbers f of averages by each measurement of the series [measurement, ...]. Derivatives are
    differences over one standard error (Wolff, Comput. Phys. Commun. 156, 143 (2004), eq. (17)); nan if f has none.
    """
    mean = series.mean(axis=0)
    value = np.asarray(function(mean))
    moved = np.zeros((len(series), *value.shape), np.result_type(value, float))
    for unit, part in ((1, "real"), (1j, "imag")) if np.iscomplexobj(series) else ((1, "real"),):
        deviations = getattr(series - mean, part)
        steps = deviations.std(axis=0) / np.sqrt(len(series))
        with np.errstate(all="ignore"):
            for index in map(tuple, np.argwhere(steps > 0)):
                step = np.zeros_like(mean)
                step[index] = unit * steps[index]
                slope = (function(mean + step) - function(mean - step)) / (2 * steps[index])
                moved += np.multiply.outer(deviations[:, *index], slope)
    return moved


def average(name: str, series: np.ndarray, function: Callable | None = None, replicas: Sequence[int] | None = None,
            changes: np.ndarray | None = None, **labels) -> Estimate:
    """Return function(average of the series [measurement, ...]), with errors by two methods.

    ``error`` is that of a jackknife over bins of successive measurements. Their length follows from the autocorrelation
    time of the quantity itself, for a function that of `first_order`, and for an array `longest_tau`. If bins are too
    few, or shorter than the time minus its error allows, it is the error by the Gamma method, or, if that is
    undetermined too, inf with a note on the reason. ``gamma`` has the errors by the Gamma method with tau_int of each
    number.

    replicas : numbers of measurements of each chain, where the series has several, one after the other; by default
    those of a surrounding block of `chains`. changes : `first_order` of the function, if it is known.
    """
    replicas = _chains.get() if replicas is None else replicas
    if changes is None:
        changes = series - series.mean(axis=0) if function is None else first_order(series, function)
    of_replicas = split(changes, replicas)
    gamma = gamma_errors(of_replicas)
    tau, error = longest_tau(of_replicas)
    known_tau = tau if tau is not None and np.isfinite(tau) else None
    bins = cut(series, replicas, bins_for(len(series), known_tau))
    means, weights = np.array([part.mean(axis=0) for part in bins]), np.array([len(part) for part in bins], float)
    note = unsupported(weights, np.ones(len(weights)), known_tau and known_tau - error)
    if not note and tau is not None and known_tau is None:
        note = f"{len(series)} measurements are too few to tell the autocorrelation time"
    resampled = jackknife(function or (lambda mean: mean), means, weights=weights)
    estimate = resampled.estimate(name, tau_int=known_tau, note=note, **labels)
    if note and known_tau:
        known = np.isfinite(gamma.error)
        estimate = replace(estimate, error=np.where(known, gamma.error, no_error(estimate.mean)),
                           note="" if known.all() else note)
    return replace(estimate, tau_int_error=abs(error) if known_tau else None, gamma=gamma)


def gamma_errors(deviations: Sequence[np.ndarray]) -> GammaErrors:
    """Return the errors of a function of averages by the Gamma method; nan where it has no derivative.

    ``deviations`` are its first-order changes, by replicas. Complex errors are those of both parts, as in `Estimate`;
    tau_int and replica_p are those of the part with the longer tau_int.
    """
    finite = np.isfinite(np.concatenate(deviations)).all(axis=0)
    errors = gamma_method([reals(np.where(finite, part, 0.0)) for part in deviations])
    if np.iscomplexobj(deviations[0]):
        longer = errors.tau_int.argmax(axis=-1)[..., None]
        join = lambda name, values: (values[..., 0] + 1j * values[..., 1] if name.startswith("error") else  # noqa: E731
                                     np.take_along_axis(values, longer, axis=-1)[..., 0])
        errors = replace(errors, **{name: join(name, values) for name, values in vars(errors).items()})
    return replace(errors, **{name: np.where(finite, values, np.nan) for name, values in vars(errors).items()})
