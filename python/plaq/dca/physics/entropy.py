"""Entropy and specific heat from energies at several temperatures, by integration in beta from T = infinity.

    s(beta) = s(0) + beta k(beta) - int_0^beta k dbeta',    c = dk/dT = -beta^2 dk/dbeta,

with k = e at fixed density and k = e - mu n at fixed mu (then T ds = dk as well). k and its slope at beta = 0 are exact
(plaq.dca.physics.high_temperature). In between, k is a cubic spline in x = ln(1 + beta/b), b the `scale` of the
ensemble: x is proportional to beta where T is high and its logarithm where T is low. The spline begins with the exact
slope and ends without curvature. All results are linear in the measured energies, which carries their errors through.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from plaq.dca.physics.high_temperature import Ensemble

POINTS = 16  # Gauss-Legendre points between two temperatures
HALVED, FIRST = 4.0, 2.0  # change without a temperature, over the error with it: in general, and of the highest


@dataclass(frozen=True)
class Linear:
    """Results of one interpolation: entropy and specific heat are ``constant + matrix @ k``, [temperature]."""

    entropy: tuple[np.ndarray, np.ndarray]
    specific_heat: tuple[np.ndarray, np.ndarray]


class Integration:
    """Entropy and specific heat [temperature] from k [temperature], beta rising."""

    def __init__(self, beta: np.ndarray, ensemble: Ensemble):
        self.beta, self.ensemble = np.asarray(beta, dtype=float), ensemble
        self._smooth = self._linear(self.beta, _spline)
        self._local = self._linear(self.beta, _hermite)

    def entropy(self, k: np.ndarray) -> np.ndarray:
        """Return s."""
        return _apply(self._smooth.entropy, k)

    def specific_heat(self, k: np.ndarray) -> np.ndarray:
        """Return dk/dT."""
        return _apply(self._smooth.specific_heat, k)

    def entropy_uncertainty(self, k: np.ndarray) -> np.ndarray:
        """Return an estimate of the error of s from the finite number of temperatures.

        Squares add up: the difference to cubic Hermite interpolation with slopes of parabolas through three points,
        and the change without each temperature above, divided by 4, without the highest one by 2.
        """
        s = self.entropy(k)
        square = (s - _apply(self._local.entropy, k)) ** 2
        for left in range(len(k) - 1):
            rest = np.delete(np.arange(len(k)), left)
            without = _apply(self._linear(self.beta[rest], _spline).entropy, k[rest])
            change = np.zeros(len(k))
            change[left + 1:] = without[left:] - s[left + 1:]
            if left == 0:
                change[0] = change[1]
            square += (change / (FIRST if left == 0 else HALVED)) ** 2
        return np.sqrt(square)

    def specific_heat_uncertainty(self, k: np.ndarray) -> np.ndarray:
        """Return the difference of c to Hermite interpolation, an estimate of its error from few temperatures."""
        return np.abs(self.specific_heat(k) - _apply(self._local.specific_heat, k))

    def _linear(self, beta: np.ndarray, interpolation) -> Linear:
        e = self.ensemble
        x = np.log1p(np.append(0.0, beta) / e.scale)
        unit = interpolation(x, np.eye(len(x)), 0.0)
        exact = interpolation(x, np.eye(len(x))[:, :1] * e.energy, e.slope * e.scale)
        integral = lambda f: np.cumsum(_integrals(f, x, e.scale), axis=0)  # noqa: E731
        slope = lambda f: f(x[1:], 1) / (e.scale + beta)[:, None]  # noqa: E731
        return Linear((e.entropy - integral(exact)[:, 0], np.diag(beta) - integral(unit)[:, 1:]),
                      (-beta**2 * slope(exact)[:, 0], -beta[:, None] ** 2 * slope(unit)[:, 1:]))


def _apply(linear: tuple[np.ndarray, np.ndarray], k: np.ndarray) -> np.ndarray:
    constant, matrix = linear
    return constant + matrix @ k


def _integrals(f, x: np.ndarray, scale: float) -> np.ndarray:
    """Return int f dbeta, [interval, column], between neighbours of x = ln(1 + beta/scale)."""
    nodes, weights = np.polynomial.legendre.leggauss(POINTS)
    half = np.diff(x)[:, None] / 2
    at = (x[1:, None] + x[:-1, None]) / 2 + half * nodes
    return np.einsum("ip,ipc->ic", half * weights * scale * np.exp(at), f(at))


def _spline(x: np.ndarray, y: np.ndarray, slope: float) -> scipy.interpolate.CubicSpline:
    columns = y.shape[1]
    return scipy.interpolate.CubicSpline(x, y, bc_type=((1, np.full(columns, slope)), (2, np.zeros(columns))))


def _hermite(x: np.ndarray, y: np.ndarray, slope: float) -> scipy.interpolate.CubicHermiteSpline:
    h, rise = np.diff(x)[:, None], np.diff(y, axis=0) / np.diff(x)[:, None]
    slopes = np.empty_like(y)
    slopes[0] = slope
    slopes[1:-1] = (rise[:-1] * h[1:] + rise[1:] * h[:-1]) / (h[1:] + h[:-1])
    slopes[-1] = 2 * rise[-1] - slopes[-2]
    return scipy.interpolate.CubicHermiteSpline(x, y, slopes)
