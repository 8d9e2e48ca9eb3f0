"""The cell of two sites of a lattice of one orbital, as staggered fields need it.

The lattice vectors A_i of the doubled cell (rows of ``basis``) have an even sum of components; site B stands at e_1. A
site R is A where its components have an even sum, and its cell is (R - [0 or e_1]) in units of the A_i.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from plaq.dca.lattice.interaction import adjugate, determinant

BASES = {1: ((2,),), 2: ((1, 1), (1, -1)), 3: ((1, 1, 0), (1, 0, 1), (0, 1, 1))}


@dataclass(frozen=True)
class DoubledCell:
    """basis : vectors of the doubled cell, rows, in those of the lattice."""

    basis: tuple[tuple[int, ...], ...]

    def inside(self, R: Sequence[int]) -> tuple[Fraction, ...]:
        """Return R in units of the A_i."""
        inverse, size = adjugate(self.basis), determinant(self.basis)
        return tuple(sum(Fraction(x * row[i], size) for x, row in zip(R, inverse)) for i in range(len(R)))

    @property
    def second(self) -> tuple[float, ...]:
        """Position of B in units of the A_i."""
        return tuple(map(float, self.inside(unit(len(self.basis)))))

    def cluster(self, vectors: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...] | None:
        """Return the cluster's vectors in units of the A_i, None where one of them joins an A to a B."""
        inside = [self.inside(v) for v in vectors]
        return tuple(tuple(map(int, v)) for v in inside) if all(x.denominator == 1 for v in inside for x in v) else None

    def table(self, table: Mapping[tuple[int, ...], Sequence[Sequence[float]]]) -> dict[tuple[int, ...], list]:
        """Return {D: [a][b]} of the doubled cell from {d: [[value]]}."""
        found: dict[tuple[int, ...], list[list[float]]] = {}
        first = unit(len(self.basis))
        for d, ((value,),) in table.items():
            for a in (0, 1):  # from site a of cell 0 to R = a e_1 + d
                R = tuple(a * e + x for e, x in zip(first, d))
                b = sum(R) % 2
                D = tuple(map(int, self.inside(tuple(x - b * e for e, x in zip(first, R)))))
                found.setdefault(D, [[0.0, 0.0], [0.0, 0.0]])[a][b] += value
        return dict(sorted(found.items()))

    def momentum(self, q: Sequence[float]) -> tuple[float, ...]:
        """Return the components q.A_i of a momentum given by its components along the lattice vectors."""
        return tuple(float(sum(x * y for x, y in zip(q, row))) for row in self.basis)


def doubled(dimension: int) -> DoubledCell:
    return DoubledCell(BASES[dimension])


def unit(dimension: int) -> tuple[int, ...]:
    return (1,) + (0,) * (dimension - 1)
