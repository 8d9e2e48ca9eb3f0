"""Symmetry of two-particle functions with orbitals: operations on functions of pairs (K, a, b), averages, irreps.

A pair is c_{K,a} c_{Q-K,b}, or c+_{K,b} c_{K+Q,a}, at a transfer Q. The pairs of a function G4(x n, x' n') are the
same for its rows and columns, so that operations that leave Q where it is give G4 = D G4 D^+ with unitary D.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from plaq.dca.lattice.pairing import weights_of_irreps

COMPLETE = 1e-9  # deviation of projectors from P^2 = P


class PairSymmetry:
    """Operations of a point group that leave the momentum K_Q, on functions F of pairs x = (K, a, b) in this order.

    pairs : whether they are those of pp, else of ph. (D F)(x) = phases[g, x] F(images[g, x]).
    """

    def __init__(self, group, pairs: bool, transfer: int):
        self.group, self.pairs, self.transfer = group, pairs, transfer
        self.cluster, self.bands = group.cluster, group.cluster.lattice.bands
        self.operations = [g for g in group.leaving(transfer) if not group.action.operations[g].flip]

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.cluster.size, self.bands, self.bands

    @cached_property
    def partners(self) -> np.ndarray:
        """Momentum of the other operator, Q - K or K + Q, [K]."""
        cluster = self.cluster
        return (cluster.momentum_difference[self.transfer] if self.pairs else cluster.momentum_sum[:, self.transfer])

    @cached_property
    def images(self) -> np.ndarray:
        numbers = np.arange(np.prod(self.shape)).reshape(self.shape)
        found = []
        for g in self.operations:
            orbitals = self.group.action.operations[g].orbitals
            found.append(numbers[self.group.momentum_permutations[g]][:, orbitals][:, :, orbitals].ravel())
        return np.array(found)

    @cached_property
    def phases(self) -> np.ndarray:
        found = []
        for g in self.operations:
            factor = self.group.action.factors(g)  # [K, a] of c_{K,a}
            other = factor[self.partners]
            product = factor[:, :, None] * other[:, None] if self.pairs else other[:, :, None] * factor[:, None].conj()
            found.append(product.ravel())
        return np.array(found)

    @cached_property
    def reversed(self) -> np.ndarray:
        """Images of x in ph under the transposition of all G, the reversal of time: c_{K,a} <-> c+_{-K,a}."""
        numbers = np.arange(np.prod(self.shape)).reshape(self.shape)
        return numbers[self.cluster.minus[self.partners]].swapaxes(1, 2).ravel()

    @cached_property
    def exchanged(self) -> np.ndarray:
        """Images of x under the exchange of both operators of a pair, (K, a, b) to (Q - K, b, a)."""
        numbers = np.arange(np.prod(self.shape)).reshape(self.shape)
        return numbers[self.partners].swapaxes(1, 2).ravel()

    def average(self, g4: np.ndarray, static: bool) -> np.ndarray:
        """Return the invariant part of G4 [K, a, b, n, K', a', b', n'], n = -F ... F - 1.

        static : whether nu = 0, where the reversal of time is a symmetry too:
            ph    G4(x n, x' n') = G4(Rx n, Rx' n'),
            pp    G4(x n, x' n') = G4(x' -1-n', x -1-n)*, with that of the configuration's G(K n)* = G(-K -1-n).
        """
        size, n = int(np.prod(self.shape)), g4.shape[3]
        whole = np.asarray(g4).reshape(size, n, size, n)
        total = np.zeros_like(whole)
        for image, phase in zip(self.images, self.phases):
            total += phase[:, None, None, None] * phase.conj()[:, None] * whole[image][:, :, image]
        mean = total / len(self.operations)
        if static and self.pairs:
            mean = (mean + mean[:, ::-1, :, ::-1].transpose(2, 3, 0, 1).conj()) / 2
        elif static:
            mean = (mean + mean[self.reversed][:, :, self.reversed]) / 2
        return mean.reshape(g4.shape)

    def projectors(self) -> dict[str, np.ndarray]:
        """Return {name: Hermitian [x, x]} on blocks that no invariant function connects, complete and orthogonal.

        Names are those of `pairing.weights_of_irreps` of the operations that leave Q; what they do not name is
        "other". Where a translation of the cell belongs to an operation, D may be a representation up to phases. Irreps
        then have no names, and "all" is one block.
        """
        size = int(np.prod(self.shape))
        found = {}
        for name, weights in weights_of_irreps(self.group, self.operations).items():
            p = np.zeros((size, size), dtype=complex)
            for weight, image, phase in zip(weights, self.images, self.phases):
                p[np.arange(size), image] += weight * phase
            if np.abs(p @ p - p).max() > COMPLETE or np.abs(p - p.conj().T).max() > COMPLETE:
                return {"all": np.eye(size)}
            if np.trace(p).real > 0.5:
                found[name] = p
        rest = np.eye(size) - sum(found.values(), np.zeros((size, size)))
        return found | ({"other": rest} if np.trace(rest).real > 0.5 else {})

    def blocks(self, frequencies: int, static: bool) -> dict[str, np.ndarray]:
        """Return {name: orthonormal columns [(x, n), i]} of the blocks of functions of x and n = -F ... F - 1.

        Pairs at nu = 0 are apart by the exchange of both operators, with n to -1-n: even functions are singlets, odd
        ones triplets with S^z = 0, named with "_triplet".
        """
        numbers, blocks = np.eye(2 * frequencies), {}
        even, odd = ((numbers + sign * numbers[::-1])[:, :frequencies] / np.sqrt(2) for sign in (1, -1))
        for name, projector in self.projectors().items():
            values, vectors = np.linalg.eigh(projector)
            basis = vectors[:, values > 0.5]
            if not (self.pairs and static):
                blocks[name] = np.kron(basis, numbers)
                continue
            signs, mixed = np.linalg.eigh(basis.conj().T @ basis[self.exchanged])
            same, opposite = basis @ mixed[:, signs > 0], basis @ mixed[:, signs < 0]
            for suffix, (first, second) in {"": (even, odd), "_triplet": (odd, even)}.items():
                where = "+".join(part + suffix for part in name.split("+"))
                blocks[where] = np.concatenate([np.kron(same, first), np.kron(opposite, second)], axis=1)
        return blocks
