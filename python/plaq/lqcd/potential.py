"""The static potential from Wilson loops."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaq.data.estimate import Axis, Estimate
from plaq.lqcd.averages import average
from plaq.lqcd.parameters import Parameters


@dataclass(frozen=True)
class Loops:
    """Of each configuration: Polyakov loops [configuration, (re, im)], 2 x 1 rectangles [configuration], and
    Wilson loops [configuration, r - 1, t - 1]."""

    polyakov: np.ndarray
    rectangles: np.ndarray
    wilson: np.ndarray


def effective_potential(loops: np.ndarray) -> np.ndarray:
    r"""[r, t]: $\ln W(r, t) / W(r, t + 1)$ in 1/a from Wilson loops [r, t], which falls to V(r) as t grows; nan
    where a loop is not positive."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.log(loops[:, :-1] / loops[:, 1:])


def sommer_scale(potential: np.ndarray, error: np.ndarray, first: int = 2) -> np.ndarray:
    r"""r0 in units of a with $r_0^2 F(r_0) = 1.65$ (Sommer, hep-lat/9310022) of the potential
    $V_0 - \alpha / r + \sigma r$ that fits V [r] with its errors best for r >= ``first``;
    nan where that has none."""
    r = np.arange(first, len(potential) + 1)
    v, weight = potential[first - 1:], 1 / error[first - 1:]
    if len(r) < 3 or not np.isfinite(v).all():
        return np.array(np.nan)
    shapes = np.stack([np.ones(len(r)), -1 / r, r], axis=1) * weight[:, None]
    _, alpha, sigma = np.linalg.lstsq(shapes, v * weight, rcond=None)[0]
    return np.array(np.sqrt((1.65 - alpha) / sigma) if sigma > 0 and alpha < 1.65 else np.nan)


def of_loops(p: Parameters, loops: Loops, how: dict) -> tuple[dict[str, Estimate], list[str]]:
    """Estimates and sentences; ``how`` is that of `average`."""
    r, t = np.arange(1, p.loops.space + 1), np.arange(1, p.loops.time + 1)
    found = {
        "rectangle": average("rectangle", loops.rectangles, **how, convention="Re tr R / 3 of 2 x 1 rectangles"),
        "wilson_loops": average("wilson_loops", loops.wilson, **how, axes=[Axis("r", r, "a"), Axis("t", t, "a")],
                                convention="Re tr W / 3 of loops of r sites in space, on links smeared there, "
                                "and t in time"),
        "potential": average("potential", loops.wilson, **how, function=effective_potential, unit="1/a",
                             axes=[Axis("r", r, "a"), Axis("t", t[:-1], "a")], convention="ln W(r, t) / W(r, t + 1)"),
    }
    at = (p.loops.plateau or p.loops.time // 2) - 1
    flat = found["potential"].pick(t=at)
    sentences = [f"static potential at r = {x}: {flat.pick(r=i)} / a, from Wilson loops at t = {at + 1}"
                 for i, x in enumerate(r)]
    if len(r) >= 4 and flat.supported:
        r0 = average("r0", loops.wilson, **how, unit="a",
                     function=lambda w: sommer_scale(effective_potential(w)[:, at], flat.error),
                     convention="r^2 F = 1.65 of V - alpha / r + sigma r through the potential from r = 2 on")
        if np.isfinite(r0.mean):
            found["r0"] = r0
            sentences.append(f"r0 = {r0} a, without errors of the form of the fit and of the plateau")
    return found, sentences
