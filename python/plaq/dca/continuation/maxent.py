"""Maximum entropy: the spectrum A that maximises alpha S - chi2/2 against a default model m.

S = int [A - m - A log(A/m)] domega. The maximum has A = m exp(sum_i nu_i K_i(omega)) with one
nu_i = (d - K A)_i/alpha for each component d_i of the data. These minimise the dual function, which is convex in a few
variables.

alpha is chosen by one of three rules, from one scan of alpha:
- ``classic``: the most probable alpha, -2 alpha S = sum_s l_s/(alpha + l_s);
- ``bryan``: the mean over alpha with its probability;
- ``chi2kink``: where log chi2(log alpha) leaves the plateau of the best fits.

Sources: Jarrell, Gubernatis, Phys. Rep. 269, 133 (1996); Bryan, Eur. Biophys. J. 18, 165 (1990); Bergeron, Tremblay,
Phys. Rev. E 94, 023303 (2016), and Kaufmann, Held, Comput. Phys. Commun. 282, 108519 (2023), for chi2kink.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from plaq.dca.continuation.kernel import Grid

CHOICES = ("chi2kink", "classic", "bryan")
ALPHAS = 10.0 ** np.arange(6.0, -2.01, -0.25)
LARGEST_LOG = 300.0  # of A/m
CONVERGED = 1e-8  # decrease of the dual per Newton step
SHORTEST_STEP = 1e-10
MOST_STEPS = 500
PLATEAU = 0.25  # of the range of log chi2: a kink above it is none
KINK = 2.5  # position on the sigmoid of chi2kink, in its widths before the middle


@dataclass(frozen=True)
class Scan:
    """Spectra [alpha, x] of all alphas, their chi2, entropy S, and log of the probability of alpha."""

    alphas: np.ndarray
    spectra: np.ndarray
    chi2: np.ndarray
    entropy: np.ndarray
    good: np.ndarray
    probability: np.ndarray

    def chosen(self, rule: str) -> np.ndarray:
        """Return the spectrum [x] by a rule of `CHOICES`."""
        if rule == "bryan":
            weight = np.exp(self.probability - self.probability.max())
            return weight @ self.spectra / weight.sum()
        log_alpha = {"classic": self._classic, "chi2kink": self._kink}[rule]()
        order = np.argsort(np.log(self.alphas))
        at = np.clip(np.interp(log_alpha, np.log(self.alphas)[order], order), 0, len(self.alphas) - 1)
        low = min(int(at), len(self.alphas) - 2)
        part = at - low
        return (1 - part) * self.spectra[low] + part * self.spectra[low + 1]

    def _classic(self) -> float:
        """Return log alpha where -2 alpha S falls to the number of good data."""
        ratio = np.log(np.maximum(-2 * self.alphas * self.entropy, 1e-300) / np.maximum(self.good, 1e-300))
        crossing = np.flatnonzero((ratio[:-1] > 0) & (ratio[1:] <= 0))
        if not len(crossing):
            return float(np.log(self.alphas[np.argmin(np.abs(ratio))]))
        i = crossing[-1]
        part = ratio[i] / (ratio[i] - ratio[i + 1])
        logs = np.log(self.alphas)
        return float(logs[i] + part * (logs[i + 1] - logs[i]))

    def _kink(self) -> float:
        """Return log alpha before the rise of the sigmoid a + b/(1 + exp(-d (x - c))) of log chi2(x = log alpha).

        Where chi2 falls without a plateau, as for exact data, it is the least alpha.
        """
        x, y = np.log10(self.alphas), np.log10(self.chi2)
        deviation = lambda p: p[0] + p[1] * scipy.special.expit(np.exp(p[3]) * (x - p[2])) - y
        start = y.min(), np.ptp(y), x[np.argmin(np.abs(y - y.mean()))], 0.0
        (_, _, middle, log_slope), *_ = scipy.optimize.leastsq(deviation, start, full_output=True)
        kink = np.clip(middle - KINK * np.exp(-log_slope), x[-1], x[0])
        has_plateau = np.interp(kink, x[::-1], y[::-1]) <= y.min() + PLATEAU * np.ptp(y)
        return float((kink if has_plateau else x[-1]) * np.log(10))


class MaxEnt:
    """Maximum entropy for one kernel [p, x], with its weights, of data with the covariance 1, and one default model."""

    def __init__(self, grid: Grid, kernel: np.ndarray, model: np.ndarray):
        self._grid, self._kernel, self._model = grid, kernel, model
        self._directions = kernel / grid.weights

    def scan(self, values: np.ndarray, alphas: np.ndarray = ALPHAS) -> Scan:
        """Return the spectra of all alphas, from large to small, for data [p]."""
        dual = np.zeros(len(values))
        found = []
        for alpha in alphas:
            dual = self._solved(values, alpha, dual)
            found.append(self._properties(values, alpha, dual))
        return Scan(alphas, *(np.array(column) for column in zip(*found)))

    def _spectrum(self, dual: np.ndarray) -> np.ndarray:
        return self._model * np.exp(np.minimum(dual @ self._directions, LARGEST_LOG))

    def _solved(self, values: np.ndarray, alpha: float, dual: np.ndarray) -> np.ndarray:
        """Return the minimum nu of the dual, int A - nu.d + alpha nu^2/2, which is convex, by Newton's method."""
        identity = np.eye(len(values))
        objective, spectrum = self._dual(values, alpha, dual)
        for _ in range(MOST_STEPS):
            gradient = self._kernel @ spectrum - values + alpha * dual
            hessian = (self._kernel * spectrum) @ self._directions.T + alpha * identity
            step = -np.linalg.solve(hessian, gradient)
            decrease = -float(gradient @ step)
            if decrease < CONVERGED:
                return dual + step  # convergence is quadratic here
            length = 1.0
            while length > SHORTEST_STEP:
                reached, trial = self._dual(values, alpha, dual + length * step)
                if reached <= objective - 0.1 * length * decrease:
                    break
                length *= 0.5
            else:
                break  # rounding ends the descent
            dual, objective, spectrum = dual + length * step, reached, trial
        return dual

    def _dual(self, values: np.ndarray, alpha: float, dual: np.ndarray) -> tuple[float, np.ndarray]:
        spectrum = self._spectrum(dual)
        return float(self._grid.integral(spectrum) - dual @ values + 0.5 * alpha * dual @ dual), spectrum

    def _properties(self, values: np.ndarray, alpha: float, dual: np.ndarray) -> tuple:
        spectrum = self._spectrum(dual)
        chi2 = np.sum((self._kernel @ spectrum - values) ** 2)
        entropy = float(self._grid.integral(spectrum - self._model - spectrum * (dual @ self._directions)))
        scaled = self._kernel * np.sqrt(spectrum / self._grid.weights)
        measured = np.maximum(np.linalg.eigvalsh(scaled @ scaled.T), 0.0)
        good = np.sum(measured / (alpha + measured))
        probability = 0.5 * np.sum(np.log(alpha / (alpha + measured))) + alpha * entropy - 0.5 * chi2
        return spectrum, chi2, entropy, good, probability
