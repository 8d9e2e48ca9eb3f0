"""Estimates as objects of pyerrors and gvar, with all correlations."""

from __future__ import annotations

from typing import Any

import numpy as np

from plaq.data.arithmetic import ALONE
from plaq.data.estimate import Estimate
from plaq.data.optional import package
from plaq.data.propagation import rebinned, sources

_bins: dict[str, int] = {}  # of each run in the first estimate that was converted, which all others follow
_noise: dict[str, Any] = {}  # of each source, as independent normal variables of gvar


def shared_sources(estimate: Estimate) -> dict[str, np.ndarray]:
    """Return the values of all sources, with the same number of bins for all estimates of a run.

    ValueError if a number has no known error.
    """
    if not estimate.supported:
        raise ValueError(f"{estimate.name} has no error: {estimate.note or 'it is infinite'}")
    return {label: values if label.startswith(ALONE) else
            rebinned(values, estimate.mean, _bins.setdefault(label, len(values)))
            for label, values in sources(estimate).items()}


def to_gvar(estimate: Estimate) -> Any:
    """Return a gvar.GVar, or an array of them. Real and imaginary parts of complex numbers come on a last axis.

    All variables of a run are sums over the same independent ones, so that they are correlated as their bins are.
    """
    gvar = package("gvar")
    parts = shared_sources(estimate)
    as_real = lambda values: np.stack([values.real, values.imag], axis=-1) if np.iscomplexobj(values) else values
    total = gvar.gvar(as_real(estimate.mean), np.zeros_like(as_real(estimate.error)))
    for label, values in parts.items():
        values = as_real(values)
        deviation = values[:1] - as_real(estimate.mean)  # one error, if there are no bins
        if not label.startswith(ALONE):
            deviation = (values - values.mean(axis=0)) * np.sqrt((len(values) - 1) / len(values))
        if label not in _noise:
            _noise[label] = gvar.gvar(np.zeros(len(deviation)), np.ones(len(deviation)))
        total = total + np.tensordot(deviation, _noise[label], axes=(0, 0))
    return np.asarray(total)[()]


def to_pyerrors(estimate: Estimate) -> Any:
    """Return a pyerrors.Obs, CObs if complex, or an array of them. The error is that of ``gamma_method(S=0)``.

    Sets of bins are ensembles of pyerrors with one value for each bin; errors without bins are its covariances.
    """
    pyerrors = package("pyerrors")
    parts = shared_sources(estimate)

    def observable(at: tuple[int, ...], part: str) -> Any:
        mean = float(getattr(estimate.mean[at], part))
        total = pyerrors.cov_Obs(mean, 0.0, "exact") if not parts else mean
        for label, values in parts.items():
            one = getattr(values[(slice(None), *at)], part)
            if label.startswith(ALONE):
                total = total + float(one[0] - mean) * pyerrors.cov_Obs(0.0, 1.0, label)
            else:
                total = total + pyerrors.import_jackknife(np.concatenate([[mean], one]), label) - mean
        return total

    number = ((lambda at: pyerrors.CObs(observable(at, "real"), observable(at, "imag")))
              if np.iscomplexobj(estimate.mean) else lambda at: observable(at, "real"))
    if not estimate.ndim:
        return number(())
    found = np.empty(estimate.shape, dtype=object)
    for at in np.ndindex(estimate.shape):
        found[at] = number(at)
    return found
