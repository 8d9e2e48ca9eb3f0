"""Matsubara functions on the sparse sampling points of the intermediate representation (IR)."""

import functools

import numpy as np
from threadpoolctl import threadpool_limits

from plaq.dca.lattice.ir_basis import Basis


def frequency_cutoff(lattice, u, mu=0.0):
    """Return wmax = D + |U| + max(D, |mu|) with D = max |eps(k)|: spectra are taken to vanish for |w| > wmax.

    All poles, from eps - mu to eps + U - mu, lie inside where `mu` is that of free electrons, or inside the band
    whatever it is (chemical_potential.cutoff). Sigma shares the bound.
    """
    largest = lattice.largest_energy
    return largest + abs(u) + max(largest, abs(mu), 0.1)


class Mesh:
    """Sparse Matsubara mesh for functions with f(-iw) = conj f(iw) that decay (at least as 1/iw).

    f(tau) = sum_l f_l U_l(tau), f(iw) = sum_l f_l U^_l(iw), real f_l from the values at the sampling points.
    Conventions: f(iw) = int_0^beta e^(iw tau) f(tau) dtau, and for G: G(tau) = -<T c(tau) c+(0)>. The last axis
    is frequency (or l, or tau). Subtract constants first: G, Sigma - Sigma_inf, Delta decay.
    Reference: Li, Wallerberger, Chikano, Yeh, Gull, Shinaoka, Phys. Rev. B 101, 035144 (2020).

    beta: inverse temperature; wmax: cutoff of real frequencies (frequency_cutoff).
    eps: relative singular value at which the basis ends, at least 1e-11. Without noise f(iw) is good to about
    eps and f(tau) to 10 eps (30 eps for spectra right at the cutoff).
    statistics: "F" (w_n = (2n+1) pi/beta) or "B" (2n pi/beta, n = 0 included).

    n [W]        index n of w_n, n >= 0, ascending
    omega [W]    w_n
    size         number L of basis functions
    """

    def __init__(self, beta, wmax, eps=1e-8, statistics="F"):
        self.beta = float(beta)
        self.statistics = statistics
        self.wmax = float(wmax)
        self._basis = Basis(self.beta, self.wmax, eps, fermions=statistics == "F")
        self.size = self._basis.size
        self._zeta = 1 if statistics == "F" else 0  # w_n = (2 n + zeta) pi / beta
        reduced = self._basis.sampling_points()
        self.n = (reduced - self._zeta) // 2
        self.omega = reduced * np.pi / self.beta
        self._known = {}
        at_points = self._uhat(self.n)
        # Real coefficients: real and imaginary parts are separate equations, for an odd L one more than there are
        # coefficients. Weights are as the noise of G falls, since with equal ones that of the lowest frequencies,
        # the largest, would come into all others: at every other temperature n had four to ten times the noise.
        weights = np.tile(self.omega**2 + self.wmax**2, 2)
        inverse = np.linalg.pinv(np.concatenate([at_points.real, at_points.imag], axis=1) * weights)
        self._fit = inverse * weights[:, None]
        self._covariance = inverse.T @ inverse  # of the coefficients, [L, L], where values have the noise 1/weights

    def frequency(self, n):
        """Return w_n for any integer index (or array of indices) n."""
        return (2 * np.asarray(n) + self._zeta) * np.pi / self.beta

    def fit(self, f_iw):
        """Return coefficients f_l [..., L] (real) from values [..., W] at the sampling points.

        Least squares with weights w_n^2 + wmax^2.
        """
        f_iw = np.asarray(f_iw)
        return np.concatenate([f_iw.real, f_iw.imag], axis=-1) @ self._fit

    def evaluate(self, coefficients):
        """Return values [..., W] at the sampling points from coefficients [..., L]."""
        return coefficients @ self._uhat(self.n)

    def at_frequencies(self, f_iw, n):
        """Return f(iw_n) [..., len(n)] at any indices n, of both signs, from values at the sampling points."""
        return self.fit(f_iw) @ self._uhat(np.atleast_1d(n))

    def at_tau(self, f_iw, tau, ends=None):
        """Return f(tau) [..., len(tau)], real, for tau in [0, beta]; 0 means 0+ and beta means beta-.

        ends [..., 2]: f(0+) and f(beta-) where these are known separately. Of the coefficients that give them, those
        nearest to the values at the sampling points are taken, in the weights of `fit`.
        """
        coefficients = self.fit(f_iw)
        if ends is not None:
            at_ends = self._basis.u(np.array([0.0, self.beta]))
            gain = np.linalg.solve(at_ends.T @ self._covariance @ at_ends, at_ends.T @ self._covariance)
            coefficients = coefficients + (ends - coefficients @ at_ends) @ gain
        return coefficients @ self._basis.u(np.atleast_1d(np.asarray(tau, dtype=float)))

    def equal_time(self, f_iw):
        """Return t sum_n f(iw_n) e^(iw_n 0+) [...] over both signs: <c+ c> when f is G."""
        sign = -1.0 if self.statistics == "F" else 1.0  # f(0-) = -+ f(beta-)
        return sign * self.at_tau(f_iw, self.beta)[..., 0]

    def _uhat(self, n):
        # U^_l(-iw) = conj U^_l(iw); samples of the jackknife ask for the same frequencies, so each is computed once.
        reduced = 2 * np.asarray(n) + self._zeta
        new = sorted(set(np.abs(reduced).tolist()) - self._known.keys())
        if new:
            self._known.update(zip(new, self._basis.uhat(np.array(new)).T, strict=True))
        return np.array([self._known[m] if m >= 0 else self._known[-m].conj() for m in reduced.tolist()]).T


@functools.lru_cache(maxsize=16)
@threadpool_limits.wrap(limits=1)  # bits must not depend on BLAS threads
def mesh(beta, wmax, eps=1e-8, statistics="F"):
    """Return the Mesh of these parameters, made once."""
    return Mesh(beta, wmax, eps, statistics)
