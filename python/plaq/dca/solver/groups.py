"""Groups of chains: errors of a cluster in a bath come from leaving groups out.

Noise of the bath moves all that is measured in it together, so that bins of chains in one bath do not show it.
Chains are therefore cut into groups, and what the loop hands on are *samples*, arrays [1 + group, ...]: first what
all data give, then what all but one group give. The jackknife's pseudo-values of the samples,

    v_g = h v - (h - 1) v_(g),    h = N/N_g,

where v is 1/g0, N measurements in all and N_g in the group, are to first order the bath which the group
alone would have come to; their mean is the bath of all data. What has to be known is how all that is measured
answers to v_g - v.

Only one mode of it comes back from iteration to iteration: the uniform shift of 1/g0, which moves the density
(docs/dca.md). So while iterations count, each group walks in the bath 1/g0 + NEAR a_g, where a_g is the mean of Re
(v_g - v) over K and w. The answer to a_g is found by regression over the groups, and what each group measured is
carried on along it to the whole of a_g: the groups then scatter as whole loops with their measurements would. Half
of the way makes the bias that comes from curvature a quarter,
and lengthens a bar that has nothing of the bath in it by a tenth.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plaq.data.statistics import LeaveOneOut, Resampled

MOST = 16
FEWEST = 8  # for an error, which then has an error of 27 %
NEAR = 0.5  # part of a group's shift that its chains walk in
ROUNDING = 1e-9  # a shift that is none, in units of t


def count(bins: int, chains: int) -> int:
    """How many groups so many chains and bins are cut into."""
    return min(MOST, bins, chains)


def of_chains(bins: int, chains: int) -> np.ndarray:
    """[chain] the group of each; chains that share a bin are in one."""
    units = min(bins, chains)
    return np.arange(chains) * units // chains * count(bins, chains) // units


def of_bins(bins: int, chains: int) -> np.ndarray:
    """[bin] the group of each."""
    units = min(bins, chains)
    return np.arange(bins) * units // bins * count(bins, chains) // units


def together(measured, bins: int, chains: int):
    """`plaq.dca.solver.ctaux.Measured` with one bin for each group."""
    where = of_bins(bins, chains)
    members = [np.flatnonzero(where == g) for g in range(count(bins, chains))]
    shares = [measured.weights[at] / measured.weights[at].sum() for at in members]

    def mean(values):
        if isinstance(values, dict):
            return {name: mean(part) for name, part in values.items()}
        if values is None:
            return None
        means = [sum(share * values[b] for share, b in zip(parts, at)) for parts, at in zip(shares, members)]
        return means if isinstance(values, list) else np.array(means)

    parts = {name: mean(getattr(measured, name))
             for name in ("sign", "order", "norm", "m", "correlations", "histogram", "pairing")}
    return replace(measured, **parts, weights=np.array([measured.weights[at].sum() for at in members]),
                   channels=[mean(rows) for rows in measured.channels])


def shifts(deviations: np.ndarray, g0: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """[group] the mean of Re ``deviations`` [group, K, w] of 1/g0, weighted by |g0|^2, which is how a weight of
    the walk answers; their own mean over groups, of these weights, is 0."""
    part = np.abs(g0) ** 2 / np.sum(np.abs(g0) ** 2)
    found = np.sum(part * deviations.real, axis=(1, 2))
    found = found - weights @ found / weights.sum()
    return np.where(np.abs(found).max() < ROUNDING, 0.0, found)


def carried(values, shifts: np.ndarray, weights: np.ndarray):
    """[group, ...] what groups measured NEAR of the way to their shifts, as it would be at its end, to first
    order; of a dict all that is in it."""
    square = np.sum(weights * shifts**2)
    if values is None or square == 0:
        return values
    if isinstance(values, dict):
        return {name: carried(part, shifts, weights) for name, part in values.items()}
    answer = sum(w * a * v for w, a, v in zip(weights, shifts, values)) / square  # times NEAR
    found = [v + (1 / NEAR - 1) * a * answer for a, v in zip(shifts, values)]
    return found if isinstance(values, list) else np.array(found)


def at_the_end(measured, shifts: np.ndarray):
    """`carried` of all that follows from the bath; histogram and series are of the walk as it was."""
    on = lambda values: carried(values, shifts, measured.weights)
    parts = {name: on(getattr(measured, name)) for name in ("sign", "order", "norm", "correlations", "pairing")}
    return replace(measured, **parts, own=replace(measured.own, **on(vars(measured.own))),
                   channels=[on(rows) for rows in measured.channels])


def samples_of(found: Resampled) -> np.ndarray:
    """[1 + group, ...] of a quantity whose leave-one-out values were kept;
    the first alone where there is one group."""
    return found.mean[None] if found.values is None else np.concatenate([found.mean[None], found.values])


def error(samples: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Jackknife error of a quantity from its samples; weights: [group] measurements."""
    spread = LeaveOneOut(samples[0], keep=False, bins=len(weights), chains=len(weights))
    for g, (sample, weight) in enumerate(zip(samples[1:], weights)):
        spread.add(g, sample, weights.sum() / weight)
    return spread.close().error


def own(samples: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """[group, ...] the pseudo-values of samples; that of all data where there is one group."""
    if len(samples) == 1:
        return samples
    h = (weights.sum() / weights).reshape(-1, *[1] * (samples.ndim - 1))
    return h * samples[0] - (h - 1) * samples[1:]
