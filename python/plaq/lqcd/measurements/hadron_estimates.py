"""Averages from tables of quarks beyond masses of mesons: decay constants, Z_V, baryons, charges, loops."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from plaq.data.estimate import Axis, Estimate
from plaq.data.recorded import Recorded
from plaq.lqcd.analysis.averages import average
from plaq.lqcd.analysis.correlator_fits import fold, folded, weights_of
from plaq.lqcd.analysis.least_squares import Problem
from plaq.lqcd.analysis.models import correlator_model
from plaq.lqcd.boundaries import source_slices
from plaq.lqcd.measurements.correlators import (
    AXIAL,
    CONSERVED,
    VECTOR,
    exponential_mass,
    forward_part,
    forward_pcac_mass,
    pcac_mass,
)
from plaq.lqcd.measurements.interpolators import flavours_of
from plaq.lqcd.measurements.masses import mass_estimates

Found = tuple[dict[str, Estimate], list[str]]
# {charge: (structure, end of the quantity, factor of which the real part is taken)}
CHARGES = {"vector": ("gammat", "", 1), "scalar": ("1", "", 1), "axial": ("gammazgamma5", "_polarised", -1j),
           "tensor": ("sigmaxy", "_polarised", 1j)}
VIOLATED = 1000  # times the residual of solves


def masses_of(table: Any) -> tuple[float, float]:
    """Return (2 kappa)(2 kappa') and mu + mu' of the two quarks of a table of mesons."""
    kappa, mu = (table.kappa if table.kappa_2 is None else table.kappa_2,
                 table.mu if table.mu_2 is None else table.mu_2)
    return 4 * table.kappa * kappa, table.mu + mu


def current_estimates(table: Any, series: Mapping[str, Recorded], is_open: bool) -> Found:
    """Return Z_V and decay constants of a table [mesons.NAME], and sentences also on its Ward identity.

    With open boundaries series are those of `forward_part`.
    """
    found: dict[str, Estimate] = {}
    if CONSERVED not in series:
        return found, []
    worst = float(series["ward_violation"].values.max())
    said = [f"Ward identity of the conserved vector current: violated by at most {worst:.1g} of C_PP"]
    if worst > VIOLATED * table.residual:
        said = [f"warning: {said[0]}, which is far more than the residual of its propagators"]
    norm, mass = masses_of(table)
    pp, T = series["gamma5"].values, series["gamma5"].axes[1].size
    if mass:
        v = series[VECTOR].values.imag
        times = np.arange(2, T // 2)
        if len(times):
            found["z_v"] = average(
                "z_v", np.stack([pp, v], axis=-1), lambda c: vector_factor(c, mass)[times],
                axes=[Axis("t", times, "a")], convention="(mu + mu') C_PP(t) / [(C_VP(t-1) - C_VP(t+1)) / 2]")
            said.append(f"Z_V at t = {times[-1]}: {found['z_v'].pick(t=-1)}")
    if not table.gauss_source and not table.gauss_sink and table.source != "wall":
        constants, sentences = decay_estimates(table, pp, series[AXIAL].values, norm, mass, is_open)
        return found | constants, said + sentences
    return found, said


def vector_factor(c: np.ndarray, mass: float) -> np.ndarray:
    """Return Z_V [t] from [t, (C_PP, Im C_VP)]: Z_V times the derivative of C_VP is -i (mu + mu') C_PP."""
    pp, v = c.T
    with np.errstate(divide="ignore", invalid="ignore"):
        return mass * pp / ((np.roll(v, 1) - np.roll(v, -1)) / 2)


def decay_estimates(table: Any, pp: np.ndarray, ap: np.ndarray, norm: float, mass: float, is_open: bool) -> Found:
    """Return decay constants from the fit of a cosh to C_PP [configuration, t], where there is one.

    Times are those of fit_from, by default from T/4 on. With open boundaries it is the fit of an exponential, and
    sources are as far from both ends as the fit reaches, since <0|P|PS> is not that of the vacuum near them.
    """
    T, kind = pp.shape[1], "exp" if is_open else "cosh"
    first = T // 4 if table.fit_from is None else table.fit_from
    last = T // 2 - is_open
    if last - first < 2 or T < 6 or not average("c", pp).supported:
        return {}, []
    if is_open and min(source_slices(table)) < last:
        return {}, [f"no decay constant: sources at t = {min(source_slices(table))} are nearer to the boundary than "
                    f"t = {last} of the fit"]
    fitted = lambda c: (c if is_open else fold(c))[first:last + 1]  # noqa: E731
    matrix = weights_of(folded(pp, kind)[:, first:last + 1]).matrix
    problem = Problem(correlator_model(kind, 1, T), np.arange(first, last + 1), matrix)
    pcac = forward_pcac_mass if is_open else pcac_mass

    def overlap(c: np.ndarray) -> float:
        """Return |<0|P|PS>| / m^2 of C_PP [t] = |<0|P|PS>|^2 [e^-mt + e^-m(T-t)] / 2m, times ``norm``."""
        best = problem.minimum(fitted(c))
        if best is None or best.amplitudes[0] <= 0:
            return math.nan
        return math.sqrt(2 * float(best.amplitudes[0]) * norm / float(best.q[0])**3)

    z_a = 1.0 if table.z_a is None else table.z_a
    of_current = "of the local current, Z_A = 1" if table.z_a is None else f"Z_A = {z_a:g}"
    ways = {"f_ps": (lambda c: z_a * 2 * pcac(c)[max(first - 2, 0):T // 2 - 2].mean() * overlap(c[:, 0]),
                     f"2 m_PCAC <0|P|PS> / m^2, {of_current}")}
    if mass:
        ways["f_ps_twisted"] = (lambda c: mass * overlap(c[:, 0]),
                                "(mu + mu') <0|P|PS> / m^2, without renormalisation at maximal twist")
    found, said = {}, []
    for name, (function, convention) in ways.items():
        convention += f", from {'an exp' if is_open else 'a cosh'} for t >= {first}"
        value = average(name, np.stack([pp, ap], axis=-1), function, unit="1/a", convention=convention)
        if np.isfinite(value.mean):
            found[name] = value
            said.append(f"{name} = {value} / a, {convention}")
    return found, said


def baryon_estimates(table: Any, series: Mapping[str, Recorded]) -> Found:
    """Return correlators, effective masses and masses of a table [baryons.NAME], and sentences."""
    found: dict[str, Estimate] = {}
    said = []
    for name, one in forward_part(series)[0].items():
        times = one.axis("t")
        found[name] = average(name, one.values.real, axes=one.axes[1:], convention=f"real part of the {one.convention}")
        half = times[:len(times) // 2]
        found[f"mass_{name}"] = average(
            f"mass_{name}", one.values.real, lambda c: exponential_mass(c)[half], unit="1/a",
            axes=[Axis("t", half, "a")], convention="effective mass, ln C(t) / C(t+1)")
        if "minus" not in name:
            masses, sentence = mass_estimates(name, one.values.real, found[name], None, "exp")
            found |= masses
            said.append(sentence)
    return found, said


def ward_sentence(table: Any, violations: Sequence[Recorded]) -> str:
    """Return how far the conserved charge is from that of the quarks, a warning if residuals do not explain it."""
    worst = max(float(one.values.max()) for one in violations)
    sentence = f"charge of the conserved vector current: off by at most {worst:.1g} on any configuration"
    if worst <= VIOLATED * table.residual:
        return sentence
    return f"warning: {sentence}, which is far more than the residual of its propagators"


def charge_estimates(table: Any, series: Mapping[str, Recorded]) -> Found:
    """Return ratios of three- and two-point functions of a table [charges.NAME], its charges, and sentences."""
    found: dict[str, Estimate] = {}
    flavours = tuple(dict.fromkeys(flavours_of(table.particle)))
    said = [ward_sentence(table, [series[f"{f}_ward_violation_t{sink}"] for f in flavours
                                  for sink in table.sink_times])]
    series, _ = forward_part(series)
    two_point = series["two_point"].values
    for sink in table.sink_times:
        tau = Axis("tau", np.arange(sink + 1), "a")

        def ratio(name: str, numbers: np.ndarray, sink=sink, tau=tau) -> None:
            both = np.concatenate([numbers[:, :sink + 1], two_point[:, sink:sink + 1].real], axis=1)
            found[name] = average(name, both, lambda c: c[:-1] / c[-1], axes=[tau],
                                  convention="C_3(tau) / C_2(t), of the local current")
            said.append(f"{name.replace('_', ' ')} at tau = {sink // 2}: {found[name].pick(tau=sink // 2)}")

        for charge, (structure, ending, factor) in CHARGES.items():
            if structure not in table.structures:
                continue
            parts = {f: (factor * series[f"{f}_{structure}{ending}_t{sink}"].values).real for f in flavours}
            for f, numbers in parts.items():
                ratio(f"{charge}_{f}_t{sink}", numbers)
            if flavours[:2] == ("u", "d"):
                ratio(f"{charge}_isovector_t{sink}", parts["u"] - parts["d"])
    return found, said


def disconnected_estimates(table: Any, series: Mapping[str, Recorded]) -> Found:
    """Return loops of a table [disconnected.NAME] on average over time and vectors, without sentences."""
    found = {}
    for name, one in series.items():
        mean = one.values.mean(axis=(1, 2))
        found[name] = average(name, np.stack([mean.real, mean.imag], axis=1), axes=[Axis("part", np.arange(2))],
                              convention="real and imaginary part, on average over time and vectors of noise")
    return found, []
