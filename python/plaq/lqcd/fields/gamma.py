r"""Gamma matrices, Euclidean and hermitian, in the basis of openQCD and tmLQCD.

$\gamma_\mu = \begin{pmatrix} 0 & e_\mu \\ e_\mu^+ & 0 \end{pmatrix}$ with $e_0 = -1$, $e_k = -i\sigma_k$ for the
directions t, x, y, z, and $\gamma_5 = \gamma_0\gamma_1\gamma_2\gamma_3 = \mathrm{diag}(1, 1, -1, -1)$.

C++ has them in src/plaq/lqcd/lattice/gamma.hpp. `DEGRAND_ROSSI` and `to_basis` change to the basis of Chroma, QDP++
and Grid.
"""

from __future__ import annotations

import numpy as np

from plaq.errors import InputError

_PAULI = np.array([[[0, 1], [1, 0]], [[0, -1j], [1j, 0]], [[1, 0], [0, -1]]])


def _chiral(blocks) -> np.ndarray:
    """Return (0, e; e^+, 0) for each e."""
    out = np.zeros((len(blocks), 4, 4), complex)
    out[:, :2, 2:] = blocks
    out[:, 2:, :2] = np.conj(np.swapaxes(blocks, 1, 2))
    return out


GAMMA = _chiral(np.array([-np.eye(2), *(-1j * _PAULI)]))
"""[mu, row, column], mu = t, x, y, z."""

GAMMA5 = GAMMA[0] @ GAMMA[1] @ GAMMA[2] @ GAMMA[3]

STRUCTURES = {
    "1": np.eye(4, dtype=complex),
    "gamma5": GAMMA5,
    **{f"gamma{name}": matrix for name, matrix in zip("txyz", GAMMA)},
    **{f"gamma{name}gamma5": matrix @ GAMMA5 for name, matrix in zip("txyz", GAMMA)},
    **{f"sigma{a}{b}": GAMMA[i] @ GAMMA[j] for i, a in enumerate("txyz") for j, b in enumerate("txyz") if i < j},
}
"""{name: matrix}: sixteen that span all 4 x 4 matrices; sigma_ab is gamma_a gamma_b."""


DEGRAND_ROSSI = GAMMA[2]
"""S: in the DeGrand-Rossi basis spinors are S psi and matrices S Gamma S^+. That basis has e_t = 1, e_x = i sigma_1,
e_y = -i sigma_2, e_z = i sigma_3, so S changes the signs of all gamma matrices but gamma_y; gamma_5 = gamma_x
gamma_y gamma_z gamma_t there is diag(1, 1, -1, -1) again."""


BASES = {"tmlqcd": np.eye(4, dtype=complex), "degrand-rossi": DEGRAND_ROSSI}
"""{name: S} of the bases that files and `basis` know; spinors there are S psi.
"tmlqcd" is plaq's own and openQCD's."""


def basis(name: str) -> np.ndarray:
    """Return S of `BASES`; InputError for an unknown name."""
    if name not in BASES:
        raise InputError(f"the basis of spins {name!r} is not one of {', '.join(BASES)}")
    return BASES[name]


def to_basis(change: np.ndarray, spinors: np.ndarray, axis: int = -2) -> np.ndarray:
    """Return S psi for arrays of spinors with spins in ``axis``, by default [..., spin, colour].

    ``change.conj().T`` is the inverse.
    """
    return np.moveaxis(np.tensordot(change, spinors, axes=(1, axis)), 0, axis)
