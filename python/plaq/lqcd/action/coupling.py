"""Derivatives of the action by the walls of the Schroedinger functional, for its coupling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plaq.lqcd.action.of_input import action_of
from plaq.lqcd.fields.momenta import Momenta
from plaq.lqcd.fields.schroedinger import Walls
from plaq.lqcd.measurements.measurement import Measurement, Quantity
from plaq.lqcd.measurements.workbench import Workbench
from plaq.lqcd.parameters import Parameters
from plaq.lqcd.sea import GAUGE

OF_COUPLING = 2**31  # number that pseudofermions of the coupling have in place of a trajectory's


class Coupling(Measurement):
    """Derivatives of the action by the walls' angles, of every configuration, which need no table."""

    family, name, every, key, table = "schroedinger", "", 1, "schroedinger", None

    def __init__(self, p: Parameters):
        self.p = p

    def path(self, quantity: str) -> str:
        return f"schroedinger/{quantity}"

    def quantities(self) -> dict[str, Quantity]:
        return {"ds_deta": Quantity("dS / d eta"), "d2s_deta_dnu": Quantity("d^2S / d eta d nu at eta = 0")}

    def measure(self, bench: Workbench) -> Mapping[str, Any]:
        first, second = Walls.of(bench.gauge.lattice, self.p).derivatives(self.force(bench))
        return {"ds_deta": first, "d2s_deta_dnu": second}

    def force(self, bench: Workbench) -> Momenta:
        """Return F of the action: of quarks, whose clover term has links of the walls, with new pseudofermions.

        On average over these it is the derivative of the determinant. Collective.
        """
        kicked = Momenta(bench.gauge.lattice)
        with bench.gauge.frozen():
            for name, group in action_of(self.p).terms.items():
                for term in group:
                    if name == GAUGE or self.p.quarks[name.partition(".")[0]].csw:
                        term.begin(bench.gauge, self.p.seed, OF_COUPLING + bench.number)
                        term.kick(kicked, bench.gauge, -1.0)
        return kicked
