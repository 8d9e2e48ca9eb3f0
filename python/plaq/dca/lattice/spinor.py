"""Spinors psi(K) in which a phase of broken symmetry is a matrix of two components on the lattice of the normal phase.

    superconducting      (c_K,up, c+_-K,dn)    Nambu
    antiferromagnetic    (c_K,up, c_K+Q,dn)    Q = (pi, pi, ...): spins along x, alternating from site to site

Order is then what is off the diagonal. Unlike a cell of two sites with spins along z, no sign of S^z can fluctuate
between configurations: what the bath does not order has no noise. With the charge tau of the components, the densities
of spin s are n_s = n_a or 1 - n_a, and an interaction stays one of densities of one kind of fermions,

    v n_s n'_s'  =  v tau_a tau_a' n_a n'_a' + one-particle terms

mu enters as mu tau, and 1/G0 = 1/bath - shift has shift_a = 1/2 sum v at the ends, times tau_a. Functions are
[1, K, a, b, w].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaq.dca.lattice.algebra import Matrices
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.interaction import UP, DensityPair, Interaction
from plaq.dca.lattice.matrix_coarse_graining import MatrixCoarseGraining
from plaq.dca.lattice.operations import Operation
from plaq.dca.lattice.order import Order, form_factor
from plaq.dca.lattice.particle_hole import Exchange
from plaq.dca.lattice.symmetry import PointGroup

COMPONENTS = ("1", "2")
TAU_Y = np.array([[-1, 1], [1, -1]])[..., None]  # -tau_y f tau_y = TAU_Y * (f with both components exchanged)


@dataclass(frozen=True)
class Spinor:
    """Spinor of an order.

    tau [a] : charge of the components; form : f(K) of the order, [K]; cluster : with the components as its orbitals;
    partner : [K] index of K + Q of spins, else None; exchange : that of particles and holes in Nambu's spinor at half
    filling, else None; is_half_filled : whether the spins' phase has that symmetry.
    """

    order: Order
    tau: np.ndarray
    form: np.ndarray
    cluster: Cluster
    partner: np.ndarray | None = None
    exchange: Exchange | None = None
    is_half_filled: bool = False

    @property
    def empty(self) -> float:
        """Electrons of a site whose components are both empty."""
        return float(np.count_nonzero(self.tau < 0))

    @property
    def pattern(self) -> np.ndarray:
        """Matrix in H of a field 1, [1, K, a, b]: -f(K)/2 off the diagonal."""
        return (-self.form[:, None, None] * np.array([[0.0, 1.0], [1.0, 0.0]]) / 2)[None]

    def invariant(self, f: np.ndarray) -> np.ndarray:
        """Return the part of M, G or 1/g0 [..., 1, K, a, b, w] that the symmetries of the phase leave.

        Of singlets f = -tau_y f* tau_y, of spins along x f(K + Q) = tau_x f(K) tau_x; at half filling more.
        """
        if self.order.is_paired:
            f = _odd(f)
            return f if self.exchange is None else self.exchange.odd(f)
        f = (f + _turned(f)[..., self.partner, :, :, :]) / 2
        return _odd(f) if self.is_half_filled else f


def _turned(f: np.ndarray) -> np.ndarray:
    return np.flip(f, axis=(-3, -2))


def _odd(f: np.ndarray) -> np.ndarray:
    return (f + TAU_Y * _turned(f).conj()) / 2


def spinor_of(order: Order, cluster: Cluster, exchange: Exchange | None) -> Spinor:
    """Return the spinor of an order on a cluster of one orbital; exchange : of particles and holes, if it is there."""
    tau = np.array(order.tau)
    sign = lambda d: tau[1] if order.is_paired else (-1.0) ** sum(d)
    table = {d: t[0, 0, 0] * np.diag([1.0, sign(d)]) for d, t in cluster.lattice.table.items()}
    spinors = Cluster(Lattice(table, COMPONENTS), cluster.vectors)
    form = np.array([form_factor(order.symmetry, K) for K in cluster.momenta])
    if order.is_paired:
        return Spinor(order, tau, form, spinors, exchange=exchange and _of_pairs(exchange, form))
    Q = np.full(cluster.lattice.dimension, np.pi)
    partner = cluster.momentum_sum[:, cluster.momentum_index(Q)] if cluster.size > 1 else np.zeros(1, dtype=int)
    return Spinor(order, tau, form, spinors, partner, is_half_filled=exchange is not None)


def _of_pairs(exchange: Exchange, form: np.ndarray) -> Exchange | None:
    """Return the exchange with the sign of the second component that keeps pairs of the form f(K)."""
    sign = next((s for s in (1, -1) if np.allclose(form[exchange.momenta], s * form)), None)
    return None if sign is None else Exchange(exchange.momenta, np.array([1, -sign]))


def spinor_group(spinor: Spinor, group: PointGroup) -> PointGroup:
    """Return the point group: operations of ``group`` that keep f(K), or turn its sign, and Q.

    A turned sign is compensated by that of the second component.
    """
    f, found = spinor.form, []
    for op, permutation in zip(group.action.operations, group.momentum_permutations):
        keeps_q = spinor.order.is_paired or not ((op.matrix.sum(axis=0) - 1) % 2).any()
        sign = next((s for s in (1, -1) if np.allclose(f[permutation], s * f)), None)
        if keeps_q and sign is not None:
            found.append(Operation(op.matrix, np.arange(2), np.zeros((2, len(op.matrix)), dtype=int),
                                   np.array([1, sign])))
    return PointGroup.of_operations(spinor.cluster, found, np.ones((2, 2), dtype=bool))


def spinor_interaction(interaction: Interaction, tau: np.ndarray) -> Interaction:
    """Return the interaction of the components' densities, without its one-particle terms."""
    return Interaction(tuple(DensityPair(tau[p.spin_a] * tau[p.spin_b] * p.value, p.spin_a, UP, p.d, p.spin_b, UP)
                             for p in interaction.pairs))


def normal_interaction(interaction: Interaction, tau: np.ndarray) -> Interaction:
    """Return the interaction of the electrons, the inverse of `spinor_interaction`."""
    return Interaction(tuple(DensityPair(tau[p.a] * tau[p.b] * p.value, 0, p.a, p.d, 0, p.b)
                             for p in interaction.pairs))


def with_mu(x: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """Return iw + mu tau [a, b, w] for x = iw + mu [w]."""
    x = np.asarray(x)
    return np.eye(2)[..., None] * (1j * x.imag) + np.diag(tau)[..., None] * x.real


class Spinors(Matrices):
    """Algebra of functions [..., 1, K, a, b, w] of a spinor."""

    def __init__(self, spinor: Spinor):
        super().__init__(spinor.cluster, 2)
        self._tau = spinor.tau

    def at_frequencies_of(self, x: np.ndarray) -> np.ndarray:
        return with_mu(x, self._tau)


class SpinorCoarseGraining(MatrixCoarseGraining):
    """Patch means of functions of a spinor."""

    def __init__(self, spinor: Spinor, isolated: bool, group: PointGroup):
        super().__init__(spinor.cluster, isolated, group)
        self._tau = spinor.tau

    def shifted(self, x, sigma):
        return with_mu(x, self._tau) - sigma

    def electrons(self, g):
        """Return the function [w] of which T sum_n e^(iw_n 0+) is n: G_aa of particles, -G_aa(-iw) of holes."""
        return sum(np.mean(g[0, :, a, a] if tau > 0 else -g[0, :, a, a].conj(), axis=0)
                   for a, tau in enumerate(self._tau))
