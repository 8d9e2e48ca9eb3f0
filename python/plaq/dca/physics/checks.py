"""Checks of a finished temperature, and warnings beside its numbers where a check fails.

They are <k> = K + beta U N_c (n/2 - D) (docs/conventions.md), the walker's drift, convergence of the loop, mixing of
the chains, heavy tails, and the density.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy

from plaq.data.estimate import Estimate, with_error
from plaq.data.formatting import momentum
from plaq.dca.physics.point import Point

LIMIT = 4.0  # standard deviations: a correct run exceeds them once in 16 000 temperatures
DENSITY_LIMIT = 3.0  # the same between the target density and the measured one
DRIFT_LIMIT = 1e-2  # of an element of the walker's matrix, which are of order 1
ROUNDING = 1e-9  # by which a density that does not fluctuate may miss its target
HEAVY = 8.0  # kurtosis of bins, 3 if they are normal: of 64 such bins one set in a hundred thousand has more
LEAST_ORDER = 0.1  # part of the noise of the order in the baths of groups, of which errors extrapolate fourfold
SURE = 1e-5  # of a number: a smaller error bar cannot mislead
MOVED = 14.0  # error bars without the largest bin: a number that this bin moves by more gets a warning
# What shows whether chains mix.
SLOW = ("expansion_order", "density", "double_occupancy", "spin_square", "charge_square")


def deviation(point: Point) -> float | None:
    """Return `order_identity`, which must be 0, in standard errors; None where it was not measured or has no error."""
    if "order_identity" not in point or not point["order_identity"].supported:
        return None
    identity = point["order_identity"]
    if identity.mean == 0:
        return 0.0
    return float(identity.mean / identity.error) if identity.error > 0 else float("inf")


def beyond(deviation: float | None, limit: float, estimate: Estimate) -> bool:
    """Return whether a deviation is as rare as one of ``limit`` standard errors where errors are known exactly.

    deviation : in standard errors of ``estimate``. An error from 16 groups of chains is good to 18 %: by Student's
    distribution a limit of 4 becomes 5.5, one of 3 becomes 3.6.
    """
    if deviation is None:
        return False
    free = np.inf if estimate.jackknife is None else max(len(estimate.jackknife) - 1, 1)
    return not scipy.special.stdtr(free, -abs(deviation)) >= scipy.special.ndtr(-limit)


def violated(point: Point) -> bool:
    """Return whether the identity fails at this temperature."""
    return beyond(deviation(point), LIMIT, point["order_identity"]) if "order_identity" in point else False


def converged(point: Point) -> bool | None:
    """Return whether the average of the final iterations is self-consistent; None where there is no loop."""
    last = point.history[-1] if point.history else {}
    value = last.get("converged")
    return None if value is None or np.isnan(value) else bool(value)


def key_of_convergence(point: Point) -> str:
    """Return the key to raise where the loop has not converged.

    Either there was no approach or it was cut short, or the loop took its noise for convergence.
    """
    approached = len(point.history) > 1 and point.history[-1].get("settled") == 1
    return "dca.minimum_iterations" if approached else "dca.iterations"


def mixes(point: Point) -> bool:
    """Return whether the chains forget their start within half their length, as far as the series show."""
    return not any(name in point and point[name].tau_int == float("inf") for name in SLOW)


def disagreement(point: Point) -> tuple[str, float, int] | None:
    """Return (observable, standard deviations, number of others) of the largest disagreement of chains, or None."""
    return worst(point, "disagreement", LIMIT)


@dataclass(frozen=True)
class LargestBin:
    """Effect of the largest bin on a number.

    weight : its part of the variance; value, error : the number without it; moves : by how many of these errors the
    number with it is off.
    """

    weight: float
    value: float
    error: float
    moves: float


def largest_bin(e: Estimate) -> LargestBin | None:
    """Find the largest bin of a number; None where jackknife values are not known or do not scatter."""
    if e.jackknife is None or not e.supported or len(e.jackknife) < 3:
        return None
    left_out = np.asarray(e.jackknife, dtype=float)
    squares = (left_out - left_out.mean()) ** 2
    i = int(squares.argmax())
    others = np.delete(left_out, i)
    bins = len(others)  # that are left; to first order a sample deviates by -1/bins of its bin's deviation
    error = float(np.sqrt(bins / (bins - 1) * np.sum((others - others.mean()) ** 2)))
    if not error > 0:
        return None
    value = float(left_out[i])
    return LargestBin(float(squares[i] / squares.sum()), value, error, abs(value - left_out.mean()) / error)


def heavy_tails(point: Point) -> dict[str, tuple[Estimate, LargestBin]]:
    """Find the numbers that one bin decides, the most moved first: scalars, and susceptibilities at each momentum.

    Signs are ±1 and have no tails; the identity has its own check.
    """
    numbers = {name: e for name, e in point.observables.items()
               if not e.mean.ndim and name not in ("sign", "order_identity")}
    for name in ("spin_susceptibility", "charge_susceptibility"):
        if name in point and point[name].axes:
            momenta = point[name].axes[0].values
            numbers |= {f"{name} {momentum(K)}": point[name].pick(K=i) for i, K in enumerate(momenta)}
    tails = {name: (e, bin) for name, e in numbers.items()
             if e.error > SURE * abs(e.mean) and (bin := largest_bin(e)) and bin.moves > MOVED}
    return dict(sorted(tails.items(), key=lambda item: -item[1][1].moves))


def tails_in_words(tails: Mapping[str, tuple[Estimate, LargestBin]]) -> str:
    """Return ``one of its bins decides lambda s: 0.79(12), without it 0.31(2)`` for the two most moved numbers."""
    texts = [f"{name.replace('_', ' ')} {e}, without it {with_error(bin.value, bin.error)}"
             for name, (e, bin) in list(tails.items())[:2]]
    more = f", and {len(tails) - len(texts)} more" if len(tails) > len(texts) else ""
    return f"heavy tails, a single bin decides {'; '.join(texts)}{more}"


def worst(point: Point, attribute: str, limit: float) -> tuple[str, float, int] | None:
    """Return (observable, its ``attribute``, number of others beyond the limit) of the largest ``attribute``.

    Lists of eigenvalues and eigenvectors are skipped, since a jackknife sample may have another order, and so are rare
    orders of the histogram.
    """
    values = {name: getattr(e, attribute) for name, e in point.observables.items()
              if not name.startswith(("eigenv", "order_histogram")) and (getattr(e, attribute) or 0.0) > limit}
    first = max(values, key=values.get, default=None)
    return None if first is None else (first, values[first], len(values) - 1)


def density_deviation(point: Point, target: float | None) -> float | None:
    """Return the measured density less the target, in standard errors.

    None where no density was asked for or its error is not known.
    """
    if target is None or "density" not in point or not point["density"].supported:
        return None
    density = point["density"]
    return float((density.mean - target) / max(float(density.error), ROUNDING))


def order_is_noisy(point: Point) -> bool:
    """Return whether there is order, and the groups' baths had less than `LEAST_ORDER` of its noise.

    Errors then miss most of the noise that the loop brings back.
    """
    if "order_parameter" not in point or not abs(point["order_parameter"].mean) > 3 * point["order_parameter"].error:
        return False
    parts = [record["order_fraction"] for record in point.history if record.get("phase") == "final"]
    return bool(parts) and float(np.mean(parts)) < LEAST_ORDER


def density_is_off(point: Point, target: float | None) -> bool:
    return beyond(density_deviation(point, target), DENSITY_LIMIT, point["density"]) if "density" in point else False


def warnings(point: Point, target: float | None = None) -> list[str]:
    """Return the failed checks of a temperature, in words; empty where all hold. target : the density asked for."""
    texts = []
    if violated(point):
        texts.append(f"the check of ⟨k⟩ fails by {abs(deviation(point)):.1f} standard errors")
    if converged(point) is False:
        texts.append(f"not converged: raise {key_of_convergence(point)}")
    if not mixes(point):
        texts.append("the chains do not mix: they remember their start for more than half their length")
    if worst_pair := disagreement(point):
        name, sigma, others = worst_pair
        more = f" and in {others} more" if others else ""
        texts.append(f"the chains disagree in {name.replace('_', ' ')} by {sigma:.0f} standard errors{more}")
    if tails := heavy_tails(point):
        texts.append(tails_in_words(tails))
    if any("sign" in e.note for e in point.observables.values()):
        texts.append("the average sign is 0 within its error")
    elif "energy" in point and not point["energy"].supported and mixes(point):
        texts.append("the data do not support error bars")
    if order_is_noisy(point):
        texts.append("the order of single groups of chains scatters by more than its error bar contains: measure more")
    if density_is_off(point, target):
        off = abs(density_deviation(point, target))
        texts.append(f"n = {point['density']} is {off:.1f} standard errors from {target:g}")
    drift = point.history[-1].get("drift") if point.history else None
    if drift is not None and drift > DRIFT_LIMIT:
        texts.append(f"the walker's matrix drifts by {drift:.1g}")
    return texts


def in_words(point: Point) -> str:
    """Return ``check <k>: 0.14(11), drift 2e-11``; empty where there is nothing to check."""
    if "order_identity" not in point:
        return ""
    text = f"check <k>: {point['order_identity']}"
    drift = point.history[-1].get("drift") if point.history else None
    if drift is not None:
        text += f", drift {drift:.1g}"
    if violated(point):
        text += f" -- FAILED: {abs(deviation(point)):.1f} standard errors from 0, do not trust this temperature"
    return text
