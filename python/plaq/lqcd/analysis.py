"""From measurements on the configurations of a chain to numbers with errors."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from scipy.optimize import minimize_scalar

from plaq.data.estimate import Axis, Estimate
from plaq.data.recorded import Recorded
from plaq.data.results_file import Findings
from plaq.data.statistics import autocorrelation_time
from plaq.lqcd.averages import average, bins_for
from plaq.lqcd.parameters import Parameters
from plaq.lqcd.potential import Loops, of_loops

AXIAL = "gammatgamma5, gamma5"  # the correlator of the axial current with the pseudoscalar source


def folded(correlator: np.ndarray) -> np.ndarray:
    """[T/2 + 1]: the mean of C(t) and C(T - t)."""
    return (correlator + np.roll(correlator[::-1], 1))[:len(correlator) // 2 + 1] / 2


def effective_mass(correlator: np.ndarray) -> np.ndarray:
    r"""$m(t)$ with $\cosh m = (C(t-1) + C(t+1)) / 2 C(t)$ for 0 < t < T/2, which a single state in a box of length
    T obeys; nan where that has no solution. From C [T]."""
    c = folded(correlator)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.arccosh((c[:-2] + c[2:]) / (2 * c[1:-1]))


def flow_times(p: Parameters) -> np.ndarray:
    """Where the flow is looked at: after every step, which are equal and end at flow.time; none without a time."""
    if p.flow.time is None:
        return np.zeros(0)
    steps = max(1, math.ceil(p.flow.time / p.flow.step - 1e-9))
    return p.flow.time * np.arange(1, steps + 1) / steps


def scale(times: np.ndarray, energy: np.ndarray, level: float = 0.3) -> np.ndarray:
    """t0 with t0^2 E(t0) = 0.3 (Luescher, arXiv:1006.4518), from E at the times; linear between two of them, nan
    where that is not reached."""
    scaled = times**2 * energy
    above = np.flatnonzero(scaled >= level)
    if not above.size or above[0] == 0:
        return np.array(np.nan)
    i = above[0]
    return times[i - 1] + (times[i] - times[i - 1]) * (level - scaled[i - 1]) / (scaled[i] - scaled[i - 1])


def cosh_mass(correlator: np.ndarray, error: np.ndarray, first: int) -> np.ndarray:
    """m of A cosh(m (t - T/2)) with the least squares, weighted by errors, on the folded correlator for
    first <= t <= T/2; nan where there is no minimum in 1e-4 < m < 10. From C [T] and the errors of C folded
    [T/2 + 1]."""
    half = len(correlator) // 2
    t, c, w = np.arange(first, half + 1), folded(correlator)[first:], 1 / error[first:] ** 2

    def squares(log_m: float) -> float:
        shape = np.exp(np.logaddexp(np.exp(log_m) * (t - half), -np.exp(log_m) * (t - half))
                       - np.exp(log_m) * (half - first))
        scale = (w * c * shape).sum() / (w * shape**2).sum()
        return (w * (c - scale * shape) ** 2).sum()

    low, high = math.log(1e-4), math.log(10)
    found = minimize_scalar(squares, bounds=(low, high), method="bounded", options={"xatol": 1e-10})
    inside = low + 1e-3 < found.x < high - 1e-3 and np.isfinite(found.fun)
    return np.array(math.exp(found.x) if inside else np.nan)


def fitted(name: str, series: np.ndarray, error: np.ndarray, first: int,
           how: dict) -> tuple[dict[str, Estimate], str]:
    """The mass of a meson by `cosh_mass`, if it has one, and a sentence. ``error`` is that of its correlator, [T]."""
    if not np.isfinite(error).all():
        return {}, f"no mass of {name}: a fit takes errors of its correlator, and there are none"
    fold = np.array([folded(c) for c in np.eye(len(error))]).T
    weight = np.sqrt(fold**2 @ error**2)
    fit = average(f"fit_{name}", series, **how, function=lambda c: cosh_mass(c, weight, first), unit="1/a",
                  convention=f"m of A cosh(m (t - T/2)) for t from {first} to T/2")
    if not np.isfinite(fit.mean):
        return {}, f"no mass of {name}: no cosh fits its correlator for t >= {first}"
    return {f"fit_{name}": fit}, f"mass of {name} = {fit} / a, from a cosh for t >= {first}"


def pcac_mass(correlators: np.ndarray) -> np.ndarray:
    r"""$m(t) = (C_{AP}(t+1) - C_{AP}(t-1)) / 4 C_{PP}(t)$ for 1 < t < T/2, away from the source, from [T, (PP,
    AP)] with $A = \bar q\gamma_0\gamma_5 q$, which changes its sign under t -> T - t."""
    pp, ap = correlators.T
    odd = (ap - np.roll(ap[::-1], 1)) / 2
    half = len(pp) // 2
    return (odd[3:half + 1] - odd[1:half - 1]) / (4 * folded(pp)[2:half])


def recorded(name: str, series: np.ndarray, axis: str, convention: str) -> Recorded:
    """What was found one after the other."""
    return Recorded(name, series, (Axis(axis, np.arange(1, len(series) + 1)),), convention=convention)


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
        tau = autocorrelation_time(series)[0]
        tau = tau if np.isfinite(tau) else None
        found[name] = average(name, series, bins_for(len(series), tau), tau, convention=convention)
    return found, [f"acceptance = {found['acceptance']}, <exp(-Delta H)> = {found['exp_minus_delta_h']} of "
                   f"{len(after)} trajectories"]


def findings(p: Parameters, plaquettes: np.ndarray, loops: Loops, mesons: Mapping[str, np.ndarray], flow: np.ndarray,
             trajectories: np.ndarray, seconds: dict[str, float]) -> Findings:
    """plaquettes [configuration, (with t, without)], mesons {structure: [configuration, t]}, flow [configuration,
    t, (E, Q)], trajectories [trajectory, (Delta H, accepted)].
    Bins are those that the plaquette's autocorrelation time asks for."""
    tau = autocorrelation_time(plaquettes.mean(axis=1))[0]
    tau = tau if np.isfinite(tau) else None
    how = {"bins": bins_for(len(plaquettes), tau), "tau": tau}
    found = {
        "plaquette": average("plaquette", plaquettes.mean(axis=1), **how, convention="Re tr P / 3"),
        "plaquette_temporal": average("plaquette_temporal", plaquettes[:, 0], **how,
                                      convention="those with direction t"),
        "plaquette_spatial": average("plaquette_spatial", plaquettes[:, 1], **how, convention="those without"),
        "polyakov": average("polyakov", np.hypot(*loops.polyakov.T), **how,
                            convention="|tr L / 3|, L on average over space"),
    }
    times = np.arange(p.lattice.extents[0])
    axial, mesons = mesons.get(AXIAL), {name: series for name, series in mesons.items() if name != AXIAL}
    for name, series in mesons.items():
        found[f"meson_{name}"] = average(f"meson_{name}", series, **how, axes=[Axis("t", times, "a")],
                                         convention="sum over space of the two-point function, t from the source")
        found[f"mass_{name}"] = average(f"mass_{name}", series, **how, function=effective_mass,
                                        axes=[Axis("t", times[1:len(times) // 2], "a")],
                                        unit="1/a", convention="effective mass, cosh m = (C(t-1) + C(t+1)) / 2 C(t)")
    e = found["plaquette"]
    sentences = [f"plaquette = {e} at beta = {p.action.beta:g} on {' x '.join(map(str, p.lattice.extents))}",
                 f"{len(plaquettes)} configurations, {p.updates.sweeps} "
                 f"{'trajectories' if len(trajectories) else 'sweeps'} apart"
                 + (f"; tau_int of the plaquette is {tau:.1f} of them" if tau else "")]
    if len(trajectories):
        more, said = of_trajectories(p, trajectories)
        found |= more
        sentences += said
    if p.loops.space is not None:
        more, said = of_loops(p, loops, how)
        found |= more
        sentences += said
    for name in mesons:
        mass = found[f"mass_{name}"]
        if p.mesons.fit_from is not None:
            fit, said = fitted(name, mesons[name], found[f"meson_{name}"].error, p.mesons.fit_from, how)
            found |= fit
            sentences.append(said)
        sentences += [f"effective mass of {name} at t = {t}: {mass.pick(t=i)} / a"
                      for i, t in enumerate(times[1:len(times) // 2])]
    if axial is not None and len(times) > 4:
        both = np.stack([mesons["gamma5"], axial], axis=-1)
        found["pcac_mass"] = average("pcac_mass", both, **how, function=pcac_mass,
                                     axes=[Axis("t", times[2:len(times) // 2], "a")],
                                     unit="1/a", convention="(C_AP(t+1) - C_AP(t-1)) / 4 C_PP(t)")
        middle = (len(times) // 2 - 2) // 2
        sentences.append(f"PCAC mass at t = {middle + 2}: {found['pcac_mass'].pick(t=middle)} / a")
    if (smooth := flow_times(p)).size:
        axes = [Axis("t", smooth, "a^2")]
        found["flow_energy"] = average("flow_energy", flow[..., 0], **how, axes=axes, unit="a^-4",
                                       convention="-tr F^2, clover")
        found["charge_squared"] = average("charge_squared", flow[..., 1]**2, **how, axes=axes,
                                          convention="of the topological charge, clover")
        t0 = average("t0", flow[..., 0], **how, function=lambda energy: scale(smooth, energy), unit="a^2",
                     convention="t^2 E = 0.3")
        last = smooth[-1]
        if np.isfinite(t0.mean):
            found["t0"] = t0
            sentences.append(f"t0 = {t0} a^2")
        else:
            sentences.append(f"no t0: t^2 E is {last**2 * found['flow_energy'].mean[-1]:.3f} at the end of the "
                             f"flow, t = {last:g}, and has to pass 0.3")
        sentences.append(f"<Q^2> = {found['charge_squared'].pick(t=-1)} at t = {last:g}")
    sentences += [f"no error of the plaquette: {e.note}"] if e.note else []
    series = {"plaquette": recorded("plaquette", plaquettes.mean(axis=1), "configuration", "of each configuration"),
              "polyakov": Recorded("polyakov", loops.polyakov,
                                   (Axis("configuration", np.arange(1, len(plaquettes) + 1)),
                                    Axis("part", np.arange(2))),
                                   convention="Polyakov loop, real and imaginary part of tr L / 3 on "
                                   "average over space")}
    if len(trajectories):
        series["delta_h"] = recorded("delta_h", trajectories[:, 0], "trajectory",
                                     "H at the end less that at the beginning")
        series["accepted"] = recorded("accepted", trajectories[:, 1], "trajectory", "1: accepted")
    if smooth.size:
        series["charge"] = recorded("charge", flow[:, -1, 1], "configuration",
                                    f"topological charge at flow time {smooth[-1]:g}")
    return Findings(found, sentences, seconds, series)
