r"""Least squares through correlated averages, and the quality of fits.

A fit of K points y with P parameters minimises chi^2 = r^T W r of the residuals r = y - f. It is correlated, with W the
inverse of the covariance C of y, if the chain has at least ten independent measurements for each point,
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
    """Weights of a fit: ``matrix`` W and ``covariance`` C [K, K], from ``independent`` measurements."""

    matrix: np.ndarray
    covariance: np.ndarray
    independent: float
    correlated: bool


def weights(deviations: np.ndarray, error: np.ndarray, tau: float | None) -> Weights:
    """Return the weights of a fit to points with errors [K].

    ``deviations`` [measurement, K] are those of single measurements from their averages, ``tau`` is their
    autocorrelation time.
    """
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
    """chi^2 of a fit, its degrees of freedom, and its p-value.

    ``p`` is the probability of a larger chi^2 if the model is true; nan without degrees of freedom.
    """

    chi2: float
    dof: int
    p: float


def quality(residuals: np.ndarray, jacobian: np.ndarray, w: Weights) -> Quality:
    r"""Return the quality of a fit with ``residuals`` [K] at its minimum and derivatives ``jacobian`` [K, P] there.

    To first order r = R delta with R = 1 - J (J^T W J)^-1 J^T W and delta normal with covariance C, so chi^2 is a sum
    of squares of normal numbers with the weights of the eigenvalues of W R C R^T (Bruno and Sommer, arXiv:2209.14188).
    It is approximated by g chi^2_nu with the same mean and variance. If W is the inverse of C, then g = 1, nu = K - P,
    and errors of C lead to Hotelling's T^2.
    """
    chi2, dof = float(residuals @ w.matrix @ residuals), len(residuals) - jacobian.shape[1]
    if dof < 1:
        return Quality(chi2, dof, np.nan)
    if w.correlated:
        n = w.independent - 1
        return Quality(chi2, dof, float(special.fdtrc(dof, n - dof + 1, chi2 * (n - dof + 1) / (n * dof))))
    normal = jacobian.T @ w.matrix
    outside = np.eye(len(residuals)) - jacobian @ np.linalg.pinv(normal @ jacobian) @ normal
    product = w.matrix @ outside @ w.covariance @ outside.T
    mean, square = np.trace(product), np.trace(product @ product)
    return Quality(chi2, dof, float(special.chdtrc(mean**2 / square, chi2 * mean / square)))
