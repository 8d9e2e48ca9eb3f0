"""Several chains of one ensemble, or measurements on them, combined: each with its own mean and autocorrelations."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from plaq.data import results_file
from plaq.data.recorded import Recorded
from plaq.errors import InputError
from plaq.inputs.parameters import RUN
from plaq.inputs.schema import shown
from plaq.lqcd.measurement_tables import OF_ANALYSIS
from plaq.lqcd.measurements.analysis import analyse
from plaq.lqcd.parameters import PROGRAM, Parameters
from plaq.lqcd.results import FORMAT, Results
from plaq.run.folder import CHECKPOINT, RESULTS, RunFolder, need_own

# Keys in which chains of one ensemble may differ, beside those of [run] and of the analysis, which is the first one's.
OWN = frozenset({"updates.seed", "updates.start", "updates.thermalisation", "updates.configurations",
                 "updates.save_every", "measure.configurations", "measure.seed"})


def combine(runs: Sequence[str | Path], folder: str | Path | None = None) -> Results:
    """Return the results of several runs as those of one ensemble; write them into a folder, if one is given.

    Runs are chains with different seeds or starts, or measurements on different stored configurations. Each is a
    replica of the Gamma method, and no bin belongs to two of them. InputError where there are less than two of them,
    where the physics of their inputs differs, or where two have the same configurations.
    """
    paths = [Path(run) for run in runs]
    if len(paths) < 2:
        raise InputError(f"combine takes two runs or more, not {len(paths)}")
    loaded = [read_run(path) for path in paths]
    first = loaded[0][0]
    for path, (p, _) in zip(paths[1:], loaded[1:]):
        check_physics(paths[0], first, path, p)
    series = [of_run for _, of_run in loaded]
    for (a, one), (b, other) in combinations(zip(paths, series), 2):
        check_other_chain(a, one, b, other)
    names = [name for name in series[0] if all(name in of_run for of_run in series)]
    whole = {name: joined(name, [of_run[name] for of_run in series]) for name in names}
    lengths = {name: [len(of_run[name].values) for of_run in series] for name in names}
    after = first.replace(updates={"thermalisation": 0})  # trajectories are those after it already
    results = Results(**vars(analyse(after, whole, {}, lengths)))
    if folder is not None:
        header = {"combined": ", ".join(f"{path} ({n})" for path, n in zip(paths, lengths["plaquette"]))}
        write(Path(folder), first, results, header)
    return results


def read_run(path: Path) -> tuple[Parameters, dict[str, Recorded]]:
    """Return the input of a run and its series, of trajectories those after thermalisation."""
    need_own(path, PROGRAM)
    if not (path / RESULTS).is_file():
        raise InputError(f"{path}: has no {RESULTS}: it is no finished run of {PROGRAM}")
    findings, toml, header = results_file.read(path / RESULTS, FORMAT)
    if "combined" in header:
        raise InputError(f"{path}: is combined of other runs: name those")
    p = Parameters.from_tables(tomllib.loads(toml), path)
    start = p.updates.thermalisation
    return p, {name: one if one.axes[0].name != "trajectory" else replace(
        one, values=one.values[start:], axes=(replace(one.axes[0], values=one.axes[0].values[start:]), *one.axes[1:]))
        for name, one in findings.recorded.items()}


def check_physics(one: Path, p: Parameters, other: Path, q: Parameters) -> None:
    """Raise InputError that names the first key in which two runs differ and chains of one ensemble do not."""
    here, there = (p.SCHEMA.by_key(each.values()) for each in (p, q))
    for key in dict.fromkeys([*here, *there]):
        if key.partition(".")[0] == RUN or key in OWN or key.rpartition(".")[2] in OF_ANALYSIS:
            continue
        if here.get(key) != there.get(key):
            raise InputError(f"{other}: has {key} = {shown(there.get(key))}, and {one} has {shown(here.get(key))}: "
                             "chains of one ensemble differ in seed, start and length alone")


def check_other_chain(one: Path, here: Mapping[str, Recorded], other: Path, there: Mapping[str, Recorded]) -> None:
    """Raise InputError where two runs have a configuration in common, which equal plaquettes show."""
    common = np.intersect1d(here["plaquette"].values, there["plaquette"].values)
    if common.size:
        raise InputError(f"{one} and {other} have {common.size} configurations in common: take chains with other seeds")


def joined(name: str, parts: Sequence[Recorded]) -> Recorded:
    """Return the series of all chains, one after the other; InputError where their axes differ."""
    for part in parts[1:]:
        if any(not np.array_equal(a.values, b.values) for a, b in zip(part.axes[1:], parts[0].axes[1:])):
            raise InputError(f"{name}: its axes differ between the runs")
    numbers = replace(parts[0].axes[0], values=np.concatenate([part.axes[0].values for part in parts]))
    return replace(parts[0], values=np.concatenate([part.values for part in parts]), axes=(numbers, *parts[0].axes[1:]))


def write(path: Path, p: Parameters, results: Results, header: Mapping[str, Any]) -> None:
    """Write results, summary and report into a folder; InputError where it holds a run."""
    if (path / CHECKPOINT).exists():
        raise InputError(f"{path}: holds a run: combined results need another folder")
    folder = RunFolder(path, "combine", p, PROGRAM)
    try:
        results_file.write(folder.results, FORMAT, results, p.to_toml(), header)
        folder.write_summary(results_file.summary(results, header))
    finally:
        folder.close()
