"""Compressibility and entropy from mu(n, T) or n(mu, T) of several runs: the second way to the entropy.

    ds/dn|_T = -dmu/dT|_n,    ds/dmu|_T = dn/dT|_mu,    dn/dmu at constant T.

The derivative with respect to T uses what is exact at beta = 0: beta mu = ln(f/(1 - f)) at fixed density, f the filling
of a spin-orbital, and n = 1 per orbital at fixed mu. In between there are cubic splines in x = ln(1 + beta/b), and in n
or mu. All but 1/(dmu/dn) is linear in the data; errors of different runs and temperatures count as independent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

END = {"natural": lambda n: (2, np.zeros(n)), "not-a-knot": lambda n: "not-a-knot"}


@dataclass(frozen=True)
class Grid:
    """Data [filling, T] of several runs, beta rising, at the values ``x`` [filling], rising, of n or mu.

    fixed : "density" or "mu"; y, error : mu or n; scale : b; start : [filling] value at beta = 0 of beta mu or n.
    """

    fixed: str
    x: np.ndarray
    beta: np.ndarray
    y: np.ndarray
    error: np.ndarray
    scale: float
    start: np.ndarray

    def compressibility(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return dn/dmu, its error and an estimate of that from few values of n or mu, [filling, T].

        It is the slope of the parabola through three neighbours, of the line through two at the ends; the last is the
        difference to a cubic spline.
        """
        matrix = np.gradient(np.eye(len(self.x)), self.x, axis=0)
        spline = scipy.interpolate.CubicSpline(self.x, np.eye(len(self.x)))(self.x, 1)
        slope, error = matrix @ self.y, np.sqrt(matrix**2 @ self.error**2)
        width = np.abs(spline @ self.y - slope)
        return (slope, error, width) if self.fixed == "mu" else (1 / slope, error / slope**2, width / slope**2)

    def entropy_change(self, reference: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return s - s[reference], its error and an estimate of that from few fillings and temperatures, [filling, T].

        The last has the difference of the integral to one of monotone cubics, and the change by another condition at
        the lowest temperature; their squares add up.
        """
        slope, error = self._slope("natural")
        sign = 1 if self.fixed == "mu" else -1
        matrix = _integrals(scipy.interpolate.CubicSpline(self.x, np.eye(len(self.x))), self.x, reference)
        rough = _integrals(scipy.interpolate.PchipInterpolator(self.x, slope), self.x, reference)
        change = matrix @ slope
        other = matrix @ self._slope("not-a-knot")[0]
        return sign * change, np.sqrt(matrix**2 @ error**2), np.hypot(change - rough, change - other)

    def _slope(self, end: str) -> tuple[np.ndarray, np.ndarray]:
        """Return dmu/dT or dn/dT and its error, [filling, T]; ``end`` : of the spline at the lowest T."""
        beta, x = self.beta, np.log1p(np.append(0.0, self.beta) / self.scale)
        spline = scipy.interpolate.CubicSpline(x, np.eye(len(x)), bc_type=("not-a-knot", END[end](len(x))))
        by_beta = spline(x[1:], 1) / (self.scale + beta)[:, None]  # [T, known value]
        if self.fixed == "mu":  # dn/dT = -beta^2 dn/dbeta
            known, matrix = self.y, -beta[:, None] ** 2 * by_beta
            data = matrix[:, 1:]
        else:  # with alpha = beta mu: dmu/dT = alpha - beta dalpha/dbeta
            known, matrix = self.y * beta, -beta[:, None] * by_beta
            matrix[:, 1:] += np.eye(len(beta))
            data = matrix[:, 1:] * beta
        slope = np.outer(self.start, matrix[:, 0]) + known @ matrix[:, 1:].T
        return slope, np.sqrt(self.error**2 @ (data**2).T)


def _integrals(curve, x: np.ndarray, reference: int) -> np.ndarray:
    whole = curve.antiderivative()(x)
    return whole - whole[reference]
