"""Coarse graining: means of lattice Green's functions over momentum patches.

Gbar_K(z) = N_c / (2 pi)^2 int_patch d2k 1 / (z - eps(K + k)),  z = iw + mu - Sigma_K(iw).

A patch mean of a function of eps alone is an integral over the patch's density of states. That density is known by
its Chebyshev moments, which are turned once per temperature into a quadrature rule {eps_j, weight_j}; the formulas
and their convergence are in docs/coarse_graining.md. Where two momenta enter, the mean is taken over a k rule.
Reference: Maier, Jarrell, Pruschke, Hettler, Rev. Mod. Phys. 77, 1027 (2005), section II.
"""

import math
from dataclasses import dataclass

import numpy as np
import scipy

from plaq.dca.lattice.symmetry import PointGroup
from plaq.errors import RunError
from plaq.trace.session import region

TOLERANCE = 1e-10  # of Gbar, absolute, at the smallest |Im z| that a rule is made for
SLACK = 0.8  # rules stay below 1e-8 down to this fraction of that |Im z|


@dataclass(frozen=True)
class PatchRules:
    """Rules for one temperature: <f(eps)>_K = sum_j weights[K, j] f(energies[K, j]), N nodes per patch.

    bands [K, M], k_weights [M]: eps at the points of the k rule, which all patches share, and their weights.
    """

    min_im_z: float
    energies: np.ndarray
    weights: np.ndarray
    bands: np.ndarray
    k_weights: np.ndarray


class CoarseGraining:
    """Patch means for a cluster; isolated: the patch is the single momentum K, so Gbar = 1/(z - eps_K).

    eps_mean [K], eps_second [K]: exact <eps>, <eps^2>, so Gbar = 1/z + eps_mean/z^2 + eps_second/z^3 + ...
    Call prepare(min_im_z) with the smallest |Im z| to come, pi T, before anything else; all methods then hold to
    1e-8. Arrays z are complex [K, w] with any signs of Im z; smaller |Im z| than announced raises RunError.
    """

    def __init__(self, cluster, isolated=False):
        self.cluster = cluster
        self.isolated = isolated
        lattice = cluster.lattice
        # Products of up to two hoppings over a patch: a coarse rule is exact to rounding.
        bands, weights = self._bands(8.0 * max(1, np.abs(list(lattice.hopping)).max()))
        self.eps_mean = _mean(bands, weights)
        self.eps_second = _mean(bands**2, weights)
        self._representatives = PointGroup(cluster).representatives
        self._range = lattice.extrema
        self._rules = None

    @region("coarse graining: prepare")
    def prepare(self, min_im_z):
        """Make the rules for all |Im z| >= min_im_z > 0 and return them (PatchRules)."""
        if self._rules is None or self._rules.min_im_z != min_im_z:
            self._rules = self._make_rules(float(min_im_z))
        return self._rules

    @region("coarse graining")
    def gbar(self, z):
        """Return gbar_K(z) [K, w]."""
        rules = self._rules_for(z)
        return _mean_over_rule(lambda z, x: 1.0 / (z - x), rules, z)

    def eps_gbar(self, z):
        """Return <eps G>_K = z Gbar - 1 [K, w], which decays as eps_mean/z.

        Kinetic energy per site = 2 T/N_c sum_K,n <eps G>_K(iw_n) e^(iw_n 0+).
        """
        rules = self._rules_for(z)
        return _mean_over_rule(lambda z, x: x / (z - x), rules, z)

    def shifted(self, x, sigma):
        """Return z = x - Sigma [K, w] for numbers x [w] = iw + mu."""
        return x - sigma

    def electrons(self, g):
        """Return the function [w] of which T sum_n e^(iw_n 0+) is the number of electrons on a site, both spins."""
        return 2.0 * g.mean(axis=0)

    def zone_mean(self, function):
        """Return <f(eps)> over the zone, for f with poles as far from the real axis as the z announced.

        A Fermi function is of this kind.
        """
        return float(_mean(function(self._rules.bands), self._rules.k_weights).mean())

    @region("coarse graining: chi0")
    def chi0_ph(self, z, z_shifted, q=0):
        """Return <G(k, iw) G(k+q, iw+inu)> [K, w] from z_K(iw) and z_shifted_K = z_K(iw+inu).

        q: index of the cluster momentum transfer. No sign, no factor T N_c.
        """
        partner = self.cluster.momentum_sum[:, q]
        return self._pair(z, np.asarray(z_shifted)[partner], partner, q)

    @region("coarse graining: chi0")
    def chi0_pp(self, z, z_reversed, q=0):
        """Return <G(k, iw) G(q-k, inu-iw)> [K, w] from z_K(iw) and z_reversed_K = z_K(inu-iw), conj z_K at nu = 0.

        eps(q-k) = eps(k-q), so that k and its partner share the position in their patches.
        """
        reversed_k = self.cluster.momentum_difference[q]
        return self._pair(z, np.asarray(z_reversed)[reversed_k], self.cluster.momentum_difference[:, q], q)

    def _pair(self, z, z_partner, band_partner, q):
        rules = self._rules_for(z)
        self._rules_for(z_partner)
        if q == 0:
            both = np.stack([z, z_partner])
            return _mean_over_rule(lambda z, x: 1.0 / ((z[0] - x) * (z[1] - x)), rules, both)
        result = np.empty(np.shape(z), dtype=complex)
        for k, partner in enumerate(band_partner):
            for w in range(result.shape[1]):
                pair = (z[k, w] - rules.bands[k]) * (z_partner[k, w] - rules.bands[partner])
                result[k, w] = _mean(1.0 / pair, rules.k_weights)
        return result

    def _rules_for(self, z):
        if self._rules is None:
            raise RunError("coarse graining: call prepare(min_im_z) first")
        smallest = np.abs(np.imag(z)).min()
        if not smallest >= SLACK * self._rules.min_im_z:
            raise RunError(
                f"coarse graining was prepared for |Im z| >= {self._rules.min_im_z:.6g} but was asked for "
                f"{smallest:.6g}: the self-energy is not causal (Im Sigma(iw) > 0) or not a number"
            )
        return self._rules

    def _bands(self, density):
        cluster = self.cluster
        if self.isolated:
            return cluster.energies[:, None], np.ones(1)
        offsets, weights = cluster.k_rule(density)
        return np.array([cluster.lattice.dispersion(k + offsets) for k in cluster.momenta]), weights

    def _make_rules(self, min_im_z):
        bands, k_weights = self._converged_bands(min_im_z)
        irreducible = np.unique(self._representatives)
        count = max(_moments_needed(0.5 * np.ptp(bands[k]), min_im_z) for k in irreducible)
        made = {k: _energy_rule(bands[k], k_weights, count) for k in irreducible}
        energies, weights = np.stack([made[k] for k in self._representatives], axis=1)
        return PatchRules(min_im_z, energies, weights, bands, k_weights)

    def _converged_bands(self, min_im_z):
        # Gauss-Legendre with n points on an edge of length L converges as exp(-4 n delta / L), where
        # delta ~ min_im_z / |d eps/dk| is the distance of the poles. Start below that and refine by 1.3 until
        # 1/(z - eps) stands still; the error of the last rule is the 1.3th power of the last change.
        density = 0.35 * -math.log(TOLERANCE) * self.cluster.lattice.steepest / (4 * min_im_z)
        enough = TOLERANCE ** (1 / 1.2)
        bands, weights = self._bands(density)
        probe = self._probe(bands, weights, min_im_z)
        while True:
            density = 1.3 * density + 0.5
            bands, weights = self._bands(density)
            previous, probe = probe, self._probe(bands, weights, min_im_z)
            if np.abs(probe - previous).max() < enough:
                return bands, weights

    def _probe(self, bands, weights, min_im_z):
        """Return <1/(x + i min_im_z - eps)>_K at 7 energies x across the band, for the irreducible K."""
        low, high = self._range
        irreducible = bands[np.unique(self._representatives)]
        z = np.linspace(low, high, 7) + 1j * min_im_z
        return np.array([_mean(1.0 / (point - irreducible), weights) for point in z])


def _mean(values, weights):
    """Return sum_k values [..., k] weights [k]; einsum adds in one order, whatever the number of BLAS threads."""
    return np.einsum("...k,k->...", values, weights)


def _moments_needed(half_width, min_im_z):
    """Return n such that interpolation at N Chebyshev nodes, error <= 2 rho^-N / |Im z|, reaches TOLERANCE.

    rho = eta + sqrt(1 + eta^2), eta = |Im z| / half_width: the ellipse through the nearest z.
    """
    if half_width < 1e-12:
        return 1
    return max(4, math.ceil(math.log(2 / (TOLERANCE * min_im_z)) / math.asinh(min_im_z / half_width)))


def _energy_rule(band, k_weights, count):
    """Return nodes and weights [count] with sum_j w_j p(x_j) = <p(eps)> for all polynomials of degree < count."""
    centre, half_width = 0.5 * (band.min() + band.max()), 0.5 * np.ptp(band)
    nodes = np.cos(np.pi * (np.arange(count) + 0.5) / count)
    moments = _chebyshev_moments((band - centre) / max(half_width, 1e-300), k_weights, count)
    # w_j = 1/N (m_0 + 2 sum_n m_n T_n(x_j))
    return centre + half_width * nodes, scipy.fft.dct(moments, type=3) / count


def _chebyshev_moments(x, weights, count):
    """Return m_n = sum_k weights_k T_n(x_k) for n < count; T_2n = 2 T_n^2 - T_0, T_2n+1 = 2 T_n T_n+1 - T_1."""
    moments = np.zeros(count + 1)
    for start in range(0, len(x), 4096):  # blocks that stay in the cache
        xs, ws = x[start : start + 4096], weights[start : start + 4096]
        m0, m1 = ws.sum(), ws @ xs
        t, t_next = np.ones_like(xs), xs.copy()
        for n in range((count + 1) // 2):
            wt = ws * t
            moments[2 * n] += 2 * (wt @ t) - m0
            moments[2 * n + 1] += 2 * (wt @ t_next) - m1
            t, t_next = t_next, 2 * xs * t_next - t
    return moments[:count]


def _mean_over_rule(function, rules, z):
    """Return sum_j weight_j function(z, eps_j) for z [..., K, w]; one K at a time keeps temporaries in the cache."""
    z = np.asarray(z, dtype=complex)[..., None]
    patches = enumerate(zip(rules.energies, rules.weights, strict=True))
    return np.array([_mean(function(z[..., k, :, :], x), w) for k, (x, w) in patches])
