r"""Least squares of models that are linear in some of their parameters (variable projection).

For given nonlinear parameters q the best amplitudes follow from linear equations, so the search is in q alone (Golub
and Pereyra, SIAM J. Numer. Anal. 10, 413 (1973)).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from plaq.lqcd.analysis.models import HEAVIEST, LIGHTEST, Model

STEP = 1e-5  # of a derivative with respect to the logarithm of a parameter


@dataclass(frozen=True)
class Minimum:
    """Minimum of chi^2: amplitudes and nonlinear parameters, and derivatives of the model [point, parameter] there."""

    amplitudes: np.ndarray
    q: np.ndarray
    jacobian: np.ndarray

    @property
    def parameters(self) -> np.ndarray:
        return np.concatenate([self.amplitudes, self.q])


def to_logs(q: np.ndarray) -> np.ndarray:
    """Return log q_1, log (q_2 - q_1), ..., of ascending numbers."""
    return np.log(np.diff(q, prepend=0.0))


def from_logs(logs: np.ndarray) -> np.ndarray:
    return np.cumsum(np.exp(logs))


class Problem:
    """Fit of a model to points x with weights W [K, K]; values y come later."""

    def __init__(self, model: Model, x: np.ndarray, w: np.ndarray):
        self.model, self.x = model, np.asarray(x, float)
        self.root = np.linalg.cholesky(w).T  # W = root^T root

    def amplitudes(self, forms: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the best amplitudes of forms [x, k]."""
        scale = np.abs(forms).max(axis=0)
        scale[scale == 0] = 1.0
        return np.linalg.lstsq(self.root @ (forms / scale), self.root @ y, rcond=None)[0] / scale

    def residuals(self, logs: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return root (y - f) with the best amplitudes."""
        forms = self.model.forms(from_logs(logs), self.x)
        return self.root @ (y - forms @ self.amplitudes(forms, y))

    def minimum(self, y: np.ndarray) -> Minimum | None:
        """Return the minimum of chi^2, the deepest one from several starts; None if there is none."""
        y = np.asarray(y, float)
        if not np.isfinite(y).all():
            return None
        if not self.model.nonlinear:
            forms = self.model.forms(np.zeros(0), self.x)
            return Minimum(self.amplitudes(forms, y), np.zeros(0), forms)
        low, high = np.log(LIGHTEST), np.log(HEAVIEST)
        squares = [(float((self.residuals(to_logs(np.array(q)), y)**2).sum()), q) for q in self.model.starts]
        begins = [to_logs(np.array(q)) for _, q in sorted(squares)[:2]]
        residuals = lambda logs: self.residuals(np.clip(logs, low, high), y)
        found = [scipy.optimize.least_squares(residuals, begin, method="lm", xtol=1e-12, ftol=1e-13, gtol=1e-12)
                 for begin in begins]
        best = min(found, key=lambda result: result.cost)
        inside = np.all(best.x > low + 1e-2) and np.all(best.x < high - 1e-2) and best.success
        return self.at(best.x, y) if inside else None

    def at(self, logs: np.ndarray, y: np.ndarray) -> Minimum:
        """Return the amplitudes and derivatives at nonlinear parameters."""
        q = from_logs(logs)
        forms = self.model.forms(q, self.x)
        a, columns = self.amplitudes(forms, y), []
        for k in range(len(q)):
            step = np.zeros(len(q))
            step[k] = STEP * q[k]
            ahead, behind = self.model.forms(q + step, self.x), self.model.forms(q - step, self.x)
            columns.append((ahead - behind) @ a / (2 * step[k]))
        return Minimum(a, q, np.stack([*forms.T, *columns], axis=1))

    def first_order(self, jacobian: np.ndarray) -> np.ndarray:
        """Return [parameter, K]: derivatives of the parameters at the minimum with respect to the points."""
        return np.linalg.pinv(self.root @ jacobian) @ self.root
