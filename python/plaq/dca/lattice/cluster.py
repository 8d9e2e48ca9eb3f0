"""A periodic cluster: sites modulo a superlattice, its momenta, and the momentum patches around them."""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING

import numpy as np

from plaq.data.display import Drawing, block, head
from plaq.data.formatting import momentum
from plaq.dca.lattice.interaction import adjugate, determinant
from plaq.dca.lattice.patch import (
    obtuse_superbase,
    parallelograms,
    product_rule,
    voronoi_cell,
    voronoi_edges,
    wave_means,
    zonotope_cells,
)
from plaq.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_SITES = 64


class Cluster:
    """The N_c cells of a lattice modulo the superlattice that D integer vectors (rows of `vectors`) span.

    size                       N_c = |det vectors|
    sites [N_c, D]             integers, the shortest of the equivalent ones; origin first, then by length
    momenta [N_c, D]           K with vectors.K in 2 pi Z, components in (-pi, pi]; Gamma first; ordered by
                               (K_z, K_y, K_x) in [0, 2 pi), so 2x2 has (0,0), (pi,0), (0,pi), (pi,pi)
    names [N_c]                the momenta in words: "(π,0)"
    site_difference [i, j]     index of R_i - R_j
    momentum_sum, momentum_difference [i, j]   indices of K_i + K_j and K_i - K_j
    minus [i]                  index of -K_i
    fourier [K, R]             exp(-i K.R): f(K) = sum_R exp(-i K.R) f(R), f(R) = 1/N_c sum_K exp(i K.R) f(K)
    patch [n, D]               corners of the Wigner-Seitz cell of the reciprocal superlattice around Gamma, in
                               order in two dimensions; the patch of K is K + patch, the patches tile the zone

    Raises InputError (key model.cluster) when vectors are not D x D integers, are singular, or span more than
    64 sites.
    """

    def __init__(self, lattice, vectors):
        self.lattice = lattice
        self.vectors = _validated(vectors, lattice.dimension)
        det = determinant(self.vectors.tolist())
        self.size = abs(det)
        # R = (R adjugate / det) vectors: two sites are equivalent when R adjugate agrees modulo det.
        self._adjugate = np.array(adjugate(self.vectors.tolist()))
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
        self.reciprocal = 2 * np.pi * self._adjugate.T / det
        self.patch = voronoi_cell(self.reciprocal, np.linalg.inv(np.array(lattice.system.metric)))

    def plot(self) -> Figure:
        """Return a figure: the sites in their cell, and the momenta in their patches of the Brillouin zone."""
        return self._drawing().figure()

    def _drawing(self) -> Drawing:
        from plaq.dca.lattice.picture import cluster

        return Drawing(lambda theme: cluster(self, theme), "Sites and momenta", "Left: the sites and the cell that "
                       "repeats; right: the cluster momenta and their patches, with the first Brillouin zone.")

    def __repr__(self) -> str:
        words = ", ".join(f"({','.join(map(str, row))})" for row in self.vectors.tolist())
        return f"<plaq dca cluster of {self.size} sites: {words}; K = {' '.join(self.names[:8])}" + (
            " …>" if self.size > 8 else ">")

    def _repr_html_(self) -> str:
        drawing = self._drawing()
        return block(head(repr(self)[1:-1]), drawing.content())

    def k_rule(self, density):
        """Return offsets [M, D] from a cluster momentum and weights [M] of the mean over its patch."""
        return product_rule(self.patch_cells, density)

    def patch_means(self, x):
        """Return the means of exp(i k.x) over the offsets k of a patch, for x [n, D]; they are real."""
        return wave_means(self.patch_cells, x)

    @functools.cached_property
    def patch_cells(self):
        """Parallelepipeds (origin, edge, ...) that a patch consists of, as offsets from its momentum."""
        if self.lattice.dimension == 2:
            return parallelograms(self.patch)
        metric = np.linalg.inv(np.array(self.lattice.system.metric))
        return zonotope_cells(voronoi_edges(obtuse_superbase(self.reciprocal, metric), metric))

    def to_momenta(self, f_sites, axis=0):
        """Return f(K) = sum_R exp(-i K.R) f(R) along an axis, the first unless another is given."""
        return np.moveaxis(np.tensordot(self.fourier, np.moveaxis(f_sites, axis, 0), axes=1), 0, axis)

    def to_sites(self, f_momenta, axis=0):
        """Return f(R) = 1/N_c sum_K exp(i K.R) f(K) along an axis, the first unless another is given."""
        return np.moveaxis(np.tensordot(self.fourier.conj().T, np.moveaxis(f_momenta, axis, 0), axes=1) / self.size,
                           0, axis)

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

    def patch_index(self, k):
        """Return the indices [...] of the momenta whose patches hold the points k [..., D]; of one on an edge, any."""
        return self.nearest(k)[0]

    def nearest(self, k):
        """Return the indices [...] of the momenta nearest to points k [..., D], and the offsets [..., D] from them."""
        k = np.asarray(k, dtype=float)
        best, index, offset = np.full(k.shape[:-1], np.inf), np.zeros(k.shape[:-1], dtype=int), np.zeros(k.shape)
        metric = np.linalg.inv(np.array(self.lattice.system.metric))
        for i, K in enumerate(self.momenta):
            # into the cell around K of the reciprocal lattice, then to the nearest of its images around that cell
            inside = (k - K + np.pi) % (2 * np.pi) - np.pi
            for shift in itertools.product((0, -1, 1), repeat=self.lattice.dimension):
                moved = inside + 2 * np.pi * np.array(shift)
                distance = np.einsum("...i,ij,...j->...", moved, metric, moved)
                closer = distance < best - 1e-12
                best, index = np.where(closer, distance, best), np.where(closer, i, index)
                offset = np.where(closer[..., None], moved, offset)
        return index, offset

    @property
    def energies(self):
        """eps(K) [N_c] at the cluster momenta themselves: the dispersion of the isolated periodic cluster."""
        return self.lattice.dispersion(self.momenta)

    def hopping_matrix(self, spin=0):
        """Return t_ij of the isolated periodic cluster, summed over all images: [N_c b, N_c b].

        The index is cell * b + orbital. For one orbital eps(K) is its diagonal in K.
        """
        b = self.lattice.bands
        t = np.zeros((self.size, b, self.size, b))
        for d, amplitudes in self.lattice.table.items():
            for j, r in enumerate(self.sites):
                t[self._site_at(r + d), :, j, :] += amplitudes[min(spin, self.lattice.spins - 1)]
        return t.reshape(self.size * b, self.size * b)

    def _site_key(self, r):
        return tuple(r @ self._adjugate % self.size)

    def _site_at(self, r):
        return self._site_index[self._site_key(r)]

    def _momentum_at(self, m):
        return self._momentum_index[tuple(m % self.size)]

    def _table(self, points, index, sign):
        return np.array([[index(p + sign * q) for q in points] for p in points])

    def _find_sites(self):
        # The shortest of each class is in the Voronoi cell of the superlattice, which is inside the box of half the
        # sum of its reduced vectors; of several equally short the one with the largest (R_z, R_y, R_x) is taken.
        metric = np.array(self.lattice.system.metric)
        half = np.abs(obtuse_superbase(self.vectors, metric)).sum(axis=0) / 2
        axes = [np.arange(-reach, reach + 1) for reach in np.floor(half + 1e-9).astype(int)]
        box = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
        length = np.einsum("ri,ij,rj->r", box, metric, box)
        box = box[np.lexsort((*(-box.T), length))]
        shortest = {}
        for r, key in zip(box, map(tuple, (box @ self._adjugate % self.size).tolist())):
            shortest.setdefault(key, r)
        rank = lambda r: (int(r @ metric @ r), *r[::-1].tolist())
        return np.array(sorted(shortest.values(), key=rank))

    def _find_momenta(self):
        count, dimension = self.size, self.lattice.dimension
        m = np.stack(np.unravel_index(np.arange(count**dimension), [count] * dimension)[::-1], axis=-1)
        return m[np.all(m @ self.vectors.T % count == 0, axis=-1)]


def _validated(vectors, dimension):
    shape, examples = {1: ("one integer", "[[4]]"), 2: ("2x2 table of integers", "[[2, 0], [0, 2]]"),
                       3: ("3x3 table of integers", "[[2, 0, 0], [0, 2, 0], [0, 0, 2]]")}[dimension]
    words = {1: "one integer vector that spans", 2: "two independent integer vectors that span",
             3: "three independent integer vectors that span"}[dimension]
    allowed = f"{words} at most {MAX_SITES} sites, like {examples}"
    try:
        values = np.array(vectors, dtype=float)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    if values.shape != (dimension,) * 2 or not np.all(np.isfinite(values)) or np.any(values != np.rint(values)):
        raise InputError(f"model.cluster = {vectors}: not a {shape}; allowed: {allowed}")
    integers = values.astype(int)
    size = abs(determinant(integers.tolist()))
    if size == 0:
        how = {1: "the vector is zero", 2: "the two vectors are parallel",
               3: "the three vectors lie in a plane"}[dimension]
        raise InputError(f"model.cluster = {vectors}: {how}; allowed: {allowed}")
    if size > MAX_SITES:
        raise InputError(f"model.cluster = {vectors}: {size} sites; allowed: {allowed}")
    return integers
