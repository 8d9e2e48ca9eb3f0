"""Average over the final iterations of a temperature, each in baths of its own, as one set of bins in the mean bath.

Once the loop has converged, its iterations differ by noise alone, so all their measurements count. Let iteration i have
the bath function b_i and averages <O>_i. Functions of the bath are linear near its mean, so to first order in b_i - b
the mean of <O>_i is the average in the mean bath b, for every measured function O. The bath is averaged as
1/b = iw + mu - eps_K - Delta_K. The same holds for groups of chains that have different baths in one iteration
(plaq.dca.solver.jackknife_groups): a bin is a group and carries its own bath.

M belongs to the bath that it was measured in. The average is therefore taken of G = g0 - g0^2 m, m = M/(beta N_c),
divided by its value for a given Sigma in that bath (plaq.dca.solver.ctaux.BathData). m in the mean bath follows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plaq.dca.solver.ctaux import BathData, Measured

FEW, MANY = 4, 8  # final iterations, which share the measurements of a temperature
COLD = 1 / 25  # temperature over the largest band energy, below which the density mode oscillates
ENOUGH, ENOUGH_IF_COLD = 2000, 500  # measurements of an iteration, for a linear response of the loop to groups
AVERAGED = ("sign", "order", "norm", "histogram", "pairing", "correlations", "channels", "acceptance")
SUMMED = ("weights", "walking_seconds", "measuring_seconds", "parts")


def final_iterations(iterations: int, measurements: int, T: float, largest_energy: float) -> int:
    """Return the number of iterations that share ``measurements``: at most half of all ``iterations``, at least one.

    largest_energy : max |eps(k)|, in the unit of T. At low temperature the slowest mode of the loop oscillates over
    some six iterations, and many iterations average over it. Elsewhere many iterations with few measurements each are
    noisier than few iterations.
    """
    many = measurements >= MANY * (ENOUGH_IF_COLD if T <= COLD * largest_energy else ENOUGH)
    return min(MANY if many else FEW, max(1, iterations // 2))


def add(average: Measured | None, measured: Measured) -> Measured:
    """Return ``average`` (None at first) with one more iteration, of the same bins and shapes and with its `bath`."""
    if average is None:
        return replace(measured, m=None)
    part = measured.weights.sum() / (average.weights.sum() + measured.weights.sum())
    mean = lambda name: _mean(getattr(average, name), getattr(measured, name), part)
    return Measured(
        m=None, bath=BathData(**_mean(vars(average.bath), vars(measured.bath), part)),
        **{name: mean(name) for name in AVERAGED},
        **{name: getattr(average, name) + getattr(measured, name) for name in SUMMED},
        series=np.concatenate([average.series, measured.series], axis=1), drift=max(average.drift, measured.drift))


def two_particle_rows(measured: Measured) -> dict[str, list[np.ndarray] | np.ndarray]:
    """Return the two-particle functions by their name in a bin, each [bin][row, n']."""
    pairing = {} if measured.pairing is None else {"pairing": measured.pairing}
    return pairing | {f"channel_{i}": rows for i, rows in enumerate(measured.channels)}


def with_two_particle_rows(measured: Measured, rows: dict[str, list[np.ndarray]]) -> Measured:
    """Return ``measured`` with these two-particle functions in place of its own."""
    channels = [rows[f"channel_{i}"] for i in range(len(rows) - ("pairing" in rows))]
    return replace(measured, pairing=rows.get("pairing"), channels=channels)


def _mean(a, b, part):
    """Return (1 - part) a + part b, entry by entry of dicts and lists."""
    if a is None:
        return None
    if isinstance(a, dict):
        return {name: _mean(a[name], b[name], part) for name in a}
    if isinstance(a, list):
        return [_mean(x, y, part) for x, y in zip(a, b)]
    return (1 - part) * a + part * b
