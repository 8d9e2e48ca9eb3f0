"""Checks of a finished temperature, and warnings beside its numbers where a check fails.

They are <k> = K + beta U N_c (n/2 - D) (docs/conventions.md), the walker's drift, convergence of the loop, mixing of
the chains, heavy tails, and the density.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats

from plaq.data.estimate import Estimate, with_error
from plaq.dca.lattice.momenta import momentum
from plaq.dca.physics.point import Point

LIMIT = 4.0  # standard deviations: a correct run exceeds them once in 16 000 temperatures
DENSITY_LIMIT = 3.0  # the same between the density that was wanted and the one that was measured
DRIFT_LIMIT = 1e-2  # of an element of the walker's matrix, which are of order 1
ROUNDING = 1e-9  # by which a density that does not fluctuate may miss the wanted one
HEAVY = 8.0  # kurtosis of bins, 3 if they are normal: of 64 such bins one set in a hundred thousand has more
SURE = 1e-5  # of a number: a bar below that misleads nobody
MOVED = 14.0  # bars without its largest bin, by which that moves a number that is in doubt
# What shows whether chains mix.
SLOW = ("expansion_order", "density", "double_occupancy", "spin_square", "charge_square")


def deviation(point: Point) -> float | None:
    """Return `order_identity`, which must be 0, in standard errors; None where it was not measured or has no error."""
    if "order_identity" not in point or not point["order_identity"].supported:
        return None
    found = point["order_identity"]
    if found.mean == 0:
        return 0.0
    return float(found.mean / found.error) if found.error > 0 else float("inf")


def beyond(deviation: float | None, limit: float, estimate: Estimate) -> bool:
    """Return whether a deviation is as rare as one of ``limit`` standard errors where errors are known exactly.

    deviation : in standard errors of ``estimate``. An error from 16 groups of chains is good to 18 %: by Student's
    distribution a limit of 4 becomes 5.5, one of 3 becomes 3.6.
    """
    if deviation is None:
        return False
    free = np.inf if estimate.jackknife is None else max(len(estimate.jackknife) - 1, 1)
    return not stats.t.sf(abs(deviation), free) >= stats.norm.sf(limit)


def violated(point: Point) -> bool:
    """Return whether the identity fails at this temperature."""
    return beyond(deviation(point), LIMIT, point["order_identity"]) if "order_identity" in point else False


def converged(point: Point) -> bool | None:
    """Return whether the average of the final iterations is self-consistent; None where there is no loop."""
    last = point.history[-1] if point.history else {}
    known = last.get("converged")
    return None if known is None or np.isnan(known) else bool(known)


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
    found = {name: (e, bin) for name, e in numbers.items()
             if e.error > SURE * abs(e.mean) and (bin := largest_bin(e)) and bin.moves > MOVED}
    return dict(sorted(found.items(), key=lambda item: -item[1][1].moves))


def tails_in_words(found: Mapping[str, tuple[Estimate, LargestBin]]) -> str:
    """Return ``one of its bins decides lambda s: 0.79(12), without it 0.31(2)`` for the two most moved numbers."""
    said = [f"{name.replace('_', ' ')} {e}, without it {with_error(bin.value, bin.error)}"
            for name, (e, bin) in list(found.items())[:2]]
    more = f", and {len(found) - len(said)} more" if len(found) > len(said) else ""
    return f"heavy tails, a single bin decides {'; '.join(said)}{more}"


def worst(point: Point, attribute: str, limit: float) -> tuple[str, float, int] | None:
    """Return (observable, its ``attribute``, number of others beyond the limit) of the largest ``attribute``.

    Lists of eigenvalues and eigenvectors are skipped, since a jackknife sample may have another order, and so are rare
    orders of the histogram.
    """
    found = {name: getattr(e, attribute) for name, e in point.observables.items()
             if not name.startswith(("eigenv", "order_histogram")) and (getattr(e, attribute) or 0.0) > limit}
    first = max(found, key=found.get, default=None)
    return None if first is None else (first, found[first], len(found) - 1)


def density_deviation(point: Point, wanted: float | None) -> float | None:
    """Return the measured density less the wanted one, in standard errors.

    None where no density was asked for or its error is not known.
    """
    if wanted is None or "density" not in point or not point["density"].supported:
        return None
    found = point["density"]
    return float((found.mean - wanted) / max(float(found.error), ROUNDING))


def density_is_off(point: Point, wanted: float | None) -> bool:
    return beyond(density_deviation(point, wanted), DENSITY_LIMIT, point["density"]) if "density" in point else False


def warnings(point: Point, wanted: float | None = None) -> list[str]:
    """Return the failed checks of a temperature, in words; empty where all hold. wanted : the density asked for."""
    found = []
    if violated(point):
        found.append(f"the check of ⟨k⟩ fails by {abs(deviation(point)):.1f} standard errors")
    if converged(point) is False:
        found.append(f"not converged: raise {key_of_convergence(point)}")
    if not mixes(point):
        found.append("the chains do not mix: they remember their start for more than half their length")
    if apart := disagreement(point):
        name, sigma, others = apart
        more = f" and in {others} more" if others else ""
        found.append(f"the chains disagree in {name.replace('_', ' ')} by {sigma:.0f} standard errors{more}")
    if tails := heavy_tails(point):
        found.append(tails_in_words(tails))
    if any("sign" in e.note for e in point.observables.values()):
        found.append("the average sign is 0 within its error")
    elif "energy" in point and not point["energy"].supported and mixes(point):
        found.append("the data do not support error bars")
    if density_is_off(point, wanted):
        off = abs(density_deviation(point, wanted))
        found.append(f"n = {point['density']} is {off:.1f} standard errors from {wanted:g}")
    drift = point.history[-1].get("drift") if point.history else None
    if drift is not None and drift > DRIFT_LIMIT:
        found.append(f"the walker's matrix drifts by {drift:.1g}")
    return found


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
