r"""Gamma method: errors of Monte Carlo averages from the autocorrelation function (Wolff, hep-lat/0306017).

N measurements of R replicas, of N_r each, change a quantity to first order by deviations d from its mean of all. Then

    Gamma(t) = 1/(N - R t) sum over replicas r and i of d(r, i) d(r, i + t),
    C(W) = Gamma(0) + 2 sum of Gamma(t) for 1 <= t <= W,   error^2 = C / N,   tau_int = C / 2 Gamma(0).

The window W is the first with exp(-W / tau) < tau / sqrt(W N), where tau = S / ln[(2 tau_int + 1) / (2 tau_int - 1)]:
there the systematic error of the truncation and the statistical one are about equal. Gamma and C are corrected for the
bias of the subtracted mean. The error has the relative error sqrt((W + 1/2) / N), and tau_int has 2 sqrt((W + 1/2 -
tau_int) / N). In addition to Wolff's method, tau_int is at least 1/2 - 1 / sqrt(N), one standard error below that of
independent measurements: short series would have errors that are too small by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy

S = 1.5  # tau over tau_int, about
FEWEST = 16  # measurements
SHORTEST = 20  # length of all replicas in tau_int; from shorter ones tau_int is undetermined
SMALL = 1e-14  # deviation over the largest one that counts as none


@dataclass(frozen=True)
class GammaErrors:
    """Error of each number by the Gamma method, with its own error; tau_int in measurements; arrays of one shape.

    Undetermined ones are inf. Constants have error 0 and tau_int nan. ``replica_p`` is the probability that means of
    replicas differ as much as they do, given the autocorrelations inside of each; nan for a single one.
    """

    error: np.ndarray
    error_error: np.ndarray
    tau_int: np.ndarray
    tau_int_error: np.ndarray
    replica_p: np.ndarray

    def at(self, index: Any) -> Self:
        """Return the numbers at an index of the arrays."""
        return replace(self, **{name: np.asarray(values[index]) for name, values in vars(self).items()})


def gamma_method(replicas: Sequence[np.ndarray], s: float = S) -> GammaErrors:
    """Return the errors of an average, or of a function of averages.

    replicas : arrays [measurement, ...], one for each replica, of an observable, or of the first-order changes of a
    function (`plaq.lqcd.analysis.averages.first_order`). s : assumed tau over tau_int.
    """
    shape = np.shape(replicas[0])[1:]
    columns = [np.asarray(part, float).reshape(len(part), -1) for part in replicas]
    total = sum(map(len, columns))
    mean = sum(part.sum(axis=0) for part in columns) / total
    deviations = [part - mean for part in columns]
    found = sums_over_windows(deviations, s)
    size = np.max([np.abs(part).max(axis=0, initial=0.0) for part in deviations], axis=0)
    constant, error = size <= SMALL * np.abs(mean), np.sqrt(np.maximum(found.c, 0) / total)
    spread = np.sqrt(np.maximum(found.window + 0.5 - found.tau_int, 0) / total)
    results = {"error": error, "error_error": error * np.sqrt((found.window + 0.5) / total), "tau_int": found.tau_int,
               "tau_int_error": 2 * found.tau_int * spread}
    for name, values in results.items():
        values = np.where(found.known, values, np.inf)
        results[name] = np.where(constant, np.nan if name.startswith("tau") else 0.0, values).reshape(shape)
    p = np.full(len(mean), np.nan)
    if len(columns) > 1:
        means = [part.mean(axis=0) for part in deviations]
        inside = sums_over_windows([part - own for part, own in zip(deviations, means)], s)
        with np.errstate(all="ignore"):
            chi2 = sum(len(part) * own**2 for part, own in zip(deviations, means)) / inside.c
        p = np.where(inside.known & ~constant, scipy.special.gammaincc((len(columns) - 1) / 2, chi2 / 2), np.nan)
    return GammaErrors(**results, replica_p=p.reshape(shape))


@dataclass(frozen=True)
class Sums:
    """C(W), tau_int and W of each column, and whether they are determined."""

    c: np.ndarray
    tau_int: np.ndarray
    window: np.ndarray
    known: np.ndarray


def sums_over_windows(deviations: Sequence[np.ndarray], s: float) -> Sums:
    """Return the sums of the autocorrelation function of deviations [measurement, column], by replicas."""
    total, longest = sum(map(len, deviations)), max(min(map(len, deviations)) // 2, 1)
    gamma = sum(autocovariance(part, longest) for part in deviations)
    gamma /= (total - len(deviations) * np.arange(len(gamma)))[:, None]
    with np.errstate(all="ignore"):
        tau = np.cumsum(gamma / gamma[0], axis=0) - 0.5
        window = stops(tau, total, s)
        c = (2 * tau * gamma[0])[window, np.arange(tau.shape[1])] * (1 + (2 * window + 1) / total)
        variance = gamma[0] + c / (total + 2 * window + 1)
        tau_int = np.maximum(c / (2 * variance), 0.5 - 1 / np.sqrt(total))
        known = (total >= FEWEST) & (total >= SHORTEST * tau_int) & (window < longest)
    return Sums(2 * tau_int * variance, tau_int, window, known)


def autocovariance(deviations: np.ndarray, longest: int) -> np.ndarray:
    """Return [t, column]: sum of d(i) d(i + t) over i, for 0 <= t <= ``longest``."""
    transformed = np.fft.rfft(deviations, 2 * len(deviations), axis=0)
    sums = np.fft.irfft(np.abs(transformed)**2, axis=0)
    return sums[:min(longest, len(deviations) - 1) + 1]


def stops(tau_int: np.ndarray, total: int, s: float) -> np.ndarray:
    """Return the window of each column of tau_int [W, column]: the first one that the criterion allows, or the last."""
    windows = np.arange(1, len(tau_int))[:, None]
    with np.errstate(all="ignore"):
        tau = np.where(tau_int[1:] > 0.5, s / np.log((2 * tau_int[1:] + 1) / (2 * tau_int[1:] - 1)), 1e-10)
        closed = np.exp(-windows / tau) < tau / np.sqrt(windows * total)
    closed = np.vstack([np.zeros((1, tau_int.shape[1]), bool), closed])
    closed[-1] = True
    return closed.argmax(axis=0)
