"""Decomposition of the irreducible pairing vertex into exchange of spin and of charge fluctuations, and the rest.

With k = (K, iw), pairs of momentum and frequency 0, and Phi_r(k, k'; q) the part of the full vertex that is reducible
in the particle-hole channel r at the transfer q, the parquet equation is

    Gamma_pp(k, k') = Lambda(k, k') - Phi_m(k, k'; -k-k') - 1/2 Phi_m(k', -k; k-k') + 1/2 Phi_c(k', -k; k-k').

Both terms of Phi_m are the three components of the spin that is exchanged; in a gap even in k they add to -3/2 Phi_m at
the transfer k - k'. Lambda is irreducible in every channel: the bare interaction and corrections of fourth order.
Phi_r = Gamma_r G4_r Gamma_r, with the two-particle functions G4_m and G4_c measured at all transfers of the cluster,
and one more row for the frequencies outside (plaq.dca.physics.susceptibility). Signs and normalisation are those of
plaq.dca.physics.bethe_salpeter: attraction is positive.

Source: Maier, Jarrell, Scalapino, Phys. Rev. Lett. 96, 047005 (2006) and Phys. Rev. B 74, 094513 (2006).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from plaq.dca.lattice.symmetry import PointGroup
from plaq.dca.physics import bethe_salpeter
from plaq.dca.physics.evaluation import Evaluation
from plaq.dca.physics.lattice_estimates import response_of, with_both_signs
from plaq.dca.physics.lattice_response import LatticeFunctions, Solved

Function = tuple[str, int, int]  # (kind, index of the transfer, bosonic index)
KINDS = ("magnetic", "charge")
PARTS = ("irreducible", *KINDS)


def needed_functions(group: PointGroup, window: int) -> list[Function]:
    """Return the particle-hole functions that the decomposition of a window needs, one for each set of equivalent ones.

    Two fermionic frequencies of the window differ by bosonic ones up to 2 window - 1. Negative ones are conjugate to
    positive ones.
    """
    transfers = sorted({int(q) for q in group.representatives})
    return [(kind, q, m) for kind in KINDS for q in transfers for m in range(2 * window)]


def reducible(solved: Solved) -> np.ndarray:
    """Return Phi = Gamma G4 Gamma [k, k'] of a channel, inside the window."""
    gamma = solved.gamma
    return (gamma @ np.linalg.solve(np.diag(1 / solved.chi0) - gamma, gamma))[:-1, :-1]


class Crossing:
    """Positions of vertices Phi(a, b; q) with given fermions a, b in the functions that are measured.

    transfer [K, K'], bosonic [n, n'] : of q for each pair (k, k'); fermions : of those, (K, n) of a and of b, each
    [K, n, K', n'].
    """

    def __init__(self, group: PointGroup, window: int, transfer, bosonic, fermions):
        cluster = group.cluster
        shape = cluster.size, 2 * window, cluster.size, 2 * window
        q = np.broadcast_to(transfer[:, None, :, None], shape)
        m = np.broadcast_to(bosonic[None, :, None, :], shape)
        (a, n), (b, n1) = fermions
        turned = m < 0  # Phi(a, b; q)* = Phi(-a, -b; -q)
        mirror = lambda K: np.where(turned, cluster.minus[K], K)
        flip = lambda index: np.where(turned, -index - 1, index)
        q, a, b, n, n1 = mirror(q), mirror(a), mirror(b), flip(n), flip(n1)
        permutations = np.asarray(group.momentum_permutations)
        first = np.argmax(permutations == group.representatives, axis=0)[q]  # the operation that maps q onto its own
        a, b = permutations[first, a], permutations[first, b]
        place = np.ravel_multi_index((a, n + window, b, n1 + window), shape)
        self._shape, keys = shape, np.stack([group.representatives[q], np.abs(m)], axis=-1).reshape(-1, 2)
        self._entries = []
        for transfer_index, boson in np.unique(keys, axis=0):
            at = np.flatnonzero((keys == (transfer_index, boson)).all(axis=1))
            self._entries.append(((int(transfer_index), int(boson)), at, place.ravel()[at], turned.ravel()[at]))

    def __call__(self, phi: Mapping[tuple[int, int], np.ndarray]) -> np.ndarray:
        """Return Phi(a, b; q) [K, n, K', n'] from those of the measured functions, {(q, m): [k, k']}."""
        values = np.empty(int(np.prod(self._shape)), dtype=complex)
        for key, at, place, turned in self._entries:
            found = phi[key].ravel()[place]
            values[at] = np.where(turned, found.conj(), found)
        return values.reshape(self._shape)


class Decomposition:
    """Parts of the pairing vertex of a cluster, from functions of one sample."""

    def __init__(self, evaluation: Evaluation, window: int, needed: Sequence[Function]):
        model = evaluation.model
        self.group, self.window, self.needed = model.group, window, needed
        cluster, n = model.cluster, np.arange(-window, window)
        self._responses = {which: response_of(evaluation, *which, window, []) for which in
                           [("pp", 0, 0), *needed]}
        K = np.arange(cluster.size)
        rows, columns = np.meshgrid(K, K, indexing="ij")
        wide = (cluster.size, 2 * window, cluster.size, 2 * window)
        spread = lambda momenta, indices, axis: tuple(np.broadcast_to(x, wide) for x in (
            (momenta[:, None, None, None], indices[None, :, None, None]) if axis == 0 else
            (momenta[None, None, :, None], indices[None, None, None, :])))
        first, second, back = spread(K, n, 0), spread(K, n, 1), spread(cluster.minus[K], -n - 1, 0)
        self._transverse = Crossing(self.group, window, cluster.minus[cluster.momentum_sum[rows, columns]],
                                    -n[:, None] - n - 1, (first, second))
        self._longitudinal = Crossing(self.group, window, cluster.momentum_difference[rows, columns],
                                      n[:, None] - n, (second, back))

    def __call__(self, functions: LatticeFunctions, pairing: np.ndarray,
                 measured: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
        """Return Gamma_pp ("total") and its parts [K, n, K', n'] for n >= 0 and n' of both signs, real.

        pairing : G4 of the same shape at q = 0; measured : G4 of `needed`, in their order.
        """
        pairing = bethe_salpeter.symmetrised(pairing, self.group.momentum_permutations)
        total = self._solved(("pp", 0, 0), functions, with_both_signs(pairing)).gamma[:-1, :-1]
        phi = {kind: {} for kind in KINDS}
        for which, g4 in zip(self.needed, measured, strict=True):
            phi[which[0]][which[1:]] = reducible(self._solved(which, functions, g4))
        magnetic = -self._transverse(phi["magnetic"]) - self._longitudinal(phi["magnetic"]) / 2
        charge = self._longitudinal(phi["charge"]) / 2
        parts = {"total": total.reshape(magnetic.shape), "magnetic": magnetic, "charge": charge}
        parts = {name: self._symmetrised(part) for name, part in parts.items()}
        return parts | {"irreducible": parts["total"] - parts["magnetic"] - parts["charge"]}

    def beyond_divergences(self, functions: LatticeFunctions, measured: Sequence[np.ndarray]) -> dict[str, int]:
        """Return the number of eigenvalues of Gamma_r chi0 above 1 at bosonic frequency 0, by channel r.

        Each is one that Gamma_r has passed a divergence for (`bethe_salpeter.above_one`); so have Phi_r and Lambda.
        """
        counts = dict.fromkeys(KINDS, 0)
        for which, g4 in zip(self.needed, measured, strict=True):
            if which[2] == 0:
                solved = self._solved(which, functions, g4)
                counts[which[0]] += int(np.count_nonzero(np.linalg.eigvals(solved.gamma * solved.chi0).real > 1))
        return counts

    def _solved(self, which: Function, functions: LatticeFunctions, g4: np.ndarray) -> Solved:
        response = self._responses[which]
        return response.solve(functions, g4, response.windows[0])

    def _symmetrised(self, part: np.ndarray) -> np.ndarray:
        """Return the real part of the mean over the point group, both signs of frequencies, and exchange of k and k'.
        """
        part = (part + part[:, ::-1, :, ::-1]).real / 2
        return bethe_salpeter.symmetrised(part[:, self.window :], self.group.momentum_permutations)


def even(part: np.ndarray) -> np.ndarray:
    """Return the part [K, w > 0, K', w' > 0] that acts on gap functions even in frequency."""
    return bethe_salpeter.folded(part, bethe_salpeter.EVEN)


def contribution(part: np.ndarray, gap: np.ndarray, chi0: np.ndarray) -> float:
    """Return what a part of the vertex contributes to the eigenvalue of a gap function [K, w > 0].

    <phi chi0| part |chi0 phi> / <phi| chi0 |phi>, with chi0 of the lattice: linear in the vertex, and the eigenvalue
    itself for the whole vertex.
    """
    weighted = chi0 * gap
    return float(np.einsum("Kw,KwLv,Lv", weighted, even(part), weighted, optimize=True) / np.sum(weighted * gap))


def projection(part: np.ndarray, form: np.ndarray) -> float:
    """Return <f|part|f>/<f|f> at w = pi T, mean of w' = +-pi T, for a form factor f [K]."""
    return float(form @ even(part)[:, 0, :, 0] @ form / (2 * form @ form))
