"""Exchange of particles and holes: where it is a symmetry of the cluster in its bath at mu = U/2.

With a momentum Q of the lattice that has exp(i Q.d) = -1 for every hop d, eps(k + Q) = -eps(k). If k -> k + Q maps
every patch onto a patch, K onto K + P with a momentum P of the cluster, then c_i,s -> exp(i P.R_i) c+_i,s leaves the
cluster in its bath as it is at mu = U/2: the density is 1 and Sigma(K + P, iw) = U - Sigma(K, iw)*.

Q need not be a momentum of the cluster. The patch of N_c = 1 is the whole zone, which any shift maps onto itself; the
patches of a chain, strips of the zone, are left as they are by any shift along them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


def at_half_filling(parameters, cluster) -> np.ndarray | None:
    """Return `mirror` where the input asks for density 1 or mu = U/2 of one band; else None."""
    dca = parameters.dca
    if parameters.is_general:
        return None
    half_filled = dca.density == 1 or dca.mu == parameters.model.U / 2
    return mirror(cluster, dca.isolated) if half_filled else None


@dataclass(frozen=True)
class Exchange:
    """Exchange for functions f [..., S, K, a, b, w]: f = -eta f^dagger(K + P, opposite spin) eta.

    momenta : [K] index of K + P; eta : [a] signs. Holds for M, G and 1/g0, and for Sigma without its mean.
    """

    momenta: np.ndarray
    eta: np.ndarray

    def odd(self, f: np.ndarray) -> np.ndarray:
        """Return the part of f that the exchange leaves as it is: of the functions above the whole."""
        image = np.flip(f, axis=-5)[..., self.momenta, :, :, :].swapaxes(-3, -2).conj()
        return (f - (self.eta[:, None] * self.eta)[..., None] * image) / 2


def general_exchange(parameters, cluster) -> Exchange | None:
    """Return the exchange of a half-filled general model of one orbital or of two sublattices, None of any other."""
    dca, hamiltonian = parameters.dca, parameters.hamiltonian
    shifts = hamiltonian.interaction.half_filled(len(hamiltonian.orbitals))
    if dca.density != len(hamiltonian.orbitals) and (dca.mu is None or any(abs(dca.mu - x) > 1e-12 for x in shifts)):
        return None
    if hamiltonian.is_doubled:  # c of sites A becomes c+, that of B -c+, of the opposite spin
        within = [m[a][a] for table in hamiltonian.hopping for d, m in table.items() if any(d) for a in (0, 1)]
        return None if any(within) else Exchange(np.arange(cluster.size), np.array([1, -1]))
    partner = mirror(cluster, dca.isolated)
    return None if partner is None else Exchange(partner, np.ones(1))


def mirror(cluster, isolated=False) -> np.ndarray | None:
    """Return the index of K + P, [K]; None where there is no such P, and with several orbitals.

    isolated : the patch is the momentum K alone.
    """
    dimension = cluster.lattice.dimension
    if cluster.lattice.states is not None:
        return np.zeros(1, dtype=int) if cluster.lattice.states.is_symmetric else None
    if not cluster.lattice.one_band:
        return None
    hops = np.array([d for d, amplitude in cluster.lattice.hopping.items() if amplitude]).reshape(-1, dimension)
    fixed = np.eye(dimension, dtype=int) if isolated else _across(cluster)
    for P, momentum in enumerate(np.rint(cluster.momenta * cluster.size / (2 * np.pi)).astype(int)):
        # Q = P + shift: shift.d = pi - P.d for all hops, shift.v = 0 for all v that shifts of a patch are orthogonal
        # to; in units of pi/N_c
        phases = [*(cluster.size - 2 * hops @ momentum), *[0] * len(fixed)]
        if _exists([*hops, *fixed], phases, 2 * cluster.size):
            return cluster.momentum_sum[:, P]
    return None


def odd_under_exchange(f: np.ndarray, mirror: np.ndarray | None) -> np.ndarray:
    """Return the part of f [..., K, w] with f(K + P, iw) = -f(K, iw)*; f itself without a mirror.

    For M, G and 1/g0 it is the whole function.
    """
    return f if mirror is None else (f - f[..., mirror, :].conj()) / 2


def _across(cluster) -> np.ndarray:
    """Return integer vectors orthogonal to all shifts that leave the periodically repeated patch as it is.

    There are none for a patch that fills the zone, one for a strip of it in two dimensions; in three those of the
    axes along which a cluster that is a box is longer than one site.
    """
    dimension = cluster.lattice.dimension
    if cluster.size == 1:
        return np.zeros((0, dimension), dtype=int)
    if dimension != 2:
        is_box = all(np.count_nonzero(rows) == dimension for rows in (cluster.vectors, cluster.lattice.system.metric))
        lengths = np.abs(cluster.vectors).max(axis=0)
        return np.eye(dimension, dtype=int)[lengths > 1 if is_box else slice(None)]
    edges = (np.roll(cluster.patch, -1, axis=0) - cluster.patch)[:2] / (2 * np.pi)
    along = [np.rint(edge).astype(int) for edge in edges if np.allclose(edge, np.rint(edge))]
    if len(cluster.patch) == 4 and along:
        x, y = along[0]
        return np.array([[-y, x]]) // np.gcd(x, y)
    return np.eye(2, dtype=int)


def _exists(vectors, phases, period: int) -> bool:
    """Return whether some real q has q.v = phase modulo the period for all integer vectors v.

    By Euclid's algorithm: the remainder of a combination of them that is 0 must be a phase of 0.
    """
    rows = [np.array([*v, phase]) for v, phase in zip(vectors, phases)]
    for axis in range(len(rows[0]) - 1 if rows else 0):
        while len(active := [i for i, row in enumerate(rows) if row[axis]]) > 1:
            least = min(active, key=lambda i: abs(rows[i][axis]))
            for i in active:
                if i != least:
                    rows[i] = rows[i] - rows[i][axis] // rows[least][axis] * rows[least]
        rows = [row for i, row in enumerate(rows) if i not in active]  # that one, some q satisfies
    return all(row[-1] % period == 0 for row in rows)
