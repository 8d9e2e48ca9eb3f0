"""What the last iterations of a temperature measured, each with baths of its own,
as one set of bins with their mean bath.

Once the loop has settled, its iterations differ by noise alone, so all that they measure counts. Let iteration i have
the bath function b_i and averages <O>_i. Functions of the bath are linear near its mean, so that to first
order in b_i - b the mean of <O>_i is what the mean bath b would give, for every measured function O. The bath is
averaged as 1/b = iw + mu - eps_K - Delta_K. The same holds for groups of chains that have different baths in one
iteration (plaq.dca.solver.groups): a bin is a group, and with it goes the bath that it was in.

M is tied to the bath that it was measured with. What is averaged is G = g0 - g0^2 m, m = M/(beta N_c), over what
it would be with a given Sigma in that bath (plaq.dca.solver.ctaux.InBath),
from which m with the mean bath follows again.
"""

from __future__ import annotations

import numpy as np

from plaq.dca.solver.ctaux import InBath, Measured

FEW, MANY = 4, 8  # iterations that share the measurements of a temperature
COLD = 1 / 25  # temperature over the largest band energy, below which the density mode oscillates
ENOUGH, ENOUGH_IF_COLD = 2000, 500  # measurements of an iteration, for groups to which the loop answers linearly


def parts(iterations: int, measurements: int, T: float, largest_energy: float) -> int:
    """How many share ``measurements`` where only so many ``iterations`` are allowed at a temperature: at most half of
    them, one at least. largest_energy : max |eps(k)|

    Where it is cold the loop's slowest mode oscillates over some six iterations, and many iterations average over it;
    elsewhere, with few measurements each, they are noisier than few iterations are."""
    many = measurements >= MANY * (ENOUGH_IF_COLD if T <= COLD * largest_energy else ENOUGH)
    return min(MANY if many else FEW, max(1, iterations // 2))


_AVERAGED = ("sign", "order", "norm", "histogram", "pairing", "correlations", "channels")
_SUMMED = ("weights", "walking_seconds", "measuring_seconds")


def pooled(pool, measured: Measured):
    """`pool` (None at first) with one more iteration. A dict of arrays, numbers and None, fit for a checkpoint.

    ``measured.own`` says in which baths. All iterations have the same bins and shapes.
    """
    new = {name: getattr(measured, name) for name in _AVERAGED}
    new |= {"own": vars(measured.own), "acceptance": measured.acceptance}
    summed = {name: getattr(measured, name) for name in _SUMMED}
    if pool is None:
        return {**summed, "averages": new, "series": measured.series, "parts": measured.parts,
                "drift": measured.drift}
    share = measured.weights.sum() / (pool["weights"].sum() + measured.weights.sum())
    return {**{name: pool[name] + summed[name] for name in _SUMMED},
            "averages": _mean(pool["averages"], new, share),
            "series": np.concatenate([pool["series"], measured.series], axis=1),
            "parts": pool["parts"] + measured.parts, "drift": max(pool["drift"], measured.drift)}


def as_one(pool) -> Measured:
    """Of all iterations in `pool`."""
    averages = dict(pool["averages"])
    own = InBath(**averages.pop("own"))
    return Measured(m=None, own=own, **averages,
                    **{name: pool[name] for name in (*_SUMMED, "series", "parts", "drift")})


def functions(pool):
    """The two-particle functions in it, by their name in a bin: [bin] of [row, n']."""
    averages = pool["averages"]
    pairing = {} if averages["pairing"] is None else {"pairing": averages["pairing"]}
    return pairing | {f"channel_{i}": rows for i, rows in enumerate(averages["channels"])}


def with_functions(pool, found):
    """The same pool with these functions instead of its own."""
    channels = [found[f"channel_{i}"] for i in range(len(found) - ("pairing" in found))]
    return {**pool, "averages": {**pool["averages"], "pairing": found.get("pairing"), "channels": channels}}


def _mean(a, b, share):
    """(1 - share) a + share b, part by part."""
    if a is None:
        return None
    if isinstance(a, dict):
        return {name: _mean(a[name], b[name], share) for name in a}
    if isinstance(a, list):
        return [_mean(x, y, share) for x, y in zip(a, b)]
    return (1 - share) * a + share * b
