"""Overlap quarks on a configuration, as tables [overlap.NAME] ask for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from plaq.data.estimate import Axis
from plaq.lqcd.fields.overlap import Overlap, find_low_modes, overlap_propagators
from plaq.lqcd.fields.propagators import Propagator
from plaq.lqcd.fields.sources import Source
from plaq.lqcd.fields.spinor_field import SpinorField
from plaq.lqcd.measurements.correlators import AXIAL
from plaq.lqcd.measurements.hadrons import sources_of
from plaq.lqcd.measurements.measurement import Measurement, Quantity
from plaq.lqcd.measurements.mesons import meson_correlators
from plaq.lqcd.measurements.workbench import Workbench


def mass_suffix(mass: float) -> str:
    """Return the end of a quantity's name, as ``_m0.05``."""
    return f"_m{mass:g}"


class OverlapQuarks(Measurement):
    """Two-point functions, condensate, eigenvalues and index of [overlap.NAME]."""

    family = "overlap"

    def pairs(self) -> dict[str, tuple[str, str]]:
        """Return {quantity: (structure of the sink, of the source)}."""
        pairs = {name: (name, name) for name in self.table.structures}
        return pairs | {AXIAL: ("gammatgamma5", "gamma5")} if "gamma5" in pairs else pairs

    def quantities(self) -> dict[str, Quantity]:
        table, t = self.table, Axis("t", np.arange(self.p.lattice.extents[0]), "a")
        found = {name + mass_suffix(mass): Quantity(
            f"two-point function, sum over space, {sink} at the sink and {source} at the source, mass {mass:g}, t from "
            "the source", (t,)) for mass in table.masses for name, (sink, source) in self.pairs().items()}
        if table.masses:
            found["condensate"] = Quantity("Re tr S(y, y) of the sources y",
                                           (Axis("mass", np.array(table.masses), "1/a"),), "a^-3")
            found["gmor_violation"] = Quantity("largest |m sum C_PP - Re tr S(y, y)| / m sum C_PP of sources and "
                                               "masses, to be 0")
        if table.eigenvalues:
            found["index"] = Quantity("zero modes with gamma5 = -1, less those with +1")
            found["eigenvalues"] = Quantity("smallest |lambda| of D that are not zero",
                                            (Axis("number", np.arange(1, table.eigenvalues + 1)),), "1/a")
        return found | {
            "ginsparg_wilson_violation": Quantity("|(1 - sign^2) eta| / |eta| of a Gaussian vector, to be 0"),
            "kernel_eigenvalue": Quantity("smallest |lambda| of gamma5 (D_W - rho)", unit="1/a")}

    def measure(self, bench: Workbench) -> Mapping[str, Any]:
        table, gauge = self.table, bench.gauge
        if table.stout_steps:
            gauge = gauge.copy().stout(table.stout_rho, table.stout_steps)
        D = Overlap(gauge, table.rho, table.theta, low_modes=table.low_modes, error=table.error)
        eta = SpinorField(gauge.lattice).gaussian(self.p.seed, bench.number)
        found: dict[str, Any] = {"ginsparg_wilson_violation": D.violation(eta),
                                 "kernel_eigenvalue": abs(D.kernel_eigenvalues[0])}
        modes = find_low_modes(D, table.eigenvalues) if table.eigenvalues else None
        if modes is not None:
            found |= {"index": modes.index, "eigenvalues": modes.values(table.eigenvalues)}
        if table.masses:
            found |= self._propagators(D, sources_of(self.p, table, bench.number), modes)
        return found

    def _propagators(self, D: Overlap, sources: list[Source], modes: Any) -> dict[str, Any]:
        """Return everything that propagators give, on average over sources. Collective."""
        table, pairs = self.table, self.pairs()
        sums = dict.fromkeys((name + mass_suffix(mass) for mass in table.masses for name in pairs), 0.0)
        condensate, violation = np.zeros(len(table.masses)), 0.0
        for source in sources:
            lines = overlap_propagators(D, source.site, table.masses, table.residual, modes)
            for i, (mass, S) in enumerate(zip(table.masses, lines)):
                values = meson_correlators(S, [*pairs.values(), ("gamma5", "gamma5")])[0].real
                for name, correlator in zip(pairs, values.T):
                    sums[name + mass_suffix(mass)] = sums[name + mass_suffix(mass)] + correlator / len(sources)
                trace, expected = trace_at_source(S), mass * values[:, -1].sum()
                condensate[i] += trace / len(sources)
                violation = max(violation, abs(trace / expected - 1))
        return {**sums, "condensate": condensate, "gmor_violation": violation}


def trace_at_source(S: Propagator) -> float:
    """Return Re tr S(y, y) on all ranks. Collective."""
    box = S.lattice.box
    inside = all(b.start <= y < b.stop for b, y in zip(box, S.source))
    here = S.local[tuple(y - b.start for b, y in zip(box, S.source))] if inside else np.zeros((4, 3, 4, 3))
    return float(S.lattice.comm.allreduce(np.array([np.einsum("abab", here).real]))[0])
