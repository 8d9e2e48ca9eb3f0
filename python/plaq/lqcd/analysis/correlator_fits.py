"""Fits of models to averages along an axis, and to correlators C(t)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from plaq.data.estimate import Estimate
from plaq.errors import InputError
from plaq.lqcd.analysis.averages import average
from plaq.lqcd.analysis.fits import Quality, Weights, quality, weights
from plaq.lqcd.analysis.least_squares import Problem
from plaq.lqcd.analysis.models import Model, correlator_model

PARITY = {"cosh": 1, "sinh": -1}


@dataclass(frozen=True)
class Fit:
    """Fit of a model to points x: parameters by name, with errors, and its quality."""

    name: str
    model: Model
    x: np.ndarray
    parameters: dict[str, Estimate]
    quality: Quality
    weighting: str
    changes: dict[str, np.ndarray]

    def __getitem__(self, name: str) -> Estimate:
        return self.parameters[name]

    def series(self, name: str, function: Callable[[float], float] = float) -> np.ndarray:
        """Return [configuration]: a function of a parameter plus its first-order change by each configuration.

        The average is that of the parameter, with the errors of the fit. So series of several fits on the same
        configurations serve functions and fits of their parameters, with all correlations.
        """
        value, change = float(self.parameters[name].mean), self.changes[name]
        step = float(change.std()) / np.sqrt(len(change)) or 1e-6
        return function(value) + (function(value + step) - function(value - step)) / (2 * step) * change

    def curve(self, x: np.ndarray) -> np.ndarray:
        """Return the model at points x."""
        q = np.array([self.parameters[name].mean for name in self.model.nonlinear])
        return self.model.forms(q, np.asarray(x, float)) @ [float(self.parameters[n].mean) for n in self.model.linear]

    @property
    def criterion(self) -> float:
        """Akaike's criterion without its constant, chi^2 - 2 dof: smaller is better (`average_models`).

        For other weights than the inverse of the covariance, chi^2 is that of independent points with the same p.
        """
        q = self.quality
        if q.dof < 1:
            return 0.0
        return (q.chi2 if self.weighting == "correlated" else float(scipy.special.chdtri(q.dof, q.p))) - 2 * q.dof

    def __str__(self) -> str:
        values = ", ".join(f"{name} = {e}" for name, e in self.parameters.items())
        return (f"{self.name}: {values} from {self.model.text} for {self.x[0]:g} <= t <= {self.x[-1]:g}; "
                f"{next(iter(self.parameters.values())).fit}, {self.weighting}")


def fold(correlator: np.ndarray, parity: int = 1) -> np.ndarray:
    """Return [T/2 + 1]: the mean of C(t) and C(T - t), from C [T]; from [T, ...] column by column.

    parity : -1 for correlators that change their sign under t -> T - t.
    """
    return (correlator + parity * np.roll(correlator[::-1], 1, axis=0))[:len(correlator) // 2 + 1] / 2


def fit(name: str, series: np.ndarray, x: Sequence[float], model: Model, *, weighting: str | Weights = "auto",
        replicas: Sequence[int] | None = None, unit: str = "") -> Fit | None:
    """Return the fit of a model to the averages of a series [configuration, K] at points x; None without a minimum.

    Errors of parameters are of first order in the changes of the points, by `average`.

    weighting : in `plaq.lqcd.analysis.fits.WEIGHTINGS`, or the weights themselves, which are kept fixed for the errors.
    replicas : as in `average`. InputError for fewer points than parameters.
    """
    x, series = np.asarray(x, float), np.asarray(series, float)
    names = (*model.linear, *model.nonlinear)
    if len(x) < len(names) or series.shape[1:] != (len(x),):
        raise InputError(f"{name}: a fit of {len(names)} parameters to {len(x)} points x and series of "
                         f"{series.shape[1:]} points; it takes as many points as parameters or more")
    w = weighting if isinstance(weighting, Weights) else weights_of(series, weighting, replicas)
    problem, mean = Problem(model, x, w.matrix), series.mean(axis=0)
    best = problem.minimum(mean)
    if best is None:
        return None

    moved = problem.first_order(best.jacobian)
    found = quality(mean - problem.model.forms(best.q, x) @ best.amplitudes, best.jacobian, w)
    values, changes = {}, {}
    for i, one in enumerate(names):
        of_points = lambda y, i=i: best.parameters[i] + moved[i] @ (y - mean)  # noqa: E731
        changes[one] = (series - mean) @ moved[i]
        e = average(f"{name}/{one}", series, of_points, replicas, changes=changes[one],
                    unit=unit if one in model.nonlinear else "",
                    convention=f"{one} of {model.text} for {x[0]:g} <= t <= {x[-1]:g}, {w.kind}")
        values[one] = replace(e, **found.labels())
    return Fit(name, model, x, values, found, w.kind, changes)


def weights_of(series: np.ndarray, kind: str = "auto", replicas: Sequence[int] | None = None) -> Weights:
    """Return the weights of a fit to the averages of a series [configuration, K]."""
    mean = average("points", series, replicas=replicas)
    error = np.sqrt((len(mean.jackknife) - 1) * mean.jackknife.var(axis=0))
    return weights(series - mean.mean, error, mean.tau_int, kind)


def fit_correlator(name: str, series: np.ndarray, first: int, last: int | None = None, model: str = "cosh",
                   states: int = 1, *, weighting: str | Weights = "auto",
                   replicas: Sequence[int] | None = None) -> Fit | None:
    """Return the fit of a model of `plaq.lqcd.analysis.models` to C(t), first <= t <= last; None without a minimum.

    series : [configuration, T], real. Correlators are folded for cosh and sinh, and ``last`` is by default T/2; for
    "exp" the last default is T/2 - 1. Masses are in units of 1/a. InputError for windows outside of that.
    """
    T = series.shape[1]
    points = folded(series, model)
    end = (T // 2 if model in PARITY else T // 2 - 1) if last is None else last
    if not 0 <= first < end < points.shape[1]:
        raise InputError(f"{name}: a window from {first} to {end} is not allowed: 0 <= first < last < "
                         f"{points.shape[1]} on {T} time slices")
    window = slice(first, end + 1)
    w = weighting.part(window) if isinstance(weighting, Weights) else weighting
    return fit(name, points[:, window], np.arange(first, end + 1), correlator_model(model, states, T), weighting=w,
               replicas=replicas, unit="1/a")


def folded(series: np.ndarray, model: str) -> np.ndarray:
    """Return the points that a model is fitted to: [configuration, T/2 + 1] for cosh and sinh, else all."""
    return fold(series.T, PARITY[model]).T if model in PARITY else series
