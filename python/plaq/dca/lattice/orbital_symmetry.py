"""Symmetry of a cluster with orbitals: the operations that keep hopping and interaction, and averages over them."""

from __future__ import annotations

import itertools

import numpy as np

from plaq.dca.lattice.operations import find_operations


def symmetries(cluster, interaction=None, isolated=False):
    """Return the operations of the lattice that keep hopping and interaction, whether or not they fit the cluster.

    Where hopping does not connect all orbitals, the interaction says how the others move along. With patches
    (not isolated) only operations that move the positions of orbitals along are symmetries.
    """
    lattice = cluster.lattice
    found, groups = lattice.operations, lattice.bonds.components()
    if interaction is not None:
        couplings = Couplings(cluster, interaction)
        if len(groups) > 1:
            found = [op for g in lattice.point_group
                     for op in find_operations(lattice.bonds, g, couplings.shifts_between)]
            found.sort(key=lambda op: not op.is_identity)
        found = [op for op in found if couplings.keeps(op)]
    return [op for op in found if isolated or _moves_positions(op, lattice.positions, groups)]


def _moves_positions(op, positions, groups):
    """Return whether position r_a goes to g r_a + constant, in each group of orbitals that hopping connects."""
    change = positions[op.orbitals] + op.shifts - positions @ op.matrix.T
    return all(np.abs(change[group] - change[group[0]]).max() < 1e-6 for group in groups)


class Couplings:
    """Interaction as numbers {(cell, a, b): [spin of a, spin of b]} between orbital a in cell 0 and b in another."""

    def __init__(self, cluster, interaction):
        self.cluster = cluster
        self._of = {}
        for p in interaction.pairs:
            for d, a, s, b, t in ((p.d, p.a, p.spin_a, p.b, p.spin_b), (-np.array(p.d), p.b, p.spin_b, p.a, p.spin_a)):
                self._of.setdefault((cluster.site_index(d), a, b), np.zeros((2, 2)))[s, t] += p.value
        self._exchanges = {}
        for e in interaction.exchanges:
            key = (e.a, e.b, e.c, e.d)
            self._exchanges[key] = self._exchanges.get(key, 0.0) + e.value
        values = [np.abs(v).max() for v in self._of.values()] + [abs(v) for v in self._exchanges.values()]
        self._tolerance = 1e-12 * max(values, default=0.0)

    def shifts_between(self, g, a, b, image_a, image_b, flip):
        """Return possible shifts of orbital b against a under g; None without an interaction between them."""
        here = {cell: v for (cell, i, j), v in self._of.items() if (i, j) == (a, b)}
        there = {cell: v for (cell, i, j), v in self._of.items() if (i, j) == (image_a, image_b)}
        if not here:
            return None
        cell, value = next(iter(here.items()))
        value = value[::-1, ::-1] if flip else value
        moved = g @ self.cluster.sites[cell]
        return [self.cluster.sites[other] - moved for other, v in there.items() if self._alike(v, value)]

    def keeps(self, op) -> bool:
        """Return whether the operation leaves all couplings as they are."""
        for (cell, a, b), v in self._of.items():
            moved = self.cluster.site_index(op.matrix @ self.cluster.sites[cell] + op.shifts[b] - op.shifts[a])
            image = self._of.get((moved, op.orbitals[a], op.orbitals[b]))
            if image is None or not self._alike(image, v[::-1, ::-1] if op.flip else v):
                return False
        for orbitals, v in self._exchanges.items():
            legs = list(orbitals)
            image = op.orbitals[legs].tolist()
            if op.flip:  # c+a,up cb,up c+c,dn cd,dn -> c+a,dn cb,dn c+c,up cd,up
                image = image[2:] + image[:2]
            if np.ptp(op.shifts[legs], axis=0).any() or abs(
                    self._exchanges.get(tuple(image), 0.0) - np.prod(op.signs[legs]) * v) > self._tolerance:
                return False
        return True

    def _alike(self, v, w):
        return np.abs(v - w).max() <= self._tolerance


class OrbitalAction:
    """Averages over a point group of functions with orbitals.

    An operation takes f_ab(K) to sign_a sign_b exp(i gK.(shift_a - shift_b)) f_(image a, image b)(gK), which are equal
    for G, Sigma and h. Real amplitudes give f_ab(-K) = f_ba(K) in addition. Orbitals whose signs are free (no hopping,
    and no exchange that changes an odd number of their electrons, connects them) have no f_ab.

    orbital_orbits  lists of equivalent orbitals
    mask [b, b]     whether f_ab can be there
    """

    def __init__(self, cluster, found, momentum_permutations, interaction=None, mask=None):
        self.cluster, self.operations = cluster, tuple(found)
        self._momenta = momentum_permutations
        self.mask = _connected(cluster.lattice, interaction) if mask is None else mask
        first = np.min([op.orbitals for op in self.operations], axis=0)
        self.orbital_orbits = [np.flatnonzero(first == a) for a in np.unique(first)]

    def factors(self, index):
        """Return the factors [K, a] of an operation on c_{K,a}: sign_a exp(i gK.shift_a)."""
        op, momenta = self.operations[index], self.cluster.momenta[self._momenta[index]]
        return op.signs * np.exp(1j * momenta @ op.shifts.T)

    def phases(self, index):
        """Return the factors [K, a, b] of an operation on functions like G."""
        factor = self.factors(index)
        return factor[:, :, None] * factor[:, None, :].conj()

    def image(self, index, f):
        """Return the image of f [S, K, a, b, ...] under an operation."""
        op = self.operations[index]
        image = f[:, self._momenta[index]][:, :, op.orbitals][:, :, :, op.orbitals]
        phases = self.phases(index).reshape(image.shape[1:4] + (1,) * (f.ndim - 4))
        return (image[::-1] if op.flip and len(f) == 2 else image) * phases

    def trace(self, index):
        """Return the trace of an operation in the space of functions of (K, a, b)."""
        op, K = self.operations[index], self._momenta[index]
        own = np.flatnonzero(op.orbitals == np.arange(len(op.orbitals)))
        return self.phases(index)[K == np.arange(len(K))][:, own][:, :, own].sum()

    def images(self, f):
        """Yield the images of f [S, K, a, b, ...] under all operations."""
        return (self.image(index, f) for index in range(len(self.operations)))

    def irreducible(self):
        """Return for every K (first momentum of its orbit, index of an operation, whether K -> -K follows it).

        f_ab(K) is then phases(operation)[K] f_(images)(first), transposed where K -> -K follows: f(-K) is meant first.
        Operations that exchange spins are left out.
        """
        minus, ways = self.cluster.minus, []
        for K in range(self.cluster.size):
            ways.append(min((self._momenta[index][minus[K] if reverse else K], reverse, index)
                            for index, op in enumerate(self.operations) if not op.flip for reverse in (False, True)))
        return [(int(first), index, reverse) for first, reverse, index in ways]

    def from_irreducible(self, f, K, way):
        """Return f(K) [S, a, b, ...] from a symmetric f [S, K, a, b, ...] that is known at the first of its orbit."""
        first, index, reverse = way
        op = self.operations[index]
        image = f[:, first][:, op.orbitals][:, :, op.orbitals]
        image = image * self.phases(index)[self.cluster.minus[K] if reverse else K].reshape(
            image.shape[1:3] + (1,) * (image.ndim - 3))
        return image.swapaxes(1, 2) if reverse else image

    def average(self, f):
        """Return the invariant part of a function f [S, K, a, b, ...] like G, Sigma or h."""
        f = np.asarray(f)
        mean = sum(self.images(f)) / len(self.operations)
        mean = (mean + mean[:, self.cluster.minus].swapaxes(2, 3)) / 2
        return np.where(self.mask.reshape(self.mask.shape + (1,) * (f.ndim - 4)), mean, 0.0)

    def average_pairs(self, c):
        """Return the invariant part of correlations c [s, s', R, a, b, ...] of densities, a in R and b in 0.

        Invariance under exchange of the two densities is used too: it must hold.
        """
        c, cells = np.asarray(c), self.cluster
        total = np.zeros(c.shape, dtype=c.dtype)
        for op in self.operations:
            for a, b in itertools.product(range(cells.lattice.bands), repeat=2):
                moved = [cells.site_index(op.matrix @ r + op.shifts[a] - op.shifts[b]) for r in cells.sites]
                image = c[:, :, moved, op.orbitals[a], op.orbitals[b]]
                total[:, :, :, a, b] += image[::-1, ::-1] if op.flip else image
        mean = total / len(self.operations)
        opposite = [cells.site_index(-r) for r in cells.sites]
        return (mean + mean[:, :, opposite].swapaxes(0, 1).swapaxes(3, 4)) / 2

    def average_orbitals(self, n):
        """Return the mean of numbers n [s, a, ...] over equivalent orbitals (and spins, where an operation flips)."""
        n = np.asarray(n)
        return sum((n[::-1] if op.flip and len(n) == 2 else n)[:, op.orbitals] for op in self.operations) / len(
            self.operations)


def _connected(lattice, interaction):
    """Return mask [b, b] of orbitals whose relative sign is fixed."""
    group = np.zeros(lattice.bands, dtype=int)
    for number, members in enumerate(lattice.bonds.components()):
        group[members] = number
    for e in interaction.exchanges if interaction is not None else ():
        legs = group[[e.a, e.b, e.c, e.d]]
        if odd := [number for number in np.unique(legs) if np.sum(legs == number) % 2]:
            group[np.isin(group, odd)] = odd[0]
    return group[:, None] == group[None, :]
