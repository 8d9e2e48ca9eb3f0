"""Response of the lattice at any momentum transfer q, from the irreducible vertex of the cluster.

Notation and normalisation: plaq.dca.physics.bethe_salpeter. The vertex of the cluster at Q, the momentum nearest to q,
is that of the lattice at q; chi0 is the bubble of the lattice at q itself (plaq.dca.lattice.bubble):
    chi(q, inu) = T/N_c sum_kk' f(k) [1/(1/chi0 - Gamma)]_kk' f(k').

Frequencies outside the window. There Gamma is the bare interaction u, between these frequencies and with those
inside, which is right up to terms that fall as the window grows. Then all frequencies outside act as one more row of
the matrices: its chi0 is X, the sum of chi0 outside, and its vertex with every row is u. From G4 in the window follows
    Gamma = chi0_cluster^-1 - G4^-1 - u^2 X_cluster / (1 - u X_cluster).
Source: J. Kunes, Phys. Rev. B 83, 085102 (2011).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from plaq.dca.physics import bethe_salpeter

BARE = {"pp": -1, "charge": -1, "magnetic": 1}  # times U/(beta N_c): bare interaction in each channel
FOLLOWING = 3  # steps of an iteration that is exact to rounding after two or three
NODES = np.array([1.0, 1.5, 2.2, 3.5, 8.0])  # frequencies, over the first, that give the sum of those beyond


@dataclass(frozen=True)
class Window:
    """Fermionic frequencies of a two-particle function, and their partners at the bosonic index m.

    n : those inside, -window to window - 1; far : index from which sums have their asymptotic form.
    """

    window: int
    m: int
    pairs: bool
    far: int

    @property
    def n(self) -> np.ndarray:
        return np.arange(-self.window, self.window)

    def partner(self, n: np.ndarray) -> np.ndarray:
        """Return the index of inu - iw for pairs, else of iw + inu."""
        return self.m - 1 - n if self.pairs else n + self.m

    def sum_outside(self, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return the sum of function(n) [..., n] over all n outside, from few of them where the function is smooth.

        function(n) + function(n'), n' the mirror image at -+nu/2, is a power series in 1/(w +- nu/2)^2 far outside.
        """
        turn = -self.m if self.pairs else self.m
        far = max(self.far, self.window + abs(self.m))
        x = far + 0.5 + turn / 2 + np.rint((NODES - 1) * far)  # frequencies over 2 pi T
        powers = np.arange(1, len(x) + 1)
        whole = x[0] ** (2.0 * powers) * scipy.special.zeta(2 * powers, x[0])  # sums of (x0/x)^2p
        weights = np.linalg.solve((x / x[0]) ** (-2.0 * powers[:, None]), whole)
        above = np.rint(x - 0.5 - turn / 2).astype(int)
        near = [np.arange(self.window, far), np.arange(-far - turn, -self.window)]
        n = np.concatenate([*near, above, -above - 1 - turn])
        each = np.concatenate([np.ones(len(n) - 2 * len(x)), weights, weights])
        return function(n) @ each


def bordered(inside: np.ndarray, edge: complex) -> np.ndarray:
    """Return the matrix with one more row and column of the number ``edge``."""
    return np.pad(inside, (0, 1), constant_values=edge)


def vertex(g4: np.ndarray, chi0: np.ndarray, outside: complex, bare: float) -> np.ndarray:
    """Return Gamma with one more row for the frequencies outside, from functions of the cluster.

    g4 : ``[k, k']``; chi0 : ``[k]``; outside : sum of chi0 over k outside; bare : the interaction there.
    """
    inside = bethe_salpeter.irreducible_vertex(g4, chi0) - bare**2 * outside / (1 - bare * outside)
    return bordered(inside, bare)


@dataclass(frozen=True)
class Sums:
    """Bubble of the lattice at q, with one more row for the frequencies outside: chi0 [k + 1], and with form factors.

    linear : [f, k + 1] of f chi0; square : [f] sum of f^2 chi0, over all k; f = 1 comes first.
    """

    chi0: np.ndarray
    linear: np.ndarray
    square: np.ndarray

    @classmethod
    def of(cls, inside: np.ndarray, outside: np.ndarray) -> Sums:
        """Return the sums from patch means with (1, f, f^2, ...) inside, [1 + 2 f, k], and their sums outside."""
        rows = np.concatenate([inside.reshape(len(inside), -1), outside[:, None]], axis=1)
        return cls(rows[0], np.concatenate([rows[:1], rows[1::2]]), np.concatenate([rows[:1], rows[2::2]]).sum(axis=1))


def susceptibilities(gamma: np.ndarray, sums: Sums) -> np.ndarray:
    """Return sum_kk' f G4 f [f] on the lattice.

    With h = <f chi0>/<chi0> it is sum <f^2 chi0> - sum h^2 <chi0> + h G4 h: exact in the bubble, with h for f in the
    vertex part.
    """
    h = sums.linear / sums.chi0
    full = np.linalg.solve(np.diag(1 / sums.chi0) - gamma, h.T)
    return sums.square - np.einsum("fk,fk->f", h, sums.linear) + np.einsum("fk,kf->f", h, full)


@dataclass(frozen=True)
class Spectrum:
    """Leading physical eigenvalue of Gamma chi0 with its right eigenvector [k + 1].

    above_one : number of eigenvalues with a real part above 1.
    """

    value: complex
    vector: np.ndarray
    above_one: int

    @classmethod
    def of(cls, gamma: np.ndarray, chi0: np.ndarray, skip: int = 0) -> Spectrum:
        """Return the leading eigenvalue beside the ``skip`` largest ones, which divergences of the vertex make.

        It has the largest Re - |Im|: the response of a complex pair does not diverge where its real part is 1.
        """
        values, vectors = np.linalg.eig(gamma * chi0)
        rest = np.argsort(-values.real, kind="stable")[min(skip, len(values) - 1):]
        first = rest[np.argmax(values[rest].real - np.abs(values[rest].imag))]
        return cls(values[first], vectors[:, first], int(np.count_nonzero(values.real > 1)))

    def follow(self, gamma: np.ndarray, chi0: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the eigenvalue (real part) and vector that continue these for other data, the largest entry 1.

        Two steps of Rayleigh's iteration, which converges as the third power: with v the right eigenvector, chi0 v is
        the left one, as Gamma is symmetric. NaN where it has no solution.
        """
        vector, weighted = self.vector, chi0[:, None] * gamma * chi0
        for _ in range(FOLLOWING):
            value = rayleigh(vector, weighted, chi0)
            try:
                vector = np.linalg.solve(weighted - value * np.diag(chi0), chi0 * vector)
            except np.linalg.LinAlgError:  # an eigenvalue to the last bit
                break
            vector = vector / vector[np.abs(vector).argmax()]
        vector = vector / vector[:-1][np.abs(vector[:-1]).argmax()]
        return rayleigh(vector, weighted, chi0).real, vector


def rayleigh(vector: np.ndarray, weighted: np.ndarray, chi0: np.ndarray) -> complex:
    return (vector @ weighted @ vector) / (vector * chi0 @ vector)
