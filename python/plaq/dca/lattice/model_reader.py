"""Reads the section [model] into a `Hamiltonian`, and refuses what is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from plaq.dca.lattice.doubled import doubled
from plaq.dca.lattice.hamiltonian import Hamiltonian, Table
from plaq.dca.lattice.interaction import Displacement, Interaction, Torus, atom_mates, build_interaction, minus
from plaq.dca.lattice.order import read_order
from plaq.dca.lattice.ready import READY, Ready
from plaq.dca.lattice.wannier import read_hopping
from plaq.inputs.schema import to_toml

Refuse = Callable[[str], Any]
MOST_SITES = 64
FURTHEST = 64
MOST_NUMBERS = 50_000  # in a hopping table, which is part of every checkpoint


def read_hamiltonian(model: Any, refuse: Refuse, order: Any = None) -> Hamiltonian:
    """Return H of the values of [model] and [order]; ``refuse`` gets a message for the first that is not allowed."""
    return _Reader(model, refuse, order).hamiltonian()


class _Reader:
    """Turns [model] into a `Hamiltonian`."""

    def __init__(self, model: Any, refuse: Refuse, order: Any):
        self.model, self.refuse = model, refuse
        self.order = None if order is None else read_order(order, model, refuse)
        self.vectors = self._vectors()
        self.torus, self.dimension = Torus(self.vectors), len(self.vectors)

    def hamiltonian(self) -> Hamiltonian:
        m = self.model
        ready = self._ready()
        up, down = self._tables(ready)
        self.count = len(next(iter(up.values())))
        self.orbitals = self._orbitals(ready)
        self.positions = self._positions(ready)
        repulsion = self._repulsion(ready)
        U = self._by_orbital("U")
        self._add_energies(up, down)
        if self.order is not None and self.count > 1:
            self.refuse(f'order.kind = "{self.order.kind}" is for lattices of one orbital: this one has {self.count}')
        if m.staggered_field is not None:
            return self._doubled(up, down, U, repulsion)
        if self.order is not None and not self.order.is_paired:
            self._check_alternation()
        return Hamiltonian(self.vectors, self.orbitals, self._places(), (up, down), self._interaction(U, repulsion),
                           order=self.order)

    def _check_alternation(self) -> None:
        """Refuse a cluster on which no sign alternates, but for a single site in a bath."""
        if self.torus.size not in (1, -1) and any(sum(v) % 2 for v in self.vectors):
            self.refuse(f'order.kind = "{self.order.kind}" alternates from site to site, which model.cluster = '
                        f"{to_toml(self.vectors)} does not allow: every vector needs an even sum of components")

    def _vectors(self) -> tuple[tuple[int, ...], ...]:
        vectors = self.model.cluster
        shown, count = to_toml(vectors), len(vectors)
        if any(len(row) != count for row in vectors):
            self.refuse(f"model.cluster = {shown} is not square: as many vectors as components")
        try:
            sites = abs(Torus(vectors).size)
        except ValueError:
            words = "the two vectors" if count == 2 else "its vectors"
            self.refuse(f"model.cluster = {shown} is singular: {words} must be independent")
        if sites > MOST_SITES:
            self.refuse(f"model.cluster = {shown} has {sites} sites: at most {MOST_SITES} are allowed")
        return vectors

    def _ready(self) -> Ready | None:
        """Return the ready model, None where the input has a table of its own."""
        m = self.model
        own = [f"model.{key}" for key in ("hopping", "hopping_file") if getattr(m, key) is not None]
        if len(own) == 2:
            self.refuse("model.hopping and model.hopping_file both give the hopping: give one of them")
        if own and m.lattice is not None:
            self.refuse(f"{own[0]} replaces model.lattice: give one or the other")
        ready = None if own else READY[m.lattice or "square"]
        known = {} if ready is None else ready.amplitudes
        if ready is not None and self.dimension != ready.dimension:
            self.refuse(f"model.cluster = {to_toml(self.vectors)} has {self.dimension} vector(s), and the lattice "
                        f'"{m.lattice or "square"}" has {ready.dimension} dimension(s)')
        for key, default in (("t", 1.0), ("t_prime", 0.0)):
            if key not in known and getattr(m, key) != default:
                self.refuse(f"{own[0]} replaces model.t and model.t_prime: give one or the other" if own else
                            f'model.{key} = {getattr(m, key)}: the lattice "{m.lattice}" has no {key}; it has '
                            f"{', '.join(known)}")
        for name, _ in m.amplitudes or ():
            if name in ("t", "t_prime") or name not in known:
                names = ", ".join(k for k in known if k not in ("t", "t_prime")) or "none"
                self.refuse(f'model.amplitudes holds "{name}": allowed here: {names}')
        if m.hopping_cutoff is not None and m.hopping_file is None:
            self.refuse("model.hopping_cutoff needs model.hopping_file")
        if m.hopping_down is not None and m.hopping is None:
            self.refuse("model.hopping_down needs model.hopping, which is then that of spin up")
        return ready

    def _amplitudes(self, ready: Ready) -> dict[str, float]:
        m = self.model
        return {**ready.amplitudes, "t": m.t, "t_prime": m.t_prime, **dict(m.amplitudes or ())}

    def _tables(self, ready: Ready | None) -> tuple[Table, Table]:
        m = self.model
        if ready is not None:
            count = len(ready.orbitals)
            table = table_of(ready.hops(self._amplitudes(ready)), count)
            table = table or {(0,) * self.dimension: [[0.0] * count for _ in range(count)]}
            return table, {d: [list(row) for row in matrix] for d, matrix in table.items()}
        if m.hopping_file is not None:
            table = read_hopping(m.hopping_file, self.dimension, m.hopping_cutoff or 0.0)
            if (count := len(table) * len(next(iter(table.values()))) ** 2) > MOST_NUMBERS:
                self.refuse(f"model.hopping_file has {count} amplitudes, and at most {MOST_NUMBERS} are allowed: raise "
                            "model.hopping_cutoff")
            return table, {d: [list(row) for row in matrix] for d, matrix in table.items()}
        count = len(m.orbitals or ()) or max(1 if isinstance(size, float) else len(size) for *_, size in m.hopping)
        up = self._matrices("hopping", m.hopping, count)
        down = up if m.hopping_down is None else self._matrices("hopping_down", m.hopping_down, count)
        zero = [[0.0] * count] * count
        return tuple({d: [list(row) for row in table.get(d, zero)] for d in sorted(up.keys() | down)}
                     for table in (up, down))

    def _matrices(self, key: str, rows: tuple, count: int) -> Table:
        """Return a table of the input, for that many orbitals, with both signs of its displacements."""
        table: Table = {}
        for *d, size in rows:
            d = tuple(d)
            at = f'model.{key} "{",".join(map(str, d))}"'
            if len(d) != self.dimension:
                self.refuse(f"{at} has {len(d)} component(s), and model.cluster has {self.dimension} vectors")
            if max(map(abs, d)) > FURTHEST:
                self.refuse(f"model.{key} reaches further than {FURTHEST} lattice vectors")
            if isinstance(size, float) and count > 1:
                self.refuse(f"{at} = {size}: with {count} orbitals it must be a matrix of {count} rows of {count}")
            if not isinstance(size, float) and count == 1:
                self.refuse(f"{at} = {to_toml(size)}: with one orbital it must be a number")
            matrix = [[size]] if isinstance(size, float) else [list(row) for row in size]
            if len(matrix) != count:
                self.refuse(f"{at} is a matrix of {len(matrix)} rows, and there are {count} orbitals")
            if count == 1 and not any(d):
                self.refuse(f"{at} is a site energy: put it into dca.mu" if key != "V" else
                            f"{at} is a site with itself: that is model.U")
            table[d] = matrix
        for d, matrix in list(table.items()):
            turned = [list(row) for row in zip(*matrix)]
            back = table.setdefault(minus(d), turned)
            if back != turned:
                there = ",".join(map(str, minus(d)))
                if count == 1:
                    self.refuse(f'model.{key} "{",".join(map(str, d))}" = {matrix[0][0]} and "{there}" = {back[0][0]} '
                                "must be equal")
                self.refuse(f'model.{key} "{",".join(map(str, d))}" must be the transpose of "{there}": H is Hermitian'
                            if any(d) else f'model.{key} "{there}" must be a symmetric matrix: H is Hermitian')
        return table

    def _orbitals(self, ready: Ready | None) -> tuple[str, ...]:
        given = self.model.orbitals
        if given is None:
            return ready.orbitals if ready else tuple(str(i + 1) for i in range(self.count))
        if len(given) != self.count:
            self.refuse(f"model.orbitals = {to_toml(given)} has {len(given)} names, and the hopping has {self.count} "
                        "orbitals")
        if len(set(given)) != len(given):
            self.refuse(f"model.orbitals = {to_toml(given)} must not repeat a name")
        return given

    def _positions(self, ready: Ready | None) -> list[tuple[float, ...]]:
        given = self.model.positions
        if given is None:
            return list(ready and ready.positions or [(0.0,) * self.dimension] * self.count)
        if ready is not None:
            self.refuse("model.positions: a ready model has its own")
        if len(given) != self.count or any(len(p) < self.dimension for p in given) or len(set(map(len, given))) > 1:
            self.refuse(f"model.positions must have {self.count} rows, for each orbital one, of at least "
                        f"{self.dimension} numbers")
        return list(given)

    def _places(self) -> tuple[tuple[float, ...], ...] | None:
        places = tuple(tuple(map(float, p[:self.dimension])) for p in self.positions)
        return places if any(map(any, places)) else None

    def _by_orbital(self, key: str) -> list[float]:
        value = getattr(self.model, key)
        if value is None or isinstance(value, float):
            return [value or 0.0] * self.count
        for name, _ in value:
            if name not in self.orbitals:
                self.refuse(f'model.{key} names "{name}", which is no orbital: these are {", ".join(self.orbitals)}')
        return [dict(value).get(name, 0.0) for name in self.orbitals]

    def _add_energies(self, up: Table, down: Table) -> None:
        if self.count == 1 and self.model.energies is not None:
            self.refuse("model.energies: the energy of the only orbital belongs into dca.mu")
        field = self._by_orbital("field")
        for sign, table in (1, up), (-1, down):
            for a, energy in enumerate(self._by_orbital("energies")):
                if total := energy - sign * field[a] / 2:
                    local = table.setdefault((0,) * self.dimension, [[0.0] * self.count for _ in range(self.count)])
                    local[a][a] += total

    def _repulsion(self, ready: Ready | None) -> Table:
        """Return V of the ready model and of the input."""
        terms = ready.repulsions(self._amplitudes(ready)) if ready else []
        V = table_of([term for term in terms if term[3]], self.count)
        if self.model.V is not None:
            for d, matrix in self._matrices("V", self.model.V, self.count).items():
                self._check_reach(d, matrix)
                there = V.setdefault(d, [[0.0] * self.count for _ in range(self.count)])
                V[d] = [[x + y for x, y in zip(*rows)] for rows in zip(there, matrix)]
        return V

    def _check_reach(self, d: Displacement, matrix: list[list[float]]) -> None:
        at = f'model.V "{",".join(map(str, d))}"'
        here = not any(self.torus.key(d))
        if any(matrix[a][a] for a in range(self.count)) and here:
            self.refuse(f"{at} leads to the same site" + (" on the cluster" if any(d) else "") +
                        ": an orbital repels itself by model.U only")
        if any(map(any, matrix)) and self._is_beyond(d):
            self.refuse(f"{at} reaches beyond the cluster: a shorter displacement leads to the same site")

    def _is_beyond(self, d: Displacement) -> bool:
        """Return whether the cluster has an image of d that is shorter for every metric of lattice vectors there is.

        That is one with no component longer than d's, and one component shorter.
        """
        reach = [range(-abs(x), abs(x) + 1) for x in d]
        images = [e for e in _box(reach) if self.torus.same(d, e)]
        return any(sum(map(abs, e)) < sum(map(abs, d)) for e in images) and (0,) * len(d) not in images

    def _interaction(self, U: list[float], V: Table) -> Interaction:
        m = self.model
        atoms = [self.positions.index(p) for p in self.positions]
        mates = list(atom_mates(atoms))
        for key in ("U_prime", "J", "kanamori"):
            if getattr(m, key) is not None and not mates:
                self.refuse(f"model.{key} needs two orbitals on one atom" +
                            (", and there is one orbital" if self.count == 1 else ": no two positions are equal"))
        if mates and m.J is None and m.U_prime is None:
            a, b = (self.orbitals[i] for i in mates[0])
            self.refuse(f'model.J is missing: the orbitals "{a}" and "{b}" share an atom; give J, 0 too, or U_prime, '
                        "or model.positions that differ")
        J = m.J or 0.0
        if mates and m.U_prime is None and len({U[i] for pair in mates for i in pair}) > 1:
            self.refuse("model.U_prime is missing: U - 2J is its value only where U is the same in all orbitals")
        if m.kanamori and not J:
            self.refuse("model.kanamori = true: model.J is " + ("missing" if m.J is None else "0 and must not be"))
        U_prime = m.U_prime if m.U_prime is not None else (U[mates[0][0]] - 2 * J if mates else 0.0)
        try:
            return build_interaction(self.torus, U, atoms=atoms, U_prime=U_prime, J=J, kanamori=bool(m.kanamori), V=V,
                                     every_image=m.V_images == "each")
        except ValueError as error:
            d, e = (",".join(map(str, x)) for x in error.args)
            self.refuse(f'model.V "{d}" and "{e}" join the same sites of the cluster, where a bond counts once, and '
                        'have different values: give V_images = "each" or equal ones')

    def _doubled(self, up: Table, down: Table, U: list[float], V: Table) -> Hamiltonian:
        """Return H in the cell of two sites, A with the field h and B with -h."""
        if self.count > 1:
            self.refuse("model.staggered_field is for lattices of one orbital: give model.field by orbital")
        cell = doubled(self.dimension)
        vectors = cell.cluster(self.vectors)
        if vectors is None:
            self.refuse(f"model.staggered_field alternates from site to site, which model.cluster = "
                        f"{to_toml(self.vectors)} does not allow: every vector needs an even sum of components")
        up, down, V = (cell.table(table) for table in (up, down, V))
        for sign, table in (-1, up), (1, down):
            local = table.setdefault((0,) * self.dimension, [[0.0, 0.0], [0.0, 0.0]])
            for a in (0, 1):
                local[a][a] += sign * (-1) ** a * self.model.staggered_field / 2
        self.vectors, self.torus, self.count, self.orbitals = vectors, Torus(vectors), 2, ("A", "B")
        self.positions = [(0.0,) * self.dimension, cell.second]
        return Hamiltonian(vectors, ("A", "B"), self._places(), (up, down), self._interaction(2 * U, V), True)


def table_of(terms: list, count: int) -> Table:
    """Return {d: [a][b]} with both signs of every displacement from terms (d, a, b, value), which give one or both.

    A term and its reverse are the same.
    """
    table: Table = {}
    for d, a, b, value in terms:
        for e, i, j in {(d, a, b), (minus(d), b, a)}:
            table.setdefault(e, [[0.0] * count for _ in range(count)])[i][j] = value
    return {d: m for d, m in sorted(table.items()) if any(map(any, m))}


def _box(ranges: list[range]) -> list[tuple[int, ...]]:
    box: list[tuple[int, ...]] = [()]
    for values in ranges:
        box = [(*e, x) for e in box for x in values]
    return box
