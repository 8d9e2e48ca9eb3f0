"""Evaluation of a set of bins: all that is fixed while means and jackknife samples become physical quantities."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from plaq.dca.lattice.chemical_potential import find_mu
from plaq.dca.lattice.matsubara import Mesh
from plaq.dca.lattice.model import Model
from plaq.dca.physics.equations import Equations, equations_of


@dataclass
class Evaluation:
    """Fixed part of the evaluation of one set of bins.

    Functions are [K, w], or [S, K, a, b, w] of a general model (plaq.dca.lattice.algebra).
    """

    model: Model
    mesh: Mesh
    K: float
    mu: float
    g0: np.ndarray  # auxiliary bath function
    sigma_0: np.ndarray | float = 0.0  # Sigma_0 of `BathData`
    target_density: float | None = None  # that mu is searched for; None where mu is given
    equations: Equations | None = None  # those of the model

    def __post_init__(self):
        if self.equations is None:
            self.equations = equations_of(self.model)

    def sample(self, w, ratio, inverse_g0):
        """Return (evaluation, m) of one jackknife sample, from the sums of the norm ``w`` and of `BathData`."""
        algebra = self.equations.algebra
        g0 = algebra.over(algebra.number(w), inverse_g0)
        green = algebra.over(ratio / w, inverse_g0 / w - self.sigma_0)
        return replace(self, g0=g0), algebra.reduced(g0 - green, g0)

    def dyson(self, m):
        """Return G and Sigma = 1/bath - 1/G of the cluster from ``m``."""
        return self.equations.algebra.dyson(self.g0, m, self.equations.shift)

    def hartree(self, density):
        """Return the correction of the Hartree term in Sigma to the density asked for.

        At self-consistency the cluster has that density. Without the correction an error dn of the cluster's density is
        an error U dn/2 of Sigma, and of mu in the loop. ``density`` is that of `Measured.correlations`.
        """
        return 0.0 if self.target_density is None else self.equations.hartree(self.target_density, density)

    def on_lattice(self, sigma):
        """Return the evaluation at the mu where the lattice with this Sigma has the density asked for."""
        if self.target_density is None:
            return self
        return replace(self, mu=find_mu(self.target_density, self.model.coarse_graining, self.mesh,
                                        self.equations.algebra.causal(sigma, self.mesh.omega), self.mu))

    def lattice_z(self, sigma):
        """Return iw + mu - Sigma on the mesh."""
        algebra, omega = self.equations.algebra, self.mesh.omega
        return algebra.at_frequencies_of(1j * omega + self.mu) - algebra.causal(sigma, omega)

    def z_at(self, sigma, constant, n):
        """Return z at the Matsubara indices n of both signs; `constant` is Sigma at infinite frequency, [K]."""
        n, algebra = np.asarray(n), self.equations.algebra
        values = algebra.at(self.mesh, sigma - constant[..., None], n) + constant[..., None]
        upper = np.where(n < 0, algebra.adjoint(values), values)
        omega = self.mesh.frequency(np.abs(n + 0.5) - 0.5)
        z = algebra.at_frequencies_of(1j * omega + self.mu) - algebra.causal(upper, omega)
        return np.where(n < 0, algebra.adjoint(z), z)
