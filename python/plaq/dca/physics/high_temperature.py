"""The limit of infinite temperature, exactly: where integrals over beta begin.

Per site of the one-band Hubbard model, with f = n/2 and the variance v of the band energies over the zone:

    fixed n    k = e          s = -2 (f ln f + (1 - f) ln(1 - f))   k = e_0 n + U f^2
               dk/dbeta = -(2 v f (1 - f) + U^2 f^2 (1 - f)^2)
    fixed mu   k = e - mu n   s = ln 4                              k = U/4 - m,  m = mu - e_0
               dk/dbeta = -(v/2 + 3 U^2/16 - U m/2 + m^2/2)

e_0 is the mean band energy, 0 but for clusters with bonds from a site to itself. The slope is minus the variance of H
(of H - mu N) per site; at fixed n without the part that follows the fluctuations of N.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Ensemble:
    """Quantity that a run holds fixed while T changes, and the exact values at T = infinity, per site.

    fixed : "density" or "mu"; entropy : s; energy : k, which is e or e - mu n; slope : dk/dbeta < 0; isolated : whether
    the cluster has no bath.
    """

    fixed: str
    mu: float
    entropy: float
    energy: float
    slope: float
    isolated: bool = False

    @property
    def scale(self) -> float:
        """The beta that the energy changes within, from its slope and variance."""
        return 1 / np.sqrt(-self.slope)


def at_density(n: float, U: float, mean: float, variance: float) -> Ensemble:
    """Return the limit at fixed density; mean and variance of the band energies."""
    f = n / 2
    entropy = -2 * (f * np.log(f) + (1 - f) * np.log(1 - f))
    slope = -(2 * variance * f * (1 - f) + (U * f * (1 - f)) ** 2)
    return Ensemble("density", 0.0, float(entropy), mean * n + U * f**2, slope)


def at_mu(mu: float, U: float, mean: float, variance: float) -> Ensemble:
    """Return the limit at fixed chemical potential; mean and variance of the band energies."""
    m = mu - mean
    slope = -(variance / 2 + 3 * U**2 / 16 - U * m / 2 + m**2 / 2)
    return Ensemble("mu", mu, float(np.log(4)), U / 4 - m, slope)


def ensemble(parameters: Any) -> Ensemble:
    """Return the limit for the parameters of a run of the one-band model."""
    dca, U = parameters.dca, parameters.model.U
    mean, variance = band_moments(parameters)
    limit = at_mu(dca.mu, U, mean, variance) if dca.density is None else at_density(dca.density, U, mean, variance)
    return replace(limit, isolated=dca.isolated)


def band_moments(parameters: Any) -> tuple[float, float]:
    """Return mean and variance of the band energies: over the zone, or the momenta of an isolated cluster."""
    hopping = parameters.hopping()
    if not parameters.dca.isolated:
        return 0.0, float(sum(t**2 for t in hopping.values()))
    from plaq.dca.lattice.cluster import Cluster
    from plaq.dca.lattice.hopping import Lattice

    energies = Cluster(Lattice(hopping), parameters.model.cluster).energies
    return float(energies.mean()), float(energies.var())
