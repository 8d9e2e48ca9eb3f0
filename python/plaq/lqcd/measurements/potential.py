"""The static potential from Wilson loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from plaq.data.estimate import Axis, Estimate
from plaq.data.recorded import Recorded
from plaq.lqcd.analysis.averages import average
from plaq.lqcd.analysis.fits import Quality, Weights, quality, weights

FIRST = 2  # r of the fit for r0
FORCE = 1.65  # r0^2 F(r0)


def effective_potential(loops: np.ndarray) -> np.ndarray:
    r"""Return [r, t]: $\ln W(r, t) / W(r, t + 1)$ in 1/a from Wilson loops [r, t].

    It falls to V(r) as t grows; nan if a loop is not positive.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.log(loops[:, :-1] / loops[:, 1:])


def forms(points: int) -> np.ndarray:
    """Return [r, 3]: 1, -1/r and r at ``points`` distances from `FIRST` up."""
    r = np.arange(FIRST, FIRST + points)
    return np.stack([np.ones(points), -1 / r, r], axis=1)


def cornell(v: np.ndarray, w: np.ndarray) -> np.ndarray:
    r"""Return $(V_0, \alpha, \sigma)$ of the best fit of $V_0 - \alpha / r + \sigma r$ to V [r >= 2], weights ``w``."""
    shape = forms(len(v))
    return np.linalg.lstsq(shape.T @ w @ shape, shape.T @ w @ v, rcond=None)[0]


def sommer_scale(potential: np.ndarray, w: np.ndarray) -> np.ndarray:
    r"""Return r0 in units of a with $r_0^2 F(r_0) = 1.65$ (Sommer, hep-lat/9310022).

    F is the force of the best fit of $V_0 - \alpha / r + \sigma r$ to V [r >= 2] with weights ``w``; nan without a
    solution.
    """
    v = potential[FIRST - 1:]
    if len(v) < 3 or not np.isfinite(v).all():
        return np.array(np.nan)
    _, alpha, sigma = cornell(v, w)
    return np.array(np.sqrt((FORCE - alpha) / sigma) if sigma > 0 and alpha < FORCE else np.nan)


def loop_estimates(table: Any, series: Mapping[str, Recorded]) -> tuple[dict[str, Estimate], list[str]]:
    """Return estimates of loops and potential of a table [loops.NAME] from {quantity: series}, and sentences."""
    wilson = series["wilson_loops"]
    axes, t = wilson.axes[1:], wilson.axis("t")
    results = {
        "rectangle": average("rectangle", series["rectangle"].values, convention="Re tr R / 3 of 2 x 1 rectangles"),
        "wilson_loops": average("wilson_loops", wilson.values, axes=axes, convention=wilson.convention),
        "potential": average("potential", wilson.values, effective_potential, unit="1/a",
                             axes=[axes[0], Axis("t", t[:-1], "a")], convention="ln W(r, t) / W(r, t + 1)"),
    }
    at = (table.plateau or table.time // 2) - 1
    flat = results["potential"].pick(t=at)
    sentences = [f"static potential at r = {x}: {flat.pick(r=i)} / a, from Wilson loops at t = {at + 1}"
                 for i, x in enumerate(wilson.axis("r"))]
    if len(wilson.axis("r")) >= 4 and flat.supported:
        pairs = wilson.values[:, :, at:at + 2]
        w = potential_weights(pairs, flat)
        weighting = "correlated" if w.correlated else "uncorrelated"
        r0 = average("r0", pairs, lambda pair: sommer_scale(effective_potential(pair)[:, 0], w.matrix), unit="a",
                     convention="r^2 F = 1.65 of V - alpha / r + sigma r through the potential from r = 2 on, "
                     f"{weighting}")
        if np.isfinite(r0.mean):
            r0 = replace(r0, **cornell_quality(flat.mean[FIRST - 1:], w).labels())
            results["r0"] = r0
            sentences.append(f"r0 = {r0} a, without errors of the form of the fit and of the plateau; {r0.fit}, "
                             f"{weighting}")
    return results, sentences


def potential_weights(pairs: np.ndarray, flat: Estimate) -> Weights:
    """Return weights of a fit to the potential ``flat`` [r >= 2], from loops [configuration, r, (t, t + 1)].

    To first order its deviations are those of ln W.
    """
    relative = (pairs / pairs.mean(axis=0) - 1)[:, FIRST - 1:]
    return weights(relative[..., 0] - relative[..., 1], flat.error[FIRST - 1:], flat.tau_int)


def cornell_quality(v: np.ndarray, w: Weights) -> Quality:
    """Return the `Quality` of the fit of `cornell` to V [r >= 2]."""
    shape = forms(len(v))
    return quality(v - shape @ cornell(v, w.matrix), shape, w)
