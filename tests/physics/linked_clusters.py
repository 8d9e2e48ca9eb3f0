"""The Hubbard model on the infinite square or cubic lattice by a linked-cluster expansion: exact where it converges.

An extensive property P per site of the infinite lattice is the sum over all connected clusters c of sites, shifted
copies counted once, of weights

    P/N = sum_c W(c),    W(c) = P(c) - sum_{s in c} W(s),

P(c) that of the open cluster alone, s its connected subclusters. Clusters with the same bonds have the same P, and a
cluster of s sites first matters where correlations reach over it. Rigol, Bryant, Singh, Phys. Rev. Lett. 97, 187202
(2006); Tang, Khatami, Rigol, Comput. Phys. Commun. 184, 557 (2013).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.optimize import brentq

Sites = tuple[tuple[int, ...], ...]


def shifted_home(sites) -> Sites:
    """The cluster at its smallest coordinates, in order: equal for shifted copies."""
    lowest = [min(x) for x in zip(*sites)]
    return tuple(sorted(tuple(a - x for a, x in zip(site, lowest)) for site in sites))


def neighbours(site):
    return [(*site[:axis], site[axis] + step, *site[axis + 1:]) for axis in range(len(site)) for step in (1, -1)]


def animals(largest: int, dimension: int = 2) -> list[set[Sites]]:
    """Connected clusters of 1 ... `largest` sites of the square or cubic lattice, shifted copies once."""
    found = [{((0,) * dimension,)}]
    while len(found) < largest:
        found.append({shifted_home({*c, new}) for c in found[-1] for site in c for new in neighbours(site)
                      if new not in c})
    return found


def bonds(sites: Sites) -> np.ndarray:
    """1 between neighbours [site, site]."""
    r = np.array(sites)
    return (np.abs(r[:, None] - r).sum(axis=-1) == 1).astype(int)


def graph(sites: Sites) -> tuple:
    """Equal for clusters with the same bonds, whatever the order of sites: numbers of walks of every length between
    sites, in an order that does not depend on theirs."""
    a, power, walks = bonds(sites), np.eye(len(sites), dtype=int), []
    for _ in range(2 * len(sites)):
        walks.append(power)
        power = power @ a
    table = np.stack(walks, axis=-1)
    return tuple(sorted(tuple(sorted(map(tuple, row))) for row in table))


def connected_parts(sites: Sites) -> Counter:
    """Return the number of times that every smaller connected cluster lies in this one."""
    parts, found = {frozenset([site]) for site in sites}, Counter()
    while parts and len(next(iter(parts))) < len(sites):
        found.update(shifted_home(part) for part in parts)
        parts = {part | {new} for part in parts for site in part for new in neighbours(site)
                 if new in sites and new not in part}
    return found


def one_spin_hopping(adjacency: np.ndarray, particles: int) -> tuple[np.ndarray, np.ndarray]:
    """-sum c+_i c_j over bonds in the states of so many fermions, and their occupations [state, site]."""
    size = len(adjacency)
    states = list(combinations(range(size), particles))
    index = {state: i for i, state in enumerate(states)}
    h = np.zeros((len(states), len(states)))
    occupied = np.zeros((len(states), size), dtype=int)
    for i, state in enumerate(states):
        occupied[i, list(state)] = 1
        for place, a in enumerate(state):
            rest = state[:place] + state[place + 1:]
            for b in np.flatnonzero(adjacency[a]):
                if b not in rest:
                    new = tuple(sorted((*rest, int(b))))
                    h[index[new], i] -= (-1) ** (place + new.index(b))
    return h, occupied


@dataclass(frozen=True)
class Levels:
    """All levels of a cluster: energy without -mu N, electrons, sum_i n_iup n_idn; how many states each stands for."""

    energy: np.ndarray
    electrons: np.ndarray
    double: np.ndarray
    states: np.ndarray

    def sums(self, T: float, mu: float) -> np.ndarray:
        """<H + mu N>, <N>, <sum_i n_iup n_idn>, entropy of the cluster."""
        grand = (self.energy - mu * self.electrons) / T
        w = self.states * np.exp(grand.min() - grand)
        entropy = np.log(w.sum()) - grand.min() + w @ grand / w.sum()
        return np.array([*(w @ x / w.sum() for x in (self.energy, self.electrons, self.double)), entropy])


def levels(sites: Sites, U: float) -> Levels:
    """By diagonalisation of the blocks of (N_up, N_dn). Those with N_up < N_dn follow by symmetry, those of more than
    half filling by that of particles and holes: every cluster is bipartite."""
    size, adjacency = len(sites), bonds(sites)
    hops = [one_spin_hopping(adjacency, n) for n in range(size + 1)]
    found = []
    for up in range(size + 1):
        for dn in range(min(up, size - up) + 1):
            (h_up, n_up), (h_dn, n_dn) = hops[up], hops[dn]
            both = (n_up @ n_dn.T).ravel()
            h = np.kron(h_up, np.eye(len(h_dn))) + np.kron(np.eye(len(h_up)), h_dn) + U * np.diag(both)
            energy, vectors = np.linalg.eigh(h)
            double = both @ vectors**2
            copies = 1 if up == dn else 2
            found.append((energy, up + dn, double, copies))
            holes = size - up - dn
            if holes > 0:
                found.append((energy + U * holes, 2 * size - up - dn, double + holes, copies))
    energy, electrons, double, copies = zip(*found)
    counts = [len(e) for e in energy]
    return Levels(np.concatenate(energy), np.repeat(electrons, counts), np.concatenate(double),
                  np.repeat(copies, counts))


class LinkedClusters:
    """The expansion at this U, up to clusters of `largest` sites: 6 take a second, 7 half a minute, 8 an hour."""

    def __init__(self, U: float, largest: int, dimension: int = 2):
        self.U = U
        self.animals = animals(largest, dimension)
        self.graphs = {c: graph(c) for of_size in self.animals for c in of_size}
        examples = {self.graphs[c]: c for of_size in self.animals for c in sorted(of_size)}  # smaller ones first
        self.parts: dict[tuple, Counter] = {g: Counter() for g in examples}
        for g, c in examples.items():
            for part, times in connected_parts(c).items():
                self.parts[g][self.graphs[part]] += times
        self.levels = {g: levels(c, U) for g, c in examples.items()}

    def partial_sums(self, T: float, mu: float) -> np.ndarray:
        """[sites, (energy without -mu n, density, double occupancy, entropy)] per site of the lattice, with clusters of
        up to so many sites."""
        weights: dict[tuple, np.ndarray] = {}
        for g, found in self.levels.items():
            weights[g] = found.sums(T, mu) - sum(times * weights[part] for part, times in self.parts[g].items())
        return np.cumsum([sum(weights[self.graphs[c]] for c in of_size) for of_size in self.animals], axis=0)

    def at_density(self, T: float, density: float) -> np.ndarray:
        """[sites, (energy, mu, double occupancy)] with the mu at which clusters of up to so many sites have this
        density, at most 1."""
        found = []
        for sites in range(len(self.animals)):
            excess = lambda mu: self.partial_sums(T, mu)[sites, 1] - density  # noqa: B023
            mu = self.U / 2 if density == 1 else brentq(excess, self.U / 2 - 10, self.U / 2, xtol=1e-10)
            energy, _, double, _ = self.partial_sums(T, mu)[sites]
            found.append((energy, mu, double))
        return np.array(found)


def limit(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Value of the infinite lattice and how far it is known: mean of the last two partial sums, which often lie on
    either side, and half of the distance between the extremes of the last three."""
    return sums[-2:].mean(axis=0), np.ptp(sums[-3:], axis=0) / 2
