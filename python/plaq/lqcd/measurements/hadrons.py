"""Two-point functions of mesons from valence quarks, as tables [mesons.NAME] ask for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from plaq.data.estimate import Axis
from plaq.lqcd.boundaries import OPEN, source_slices
from plaq.lqcd.fields import gamma
from plaq.lqcd.fields.propagators import Propagator
from plaq.lqcd.fields.sources import Source, random_site
from plaq.lqcd.measurements.correlators import AXIAL, CONSERVED, VECTOR
from plaq.lqcd.measurements.currents import conserved_correlator, ward_violation
from plaq.lqcd.measurements.measurement import Measurement, Quantity
from plaq.lqcd.measurements.mesons import meson_correlators
from plaq.lqcd.measurements.workbench import Brush, Line, Quark, Workbench, brush_of, quark_of
from plaq.lqcd.parameters import Parameters

REST = (0, 0, 0)


def sources_of(p: Parameters, table: Any, number: int) -> list[Source]:
    """Return the sources of a table on a configuration, at random sites or at those of the input."""
    kind = getattr(table, "source", "point")
    kind = table.noise if kind == "noise" else kind
    dilution = tuple(getattr(table, "dilution", ()))
    count = table.sources if isinstance(table.sources, int) else len(table.sources)
    made = []
    for s in range(count):
        site = (random_site(p.lattice.extents, p.seed, number - 1, s) if isinstance(table.sources, int)
                else table.sources[s])
        if (time := getattr(table, "source_time", None)) is not None:
            site = (time, *site[1:])
        if kind == "point":
            made.append(Source("point", site))
        elif kind == "wall":
            made.append(Source("wall", (site[0], 0, 0, 0)))
        else:
            made.append(Source(kind, (site[0], 0, 0, 0), p.seed, number - 1, s, dilution))
    return made


def smeared_sink(bench: Workbench, propagator: Propagator, brush: Brush) -> Propagator:
    """Return a propagator with the sink that a table asks for. Collective."""
    smearing = bench.smearing(brush)
    return propagator.smear_sink(smearing) if smearing else propagator


def momentum_suffix(momentum: tuple[int, ...]) -> str:
    """Return the end of a quantity's name: nothing at rest, else as ``_p1_0_-1``."""
    return "" if not any(momentum) else "_p" + "_".join(map(str, momentum))


def pair_of(p: Parameters, table: Any) -> tuple[Quark, Quark]:
    """Return the quarks of the two propagators of a table of mesons."""
    return (quark_of(p, table, table.kappa, table.mu),
            quark_of(p, table, table.kappa if table.kappa_2 is None else table.kappa_2,
                     table.mu if table.mu_2 is None else table.mu_2))


class FromSources(Measurement):
    """Measurement of functions of the time t from a source, on average over the sources of a configuration.

    On a periodic lattice 0 <= t < T. With open boundaries all sources are on one slice t0, and -t0 <= t < T - t0.
    """

    def __init__(self, p: Parameters, name: str):
        super().__init__(p, name)
        self.first = min(source_slices(self.table)) if p.lattice.boundary == OPEN else 0

    def times(self, name: str = "t") -> Axis:
        """Return the axis of t."""
        return Axis(name, np.arange(self.p.lattice.extents[0]) - self.first, "a")

    def measure(self, bench: Workbench) -> Mapping[str, Any]:
        sources = sources_of(self.p, self.table, bench.number)
        sums = dict.fromkeys(self.quantities(), 0.0)
        for name, values in ((name, values) for source in sources for name, values in self.of_source(bench, source)):
            sums[name] = sums[name] + values
        return {name: self.in_order(values / len(sources)) for name, values in sums.items()}

    def of_source(self, bench: Workbench, source: Source) -> Iterator[tuple[str, Any]]:
        """Yield (quantity, values), with t modulo T. Collective."""
        raise NotImplementedError

    def in_order(self, values: Any) -> Any:
        """Return values [t] in the order of `times`, from t modulo T; numbers as they are."""
        return np.roll(values, self.first) if np.ndim(values) else values


class Mesons(FromSources):
    """Two-point functions of [mesons.NAME]."""

    family = "mesons"

    def __init__(self, p: Parameters, name: str):
        super().__init__(p, name)
        self.quarks = pair_of(p, self.table)
        self.momenta = [tuple(k) for k in self.table.momenta]

    @property
    def has_current(self) -> bool:
        """Whether the conserved current and its Ward identity are measured: for two quarks of one kappa."""
        return self.quarks[0].kappa == self.quarks[1].kappa and "gamma5" in self.table.structures

    def pairs(self) -> dict[str, tuple[str, str]]:
        """Return {quantity: (structure of the sink, of the source)} at rest."""
        table = self.table
        pairs = {name: (name, name) for name in table.structures}
        if "gamma5" in pairs:
            pairs |= {AXIAL: ("gammatgamma5", "gamma5"), VECTOR: ("gammat", "gamma5")}
        chosen = [(a, b) for a in gamma.STRUCTURES for b in gamma.STRUCTURES] if table.pairs == "all" else table.pairs
        return pairs | {a if a == b else f"{a}_{b}": (a, b) for a, b in chosen}

    def dtype(self, sink: str, source: str, momentum: tuple[int, ...]) -> type:
        """Return complex where a correlator of a configuration is not real: see `quantities`."""
        is_real = self.quarks[0] == self.quarks[1] and not any(momentum)
        return float if is_real and (sink == source or (sink, source) == ("gammatgamma5", "gamma5")) else complex

    def quantities(self) -> dict[str, Quantity]:
        t = self.times()
        found = {}
        for k in self.momenta:
            for name, (sink, source) in self.pairs().items():
                words = "two-point function, sum over space"
                words += f", {sink} at the sink and {source} at the source" if sink != source else ""
                words += f", momentum {k} in 2 pi / L" if any(k) else ""
                found[name + momentum_suffix(k)] = Quantity(f"{words}, t from the source", (t,),
                                                            dtype=self.dtype(sink, source, k))
        if self.has_current:
            found[CONSERVED] = Quantity("conserved vector current from t to t + 1, and gamma5 at the source, "
                                        "of the first source", (t,), dtype=complex)
            found["ward_violation"] = Quantity("largest violation of the current's Ward identity away from the source, "
                                               "over the sum of C_PP")
        return found

    def sources(self, number: int) -> list[list[Source]]:
        """Return sources by momentum of each position: a point serves all of them."""
        return [[source] if source.kind == "point" else [replace(source, momentum=k) for k in self.momenta]
                for source in sources_of(self.p, self.table, number)]

    def of(self, quark: Quark, source: Source) -> Line:
        return Line(quark, source, brush_of(self.table, self.table.gauss_source), self.table.keep)

    def lines(self, number: int) -> list[Line]:
        first, second = self.quarks
        wanted = []
        for group in self.sources(number):
            wanted += [self.of(first, source) for source in group]
            if second != first or group[0].kind != "point":
                wanted.append(self.of(second, replace(group[0], momentum=REST)))
        return wanted

    def measure(self, bench: Workbench) -> Mapping[str, Any]:
        groups = self.sources(bench.number)
        sums, found = 0, {}
        for place, group in enumerate(groups):
            sums = sums + self._correlators(bench, group, found if place == 0 else None)
        for k, of_momentum in zip(self.momenta, sums / len(groups)):
            for (name, (sink, source)), values in zip(self.pairs().items(), of_momentum.T):
                found[name + momentum_suffix(k)] = (values.real if self.dtype(sink, source, k) is float else values)
        return {name: self.in_order(values) for name, values in found.items()}

    def _correlators(self, bench: Workbench, group: list[Source], found: dict[str, Any] | None) -> np.ndarray:
        """Return [momentum, t, pair] of one position; ``found`` takes the conserved current. Collective."""
        pairs = list(self.pairs().values())
        first, second = self.quarks
        brush = brush_of(self.table, self.table.gauss_sink)
        rest = None
        if second != first or group[0].kind != "point":
            rest = bench.line(self.of(second, replace(group[0], momentum=REST)))
        if group[0].kind == "point":
            left = bench.line(self.of(first, group[0]))
            rest = rest or left
            self._current(bench, left, rest, found)
            left_sink = smeared_sink(bench, left, brush)
            right_sink = left_sink if rest is left else smeared_sink(bench, rest, brush)
            return meson_correlators(left_sink, pairs, right_sink, self.momenta)
        right_sink, sums = smeared_sink(bench, rest, brush), []
        for source in group:
            left = bench.line(self.of(first, source))
            if source.momentum == REST:
                self._current(bench, left, rest, found)
            sums.append(meson_correlators(smeared_sink(bench, left, brush), pairs, right_sink, [source.momentum])[0])
        return np.array(sums)

    def _current(self, bench: Workbench, left: Propagator, right: Propagator, found: dict[str, Any] | None) -> None:
        """Set the conserved current and the violation of its Ward identity in ``found``. Collective."""
        if found is None or not self.has_current:
            return
        current = conserved_correlator(bench.gauge, left, right, "gamma5")
        pp = meson_correlators(left, [("gamma5", "gamma5")], right)[0, :, 0]
        found[CONSERVED] = current
        found["ward_violation"] = ward_violation(current, pp, self.quarks[0].mu + self.quarks[1].mu)
