"""From measurements on the configurations of a chain to numbers with errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from plaq.data.estimate import Axis, Estimate
from plaq.data.recorded import Recorded
from plaq.data.results_file import Findings
from plaq.data.statistics import no_error
from plaq.lqcd import scales
from plaq.lqcd.averages import average
from plaq.lqcd.correlators import AXIAL, effective_mass, fitted, pcac_mass
from plaq.lqcd.drift import doubt, drifting
from plaq.lqcd.parameters import Parameters
from plaq.lqcd.potential import Loops, of_loops
from plaq.lqcd.scales import flow_times
from plaq.lqcd.series import recorded

CLOVER, CHARGE, PLAQUETTE = range(3)  # what is measured at each flow time


def of_trajectories(p: Parameters, trajectories: np.ndarray) -> tuple[dict[str, Estimate], list[str]]:
    """Estimates and sentences on the trajectories [trajectory, (Delta H, accepted)] after thermalisation:
    <exp(-Delta H)> is one where trajectories are reversible and conserve the volume of phase space (Creutz, Phys.
    Rev. D 38, 1228 (1988))."""
    found: dict[str, Estimate] = {}
    after = trajectories[p.updates.thermalisation:]
    if len(after) < 2:
        return found, []
    changes, accepted = after.T
    for name, series, convention in (("acceptance", accepted, "part of the trajectories"),
                                     ("exp_minus_delta_h", np.exp(-changes), "<exp(-Delta H)>, to be 1"),
                                     ("delta_h", changes, "<Delta H>")):
        found[name] = average(name, series, convention=convention)
    return found, [f"acceptance = {found['acceptance']}, <exp(-Delta H)> = {found['exp_minus_delta_h']} of "
                   f"{len(after)} trajectories"]


def of_mesons(p: Parameters, mesons: Mapping[str, np.ndarray]) -> tuple[dict[str, Estimate], list[str]]:
    """Correlators, effective masses, fits and the PCAC mass of {structure: [configuration, t]}, and sentences."""
    found: dict[str, Estimate] = {}
    sentences, times = [], np.arange(p.lattice.extents[0])
    axial, mesons = mesons.get(AXIAL), {name: series for name, series in mesons.items() if name != AXIAL}
    for name, series in mesons.items():
        found[f"meson_{name}"] = average(f"meson_{name}", series, axes=[Axis("t", times, "a")],
                                         convention="sum over space of the two-point function, t from the source")
        found[f"mass_{name}"] = average(f"mass_{name}", series, effective_mass, unit="1/a",
                                        axes=[Axis("t", times[1:len(times) // 2], "a")],
                                        convention="effective mass, cosh m = (C(t-1) + C(t+1)) / 2 C(t)")
        if p.mesons.fit_from is not None:
            fit, said = fitted(name, series, found[f"meson_{name}"], p.mesons.fit_from)
            found |= fit
            sentences.append(said)
        elif len(mass := found[f"mass_{name}"].mean):
            last = len(mass) - 1
            sentences.append(f"effective mass of {name} at t = {times[last + 1]}: "
                             f"{found[f'mass_{name}'].pick(t=last)} / a")
    if axial is not None and len(times) > 4:
        both = np.stack([mesons["gamma5"], axial], axis=-1)
        found["pcac_mass"] = average("pcac_mass", both, pcac_mass, axes=[Axis("t", times[2:len(times) // 2], "a")],
                                     unit="1/a", convention="(C_AP(t+1) - C_AP(t-1)) / 4 C_PP(t)")
        middle = (len(times) // 2 - 2) // 2
        sentences.append(f"PCAC mass at t = {middle + 2}: {found['pcac_mass'].pick(t=middle)} / a")
    return found, sentences


def of_flow(p: Parameters, flow: np.ndarray) -> tuple[dict[str, Estimate], list[str]]:
    """Energies, charge and scales of the flow [configuration, t, (E clover, Q, E plaquette)], and sentences."""
    times = flow_times(p)
    axes, last, sentences = [Axis("t", times, "a^2")], times[-1], []
    found = {
        "flow_energy": average("flow_energy", flow[..., CLOVER], axes=axes, unit="a^-4",
                               convention="-tr F^2, clover"),
        "flow_energy_plaquette": average("flow_energy_plaquette", flow[..., PLAQUETTE], axes=axes, unit="a^-4",
                                         convention="2 Re tr (1 - P), summed over the six plaquettes of a site"),
        "charge_squared": average("charge_squared", flow[..., CHARGE]**2, axes=axes,
                                  convention="of the topological charge, clover"),
    }
    reached = f"t^2 E is {last**2 * found['flow_energy'].mean[-1]:.3f} at the end of the flow, t = {last:g}"
    passed = {"t0": (scales.t0, "a^2", "t^2 E = 0.3, clover", f"{reached}, and has to pass 0.3"),
              "w0": (scales.w0, "a", "t d(t^2 E)/dt = 0.3 at t = w0^2, clover",
                     f"t d(t^2 E)/dt has to pass 0.3 before the end of the flow, t = {last:g}")}
    for name, (function, unit, convention, why) in passed.items():
        scale = average(name, flow[..., CLOVER], lambda energy, function=function: function(times, energy), unit=unit,
                        convention=convention)
        if np.isfinite(scale.mean):
            found[name] = scale
            sentences.append(f"{name} = {scale} {unit}")
        else:
            sentences.append(f"no {name}: {why}")
    return found, [*sentences, f"<Q^2> = {found['charge_squared'].pick(t=-1)} at t = {last:g}"]


def findings(p: Parameters, plaquettes: np.ndarray, loops: Loops, mesons: Mapping[str, np.ndarray], flow: np.ndarray,
             trajectories: np.ndarray, seconds: dict[str, float]) -> Findings:
    """plaquettes [configuration, (with t, without)], mesons {structure: [configuration, t]}, flow [configuration,
    t, (E clover, Q, E plaquette)], trajectories [trajectory, (Delta H, accepted)]. Each quantity has bins of its own
    autocorrelation time."""
    found = {
        "plaquette": average("plaquette", plaquettes.mean(axis=1), convention="Re tr P / 3"),
        "plaquette_temporal": average("plaquette_temporal", plaquettes[:, 0], convention="those with direction t"),
        "plaquette_spatial": average("plaquette_spatial", plaquettes[:, 1], convention="those without"),
        "polyakov": average("polyakov", np.hypot(*loops.polyakov.T), convention="|tr L / 3|, L on average over space"),
    }
    sentences = []
    parts = [of_trajectories(p, trajectories)] if len(trajectories) else []
    parts += [of_loops(p, loops)] if p.loops.space is not None else []
    parts += [of_mesons(p, mesons)] if mesons else []
    parts += [of_flow(p, flow)] if flow_times(p).size else []
    for more, said in parts:
        found |= more
        sentences += said
    series = recorded(p, plaquettes, loops, mesons, flow, trajectories)
    doubts = judged(found, series)
    e = found["plaquette"]
    tau = f"; tau_int of the plaquette is {e.tau_int:.1f} +- {e.tau_int_error:.1f} of them" if e.tau_int else ""
    first = [f"plaquette = {e} at beta = {p.action.beta:g} on {' x '.join(map(str, p.lattice.extents))}",
             f"{len(plaquettes)} configurations, {p.updates.sweeps} "
             f"{'trajectories' if len(trajectories) else 'sweeps'} apart{tau}"]
    sentences += [f"no error of the plaquette: {e.note}"] if e.note and not doubts else []
    return Findings(found, [*first, *doubts, *sentences], seconds, series)


def judged(found: dict[str, Estimate], series: Mapping[str, Recorded]) -> list[str]:
    """Sentences on halves of the chain that differ (`plaq.lqcd.drift`); the averages of what differs lose their
    errors."""
    names = ["plaquette", "plaquette_temporal", "plaquette_spatial", "rectangle"]
    normal = {name: series[name].values for name in names if name in series}
    others = {"polyakov": np.hypot(*series["polyakov"].values.T)}
    for name, one in series.items():
        if name in ("flow_energy", "flow_energy_plaquette"):
            normal[name] = one.values[:, -1]
        elif name == "charge":
            others["charge_squared"] = one.values[:, -1]**2
        elif name == "wilson_loops":
            normal[name] = one.values[:, 0, 0]
        elif name.startswith("meson_"):
            others[name] = one.values[:, one.values.shape[1] // 4]
    names = drifting(normal, others)
    for name in names:
        if name in found:
            note = found[name].note or "its averages over the halves of the chain differ"
            found[name] = replace(found[name], error=no_error(found[name].mean), note=note)
    return [doubt(names[0], {**normal, **others}[names[0]], names[1:])] if names else []
