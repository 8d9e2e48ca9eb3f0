"""Bubbles of lattice functions at any momentum transfer q, also between the momenta of the cluster, in D dimensions.

chi0_K(iw) = <G(k, iw) G(k + q, iw + inu)>, or <G(k, iw) G(q - k, inu - iw)> for pairs. With Q the cluster momentum
nearest to q, the mean is over k = K + x - (q - Q)/2 and k + q = K + Q + x + (q - Q)/2, with x in the patch of Gamma.
Both leave their patches by the same vector, so that the exchange of particle and hole stays a symmetry. (For pairs
they are K + x + (q - Q)/2 and Q - K - x + (q - Q)/2.) The self-energy of either function is that of the patch its
momentum lies in; the patch is divided into pieces accordingly. At q = Q there is one piece, and chi0 is that of
`CoarseGraining`.
"""

import itertools

import numpy as np

from plaq.dca.lattice.patch import legendre
from plaq.dca.lattice.polytope import Polytope

POINTS = 13.0  # of a Gauss rule, for the change of the band's energy along an edge over 4 |Im z|: errors below 1e-5
ON_BOUNDARY = 1e-9  # difference of squared lengths that counts as none, over that of a reciprocal vector


def nearest(cluster, q):
    """Return (index of the cluster momentum Q whose patch has q, q - Q [D]); the first of them on a boundary."""
    q = np.asarray(q, dtype=float)
    metric = np.linalg.inv(np.array(cluster.lattice.system.metric))
    turns = 2 * np.pi * np.array(list(itertools.product((-1, 0, 1), repeat=len(q))))
    reduced = (q + np.pi) % (2 * np.pi) - np.pi
    apart = reduced - cluster.momenta[:, None] + turns
    lengths = np.einsum("kti,ij,ktj->kt", apart, metric, apart)
    shortest = lengths.min(axis=1)
    index = int(np.argmax(shortest <= shortest.min() + ON_BOUNDARY * (2 * np.pi) ** 2))
    return index, apart[index, lengths[index].argmin()]


class Bubble:
    """Bubble of a cluster's lattice at the transfer q [D], in 1/a.

    min_im_z : the smallest |Im z| to come, about pi T; pairs : whether the partner of k is q - k, else k + q;
    factors : functions of k [..., D] whose products with the bubble are averaged too; isolated : as CoarseGraining's.
    nearest : index of the cluster momentum Q of q. InputError for an isolated cluster, where q is none of its momenta.
    """

    def __init__(self, cluster, q, min_im_z, pairs=False, factors=(), isolated=False):
        self.cluster, self.q, self.pairs = cluster, np.asarray(q, dtype=float), pairs
        self.factors, self.min_im_z = factors, min_im_z
        self.nearest, offset = nearest(cluster, self.q)
        zero = np.zeros(len(self.q))
        self.offset = zero if isolated else offset  # q - Q
        if isolated:
            cluster.momentum_index(self.q)
        self._shift = zero if isolated else offset / 2 if pairs else -offset / 2
        self._pieces = [(None, zero, zero)] if isolated else list(_pieces(cluster, offset, pairs))
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
            for piece, beyond, partner_beyond in self._pieces:
                offsets, weights = self._rule(piece, octave, cluster.lattice.hopping)
                k = cluster.momenta[:, None] + self._shift + offsets
                partner = self.q - k if self.pairs else self.q + k
                factors = [np.ones(k.shape[:2]), *(factor(k) for factor in self.factors)]
                tables.append((self._patches(beyond), self._partners(partner_beyond), cluster.lattice.dispersion(k),
                               cluster.lattice.dispersion(partner), np.stack(factors, axis=1) * weights))
            self._tables[octave] = tables
        return self._tables[octave]

    def _rule(self, piece, octave, hopping):
        """Return points [M, D] and weights [M] on a piece; the single momentum of an isolated cluster is None."""
        if piece is None:
            return np.zeros((1, len(self.q))), np.ones(1)
        return rule(piece, self.min_im_z * 2.0**octave, self.cluster, hopping)

    def _patches(self, beyond):
        """Return [K] the momenta K + B, with B a reciprocal vector of the superlattice."""
        return self.cluster.momentum_sum[:, self.cluster.momentum_index(beyond)]

    def _partners(self, beyond):
        """Return [K] the momenta K + Q + B, or Q - K + B for pairs."""
        start = self.cluster.momentum_index(self.cluster.momenta[self.nearest] + beyond)
        return self.cluster.momentum_difference[start] if self.pairs else self.cluster.momentum_sum[:, start]


def _pieces(cluster, offset, pairs):
    """Yield (polytope, B, B'): positions x where k is B beyond the patch of K, and its partner B' beyond its own."""
    vectors = [np.array(m) @ cluster.reciprocal for m in itertools.product(range(-2, 3), repeat=len(offset))]
    patch = Polytope.around_zero(cluster)
    for beyond in vectors:
        own = patch.common(patch.moved(beyond - offset / 2 if pairs else beyond + offset / 2))
        for partner_beyond in vectors if own is not None else ():
            both = own.common(patch.moved(offset / 2 - partner_beyond if pairs else partner_beyond - offset / 2))
            if both is not None:
                yield both, beyond, partner_beyond


def rule(piece, im_z, cluster, hopping):
    """Return points [M, D] and weights [M] on a convex piece; weights of all pieces of a patch add to 1.

    hopping : {displacement: amplitude, or its bound}. Gauss rules, whose error falls as exp(-4 n delta / L) with n
    points on an edge of length L, and the poles at delta = im_z / |d eps/dk| from it.
    """
    d, t = (np.array(list(x)) for x in (hopping, hopping.values()))
    turn = lambda edge: np.abs(np.vstack([d, np.eye(d.shape[1])]) @ edge).max()  # of the waves in eps, in form factors
    points, weights = [], []
    for cell in piece.cells():
        counts = [4 + int(max(POINTS * (np.abs(t) @ np.abs(d @ edge)) / (4 * im_z) + 1.5 * turn(edge)
                              for edge in parallel)) for parallel in cell.along]
        x, w = cell.product([legendre(count) for count in counts])
        points.append(x)
        weights.append(w)
    return np.concatenate(points), np.concatenate(weights) / abs(np.linalg.det(cluster.reciprocal))
