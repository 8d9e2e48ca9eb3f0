"""Basis of the intermediate representation (IR): singular functions of the kernel between spectra and imaginary time.

With x = 2 tau/beta - 1 and y = omega/wmax, both in [-1, 1], and the cutoff Lambda = beta wmax, the kernel of fermions,
which serves for bosons too, is

    K(x, y) = e^(-Lambda y (x + 1)/2) / (1 + e^(-Lambda y)) = sum_l s_l u_l(x) v_l(y).

Since K(-x, -y) = K(x, y), u_l and v_l have the parity of l, and are those of K(x, y) +- K(x, -y) on x, y > 0. This is
smooth on panels of z = 1 - x and of y between 1, 1/2, 1/4, ... and 0, of which the last is narrower than 1/Lambda.
Gauss-Legendre points on all panels make it a matrix, whose singular vectors give u_l as Legendre polynomials on panels.
Sources: Shinaoka, Otsuki, Ohzeki, Yoshimi, Phys. Rev. B 96, 035147 (2017) for the basis; Li et al., ibid. 101, 035144
(2020) for the sampling points; Kaye, Chen, Parcollet, ibid. 105, 235115 (2022) for the panels.
"""

import functools
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.polynomial import legendre

POINTS = 24  # of a panel
SMALLEST_CUTOFF = 4.0  # below it so few singular values are above rounding that some sampling points have no function
ROUNDING = 1e-15  # relative singular value above which double precision gives a function
SMALLEST_EPS = 1e-11  # with which sampling points are still those of functions above rounding


@dataclass(frozen=True)
class SingularFunctions:
    """Singular values s_l, largest first, and u_l on [0, 1] as Legendre polynomials on panels.

    u_l(center + half t) = sum_k coefficients[l, panel, k] P_k(t), |t| <= 1. Panels have ascending z = 1 - x, and edges
    that are dyadic fractions. u_l is normalised on [-1, 1], and positive at x = 1.
    """

    values: np.ndarray  # [l]
    coefficients: np.ndarray  # [l, panel, k]
    edges: np.ndarray  # [panel + 1], of z


@functools.lru_cache(maxsize=64)
def singular_functions(cutoff):
    """Return all singular functions of the kernel with this cutoff that double precision gives."""
    panels = int(np.ceil(np.log2(cutoff)))
    edges = np.concatenate([[0.0], 0.5 ** np.arange(panels - 1, -1, -1)])
    t, weights = legendre.leggauss(POINTS)
    half = np.diff(edges)[:, None] / 2
    z = (edges[:-1, None] + half * (1 - t)).ravel()  # points of z, and of y; x ascends with t
    root = np.sqrt(half * weights).ravel()
    direct = np.exp(-0.5 * cutoff * np.outer(z, z)) / (1 + np.exp(-cutoff * z))  # K(x, -y)
    ratio = np.exp(-cutoff * np.outer(1 - z, z))  # K(x, y)/K(x, -y)
    to_polynomials = (np.arange(POINTS)[:, None] + 0.5) * legendre.legvander(t, POINTS - 1).T * weights
    found = []
    for kernel in (direct * (1 + ratio), direct * (1 - ratio)):  # even l, odd l
        u, s, _ = np.linalg.svd(root[:, None] * kernel * root)
        found.append((s, (u.T / (root * np.sqrt(2))).reshape(-1, panels, POINTS) @ to_polynomials.T))
    values, coefficients = (np.stack(pair, axis=1).reshape(-1, *pair[0].shape[1:]) for pair in zip(*found))
    kept = np.argmin(np.append(values > ROUNDING * values[0], False))
    values, coefficients = values[:kept], coefficients[:kept]
    at_end = coefficients[:, 0].sum(axis=-1)  # P_k(1) = 1
    return SingularFunctions(values, coefficients * np.sign(at_end)[:, None, None], edges)


class Basis:
    """Functions U_l(tau) = sqrt(2/beta) u_l(x) with s_l >= eps s_0, and their transforms at Matsubara frequencies.

    beta: inverse temperature; wmax: cutoff of real frequencies; fermions or bosons. A frequency is m pi/beta with an
    odd integer m for fermions, an even one for bosons.
    """

    def __init__(self, beta, wmax, eps, fermions=True):
        if eps < SMALLEST_EPS:
            raise ValueError(f"eps = {eps:g} is below {SMALLEST_EPS:g}, where double precision ends")
        self._beta, self._fermions = beta, fermions
        self._cutoff = max(beta * wmax, SMALLEST_CUTOFF)
        self._functions = singular_functions(self._cutoff)
        values = self._functions.values
        self.singular_values = values[values >= eps * values[0]]
        self.size = len(self.singular_values)

    def u(self, tau):
        """Return U_l(tau) [l, tau] for tau in [0, beta]."""
        tau = np.asarray(tau, dtype=float)
        edges = self._functions.edges
        z = 2 * np.minimum(tau, self._beta - tau) / self._beta  # 1 - |x|
        panel = np.clip(np.searchsorted(edges, z, side="right") - 1, 0, len(edges) - 2)
        polynomials = legendre.legvander(1 - 2 * (z - edges[panel]) / np.diff(edges)[panel], POINTS - 1)
        values = np.empty((self.size, len(tau)))
        for p in np.unique(panel):
            here = panel == p
            values[:, here] = self._functions.coefficients[: self.size, p] @ polynomials[here].T
        values[1::2] *= np.where(2 * tau < self._beta, -1.0, 1.0)
        return np.sqrt(2 / self._beta) * values

    def uhat(self, m):
        """Return int_0^beta e^(i m pi tau/beta) U_l(tau) dtau [l, m]."""
        return self._transform(m, np.arange(self.size))

    def _transform(self, m, number):
        # With q = m pi/2 it is sqrt(beta/2) e^(iq) int e^(iqx) u_l(x) dx, on a panel the sum over k of coefficients
        # times 2 half e^(iq center) i^k j_k(q half). Phases are good to rounding: m times a dyadic fraction is exact.
        m, k = np.asarray(m, dtype=float), np.arange(POINTS)
        edges = self._functions.edges
        half, center = np.diff(edges) / 2, 1 - (edges[1:] + edges[:-1]) / 2
        bessel = scipy.special.spherical_jn(k, 0.5 * np.pi * np.outer(m, half)[:, :, None])
        terms = 2 * half[:, None] * quarter_turns(np.outer(m, center))[:, :, None] * quarter_turns(k) * bessel
        terms = terms.reshape(len(m), -1).T
        coefficients = self._functions.coefficients[number].reshape(len(number), -1)
        is_even = (number % 2 == 0)[:, None]
        one_half = np.where(is_even, coefficients @ terms.real, 1j * (coefficients @ terms.imag))
        return np.sqrt(self._beta / 2) * quarter_turns(m) * 2 * one_half

    def sampling_points(self):
        """Return m >= 0 [W], ascending, next to the changes of sign of the first transform that has enough of them.

        On frequencies of both signs they are as many as there are functions, or one more.
        """
        zeta = 1 if self._fermions else 0
        order = self.size + (self.size + 1 - zeta) % 2  # its transform is imaginary, and odd in m
        value = lambda n: self._transform(2 * n + zeta, np.array([order]))[0].imag
        grid = np.unique(np.geomspace(1, 100 * self._cutoff, 1000).astype(int)) - zeta
        signs = np.sign(value(grid))
        changes = np.flatnonzero(signs[1:] != signs[:-1])
        low, high, sign = grid[changes], grid[changes + 1], signs[changes]
        while np.any(high - low > 1):
            middle = (low + high) // 2
            same = np.sign(value(middle)) == sign
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        if 2 * len(low) != order - 1 + zeta:
            raise ArithmeticError(f"{len(low)} changes of sign of U_{order}(i omega) at a cutoff of {self._cutoff:g}")
        return 2 * (low if self._fermions else np.append(0, low)) + zeta


def quarter_turns(number):
    """Return i^number for real numbers, good to rounding for large ones too."""
    return np.exp(0.5j * np.pi * np.fmod(number, 4))
