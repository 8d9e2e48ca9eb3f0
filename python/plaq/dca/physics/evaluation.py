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
    """What stays fixed while one set of bins is evaluated."""

    model: Model
    mesh: Mesh
    K: float
    mu: float
    g0: np.ndarray  # [K, w] auxiliary bath function
    reference: np.ndarray | float = 0.0  # Sigma_0 of `BathData`, [K, w]
    density: float | None = None  # that mu is searched for

    def sample(self, w, ratio, inverse_g0):
        """(the evaluation, m) of one jackknife sample, from the sums of `BathData` and of the norm."""
        g0 = w / inverse_g0
        green = ratio / w / (inverse_g0 / w - self.reference)
        return replace(self, g0=g0), (g0 - green) / g0**2

    def hartree(self, density):
        """What Sigma lacks of the Hartree term at the density that is asked for, which at self-consistency is that of
        the cluster; as it is, an error dn of the cluster's density is one of U dn/2 of Sigma, and in the loop of mu."""
        return 0.0 if self.density is None else self.model.U / 2 * (self.density - density)

    def on_lattice(self, sigma):
        """The evaluation with the mu at which the lattice with this Sigma has the density that is asked for."""
        if self.density is None:
            return self
        return replace(self, mu=find_mu(self.density, self.model.coarse_graining, self.mesh,
                                        causal(sigma, self.mesh.omega), self.mu))

    def lattice_z(self, sigma):
        """iw + mu - Sigma on the mesh."""
        return 1j * self.mesh.omega + self.mu - causal(sigma, self.mesh.omega)

    def z_at(self, sigma, constant, n):
        """z [K, n] at the Matsubara indices n of both signs; `constant` [K] is Sigma at infinite frequency."""
        n = np.asarray(n)
        values = self.mesh.at_frequencies(sigma - constant[:, None], n) + constant[:, None]
        upper = np.where(n < 0, values.conj(), values)
        omega = self.mesh.frequency(np.abs(n + 0.5) - 0.5)
        z = 1j * omega + self.mu - causal(upper, omega)
        return np.where(n < 0, z.conj(), z)


def causal(sigma, omega):
    """Sigma with Im Sigma <= w/10 at w > 0, so that lattice functions can be made of it.

    Every exact Sigma has Im Sigma <= 0. Noise around 0 is left as it is: cut off there its mean would not be 0, and
    samples of a jackknife would be cut off in another way than their mean.
    """
    return sigma.real + 1j * np.minimum(sigma.imag, CAUSAL * omega)
