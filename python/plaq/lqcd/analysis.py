"""From measurements on the configurations of a chain to numbers with errors."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from plaq.data.estimate import Axis, Estimate
from plaq.data.results_file import Findings
from plaq.data.statistics import BIN_OVER_TAU, MINIMUM_BINS, autocorrelation_time, jackknife, unsupported
from plaq.lqcd.parameters import Parameters

MOST_BINS = 32


def bins_for(configurations: int, tau: float | None) -> int:
    """As many as may be, up to 32, so that each has `BIN_OVER_TAU` autocorrelation times; 16 if that many have not."""
    wanted = configurations / (BIN_OVER_TAU * tau) if tau else MOST_BINS
    return min(configurations, max(MINIMUM_BINS, min(MOST_BINS, int(wanted))))


def average(name: str, series: np.ndarray, bins: int, tau: float | None, function=lambda mean: mean, **labels) -> Estimate:
    """function(average of the series [configuration, ...]) by jackknife over bins of neighbouring configurations. Where bins are
    too few, or shorter than some of the autocorrelation time ``tau``, there is no error, and a note why."""
    parts = np.array_split(series, bins)
    means, weights = np.array([part.mean(axis=0) for part in parts]), np.array([len(part) for part in parts], float)
    note = unsupported(weights, np.ones(len(weights)), tau)
    return jackknife(function, means, weights=weights).estimate(name, tau_int=tau, note=note, **labels)


def folded(correlator: np.ndarray) -> np.ndarray:
    """[T/2 + 1]: the mean of C(t) and C(T - t)."""
    return (correlator + np.roll(correlator[::-1], 1))[:len(correlator) // 2 + 1] / 2


def effective_mass(correlator: np.ndarray) -> np.ndarray:
    r"""$m(t)$ with $\cosh m = (C(t-1) + C(t+1)) / 2 C(t)$ for 0 < t < T/2, which a single state in a box of length T obeys; nan
    where that has no solution. From C [T]."""
    c = folded(correlator)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.arccosh((c[:-2] + c[2:]) / (2 * c[1:-1]))


def findings(p: Parameters, plaquettes: np.ndarray, mesons: Mapping[str, np.ndarray], seconds: dict[str, float]) -> Findings:
    """plaquettes [configuration, (with t, without)], mesons {structure: [configuration, t]}. Bins are those that the plaquette's
    autocorrelation time asks for."""
    tau = autocorrelation_time(plaquettes.mean(axis=1))[0]
    tau = tau if np.isfinite(tau) else None
    how = {"bins": bins_for(len(plaquettes), tau), "tau": tau}
    found = {
        "plaquette": average("plaquette", plaquettes.mean(axis=1), **how, convention="Re tr P / 3"),
        "plaquette_temporal": average("plaquette_temporal", plaquettes[:, 0], **how, convention="those with direction t"),
        "plaquette_spatial": average("plaquette_spatial", plaquettes[:, 1], **how, convention="those without"),
    }
    times = np.arange(p.lattice.extents[0])
    for name, series in mesons.items():
        found[f"meson_{name}"] = average(f"meson_{name}", series, **how, axes=[Axis("t", times, "a")],
                                         convention="sum over space of the two-point function, t from the source")
        found[f"mass_{name}"] = average(f"mass_{name}", series, **how, function=effective_mass, axes=[Axis("t", times[1:len(times) // 2], "a")],
                                        unit="1/a", convention="effective mass, cosh m = (C(t-1) + C(t+1)) / 2 C(t)")
    e = found["plaquette"]
    sentences = [f"plaquette = {e} at beta = {p.action.beta:g} on {' x '.join(map(str, p.lattice.extents))}",
                 f"{len(plaquettes)} configurations, {p.updates.sweeps} sweeps apart"
                 + (f"; tau_int of the plaquette is {tau:.1f} of them" if tau else "")]
    for name in mesons:
        mass = found[f"mass_{name}"]
        sentences += [f"effective mass of {name} at t = {t}: {mass.pick(t=i)} / a" for i, t in enumerate(times[1:len(times) // 2])]
    sentences += [f"no error of the plaquette: {e.note}"] if e.note else []
    return Findings(found, sentences, seconds)
