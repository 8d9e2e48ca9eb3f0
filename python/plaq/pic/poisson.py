"""The electrostatic field of charges on the mesh, by Fourier and sine transforms.

φ at the nodes: -Δφ = ρ with the three-point Laplacian; E_c = -(φ(i+1) - φ(i))/Δ_c at the middles of edges, so that the discrete
div E = ρ holds at every node, up to the mean of ρ where all directions are periodic. φ = 0 at sides that are not periodic, which
are conductors (those that absorb waves end in one).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import fft


def electrostatic(rho: np.ndarray, spacing: Sequence[float], periodic: Sequence[bool]) -> np.ndarray:
    """E [D, x, y, z] of rho [x, y, z] at the nodes. In a direction that is not periodic the node 0 lies on the low side, and its
    charge, which is on the conductor, does not count; the high side is one cell behind the last node."""
    inner = tuple(slice(None) if around else slice(1, None) for around in periodic)
    values = rho[inner]
    total = np.zeros(values.shape)
    for d, (around, h) in enumerate(zip(periodic, spacing)):
        n = rho.shape[d]
        angle = 2 * np.pi * np.arange(n) / n if around else np.pi * np.arange(1, n) / n
        shape = [1] * rho.ndim
        shape[d] = len(angle)
        total = total + ((2 - 2 * np.cos(angle)) / h**2).reshape(shape)
        values = fft.fft(values, axis=d) if around else fft.dst(values, type=1, axis=d)
    values = np.divide(values, total, out=np.zeros_like(values), where=total > 0)
    for d, around in enumerate(periodic):
        values = fft.ifft(values, axis=d) if around else fft.idst(values, type=1, axis=d)
    potential = np.zeros(rho.shape)
    potential[inner] = np.real(values)
    field = np.zeros((rho.ndim, *rho.shape))
    for d, (around, h) in enumerate(zip(periodic, spacing)):
        behind = np.roll(potential, -1, axis=d)
        if not around:
            behind[(slice(None),) * d + (-1,)] = 0.0  # the conductor
        field[d] = (potential - behind) / h
    return field
