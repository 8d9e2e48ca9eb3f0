"""Interaction of a cell: density-density pairs, and the exchange terms of Kanamori's interaction.

    H_int = sum_R { sum_pairs v n[R, a, s] n[R+d, b, s'] + sum_exchanges v c+[a, up] c[b, up] c+[c, dn] c[d, dn] }

with values v and without shifts n - 1/2: these are in mu and in the energies of the orbitals. Kanamori's form for
orbitals of one atom is

    U n_a,up n_a,dn + U' n_a,s n_b,-s + (U' - J) n_a,s n_b,s + J c+_a,up c_b,up (c+_b,dn c_a,dn + c+_a,dn c_b,dn)

(Georges, de' Medici, Mravlje, Annu. Rev. Condens. Matter Phys. 4, 137 (2013), eq. 4). Pure Python, as inputs are
checked with it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

UP, DN = 0, 1
Displacement = tuple[int, ...]
Matrix = Sequence[Sequence[float]]


@dataclass(frozen=True)
class DensityPair:
    """value * n[R, a, spin_a] n[R + d, b, spin_b], summed over the cells R."""

    value: float
    a: int
    spin_a: int
    d: Displacement
    b: int
    spin_b: int


@dataclass(frozen=True)
class ExchangeTerm:
    """value * c+[R, a, up] c[R, b, up] c+[R, c, dn] c[R, d, dn], summed over R; its conjugate is another term."""

    value: float
    a: int
    b: int
    c: int
    d: int


@dataclass(frozen=True)
class Interaction:
    """Terms of a cell. Each unordered pair of spin-orbitals of the cluster is in one `DensityPair`.

    The sum over R meets a pair twice that is its own reversal on the cluster (d and -d are equivalent, a = b, spins
    equal): its value is halved for that.
    """

    pairs: tuple[DensityPair, ...]
    exchanges: tuple[ExchangeTerm, ...] = ()

    def half_filled(self, orbitals: int) -> list[float]:
        """Return the potential of each orbital that densities 1/2 of all spin-orbitals make; n - 1/2 has none."""
        shifts = [0.0] * orbitals
        for p in self.pairs:  # both spins alike: half of the sum over them
            shifts[p.a] += p.value / 4
            shifts[p.b] += p.value / 4
        return shifts


class Torus:
    """Displacements modulo the cluster's vectors (rows), in integer arithmetic."""

    def __init__(self, vectors: Sequence[Sequence[int]]):
        self.vectors = [tuple(map(int, row)) for row in vectors]
        self.size = determinant(self.vectors)  # with its sign
        if self.size == 0:
            raise ValueError("singular")
        self._adjugate = adjugate(self.vectors)

    def key(self, d: Displacement) -> tuple[int, ...]:
        """Return the same for equivalent displacements, and for no others."""
        return tuple(sum(x * row[i] for x, row in zip(d, self._adjugate)) % abs(self.size)
                     for i in range(len(d)))

    def same(self, d: Displacement, e: Displacement) -> bool:
        return self.key(d) == self.key(e)


def determinant(rows: Sequence[Sequence[int]]) -> int:
    """Return the determinant of a square matrix of integers, exactly."""
    if not rows:
        return 1
    return sum((-1) ** j * x * determinant([r[:j] + r[j + 1:] for r in map(tuple, rows[1:])])
               for j, x in enumerate(rows[0]) if x)


def adjugate(rows: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the adjugate A of a matrix M of integers: M A = A M = det M."""
    n = len(rows)
    minor = lambda i, j: [tuple(x for c, x in enumerate(row) if c != j) for r, row in enumerate(rows) if r != i]
    return [[(-1) ** (i + j) * determinant(minor(j, i)) for j in range(n)] for i in range(n)]


def build_interaction(torus: Torus, U: Sequence[float], *, atoms: Sequence[int] = (), U_prime: float = 0.0,
                      J: float = 0.0, kanamori: bool = False, V: Mapping[Displacement, Matrix] | None = None,
                      every_image: bool = False) -> Interaction:
    """Return the terms of a cell.

    U : of each orbital; atoms : the atom of each orbital, on which U', J and, where ``kanamori``, spin flip and pair
    hopping act; V : {d: [a, b]} between orbital a of a cell and b of the cell at d, both signs of every displacement. A
    bond that the torus has several times counts once; every_image : as often as the torus has it. Raises ValueError
    (displacement, displacement) where these have different V.
    """
    zero = (0,) * len(torus.vectors)
    local = [DensityPair(u, a, UP, zero, a, DN) for a, u in enumerate(U)]
    exchanges = []
    for a, b in atom_mates(atoms):
        local += [DensityPair(U_prime, a, s, zero, b, 1 - s) for s in (UP, DN)]
        local += [DensityPair(U_prime - J, a, s, zero, b, s) for s in (UP, DN)]
        if kanamori:
            exchanges += [ExchangeTerm(J, a, b, b, a), ExchangeTerm(J, b, a, a, b),  # spin flip
                          ExchangeTerm(J, a, b, a, b), ExchangeTerm(J, b, a, b, a)]  # pair hopping
    pairs = merged(torus, local + list(bonds(torus, V or {}, every_image)))
    return Interaction(tuple(p for p in pairs if p.value), tuple(e for e in exchanges if e.value))


def atom_mates(atoms: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the pairs a < b of orbitals that share an atom."""
    return ((a, b) for a, b in itertools.combinations(range(len(atoms)), 2) if atoms[a] == atoms[b])


def bonds(torus: Torus, V: Mapping[Displacement, Matrix], every_image: bool) -> Iterator[DensityPair]:
    """Yield the pairs of V, every bond of the torus once for each spin."""
    images: dict[tuple, list[tuple[float, Displacement]]] = {}
    for d, matrix in sorted(V.items()):
        for a, row in enumerate(matrix):
            for b, value in enumerate(row):
                if value and (d, a, b) <= (minus(d), b, a):  # its reversal is the same bond
                    here, there = (torus.key(d), a, b), (torus.key(minus(d)), b, a)
                    images.setdefault(min(here, there), []).append((value, d if here <= there else minus(d)))
    for (_, a, b), found in images.items():
        value, d = found[0]
        if every_image:
            value = sum(v for v, _ in found)
        elif any(v != value for v, _ in found):
            raise ValueError(d, next(e for v, e in found if v != value))
        elif a == b and torus.same(d, minus(d)):  # the sum over R meets it from both ends
            value /= 2
        yield from (DensityPair(value, a, s, d, b, t) for s in (UP, DN) for t in (UP, DN))


def merged(torus: Torus, pairs: Iterable[DensityPair]) -> list[DensityPair]:
    """Return one pair for each unordered pair of spin-orbitals of the torus."""
    found: dict[tuple, DensityPair] = {}
    for p in pairs:
        here = (torus.key(p.d), p.a, p.spin_a, p.b, p.spin_b)
        there = (torus.key(minus(p.d)), p.b, p.spin_b, p.a, p.spin_a)
        kept = found.get(min(here, there))
        found[min(here, there)] = p if kept is None else DensityPair(kept.value + p.value, kept.a, kept.spin_a, kept.d,
                                                                     kept.b, kept.spin_b)
    return list(found.values())


def minus(d: Displacement) -> Displacement:
    return tuple(-x for x in d)
