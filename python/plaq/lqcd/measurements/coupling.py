"""Coupling of the Schroedinger functional."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plaq.data.estimate import Estimate
from plaq.data.recorded import Recorded
from plaq.lqcd.analysis.averages import average
from plaq.lqcd.fields.schroedinger import Walls, background_slope, distance_of
from plaq.lqcd.measurements.measurement import Measurement, Quantity
from plaq.lqcd.measurements.workbench import Workbench
from plaq.lqcd.parameters import Parameters


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
        first, second = Walls.of(bench.gauge.lattice, self.p).derivatives(bench.gauge, self.p.action.beta)
        return {"ds_deta": first, "d2s_deta_dnu": second}


def coupling_estimates(p: Parameters, series: Mapping[str, Recorded]) -> tuple[dict[str, Estimate], list[str]]:
    """Return the coupling and v of the walls, and a sentence."""
    first, second = (series[f"schroedinger/{name}"].values for name in ("ds_deta", "d2s_deta_dnu"))
    found = {"schroedinger/ds_deta": average("schroedinger/ds_deta", first, convention="dS / d eta")}
    if p.schroedinger.eta:
        return found, [f"dS / d eta = {found['schroedinger/ds_deta']} at eta = {p.schroedinger.eta:g}: the coupling "
                       "is that of eta = 0"]
    T, L = distance_of(p), p.lattice.extents[1]
    k = background_slope(T, L)
    found["schroedinger/coupling"] = average(
        "schroedinger/coupling", first, lambda mean: k / mean,
        convention=f"k / <dS / d eta>, k = {k:.6g}, nu = {p.schroedinger.nu:g}")
    found["schroedinger/v_bar"] = average("schroedinger/v_bar", second, lambda mean: -mean / k,
                                          convention="-<d^2S / d eta d nu> / k")
    return found, [f"coupling of the Schroedinger functional: g^2(L) = {found['schroedinger/coupling']}, v = "
                   f"{found['schroedinger/v_bar']}, T = {T}, L = {L}"]
