r"""Least squares through averages that are correlated, and what chi^2 says of them.

A fit of K points y with P parameters minimises chi^2 = r^T W r of the residuals r = y - f. It is correlated, with W the
inverse of the covariance C of y, where the chain has at least ten independent measurements for each point,
N / (2 tau_int) >= 10 K. Else W has the inverse squares of the errors alone, since the inverse of a covariance from
fewer measurements has errors that bias the fit (Michael and McKerrell, hep-lat/9412087). C has the errors by jackknife
and the correlations of single measurements.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

INDEPENDENT = 10  # measurements for each point of a correlated fit
WORST_CONDITION = 1e10  # of the correlations


@dataclass(frozen=True)
class Weights:
    """``matrix`` W and ``covariance`` C [K, K], from so many ``independent`` measurements."""

    matrix: np.ndarray
    covariance: np.ndarray
    independent: float
    correlated: bool


def weights(deviations: np.ndarray, error: np.ndarray, tau: float | None) -> Weights:
    """Weights of a fit to points with these errors [K], whose single measurements deviate from their averages by
    [measurement, K] and have the autocorrelation time ``tau``."""
    size = np.linalg.norm(deviations, axis=0)
    unit = deviations / np.where(size > 0, size, 1.0)
    correlation = unit.T @ unit
    np.fill_diagonal(correlation, 1.0)
    covariance = correlation * np.outer(error, error)
    independent = len(deviations) / max(1.0, 2 * (tau or 0.5))
    correlated = independent >= INDEPENDENT * len(error) and np.linalg.cond(correlation) < WORST_CONDITION
    matrix = np.linalg.inv(correlation) / np.outer(error, error) if correlated else np.diag(error**-2.0)
    return Weights(matrix, covariance, independent, bool(correlated))


@dataclass(frozen=True)
class Quality:
    """chi^2 of a fit, its degrees of freedom, and ``p``, the probability that it is at least that large if the model
    is true; nan where there is no degree of freedom."""

    chi2: float
    dof: int
    p: float


def quality(residuals: np.ndarray, jacobian: np.ndarray, w: Weights) -> Quality:
    r"""Of a fit with ``residuals`` [K] at its minimum and derivatives ``jacobian`` [K, P] of the model there.

    To first order r = R delta with R = 1 - J (J^T W J)^-1 J^T W and delta normal with covariance C, so chi^2 is a sum
    of squares of normal numbers with the weights of the eigenvalues of W R C R^T (Bruno and Sommer, arXiv:2209.14188).
    It is taken for g chi^2_nu with the same mean and variance; if W is the inverse of C that is g = 1, nu = K - P, and
    the errors of C make it Hotelling's T^2.
    """
    chi2, dof = float(residuals @ w.matrix @ residuals), len(residuals) - jacobian.shape[1]
    if dof < 1:
        return Quality(chi2, dof, np.nan)
    if w.correlated:
        n = w.independent - 1
        return Quality(chi2, dof, float(special.fdtrc(dof, n - dof + 1, chi2 * (n - dof + 1) / (n * dof))))
    normal = jacobian.T @ w.matrix
    outside = np.eye(len(residuals)) - jacobian @ np.linalg.pinv(normal @ jacobian) @ normal
    spread = w.matrix @ outside @ w.covariance @ outside.T
    mean, square = np.trace(spread), np.trace(spread @ spread)
    return Quality(chi2, dof, float(special.chdtrc(mean**2 / square, chi2 * mean / square)))
