"""Doubts about a chain: thermalisation, autocorrelation times, numbers of configurations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from plaq.data.estimate import Estimate
from plaq.data.recorded import Recorded
from plaq.data.statistics import no_error
from plaq.lqcd.analysis.averages import split
from plaq.lqcd.analysis.drift import CHANCE, drift_sentence, drifting_series
from plaq.lqcd.fields.gamma import STRUCTURES

OF_TRAJECTORIES = ("acceptance", "exp_minus_delta_h", "delta_h")  # not of configurations


def times_in_words(results: Mapping[str, Estimate]) -> str:
    """Return the autocorrelation times of the plaquette and of the slowest other quantity, if known."""
    known = {name: e for name, e in results.items() if e.tau_int and name not in OF_TRAJECTORIES}
    e = known.pop("plaquette", None)
    tau = lambda e: f"{e.tau_int:.1f} +- {e.tau_int_error:.1f}"  # noqa: E731
    words = f"; tau_int of the plaquette is {tau(e)} of them" if e is not None else ""
    least = {name: one.tau_int - one.tau_int_error for name, one in known.items()}
    slowest = max(least, key=least.get, default=None)
    if e is not None and slowest and least[slowest] > e.tau_int + e.tau_int_error:
        words += f", of {slowest} {tau(known[slowest])}"
    return words


def short_in_words(results: Mapping[str, Estimate]) -> list[str]:
    """Return a sentence on the quantities without an error, where the measurements are too few or too correlated."""
    without = [name for name, e in results.items() if e.note and not np.isfinite(e.error).any()]
    if not without:
        return []
    more = f" and of {len(without) - 1} other quantities" if len(without) > 1 else ""
    return [f"no error of {without[0]}{more}: {results[without[0]].note}"]


def check_drift(results: dict[str, Estimate], series: Mapping[str, Recorded],
                lengths: Mapping[str, Sequence[int]]) -> list[str]:
    """Return sentences on parts of a chain that differ (`plaq.lqcd.analysis.drift`), and on chains that do.

    The averages of series that differ lose their errors. ``lengths`` are those of `plaq.lqcd.measurements.analysis`.
    """
    normal, others = watched(series)
    lengths_of = lambda name: lengths.get(name.replace("charge_squared", "charge"), ())  # noqa: E731
    parts = {name: split(values, lengths_of(name)) for name, values in (normal | others).items()}
    found, sentences = {}, []
    for chain in range(max(map(len, parts.values()))):
        names = drifting_series(*({name: parts[name][chain] for name in kind} for kind in (normal, others)))
        found |= dict.fromkeys(names, "its averages over parts of a chain differ")
        if names:
            of = f" of chain {chain + 1}" if lengths else ""
            sentences.append(drift_sentence(names[0] + of, parts[names[0]][chain], names[1:]))
    apart = [name for name in parts if name in results and (e := results[name]).gamma is not None
             and np.nanmin(e.gamma.replica_p, initial=1.0) < CHANCE / max(1, e.mean.size)]
    if apart:
        found |= dict.fromkeys(apart, "its averages over the chains differ")
        sentences.append(f"warning: chains do not agree: averages of {', '.join(apart)} differ by more than their "
                         "errors allow. Take longer chains")
    for name, reason in found.items():
        if name in results:
            e = results[name]
            results[name] = replace(e, error=no_error(e.mean), note=e.note or reason)
    return sentences


def watched(series: Mapping[str, Recorded]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return series [configuration] that tell of a drift by name: those that fluctuate normally, and others."""
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
        elif family == "mesons" and name in STRUCTURES:
            others[path] = recorded.values[:, recorded.values.shape[1] // 4]
    return normal, others
