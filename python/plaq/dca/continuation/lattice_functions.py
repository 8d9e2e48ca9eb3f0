"""Functions of the lattice at real frequencies from those of the cluster: A(k, omega) for any k, by a periodisation.

    patch      G = 1/(omega + mu - eps_k - Sigma_K(k)), with the K in whose patch k lies, as the DCA has it
    sigma      the same with Sigma(k) = sum_R Sigma(R) e^(-ikR)
    cumulant   G = 1/(1/M(k) - eps_k), with M = 1/(omega + mu - Sigma) in place of Sigma
    green      G(k) = sum_R Gbar(R) e^(-ikR) of the cluster's own function

Where several images of R are equally short, the mean over them is taken. The sum gives the cluster's function at every
K, and with a cluster whose sum has a negative coefficient A(k, omega) may be below 0 in between.

Sources: Maier, Jarrell, Pruschke, Hettler, Rev. Mod. Phys. 77, 1027 (2005); Sakai et al., Phys. Rev. B 85, 035102
(2012) for the comparison of Sigma, M and G.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from plaq.dca.lattice.cluster import Cluster

PERIODISATIONS = ("patch", "sigma", "cumulant", "green")


def patch_weights(cluster: Cluster, k: np.ndarray) -> np.ndarray:
    """Return [k, K]: 1 where k [k, D] is nearest to K; shared where k is on the boundary of patches."""
    metric = np.linalg.inv(np.array(cluster.lattice.system.metric, dtype=float))
    difference = k[:, None] - cluster.momenta
    difference -= 2 * np.pi * np.rint(difference / (2 * np.pi))
    images = 2 * np.pi * np.array(list(product((-1, 0, 1), repeat=k.shape[1])))
    shifted = difference[:, :, None] + images
    distance = np.einsum("kKni,ij,kKnj->kKn", shifted, metric, shifted).min(axis=-1)
    nearest = distance <= distance.min(axis=1, keepdims=True) + 1e-9
    return nearest / nearest.sum(axis=1, keepdims=True)


def fourier_weights(cluster: Cluster, k: np.ndarray) -> np.ndarray:
    """Return [k, K] with f(k) = sum_K weights f(K): the Fourier sum over the sites, each at its shortest images."""
    metric = np.array(cluster.lattice.system.metric, dtype=float)
    shifts = np.array(list(product(range(-2, 3), repeat=k.shape[1]))) @ cluster.vectors
    phases = np.empty((len(k), cluster.size))
    for i, site in enumerate(cluster.sites):
        images = site + shifts
        length = np.einsum("ni,ij,nj->n", images, metric, images)
        shortest = images[length <= length.min() + 1e-9]
        phases[:, i] = np.cos(k @ shortest.T).mean(axis=1)  # functions are even in R
    return phases @ cluster.fourier.conj().T.real / cluster.size


def lattice_spectrum(cluster: Cluster, k: np.ndarray, omega: np.ndarray, mu: float, sigma: np.ndarray,
                     green: np.ndarray, periodisation: str) -> np.ndarray:
    """Return A(k, omega) [k, x] from Sigma and G of the cluster, both [K, x] and retarded.

    Frequencies have the imaginary part of one step of the grid, so that narrow lines keep their weight.
    """
    z = omega + 1j * np.gradient(omega) + mu
    energies = cluster.lattice.dispersion(k)[:, None]
    if periodisation == "patch":
        found = sum(weight[:, None] / (z - energies - row) for weight, row in zip(patch_weights(cluster, k).T, sigma))
    elif periodisation == "sigma":
        found = 1 / (z - energies - causal(fourier_weights(cluster, k) @ sigma))
    elif periodisation == "cumulant":
        found = 1 / (1 / (fourier_weights(cluster, k) @ (1 / (z - sigma))) - energies)
    else:
        found = fourier_weights(cluster, k) @ green
    return -found.imag / np.pi


def causal(sigma: np.ndarray) -> np.ndarray:
    """Return Sigma with Im Sigma <= 0, which sums with negative coefficients may violate."""
    return sigma.real + 1j * np.minimum(sigma.imag, 0.0)
