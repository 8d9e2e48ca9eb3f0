"""The transition temperature: where the leading eigenvalue lambda(T) of the Bethe-Salpeter equation reaches 1.

The fit is the field's form lambda = p0 / (T - p1)^p2, that is log lambda = log p0 - p2 log(T - p1): a straight
line for given p1, so only p1 is searched for and no starting values are needed. Linear interpolation between
the neighbouring temperatures stands beside it. Errors are those of the eigenvalues, carried through both by a
parametric bootstrap.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from plaq.data.estimate import with_error
from plaq.errors import InputError

SAMPLES = 1000
SEED = 20260913
POLES = 80  # values of p1 that are tried: T_min - p1 from 0.02 T_min to 10 T_max, evenly in its logarithm.
# Beyond 10 T_max the form is an exponential, and p0, p1, p2 are no longer determined apart from each other.
NOT_FOUND = "no transition found"
EXACT = 1e-12  # error that stands for none
CLEAR = 10.0  # standard errors: more are not counted in the sentence
UNLIKELY = 1e-3  # probability of chi^2 below which the sentence calls the fit poor


@dataclass
class Transition:
    """T_c and how it was found.

    status "found": ``value`` and ``error`` hold T_c, by ``method`` "fit" or "interpolation"; ``interpolation``
    is the pair (value, error) of linear interpolation. status "bound": the eigenvalue does not cross 1 between the
    temperatures given, ``value`` and ``error`` are None. ``sentence`` says either in words. ``parameters`` are
    p0, p1, p2 of the fit (None with fewer than three temperatures), ``chi2`` and ``dof`` its quality.
    """

    status: str
    sentence: str
    value: float | None = None
    error: float | None = None
    method: str = ""
    interpolation: tuple[float, float] | None = None
    parameters: tuple[float, float, float] | None = None
    chi2: float = 0.0
    dof: int = 0

    @property
    def below(self) -> bool:
        """Whether a bound is one from above: the transition, if there is one, is below the temperatures given."""
        return self.status == "bound" and self.sentence.startswith(NOT_FOUND)

    def curve(self, temperatures: np.ndarray) -> np.ndarray:
        """Return the fitted lambda(T)."""
        p0, p1, p2 = self.parameters
        return p0 / (np.asarray(temperatures) - p1) ** p2


def across(points: Iterable[Any], name: str, symbol: str = "T_c") -> Transition | None:
    """Return the `transition` of the observable ``name`` of a run's points; None with fewer than two of them.

    Points with an unknown eigenvalue are left out, and those with an unknown error while two others are left.
    """
    chosen = [(p.T, p[name].mean, p[name].error) for p in points if name in p and np.isfinite(p[name].mean)]
    supported = [row for row in chosen if np.isfinite(row[2])]
    chosen = supported if len(supported) > 1 else chosen  # an error that is not known would be that of T_c too
    if len(chosen) < 2:
        return None
    T, eigenvalue, error = np.array(chosen, dtype=float).T
    return transition(T, eigenvalue, np.maximum(error, EXACT), symbol)  # at U = 0 nothing fluctuates


def transition(temperatures: np.ndarray, eigenvalues: np.ndarray, errors: np.ndarray,
               symbol: str = "T_c") -> Transition:
    """Return T_c from leading eigenvalues and their errors at temperatures where two-particle functions were measured.

    temperatures, eigenvalues, errors : ``[T]``, in any order; temperatures in units of t. An infinite error stands for
    one that the data do not support: then the eigenvalues count equally and T_c has an infinite error. symbol : name of
    the temperature in the sentence.

    lambda is assumed to rise on cooling: where noise breaks this, interpolation goes through the weighted monotone
    regression of the points, which crosses 1 once. T_c is "found" when that regression reaches 1 within the
    range of T; a bootstrap sample may then lie a little outside, where the fit extrapolates. The error is half
    the 68 % interval.
    Raises InputError for fewer than two temperatures, equal temperatures, errors that are
    not positive, or eigenvalues that are not finite.
    """
    t, y, sigma = (np.asarray(a, dtype=float) for a in (temperatures, eigenvalues, errors))
    order = np.argsort(t)
    t, y, sigma = t[order], y[order], sigma[order]
    if len(t) < 2 or np.any(np.diff(t) <= 0):
        raise InputError(f"T_c needs eigenvalues at two or more different temperatures, not at {t.tolist()}")
    if not np.all(sigma > 0) or not np.all(np.isfinite(y)):
        raise InputError(f"T_c needs finite eigenvalues, positive errors, not {y.tolist()}, {sigma.tolist()}")
    supported = bool(np.all(np.isfinite(sigma)))
    width = sigma if supported else np.ones_like(sigma)

    smooth = falling(y, width)
    if smooth[0] < 1 or smooth[-1] > 1:
        return Transition("bound", bound_sentence(t, y, sigma, smooth))

    resamples = SAMPLES if supported else 0
    samples = y + width * np.random.default_rng(SEED).normal(size=(resamples, len(t)))
    value = crossing(t, smooth)
    error = half_width(np.array([crossing(t, falling(sample, width)) for sample in samples]))
    result = Transition("found", "", value, error, "interpolation", (value, error))

    if len(t) >= 3 and np.all(y > 0):
        fits = Fits(t, np.vstack([y, samples]), width / y)
        result.parameters = tuple(float(p) for p in fits.parameters[0])
        result.dof = len(t) - 3
        result.chi2 = float(np.sum(((result.curve(t) - y) / sigma) ** 2))
        if t[0] <= fits.crossing[0] <= t[-1]:
            result.method = "fit"
            result.value, result.error = float(fits.crossing[0]), half_width(fits.crossing[1:])
    result.sentence = found_sentence(result, t, y, sigma, symbol)
    return result


class Fits:
    """Weighted least squares of log lambda = a - p2 log(T - p1) to many sets of eigenvalues ``[set, T]`` at once.

    relative : ``[T]`` relative errors. ``parameters`` is ``[set, 3]`` = p0, p1, p2; ``crossing`` is the T
    where each fit is 1; where a fit does not rise on cooling it is -inf (lambda below 1 on average) or +inf
    (above).
    """

    def __init__(self, t: np.ndarray, sets: np.ndarray, relative: np.ndarray):
        logs = np.log(np.maximum(sets, np.finfo(float).tiny))
        weight = relative**-2 / np.sum(relative**-2)
        level = logs @ weight

        def line(p1):  # p1 is one number or one per set
            x = np.log(t - np.asarray(p1)[..., None])
            x = x - (x @ weight)[..., None]
            p2 = -np.sum(weight * logs * x, axis=-1) / np.sum(weight * x**2, axis=-1)
            return p2, np.sum(weight * (logs - level[:, None] + p2[:, None] * x) ** 2, axis=-1)

        depth = np.linspace(np.log(0.02 * t[0]), np.log(10 * t[-1]), POLES)
        misfit = np.array([line(t[0] - np.exp(d))[1] for d in depth])
        best = np.clip(misfit.argmin(axis=0), 1, POLES - 2)
        left, here, right = (misfit[best + step, np.arange(len(sets))] for step in (-1, 0, 1))
        bend = np.maximum(left - 2 * here + right, np.finfo(float).tiny)
        with np.errstate(over="ignore"):  # no bend at the end of the range: the end itself is the best pole
            offset = np.clip((left - right) / (2 * bend), -1, 1)  # the vertex of the parabola through three poles
        p1 = t[0] - np.exp(depth[best] + offset * (depth[1] - depth[0]))
        p2, _ = line(p1)
        a = level + p2 * (np.log(t - p1[:, None]) @ weight)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            self.parameters = np.column_stack([np.exp(a), p1, p2])
            self.crossing = np.where(p2 > 0, p1 + np.exp(a / p2), np.where(level > 0, np.inf, -np.inf))


def falling(y: np.ndarray, width: np.ndarray) -> np.ndarray:
    """Return the weighted least-squares regression that never rises with T (pool adjacent violators)."""
    blocks: list[list[float]] = []  # value, weight, number of points
    for value, sigma in zip(y, width):
        blocks.append([value, 1 / sigma**2, 1])
        while len(blocks) > 1 and blocks[-2][0] < blocks[-1][0]:
            v, w, n = blocks.pop()
            u, x, m = blocks[-1]
            blocks[-1] = [(u * x + v * w) / (x + w), x + w, m + n]
    return np.concatenate([[value] * count for value, _, count in blocks])


def crossing(t: np.ndarray, smooth: np.ndarray) -> float:
    """Return the temperature at which a falling piecewise linear function is 1.

    Outside the points its first or last slope is continued. If that is flat the crossing is at -inf (all below 1) or
    +inf (all above).
    """
    above = int(np.count_nonzero(smooth > 1))
    left = min(max(above - 1, 0), len(t) - 2)
    drop = smooth[left] - smooth[left + 1]
    if drop == 0:
        return np.inf if smooth[left] > 1 else -np.inf
    return float(t[left] + (smooth[left] - 1) / drop * (t[left + 1] - t[left]))


def half_width(samples: np.ndarray) -> float:
    """Return half of the central 68 % interval; infinite when that has no end or there are no samples."""
    if samples.size == 0:
        return float("inf")
    low, high = np.quantile(samples, [0.1587, 0.8413], method="nearest")
    return float(high - low) / 2 if np.isfinite([low, high]).all() else float("inf")


def bound_sentence(t, y, sigma, smooth) -> str:
    below = smooth[0] < 1
    end, side = (0, "below") if below else (-1, "above")
    text = NOT_FOUND if below else "the transition is"
    error = sigma[end] if sigma[end] > EXACT else 0.0
    text += f" above T = {t[end]:g}: there the leading eigenvalue is {with_error(y[end], error)}, "
    distance = abs(y[end] - 1) / sigma[end]
    return text + (f"{distance:.1f} standard errors {side} 1" if 0 < distance < CLEAR else f"{side} 1")


def found_sentence(result: Transition, t, y, sigma, symbol) -> str:
    text = f"{symbol} = {with_error(result.value, result.error)} by {result.method}"
    if result.method == "fit":
        text += f", {with_error(*result.interpolation)} by linear interpolation"
    if not np.isfinite(result.error):
        return text + "; the data do not support an error bar"
    excess = max((y[0] - 1) / sigma[0], 0), max((1 - y[-1]) / sigma[-1], 0)
    for side, temperature, size in zip(("above", "below"), (t[0], t[-1]), excess):
        if size < 2:
            text += f"; at T = {temperature:g} the eigenvalue is only {size:.1f} standard errors {side} 1"
    if result.dof and scipy.special.chdtrc(result.dof, result.chi2) < UNLIKELY:
        text += f"; the fit is poor, chi2 = {result.chi2:.1f} for {result.dof} degrees of freedom"
    return text
