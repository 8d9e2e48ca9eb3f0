"""Many runs from one input: a section ``[sweep]`` gives lists of values, and every combination is a run of its own.

Ranks are divided into groups, and each group carries out one run at a time. No run gets more than one rank before every
run has one: runs do not communicate, so this is the best use of ranks. Each run has its own folder, checkpoint and
digest, as if it had been started alone.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from bisect import bisect
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from plaq.comm.timeout import limit_waits
from plaq.data.formatting import format_duration
from plaq.errors import INTERRUPTIONS, InputError, Interrupted, RunError, as_plaq_error, errors_of
from plaq.inputs.kinds import LONGEST_NAME
from plaq.inputs.parameters import RUN, with_key
from plaq.inputs.schema import SWEEP, Option, read_toml, shown, to_toml
from plaq.machine import memory
from plaq.run import driver
from plaq.run.application import Application
from plaq.run.folder import need_program
from plaq.run.live import SilentLog
from plaq.run.progress import Tell, watching
from plaq.run.stop import Stop
from plaq.streams import print_line
from plaq.trace.session import Recording

MOST = 10_000  # runs
SINGLE = ""  # name of the run of an input without a sweep


def read(kind: type[Application], path: Path, settings: Iterable[str | Option] = ()) -> dict[str, Any]:
    """Return the parameters of an application's runs of an input by name, "U=4.0,density=0.9" and so on.

    One run without a name if there is no sweep. InputError names file, key, value and what is allowed.
    """
    tables = read_toml(path)
    axes = tables.pop(SWEEP, {})
    if not isinstance(axes, Mapping):
        raise InputError(f"{path}: sweep = {shown(axes)} is not allowed: [sweep] is a section")
    return combine(kind, tables, axes, path, f"{path}: [sweep]", settings)


def combine(kind: type[Application], tables: Mapping[str, Any], axes: Mapping[str, Any], source: str | Path,
            place: str, settings: Iterable[str | Option] = ()) -> dict[str, Any]:
    """Return the parameters of every combination of the axes, {key: values}, by name.

    ``tables`` have all other keys; messages name ``source``, and ``place`` for the axes.
    """
    for key, values in axes.items():
        parameter = kind.schema().find(key, place)
        if parameter.section == RUN:
            raise InputError(f"{place} {key}: keys of [run] change no result; sweep over another one")
        if not isinstance(values, list) or not values:
            raise InputError(f"{place} {key} = {shown(values)} is not allowed: it must be a list of values, "
                             f"each {parameter.kind.allowed}")
    combinations = math.prod(map(len, axes.values()))
    if combinations > MOST:
        raise InputError(f"{place} has {combinations} combinations: at most {MOST} are allowed")
    runs, fingerprints = {}, set()
    for values in itertools.product(*axes.values()):
        changed = tables
        for key, value in zip(axes, values):
            section, _, name = key.rpartition(".")
            changed = with_key(changed, section, name, value)
        parameters = kind.Parameters.from_tables(changed, source, settings)
        name = folder_name((key.partition(".")[2], value) for key, value in zip(axes, values))
        if parameters.fingerprint() in fingerprints:
            raise InputError(f"{place} has {name} twice")
        fingerprints.add(parameters.fingerprint())
        runs[name] = parameters
    return runs


def folder_name(values: Iterable[tuple[str, Any]]) -> str:
    """Return "U=4.0,density=0.9"; a name that is too long for a folder ends in a hash of all of it."""
    name = ",".join(f"{key}={to_toml(value)}" for key, value in values).replace(" ", "").replace("/", "-")
    if len(name.encode()) <= LONGEST_NAME:
        return name
    return f"{name[:LONGEST_NAME // 4]}...{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def run(kind: type[Application], runs: dict[str, Any], source: str, comm: Any, trace: bool | Recording = False,
        start: Path | None = None) -> None:
    """Carry out all runs, each in a folder of its own below ``run.folder``; then write tables and a page.

    A run that fails leaves the others alone. Raises RunError at the end if one failed, Interrupted if they were
    stopped; finished runs are kept, and the same command resumes the rest.
    """
    base = Path(next(iter(runs.values())).run.folder)
    outcomes, _ = carry_out(kind, runs, base, source, comm, trace, start, keep=False)
    failed = [name for name, outcome in outcomes.items() if outcome["status"] == "failed"]
    if failed:
        error = RunError(f"{len(failed)} of {len(runs)} runs failed: {'; '.join(failed)}")
        error.ranks = comm.size
        raise error


def carry_out(kind: type[Application], runs: Mapping[str, Any], base: Path | None, source: str, comm: Any,
              trace: bool | Recording = False, start: Path | None = None, progress: Any = None,
              keep: bool = True) -> tuple[dict, dict]:
    """Carry out all runs on the ranks of comm; return {name: outcome} and {name: results} of those that ended.

    The results are empty unless they are to be kept. With ``base`` each run has its own folder below it, and tables
    and a page are written there. All start from the run ``start``; if that is a sweep, each starts from its run of the
    same name. Raises Interrupted if they were stopped.
    """
    first = next(iter(runs.values()))
    comm.on_root(lambda: need_program(base, kind.name) if base else None)
    comm.on_root(lambda: check_needs(kind, runs, comm.size, memory(), source))
    sizes = group_sizes(len(runs), comm.size)
    number = bisect(list(itertools.accumulate(sizes)), comm.rank)
    group = comm.split(number)
    queue = deal(expected_seconds(kind, runs), len(sizes))[number]
    outcomes, found, reason = {}, {}, None
    say = print_line if base and progress is not False else lambda line: None
    with (Stop(first.run.walltime) as stop, limit_waits(first.run.timeout, stop.requested),
          watching(progress, comm.rank == 0, base is not None) as tell):
        for place, name in enumerate(queue):
            try:
                results = driver.run_on(kind, group, runs[name], base and base / name, source, stop,
                                        SilentLog, trace,
                                        start=start / name if start and (start / name).is_dir() else start,
                                        progress=part_of(tell, name, place, len(queue)) if tell else False)
                outcomes[name] = kind.outcome(results) | {"seconds": sum(results.seconds.values())}
                found |= {name: results} if keep else {}
            except Interrupted as interrupted:
                reason = interrupted.reason
                break
            except Exception as raised:
                error = as_plaq_error(raised)
                if error is None or error.ranks != group.size:  # the group's other ranks wait: the job has to end
                    raise
                outcomes[name] = {"status": "failed", "error_text": str(error)}
            group.on_root(lambda: say(in_words(name, outcomes[name])))
        gathered = comm.allgather((outcomes, found, reason) if group.rank == 0 else ({}, {}, reason))
    outcomes = {name: outcome for done, _, _ in gathered for name, outcome in done.items()}
    found = {name: results for _, some, _ in gathered for name, results in some.items()}
    if base:
        comm.on_root(lambda: say(f"report: {kind.record_sweep(base, runs, outcomes)}"))
    reasons = [reason for _, _, reason in gathered if reason]
    if reasons:
        comm.on_root(lambda: say(f"stopped by {reasons[0]}: {len(outcomes)} of {len(runs)} runs are done; "
                                 "the same command continues"))
        raise INTERRUPTIONS[reasons[0]]
    return outcomes, found


def part_of(tell: Tell, name: str, place: int, count: int) -> Tell:
    """Return a function for the progress of one run of ``count``, from that for all."""
    return lambda done, text: tell((place + done) / count, f"{name}: {text}")


def check_needs(kind: type[Application], runs: Mapping[str, Any], ranks: int, place: float, source: str) -> None:
    """Raise InputError if a run of the input ``source`` needs more ranks or ``place``, bytes of memory of each."""
    sizes = group_sizes(len(runs), ranks)
    queues = deal(expected_seconds(kind, runs), len(sizes)) if len(set(sizes)) > 1 else [list(runs)]
    for size, names in zip(sizes, queues):
        for name in names:
            with errors_of(f"{source}: {name}" if name else source):
                kind(runs[name]).check(size, place)


def group_sizes(runs: int, ranks: int) -> list[int]:
    """Return the number of ranks of each group, as equal as possible: no more groups than runs or ranks."""
    groups = min(ranks, runs)
    first = [-(-ranks * number // groups) for number in range(groups + 1)]
    return [end - begin for begin, end in itertools.pairwise(first)]


def is_single(runs: Mapping[str, Any]) -> bool:
    """Return whether the input had no sweep."""
    return list(runs) == [SINGLE]


def headline(name: str) -> str:
    """Return the line above the text on one run of several."""
    return f"\n== {name}\n" if name else ""


def expected_seconds(kind: type[Application], runs: Mapping[str, Any]) -> dict[str, float]:
    """Return core seconds of every run."""
    return {name: kind(p).expected_seconds() for name, p in runs.items()}


def deal(seconds: Mapping[str, float], groups: int) -> list[list[str]]:
    """Return the names of each group's runs: the longest run first, always to the group with the least work."""
    queues: list[list[str]] = [[] for _ in range(groups)]
    load = [0.0] * groups
    for name in sorted(seconds, key=lambda name: (-seconds[name], name)):
        least = load.index(min(load))
        queues[least].append(name)
        load[least] += seconds[name]
    return queues


def in_words(name: str, outcome: Mapping[str, Any]) -> str:
    """Return one line for one run."""
    if outcome["status"] == "failed":
        return f"{name}: failed: {outcome['error_text']}"
    return f"{name}: {outcome['in_words']}, {format_duration(outcome['seconds'])}"
