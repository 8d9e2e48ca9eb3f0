"""H of a run: cell, hopping, interaction. Pure Python, as inputs are checked with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plaq.dca.lattice.doubled import doubled
from plaq.dca.lattice.interaction import Displacement, Interaction, determinant
from plaq.dca.lattice.order import Order

Table = dict[Displacement, list[list[float]]]  # [a][b]: orbital a of a cell and b of the cell at the displacement


@dataclass(frozen=True)
class Hamiltonian:
    """H = sum_R,d,a,b,s t_ab,s(d) c+[R, a, s] c[R + d, b, s] + H_int; fields and energies are in t(0).

    vectors : of the cluster, rows; orbitals : names; positions : of each orbital in lattice vectors, or None; hopping :
    (up, down), {d: [a][b]} with both signs of every displacement; order : the broken symmetry that is allowed.
    """

    vectors: tuple[tuple[int, ...], ...]
    orbitals: tuple[str, ...]
    positions: tuple[tuple[float, ...], ...] | None
    hopping: tuple[Table, Table]
    interaction: Interaction
    is_doubled: bool = False
    order: Order | None = None

    @property
    def dimension(self) -> int:
        return len(self.vectors)

    @property
    def modes(self) -> int:
        """Number of orbitals of the cluster."""
        return abs(determinant(self.vectors)) * len(self.orbitals)

    @property
    def spins(self) -> int:
        """1 where spin up and down are equivalent, else 2."""
        return 1 if self.hopping[0] == self.hopping[1] else 2

    @property
    def components(self) -> int:
        """Rows of the matrices G and Sigma: orbitals, or the components of a spinor where a symmetry may be broken."""
        return len(self.orbitals) if self.order is None else 2

    @property
    def table(self) -> dict[Displacement, Any]:
        """Hopping as `plaq.dca.lattice.hopping.Lattice` takes it: t_ab(d) of c+[R + d, a] c[R, b]."""
        up, down = ({d: [list(row) for row in zip(*m)] for d, m in table.items()} for table in self.hopping)
        if self.spins == 2:
            return {d: (up[d], down[d]) for d in up}
        return {d: m[0][0] for d, m in up.items()} if len(self.orbitals) == 1 else up

    @property
    def beyond_one_band(self) -> str:
        """Parts beyond one band in two dimensions with U >= 0, in words; an empty text where there are none."""
        pairs = self.interaction.pairs
        found = {f"{len(self.orbitals)} orbitals": len(self.orbitals) > 1, f"{self.dimension} dimension(s)":
                 self.dimension != 2, "spins that differ": self.spins == 2, "U < 0":
                 any(p.value < 0 and p.a == p.b and not any(p.d) for p in pairs),
                 "an interaction between sites": any(any(p.d) for p in pairs),
                 "broken symmetry": self.order is not None}
        return ", ".join(words for words, present in found.items() if present)

    @property
    def is_general(self) -> bool:
        """Whether it is more than one band in two dimensions with U >= 0 and nothing else."""
        return bool(self.beyond_one_band)

    @property
    def steepest(self) -> float:
        """Bound on the slope of the bands: max_i,a sum_d,b |t_ab(d) d_i|."""
        return max(sum(abs(x * d[i]) for d, m in table.items() for x in m[a]) for table in self.hopping
                   for a in range(len(self.orbitals)) for i in range(self.dimension))

    @property
    def width(self) -> float:
        """Bound on the sum of all energies of an electron, without mu."""
        hops = max(sum(abs(x) for m in table.values() for x in m[a])
                   for table in self.hopping for a in range(len(self.orbitals)))
        return 2 * hops + sum(abs(t.value) for t in (*self.interaction.pairs, *self.interaction.exchanges))

    def momentum(self, q: tuple[float, ...]) -> tuple[float, ...]:
        """Return q of the input in the coordinates of the cell, which differ where it is doubled."""
        return doubled(self.dimension).momentum(q) if self.is_doubled else q
