"""Measurements of gauge fields alone: plaquettes, Wilson loops, the gradient flow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from plaq.data.estimate import Axis
from plaq.lqcd.fields import open_ends
from plaq.lqcd.fields.gauge_field import GaugeField
from plaq.lqcd.fields.schroedinger import Walls
from plaq.lqcd.measurements.measurement import Measurement, Quantity
from plaq.lqcd.measurements.scales import flow_times
from plaq.lqcd.measurements.workbench import Workbench
from plaq.lqcd.parameters import Parameters


class Plaquettes(Measurement):
    """Plaquettes and the Polyakov loop of every configuration, which need no table."""

    family, name, every, key = "plaquettes", "", 1, "plaquettes"

    def __init__(self, p: Parameters):
        self.p = p

    def path(self, quantity: str) -> str:
        return quantity

    def quantities(self) -> dict[str, Quantity]:
        planes = Axis("plane", np.arange(6))
        of_planes = {"plaquette_planes": Quantity("of those in the planes tx, ty, tz, xy, xz, yz", (planes,))}
        return {"plaquette": Quantity("Re tr P / 3 of each configuration"),
                "plaquette_temporal": Quantity("of those with direction t"),
                "plaquette_spatial": Quantity("of those without"),
                **(of_planes if self.p.lattice.boundary == "periodic" else {}),
                "polyakov": Quantity("Polyakov loop, real and imaginary part of tr L / 3 on average over space",
                                     (Axis("part", np.arange(2)),))}

    def measure(self, bench: Workbench) -> Mapping[str, Any]:
        gauge, boundary = bench.gauge, self.p.lattice.boundary
        temporal, spatial = (open_ends.plaquettes(gauge) if boundary == "open" else
                             Walls.of(gauge.lattice, self.p).plaquettes(gauge) if boundary == "schroedinger" else
                             gauge.plaquettes())
        found = {"plaquette": (temporal + spatial) / 2, "plaquette_temporal": temporal, "plaquette_spatial": spatial}
        if boundary != "periodic":
            return found | {"polyakov": [0.0, 0.0]}
        loop = gauge.polyakov_loop()
        return found | {"polyakov": [loop.real, loop.imag], "plaquette_planes": gauge.plaquettes_by_plane()}


class Fixing(Measurement):
    """Quality of the gauge that [fixing] asks for, on every configuration with a measurement."""

    family, name, every, key, table = "fixing", "", 1, "fixing", None

    def __init__(self, p: Parameters):
        self.p = p

    def path(self, quantity: str) -> str:
        return f"fixing/{quantity}"

    def quantities(self) -> dict[str, Quantity]:
        gauge = self.p.fixing.gauge
        return {"functional": Quantity(f"functional of {gauge} gauge, Re tr U / 3"),
                "theta": Quantity(f"theta of {gauge} gauge, tr Delta Delta^+ / 3 on average")}

    def fixed(self, gauge: GaugeField) -> GaugeField:
        """Return the gauge field transformed to the gauge. Collective."""
        f = self.p.fixing
        transformed = gauge.copy()
        transformed.fix(f.gauge, f.tolerance, relaxation=f.relaxation, sweeps=f.sweeps)
        return transformed

    def measure(self, bench: Workbench) -> Mapping[str, Any]:
        quality = bench.gauge.gauge_quality(self.p.fixing.gauge)
        return {"functional": quality.functional, "theta": quality.theta}


class Loops(Measurement):
    """Rectangles and Wilson loops of [loops.NAME]."""

    family = "loops"

    def quantities(self) -> dict[str, Quantity]:
        r, t = np.arange(1, self.table.space + 1), np.arange(1, self.table.time + 1)
        return {"rectangle": Quantity("Re tr R / 3 of 2 x 1 rectangles"),
                "wilson_loops": Quantity("Re tr W / 3 of loops of r sites in space, on links smeared there, and t in "
                                         "time", (Axis("r", r, "a"), Axis("t", t, "a")))}

    def measure(self, bench: Workbench) -> Mapping[str, Any]:
        smeared = bench.links(self.table.ape_alpha, self.table.ape_steps)
        return {"rectangle": bench.gauge.rectangle(),
                "wilson_loops": bench.gauge.wilson_loops(self.table.space, self.table.time, smeared)}


class Flow(Measurement):
    """Energy density and topological charge along the gradient flow, of [flow.NAME]."""

    family = "flow"

    def quantities(self) -> dict[str, Quantity]:
        axis = Axis("t", flow_times(self.table), "a^2")
        return {"energy": Quantity("-tr F^2 on average over sites, clover, at flow times", (axis,), "a^-4"),
                "energy_plaquette": Quantity("2 Re tr (1 - P) of the six plaquettes of a site, on average over sites, "
                                             "at flow times", (axis,), "a^-4"),
                "charge": Quantity("topological charge, clover, at flow times", (axis,))}

    def measure(self, bench: Workbench) -> Mapping[str, Any]:
        flowed, rows = bench.gauge.copy(), []
        for step in np.diff(flow_times(self.table), prepend=0.0):
            flowed.flow(step, self.table.step, self.table.kind)
            rows.append((*flowed.energy_and_charge(), flowed.plaquette_energy()))
        energy, charge, plaquettes = np.transpose(rows)
        return {"energy": energy, "energy_plaquette": plaquettes, "charge": charge}
