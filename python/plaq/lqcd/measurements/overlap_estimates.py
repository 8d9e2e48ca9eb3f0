"""Averages from tables [overlap.NAME]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from plaq.data.estimate import Axis, Estimate
from plaq.data.recorded import Recorded
from plaq.lqcd.analysis.averages import average
from plaq.lqcd.measurements.correlators import AXIAL, pcac_mass
from plaq.lqcd.measurements.masses import correlator_estimates
from plaq.lqcd.measurements.overlap import mass_suffix


def overlap_estimates(table: Any, series: Mapping[str, Recorded]) -> tuple[dict[str, Estimate], list[str]]:
    """Return correlators, masses, Z_A, condensate, eigenvalues and susceptibility of a table, and sentences."""
    found, said = checks(table, series)
    for mass in table.masses:
        suffix = mass_suffix(mass)
        of_mass = {name + suffix: series[name + suffix].values for name in table.structures}
        estimates, sentences = correlator_estimates(of_mass, table.fit_from)
        found |= estimates
        said += sentences
        fit = found.get(f"fit_gamma5{suffix}")
        if fit is not None:
            said.append(f"(mass of gamma5{suffix})^2 / m = {float(fit.mean)**2 / mass:.4g} / a")
        pp, T = series.get(f"gamma5{suffix}"), next(iter(of_mass.values())).shape[1]
        if pp is not None and T > 4:
            both = np.stack([pp.values, series[AXIAL + suffix].values], axis=-1)
            name = f"z_a{suffix}"
            found[name] = average(name, both, lambda c, mass=mass: mass / pcac_mass(c),
                                  axes=[Axis("t", np.arange(2, T // 2), "a")],
                                  convention="m over the PCAC mass of the local axial current")
            said.append(f"Z_A at t = {T // 2 - 1}: {found[name].pick(t=-1)} from m = {mass:g}")
    return found, said


def checks(table: Any, series: Mapping[str, Recorded]) -> tuple[dict[str, Estimate], list[str]]:
    """Return what is no correlator, and sentences on identities that hold on every configuration."""
    found: dict[str, Estimate] = {}
    worst = float(series["ginsparg_wilson_violation"].values.max())
    said = [f"Ginsparg-Wilson relation: violated by at most {worst:.1g}"]
    if worst > 10 * table.error:
        said = [f"warning: {said[0]}, which is far more than the error of the sign function, {table.error:g}"]
    if table.masses:
        condensate = series["condensate"]
        found["condensate"] = average("condensate", condensate.values, axes=condensate.axes[1:], unit="a^-3",
                                      convention="Re tr S(y, y), not renormalised; it has 1 / m of zero modes")
        worst = float(series["gmor_violation"].values.max())
        sentence = f"relation of pion and condensate, m sum C_PP = tr S: violated by at most {worst:.1g}"
        said.append(f"warning: {sentence}" if worst > 1000 * table.residual else sentence)
    if table.eigenvalues:
        index, eigenvalues = series["index"].values, series["eigenvalues"]
        found["index"] = average("index", index, convention="zero modes with gamma5 = -1, less those with +1")
        found["index_squared"] = average("index_squared", index**2, convention="of the index")
        found["eigenvalues"] = average("eigenvalues", eigenvalues.values, axes=eigenvalues.axes[1:], unit="1/a",
                                       convention="smallest |lambda| of D that are not zero")
        said.append(f"index: {found['index']} on average, <index^2> = {found['index_squared']}")
    return found, said
