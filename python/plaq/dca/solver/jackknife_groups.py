"""Jackknife over groups of chains: errors of a cluster in a noisy bath.

Noise of the bath shifts everything measured in it together, so bins of chains in one bath do not show it. Chains are
therefore divided into groups. The loop passes on *samples*, arrays [1 + group, ...]: the value of all data first, then
the values of all but one group. The jackknife's pseudo-values of the samples,

    v_g = h v - (h - 1) v_(g),    h = N/N_g,

where v is 1/g0, N measurements in all and N_g in the group, are to first order the bath that the group alone would
have reached. Their mean is the bath of all data. The response of each measured quantity to v_g - v remains to be found.

Only one mode of that response returns from iteration to iteration: the uniform shift of 1/g0, which moves the density
(docs/self_consistency.md). While iterations count, each group therefore walks in the bath 1/g0 + SHIFT_FRACTION a_g,
where a_g is the mean of Re (v_g - v) over K and w. The response to a_g is found by regression over the groups, and
each group's result is extrapolated to its full shift. The groups then scatter as whole loops with their measurements
would. Half of the shift reduces the bias from curvature to a quarter, and lengthens a bar without noise of the bath
by a tenth.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plaq.data.statistics import LeaveOneOut, Resampled

MOST_GROUPS = 16
FEWEST_GROUPS = 8  # for an error, which then has an error of 27 %
SHIFT_FRACTION = 0.5  # part of a group's shift that its chains walk in
ROUNDING = 1e-9  # units of t: a smaller shift counts as none


def count(bins: int, chains: int) -> int:
    """Return the number of groups of so many chains and bins."""
    return min(MOST_GROUPS, bins, chains)


def group_of_chain(bins: int, chains: int) -> np.ndarray:
    """Return the group of each chain, [chain]; chains that share a bin are in one group."""
    units = min(bins, chains)
    return np.arange(chains) * units // chains * count(bins, chains) // units


def group_of_bin(bins: int, chains: int) -> np.ndarray:
    """Return the group of each bin, [bin]."""
    units = min(bins, chains)
    return np.arange(bins) * units // bins * count(bins, chains) // units


def bin_by_group(measured, bins: int, chains: int):
    """Return `plaq.dca.solver.ctaux.Measured` with one bin for each group."""
    group = group_of_bin(bins, chains)
    members = [np.flatnonzero(group == g) for g in range(count(bins, chains))]
    parts = [measured.weights[at] / measured.weights[at].sum() for at in members]

    def mean(values):
        if isinstance(values, dict):
            return {name: mean(part) for name, part in values.items()}
        if values is None:
            return None
        means = [sum(part * values[b] for part, b in zip(weights, at)) for weights, at in zip(parts, members)]
        return means if isinstance(values, list) else np.array(means)

    averages = {name: mean(getattr(measured, name))
                for name in ("sign", "order", "norm", "m", "correlations", "histogram", "pairing")}
    return replace(measured, **averages, weights=np.array([measured.weights[at].sum() for at in members]),
                   channels=[mean(rows) for rows in measured.channels])


def shifts(deviations: np.ndarray, g0: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the shift a_g of each group, [group].

    a_g is the mean of Re ``deviations`` [group, K, w] of 1/g0, weighted by |g0|^2, the response of a weight of the
    walk. Of matrices the diagonals count. The mean of a_g over groups, with these ``weights``, is 0.
    """
    part = np.abs(g0) ** 2 / np.sum(np.abs(g0) ** 2)
    means = np.sum(part * deviations.real, axis=tuple(range(1, deviations.ndim)))
    means = means - weights @ means / weights.sum()
    return np.where(np.abs(means).max() < ROUNDING, 0.0, means)


def extrapolate(values, shifts: np.ndarray, weights: np.ndarray, fraction: float = SHIFT_FRACTION,
                other: np.ndarray | None = None):
    """Return ``values`` [group, ...], measured at a fraction of the shifts, at the full shifts to first order.

    other : shifts in another direction, whose response is told apart by regression on both. Entries of a dict are
    extrapolated one by one; None and values without a shift come back as they are.
    """
    along = shifts
    if other is not None and other.any():
        along = shifts - np.sum(weights * shifts * other) / np.sum(weights * other**2) * other
    square = np.sum(weights * along**2)
    if values is None or square == 0:
        return values
    if isinstance(values, dict):
        return {name: extrapolate(part, shifts, weights, fraction, other) for name, part in values.items()}
    response = sum(w * a * v for w, a, v in zip(weights, along, values)) / square  # times the fraction
    full = [v + (1 / fraction - 1) * a * response for a, v in zip(shifts, values)]
    return full if isinstance(values, list) else np.array(full)


def extrapolate_measured(measured, shifts: np.ndarray, fraction: float = SHIFT_FRACTION,
                         other: np.ndarray | None = None):
    """Return ``measured`` with everything that depends on the bath extrapolated to the full shifts.

    Histogram and time series stay those of the walk; ``fraction`` and ``other`` are those of `extrapolate`.
    """
    full = lambda values: extrapolate(values, shifts, measured.weights, fraction, other)
    parts = {name: full(getattr(measured, name)) for name in ("sign", "order", "norm", "correlations", "pairing")}
    return replace(measured, **parts, bath=replace(measured.bath, **full(vars(measured.bath))),
                   channels=[full(rows) for rows in measured.channels])


def samples_of(quantity: Resampled) -> np.ndarray:
    """Return the samples [1 + group, ...] of a quantity with leave-one-out values; with one group the mean alone."""
    if quantity.values is None:
        return quantity.mean[None]
    return np.concatenate([quantity.mean[None], quantity.values])


def error(samples: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the jackknife error of a quantity from its samples; weights: [group] measurements."""
    jackknife = LeaveOneOut(samples[0], keep=False, bins=len(weights), chains=len(weights))
    for g, (sample, weight) in enumerate(zip(samples[1:], weights)):
        jackknife.add(g, sample, weights.sum() / weight)
    return jackknife.close().error


def pseudo_values(samples: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the pseudo-values of samples, [group, ...]; with one group the value of all data."""
    if len(samples) == 1:
        return samples
    h = (weights.sum() / weights).reshape(-1, *[1] * (samples.ndim - 1))
    return h * samples[0] - (h - 1) * samples[1:]
