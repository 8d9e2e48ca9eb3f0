"""What the last iterations of a temperature measured, each with its own bath, as one set of bins with the mean bath.

Once the loop has settled, its iterations differ by noise alone, so all that they measure counts. Let iteration i have
the bath function b_i, mu_i, and averages <O>_i. Functions of the bath are linear near its mean, so that to first order
in b_i - b the mean of <O>_i is what the mean bath b would give, for every measured function O. The bath is averaged as
1/b = iw + mu - eps_K - Delta_K, so mu is the mean of all mu_i.

M is tied to the bath that it was measured with. What is averaged is G = g0 - g0^2 m, m = M/(beta N_c), from which m with
the mean bath follows again.
"""

from __future__ import annotations

import numpy as np

from plaq.dca.solver.ctaux import Measured

PARTS = 4  # iterations that share the measurements of a temperature

_AVERAGED = ("sign", "order", "norm", "histogram", "pairing", "correlations", "channels")


def pooled(pool, measured: Measured, g0, mu):
    """`pool` (None at first) with one more iteration. A dict of arrays, numbers and None, fit for a checkpoint.

    g0: [K, w] auxiliary bath function of the iteration. All iterations have the same shapes.
    """
    weight = float(measured.weights.sum())
    new = {name: getattr(measured, name) for name in _AVERAGED}
    new["green"] = measured.norm[:, None, None] * g0 - g0**2 * measured.m
    new |= {"inverse_g0": 1 / g0, "mu": mu, "acceptance": measured.acceptance}
    seconds = {"walking_seconds": measured.walking_seconds, "measuring_seconds": measured.measuring_seconds}
    if pool is None:
        return {"weight": weight, "weights": measured.weights, "averages": new, "series": measured.series,
                "drift": measured.drift, "parts": measured.parts, **seconds}
    share = weight / (pool["weight"] + weight)
    return {"weight": pool["weight"] + weight, "weights": pool["weights"] + measured.weights,
            "averages": _mean(pool["averages"], new, share),
            "series": np.concatenate([pool["series"], measured.series], axis=1),
            "parts": pool["parts"] + measured.parts, "drift": max(pool["drift"], measured.drift)} | {name: pool[name] + seconds[name] for name in seconds}


def as_one(pool):
    """(Measured, g0, mu) of all iterations in `pool`."""
    averages = dict(pool["averages"])
    mu, g0, green = averages.pop("mu"), 1 / averages.pop("inverse_g0"), averages.pop("green")
    m = (averages["norm"][:, None, None] * g0 - green) / g0**2
    rest = {name: pool[name] for name in ("weights", "series", "drift", "parts", "walking_seconds", "measuring_seconds")}
    return Measured(m=m, **averages, **rest), g0, mu


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
