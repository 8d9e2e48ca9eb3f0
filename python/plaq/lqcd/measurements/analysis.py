"""Averages with errors from measurements on the configurations of a chain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from plaq.data.estimate import Axis, Estimate
from plaq.data.recorded import Recorded
from plaq.data.results_file import Findings
from plaq.data.statistics import no_error
from plaq.lqcd.measurements import scales
from plaq.lqcd.measurements.averages import average
from plaq.lqcd.measurements.correlators import AXIAL, effective_mass, fit_mass, pcac_mass
from plaq.lqcd.measurements.drift import drift_sentence, drifting_series
from plaq.lqcd.measurements.potential import Loops, loop_estimates
from plaq.lqcd.measurements.scales import flow_times
from plaq.lqcd.measurements.series import record_series
from plaq.lqcd.parameters import Parameters

CLOVER, CHARGE, PLAQUETTE = range(3)  # measurements at each flow time


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


def meson_estimates(p: Parameters, mesons: Mapping[str, np.ndarray]) -> tuple[dict[str, Estimate], list[str]]:
    """Return correlators, effective masses, fits, PCAC mass of {structure: [configuration, t]}, and sentences."""
    results: dict[str, Estimate] = {}
    sentences, times = [], np.arange(p.lattice.extents[0])
    axial, mesons = mesons.get(AXIAL), {name: series for name, series in mesons.items() if name != AXIAL}
    for name, series in mesons.items():
        results[f"meson_{name}"] = average(f"meson_{name}", series, axes=[Axis("t", times, "a")],
                                         convention="sum over space of the two-point function, t from the source")
        results[f"mass_{name}"] = average(f"mass_{name}", series, effective_mass, unit="1/a",
                                        axes=[Axis("t", times[1:len(times) // 2], "a")],
                                        convention="effective mass, cosh m = (C(t-1) + C(t+1)) / 2 C(t)")
        if p.mesons.fit_from is not None:
            fit, sentence = fit_mass(name, series, results[f"meson_{name}"], p.mesons.fit_from)
            results |= fit
            sentences.append(sentence)
        elif len(mass := results[f"mass_{name}"].mean):
            last = len(mass) - 1
            sentences.append(f"effective mass of {name} at t = {times[last + 1]}: "
                             f"{results[f'mass_{name}'].pick(t=last)} / a")
    if axial is not None and len(times) > 4:
        both = np.stack([mesons["gamma5"], axial], axis=-1)
        results["pcac_mass"] = average("pcac_mass", both, pcac_mass, axes=[Axis("t", times[2:len(times) // 2], "a")],
                                     unit="1/a", convention="(C_AP(t+1) - C_AP(t-1)) / 4 C_PP(t)")
        middle = (len(times) // 2 - 2) // 2
        sentences.append(f"PCAC mass at t = {middle + 2}: {results['pcac_mass'].pick(t=middle)} / a")
    return results, sentences


def flow_estimates(p: Parameters, flow: np.ndarray) -> tuple[dict[str, Estimate], list[str]]:
    """Return energies, charge and scales of the flow [configuration, t, (E clover, Q, E plaquette)], and sentences."""
    times = flow_times(p)
    axes, last, sentences = [Axis("t", times, "a^2")], times[-1], []
    results = {
        "flow_energy": average("flow_energy", flow[..., CLOVER], axes=axes, unit="a^-4",
                               convention="-tr F^2, clover"),
        "flow_energy_plaquette": average("flow_energy_plaquette", flow[..., PLAQUETTE], axes=axes, unit="a^-4",
                                         convention="2 Re tr (1 - P), summed over the six plaquettes of a site"),
        "charge_squared": average("charge_squared", flow[..., CHARGE]**2, axes=axes,
                                  convention="of the topological charge, clover"),
    }
    reached = f"t^2 E is {last**2 * results['flow_energy'].mean[-1]:.3f} at the end of the flow, t = {last:g}"
    thresholds = {"t0": (scales.t0, "a^2", "t^2 E = 0.3, clover", f"{reached}, and has to pass 0.3"),
              "w0": (scales.w0, "a", "t d(t^2 E)/dt = 0.3 at t = w0^2, clover",
                     f"t d(t^2 E)/dt has to pass 0.3 before the end of the flow, t = {last:g}")}
    for name, (function, unit, convention, reason) in thresholds.items():
        scale = average(name, flow[..., CLOVER], lambda energy, function=function: function(times, energy), unit=unit,
                        convention=convention)
        if np.isfinite(scale.mean):
            results[name] = scale
            sentences.append(f"{name} = {scale} {unit}")
        else:
            sentences.append(f"no {name}: {reason}")
    return results, [*sentences, f"<Q^2> = {results['charge_squared'].pick(t=-1)} at t = {last:g}"]


def analyse(p: Parameters, plaquettes: np.ndarray, loops: Loops, mesons: Mapping[str, np.ndarray], flow: np.ndarray,
             trajectories: np.ndarray, seconds: dict[str, float]) -> Findings:
    """Return the results of a chain.

    plaquettes [configuration, (with t, without)], mesons {structure: [configuration, t]}, flow [configuration,
    t, (E clover, Q, E plaquette)], trajectories [trajectory, (Delta H, accepted)]. Bins of each quantity follow from
    its own autocorrelation time.
    """
    results = {
        "plaquette": average("plaquette", plaquettes.mean(axis=1), convention="Re tr P / 3"),
        "plaquette_temporal": average("plaquette_temporal", plaquettes[:, 0], convention="those with direction t"),
        "plaquette_spatial": average("plaquette_spatial", plaquettes[:, 1], convention="those without"),
        "polyakov": average("polyakov", np.hypot(*loops.polyakov.T), convention="|tr L / 3|, L on average over space"),
    }
    sentences = []
    parts = [trajectory_estimates(p, trajectories)] if len(trajectories) else []
    parts += [loop_estimates(p, loops)] if p.loops.space is not None else []
    parts += [meson_estimates(p, mesons)] if mesons else []
    parts += [flow_estimates(p, flow)] if flow_times(p).size else []
    for estimates, part_sentences in parts:
        results |= estimates
        sentences += part_sentences
    series = record_series(p, plaquettes, loops, mesons, flow, trajectories)
    drifts = check_drift(results, series)
    e = results["plaquette"]
    tau = f"; tau_int of the plaquette is {e.tau_int:.1f} +- {e.tau_int_error:.1f} of them" if e.tau_int else ""
    stored = bool(p.measure.configurations)
    coupling = "" if stored else f" at beta = {p.action.beta:g}"
    apart = "stored" if stored else f"{p.updates.sweeps} {'trajectories' if len(trajectories) else 'sweeps'} apart"
    first = [f"plaquette = {e}{coupling} on {' x '.join(map(str, p.lattice.extents))}",
             f"{len(plaquettes)} configurations, {apart}{tau}"]
    sentences += [f"no error of the plaquette: {e.note}"] if e.note and not drifts else []
    return Findings(results, [*first, *drifts, *sentences], seconds, series)


def check_drift(results: dict[str, Estimate], series: Mapping[str, Recorded]) -> list[str]:
    """Return sentences on halves of the chain that differ (`plaq.lqcd.measurements.drift`).

    The averages of series that differ lose their errors.
    """
    names = ["plaquette", "plaquette_temporal", "plaquette_spatial", "rectangle"]
    normal = {name: series[name].values for name in names if name in series}
    others = {"polyakov": np.hypot(*series["polyakov"].values.T)}
    for name, recorded in series.items():
        if name in ("flow_energy", "flow_energy_plaquette"):
            normal[name] = recorded.values[:, -1]
        elif name == "charge":
            others["charge_squared"] = recorded.values[:, -1]**2
        elif name == "wilson_loops":
            normal[name] = recorded.values[:, 0, 0]
        elif name.startswith("meson_"):
            others[name] = recorded.values[:, recorded.values.shape[1] // 4]
    names = drifting_series(normal, others)
    for name in names:
        if name in results:
            note = results[name].note or "its averages over the halves of the chain differ"
            results[name] = replace(results[name], error=no_error(results[name].mean), note=note)
    return [drift_sentence(names[0], {**normal, **others}[names[0]], names[1:])] if names else []
