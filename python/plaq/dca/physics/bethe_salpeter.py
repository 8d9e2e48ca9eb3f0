"""Bethe-Salpeter equation on the cluster and on the lattice: eigenvalues whose crossing of 1 marks a transition.

Notation: k = (K, w). A four-point function is normalised so that its disconnected part is chi0_cluster(k) on the
diagonal; no factor of beta or N_c appears anywhere. The irreducible vertex of the cluster is that of the lattice,
    Gamma = chi0_cluster^-1 - G4^-1,    lattice: G4 = chi0_lattice + chi0_lattice Gamma G4,
with chi0_lattice(k) the mean over the patch around K, so the lattice response diverges where an eigenvalue
lambda of Gamma chi0_lattice reaches 1. Source: Maier, Jarrell, Pruschke, Hettler, Rev. Mod. Phys. 77, 1027
(2005), sec. II.D.3; Maier, Jarrell, Scalapino, Phys. Rev. Lett. 96, 047005 (2006).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy

from plaq.errors import RunError

EVEN, ODD = 1, -1  # of the gap function in frequency


@dataclass
class PairingChannel:
    """Pairing of one irrep: all eigenvalues in falling order and their gap functions.

    eigenvalues : ``[i]``; gaps : ``[i, K, w > 0]``, phi with Gamma chi0_lattice phi = lambda phi, its entry of
    largest size equal to 1. ``spurious`` is the number of eigenvalues at the top that come from divergences of
    the vertex, not from pairing.
    """

    eigenvalues: np.ndarray
    gaps: np.ndarray
    spurious: int

    @property
    def leading(self) -> float:
        """The leading physical eigenvalue: the transition is where it reaches 1."""
        return self.eigenvalues[self.spurious]

    @property
    def gap(self) -> np.ndarray:
        """The gap function ``[K, w > 0]`` of the leading physical eigenvalue."""
        return self.gaps[self.spurious]


def symmetrised(g4: np.ndarray, permutations: np.ndarray) -> np.ndarray:
    """Average of the pairing function over the point group and over the exchange of k and k'.

    g4 : ``[K, w > 0, K', w']``, w' ascending from -w_max to w_max; permutations : ``[g, K]``, the index of g K.
    Exact relations, so this removes noise and no signal:
        G4(k, k') = G4(gK w, gK' w') = G4(k', k),    G4(K w, K' -w') = G4(K' w', K -w).
    """
    same, opposite = halves(group_average(g4, permutations))
    same = (same + same.transpose(2, 3, 0, 1)) / 2
    opposite = (opposite + opposite.transpose(2, 3, 0, 1)) / 2
    return np.concatenate([opposite[..., ::-1], same], axis=3)


def group_average(g4: np.ndarray, permutations: np.ndarray) -> np.ndarray:
    """Return the mean of G4(gK w, gK' w') over operations that leave the momentum transfer where it is.

    g4 : ``[K, w, K', w']``; permutations : ``[g, K]``, the index of g K.
    """
    total = np.zeros(g4.shape, dtype=g4.dtype)
    for g in np.asarray(permutations):
        total += g4[g][:, :, g]
    return total / len(permutations)


def halves(g4: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return G4(K w, K' w') and G4(K w, K' -w'), each ``[K, w > 0, K', w' > 0]``."""
    n = g4.shape[1]
    if g4.shape[3] != 2 * n:
        raise ValueError(f"{n} positive frequencies need w' of both signs, 2 x {n} values, not {g4.shape[3]}")
    return g4[..., n:], g4[..., n - 1 :: -1]


def folded(g4: np.ndarray, parity: int = EVEN) -> np.ndarray:
    """Return the block of the pairing function that acts on gap functions even (or odd) in frequency.

    G4 does not change when both frequencies change sign, so it maps phi(-w) = p phi(w) to functions of the
    same parity:
        G4_p(K w, K' w') = G4(K w, K' w') + p G4(K w, K' -w'),    w, w' > 0.
    The diagonal chi0(K, w) is the same in both blocks.
    """
    same, opposite = halves(g4)
    return same + parity * opposite


def pairing(g4: np.ndarray, chi0_cluster: np.ndarray, chi0_lattice: np.ndarray,
            projectors: Mapping[str, np.ndarray], parity: int = EVEN) -> dict[str, PairingChannel]:
    """Return leading eigenvalues of particle-particle pairing at q = 0, nu = 0 in every irrep of the point group.

    g4 : ``[K, w > 0, K', w' of both signs, ascending]``, real. chi0_cluster : ``[K, w > 0]``, |G_c(K, w)|^2;
    chi0_lattice : ``[K, w > 0]``, patch mean of |G(k, w)|^2. All three symmetric under the point group.
    projectors : irrep name to ``[K, K]`` projector; irreps that this cluster does not have (projector 0) are
    left out.

    In the basis of one irrep, with A = chi0c^-1/2 G4 chi0c^-1/2 and r = sqrt(chi0_lattice / chi0_cluster), the
    eigenvalues are those of the symmetric matrix
        sqrt(chi0_lattice) Gamma sqrt(chi0_lattice) = r (1 - A^-1) r.

    Spurious eigenvalues. The cluster has no transition: 1 - 1/a < 1 for every eigenvalue a > 0 of A. Where a
    passes through zero the vertex diverges, and a < 0 gives an eigenvalue above 1 without any instability,
    coming down from infinity. Going over from cluster to lattice (r from 1 to its value) keeps their number,
    so in each irrep the first n eigenvalues, n the number of negative eigenvalues of A, are spurious and the
    next one is physical. It is a continuous function of temperature across a divergence. (It is assumed that
    spurious eigenvalues stay above the physical one: 1 + 1/|a| > 2 for |a| < 1.) Source of the divergences:
    Schaefer et al., Phys. Rev. Lett. 110, 246405 (2013); Gunnarsson et al., Phys. Rev. B 93, 245102 (2016).

    Raises RunError when G4 holds numbers that are not finite or cannot be inverted.
    """
    scaled = folded(np.asarray(g4, dtype=float), parity)
    size = np.sqrt(chi0_cluster)
    scaled = scaled / (size[:, :, None, None] * size[None, None])
    if not np.all(np.isfinite(scaled)):
        raise RunError("Bethe-Salpeter equation: the pairing function holds numbers that are not finite")
    ratio = np.sqrt(chi0_lattice / chi0_cluster)
    channels = {}
    for name, projector in projectors.items():
        basis = irrep_basis(projector)
        if basis.shape[1]:
            channels[name] = pairing_in_basis(scaled, ratio, np.sqrt(chi0_lattice), basis, name)
    return channels


def pairing_in_basis(scaled, ratio, root, basis, name) -> PairingChannel:
    """Return eigenvalues of r (1 - A^-1) r in the span of ``basis[K, a]``; r does not leave it."""
    momenta, n = ratio.shape
    d = basis.shape[1]
    a = np.einsum("Ka,KwLv,Lb->awbv", basis, scaled, basis, optimize=True).reshape(d * n, d * n)
    a = (a + a.T) / 2
    r = np.zeros((d, n, d, n))
    diagonal = np.arange(n)
    r[:, diagonal, :, diagonal] = np.einsum("Ka,Kw,Kb->wab", basis, ratio, basis)
    r = r.reshape(d * n, d * n)
    values, vectors = np.linalg.eigh(a)
    if np.any(values == 0) or values[-1] < 0:
        raise RunError(f"Bethe-Salpeter equation: the pairing function is singular or negative in irrep {name}")
    half = r @ vectors
    eigenvalues, states = np.linalg.eigh(r @ r - (half / values) @ half.T)
    # phi = chi0_lattice^-1/2 v belongs to Gamma chi0_lattice when v belongs to the symmetric form
    gaps = np.einsum("Ka,awi->iKw", basis, states[:, ::-1].reshape(d, n, d * n)) / root
    flat = gaps.reshape(d * n, -1)
    largest = flat[np.arange(d * n), np.abs(flat).argmax(axis=1)]
    return PairingChannel(eigenvalues[::-1], gaps / largest[:, None, None], int(np.count_nonzero(values < 0)))


def irrep_basis(projector: np.ndarray) -> np.ndarray:
    """Return orthonormal columns ``[K, a]`` that span the image of a real orthogonal projector."""
    values, vectors = np.linalg.eigh(projector)
    if np.abs(values * (values - 1)).max() > 1e-9:
        raise ValueError("an irrep's projector must have eigenvalues 0 and 1")
    return vectors[:, values > 0.5]


def narrowed(g4: np.ndarray, chi0_cluster: np.ndarray, chi0_lattice: np.ndarray, n: int):
    """Return the three inputs of `pairing` with the lowest n positive frequencies kept."""
    middle = g4.shape[1]
    return g4[:, :n, :, middle - n : middle + n], chi0_cluster[:, :n], chi0_lattice[:, :n]


def irreducible_vertex(g4: np.ndarray, chi0_cluster: np.ndarray) -> np.ndarray:
    """Return Gamma = chi0_cluster^-1 - G4^-1, ``[k, k']``, any channel; g4 ``[k, k']``, chi0_cluster ``[k]``, complex.
    """
    return np.diag(1 / chi0_cluster) - np.linalg.inv(g4)


@dataclass
class Modes:
    """Eigenvalues of Gamma chi0_lattice in one block of irreps, complex in general, and their eigenvectors.

    eigenvalues : ``[i]``, the largest real part first; vectors : ``[i, K, w]``, the largest entry equal to 1.
    """

    eigenvalues: np.ndarray
    vectors: np.ndarray

    def following(self, reference: Modes, n: int) -> Modes:
        """Return the n modes that continue the first n of `reference`, by overlap of vectors.

        Noise may swap the order of two eigenvalues between samples of the same data; their vectors identify them. Where
        either is `unsolved`, the first n of these modes are returned.
        """
        if np.isnan(self.eigenvalues).any() or np.isnan(reference.eigenvalues).any():
            return Modes(self.eigenvalues[:n], self.vectors[:n])
        flat, reference_vectors = (m.vectors.reshape(len(m.vectors), -1) for m in (self, reference))
        flat = flat / np.linalg.norm(flat, axis=1, keepdims=True)
        overlap = np.abs(reference_vectors[:n].conj() @ flat.T)
        overlap /= np.linalg.norm(reference_vectors[:n], axis=1, keepdims=True)
        order = scipy.optimize.linear_sum_assignment(-overlap)[1]
        return Modes(self.eigenvalues[order], self.vectors[order])


def above_one(on_cluster: Modes) -> int:
    """Return the number of spurious eigenvalues at the top of a block, from those of Gamma chi0_cluster.

    The cluster has no transition: its eigenvalues 1 - 1/a, a those of chi0_cluster^-1 G4, are below 1 but where Re
    1/a < 0, beyond a divergence of the vertex. As in `pairing`, going over to the lattice keeps their number. The
    charge channel has such divergences already at half filling (Schaefer et al. 2013).
    """
    return int(np.count_nonzero(on_cluster.eigenvalues.real > 1))


def unsolved(shape: tuple[int, int], projectors: Mapping[str, np.ndarray]) -> dict[str, Modes]:
    """Return NaN in the form of `ladder` for chi0 of ``shape``, where noise leaves no solution."""
    sizes = {name: round(np.trace(projector)) * shape[1] for name, projector in projectors.items()}
    return {name: Modes(np.full(size, np.nan + 0j), np.full((size, *shape), np.nan + 0j))
            for name, size in sizes.items() if size}


def ladder(g4: np.ndarray, chi0_cluster: np.ndarray, chi0_lattice: np.ndarray,
           projectors: Mapping[str, np.ndarray]) -> dict[str, Modes]:
    """Return eigenvalues and vectors of Gamma chi0_lattice in any channel at any transfer (q, nu), by block of irreps.

    g4 : ``[K, w, K', w']``, w of both signs; chi0_cluster, chi0_lattice : ``[K, w]``, in the channel's own
    normalisation and sign, so that without vertex corrections g4 = diag(chi0_cluster):
        particle-particle: chi0 = G(k) G(q - k),
        particle-hole magnetic, transverse and charge: chi0 = -G(k) G(k + q), their exchange part. The direct
        part 2 G(k) G(k') of the charge channel at q = 0, nu = 0 must have been subtracted from g4.
    All three must have the symmetry of the blocks (`group_average`). projectors : block name to ``[K, K]``; what this
    cluster does not have (projector 0) is left out.
    A bare interaction U gives Gamma = -U/(beta N_c) for pairing, +U/(beta N_c) in the magnetic channel.

    Raises RunError when g4 holds numbers that are not finite or cannot be inverted.
    """
    momenta, n = chi0_cluster.shape
    try:
        vertex = irreducible_vertex(g4.reshape(momenta * n, -1), chi0_cluster.ravel())
    except np.linalg.LinAlgError:
        raise RunError("Bethe-Salpeter equation: the two-particle function is singular") from None
    if not np.all(np.isfinite(vertex)):
        raise RunError("Bethe-Salpeter equation: the two-particle function holds numbers that are not finite")
    kernel = (vertex * chi0_lattice.ravel()).reshape(g4.shape)
    modes = {}
    for name, projector in projectors.items():
        basis = irrep_basis(projector)
        d = basis.shape[1]
        if d == 0:
            continue
        block = np.einsum("Ka,KwLv,Lb->awbv", basis, kernel, basis, optimize=True).reshape(d * n, d * n)
        values, vectors = np.linalg.eig(block)
        order = np.argsort(-values.real, kind="stable")
        flat = np.einsum("Ka,awi->iKw", basis, vectors[:, order].reshape(d, n, d * n)).reshape(d * n, -1)
        largest = flat[np.arange(d * n), np.abs(flat).argmax(axis=1)]
        modes[name] = Modes(values[order], (flat / largest[:, None]).reshape(-1, momenta, n))
    return modes
