"""Functions of the lattice at real frequencies from those of the cluster: A(k, omega) for any k, by a periodisation.

    patch      G = 1/(omega + mu - h(k) - Sigma_K(k)), with the K in whose patch k lies, as the DCA has it
    sigma      the same with Sigma(k) = sum_R Sigma(R) e^(-ikR)
    cumulant   G = 1/(1/M(k) - h(k)), with M = 1/(omega + mu - Sigma) in place of Sigma
    green      G(k) = sum_R Gbar(R) e^(-ikR) of the cluster's own function

All are matrices in the orbitals, and inverses those of matrices. In a patch Sigma_ab has the phases of positions, as in
`plaq.dca.lattice.matrix_coarse_graining`. Where several images of R, as far as R + r_a - r_b, are equally short, the
mean over them is taken. The sum gives the cluster's function at every K, and with a cluster whose sum has a negative
coefficient A(k, omega) may be below 0 in between.

Sources: Maier, Jarrell, Pruschke, Hettler, Rev. Mod. Phys. 77, 1027 (2005); Sakai et al., Phys. Rev. B 85, 035102
(2012) for the comparison of Sigma, M and G.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from plaq.dca.lattice.cluster import Cluster

PERIODISATIONS = ("patch", "sigma", "cumulant", "green")
EQUAL = 1e-9  # difference of squared lengths that counts as none


def lattice_spectrum(cluster: Cluster, k: np.ndarray, omega: np.ndarray, mu: float, sigma: np.ndarray,
                     green: np.ndarray, periodisation: str, spin: int = 0) -> np.ndarray:
    """Return A_aa(k, omega) [k, a, x] from Sigma and G of the cluster, both [K, a, b, x] and retarded.

    Frequencies have the imaginary part of one step of the grid, so that narrow lines keep their weight. Sigma is made
    causal where elements that were continued by themselves, or a periodisation, violate it.
    """
    sigma = causal(sigma)
    one = np.eye(cluster.lattice.bands)[..., None]
    z, h = one * (omega + 1j * np.gradient(omega) + mu), cluster.lattice.hamiltonian(k, spin)[..., None]
    if periodisation == "patch":
        found = in_patches(cluster, k, lambda of_patches, at: inverse(z - h[at] - of_patches), sigma)
    elif periodisation == "sigma":
        found = inverse(z - h - causal(summed(cluster, k, sigma)))
    elif periodisation == "cumulant":
        found = inverse(inverse(summed(cluster, k, inverse(z - sigma))) - h)
    else:
        found = summed(cluster, k, green)
    return -np.einsum("kaax->kax", found).imag / np.pi


def inverse(f: np.ndarray) -> np.ndarray:
    """Return inverses of matrices [..., a, b, x] in (a, b)."""
    if f.shape[-2] == 1:
        return 1 / f
    return np.moveaxis(np.linalg.inv(np.moveaxis(f, -1, -3)), -3, -1)


def causal(f: np.ndarray) -> np.ndarray:
    """Return f [..., a, b, x] whose antihermitian part over i is not positive, which sums may violate."""
    if f.shape[-2] == 1:
        return f.real + 1j * np.minimum(f.imag, 0.0)
    matrices = np.moveaxis(f, -1, -3)
    values, vectors = np.linalg.eigh((matrices - np.swapaxes(matrices, -1, -2).conj()) / 2j)
    excess = np.maximum(values, 0.0)
    cut = (vectors * excess[..., None, :]) @ np.swapaxes(vectors, -1, -2).conj()
    return f - 1j * np.moveaxis(cut, -3, -1)


def patches(cluster: Cluster, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (weights [k, n, K], offsets [k, n, K, D]) of points k [k, D] in the patches around all images n of all K.

    A weight is 1 where k is nearest to that image of K, and shared where k is on the boundary; the offset is k less it.
    """
    metric = np.linalg.inv(np.array(cluster.lattice.system.metric, dtype=float))
    difference = k[:, None] - cluster.momenta
    difference -= 2 * np.pi * np.rint(difference / (2 * np.pi))
    images = 2 * np.pi * np.array(list(product((-1, 0, 1), repeat=k.shape[1])))
    offsets = difference[:, None] + images[:, None]
    distance = np.einsum("knKi,ij,knKj->knK", offsets, metric, offsets)
    nearest = distance <= distance.min(axis=(1, 2), keepdims=True) + EQUAL
    return nearest / nearest.sum(axis=(1, 2), keepdims=True), offsets


def in_patches(cluster: Cluster, k: np.ndarray, function, f: np.ndarray) -> np.ndarray:
    """Return the mean of function(f of the patch [k, a, b, x], indices of k) over the patches that k [k, D] is in."""
    weights, offsets = patches(cluster, k)
    found = np.zeros((len(k), *f.shape[1:]), dtype=complex)
    for image, K in zip(*np.nonzero(weights.any(axis=0))):
        at = np.flatnonzero(weights[:, image, K])
        v = np.exp(1j * offsets[at, image, K] @ cluster.lattice.positions.T)
        phases = (v[:, :, None] * v[:, None, :].conj())[..., None]
        found[at] += weights[at, image, K, None, None, None] * function(f[K] * phases, at)
    return found


def fourier_weights(cluster: Cluster, k: np.ndarray) -> np.ndarray:
    """Return [k, K, a, b] with f_ab(k) = sum_K weights f_ab(K): the sum over the sites, each at its shortest images.

    f_ab(R) = <c_a(R) c+_b(0)> and its like, so that its orbitals are R + r_a - r_b apart.
    """
    lattice = cluster.lattice
    metric, bands = np.array(lattice.system.metric, dtype=float), lattice.bands
    shifts = np.array(list(product(range(-2, 3), repeat=k.shape[1]))) @ cluster.vectors
    waves = np.empty((len(k), cluster.size, bands, bands), dtype=complex)
    for a, b in np.ndindex(bands, bands):
        for i, site in enumerate(cluster.sites):
            images = site + shifts
            apart = images + lattice.positions[a] - lattice.positions[b]
            length = np.einsum("ni,ij,nj->n", apart, metric, apart)
            shortest = images[length <= length.min() + EQUAL]
            waves[:, i, a, b] = np.exp(-1j * k @ shortest.T).mean(axis=1)
    return np.einsum("krab,Kr->kKab", waves, cluster.fourier.conj()) / cluster.size


def summed(cluster: Cluster, k: np.ndarray, f: np.ndarray) -> np.ndarray:
    """Return f(k) [k, a, b, x] of f(K) [K, a, b, x] by `fourier_weights`."""
    return np.einsum("kKab,Kabx->kabx", fourier_weights(cluster, k), f)
