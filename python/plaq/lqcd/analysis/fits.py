r"""Weights of least squares through correlated averages, and the quality of fits.

A fit of K points y with P parameters minimises chi^2 = r^T W r of the residuals r = y - f. C is the covariance of y: it
has the errors by jackknife and the correlations R of single measurements. W is one of

    correlated    C^-1
    shrunk        the inverse of C with R replaced by (1 - s) R + s 1, where s = sum var(R_ij) / sum R_ij^2 (i != j) has
                  the least expected error (Schaefer and Strimmer, Stat. Appl. Genet. Mol. Biol. 4, 32 (2005))
    svd           the inverse of C with eigenvalues of R below the sqrt(K / n)-th part of the largest replaced by that;
                  n measurements do not tell them from zero
    uncorrelated  the inverse squares of the errors

By default a fit is correlated if the chain has at least ten independent measurements for each point, n = N / (2
tau_int) >= 10 K, and uncorrelated otherwise, since the inverse of a covariance from fewer measurements has errors that
bias the fit (Michael and McKerrell, hep-lat/9412087). Whatever W, p takes the correlations C into account.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from plaq.errors import InputError

INDEPENDENT = 10  # measurements for each point of a correlated fit
WORST_CONDITION = 1e10  # of the correlations
WEIGHTINGS = ("auto", "correlated", "shrunk", "svd", "uncorrelated")


@dataclass(frozen=True)
class Weights:
    """Weights of a fit: ``matrix`` W and ``covariance`` C [K, K], from ``independent`` measurements.

    ``kind`` is one of `WEIGHTINGS` but "auto".
    """

    matrix: np.ndarray
    covariance: np.ndarray
    independent: float
    kind: str

    @property
    def correlated(self) -> bool:
        """Whether W is the inverse of C."""
        return self.kind == "correlated"

    def part(self, chosen: slice) -> Weights:
        """Return the weights of the same kind for some of the points."""
        covariance = self.covariance[chosen, chosen]
        return from_covariance(covariance, self.independent, self.kind)


def weights(deviations: np.ndarray, error: np.ndarray, tau: float | None, kind: str = "auto") -> Weights:
    """Return the weights of a fit to points with errors [K].

    ``deviations`` [measurement, K] are those of single measurements from their averages, ``tau`` is their
    autocorrelation time. InputError for correlations whose inverse is rounding.
    """
    size = np.linalg.norm(deviations, axis=0)
    unit = deviations / np.where(size > 0, size, 1.0)
    correlation = unit.T @ unit
    np.fill_diagonal(correlation, 1.0)
    independent = len(deviations) / max(1.0, 2 * (tau or 0.5))
    if kind == "auto":
        many = independent >= INDEPENDENT * len(error) and np.linalg.cond(correlation) < WORST_CONDITION
        kind = "correlated" if many else "uncorrelated"
    return from_covariance(correlation * np.outer(error, error), independent, kind)


def from_covariance(covariance: np.ndarray, independent: float, kind: str) -> Weights:
    """Return the weights of a kind, from the covariance by so many independent measurements."""
    if kind not in WEIGHTINGS[1:]:
        raise InputError(f"the weighting {kind!r} is not one of {', '.join(WEIGHTINGS)}")
    error = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(error, error)
    if kind == "uncorrelated":
        return Weights(np.diag(error**-2.0), covariance, independent, kind)
    if kind == "shrunk":
        correlation = shrunk(correlation, independent)
    elif kind == "svd":
        values, vectors = np.linalg.eigh(correlation)
        least = values[-1] * np.sqrt(len(error) / independent)
        correlation = vectors * np.maximum(values, least) @ vectors.T
    if not np.linalg.cond(correlation) < WORST_CONDITION:
        raise InputError(f"a correlated fit of {len(error)} points needs correlations that can be inverted, and "
                         f"{independent:.0f} independent measurements do not give them: take fewer points, or the "
                         'weighting "shrunk"')
    return Weights(np.linalg.inv(correlation) / np.outer(error, error), covariance, independent, kind)


def shrunk(correlation: np.ndarray, independent: float) -> np.ndarray:
    """Return correlations moved towards zero by the best part."""
    apart = ~np.eye(len(correlation), dtype=bool)
    squares = float((correlation[apart]**2).sum())
    variances = float(((1 - correlation[apart]**2)**2).sum()) / max(independent - 1, 1)
    part = min(1.0, variances / squares) if squares > 0 else 1.0
    return np.where(apart, (1 - part) * correlation, correlation)


@dataclass(frozen=True)
class Quality:
    """chi^2 of a fit, its degrees of freedom, its p-value, and the chi^2 to expect.

    ``p`` is the probability of a larger chi^2 if the model is true; nan without degrees of freedom.
    """

    chi2: float
    dof: int
    p: float
    expected: float

    def labels(self) -> dict[str, float]:
        """Return what an `Estimate` has of them."""
        return {"chi2": self.chi2, "dof": self.dof, "p": self.p}


def quality(residuals: np.ndarray, jacobian: np.ndarray, w: Weights) -> Quality:
    r"""Return the quality of a fit with ``residuals`` [K] at its minimum and derivatives ``jacobian`` [K, P] there.

    To first order r = R delta with R = 1 - J (J^T W J)^-1 J^T W and delta normal with covariance C, so chi^2 is a sum
    of squares of normal numbers with the weights of the eigenvalues of W R C R^T (Bruno and Sommer, arXiv:2209.14188).
    It is approximated by g chi^2_nu with the same mean and variance. If W is the inverse of C, then g = 1, nu = K - P,
    and errors of C lead to Hotelling's T^2.
    """
    chi2, dof = float(residuals @ w.matrix @ residuals), len(residuals) - jacobian.shape[1]
    if dof < 1:
        return Quality(chi2, dof, np.nan, 0.0)
    if w.correlated:
        n = w.independent - 1
        return Quality(chi2, dof, float(scipy.special.fdtrc(dof, n - dof + 1, chi2 * (n - dof + 1) / (n * dof))), dof)
    normal = jacobian.T @ w.matrix
    outside = np.eye(len(residuals)) - jacobian @ np.linalg.pinv(normal @ jacobian) @ normal
    product = w.matrix @ outside @ w.covariance @ outside.T
    mean, square = np.trace(product), np.trace(product @ product)
    return Quality(chi2, dof, float(scipy.special.chdtrc(mean**2 / square, chi2 * mean / square)), mean)
