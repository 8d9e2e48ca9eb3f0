"""Masses from correlators C(t) of a lattice of T time slices."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.optimize import minimize_scalar

from plaq.data.estimate import Estimate
from plaq.lqcd.analysis.averages import average
from plaq.lqcd.analysis.fits import Weights, quality, weights

AXIAL = "gammatgamma5_gamma5"  # the correlator of the axial current with the pseudoscalar source
LIGHTEST, HEAVIEST = 1e-4, 10.0  # range of masses of a fit


def fold(correlator: np.ndarray) -> np.ndarray:
    """Return [T/2 + 1]: the mean of C(t) and C(T - t), from C [T]; from [T, ...] column by column."""
    return (correlator + np.roll(correlator[::-1], 1, axis=0))[:len(correlator) // 2 + 1] / 2


def effective_mass(correlator: np.ndarray) -> np.ndarray:
    r"""Return $m(t)$ with $\cosh m = (C(t-1) + C(t+1)) / 2 C(t)$ for 0 < t < T/2, from C [T].

    It is the mass of a single state in a box of length T; nan if there is no solution.
    """
    c = fold(correlator)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.arccosh((c[:-2] + c[2:]) / (2 * c[1:-1]))


def shape(mass: float, first: int, half: int) -> np.ndarray:
    """Return cosh(m (t - T/2)) for first <= t <= T/2, divided by exp(m (T/2 - first)) / 2 to avoid overflow."""
    t = np.arange(first, half + 1)
    return np.exp(np.logaddexp(mass * (t - half), -mass * (t - half)) - mass * (half - first))


def amplitude(c: np.ndarray, form: np.ndarray, w: np.ndarray) -> float:
    """Return the factor of ``form`` in the best fit to c, $f w c / f w f$."""
    return (form @ w @ c) / (form @ w @ form)


def cosh_mass(correlator: np.ndarray, w: np.ndarray, first: int) -> np.ndarray:
    """Return m of a least-squares fit of A cosh(m (t - T/2)) to the folded correlator, from C [T].

    ``w`` [K, K] are the weights of the K points first <= t <= T/2; nan if there is no minimum in 1e-4 < m < 10.
    """
    half = len(correlator) // 2
    c = fold(correlator)[first:]

    def squares(log_m: float) -> float:
        form = shape(math.exp(log_m), first, half)
        rest = c - amplitude(c, form, w) * form
        return rest @ w @ rest

    low, high = math.log(LIGHTEST), math.log(HEAVIEST)
    # Start from the best point of a grid: with correlations there may be several minima.
    grid = np.linspace(low, high, 40)
    best = int(np.argmin([squares(x) for x in grid]))
    bounds = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    minimum = minimize_scalar(squares, bounds=bounds, method="bounded", options={"xatol": 1e-10})
    inside = low + 1e-3 < minimum.x < high - 1e-3 and np.isfinite(minimum.fun)
    return np.array(math.exp(minimum.x) if inside else np.nan)


def fit_mass(name: str, series: np.ndarray, mean: Estimate, first: int) -> tuple[dict[str, Estimate], str]:
    """Return the mass of a meson by `cosh_mass`, if there is one, with the quality of the fit, and a sentence.

    ``mean`` is the average of its correlators ``series`` [configuration, T].
    """
    if not mean.supported:
        return {}, f"no mass of {name}: a fit takes errors of its correlator, and there are none"
    halves = fold(series.T).T[:, first:]
    w = weights(halves - halves.mean(axis=0), fold_error(mean)[first:], mean.tau_int)
    weighting = "correlated" if w.correlated else "uncorrelated"
    fit = average(f"fit_{name}", series, lambda c: cosh_mass(c, w.matrix, first), unit="1/a",
                  convention=f"m of A cosh(m (t - T/2)) for t from {first} to T/2, {weighting}")
    if not np.isfinite(fit.mean):
        return {}, f"no mass of {name}: no cosh fits its correlator for t >= {first}"
    fit = replace(fit, **fit_quality(halves.mean(axis=0), float(fit.mean), w, first).labels())
    return {f"fit_{name}": fit}, f"mass of {name} = {fit} / a, from a cosh for t >= {first}; {fit.fit}, {weighting}"


def fold_error(mean: Estimate) -> np.ndarray:
    """Return [T/2 + 1]: errors of the folded correlator, from the jackknife values of C [T]."""
    values = fold(mean.jackknife.T).T
    return np.sqrt((len(values) - 1) * values.var(axis=0))


def fit_quality(c: np.ndarray, mass: float, w: Weights, first: int):
    """Return the `Quality` of a fit of a cosh to the folded correlator c [K]."""
    half, step = first + len(c) - 1, 1e-5 * mass
    form = shape(mass, first, half)
    size = amplitude(c, form, w.matrix)
    slope = (shape(mass + step, first, half) - shape(mass - step, first, half)) / (2 * step)
    return quality(c - size * form, np.stack([form, size * slope], axis=1), w)


def pcac_mass(correlators: np.ndarray) -> np.ndarray:
    r"""Return $m(t) = (C_{AP}(t+1) - C_{AP}(t-1)) / 4 C_{PP}(t)$ for 1 < t < T/2, away from the source.

    From [T, (PP, AP)] with $A = \bar q\gamma_0\gamma_5 q$, which changes its sign under t -> T - t.
    """
    pp, ap = correlators.T
    odd = (ap - np.roll(ap[::-1], 1)) / 2
    half = len(pp) // 2
    return (odd[3:half + 1] - odd[1:half - 1]) / (4 * fold(pp)[2:half])
