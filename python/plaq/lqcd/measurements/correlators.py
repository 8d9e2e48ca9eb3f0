"""Masses from correlators C(t) of a lattice of T time slices."""

from __future__ import annotations

import numpy as np

from plaq.lqcd.analysis.correlator_fits import fold

# Correlators of currents with the pseudoscalar source: axial, local vector, conserved vector.
AXIAL, VECTOR, CONSERVED = "gammatgamma5_gamma5", "gammat_gamma5", "conserved_gamma5"


def effective_mass(correlator: np.ndarray) -> np.ndarray:
    r"""Return $m(t)$ with $\cosh m = (C(t-1) + C(t+1)) / 2 C(t)$ for 0 < t < T/2, from C [T].

    It is the mass of a single state in a box of length T; nan if there is no solution.
    """
    c = fold(correlator)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.arccosh((c[:-2] + c[2:]) / (2 * c[1:-1]))


def pcac_mass(correlators: np.ndarray) -> np.ndarray:
    r"""Return $m(t) = (C_{AP}(t+1) - C_{AP}(t-1)) / 4 C_{PP}(t)$ for 1 < t < T/2, away from the source.

    From [T, (PP, AP)] with $A = \bar q\gamma_0\gamma_5 q$, which changes its sign under t -> T - t.
    """
    pp, ap = correlators.T
    odd = (ap - np.roll(ap[::-1], 1)) / 2
    half = len(pp) // 2
    return (odd[3:half + 1] - odd[1:half - 1]) / (4 * fold(pp)[2:half])
