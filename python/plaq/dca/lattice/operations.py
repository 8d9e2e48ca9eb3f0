"""Symmetry operations of a lattice with orbitals: found from the tables, not from positions.

An operation maps c_{R,a} to sign_a c_{gR + shift_a, orbital_a}. For an integer matrix g the images of the orbitals are
found one after the other: the bonds between two orbitals fix the shift and the sign of the second.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Operation:
    """c_{R,a} -> signs[a] c_{matrix R + shifts[a], orbitals[a]}: [D, D], [b, D], [b] and [b]; flip: up becomes down."""

    matrix: np.ndarray
    orbitals: np.ndarray
    shifts: np.ndarray
    signs: np.ndarray
    flip: bool = False

    @classmethod
    def of_cells(cls, matrix: np.ndarray) -> Operation:
        """Return the operation of a lattice with one orbital."""
        one = np.ones(1, dtype=int)
        return cls(matrix, 0 * one, np.zeros((1, len(matrix)), dtype=int), one)

    @property
    def is_identity(self) -> bool:
        return bool(np.array_equal(self.matrix, np.eye(len(self.matrix))) and not self.shifts.any() and not self.flip
                    and np.array_equal(self.orbitals, np.arange(len(self.orbitals))) and np.all(self.signs == 1))


class Bonds:
    """Nonzero elements of a table {d: [n, b, b]} by pair of orbitals: (a, b) -> {d: list of n}.

    tolerance: numbers that differ by less than it are equal, by default 1e-12 of the largest; elements below half of it
    are none.
    """

    def __init__(self, table, tolerance=None):
        self._table, self.spins = table, len(next(iter(table.values())))
        self.bands, self.displacements = next(iter(table.values())).shape[-1], tuple(table)
        largest = max(np.abs(t).max() for t in table.values())
        self.tolerance = 1e-12 * largest if tolerance is None else tolerance
        self._of = {}
        for d, t in table.items():
            for a, b in np.argwhere(np.any(np.abs(t) > self.tolerance / 2, axis=0)).tolist():
                self._of.setdefault((a, b), {})[d] = t[:, a, b].tolist()

    @functools.cached_property
    def flipped(self) -> Bonds:
        """Bonds of the table with up and down exchanged."""
        return Bonds({d: t[::-1] for d, t in self._table.items()}, self.tolerance)

    def between(self, a, b) -> dict:
        return self._of.get((a, b), {})

    def alike(self, t, u, sign) -> bool:
        """Return whether t = sign u for all spins."""
        return all(abs(x - sign * y) <= self.tolerance for x, y in zip(t, u))

    def components(self) -> list[list[int]]:
        """Return the orbitals in groups that bonds connect, each in the order in which it was reached."""
        left, groups = list(range(self.bands)), []
        while left:
            group = [left.pop(0)]
            for a in group:
                reached = [b for b in left if self.between(a, b)]
                group += reached
                left = [b for b in left if b not in reached]
            groups.append(group)
        return groups


def find_operations(bonds, g, shifts_between=None) -> list[Operation]:
    """Return all operations with the matrix g [D, D] that leave the Bonds of a hopping table invariant.

    The first orbital of each group that hopping connects keeps its sign, and the very first its cell: other signs and
    cells differ by a gauge. With two spins the operations that exchange them are there too.
    shifts_between(g, a, b, image of a, image of b, flip) -> possible shifts of b against a for orbitals that no hopping
    connects; they have the same shift where it returns None for all.
    """
    found = _Search(bonds, bonds, g, False, shifts_between).run()
    if bonds.spins == 2:
        found += _Search(bonds, bonds.flipped, g, True, shifts_between).run()
    return found


class _Search:
    """Depth-first search for the images of all orbitals under one matrix."""

    def __init__(self, bonds, image_bonds, g, flip, shifts_between):
        self.bonds, self.image_bonds, self.g, self.flip = bonds, image_bonds, g, flip
        self.shifts_between = shifts_between or (lambda *_: None)
        self.groups = bonds.components()
        self.order = sum(self.groups, [])
        self.found = []
        known = np.array(list(bonds.displacements))
        self.moved = dict(zip(bonds.displacements, map(tuple, (known @ g.T).tolist())))
        self._known_to_agree = {}

    def run(self) -> list[Operation]:
        self._extend([], [], [])
        return self.found

    def _extend(self, images, shifts, signs):
        if len(images) == len(self.order):
            at = np.argsort(self.order)
            self.found.append(Operation(self.g, np.array(images)[at], np.array(shifts)[at], np.array(signs)[at],
                                        self.flip))
            return
        for image in sorted(set(self.order) - set(images)):
            for shift, sign in self._candidates(image, images, shifts, signs):
                trial = ([*images, image], [*shifts, shift], [*signs, sign])
                if all(self._agree(i, len(images), *trial) for i in range(len(images) + 1)):
                    self._extend(*trial)

    def _candidates(self, image, images, shifts, signs):
        """Return (shift, sign) of the next orbital under which a bond to a known one keeps its strength."""
        a = self.order[len(images)]
        known = list(enumerate(self.order[:len(images)]))
        for i, b in known:
            if here := self.bonds.between(a, b):
                d, t = max(here.items(), key=lambda bond: max(map(abs, bond[1])))  # the strongest has least noise
                offset = np.array(shifts[i]) - self.moved[d]
                return [((np.array(e) + offset).tolist(), sign * signs[i])
                        for e, u in self.image_bonds.between(image, images[i]).items() for sign in (1, -1)
                        if self.bonds.alike(u, t, sign)]
        for i, b in known:
            between = self.shifts_between(self.g, b, a, images[i], image, self.flip)
            if between is not None:
                return [((np.array(shift) + shifts[i]).tolist(), 1) for shift in between]
        return [([0] * len(self.g), 1)]

    def _agree(self, i, j, images, shifts, signs):
        """Return whether all bonds between the i-th and j-th known orbitals have equal images."""
        offset = tuple(x - y for x, y in zip(shifts[i], shifts[j]))
        key = (i, j, images[i], images[j], offset, signs[i] * signs[j])
        if key not in self._known_to_agree:
            self._known_to_agree[key] = self._compare(*key)
        return self._known_to_agree[key]

    def _compare(self, i, j, image_i, image_j, offset, sign):
        here = self.bonds.between(self.order[i], self.order[j])
        there = self.image_bonds.between(image_i, image_j)
        moved = {tuple(x + y for x, y in zip(self.moved[d], offset)): t for d, t in here.items()}
        zero = [0.0] * self.bonds.spins
        return all(self.bonds.alike(there.get(d, zero), moved.get(d, zero), sign) for d in moved | there)
