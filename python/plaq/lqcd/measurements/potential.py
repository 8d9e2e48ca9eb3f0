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
FORCES = {"r0": 1.65, "r1": 1.0}  # r^2 F(r)


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
    if len(v) < 3 or not np.isfinite(v).all():
        return np.full(3, np.nan)
    shape = forms(len(v))
    return np.linalg.lstsq(shape.T @ w @ shape, shape.T @ w @ v, rcond=None)[0]


def sommer_scale(potential: np.ndarray, w: np.ndarray, force: float = FORCES["r0"]) -> np.ndarray:
    r"""Return r in units of a with $r^2 F(r)$ = ``force``.

    It is r0 for 1.65 (Sommer, hep-lat/9310022), r1 for 1 (Bernard et al., hep-lat/0002028). F is the force of the best
    fit of $V_0 - \alpha / r + \sigma r$ to V [r >= 2] with weights ``w``; nan without a solution.
    """
    _, alpha, sigma = cornell(potential[FIRST - 1:], w)
    return np.array(np.sqrt((force - alpha) / sigma) if sigma > 0 and alpha < force else np.nan)


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
                 if np.isfinite(flat.mean[i]) else
                 f"no static potential at r = {x}: the mean of Wilson loops at t = {at + 1} or {at + 2} is not positive"
                 for i, x in enumerate(wilson.axis("r"))]
    if len(wilson.axis("r")) >= 4 and flat.supported:
        pairs = wilson.values[:, :, at:at + 2]
        w = potential_weights(pairs, flat)
        weighting = "correlated" if w.correlated else "uncorrelated"
        fit = f"of V - alpha / r + sigma r through the potential from r = {FIRST} on, {weighting}"
        for name, force in FORCES.items():
            of_loops = lambda pair, force=force: sommer_scale(effective_potential(pair)[:, 0], w.matrix, force)  # noqa: E731
            scale = average(name, pairs, of_loops, unit="a", convention=f"r^2 F = {force:g} {fit}")
            if np.isfinite(scale.mean):
                results[name] = replace(scale, **cornell_quality(flat.mean[FIRST - 1:], w).labels())
                sentences.append(f"{name} = {scale} a, without errors of the form of the fit and of the plateau; "
                                 f"{results[name].fit}, {weighting}")
        of_loops = lambda pair: cornell(effective_potential(pair)[FIRST - 1:, 0], w.matrix)[2]  # noqa: E731
        tension = average("string_tension", pairs, of_loops, unit="1/a^2", convention=f"sigma {fit}")
        results["string_tension"] = replace(tension, **cornell_quality(flat.mean[FIRST - 1:], w).labels())
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
