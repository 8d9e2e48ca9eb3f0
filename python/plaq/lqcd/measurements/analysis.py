"""Averages with errors from measurements on the configurations of a chain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from plaq.data.estimate import Axis, Estimate
from plaq.data.recorded import Recorded
from plaq.data.results_file import Findings
from plaq.lqcd.analysis.averages import average, chains
from plaq.lqcd.fields.gamma import STRUCTURES
from plaq.lqcd.measurement_tables import each
from plaq.lqcd.measurements import scales
from plaq.lqcd.measurements.correlators import AXIAL, forward_part, forward_pcac_mass, pcac_mass
from plaq.lqcd.measurements.coupling import coupling_estimates
from plaq.lqcd.measurements.doubts import check_drift, short_in_words, times_in_words
from plaq.lqcd.measurements.form_factor_estimates import form_factor_estimates
from plaq.lqcd.measurements.hadron_estimates import (
    baryon_estimates,
    charge_estimates,
    current_estimates,
    disconnected_estimates,
)
from plaq.lqcd.measurements.masses import correlator_estimates
from plaq.lqcd.measurements.overlap_estimates import overlap_estimates
from plaq.lqcd.measurements.potential import loop_estimates
from plaq.lqcd.measurements.reweighted import reweighting_estimates
from plaq.lqcd.measurements.walls import wall_estimates
from plaq.lqcd.parameters import Parameters

FAR = 4  # errors from a value that is known exactly


def trajectory_estimates(p: Parameters, trajectories: np.ndarray) -> tuple[dict[str, Estimate], list[str]]:
    """Return estimates and sentences on the trajectories [trajectory, (Delta H, accepted)] after thermalisation.

    <exp(-Delta H)> is one if trajectories are reversible and conserve the volume of phase space (Creutz, Phys.
    Rev. D 38, 1228 (1988)).
    """
    results: dict[str, Estimate] = {}
    after = trajectories[p.updates.thermalisation:]
    if len(after) < 2:
        return results, []
    changes, accepted = after.T
    for name, series, convention in (("acceptance", accepted, "part of the trajectories"),
                                     ("exp_minus_delta_h", np.exp(-changes), "<exp(-Delta H)>, to be 1"),
                                     ("delta_h", changes, "<Delta H>")):
        results[name] = average(name, series, convention=convention)
    unity = results["exp_minus_delta_h"]
    off = abs(float(unity.mean) - 1) / float(unity.error) if unity.error > 0 else 0.0
    doubt = [f"warning: <exp(-Delta H)> = {unity} differs from 1 by {off:.1f} errors: trajectories are not reversible, "
             "or their steps are too long"] if off > FAR else []
    return results, [*doubt, f"acceptance = {results['acceptance']}, <exp(-Delta H)> = {unity} of {len(after)} "
                     "trajectories"]


def meson_estimates(table: Any, series: Mapping[str, Recorded]) -> tuple[dict[str, Estimate], list[str]]:
    """Return correlators, effective masses, fits and PCAC mass of a table [mesons.NAME], and sentences.

    ``series`` is {quantity: [configuration, t]}. With open boundaries states move forwards alone.
    """
    series, is_open = forward_part(series)
    times = np.arange(next(iter(series.values())).axes[1].size)
    half = len(times) // 2
    results, sentences = correlator_estimates({name: one.values.real for name, one in series.items() if has_mass(name)},
                                              table.fit_from, "exp" if is_open else "cosh")
    if AXIAL in series and len(times) > 4:
        both = np.stack([series["gamma5"].values, series[AXIAL].values], axis=-1)
        pcac, last = (forward_pcac_mass, len(times) - 1) if is_open else (pcac_mass, half)
        results["pcac_mass"] = average("pcac_mass", both, pcac, axes=[Axis("t", times[2:last], "a")],
                                       unit="1/a", convention="(C_AP(t+1) - C_AP(t-1)) / 4 C_PP(t)")
        middle = (half - 2) // 2
        sentences.append(f"PCAC mass at t = {middle + 2}: {results['pcac_mass'].pick(t=middle)} / a")
    estimates, more = current_estimates(table, series, is_open)
    return results | estimates, sentences + more


def has_mass(name: str) -> bool:
    """Return whether a series of a table [mesons.NAME] has one structure at source and sink."""
    return name.partition("_p")[0] in STRUCTURES


def flow_estimates(table: Any, series: Mapping[str, Recorded]) -> tuple[dict[str, Estimate], list[str]]:
    """Return energies, charge and scales of a table [flow.NAME] from {quantity: series}, and sentences."""
    energy = series["energy"]
    times, axes, sentences = energy.axis("t"), energy.axes[1:], []
    last = times[-1]
    results = {
        "energy": average("energy", energy.values, axes=axes, unit="a^-4", convention="-tr F^2, clover"),
        "energy_plaquette": average("energy_plaquette", series["energy_plaquette"].values, axes=axes, unit="a^-4",
                                    convention="2 Re tr (1 - P), summed over the six plaquettes of a site"),
        "charge": average("charge", series["charge"].values, axes=axes, convention="topological charge, clover"),
        "charge_squared": average("charge_squared", series["charge"].values**2, axes=axes,
                                  convention="of the topological charge, clover"),
    }
    charge = results["charge"].pick(t=-1)
    if abs(charge.mean) > FAR * charge.error:
        sentences.append(f"warning: the topological charge is {charge} on average, and 0 by symmetry: its sectors have "
                         "not been sampled")
    reached = f"t^2 E is {last**2 * results['energy'].mean[-1]:.3f} at the end of the flow, t = {last:g}"
    thresholds = {"t0": (scales.t0, "a^2", "t^2 E = 0.3, clover", f"{reached}, and has to pass 0.3"),
              "w0": (scales.w0, "a", "t d(t^2 E)/dt = 0.3 at t = w0^2, clover",
                     f"t d(t^2 E)/dt has to pass 0.3 before the end of the flow, t = {last:g}")}
    for name, (function, unit, convention, reason) in thresholds.items():
        kind = "" if table.kind == "wilson" else f", {table.kind} flow"
        scale = average(name, energy.values, lambda mean, function=function: function(times, mean), unit=unit,
                        convention=convention + kind)
        if np.isfinite(scale.mean):
            results[name] = scale
            sentences.append(f"{name} = {scale} {unit}")
        else:
            sentences.append(f"no {name}: {reason}")
    return results, [*sentences, f"<Q^2> = {results['charge_squared'].pick(t=-1)} at t = {last:g}"]


FAMILIES = {"loops": loop_estimates, "mesons": meson_estimates, "baryons": baryon_estimates,
            "charges": charge_estimates, "disconnected": disconnected_estimates, "overlap": overlap_estimates,
            "walls": wall_estimates, "flow": flow_estimates, "reweighting": reweighting_estimates}
"""{family: function of (table, {quantity: series}) to {name: estimate} and sentences}, without form factors."""


def table_estimates(p: Parameters, series: Mapping[str, Recorded],
                    lengths: Mapping[str, Sequence[int]]) -> Iterator[tuple[dict[str, Estimate], list[str]]]:
    """Yield {path: estimate} and sentences of each table of the input that has been measured.

    Form factors are the last, after the scales that give their momenta in GeV.
    """
    scale = None
    for family, name, table in sorted(each(p.values()), key=lambda one: one[0] == "form_factors"):
        path = f"{family}/{name}/"
        of_table = {key.removeprefix(path): one for key, one in series.items() if key.startswith(path)}
        if len(next(iter(of_table.values())).values):
            with chains(lengths.get(path + next(iter(of_table)), ())):
                found, sentences = (form_factor_estimates(table, of_table, p.lattice.extents, scale)
                                    if family == "form_factors" else FAMILIES[family](table, of_table))
            scale = scale or scales.inverse_spacing(found)
            yield ({f"{path}{quantity}": replace(e, name=f"{path}{quantity}") for quantity, e in found.items()},
                   [f"{family}.{name}: {sentence}" for sentence in sentences])


def gauge_estimates(series: Mapping[str, Recorded]) -> dict[str, Estimate]:
    """Return averages of plaquettes and of the Polyakov loop."""
    plaquettes = series["plaquette"].values
    return {
        "plaquette": average("plaquette", plaquettes, convention="Re tr P / 3"),
        "plaquette_temporal": average("plaquette_temporal", series["plaquette_temporal"].values,
                                      convention="those with direction t"),
        "plaquette_spatial": average("plaquette_spatial", series["plaquette_spatial"].values,
                                     convention="those without"),
        "polyakov": average("polyakov", np.hypot(*series["polyakov"].values.T),
                            convention="|tr L / 3|, L on average over space"),
    }


def analyse(p: Parameters, series: Mapping[str, Recorded], seconds: dict[str, float],
            lengths: Mapping[str, Sequence[int]] = MappingProxyType({})) -> Findings:
    """Return the results of a chain from its series by name.

    Bins of each quantity follow from its own autocorrelation time. ``lengths`` are the numbers of measurements of each
    chain by series, where these are of several chains (`plaq.lqcd.replicas`).
    """
    with chains(lengths.get("plaquette", ())):
        results = gauge_estimates(series)
    sentences = []
    trajectories = (np.stack([series[name].values for name in ("delta_h", "accepted")], axis=1)
                    if "delta_h" in series else np.zeros((0, 2)))
    parts = []
    if len(trajectories):
        with chains(lengths.get("delta_h", ())):
            parts.append(trajectory_estimates(p, trajectories))
    if "schroedinger/ds_deta" in series:
        with chains(lengths.get("schroedinger/ds_deta", ())):
            parts.append(coupling_estimates(p, series))
    for estimates, part_sentences in [*parts, *table_estimates(p, series, lengths)]:
        results |= estimates
        sentences += part_sentences
    drifts = check_drift(results, series, lengths)
    stored = bool(p.measure.configurations)
    coupling = "" if stored else f" at beta = {p.action.beta:g}"
    apart = "stored" if stored else f"{p.updates.sweeps} {'trajectories' if len(trajectories) else 'sweeps'} apart"
    of_chains = f" of {len(lengths['plaquette'])} chains" if lengths else ""
    first = [f"plaquette = {results['plaquette']}{coupling} on {' x '.join(map(str, p.lattice.extents))}",
             f"{len(series['plaquette'].values)} configurations{of_chains}, {apart}{times_in_words(results)}"]
    return Findings(results, [*first, *(drifts or short_in_words(results)), *sentences], seconds, dict(series))
