"""T*: the temperature at which the uniform spin susceptibility is largest.

Below it chi_s(q = 0) falls on cooling, as a spin gap or antiferromagnetic correlations open: the usual definition of
the pseudogap's onset (Jaklic, Prelovsek, Adv. Phys. 49, 1 (2000); Bonca, Prelovsek, Phys. Rev. B 67, 085103 (2003)).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from plaq.data.estimate import with_error
from plaq.dca.physics.point import Point

SAMPLES = 1000
SEED = 20261126
FEWEST = 3  # temperatures that can show a maximum
ONE, TWO = 0.1587, 0.0228  # tails of a normal distribution beyond one and two standard errors


@dataclass(frozen=True)
class SpinMaximum:
    """T* and how it was found.

    status : "found", with value and error; "below" or "above" the temperature ``bound``, with two standard errors;
    "not measured". sentence : the same in words.
    """

    status: str
    sentence: str
    value: float | None = None
    error: float | None = None
    bound: float | None = None


def spin_maximum(points: Iterable[Point]) -> SpinMaximum:
    """Return T* of the points that have the static spin susceptibility at q = 0, of the cluster in its bath.

    The maximum is the vertex of the parabola in ln T through the largest value and its neighbours. A parametric
    bootstrap of the susceptibilities gives its error: half of the central 68 %. Where more than 16 % of its samples
    are largest at the lowest or highest temperature, T* is bounded by the temperature that 98 % of them stay below
    or above.
    """
    known = sorted((point.T, *uniform(point)) for point in points if "spin_susceptibility" in point)
    known = [row for row in known if np.isfinite(row).all()]
    if len(known) < FEWEST:
        return SpinMaximum("not measured", f"T* needs chi_s(q = 0) at {FEWEST} temperatures or more: there are "
                                           f"{len(known)}")
    T, chi, error = np.array(known).T
    samples = chi + error * np.random.default_rng(SEED).standard_normal((SAMPLES, len(T)))
    at = np.sort([maximum(T, sample) for sample in samples])
    low, middle, high, lowest, highest = np.quantile(at, [ONE, 0.5, 1 - ONE, TWO, 1 - TWO], method="nearest")
    if np.isneginf(low) and np.isposinf(high):
        return SpinMaximum("not measured", "chi_s(q = 0) is constant within its errors, so nothing is said about T*")
    if np.isneginf(low):
        bound = float(T[np.searchsorted(T, highest).clip(0, len(T) - 1)])
        return SpinMaximum("below", f"T* is below T = {bound:g}: chi_s(q = 0) has no maximum above it", bound=bound)
    if np.isposinf(high):
        bound = float(T[(np.searchsorted(T, lowest, side="right") - 1).clip(0)])
        return SpinMaximum("above", f"T* is above T = {bound:g}: chi_s(q = 0) has no maximum below it", bound=bound)
    value, width = maximum(T, chi), float(high - low) / 2
    value = value if np.isfinite(value) else float(middle)
    return SpinMaximum("found", f"T* = {with_error(value, width)}: chi_s(q = 0) is largest", value, width)


def uniform(point: Point) -> tuple[float, float]:
    """Return (mean, error) of chi_s at q = 0, the first momentum of every cluster."""
    chi = point["spin_susceptibility"]
    return float(chi.mean[0].real), float(chi.error[0].real)


def maximum(T: np.ndarray, chi: np.ndarray) -> float:
    """Return the T of the largest chi, -inf or inf where that is the first or the last of them."""
    i = int(np.argmax(chi))
    if i == 0 or i == len(T) - 1:
        return -np.inf if i == 0 else np.inf
    a, b, _ = np.polyfit(x := np.log(T[i - 1:i + 2]), chi[i - 1:i + 2], 2)
    return float(np.exp(np.clip(-b / (2 * a), x[0], x[2])))
