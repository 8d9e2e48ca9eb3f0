"""Grid of real frequencies, the kernel between a spectrum and Matsubara frequencies, and the Hilbert transform."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

POINTS = 501
CENTRE = 0.08  # of the grid's half width: within it the spacing is uniform, outside it grows with |omega|


@dataclass(frozen=True)
class Grid:
    """Real frequencies ``omega`` [x], ascending and symmetric, denser at 0; ``weights`` of the trapezoidal rule.

    Spectra are linear between the frequencies, and 0 beyond the ends.
    """

    omega: np.ndarray

    @classmethod
    def up_to(cls, largest: float, points: int = POINTS) -> Grid:
        """Return the grid of an odd number of points from -largest to largest."""
        x = np.linspace(-1, 1, points)
        return cls(largest * np.sinh(x * np.arcsinh(1 / CENTRE)) * CENTRE)

    @cached_property
    def weights(self) -> np.ndarray:
        steps = np.diff(self.omega)
        return 0.5 * (np.append(steps, 0.0) + np.append(0.0, steps))

    def integral(self, values: np.ndarray) -> np.ndarray:
        """Return the integral over omega, the last axis."""
        return values @ self.weights

    def matsubara_kernel(self, omega_n: np.ndarray) -> np.ndarray:
        """Return 1/(i omega_n - omega) dω as [2 n, x], real parts first: G = kernel @ A."""
        kernel = self.weights / (1j * omega_n[:, None] - self.omega)
        return np.concatenate([kernel.real, kernel.imag])

    def bosonic_kernel(self, nu: np.ndarray) -> np.ndarray:
        """Return omega^2/(omega^2 + nu^2) dω as [m, x], 1 at nu = 0: chi = kernel @ S (plaq.dca.continuation.bosonic).
        """
        square = self.omega**2
        return self.weights * np.where(nu[:, None] == 0, 1.0, square / (square + np.maximum(nu[:, None] ** 2, 1e-300)))

    @cached_property
    def _hilbert(self) -> np.ndarray:
        # By parts, with the slopes of A: int A/(z - x) dx = sum_j slope_j int_j log(z - x) dx, and the integral of log
        # over an interval is phi(z - left) - phi(z - right) with phi(y) = y log y - y. So each change of the slope
        # at x_j counts phi(z - x_j); at z = omega + i0 the logarithm of y < 0 is log|y| + i pi.
        omega = np.concatenate([[2 * self.omega[0] - self.omega[1]], self.omega, [2 * self.omega[-1] - self.omega[-2]]])
        y = self.omega[:, None] - omega
        size = np.abs(y)
        phi = y * (np.log(np.where(size > 0, size, 1.0)) + 1j * np.pi * (y < 0)) - y
        steps = np.diff(omega)
        slopes = np.zeros((len(steps), len(self.omega)))  # A is 0 at both ends
        rows = np.arange(len(self.omega))
        slopes[rows, rows] += 1 / steps[:-1]
        slopes[rows + 1, rows] -= 1 / steps[1:]
        return (phi[:, :-1] - phi[:, 1:]) @ slopes

    def retarded(self, spectrum: np.ndarray) -> np.ndarray:
        """Return int A(x)/(omega + i0 - x) dx [..., x], whose imaginary part is -pi A."""
        return spectrum @ self._hilbert.T

    def flat(self) -> np.ndarray:
        """Return the constant with the norm 1."""
        return np.full(len(self.omega), 1 / self.weights.sum())

    def gaussian(self, mean: float, variance: float) -> np.ndarray:
        """Return a Gaussian with the norm 1 on the grid, nowhere below 1e-6 of its maximum."""
        values = np.exp(-0.5 * (self.omega - mean) ** 2 / variance) + 1e-6
        return values / self.integral(values)
