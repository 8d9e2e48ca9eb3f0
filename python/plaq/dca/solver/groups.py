"""Groups of chains: errors of a cluster in a bath come from leaving groups out.

Noise of the bath moves all that is measured in it together, so that bins of chains in one bath do not show it. Chains are
therefore cut into groups, and what the loop hands on are *samples*, arrays [1 + group, ...]: first what all data give,
then what all but one group give. While iterations count, each group walks in a bath of its own,

    v_g = h v - (h - 1) v_(g),    h = N/N_g,

the jackknife's pseudo-value of its sample, where v is 1/g0 or mu, N measurements in all and N_g in the group. To first order
that is the bath which the group alone would have come to, so that its next output answers to its own noise, and the groups
scatter as whole loops with their measurements would. The mean over groups is the bath of all data, so nothing is lost.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plaq.data.statistics import LeaveOneOut, Resampled

MOST = 16
FEWEST = 8  # for an error, which then has an error of 27 %


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

    parts = {name: mean(getattr(measured, name)) for name in ("sign", "order", "norm", "m", "correlations", "histogram",
                                                              "pairing")}
    return replace(measured, **parts, weights=np.array([measured.weights[at].sum() for at in members]),
                   channels=[mean(rows) for rows in measured.channels])


def samples_of(found: Resampled) -> np.ndarray:
    """[1 + group, ...] of a quantity whose leave-one-out values were kept; the first alone where there is one group."""
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
