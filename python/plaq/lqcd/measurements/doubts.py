"""Doubts about a chain: thermalisation, autocorrelation times, numbers of configurations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from plaq.data.estimate import Estimate
from plaq.data.recorded import Recorded
from plaq.data.statistics import no_error
from plaq.lqcd.analysis.drift import drift_sentence, drifting_series

OF_TRAJECTORIES = ("acceptance", "exp_minus_delta_h", "delta_h")  # not of configurations


def times_in_words(results: Mapping[str, Estimate]) -> str:
    """Return the autocorrelation times of the plaquette and of the slowest other quantity, if they are known."""
    known = {name: e for name, e in results.items() if e.tau_int and name not in OF_TRAJECTORIES}
    e = known.pop("plaquette", None)
    tau = lambda e: f"{e.tau_int:.1f} +- {e.tau_int_error:.1f}"  # noqa: E731
    words = f"; tau_int of the plaquette is {tau(e)} of them" if e is not None else ""
    slowest = max(known, key=lambda name: known[name].tau_int - known[name].tau_int_error, default=None)
    if e is not None and slowest and known[slowest].tau_int - known[slowest].tau_int_error > e.tau_int + e.tau_int_error:
        words += f", of {slowest} {tau(known[slowest])}"
    return words


def short_in_words(results: Mapping[str, Estimate]) -> list[str]:
    """Return a sentence on the quantities without an error, where the measurements are too few or too correlated."""
    without = [name for name, e in results.items() if e.note and not np.isfinite(e.error).any()]
    if not without:
        return []
    more = f" and of {len(without) - 1} other quantities" if len(without) > 1 else ""
    return [f"no error of {without[0]}{more}: {results[without[0]].note}"]


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
