"""Bethe-Salpeter equation with orbitals: two-particle functions G4(x n, x' n') of pairs x = (K, a, b), in any channel.

Rows and columns are pairs of one kind, at the transfer q = (Q, m) with k = (K, n):

    pp    c_{k,a} c_{q-k,b}       chi0_(ab)(cd)(k) =  G_ac(k) G_bd(q-k)
    ph    c+_{k,b} c_{k+q,a}      chi0_(ab)(cd)(k) = -G_ac(k+q) G_db(k)

Functions are matrices in (K, a, b, n), and chi0 is one in (a, b) for each (K, n). As for one band
(`plaq.dca.physics.bethe_salpeter`), Gamma = chi0_cluster^-1 - G4^-1, and an order sets in where an eigenvalue of
Gamma chi0_lattice reaches 1. chi0_lattice is the mean over the patch in functions with the phases of positions, in
which Gamma is that of the whole patch (`plaq.dca.lattice.matrix_coarse_graining`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from plaq.data.estimate import Axis
from plaq.dca.lattice.pair_symmetry import PairSymmetry
from plaq.dca.physics.bethe_salpeter import Modes
from plaq.errors import RunError

CHANNELS = {
    "pp": "<G_up(k a; k' a') G_down(q-k b; q-k' b')>, mean over both spins",
    "magnetic": "1/2 sum_ss' s s' <G_s(k+q a; k b) G_s'(k' b'; k'+q a')> - 1/2 sum_s <G_s(k' b'; k b) "
                "G_s(k+q a; k'+q a')>",
    "charge": "1/2 sum_ss' <G_s(k+q a; k b) G_s'(k' b'; k'+q a')> - 1/2 sum_s <G_s(k' b'; k b) G_s(k+q a; k'+q a')>",
    "upup": "1/2 sum_s (<G_s(k+q a; k b) G_s(k' b'; k'+q a')> - <G_s(k' b'; k b) G_s(k+q a; k'+q a')>)",
    "updown": "1/2 sum_s <G_s(k+q a; k b) G_-s(k' b'; k'+q a')>",
    "transverse": "measured as the magnetic one, which it equals",
}


@dataclass(frozen=True)
class Terms:
    """Functions of one channel: g4 [K, a, b, n, K', a', b', n']; chi0 of cluster and lattice [K, n, ab, a'b']."""

    g4: np.ndarray
    chi0_cluster: np.ndarray
    chi0_lattice: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of a vector, (K, a, b, n), or (K, n) of one orbital."""
        K, a, b, n = self.g4.shape[:4]
        return (K, n) if a == 1 else (K, a, b, n)

    def kernel(self, on_cluster: bool = False) -> np.ndarray:
        """Return Gamma chi0_lattice as a matrix, or Gamma chi0_cluster.

        RunError where the function has numbers that are not finite, or no inverse.
        """
        size = int(np.prod(self.shape))
        chi0 = self.chi0_cluster if on_cluster else self.chi0_lattice
        try:
            vertex = -np.linalg.inv(self.g4.reshape(size, size))
            add_blocks(vertex, np.linalg.inv(self.chi0_cluster))
        except np.linalg.LinAlgError:
            raise RunError("Bethe-Salpeter equation: the two-particle function is singular") from None
        if not np.all(np.isfinite(vertex)):
            raise RunError("Bethe-Salpeter equation: the two-particle function holds numbers that are not finite")
        K, n, pairs = chi0.shape[:3]
        return np.einsum("xKpn,Knpq->xKqn", vertex.reshape(size, K, pairs, n), chi0, optimize=True).reshape(size, size)

    def modes(self, blocks: Mapping[str, np.ndarray], on_cluster: bool = False) -> dict[str, Modes]:
        """Return eigenvalues and vectors of the kernel by block of `PairSymmetry.blocks`.

        They are NaN where noise leaves no solution.
        """
        try:
            kernel = self.kernel(on_cluster)
            return {name: modes_in(basis, kernel, self.shape) for name, basis in blocks.items()}
        except (RunError, np.linalg.LinAlgError):
            return {name: Modes(np.full(basis.shape[1], np.nan + 0j),
                                np.full((basis.shape[1], *self.shape), np.nan + 0j)) for name, basis in blocks.items()}


def add_blocks(matrix: np.ndarray, blocks: np.ndarray) -> None:
    """Add [K, n, ab, a'b'] to a matrix in (K, ab, n), in place."""
    K, n, pairs = blocks.shape[:3]
    view = matrix.reshape(K, pairs, n, K, pairs, n)
    for k in range(K):
        for w in range(n):
            view[k, :, w, k, :, w] += blocks[k, w]


def modes_in(basis: np.ndarray, kernel: np.ndarray, shape: tuple[int, ...]) -> Modes:
    """Return the modes of a kernel in the span of orthonormal columns, the largest real part first."""
    values, vectors = np.linalg.eig(basis.conj().T @ kernel @ basis)
    order = np.argsort(-values.real, kind="stable")
    flat = (basis @ vectors[:, order]).T
    largest = flat[np.arange(len(flat)), np.abs(flat).argmax(axis=1)]
    return Modes(values[order], (flat / largest[:, None]).reshape(-1, *shape))


def terms(evaluation, m, kind: str, q: int, m_index: int, window: int, g4: np.ndarray) -> Terms:
    """Return the functions of a channel from `Evaluation.sample` and its G4 [K, a, b, n, K', a', b', n']."""
    cluster, mesh, algebra = evaluation.model.cluster, evaluation.mesh, evaluation.equations.algebra
    coarse, pairs = evaluation.model.coarse_graining, kind == "pp"
    partners = cluster.momentum_difference[q] if pairs else cluster.momentum_sum[:, q]
    g, sigma = evaluation.dyson(m)
    constant = high_frequency_sigma(evaluation, g)
    n = np.arange(-window, window)
    partner = m_index - 1 - n if pairs else n + m_index
    on_lattice = evaluation.on_lattice(sigma)
    z, z_partner = (on_lattice.z_at(sigma, constant, i) for i in (n, partner))
    g_n, g_partner = algebra.at(mesh, g, n)[0], algebra.at(mesh, g, partner)[0][partners]
    product = np.einsum("kabn,kcdn->kabcdn", g_n, g_partner)
    chi0_cluster = in_pairs(product, pairs)
    chi0_lattice = in_pairs((coarse.chi0_pp if pairs else coarse.chi0_ph)(z, z_partner, q), pairs)
    if kind == "charge" and q == 0 and m_index == 0:  # the direct part 2 G(k) G(k')
        g4 = g4 - 2 * np.einsum("kabn,lcdv->kabnldcv", g_n, g_n)
    return Terms(g4, chi0_cluster, chi0_lattice)


def in_pairs(product: np.ndarray, pairs: bool) -> np.ndarray:
    """Return chi0 [K, n, ab, a'b'] from products G_ij(k) G_kl(partner) [K, i, j, k, l, n]."""
    K, b, n = product.shape[0], product.shape[1], product.shape[-1]
    chi0 = product.transpose(0, 5, 1, 3, 2, 4) if pairs else -product.transpose(0, 5, 3, 2, 4, 1)
    return chi0.reshape(K, n, b * b, b * b)


def high_frequency_sigma(evaluation, g: np.ndarray) -> np.ndarray:
    """Return Sigma at infinite frequency, [S, K, a, b], from the densities of the cluster's own G."""
    equations = evaluation.equations
    occupations = equations.algebra.equal_time(evaluation.mesh, g)
    density = np.einsum("skaa->sa", occupations).real / evaluation.model.cluster.size
    return equations.mean_field(np.broadcast_to(density, (2, equations.bands)), occupations)


def symmetry_of(model, kind: str, q: int) -> PairSymmetry:
    """Return the operations on pairs of a channel at the transfer with index q."""
    return PairSymmetry(model.group, kind == "pp", q)


def axes(evaluation, window: int) -> list[Axis]:
    """Return the axes K, orbital, orbital', omega of a vector, without orbitals where there is one."""
    momenta, names = np.array(evaluation.model.cluster.momenta), np.array(evaluation.model.lattice.orbitals)
    orbitals = [Axis("orbital", names), Axis("orbital'", names)] if len(names) > 1 else []
    return [Axis("K", momenta, "1/a"), *orbitals,
            Axis("omega", evaluation.mesh.frequency(np.arange(-window, window)), "t")]
