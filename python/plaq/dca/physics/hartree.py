"""Hartree potential of a general interaction."""

from __future__ import annotations

import numpy as np


def potential(interaction, density: np.ndarray) -> np.ndarray:
    """Return the potential [spin, a] that densities [spin, a] make, in every cell."""
    out = np.zeros(density.shape)
    for p in interaction.pairs:
        out[p.spin_a, p.a] += p.value * density[p.spin_b, p.b]
        out[p.spin_b, p.b] += p.value * density[p.spin_a, p.a]
    return out


def on_diagonal(values: np.ndarray, spins: int) -> np.ndarray:
    """Return [spin, a] as a matrix of the stored spins, [S, 1, a, b]."""
    return values[:spins, None, :, None] * np.eye(values.shape[1])


def uniform(hamiltonian, filling: float) -> np.ndarray:
    """Return the potential of ``filling`` electrons per cell in all orbitals alike, as a matrix [S, 1, a, b].

    In a spinor it is times the charges of the components.
    """
    orbitals = len(hamiltonian.orbitals)
    density = np.full((2, orbitals), filling / (2 * orbitals))
    electrons = potential(hamiltonian.interaction, density)
    if hamiltonian.order is not None:
        electrons = electrons[:, :1] * np.array(hamiltonian.order.tau)
    return on_diagonal(electrons, hamiltonian.spins)
