"""Errors of Monte Carlo averages: jackknife over bins with the sign in every step, and autocorrelation times.

Conventions. A bin holds averages over its own measurements: of the sign s and of s times an observable. The
weight of a bin is its number of measurements. The physical average is <s O>/<s>, formed after averaging over
bins, never inside one. The integrated autocorrelation time is tau = 1/2 + sum_{t>=1} rho(t) in units of one
measurement, so that independent measurements have tau = 1/2 and the error of a mean of N is sqrt(2 tau var / N).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from plaq.data.between_chains import ROUNDING, BetweenChains, reals
from plaq.data.estimate import Axis, Estimate

MINIMUM_BINS = 16  # the error of the error is 1/sqrt(2 (bins - 1)): 18 % here
MINIMUM_CHAINS = 8  # whose scatter alone gives an error: its own is 27 % here
BIN_OVER_TAU = 5  # shorter bins make the error over 10 % too small: AR(1) gives sqrt(1 - tau/length) of the truth
SIGN_OVER_ERROR = 3  # below this the denominator <s> may be zero


@dataclass
class Resampled:
    """Result of the jackknife for one quantity.

    ``mean`` is the plain estimate from all bins; ``bias`` is the jackknife's estimate of its O(1/bins) bias (subtract
    it for the bias-corrected value; it should be small beside ``error``). ``values`` are the leave-one-out estimates
    ``[bin, ...]``, or None if they were not kept. ``disagreement`` of the chains that the bins belong to is in standard
    deviations, None if it is not known (plaq.data.between_chains). ``kurtosis`` is that of bins, mean of all numbers: 3
    for normal bins, up to the number of bins if all the deviation is in one; None for constants.
    """

    mean: np.ndarray
    error: np.ndarray
    bias: np.ndarray
    values: np.ndarray | None
    disagreement: float | None = None
    kurtosis: float | None = None

    def estimate(self, name: str, axes: Sequence[Axis] = (), unit: str = "", convention: str = "",
                 tau_int: float | None = None, note: str = "") -> Estimate:
        """Return an `Estimate`; a ``note`` (from `unsupported`) is the reason for an infinite error."""
        error = no_error(self.mean) if note else self.error
        return Estimate(name, self.mean, error, self.values, tuple(axes), unit, convention, tau_int, note,
                        self.disagreement, self.kurtosis, self.bias)


def jackknife(function: Callable, *binned: np.ndarray, weights: np.ndarray, keep: bool = True,
              starmap: Callable = itertools.starmap, chains: int = 1):
    """Run ``function`` on all data and on every leave-one-out sample of the bins.

    function : called with one weighted average per entry of ``binned`` (its shape without the bin axis, in double
        precision); returns an array (real or complex) or a dict of arrays. Any function will do: the division by the
        sign, Dyson's equation, the Bethe-Salpeter eigenvalues.
    binned : arrays ``[bin, ...]`` of bin averages (of s, of s*O, ...), all with the same number of bins.
    weights : ``[bin]`` numbers of measurements. Bins of weight zero are empty and are left out.
    keep : whether to keep the leave-one-out values. Without them the memory is a few arrays, whatever the bins.
    starmap : evaluates ``function`` for all samples, that of all data first; ranks may share them
        (Communicator.starmap).
    chains : number of Markov chains that the bins belong to, one after the other, each with as many. If these scatter
        by more than their bins allow, the error is that between chains (plaq.data.between_chains).

    Returns a `Resampled`, or a dict of them. With bins of unequal weight this is the delete-m_j jackknife: with
    h_j = N/m_j, g bins and u_j = theta - theta_(j),
        bias = -sum_j (1 - 1/h_j) u_j,    error^2 = 1/g sum_j ((h_j - 1) u_j + bias)^2 / (h_j - 1),
    which for equal bins is the usual (g-1)/g sum_j (theta_(j) - mean)^2. One bin gives an infinite error.
    Source: Busing, Meijer, van der Leeden, Stat. Comput. 9, 3 (1999), eqs. (3)-(5).
    """
    weights = np.asarray(weights, dtype=float)
    for array in binned:
        if len(array) != len(weights):
            raise ValueError(f"an array of {len(array)} bins came with {len(weights)} weights")
    filled = np.flatnonzero(weights > 0)
    if filled.size == 0:
        raise ValueError("no bin holds a measurement")

    totals = [weighted_sum(array, weights, filled) for array in binned]
    measurements = weights.sum()

    def samples():
        yield [total / measurements for total in totals]
        for b in filled if filled.size > 1 else ():
            m = weights[b]
            left = measurements - m
            yield [(total - m * array[b]) / left for total, array in zip(totals, binned)]

    results = (result if isinstance(result, dict) else {"": result} for result in starmap(function, samples()))
    plain = {name: np.asarray(value) for name, value in next(results).items()}
    sums = {name: LeaveOneOut(value, keep, len(weights), chains) for name, value in plain.items()}
    for b, values in zip(filled, results):
        h = measurements / weights[b]
        for name, value in values.items():
            sums[name].add(b, np.asarray(value), h)
    resampled = {name: sums[name].close() for name in plain}
    return resampled[""] if list(resampled) == [""] else resampled


class LeaveOneOut:
    """Sums over leave-one-out estimates from which bias and error follow, without keeping the estimates."""

    def __init__(self, plain: np.ndarray, keep: bool, bins: int, chains: int):
        self.plain = plain
        self.between = BetweenChains(plain, bins, chains)
        self.kept = [] if keep else None
        self.bins = 0
        self.inverse = 0.0  # sum of 1/(h-1)
        self.linear = np.zeros_like(plain, dtype=np.result_type(plain, float))  # sum of u
        self.shifts = np.zeros_like(self.linear)  # sum of (1 - 1/h) u = -bias
        self.squares = np.zeros_like(self.linear)  # sum of (h-1) u^2, real and imaginary parts apart
        self.fourths = np.zeros_like(self.linear)  # sum of (h-1)^2 u^4

    def add(self, at: int, value: np.ndarray, h: float):
        """Add the estimate without bin ``at``, whose part of all measurements is 1/h."""
        u = self.plain - value
        self.bins += 1
        self.inverse += 1 / (h - 1)
        self.linear += u
        shift = (1 - 1 / h) * u
        self.shifts += shift
        self.between.add(at, shift, 1 / h)
        square = (h - 1) * by_parts(np.square, u)
        self.squares += square
        self.fourths += by_parts(np.square, square)
        if self.kept is not None:
            self.kept.append(value)

    def close(self) -> Resampled:
        values = np.array(self.kept) if self.kept else None
        if self.bins == 0:
            return Resampled(self.plain, no_error(self.plain), np.zeros_like(self.linear), values)
        cross = by_parts(np.multiply, self.shifts, self.linear)
        square = self.squares - 2 * cross + self.inverse * by_parts(np.square, self.shifts)
        error = by_parts(lambda part: np.sqrt(np.maximum(part, 0) / self.bins), square)
        error, disagreement = self.between.combine(error, -self.shifts, self.bins)
        return Resampled(self.plain, error, -self.shifts, values, disagreement, self.kurtosis())

    def kurtosis(self) -> float | None:
        """Return the kurtosis of bins, mean of the numbers that scatter by more than rounding."""
        squares, fourths = reals(self.squares), reals(self.fourths)
        scatters = squares > self.bins * (ROUNDING * np.abs(self.plain).max(initial=0.0)) ** 2
        return float(self.bins * np.mean(fourths[scatters] / squares[scatters] ** 2)) if scatters.any() else None


def by_parts(function: Callable, *arrays: np.ndarray) -> np.ndarray:
    """Apply a real function to real and imaginary parts apart: errors of complex numbers have two parts."""
    if not np.iscomplexobj(arrays[0]):
        return function(*arrays)
    return function(*(a.real for a in arrays)) + 1j * function(*(a.imag for a in arrays))


def no_error(mean: np.ndarray) -> np.ndarray:
    """Return the error of a mean whose error is not known: infinite, in both parts if complex."""
    return np.full_like(mean, complex(np.inf, np.inf) if np.iscomplexobj(mean) else np.inf,
                        dtype=np.result_type(mean, float))


def weighted_sum(array: np.ndarray, weights: np.ndarray, filled: np.ndarray) -> np.ndarray:
    """Return sum_b w_b array[b] in double precision, bin by bin: no copy of the binned array."""
    first = np.asarray(array[filled[0]])
    total = np.zeros(first.shape, dtype=np.result_type(first, np.float64))
    for b in filled:
        total += weights[b] * array[b]
    return total


def weighted_average(array: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the average over all bins, that of `jackknife`'s sample of all data."""
    return weighted_sum(array, weights, np.flatnonzero(weights > 0)) / weights.sum()


def sign_average(sign: np.ndarray, signed: np.ndarray) -> np.ndarray:
    """Return <s O>/<s>: the physical average, as a function for `jackknife`."""
    return signed / sign


def unsupported(weights: np.ndarray, sign: np.ndarray, tau_int: float | None = None, parts: int = 1,
                chains: int = 1, fewest: int = MINIMUM_BINS) -> str:
    """Return the reason why these bins cannot support an error bar; an empty string if they can.

    weights : ``[bin]`` measurements in each bin; sign : ``[bin]`` average signs; tau_int : integrated autocorrelation
    time in measurements, None if it was not measured; parts : number of stretches of its chain that a bin consists of,
    with measurements of other bins between them, each of which has to be long; chains : their number. With enough of
    these the error between chains holds even if bins are too short, provided that there is a tau. fewest : number of
    bins that an error needs.
    """
    weights = np.asarray(weights, dtype=float)
    bins = np.count_nonzero(weights)
    if bins < fewest:
        return f"only {bins} bins, {fewest} are needed for an error"
    average = jackknife(lambda s: s, sign, weights=weights)
    if abs(average.mean) < SIGN_OVER_ERROR * average.error:
        return f"the average sign {average.mean:.2g} is within {SIGN_OVER_ERROR} errors of zero"
    length = weights.sum() / (bins * parts)
    enough = chains >= MINIMUM_CHAINS and tau_int is not None and np.isfinite(tau_int)
    if tau_int is not None and length < BIN_OVER_TAU * tau_int and not enough:
        needed = f"{BIN_OVER_TAU} tau_int = {BIN_OVER_TAU * tau_int:.3g}"
        return f"{'parts of ' if parts > 1 else ''}bins of {length:.3g} measurements are shorter than {needed}"
    return ""


def average(name: str, sign: np.ndarray, signed: np.ndarray, weights: np.ndarray, tau_int: float | None = None,
            **labels) -> Estimate:
    """Return the `Estimate` of <s O>/<s> from bins, with its jackknife error or the reason why there is none.

    sign ``[bin]``, signed ``[bin, ...]``, weights ``[bin]``; labels are axes, unit, convention of the estimate.
    """
    note = unsupported(weights, sign, tau_int)
    resampled = jackknife(sign_average, sign, signed, weights=weights)
    return resampled.estimate(name, tau_int=tau_int, note=note, **labels)


def autocorrelation_time(series: np.ndarray, window: float = 6.0) -> tuple[float, float]:
    """Return the integrated autocorrelation time of a time series and its error, both in measurements.

    series : ``[time]`` or ``[chain, time]`` (independent chains of the same process).

    The sum of rho(t) stops at the first W >= window * tau(W) (Sokal's automatic window; Madras and Sokal, J. Stat.
    Phys. 50, 109 (1988), appendix C). With N the number of measurements in all chains, error = tau sqrt((4 W + 2)/N),
    and the bias of the subtracted mean is removed as in Wolff, Comput. Phys. Commun. 156, 143 (2004), eq. (49). A
    constant series, or one whose window does not fit into half a chain, has no tau: (inf, inf).
    """
    series = np.atleast_2d(np.asarray(series, dtype=float))
    chains, length = series.shape
    deviation = series - series.mean()
    padded = np.fft.rfft(deviation, 2 * length, axis=1)
    covariance = np.fft.irfft(np.abs(padded) ** 2, axis=1)[:, :length].sum(axis=0)
    covariance /= chains * (length - np.arange(length))
    if covariance[0] <= np.finfo(float).eps * np.max(np.abs(series)) ** 2:
        return np.inf, np.inf
    tau = 0.5 + np.concatenate([[0.0], np.cumsum(covariance[1:] / covariance[0])])
    wide_enough = np.flatnonzero(np.arange(length) >= window * np.maximum(tau, 0.5))
    if wide_enough.size == 0 or 2 * wide_enough[0] > length:
        return np.inf, np.inf
    stop = wide_enough[0]
    measurements = chains * length
    value = tau[stop] * (1 + (2 * stop + 1) / measurements)
    return float(value), float(value * np.sqrt((4 * stop + 2) / measurements))


def blocking(series: np.ndarray, fewest_blocks: int = 32) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return block lengths 1, 2, 4, ..., and tau with its error from each length B (blocking or binning analysis).

    tau(B) = B var(block means) / (2 var(series)) rises with B to tau_int; on the plateau, blocks are independent.
    series is ``[time]`` or ``[chain, time]``; blocks never join two chains; lengths end at ``fewest_blocks`` blocks.
    Source: Flyvbjerg and Petersen, J. Chem. Phys. 91, 461 (1989).
    """
    series = np.atleast_2d(np.asarray(series, dtype=float))
    variance = series.var()
    lengths, taus, errors = [], [], []
    length = 1
    while (count := series.shape[1] // length) * len(series) >= fewest_blocks and count > 0:
        means = series[:, : count * length].reshape(len(series), count, length).mean(axis=2).ravel()
        tau = length * means.var(ddof=1) / (2 * variance)
        lengths.append(length)
        taus.append(tau)
        errors.append(tau * np.sqrt(2 / (means.size - 1)))
        length *= 2
    return np.array(lengths), np.array(taus), np.array(errors)
