"""Averages with errors from measurements on the configurations of a chain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from plaq.data.estimate import Axis, Estimate
from plaq.data.recorded import Recorded
from plaq.data.results_file import Findings
from plaq.data.statistics import no_error
from plaq.lqcd.analysis.averages import average
from plaq.lqcd.analysis.drift import drift_sentence, drifting_series
from plaq.lqcd.measurement_tables import each
from plaq.lqcd.measurements import scales
from plaq.lqcd.measurements.correlators import AXIAL, effective_mass, fit_mass, pcac_mass
from plaq.lqcd.measurements.potential import loop_estimates
from plaq.lqcd.parameters import Parameters


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
    return results, [f"acceptance = {results['acceptance']}, <exp(-Delta H)> = {results['exp_minus_delta_h']} of "
                   f"{len(after)} trajectories"]


def meson_estimates(table: Any, series: Mapping[str, Recorded]) -> tuple[dict[str, Estimate], list[str]]:
    """Return correlators, effective masses, fits and PCAC mass of a table [mesons.NAME], and sentences.

    ``series`` is {quantity: [configuration, t]}.
    """
    results: dict[str, Estimate] = {}
    sentences, times = [], np.arange(next(iter(series.values())).axes[1].size)
    for name, values in ((name, one.values) for name, one in series.items() if name != AXIAL):
        results[name] = average(name, values, axes=[Axis("t", times, "a")],
                                convention="sum over space of the two-point function, t from the source")
        results[f"mass_{name}"] = average(f"mass_{name}", values, effective_mass, unit="1/a",
                                          axes=[Axis("t", times[1:len(times) // 2], "a")],
                                          convention="effective mass, cosh m = (C(t-1) + C(t+1)) / 2 C(t)")
        if table.fit_from is not None:
            fit, sentence = fit_mass(name, values, results[name], table.fit_from)
            results |= fit
            sentences.append(sentence)
        elif last := len(results[f"mass_{name}"].mean):
            sentences.append(f"effective mass of {name} at t = {times[last]}: "
                             f"{results[f'mass_{name}'].pick(t=last - 1)} / a")
    if AXIAL in series and len(times) > 4:
        both = np.stack([series["gamma5"].values, series[AXIAL].values], axis=-1)
        results["pcac_mass"] = average("pcac_mass", both, pcac_mass, axes=[Axis("t", times[2:len(times) // 2], "a")],
                                       unit="1/a", convention="(C_AP(t+1) - C_AP(t-1)) / 4 C_PP(t)")
        middle = (len(times) // 2 - 2) // 2
        sentences.append(f"PCAC mass at t = {middle + 2}: {results['pcac_mass'].pick(t=middle)} / a")
    return results, sentences


def flow_estimates(table: Any, series: Mapping[str, Recorded]) -> tuple[dict[str, Estimate], list[str]]:
    """Return energies, charge and scales of a table [flow.NAME] from {quantity: series}, and sentences."""
    energy = series["energy"]
    times, axes, sentences = energy.axis("t"), energy.axes[1:], []
    last = times[-1]
    results = {
        "energy": average("energy", energy.values, axes=axes, unit="a^-4", convention="-tr F^2, clover"),
        "energy_plaquette": average("energy_plaquette", series["energy_plaquette"].values, axes=axes, unit="a^-4",
                                    convention="2 Re tr (1 - P), summed over the six plaquettes of a site"),
        "charge_squared": average("charge_squared", series["charge"].values**2, axes=axes,
                                  convention="of the topological charge, clover"),
    }
    reached = f"t^2 E is {last**2 * results['energy'].mean[-1]:.3f} at the end of the flow, t = {last:g}"
    thresholds = {"t0": (scales.t0, "a^2", "t^2 E = 0.3, clover", f"{reached}, and has to pass 0.3"),
              "w0": (scales.w0, "a", "t d(t^2 E)/dt = 0.3 at t = w0^2, clover",
                     f"t d(t^2 E)/dt has to pass 0.3 before the end of the flow, t = {last:g}")}
    for name, (function, unit, convention, reason) in thresholds.items():
        scale = average(name, energy.values, lambda mean, function=function: function(times, mean), unit=unit,
                        convention=convention)
        if np.isfinite(scale.mean):
            results[name] = scale
            sentences.append(f"{name} = {scale} {unit}")
        else:
            sentences.append(f"no {name}: {reason}")
    return results, [*sentences, f"<Q^2> = {results['charge_squared'].pick(t=-1)} at t = {last:g}"]


FAMILIES = {"loops": loop_estimates, "mesons": meson_estimates, "flow": flow_estimates}
"""{family: function of (table, {quantity: series}) that returns {name: estimate} and sentences}."""


def table_estimates(p: Parameters, series: Mapping[str, Recorded]) -> Iterator[tuple[dict[str, Estimate], list[str]]]:
    """Yield {path: estimate} and sentences of each table of the input that has been measured."""
    for family, name, table in each(p.values()):
        path = f"{family}/{name}/"
        of_table = {key.removeprefix(path): one for key, one in series.items() if key.startswith(path)}
        if len(next(iter(of_table.values())).values):
            found, sentences = FAMILIES[family](table, of_table)
            yield ({f"{path}{quantity}": replace(e, name=f"{path}{quantity}") for quantity, e in found.items()},
                   [f"{family}.{name}: {sentence}" for sentence in sentences])


def analyse(p: Parameters, series: Mapping[str, Recorded], seconds: dict[str, float]) -> Findings:
    """Return the results of a chain from its series by name.

    Bins of each quantity follow from its own autocorrelation time.
    """
    plaquettes = series["plaquette"].values
    results = {
        "plaquette": average("plaquette", plaquettes, convention="Re tr P / 3"),
        "plaquette_temporal": average("plaquette_temporal", series["plaquette_temporal"].values,
                                      convention="those with direction t"),
        "plaquette_spatial": average("plaquette_spatial", series["plaquette_spatial"].values,
                                     convention="those without"),
        "polyakov": average("polyakov", np.hypot(*series["polyakov"].values.T),
                            convention="|tr L / 3|, L on average over space"),
    }
    sentences = []
    trajectories = (np.stack([series[name].values for name in ("delta_h", "accepted")], axis=1)
                    if "delta_h" in series else np.zeros((0, 2)))
    parts = [*([trajectory_estimates(p, trajectories)] if len(trajectories) else []), *table_estimates(p, series)]
    for estimates, part_sentences in parts:
        results |= estimates
        sentences += part_sentences
    drifts = check_drift(results, series)
    e = results["plaquette"]
    tau = f"; tau_int of the plaquette is {e.tau_int:.1f} +- {e.tau_int_error:.1f} of them" if e.tau_int else ""
    stored = bool(p.measure.configurations)
    coupling = "" if stored else f" at beta = {p.action.beta:g}"
    apart = "stored" if stored else f"{p.updates.sweeps} {'trajectories' if len(trajectories) else 'sweeps'} apart"
    first = [f"plaquette = {e}{coupling} on {' x '.join(map(str, p.lattice.extents))}",
             f"{len(plaquettes)} configurations, {apart}{tau}"]
    sentences += [f"no error of the plaquette: {e.note}"] if e.note and not drifts else []
    return Findings(results, [*first, *drifts, *sentences], seconds, dict(series))


def check_drift(results: dict[str, Estimate], series: Mapping[str, Recorded]) -> list[str]:
    """Return sentences on halves of the chain that differ (`plaq.lqcd.analysis.drift`).

    The averages of series that differ lose their errors.
    """
    normal = {name: series[name].values for name in ("plaquette", "plaquette_temporal", "plaquette_spatial")}
    others = {"polyakov": np.hypot(*series["polyakov"].values.T)}
    for path, recorded in series.items():
        family, name = path.partition("/")[0], path.rpartition("/")[2]
        if name == "rectangle":
            normal[path] = recorded.values
        elif name in ("energy", "energy_plaquette"):
            normal[path] = recorded.values[:, -1]
        elif name == "charge":
            others[path.replace("charge", "charge_squared")] = recorded.values[:, -1]**2
        elif name == "wilson_loops":
            normal[path] = recorded.values[:, 0, 0]
        elif family == "mesons":
            others[path] = recorded.values[:, recorded.values.shape[1] // 4]
    names = drifting_series(normal, others)
    for name in names:
        if name in results:
            note = results[name].note or "its averages over the halves of the chain differ"
            results[name] = replace(results[name], error=no_error(results[name].mean), note=note)
    return [drift_sentence(names[0], {**normal, **others}[names[0]], names[1:])] if names else []
