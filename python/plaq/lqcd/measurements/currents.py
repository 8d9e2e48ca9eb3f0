r"""Conserved vector current of Wilson quarks, and its Ward identity on a configuration.

$V_\mu(x) = \frac12[\bar\psi(x+\mu)(1+\gamma_\mu)U_\mu^+(x)\psi(x) - \bar\psi(x)(1-\gamma_\mu)U_\mu(x)\psi(x+\mu)]$.
Between quarks of one kappa, an antiquark of the twisted mass -mu' and a quark of mu, the divergence away from the
source is $\sum_{\mathbf x}[V_0(t) - V_0(t-1)] = -i(\mu + \mu')\sum_{\mathbf x}P(t)$, exactly on every configuration
(Frezzotti, Grassi, Sint and Weisz, hep-lat/0101001).
"""

from __future__ import annotations

import numpy as np

from plaq.lqcd.fields import gamma
from plaq.lqcd.fields.gauge_field import GaugeField
from plaq.lqcd.fields.propagators import Propagator
from plaq.lqcd.measurements.mesons import contract, gamma_matrix, spin_products


def conserved_correlator(gauge: GaugeField, quark: Propagator, antiquark: Propagator, source: str | np.ndarray,
                         mu: int = 0) -> np.ndarray:
    """Return the correlator [t] of V_mu and the structure ``source``, as `mesons.meson_correlator` has it, complex.

    For mu = 0 it is the current from t to t + 1, t from the source. Collective.
    """
    one, structure = np.eye(4), gamma.GAMMA[mu]
    at_source = gamma_matrix(source)
    lattice, site = quark.lattice, quark.source
    ahead = spin_products(lattice, site, quark.fields(), antiquark.transport(gauge, mu))[0]
    back = spin_products(lattice, site, quark.transport(gauge, mu), antiquark.fields())[0]
    return (contract(ahead, one + structure, at_source) - contract(back, one - structure, at_source)) / 2


def ward_violation(current: np.ndarray, pseudoscalar: np.ndarray, mass: float) -> float:
    """Return the largest violation of the Ward identity away from the source, over the sum of C_PP.

    ``current`` and ``pseudoscalar`` [t] are correlators with the pseudoscalar source, ``mass`` is mu + mu'.
    """
    divergence = current - np.roll(current, 1) + 1j * mass * pseudoscalar
    return float(np.abs(divergence[1:]).max() / np.abs(pseudoscalar).sum())
