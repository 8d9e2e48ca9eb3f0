"""Algebra of functions of (K, iw): numbers of one band, or matrices of spins and orbitals.

A function of one band is [K, w], where up and down are equal. One of a general model is [S, K, a, b, w], a matrix in
the orbitals a, b for each of S stored spins. Either may have further axes in front, as those of samples. Functions obey
f(-iw) = f(iw)^dagger. Only functions of R are real in imaginary time, so that matrices are fitted cell by cell.
"""

from __future__ import annotations

import numpy as np

CAUSAL = 0.1  # Im Sigma over w that lattice functions bear: coarse graining is good to 1e-8 up to 0.2


class Scalars:
    """Functions [..., K, w] of one band: products and inverses are those of numbers."""

    axes = 2  # of a function, the last ones

    def number(self, x) -> np.ndarray:
        """Return the number x [...], or the values x [..., w] with a last axis of frequencies, as a function."""
        return np.asarray(x)[..., None, None]

    def at_frequencies_of(self, x: np.ndarray) -> np.ndarray:
        """Return x [w], the same for all K, as a function that broadcasts."""
        return x

    def times(self, a, b):
        """Return the product a b."""
        return a * b

    def inverse(self, f: np.ndarray) -> np.ndarray:
        """Return 1/f."""
        return 1 / f

    def over(self, a, b) -> np.ndarray:
        """Return a b^-1."""
        return a / b

    def reduced(self, f: np.ndarray, g: np.ndarray) -> np.ndarray:
        """Return g^-1 f g^-1."""
        return f / g**2

    def adjoint(self, f: np.ndarray) -> np.ndarray:
        """Return f(-iw) from f(iw)."""
        return f.conj()

    def diagonal(self, f: np.ndarray) -> np.ndarray:
        """Return the diagonal elements, [..., K, w]."""
        return f

    def dyson(self, g0: np.ndarray, m: np.ndarray, shift) -> tuple[np.ndarray, np.ndarray]:
        """Return G = G0 - G0 m G0 and Sigma = 1/bath - 1/G = shift - m (1 - G0 m)^-1, with 1/G0 = 1/bath - shift.

        This form of Sigma has no cancellation of large numbers at high frequency.
        """
        return g0 - g0**2 * m, shift - m / (1 - g0 * m)

    def causal(self, sigma: np.ndarray, omega: np.ndarray) -> np.ndarray:
        """Return Sigma with Im Sigma <= w/10 at w > 0, for which lattice functions exist.

        Every exact Sigma has Im Sigma <= 0. Noise around 0 stays: with a cut at 0 its mean would differ from 0, and
        jackknife samples would be cut differently from their mean.
        """
        return sigma.real + 1j * np.minimum(sigma.imag, CAUSAL * omega)

    def fitted(self, mesh, f: np.ndarray) -> np.ndarray:
        """Return f projected on the basis of the mesh."""
        return mesh.evaluate(mesh.fit(f))

    def at(self, mesh, f: np.ndarray, n) -> np.ndarray:
        """Return f, which decays, at the Matsubara indices n of both signs, from values on the mesh."""
        return mesh.at_frequencies(f, n)

    def equal_time(self, mesh, g: np.ndarray) -> np.ndarray:
        """Return <c+ c> from G, without the axis of frequencies."""
        return mesh.equal_time(g)


class Matrices:
    """Functions [..., S, K, a, b, w] of a general model: products and inverses are those of matrices in (a, b).

    cluster : its Fourier matrix leads from K to the cells, where functions of imaginary time are real.
    """

    axes = 5

    def __init__(self, cluster, orbitals: int):
        self._to_momenta, self._size = cluster.fourier, cluster.size
        self._unit = np.eye(orbitals)[..., None]

    def number(self, x) -> np.ndarray:
        """Return the number x [...] times the unit matrix, as a function."""
        return np.asarray(x)[(..., *[None] * self.axes)] * self._unit

    def at_frequencies_of(self, x: np.ndarray) -> np.ndarray:
        """Return x [w] times the unit matrix, the same for all spins and K, as a function that broadcasts."""
        return x * self._unit

    def times(self, a, b):
        """Return the product a b; either may be a number."""
        if np.ndim(a) == 0 or np.ndim(b) == 0:
            return a * b
        return np.einsum("...abw,...bcw->...acw", a, b)

    def inverse(self, f: np.ndarray) -> np.ndarray:
        """Return f^-1."""
        if f.shape[-2] == 1:
            return 1 / f
        return np.moveaxis(np.linalg.inv(np.moveaxis(f, -1, -3)), -3, -1)

    def over(self, a, b) -> np.ndarray:
        """Return a b^-1."""
        return self.times(a, self.inverse(b))

    def reduced(self, f: np.ndarray, g: np.ndarray) -> np.ndarray:
        """Return g^-1 f g^-1."""
        inverse = self.inverse(g)
        return self.times(self.times(inverse, f), inverse)

    def adjoint(self, f: np.ndarray) -> np.ndarray:
        """Return f(-iw) from f(iw)."""
        return np.swapaxes(f, -3, -2).conj()

    def diagonal(self, f: np.ndarray) -> np.ndarray:
        """Return the diagonal elements, [..., S, K, a, w]."""
        return np.einsum("...aaw->...aw", f)

    def dyson(self, g0: np.ndarray, m: np.ndarray, shift) -> tuple[np.ndarray, np.ndarray]:
        """Return G and Sigma as `Scalars.dyson`, as matrices."""
        x = self.times(g0, m)
        return g0 - self.times(x, g0), shift - self.over(m, self._unit - x)

    def causal(self, sigma: np.ndarray, omega: np.ndarray) -> np.ndarray:
        """Return Sigma whose antihermitian part over i has no eigenvalue above w/10, as `Scalars.causal`."""
        adjoint = self.adjoint(sigma)
        hermitian, part = (sigma + adjoint) / 2, (sigma - adjoint) / 2j
        if part.shape[-2] == 1:
            return hermitian + 1j * np.minimum(part.real, CAUSAL * omega)
        values, vectors = np.linalg.eigh(np.moveaxis(part, -1, -3))
        excess = np.maximum(values - CAUSAL * omega[:, None], 0)
        if not excess.any():
            return sigma
        cut = np.einsum("...wai,...wi,...wbi->...abw", vectors, excess, vectors.conj())
        return sigma - 1j * cut

    def fitted(self, mesh, f: np.ndarray) -> np.ndarray:
        """Return f projected on the basis of the mesh, cell by cell."""
        return self.to_momenta(mesh.evaluate(mesh.fit(self.to_cells(f))))

    def at(self, mesh, f: np.ndarray, n) -> np.ndarray:
        """Return f, which decays, at the Matsubara indices n of both signs, from values on the mesh."""
        return self.to_momenta(mesh.at_frequencies(self.to_cells(f), n))

    def equal_time(self, mesh, g: np.ndarray) -> np.ndarray:
        """Return <c+_b c_a> from G_ab, without the axis of frequencies."""
        return self.to_momenta(mesh.equal_time(self.to_cells(g))[..., None])[..., 0]

    def to_cells(self, f: np.ndarray) -> np.ndarray:
        """Return f(R) = 1/N_c sum_K exp(i K.R) f(K), [..., S, R, a, b, w]."""
        return np.einsum("kr,...kabw->...rabw", self._to_momenta.conj(), f) / self._size

    def to_momenta(self, f: np.ndarray) -> np.ndarray:
        """Return f(K) = sum_R exp(-i K.R) f(R), [..., S, K, a, b, w]."""
        return np.einsum("kr,...rabw->...kabw", self._to_momenta, f)


SCALARS = Scalars()
