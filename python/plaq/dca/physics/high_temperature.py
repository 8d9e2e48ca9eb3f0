"""The limit of infinite temperature, exactly: where integrals over beta begin.

There every spin-orbital i of a cell is filled with f = n/(2b), b orbitals in a cell, at fixed density, and with f = 1/2
at fixed mu. Per cell, with k = e at fixed density and k = e - mu n at fixed mu:

    s = -2b (f ln f + (1 - f) ln(1 - f))
    k = sum_i e_i f + sum_pairs v f^2 [- mu n]
    dk/dbeta = -f (1 - f) (sum |t|^2 + sum_i (c_i - c)^2) - f^2 (1 - f)^2 (sum_pairs v^2 + sum_exchanges v^2)

c_i = e_i + f sum v of the pairs that i is in; c is the mean of c_i at fixed density, as N does not fluctuate, and mu at
fixed mu. The slope is minus the variance of H, or H - mu N. One band has c_i = U f.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Ensemble:
    """Quantity that a run holds fixed while T changes, and the exact values at T = infinity, per cell.

    fixed : "density" or "mu"; entropy : s; energy : k, which is e or e - mu n; slope : dk/dbeta < 0; isolated : whether
    the cluster has no bath; filling : electrons per cell where all orbitals are half filled.
    """

    fixed: str
    mu: float
    entropy: float
    energy: float
    slope: float
    isolated: bool = False
    filling: float = 1.0

    @property
    def scale(self) -> float:
        """The beta that the energy changes within, from its slope and variance."""
        return 1 / np.sqrt(-self.slope)


@dataclass(frozen=True)
class Moments:
    """Sums over a cell that the limit needs.

    levels : [i] energies e_i of the spin-orbitals; hops : sum of |t|^2 from them to all others; pairs : (i, j, v) of
    each density pair; squares : sum of v^2 of pairs and exchanges.
    """

    levels: np.ndarray
    hops: float
    pairs: tuple[tuple[int, int, float], ...]
    squares: float


def one_band(U: float, mean: float, variance: float) -> Moments:
    """Return the moments of one band, from mean and variance of its energies."""
    return Moments(np.full(2, mean), 2 * variance, ((0, 1, U),), U**2)


def limit(moments: Moments, density: float | None = None, mu: float = 0.0, isolated: bool = False) -> Ensemble:
    """Return the limit at a density, or else at mu."""
    count = len(moments.levels)
    f = 0.5 if density is None else density / count
    c = moments.levels.copy()
    for i, j, v in moments.pairs:
        c[i] += f * v
        c[j] += f * v
    deviation = c - (mu if density is None else c.mean())
    slope = -f * (1 - f) * (moments.hops + np.sum(deviation**2)) - (f * (1 - f)) ** 2 * moments.squares
    energy = f * np.sum(moments.levels) + f**2 * sum(v for _, _, v in moments.pairs)
    entropy = -count * (f * np.log(f) + (1 - f) * np.log1p(-f))
    if density is None:
        return Ensemble("mu", mu, float(entropy), float(energy - mu * f * count), float(slope), isolated,
                        count / 2)
    return Ensemble("density", 0.0, float(entropy), float(energy), float(slope), isolated, count / 2)


def ensemble(parameters: Any) -> Ensemble:
    """Return the limit for the parameters of a run."""
    dca = parameters.dca
    return limit(moments(parameters), dca.density, dca.mu or 0.0, dca.isolated)


def moments(parameters: Any) -> Moments:
    """Return the moments of the model of a run."""
    from plaq.dca.lattice.density_of_states import DensityOfStates
    from plaq.dca.lattice.model import cluster_of

    if parameters.model.density_of_states is not None:
        return one_band(parameters.model.U, *DensityOfStates.of(parameters.model).moments())
    hamiltonian, cluster = parameters.hamiltonian, cluster_of(parameters)
    b = len(hamiltonian.orbitals)
    hopping = [cluster.hopping_matrix(spin)[:b] if parameters.dca.isolated else table_rows(hamiltonian.hopping[spin])
               for spin in (0, 1)]
    levels = np.concatenate([np.diag(rows[:, :b]).real for rows in hopping])
    hops = sum(float(np.sum(np.abs(rows) ** 2)) for rows in hopping) - float(np.sum(levels**2))
    terms = hamiltonian.interaction
    pairs = tuple((p.a + b * p.spin_a, p.b + b * p.spin_b, p.value) for p in terms.pairs)
    squares = pair_squares(terms.pairs, cluster) + sum(e.value**2 for e in terms.exchanges)
    return Moments(levels, hops, pairs, squares)


def table_rows(table) -> np.ndarray:
    """Return the amplitudes [a, displacement and b] from a cell, the displacement 0 in front."""
    zero = next((d for d in table if not any(d)), None)
    b = len(next(iter(table.values())))
    blocks = [np.zeros((b, b)) if zero is None else np.array(table[zero])]
    return np.concatenate([*blocks, *(np.array(m) for d, m in table.items() if d != zero)], axis=1)


def pair_squares(pairs, cluster) -> float:
    """Return the sum of v^2 over different pairs of sites, per cell.

    A pair may be listed with several displacements that are the same on the cluster. One that is its own reversal is
    met from both of its cells, with half its value each.
    """
    total: Counter = Counter()
    for p in pairs:
        d = np.array(p.d, dtype=int)
        there = (p.a, p.spin_a, cluster.site_index(d), p.b, p.spin_b)
        back = (p.b, p.spin_b, cluster.site_index(-d), p.a, p.spin_a)
        total[min(there, back), there == back] += p.value
    return sum(v**2 * (2 if reversed_ else 1) for (_, reversed_), v in total.items())
