"""Coarse graining with orbitals: means of (z - h(k))^-1 over momentum patches, with matrices z and h.

Gbar(K, z) = N_c / (2 pi)^D int_patch dk (z - v(k) h(K + k) v(k)^+)^-1,  z = iw + mu - Sigma(K, iw),

with v_aa(k) = exp(-i k.r_a) of the positions r_a in the cell. The self-energy of the lattice is thus constant in a
patch for functions that have the phases of positions, Sigma_ab(K + k) = exp(i k.(r_a - r_b)) Sigma_ab(K), which leaves
all symmetries of the lattice, whatever the choice of the cell.
With a matrix Sigma no energy rule exists, so means are sums over a k rule. The rule for |Im z| >= y has a number of
points proportional to 1/y along each axis, so that the lowest frequencies take nearly all the time.
One orbital is a number: there the energy rules of `coarse_graining` are used. A single cell with its orbitals in one
place has a periodic integrand: its k are an even grid, one of each that symmetry maps onto another.
"""

from __future__ import annotations

import math

import numpy as np

from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.coarse_graining import SLACK, CoarseGraining
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.symmetry import PointGroup
from plaq.errors import RunError
from plaq.trace.session import region

TOLERANCE = 1e-9  # of Gbar, absolute, at the smallest |Im z| that a rule is made for
EVEN = 0.7  # of the points of a Gauss rule: more than 2/pi, what an even grid needs for the same error
BLOCK = 4096  # momenta at a time, which stay in the cache
KEPT = 2**21  # numbers of h on an even grid that are kept, 32 MB: far hopping makes h the slowest part of a mean


class MatrixCoarseGraining:
    """Patch means for a cluster with orbitals; isolated: the patch is the single momentum K.

    Functions are [S, K, a, b, w], S the number of spins of the lattice. h_mean, h_second [S, K, a, b]: exact <h>, <hh>,
    so Gbar = 1/z + h_mean/z^2 + h_second/z^3 + ... Call prepare(min_im_z) with the smallest |Im z| to come, pi T,
    before anything else; all methods then hold to 1e-8. |Im z| is the smallest eigenvalue of |z - z^+|/2; a smaller
    one than announced raises RunError.
    """

    def __init__(self, cluster, isolated=False, group=None):
        self.cluster, self.isolated = cluster, isolated
        self.group = group or PointGroup(cluster, isolated=isolated)
        lattice = cluster.lattice
        self._ways = self.group.action.irreducible()
        self._scalar = [CoarseGraining(_of_spin(cluster, spin), isolated)
                        for spin in range(lattice.spins)] if lattice.bands == 1 else None
        self._prepared = None
        self._rules: list = []  # of any function
        self._even: list = []  # of one with the symmetry of the lattice, where the integrand is periodic
        self._kept: dict = {}  # h on even grids by (spin, level)
        self._reach = max(1, np.abs(np.array(list(lattice.table))).max())
        self._periodic = cluster.size == 1 and not isolated and not lattice.positions.any()
        self.h_mean, self.h_second = (self._patch_mean(table) for table in lattice.powers())

    @region("coarse graining: prepare")
    def prepare(self, min_im_z):
        """Make the rules for all |Im z| >= min_im_z > 0."""
        if self._scalar:
            for scalar in self._scalar:
                scalar.prepare(min_im_z)
        if self._prepared != min_im_z:
            self._rules, self._even, self._kept = [], [], {}
            if self._periodic and not self._scalar:
                self._even = self._converged_rules(float(min_im_z), self._even_rule)
            elif not self._scalar:
                self._rules = self._converged_rules(float(min_im_z), self._rule)
        self._prepared = min_im_z

    @region("coarse graining")
    def gbar(self, z):
        """Return Gbar(K, z) [S, K, a, b, w]."""
        z = np.asarray(z, dtype=complex)
        if self._scalar:
            return np.array([scalar.gbar(of_spin[:, 0, 0])[:, None, None] for scalar, of_spin in zip(self._scalar, z)])
        g = np.empty_like(z)
        symmetric = np.abs(self.group.action.average(z) - z).max() <= 1e-12 * np.abs(z).max()
        rules = self._even if self._even and symmetric else self._any_rules()
        levels = self._levels(z, rules)
        first = {way[0] for way in self._ways} if symmetric else range(self.cluster.size)
        for spin in range(len(z)):
            for K in first:
                for level in np.unique(levels):
                    w = levels == level
                    g[spin, K][..., w] = self._mean(spin, K, z[spin, K][..., w], rules[level])
        if rules is self._even:
            return self.group.action.average(g)
        if symmetric:
            for K, way in enumerate(self._ways):
                if way[0] != K:
                    g[:, K] = self.group.action.from_irreducible(g, K, way)
        return g

    def h_gbar(self, z):
        """Return <h G>_K = z Gbar - 1 [S, K, a, b, w], which decays as h_mean/z.

        Kinetic energy of a cell = sum over spins of T/N_c sum_K,n tr <h G>_K(iw_n) e^(iw_n 0+), which has the energies
        of orbitals and fields in it.
        """
        if self._scalar:
            return np.array([scalar.eps_gbar(of_spin[:, 0, 0])[:, None, None]
                             for scalar, of_spin in zip(self._scalar, z)])
        one = np.eye(self.cluster.lattice.bands)[:, :, None]
        return np.einsum("skacw,skcbw->skabw", z, self.gbar(z)) - one

    def shifted(self, x, sigma):
        """Return z = x - Sigma [S, K, a, b, w] for numbers x [w] = iw + mu."""
        return np.eye(self.cluster.lattice.bands)[:, :, None] * x - sigma

    def on_lattice(self, f, k):
        """Return the function of the lattice [S, n, a, b, ...] at points k [n, D] that f [S, K, a, b, ...] stands for.

        It is f(K) of the patch with the phases of positions, as Sigma in `gbar`.
        """
        index, offset = self.cluster.nearest(k)
        v = np.exp(1j * offset @ self.cluster.lattice.positions.T)
        phases = v[:, :, None] * v[:, None, :].conj()
        return np.asarray(f)[:, index] * phases.reshape(phases.shape + (1,) * (np.ndim(f) - 4))

    def electrons(self, g):
        """Return the function [w] of which T sum_n e^(iw_n 0+) is the number of electrons in a cell, both spins."""
        return 2 / len(g) / self.cluster.size * np.einsum("skaaw->w", g)

    @region("coarse graining: chi0")
    def chi0_ph(self, z, z_shifted, q=0, spins=(0, 0)):
        """Return <G_ab(k, iw) G_cd(k+q, iw+inu)> [K, a, b, c, d, w] from z(iw) and z_shifted = z(iw+inu).

        q: index of the cluster momentum transfer; spins: of the two functions. No sign, no factor T N_c.
        """
        if self._scalar and spins[0] == spins[1]:
            return self._of_numbers("chi0_ph", z, z_shifted, q, spins[0])
        return self._pair(z, z_shifted, self.cluster.momentum_sum[:, q], 1, spins)

    @region("coarse graining: chi0")
    def chi0_pp(self, z, z_reversed, q=0, spins=(0, 0)):
        """Return <G_ab(k, iw) G_cd(q-k, inu-iw)> [K, a, b, c, d, w] from z(iw) and z_reversed = z(inu-iw)."""
        if self._scalar and spins[0] == spins[1]:
            return self._of_numbers("chi0_pp", z, z_reversed, q, spins[0])
        return self._pair(z, z_reversed, self.cluster.momentum_difference[q], -1, spins)

    def _of_numbers(self, name, z, z_partner, q, spin):
        spin = min(spin, len(self._scalar) - 1)
        chi = getattr(self._scalar[spin], name)(np.asarray(z)[spin, :, 0, 0], np.asarray(z_partner)[spin, :, 0, 0], q)
        return chi[:, None, None, None, None]

    def _pair(self, z, z_partner, partners, sign, spins):
        z, z_partner = np.asarray(z, dtype=complex), np.asarray(z_partner, dtype=complex)
        one, two = (min(spin, len(z) - 1) for spin in spins)
        rules = self._any_rules()
        levels = np.minimum(self._levels(z, rules), self._levels(z_partner, rules))
        result = np.zeros((len(partners), *[self.cluster.lattice.bands] * 4, z.shape[-1]), dtype=complex)
        for level in np.unique(levels):
            for offsets, weights in _blocks(*rules[level]):
                for K, partner in enumerate(partners):
                    h, h_partner = self._h(K, offsets, one), self._h(partner, sign * offsets, two)
                    for w in np.flatnonzero(levels == level):
                        g = inverse(z[one, K, :, :, w, None] - h) * weights
                        g_partner = inverse(z_partner[two, partner, :, :, w, None] - h_partner)
                        result[K, ..., w] += np.einsum("abm,cdm->abcd", g, g_partner)
        return result

    def _any_rules(self):
        """Return the rules of functions without the symmetry of the lattice, made when they are needed first."""
        if not self._rules and self._prepared:
            self._rules = self._converged_rules(float(self._prepared), self._rule)
        return self._rules

    def _mean(self, spin, K, z, rule):
        total = np.zeros_like(z)
        for h, weights in self._blocks(spin, K, rule):
            for w in range(z.shape[-1]):
                total[..., w] += inverse(z[..., w, None] - h) @ weights
        return total

    def _blocks(self, spin, K, rule):
        """Yield h and weights of blocks of a rule; h on an even grid is kept where it is small enough."""
        level = next((level for level, even in enumerate(self._even) if even is rule), None)
        if level is None or len(rule[1]) * self.cluster.lattice.bands**2 > KEPT:
            return ((self._h(K, offsets, spin), weights) for offsets, weights in _blocks(*rule))
        if (spin, level) not in self._kept:
            self._kept[spin, level] = [(self._h(K, offsets, spin), weights) for offsets, weights in _blocks(*rule)]
        return self._kept[spin, level]

    def _h(self, K, offsets, spin):
        """Return v h(K + k) v^+ at the offsets k [M, D]: [b, b, M]."""
        lattice = self.cluster.lattice
        h = lattice.elements(self.cluster.momenta[K] + offsets, spin)
        if lattice.positions.any():
            v = np.exp(-1j * (lattice.positions @ offsets.T))
            h *= v[:, None] * v.conj()
        return h

    def _patch_mean(self, table):
        """Return <v f(K + k) v^+> [S, K, a, b] of f(k) = sum_d t(d) exp(-i k.d), from d [n, D] and t [S, n, a, b]."""
        d, t = table
        r = self.cluster.lattice.positions
        x = d[:, None, None] + r[:, None] - r
        means = np.ones(x.shape[:-1]) if self.isolated else self.cluster.patch_means(
            x.reshape(-1, x.shape[-1])).reshape(x.shape[:-1])
        return np.einsum("kd,sdab,dab->skab", np.exp(-1j * self.cluster.momenta @ d.T), t, means)

    def _levels(self, z, rules):
        """Return for each frequency the coarsest rule that holds for all its z: rule j is for |Im z| >= 2^j min_im_z.
        """
        if self._prepared is None:
            raise RunError("coarse graining: call prepare(min_im_z) first")
        matrices = np.moveaxis(z, (2, 3), (-2, -1))
        if not np.all(np.isfinite(matrices)):
            raise RunError("coarse graining was asked for a z that is not a number")
        damping = np.linalg.eigvalsh((matrices - matrices.conj().swapaxes(-2, -1)) / 2j)
        distance = np.where(damping[..., 0] > 0, damping[..., 0], -damping[..., -1]).min(axis=(0, 1))
        smallest = distance.min()
        if not smallest >= SLACK * self._prepared:
            raise RunError(
                f"coarse graining was prepared for |Im z| >= {self._prepared:.6g} but was asked for "
                f"{smallest:.6g}: the self-energy is not causal (Im Sigma(iw) > 0)")
        levels = np.floor(np.log2(np.maximum(distance / self._prepared, 1.0))).astype(int)
        return np.minimum(levels, len(rules) - 1)

    def _rule(self, density):
        if self.isolated:
            return np.zeros((1, self.cluster.lattice.dimension)), np.ones(1)
        return self.cluster.k_rule(density)

    def _even_rule(self, density):
        """Return an even grid for the error of `_rule`: n points along a period have the error exp(-n delta).

        A Gauss rule has exp(-4 n delta/2 pi).
        """
        return self._even_points(2 * (4 + int(EVEN * np.pi * density)))

    def _even_points(self, n):
        """Return k and weights of an even grid of the zone, one k of each orbit of the point group and k -> -k.

        Means of functions with the symmetry of the lattice are those of all n^D once they are averaged over the group.
        """
        dimension = self.cluster.lattice.dimension
        m = np.stack(np.unravel_index(np.arange(n**dimension), [n] * dimension), axis=-1)
        first = np.arange(len(m))
        for g in self.group.operations:
            image = m @ np.rint(np.linalg.inv(g)).astype(int)
            for sign in (1, -1):
                first = np.minimum(first, np.ravel_multi_index(tuple((sign * image % n).T), [n] * dimension))
        while np.any(first != first[first]):
            first = first[first]
        kept, counts = np.unique(first, return_counts=True)
        return 2 * np.pi * ((m[kept] + n // 2) % n - n // 2) / n, counts / len(m)

    def _converged_rules(self, min_im_z, make):
        # as in coarse_graining: a rule with n points on an edge of length L has the error exp(-4 n delta / L)
        density = 0.45 * -math.log(TOLERANCE) * self.cluster.lattice.steepest / (4 * min_im_z)
        enough = TOLERANCE ** (1 / 1.2)
        rule = make(density)
        probe = self._probe(rule, min_im_z, make == self._even_rule)
        while not self.isolated:
            density = 1.3 * density + 0.5
            rule = make(density)
            previous, probe = probe, self._probe(rule, min_im_z, make == self._even_rule)
            if np.abs(probe - previous).max() < enough:
                break
        rules = [rule]
        while not self.isolated and density > 4.0 * self._reach:  # below half of that h itself is not integrated
            density /= 2
            rules.append(make(density))
        return rules

    def _probe(self, rule, min_im_z, even):
        """Return the mean at 5 energies across the bands of one momentum of each orbit."""
        low, high = self.cluster.lattice.extrema
        x = np.linspace(low, high, 5) + 1j * min_im_z
        z = np.eye(self.cluster.lattice.bands)[:, :, None] * x
        means = np.array([[self._mean(spin, K, z, rule) for K in sorted({way[0] for way in self._ways})]
                          for spin in range(self.cluster.lattice.spins)])
        return self.group.action.average(means) if even else means


def inverse(m):
    """Return inverses of matrices [b, b, ...] whose anti-Hermitian part is definite, as that of z - h is.

    All Schur complements then are of this kind, so elimination needs no pivots.
    """
    if len(m) == 2:
        (a, b), (c, d) = m
        scale = 1.0 / (a * d - b * c)
        return np.array([[d * scale, -b * scale], [-c * scale, a * scale]])
    m = m.copy()
    for p in range(len(m)):
        pivot = 1.0 / m[p, p]
        m[p, p] = 1.0
        m[p] *= pivot
        for row in range(len(m)):
            if row != p:
                factor = m[row, p].copy()
                m[row, p] = 0.0
                m[row] -= factor * m[p]
    return m


def _blocks(offsets, weights):
    for start in range(0, len(weights), BLOCK):
        yield offsets[start:start + BLOCK], weights[start:start + BLOCK]


def _of_spin(cluster, spin):
    """Return the cluster of the one band of a spin."""
    return Cluster(Lattice({d: t[spin, 0, 0] for d, t in cluster.lattice.table.items()}), cluster.vectors)
