"""Evaluation of a set of bins: all that is fixed while means and jackknife samples become physical quantities."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from plaq.dca.lattice.chemical_potential import find_mu
from plaq.dca.lattice.matsubara import Mesh
from plaq.dca.lattice.model import Model

CAUSAL = 0.1  # Im Sigma over w that lattice functions bear: coarse graining is good to 1e-8 up to 0.2


@dataclass
class Evaluation:
    """Fixed part of the evaluation of one set of bins."""

    model: Model
    mesh: Mesh
    K: float
    mu: float
    g0: np.ndarray  # [K, w] auxiliary bath function
    sigma_0: np.ndarray | float = 0.0  # Sigma_0 of `BathData`, [K, w]
    target_density: float | None = None  # that mu is searched for; None where mu is given

    def sample(self, w, ratio, inverse_g0):
        """Return (evaluation, m [K, w]) of one jackknife sample, from the sums of the norm ``w`` and of `BathData`."""
        g0 = w / inverse_g0
        green = ratio / w / (inverse_g0 / w - self.sigma_0)
        return replace(self, g0=g0), (g0 - green) / g0**2

    def hartree(self, density):
        """Return the correction of the Hartree term in Sigma to the density asked for.

        At self-consistency the cluster has that density. Without the correction an error dn of the cluster's density is
        an error U dn/2 of Sigma, and of mu in the loop.
        """
        return 0.0 if self.target_density is None else self.model.U / 2 * (self.target_density - density)

    def on_lattice(self, sigma):
        """Return the evaluation at the mu where the lattice with this Sigma has the density asked for."""
        if self.target_density is None:
            return self
        return replace(self, mu=find_mu(self.target_density, self.model.coarse_graining, self.mesh,
                                        causal(sigma, self.mesh.omega), self.mu))

    def lattice_z(self, sigma):
        """Return iw + mu - Sigma on the mesh."""
        return 1j * self.mesh.omega + self.mu - causal(sigma, self.mesh.omega)

    def z_at(self, sigma, constant, n):
        """Return z [K, n] at the Matsubara indices n of both signs; `constant` [K] is Sigma at infinite frequency."""
        n = np.asarray(n)
        values = self.mesh.at_frequencies(sigma - constant[:, None], n) + constant[:, None]
        upper = np.where(n < 0, values.conj(), values)
        omega = self.mesh.frequency(np.abs(n + 0.5) - 0.5)
        z = 1j * omega + self.mu - causal(upper, omega)
        return np.where(n < 0, z.conj(), z)


def causal(sigma, omega):
    """Return Sigma with Im Sigma <= w/10 at w > 0, for which lattice functions exist.

    Every exact Sigma has Im Sigma <= 0. Noise around 0 stays: with a cut at 0 its mean would differ from 0, and
    jackknife samples would be cut differently from their mean.
    """
    return sigma.real + 1j * np.minimum(sigma.imag, CAUSAL * omega)
