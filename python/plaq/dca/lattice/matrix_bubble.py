"""Bubbles of lattice functions with orbitals at any momentum transfer q, in the pieces of patches of `bubble`.

Functions have the phases of positions relative to the momenta K and K + Q (or Q - K) of their patches, as in
`matrix_coarse_graining`. Where a momentum lies in the patch of K + B, its Sigma is that of K + B with the phases
exp(-i B.(r_a - r_b)) that lead to functions relative to K.
"""

from __future__ import annotations

import numpy as np

from plaq.dca.lattice.bubble import Bubble
from plaq.dca.lattice.matrix_coarse_graining import inverse


class MatrixBubble(Bubble):
    """Bubble of a cluster with orbitals, whose up and down are equal, at the transfer q [D]; see `Bubble`.

    Called with z, z_partner [K, a, b, w] it returns <G_ab(k) G_cd(partner)> [K, a, b, c, d, w].
    """

    def __call__(self, z, z_partner):
        size = np.minimum(_damping(z), _damping(z_partner))
        octaves = np.maximum(np.floor(np.log2(size / self.min_im_z)), -1).astype(int)
        bands = z.shape[1]
        result = np.zeros((len(z), *[bands] * 4, z.shape[-1]), dtype=complex)
        for octave in np.unique(octaves):
            for own, partners, turn, partner_turn, h, h_partner, weights in self._table(octave):
                for K, (first, partner) in enumerate(zip(own, partners)):
                    for w in np.flatnonzero(octaves == octave):
                        g = inverse((turn * z[first, ..., w])[..., None] - h[K]) * weights
                        g_partner = inverse((partner_turn * z_partner[partner, ..., w])[..., None] - h_partner[K])
                        result[K, ..., w] += np.einsum("abx,cdx->abcd", g, g_partner)
        return result

    def _table(self, octave):
        """Return (patch [K] of k, of the partner; phases [a, b] of their Sigma; h [K][a, b, x] of both; weights [x]).

        One for each piece.
        """
        if octave not in self._tables:
            cluster, lattice = self.cluster, self.cluster.lattice
            largest = {d: np.abs(t).sum(axis=(0, -1)).max() for d, t in lattice.table.items()}
            tables = []
            for piece, beyond, partner_beyond in self._pieces:
                offsets, weights = self._rule(piece, octave, largest)
                sign, own = -1 if self.pairs else 1, self._shift + offsets
                partner = self.offset + sign * own  # k + q, or q - k, less K + Q or Q - K
                centres = cluster.momenta[self.nearest] + sign * cluster.momenta
                tables.append((self._patches(beyond), self._partners(partner_beyond), self._turn(beyond),
                               self._turn(partner_beyond), [self._h(K, own) for K in cluster.momenta],
                               [self._h(K, partner) for K in centres], weights))
            self._tables[octave] = tables
        return self._tables[octave]

    def _turn(self, beyond):
        v = np.exp(-1j * self.cluster.lattice.positions @ beyond)
        return v[:, None] * v.conj()

    def _h(self, K, offsets):
        """Return h(K + k) with the phases of positions relative to K, [a, b, x]."""
        lattice = self.cluster.lattice
        v = np.exp(-1j * (lattice.positions @ offsets.T))
        return lattice.elements(K + offsets, 0) * v[:, None] * v.conj()


def _damping(z):
    """Return the smallest |Im z| of all K at each frequency."""
    matrices = np.moveaxis(z, -1, 0)
    values = np.linalg.eigvalsh((matrices - matrices.conj().swapaxes(-2, -1)) / 2j)
    return np.where(values[..., 0] > 0, values[..., 0], -values[..., -1]).min(axis=1)
