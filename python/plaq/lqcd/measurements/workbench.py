"""Propagators of one configuration, solved once for all measurements that need them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from plaq.lqcd.fields.gauge_field import GaugeField
from plaq.lqcd.fields.propagators import Propagator, Smearing, propagator
from plaq.lqcd.fields.solvers import set_up_multigrid
from plaq.lqcd.fields.sources import Source
from plaq.lqcd.fields.wilson import Wilson
from plaq.lqcd.files.propagator_file import read_propagator, write_propagator
from plaq.lqcd.parameters import Parameters


@dataclass(frozen=True)
class Quark:
    """Valence quark: its operator, and how that is solved."""

    kappa: float
    mu: float
    theta: tuple[float, ...]
    csw: float
    exponential: bool
    open_ends: bool
    cF: float
    solver: str
    aggregates: tuple[tuple[int, ...], ...]
    precision: str
    residual: float


@dataclass(frozen=True)
class Brush:
    """Gaussian smearing on links in space that are smeared by APE; none without steps."""

    kappa: float
    steps: int
    ape_alpha: float
    ape_steps: int


@dataclass(frozen=True)
class Line:
    """Propagator of a quark from a smeared source. ``keep``: whether a file of it is kept."""

    quark: Quark
    source: Source
    brush: Brush
    keep: bool = False

    def same_solution(self) -> Line:
        """Return the line that any line with the same solution has for this."""
        return Line(self.quark, self.source, self.brush if self.brush.steps else Brush(0.0, 0, 0.0, 0), self.keep)

    def label(self) -> str:
        """Return a name for files, the same for equal lines."""
        parts = [repr(getattr(self, field.name)) for field in fields(self) if field.name != "keep"]
        return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:12]


class Workbench:
    """Operators, smeared links and propagators on one configuration.

    ``wanted`` are the lines that `line` will be asked for, as often as it will: a propagator is freed after the last
    time. ``kept`` is the folder of propagators that a table keeps, None without one.
    """

    def __init__(self, gauge: GaugeField, number: int, wanted: Iterable[Line] = (), kept: Path | None = None):
        self.gauge, self.number, self.kept = gauge, number, kept
        self._wanted = Counter(line.same_solution() for line in wanted)
        self._lines: dict[Line, Propagator] = {}
        self._matrix: tuple[Quark, Wilson] | None = None
        self._links: dict[tuple[float, int], GaugeField] = {}

    def links(self, alpha: float, steps: int) -> GaugeField:
        """Return the gauge field with links in space smeared by APE. Collective."""
        if not steps:
            return self.gauge
        if (alpha, steps) not in self._links:
            self._links[alpha, steps] = self.gauge.copy().ape(alpha, steps)
        return self._links[alpha, steps]

    def smearing(self, brush: Brush) -> Smearing | None:
        """Return Gaussian smearing, None without steps. Collective."""
        return Smearing(self.links(brush.ape_alpha, brush.ape_steps), brush.kappa, brush.steps) if brush.steps else None

    def matrix(self, quark: Quark) -> Wilson:
        """Return the operator of a quark; successive calls for one quark share it. Collective."""
        if self._matrix is None or self._matrix[0] != quark:
            self._matrix = None  # frees the operator before the next one is made
            self._matrix = quark, Wilson(self.gauge, quark.kappa, quark.mu, quark.theta, quark.csw,
                                         exponential=quark.exponential, open_ends=quark.open_ends, cF=quark.cF)
            if quark.solver == "multigrid":
                set_up_multigrid(self._matrix[1], quark.aggregates)
        return self._matrix[1]

    def line(self, line: Line) -> Propagator:
        """Return the propagator of a line. Collective."""
        line = line.same_solution()
        found = self._lines.get(line)
        if found is None:
            found = self._stored(line) if line.keep else self._solve(line)
        self._wanted[line] -= 1
        if self._wanted[line] > 0:
            self._lines[line] = found
        else:
            self._lines.pop(line, None)
        return found

    def _solve(self, line: Line) -> Propagator:
        quark = line.quark
        return propagator(self.matrix(quark), line.source, quark.residual, smearing=self.smearing(line.brush),
                          method=quark.solver, precision=quark.precision)

    def _stored(self, line: Line) -> Propagator:
        """Return the propagator in the file of a line, which is written first if it is not there.

        It is read again, so that its bits do not depend on where it came from.
        """
        lattice = self.gauge.lattice
        path = self.kept / f"propagator.{self.number:06}.{line.label()}"
        if not lattice.comm.on_root(path.exists, share=True):
            lattice.comm.on_root(lambda: self.kept.mkdir(exist_ok=True))
            write_propagator(path, self._solve(line))
        return read_propagator(path, lattice)


def quark_of(p: Parameters, table: Any, kappa: float, mu: float) -> Quark:
    """Return a quark of a table, with its solver. On open boundaries it has no phase in time."""
    is_open = p.lattice.boundary == "open"
    theta = (0.0, *table.theta[1:]) if is_open else tuple(table.theta)
    return Quark(kappa, mu, theta, table.csw, table.clover == "exponential", is_open, table.cF, table.solver,
                 table.aggregates, table.precision, table.residual)


def brush_of(table: Any, steps: int) -> Brush:
    """Return the smearing of a table."""
    return Brush(table.gauss_kappa, steps, table.ape_alpha, table.ape_steps)
