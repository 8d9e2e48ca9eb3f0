r"""Three-point functions of baryons by sequential sources through the sink, as tables [charges.NAME] ask for them.

The correlator is $C_2 = \sum K\,\epsilon\epsilon' S_1S_2S_3$ (`interpolators`). With $G_f = \partial C_2/\partial S_f$
at the sink, on slice $t_s$, a current $\bar q_f\Gamma q_f$ at y gives
$C_3 = \sum_{\mathbf x} G_f(x)\,S_f(x, y)\,\Gamma\,S_f(y, 0)$. Since $S_f(x, y) = \gamma_5 S_{f'}(y, x)^+\gamma_5$ with
the opposite twisted mass, one solve for each of the twelve components at the origin gives all currents and times
(Martinelli and Sachrajda, Nucl. Phys. B 316, 355 (1989)). Currents are times 2 kappa, for quarks normalised with the
mass: the ratio of C_3 and C_2 is a charge.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from plaq.lqcd.fields import gamma
from plaq.lqcd.fields.propagators import Propagator
from plaq.lqcd.fields.solvers import solve
from plaq.lqcd.fields.sources import Source
from plaq.lqcd.fields.spinor_field import SpinorField
from plaq.lqcd.measurements.baryons import baryon_correlators, quarks_of
from plaq.lqcd.measurements.hadrons import FromSources, momentum_suffix, smeared_sink, sources_of
from plaq.lqcd.measurements.interpolators import coefficients, flavours_of
from plaq.lqcd.measurements.measurement import Quantity
from plaq.lqcd.measurements.mesons import spin_products
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
            line = lines[self.quarks[flavour]]
            back = self._sequential(bench, three, line, flavour, sink, projector)
            yield from self._currents(line, back, flavour, f"{ending}_t{sink}")
            if projector == "plus":
                yield from self._conserved(bench, line, back, flavour, sink, two_point[sink])

    def _sequential(self, bench: Workbench, three: list[Propagator], line: Propagator, flavour: str, sink: int,
                    projector: str) -> Propagator:
        """Return the sequential propagator through the sink of a flavour's quarks. Collective."""
        lattice, T = line.lattice, line.lattice.extents[0]
        box, t = lattice.box[0], (line.source[0] + sink) % T
        eta = np.zeros(line.local.shape, complex)
        if box.start <= t < box.stop:
            here = [one.local[t - box.start].reshape(-1, 4, 3, 4, 3) for one in three]
            K, of_line = coefficients(self.particle, projector), flavours_of(self.particle)
            opened = sum(open_line(K, here, at) for at in range(3) if of_line[at] == flavour)
            turned = opened * np.exp(1j * np.pi * line.theta[0] * sink / T)
            eta[t - box.start] = (np.diag(gamma.GAMMA5)[:, None, None, None] * turned.conj()).reshape(
                eta.shape[1:])
        quark = replace(self.quarks[flavour], mu=-self.quarks[flavour].mu)
        smearing = bench.smearing(brush_of(self.table, self.table.gauss_sink))
        matrix, out = bench.matrix(quark), np.empty_like(eta)
        for spin, colour in np.ndindex(4, 3):
            field = SpinorField(lattice).set_local(eta[..., spin, colour])
            if smearing:
                smearing(field, line.theta)
            out[..., spin, colour] = solve(matrix, field, quark.residual, quark.solver, quark.precision)[0].local()
        return Propagator.from_fields(lattice, line.source, out, line.theta)

    def _currents(self, line: Propagator, back: Propagator, flavour: str, ending: str):
        """Yield (quantity, three-point function [tau]) of local currents. Collective."""
        tensors = spin_products(line.lattice, line.source, line.fields(), back.fields(), self.momenta)
        for structure, (k, W) in itertools.product(self.table.structures, zip(self.momenta, tensors)):
            yield (f"{flavour}_{structure}{ending}{momentum_suffix(k)}",
                   2 * self.quarks[flavour].kappa
                   * np.einsum("ca,tabcb->t", gamma.GAMMA5 @ gamma.STRUCTURES[structure], W))

    def _conserved(self, bench: Workbench, line: Propagator, back: Propagator, flavour: str, sink: int,
                   two_point: complex):
        """Yield the conserved charge, and how far it is from the number of quarks. Collective."""
        one, g0 = np.eye(4), gamma.GAMMA[0]
        ahead = spin_products(line.lattice, line.source, line.fields(), back.transport(bench.gauge, 0))[0]
        behind = spin_products(line.lattice, line.source, line.transport(bench.gauge, 0), back.fields())[0]
        charge = self.quarks[flavour].kappa * (np.einsum("ca,tabcb->t", gamma.GAMMA5 @ (one + g0), ahead)
                                               - np.einsum("ca,tabcb->t", gamma.GAMMA5 @ (one - g0), behind))
        expected = flavours_of(self.particle).count(flavour) * two_point
        yield f"{flavour}_conserved_t{sink}", charge
        yield (f"{flavour}_ward_violation_t{sink}",
               abs(charge[sink - 1] - charge[sink] - expected) / abs(expected))
