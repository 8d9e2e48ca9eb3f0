"""Averages of the coupling of the Schroedinger functional."""

from __future__ import annotations

from collections.abc import Mapping

from plaq.data.estimate import Estimate
from plaq.data.recorded import Recorded
from plaq.lqcd.analysis.averages import average
from plaq.lqcd.fields.schroedinger import background_slope, distance_of
from plaq.lqcd.parameters import Parameters


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
