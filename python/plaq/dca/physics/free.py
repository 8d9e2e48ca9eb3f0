"""U = 0, where everything is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import scipy

from plaq.data.estimate import Estimate


def energies(evaluation) -> dict[str, float]:
    """Return n, D and the energies per site of free electrons at mu, in the zone or on an isolated cluster.

    They are means over its momenta of 2 f and 2 eps f, f = 1/(exp(beta (eps - mu)) + 1).
    """
    filled = lambda eps: 2 * scipy.special.expit(evaluation.mesh.beta * (evaluation.mu - eps))
    kinetic = evaluation.model.coarse_graining.zone_mean(lambda eps: eps * filled(eps))
    n = evaluation.target_density
    if n is None:
        n = evaluation.model.coarse_graining.zone_mean(filled)
    return {"density": n, "double_occupancy": n**2 / 4, "energy_kinetic": kinetic, "energy_potential": 0.0,
            "energy": kinetic}


def without_noise(estimates: Mapping[str, Estimate], evaluation) -> dict[str, Estimate]:
    """Replace estimates at U = 0 by exact values: `energies`, and eigenvalues of the vertex, which are 0."""
    exact = {name: np.array(value) for name, value in energies(evaluation).items()}
    exact |= {name: np.zeros_like(e.mean) for name, e in estimates.items()
              if name.startswith(("lambda_", "eigenvalues_"))}
    none = {"jackknife": None, "bias": None, "note": "", "tau_int": None, "kurtosis": None, "disagreement": None}
    return {name: replace(estimates[name], mean=value, error=np.zeros_like(value), **none)
            for name, value in exact.items()}
