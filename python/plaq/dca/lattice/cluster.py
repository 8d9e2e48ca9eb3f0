"""A periodic cluster: sites modulo a superlattice, its momenta, and the momentum patches around them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from plaq.data.display import Drawing, block, head
from plaq.data.formatting import momentum
from plaq.dca.lattice.patch import voronoi_cell
from plaq.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_SITES = 64


class Cluster:
    """The N_c sites of a lattice modulo the superlattice that two integer vectors (rows of `vectors`) span.

    size                       N_c = |det vectors|
    sites [N_c, 2]             integers, the shortest of the equivalent ones; origin first, then by length
    momenta [N_c, 2]           K with vectors.K in 2 pi Z, components in (-pi, pi]; Gamma first; ordered by
                               (K_y, K_x) in [0, 2 pi), so 2x2 has (0,0), (pi,0), (0,pi), (pi,pi)
    names [N_c]                the momenta in words: "(π,0)"
    site_difference [i, j]     index of R_i - R_j
    momentum_sum, momentum_difference [i, j]   indices of K_i + K_j and K_i - K_j
    minus [i]                  index of -K_i
    fourier [K, R]             exp(-i K.R): f(K) = sum_R exp(-i K.R) f(R), f(R) = 1/N_c sum_K exp(i K.R) f(K)
    patch [6 or 4, 2]          corners of the Wigner-Seitz cell of the reciprocal superlattice around Gamma, in
                               order; the patch of K is K + patch, the patches tile the Brillouin zone

    Raises InputError (key model.cluster) when vectors are not 2x2 integers, are singular, or span more than
    64 sites.
    """

    def __init__(self, lattice, vectors):
        self.lattice = lattice
        self.vectors = _validated(vectors)
        (a, b), (c, d) = self.vectors
        det = a * d - b * c
        self.size = abs(int(det))
        # R = (R adjugate / det) vectors: two sites are equivalent when R adjugate agrees modulo det.
        self._adjugate = np.array([[d, -b], [-c, a]])
        self.sites = self._find_sites()
        self._site_index = {self._site_key(r): i for i, r in enumerate(self.sites)}
        # K = 2 pi m / N_c with integers m: exact arithmetic on m throughout.
        self._m = self._find_momenta()
        self._momentum_index = {tuple(m): i for i, m in enumerate(self._m)}
        centred = np.where(2 * self._m > self.size, self._m - self.size, self._m)
        self.momenta = 2 * np.pi * centred / self.size
        self.names = tuple(map(momentum, self.momenta))

        self.site_difference = self._table(self.sites, self._site_at, -1)
        self.momentum_sum = self._table(self._m, self._momentum_at, 1)
        self.momentum_difference = self._table(self._m, self._momentum_at, -1)
        self.minus = self.momentum_difference[0]
        # The phase is an integer multiple of 2 pi / N_c: reduced first, so that it is exact for long vectors.
        self.fourier = np.exp(-2j * np.pi * ((self._m @ self.sites.T) % self.size) / self.size)
        reciprocal = 2 * np.pi * self._adjugate.T / det
        self.patch = voronoi_cell(reciprocal, np.linalg.inv(np.array(lattice.system.metric)))

    def plot(self) -> Figure:
        """Return a figure: the sites in their cell, and the momenta in their patches of the Brillouin zone."""
        return self._drawing().figure()

    def _drawing(self) -> Drawing:
        from plaq.dca.lattice.picture import cluster

        return Drawing(lambda theme: cluster(self, theme), "Sites and momenta", "Left: the sites and the cell that "
                       "repeats; right: the cluster momenta and their patches, with the first Brillouin zone.")

    def __repr__(self) -> str:
        words = ", ".join(f"({x},{y})" for x, y in self.vectors.tolist())
        return f"<plaq dca cluster of {self.size} sites: {words}; K = {' '.join(self.names[:8])}" + (
            " …>" if self.size > 8 else ">")

    def _repr_html_(self) -> str:
        drawing = self._drawing()
        return block(head(repr(self)[1:-1]), drawing.content())

    def to_momenta(self, f_sites):
        """Return f(K) = sum_R exp(-i K.R) f(R) along the first axis."""
        return np.tensordot(self.fourier, f_sites, axes=1)

    def to_sites(self, f_momenta):
        """Return f(R) = 1/N_c sum_K exp(i K.R) f(K) along the first axis."""
        return np.tensordot(self.fourier.conj().T, f_momenta, axes=1) / self.size

    def site_index(self, vector):
        """Return index of the site equivalent to an integer lattice vector."""
        return self._site_at(np.asarray(vector, dtype=int))

    def momentum_index(self, vector):
        """Return index of the momentum equivalent to a vector (in radians); InputError when the cluster has none."""
        m = np.asarray(vector, dtype=float) * self.size / (2 * np.pi)
        key = tuple(np.rint(m).astype(int) % self.size)
        if np.abs(m - np.rint(m)).max() > 1e-6 or key not in self._momentum_index:
            raise InputError(f"{tuple(vector)} is not a cluster momentum; these are: {' '.join(self.names)}")
        return self._momentum_index[key]

    @property
    def energies(self):
        """eps(K) [N_c] at the cluster momenta themselves: the dispersion of the isolated periodic cluster."""
        return self.lattice.dispersion(self.momenta)

    def hopping_matrix(self):
        """Return t_ij [N_c, N_c] of the isolated periodic cluster, summed over all images; eps(K) on its diagonal in K.
        """
        t = np.zeros((self.size, self.size))
        for d, amplitude in self.lattice.hopping.items():
            for j, r in enumerate(self.sites):
                t[self._site_at(r + d), j] += amplitude
        return t

    def _site_key(self, r):
        return tuple(r @ self._adjugate % self.size)

    def _site_at(self, r):
        return self._site_index[self._site_key(r)]

    def _momentum_at(self, m):
        return self._momentum_index[tuple(m % self.size)]

    def _table(self, points, index, sign):
        return np.array([[index(p + sign * q) for q in points] for p in points])

    def _find_sites(self):
        # The box holds every class: the Hermite form of `vectors` has no entry above N_c.
        shortest = {}
        metric = np.array(self.lattice.system.metric)
        for x, y in itertools.product(range(-self.size, self.size + 1), repeat=2):
            r = np.array([x, y])
            rank = (int(r @ metric @ r), -y, -x)
            key = self._site_key(r)
            if key not in shortest or rank < shortest[key][0]:
                shortest[key] = (rank, r)
        length = {tuple(r): rank[0] for rank, r in shortest.values()}
        return np.array(sorted(length, key=lambda r: (length[r], r[1], r[0])))

    def _find_momenta(self):
        y, x = np.divmod(np.arange(self.size**2), self.size)
        m = np.stack([x, y], axis=-1)
        return m[np.all(m @ self.vectors.T % self.size == 0, axis=-1)]


def _validated(vectors):
    allowed = f"two independent integer vectors that span at most {MAX_SITES} sites, like [[2, 0], [0, 2]]"
    try:
        values = np.array(vectors, dtype=float)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    if values.shape != (2, 2) or not np.all(np.isfinite(values)) or np.any(values != np.rint(values)):
        raise InputError(f"model.cluster = {vectors}: not a 2x2 table of integers; allowed: {allowed}")
    integers = values.astype(int)
    size = abs(int(integers[0, 0] * integers[1, 1] - integers[0, 1] * integers[1, 0]))
    if size == 0:
        raise InputError(f"model.cluster = {vectors}: the two vectors are parallel; allowed: {allowed}")
    if size > MAX_SITES:
        raise InputError(f"model.cluster = {vectors}: {size} sites; allowed: {allowed}")
    return integers
