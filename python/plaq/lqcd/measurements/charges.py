r"""Three-point functions of baryons by sequential sources through the sink, as tables [charges.NAME] ask for them.

The correlator is $C_2 = \sum K\,\epsilon\epsilon' S_1S_2S_3$ (`interpolators`). With $G_f = \partial C_2/\partial S_f$
at the sink, C_3 is that of `sequential`, and its ratio to C_2 is a charge.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from plaq.lqcd.fields.propagators import Propagator
from plaq.lqcd.fields.sources import Source
from plaq.lqcd.measurements.baryons import baryon_correlators, quarks_of
from plaq.lqcd.measurements.hadrons import FromSources, momentum_suffix, smeared_sink, sources_of
from plaq.lqcd.measurements.interpolators import coefficients, flavours_of
from plaq.lqcd.measurements.measurement import Quantity
from plaq.lqcd.measurements.sequential import charge_violation, conserved_charges, local_currents, sequential
from plaq.lqcd.measurements.workbench import Line, Workbench, brush_of
from plaq.lqcd.parameters import Parameters

POLARISATIONS = {"": "plus", "_polarised": "polarised"}
EVEN, ODD = ((0, 1, 2), (1, 2, 0), (2, 0, 1)), ((0, 2, 1), (2, 1, 0), (1, 0, 2))
EPSILON = [(order, sign) for orders, sign in ((EVEN, 1), (ODD, -1)) for order in orders]


def open_line(K: np.ndarray, lines: list[np.ndarray], at: int) -> np.ndarray:
    """Return the derivative of K eps eps' S1 S2 S3 by the line ``at``.

    It and the ``lines`` are [site, spin, colour, source spin, source colour]. Bits of a site do not depend on others.
    """
    first, second = (lines[i] for i in range(3) if i != at)
    pairs = np.moveaxis(K, (2 * at, 2 * at + 1), (4, 5)).reshape(256, 16)
    of_two = np.zeros((len(first), 3, 3, 16, 16), complex)
    for ((i, j, k), sign), ((i1, j1, k1), sign1) in itertools.product(EPSILON, repeat=2):
        of_two[:, k, k1] += sign * sign1 * (first[:, :, i, :, i1].reshape(-1, 16, 1)
                                            * second[:, :, j, :, j1].reshape(-1, 1, 16))
    opened = np.matmul(of_two.reshape(-1, 9, 256), pairs).reshape(-1, 3, 3, 4, 4)
    return np.moveaxis(opened, (1, 2, 3, 4), (2, 4, 1, 3))


class Charges(FromSources):
    """Three-point functions of [charges.NAME], with the sink at rest."""

    family = "charges"

    def __init__(self, p: Parameters, name: str):
        super().__init__(p, name)
        self.quarks = quarks_of(p, self.table)
        self.particle = self.table.particle
        self.flavours = tuple(dict.fromkeys(flavours_of(self.particle)))
        self.momenta = [tuple(k) for k in self.table.momenta]

    def quantities(self) -> dict[str, Quantity]:
        t, tau = self.times(), self.times("tau")
        found = {"two_point": Quantity("two-point function at rest, projector (1 + gamma_0)/2", (t,), dtype=complex)}
        for sink, flavour in itertools.product(self.table.sink_times, self.flavours):
            where = f"sink at t = {sink}, current of {flavour} at tau, both from the source"
            for structure, (ending, words), k in itertools.product(self.table.structures, POLARISATIONS.items(),
                                                                   self.momenta):
                found[f"{flavour}_{structure}{ending}_t{sink}{momentum_suffix(k)}"] = Quantity(
                    f"three-point function of {structure}, {where}, projector {words}"
                    + (f", momentum {k} of the current in 2 pi / L" if any(k) else ""), (tau,), dtype=complex)
            found[f"{flavour}_conserved_t{sink}"] = Quantity(
                f"three-point function of the conserved vector current from tau to tau + 1, {where}, projector plus",
                (tau,), dtype=complex)
            found[f"{flavour}_ward_violation_t{sink}"] = Quantity(
                "violation of charge conservation: the change of the conserved current at the sink, less the number of "
                "quarks times the two-point function, over that")
        return found

    def lines(self, number: int) -> list[Line]:
        return [line for source in sources_of(self.p, self.table, number) for line in self._lines(source).values()]

    def _lines(self, source: Source) -> dict[Any, Line]:
        brush = brush_of(self.table, self.table.gauss_source)
        return {quark: Line(quark, source, brush, self.table.keep)
                for quark in dict.fromkeys(self.quarks[f] for f in self.flavours)}

    def of_source(self, bench: Workbench, source: Source) -> Iterator[tuple[str, Any]]:
        brush = brush_of(self.table, self.table.gauss_sink)
        lines = {quark: bench.line(line) for quark, line in self._lines(source).items()}
        ends = {quark: smeared_sink(bench, line, brush) for quark, line in lines.items()}
        three = [ends[self.quarks[f]] for f in flavours_of(self.particle)]
        two_point = baryon_correlators(three, [(self.particle, "plus")])[0, :, 0]
        yield "two_point", two_point
        for sink, flavour, (ending, projector) in itertools.product(self.table.sink_times, self.flavours,
                                                                    POLARISATIONS.items()):
            quark, count = self.quarks[flavour], flavours_of(self.particle).count(flavour)
            back = sequential(bench, self.table, quark, lines[quark], sink, self._opened(three, flavour, projector))
            for structure, k, values in local_currents(quark, lines[quark], back, self.table.structures, self.momenta):
                yield f"{flavour}_{structure}{ending}_t{sink}{momentum_suffix(k)}", values
            if projector == "plus":
                [charge] = conserved_charges(bench, quark, lines[quark], back)
                yield f"{flavour}_conserved_t{sink}", charge
                yield f"{flavour}_ward_violation_t{sink}", charge_violation(charge, sink, count * two_point[sink])

    def _opened(self, three: list[Propagator], flavour: str, projector: str) -> Callable[[int], np.ndarray]:
        """Return the derivative of C_2 by a flavour's propagators at the sink, as `sequential` takes it."""
        K, of_line = coefficients(self.particle, projector), flavours_of(self.particle)

        def opened(at_sink: int) -> np.ndarray:
            here = [one.local[at_sink].reshape(-1, 4, 3, 4, 3) for one in three]
            return sum(open_line(K, here, at) for at in range(3) if of_line[at] == flavour)

        return opened
