r"""Averages over models and windows of fits (Jay and Neil, arXiv:2008.01069).

A fit i has the weight $w_i \propto \exp(-\frac12(\chi^2_i - 2\nu_i))$. For K of the points and P parameters, $\nu =
K - P$, and up to a constant the exponent is Akaike's $\chi^2 + 2P + 2 N_{cut}$ with $N_{cut}$ points outside of the
window. If the fit is not correlated, $\chi^2_i$ is replaced by that of $\nu$ independent points with the same p, which
takes the correlations into account (Bruno and Sommer, arXiv:2209.14188). The average of parameters $a_i$ with errors
$\sigma_i$ has the error

$\sigma^2 = \sum_i w_i\sigma_i^2 + \sum_i w_i a_i^2 - (\sum_i w_i a_i)^2$,

whose second part is the systematic error of the choice among these fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from plaq.data.estimate import Estimate
from plaq.data.propagation import rebinned
from plaq.errors import InputError
from plaq.lqcd.analysis.correlator_fits import PARITY, Fit, fit_correlator, folded, weights_of
from plaq.lqcd.analysis.fits import INDEPENDENT, Weights

NOISE = 1 / 3  # relative error of C(t) from where windows do not go
SIGNIFICANT = 2  # errors from zero of amplitudes and masses
FEWEST = 1  # degrees of freedom of a window


@dataclass(frozen=True)
class ModelAverage:
    """Average of a parameter over fits, with the parts of its error, and the weights of the fits."""

    value: Estimate
    statistical: float
    systematic: float
    weights: np.ndarray
    fits: tuple[Fit, ...]

    @property
    def best(self) -> Fit:
        """The fit with the largest weight."""
        return self.fits[int(np.argmax(self.weights))]

    def __str__(self) -> str:
        return (f"{self.value.name} = {self.value} {self.value.unit}, {len(self.fits)} fits; errors "
                f"{self.statistical:.2g} (statistical), {self.systematic:.2g} (choice of the fit)")


def average_models(fits: Iterable[Fit], parameter: str = "mass") -> ModelAverage:
    """Return the average of a parameter that all fits of the same data have; InputError without a fit with an error."""
    fits = tuple(fits)
    usable = tuple(one for one in fits if one[parameter].supported and np.isfinite(one[parameter].mean))
    if not usable:
        note = next((one[parameter].note for one in fits if one[parameter].note), "no fit has a minimum")
        raise InputError(f"no average of fits: {note}")
    criteria = np.array([one.criterion for one in usable])
    w = np.exp(-(criteria - criteria.min()) / 2)
    w /= w.sum()
    estimates = [one[parameter] for one in usable]
    means, errors = (np.array([float(getattr(e, part)) for e in estimates]) for part in ("mean", "error"))
    mean = float(w @ means)
    statistical, systematic = float(np.sqrt(w @ errors**2)), float(np.sqrt(max(w @ means**2 - mean**2, 0.0)))
    bins = min(len(e.jackknife) for e in estimates)
    jackknife = sum(part * rebinned(e.jackknife, e.mean, bins) for part, e in zip(w, estimates))
    first, slowest = usable[0], max(estimates, key=lambda e: e.tau_int or 0.0)
    best = usable[int(np.argmax(w))]
    models = ", ".join(dict.fromkeys(one.model.text for one in usable))
    value = replace(best[parameter], name=first.name, mean=np.array(mean), jackknife=jackknife, bias=None, gamma=None,
                    error=np.array(np.hypot(statistical, systematic)), kurtosis=None, tau_int=slowest.tau_int,
                    tau_int_error=slowest.tau_int_error, convention=f"{parameter}, average over {len(usable)} fits of "
                    f"{models}; chi^2 is that of the heaviest one, {best.x[0]:g} <= t <= {best.x[-1]:g}, "
                    f"{best.weighting}")
    return ModelAverage(value, statistical, systematic, w, usable)


def scan_windows(name: str, series: np.ndarray, model: str = "cosh", states: Sequence[int] = (1, 2), *,
                 first: int = 1, last: int | None = None, weighting: str = "auto",
                 replicas: Sequence[int] | None = None) -> list[Fit]:
    """Return the fits of all windows from t >= first to a common last t, for one state and more.

    series : [configuration, T]. last : by default the last t before the relative error of C(t) passes a third, at most
    T/2. All windows have the same weighting, by default that of the longest one. Fits without a minimum, or with
    an amplitude or a mass that is compatible with zero, are left out.
    """
    points = folded(series, model)
    w = weights_of(points, "uncorrelated", replicas)
    if last is None:
        last = signal_end(points.mean(axis=0), np.sqrt(np.diag(w.covariance)), first)
        if model not in PARITY:
            last = min(last, len(points[0]) // 2 - 1)
    kind = weighting
    if kind == "auto":
        kind = "correlated" if w.independent >= INDEPENDENT * (last - first + 1) else "uncorrelated"
    w = Weights(w.matrix, w.covariance, w.independent, kind)
    found = []
    for count in states:
        for begin in range(first, last + 2 - 2 * count - FEWEST):
            one = fit_correlator(name, series, begin, last, model, count, weighting=w, replicas=replicas)
            if one is not None and significant(one):
                found.append(one)
    return found


def signal_end(mean: np.ndarray, error: np.ndarray, first: int) -> int:
    """Return the last t up to which errors are below a third of C(t)."""
    noisy = np.flatnonzero(~(error[first:] < NOISE * np.abs(mean[first:])))
    return first + int(noisy[0]) - 1 if noisy.size else len(mean) - 1


def significant(one: Fit) -> bool:
    """Return whether all amplitudes and masses differ from zero by more than two errors."""
    return all(np.abs(e.mean) > SIGNIFICANT * e.error for e in one.parameters.values() if e.supported)
