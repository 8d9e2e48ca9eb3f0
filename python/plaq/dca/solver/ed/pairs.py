"""Correlations <n_as n_bs'> of cells, by spin and orbital, at equal times and integrated over tau."""

import numpy as np

from plaq.dca.solver.ed.cluster import NEGLIGIBLE
from plaq.dca.solver.ed.fock import DN, UP


def density_pairs(cluster):
    """Return <n_as(R) n_bs'(0)> and int_0^beta dtau <n_as(R, tau) n_bs'(0)>, real [s, s', R, a, b] each.

    cluster : `ExactCluster` with its Fourier matrix.
    """
    s = cluster.spectrum
    found = np.zeros((2, 2, 2, s.cells, s.orbitals, s.orbitals), complex)  # [kernel, s, s', q, a, b]
    for n, block in enumerate(s.blocks):
        if s.flips and block.n_up < block.n_dn:  # equal to its spin-flipped twin
            continue
        for q in range(s.cells):
            m = s.lowered(q * s.orbitals, n)
            if m is None or max(cluster.weights[m].max(), cluster.weights[n].max()) <= NEGLIGIBLE:
                continue
            rho = np.array([s.density(q * s.orbitals + a, n) for a in range(s.orbitals)])  # [a, s, m, n]
            rho = rho.swapaxes(0, 1).reshape(2 * s.orbitals, -1)
            for total, kernel in zip(found, cluster.kernels(m, n)):
                part = (rho * kernel.ravel()) @ rho.conj().T
                part = part.reshape(2, s.orbitals, 2, s.orbitals).swapaxes(1, 2)
                total[:, :, q] += part
                if s.flips and block.n_up > block.n_dn:
                    total[:, :, q] += part[::-1, ::-1]
    # n_R = 1/Nc sum_q e^{iq.R} rho_q
    return np.real(np.einsum("qr,kstqab->kstrab", s.fourier.conj(), found)) / s.cells**2


def densities(cluster):
    """Return <n_as> [s, a]."""
    occupied = [1 + np.diagonal(cluster.green_tau([0.0], spin)[..., 0]) for spin in (UP, DN)]
    s = cluster.spectrum
    return np.reshape(occupied, (2, -1, s.orbitals)).mean(axis=1)
