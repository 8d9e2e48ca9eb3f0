"""Bubbles of lattice functions at any momentum transfer q, also between the momenta of the cluster.

chi0_K(iw) = <G(k, iw) G(k + q, iw + inu)>, or <G(k, iw) G(q - k, inu - iw)> for pairs. With Q the cluster momentum
nearest to q, the mean is over k = K + x - (q - Q)/2 and k + q = K + Q + x + (q - Q)/2, with x in the patch of Gamma.
Both leave their patches by the same vector, so that the exchange of particle and hole stays a symmetry. (For pairs
they are K + x + (q - Q)/2 and Q - K - x + (q - Q)/2.) The self-energy of either function is that of the patch its
momentum lies in; the patch is divided into pieces accordingly. At q = Q there is one piece, and chi0 is that of
`CoarseGraining`.
"""

import functools
import itertools

import numpy as np

from plaq.dca.lattice.patch import parallelograms

POINTS = 13.0  # of a Gauss rule, for the change of the band's energy along an edge over 4 |Im z|: errors below 1e-5
ON_BOUNDARY = 1e-9  # difference of lengths that counts as none, over the length of a reciprocal vector


def nearest(cluster, q):
    """Return (index of the cluster momentum Q whose patch has q, q - Q [2]); the first of them on a boundary."""
    q = np.asarray(q, dtype=float)
    metric = np.linalg.inv(np.array(cluster.lattice.system.metric))
    turns = 2 * np.pi * np.array(list(itertools.product((-1, 0, 1), repeat=2)))
    reduced = (q + np.pi) % (2 * np.pi) - np.pi
    apart = reduced - cluster.momenta[:, None] + turns
    lengths = np.einsum("kti,ij,ktj->kt", apart, metric, apart)
    shortest = lengths.min(axis=1)
    index = int(np.argmax(shortest <= shortest.min() + ON_BOUNDARY * (2 * np.pi) ** 2))
    return index, apart[index, lengths[index].argmin()]


class Bubble:
    """Bubble of a cluster's lattice at the transfer q [2], in 1/a.

    min_im_z : the smallest |Im z| to come, about pi T; pairs : whether the partner of k is q - k, else k + q;
    factors : functions of k [..., 2] whose products with the bubble are averaged too; isolated : as CoarseGraining's.
    nearest : index of the cluster momentum Q of q. InputError for an isolated cluster, where q is none of its momenta.
    """

    def __init__(self, cluster, q, min_im_z, pairs=False, factors=(), isolated=False):
        self.cluster, self.q, self.pairs = cluster, np.asarray(q, dtype=float), pairs
        self.factors, self.min_im_z = factors, min_im_z
        self.nearest, offset = nearest(cluster, self.q)
        self.offset = np.zeros(2) if isolated else offset  # q - Q
        if isolated:
            cluster.momentum_index(self.q)
        self._shift = np.zeros(2) if isolated else offset / 2 if pairs else -offset / 2
        self._pieces = [(None, np.zeros(2), np.zeros(2))] if isolated else list(_pieces(cluster, offset, pairs))
        self._tables = {}

    def __call__(self, z, z_partner):
        """Return [f, K, w], patch means of the product and of the product times each factor.

        z, z_partner : [K, w], iw + mu - Sigma of a k and of a partner that lie in the patch of K. |Im z| rises by
        octaves, and with it the spacing of the momenta.
        """
        size = np.minimum(np.abs(z.imag).min(axis=0), np.abs(z_partner.imag).min(axis=0))
        octaves = np.maximum(np.floor(np.log2(size / self.min_im_z)), -1).astype(int)
        result = np.zeros((1 + len(self.factors), *z.shape), dtype=complex)
        for octave in np.unique(octaves):
            w = np.flatnonzero(octaves == octave)
            for own, partners, bands, partner_bands, weights in self._table(octave):
                for K, (first, partner) in enumerate(zip(own, partners)):
                    product = 1 / ((z[first, w, None] - bands[K]) * (z_partner[partner, w, None] - partner_bands[K]))
                    result[:, K, w] += np.einsum("wx,fx->fw", product, weights[K])
        return result

    def _table(self, octave):
        """Return (patch of k [K], of the partner [K], eps of k [K, x], of the partner [K, x], weights [K, f, x]).

        One for each piece.
        """
        if octave not in self._tables:
            cluster = self.cluster
            tables = []
            for corners, beyond, partner_beyond in self._pieces:
                offsets, weights = (np.zeros((1, 2)), np.ones(1)) if corners is None else rule(
                    corners, self.min_im_z * 2.0**octave, cluster, cluster.lattice.hopping)
                k = cluster.momenta[:, None] + self._shift + offsets
                partner = self.q - k if self.pairs else self.q + k
                factors = [np.ones(k.shape[:2]), *(factor(k) for factor in self.factors)]
                tables.append((self._patches(beyond), self._partners(partner_beyond), cluster.lattice.dispersion(k),
                               cluster.lattice.dispersion(partner), np.stack(factors, axis=1) * weights))
            self._tables[octave] = tables
        return self._tables[octave]

    def _patches(self, beyond):
        """Return [K] the momenta K + B, with B a reciprocal vector of the superlattice."""
        return self.cluster.momentum_sum[:, self.cluster.momentum_index(beyond)]

    def _partners(self, beyond):
        """Return [K] the momenta K + Q + B, or Q - K + B for pairs."""
        start = self.cluster.momentum_index(self.cluster.momenta[self.nearest] + beyond)
        return self.cluster.momentum_difference[start] if self.pairs else self.cluster.momentum_sum[:, start]


def _pieces(cluster, offset, pairs):
    """Yield (corners [n, 2], B, B'): positions x where k is B beyond the patch of K, and its partner B' beyond its own.
    """
    reciprocal = 2 * np.pi * np.linalg.inv(cluster.vectors).T
    vectors = [np.array(m) @ reciprocal for m in itertools.product(range(-2, 3), repeat=2)]
    area = _area(cluster.patch)
    for beyond in vectors:
        own = clipped(cluster.patch, cluster.patch + (beyond - offset / 2 if pairs else beyond + offset / 2))
        for partner_beyond in vectors if len(own) > 2 else ():
            moved = cluster.patch + (offset / 2 - partner_beyond if pairs else partner_beyond - offset / 2)
            corners = clipped(own, moved)
            if len(corners) > 2 and _area(corners) > 1e-12 * area:
                yield corners, beyond, partner_beyond


def clipped(corners, by):
    """Return the corners of the common part of two convex polygons [n, 2], counterclockwise (Sutherland, Hodgman)."""
    scale = np.abs(by).max()
    for a, b in zip(by, np.roll(by, -1, axis=0)):
        inside = (b[0] - a[0]) * (corners[:, 1] - a[1]) - (b[1] - a[1]) * (corners[:, 0] - a[0])
        inside = np.where(np.abs(inside) < ON_BOUNDARY * scale**2, 0.0, inside)
        kept = []
        for i in range(len(corners)):
            j = (i + 1) % len(corners)
            if inside[i] >= 0:
                kept.append(corners[i])
            if inside[i] * inside[j] < 0:
                kept.append(corners[i] + inside[i] / (inside[i] - inside[j]) * (corners[j] - corners[i]))
        corners = np.array(kept).reshape(-1, 2)
    return corners


def _area(corners):
    x, y = corners.T
    return 0.5 * abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))


def rule(corners, im_z, cluster, hopping):
    """Return points [M, 2] and weights [M] on a convex polygon; weights of all pieces of a patch add to 1.

    hopping : {displacement: amplitude, or its bound}. Gauss rules, whose error falls as exp(-4 n delta / L) with n
    points on an edge of length L, and the poles at delta = im_z / |d eps/dk| from it.
    """
    d, t = (np.array(list(x)) for x in (hopping, hopping.values()))
    turn = lambda edge: np.abs(np.vstack([d, np.eye(2)]) @ edge).max()  # of the waves in eps and in form factors
    points, weights = [], []
    for origin, u, v, narrowing in _cells(corners):
        edges = [u, u + v if narrowing else u], [v]  # along x at either end of y; along y
        counts = (4 + int(max(POINTS * (np.abs(t) @ np.abs(d @ edge)) / (4 * im_z) + 1.5 * turn(edge)
                              for edge in parallel)) for parallel in edges)
        (x, wx), (y, wy) = map(_legendre, counts)
        across = x[:, None] if narrowing else np.ones((len(x), 1))
        points.append((origin + x[:, None, None] * u + (across * y)[..., None] * v).reshape(-1, 2))
        weights.append((wx[:, None] * across * wy).ravel() * abs(u[0] * v[1] - u[1] * v[0]))
    return np.concatenate(points), np.concatenate(weights) / _area(cluster.patch)


def _cells(corners):
    """Yield (origin, u, v, narrowing): points origin + x u + y v, with y times x in a triangle, 0 < x, y < 1."""
    if len(corners) == 4 and np.allclose(corners[0] + corners[2], corners[1] + corners[3], rtol=0, atol=1e-9):
        yield *parallelograms(corners)[0], False
        return
    for b, c in zip(corners[1:], corners[2:]):
        yield corners[0], b - corners[0], c - b, True


@functools.lru_cache(maxsize=512)
def _legendre(n):
    x, w = np.polynomial.legendre.leggauss(n)
    return 0.5 * (x + 1), 0.5 * w
