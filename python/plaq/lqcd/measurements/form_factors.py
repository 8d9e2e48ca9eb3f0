r"""Three-point functions of pseudoscalar mesons, as tables [form_factors.NAME] ask for them.

The two-point function is $C_2 = \sum_{\mathbf x} \mathrm{tr}\,S\,S'^+$, so its derivative by S at the sink is S'^*
(`sequential`). The current takes the place of the quark; the meson is at rest at the sink and has the momentum of the
current before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plaq.lqcd.fields.sources import Source
from plaq.lqcd.measurements.hadrons import FromSources, momentum_suffix, pair_of, smeared_sink, sources_of
from plaq.lqcd.measurements.measurement import Quantity
from plaq.lqcd.measurements.mesons import meson_correlators
from plaq.lqcd.measurements.sequential import REST, charge_violation, conserved_charges, local_currents, sequential
from plaq.lqcd.measurements.workbench import Line, Quark, Workbench, brush_of
from plaq.lqcd.parameters import Parameters


class FormFactors(FromSources):
    """Three-point functions of [form_factors.NAME], with the sink at rest."""

    family = "form_factors"

    def __init__(self, p: Parameters, name: str):
        super().__init__(p, name)
        self.quark, self.spectator = pair_of(p, self.table)
        self.momenta = list(dict.fromkeys((REST, *map(tuple, self.table.momenta))))

    def quantities(self) -> dict[str, Quantity]:
        t, tau = self.times(), self.times("tau")
        found = {f"two_point{momentum_suffix(k)}": Quantity(
            f"two-point function of gamma5, momentum {k} in 2 pi / L", (t,), dtype=complex) for k in self.momenta}
        for sink in self.table.sink_times:
            where = f"sink at rest at t = {sink}, current at tau, both from the source"
            for k in self.momenta:
                words = f"{where}, momentum {k} of the current in 2 pi / L"
                found |= {f"{structure}_t{sink}{momentum_suffix(k)}": Quantity(
                    f"three-point function of {structure}, {words}", (tau,), dtype=complex)
                    for structure in self.table.structures}
                found[f"conserved_t{sink}{momentum_suffix(k)}"] = Quantity(
                    f"three-point function of the conserved vector current from tau to tau + 1, {words}", (tau,),
                    dtype=complex)
            found[f"ward_violation_t{sink}"] = Quantity(
                "violation of charge conservation: the change of the conserved charge at the sink, less the two-point "
                "function, over that")
        return found

    def lines(self, number: int) -> list[Line]:
        return [line for source in sources_of(self.p, self.table, number) for line in self._lines(source).values()]

    def _lines(self, source: Source) -> dict[Quark, Line]:
        brush = brush_of(self.table, self.table.gauss_source)
        return {quark: Line(quark, source, brush, self.table.keep) for quark in (self.quark, self.spectator)}

    def of_source(self, bench: Workbench, source: Source) -> Iterator[tuple[str, Any]]:
        brush = brush_of(self.table, self.table.gauss_sink)
        lines = {quark: bench.line(line) for quark, line in self._lines(source).items()}
        ends = {quark: smeared_sink(bench, line, brush) for quark, line in lines.items()}
        line, spectator = lines[self.quark], ends[self.spectator]
        two_point = meson_correlators(ends[self.quark], [("gamma5", "gamma5")], spectator, self.momenta)[..., 0]
        for k, values in zip(self.momenta, two_point):
            yield f"two_point{momentum_suffix(k)}", values
        for sink in self.table.sink_times:
            back = sequential(bench, self.table, self.quark, line, sink,
                              lambda t: spectator.local[t].conj().reshape(-1, 4, 3, 4, 3))
            for structure, k, values in local_currents(self.quark, line, back, self.table.structures, self.momenta):
                yield f"{structure}_t{sink}{momentum_suffix(k)}", values
            charges = conserved_charges(bench, self.quark, line, back, self.momenta)
            for k, charge in zip(self.momenta, charges):
                yield f"conserved_t{sink}{momentum_suffix(k)}", charge
            yield f"ward_violation_t{sink}", charge_violation(charges[0], sink, two_point[0, sink])
