"""Masses from correlators C(t) of a lattice of T time slices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from plaq.data.recorded import Recorded
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


def exponential_mass(correlator: np.ndarray) -> np.ndarray:
    """Return ln C(t) / C(t+1), from C [T] modulo T; nan where the sign changes."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.log(correlator / np.roll(correlator, -1))


def pcac_mass(correlators: np.ndarray) -> np.ndarray:
    r"""Return $m(t) = (C_{AP}(t+1) - C_{AP}(t-1)) / 4 C_{PP}(t)$ for 1 < t < T/2, away from the source.

    From [T, (PP, AP)] with $A = \bar q\gamma_0\gamma_5 q$, which changes its sign under t -> T - t.
    """
    pp, ap = correlators.T
    odd = (ap - np.roll(ap[::-1], 1)) / 2
    half = len(pp) // 2
    return (odd[3:half + 1] - odd[1:half - 1]) / (4 * fold(pp)[2:half])


def forward_pcac_mass(correlators: np.ndarray) -> np.ndarray:
    """Return `pcac_mass` for 1 < t < n - 1 from [n, (PP, AP)] of quarks that do not come round the lattice."""
    pp, ap = correlators.T
    return (ap[3:] - ap[1:-2]) / (4 * pp[2:-1])


def forward_part(series: Mapping[str, Recorded]) -> tuple[dict[str, Recorded], bool]:
    """Return series [configuration, t, ...], and whether they are of open boundaries in time.

    Of these only times from the source on are left, on slices with quarks, which the last one has not.
    """
    found = {}
    for name, one in series.items():
        time = one.axes[1] if len(one.axes) > 1 else None
        if time is None or time.values[0] >= 0:
            found[name] = one
            continue
        kept = slice(-int(time.values[0]), -1)
        found[name] = replace(one, values=one.values[:, kept],
                              axes=(one.axes[0], replace(time, values=time.values[kept]), *one.axes[2:]))
    return found, any(found[name] is not one for name, one in series.items())
