"""The profile: calls and times of each task and region."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, dataclass, fields

import numpy as np

from plaq.trace.model import Trace
from plaq.trace.on_worker import OnWorker
from plaq.trace.subjects import without_subjects
from plaq.trace.waiting import waiting_names, waiting_on_workers


@dataclass(frozen=True)
class Row:
    """All calls of one name, in seconds.

    A call of a task is a task that had a worker; its inclusive time is the time it had one, without suspensions and
    without the tasks it created. A call of a region inside a task lasts while the task has a worker, so suspensions do
    not count there either; outside of tasks it lasts from begin to end. Exclusive time is inclusive time without the
    regions directly inside. `suspended` is the time between begin and end without a worker (of tasks that finished).
    Mean, min, max and stddev (of all calls, so divided by their number) are of the inclusive time of one call; share is
    the part of all exclusive time but that of waiting. A region within one of the same name counts in both. The subject
    of a task, such as an element of a collection, has no row: its time is the task's. Regions that wait
    (`plaq.trace.waiting`) are of a kind of their own, with share 0.
    """

    kind: str  # task, region or waiting
    name: str
    calls: int
    inclusive: float
    exclusive: float
    mean: float
    min: float
    max: float
    stddev: float
    share: float
    suspended: float


def profile(trace: Trace) -> list[Row]:
    """Return one row per name of tasks and of regions that ran, most exclusive time first."""
    trace = without_subjects(trace)
    on_worker = OnWorker(trace)
    tasks, regions = trace.tasks, trace.regions
    ran = np.flatnonzero(np.diff(on_worker.first))
    task_time = on_worker.total()
    inside = regions["task"] >= 0
    wall = regions["end"] - regions["begin"]
    region_time = wall.copy()
    task = regions["task"][inside]
    region_time[inside] = on_worker.seconds(task, regions["end"][inside]) - on_worker.seconds(
        task, regions["begin"][inside]
    )

    child = regions["parent"] >= 0
    in_regions = np.bincount(regions["parent"][child], region_time[child], len(regions))
    outermost = inside & ~child
    in_tasks = np.bincount(regions["task"][outermost], region_time[outermost], len(tasks))
    lasted = np.nan_to_num(tasks["finished"] - tasks["started"] - task_time)

    rows = summary(
        "task", trace.names, tasks["name"][ran], task_time[ran], (task_time - in_tasks)[ran], lasted[ran]
    )
    waits = waiting_names(trace)[regions["name"]]
    for kind, these in (("region", ~waits), ("waiting", waits)):
        own = (region_time - in_regions)[these]
        rows += summary(
            kind, trace.names, regions["name"][these], region_time[these], own, (wall - region_time)[these]
        )
    total = sum(row["exclusive"] for row in rows if row["kind"] != "waiting")
    rows = [Row(share=row["exclusive"] / total if total and row["kind"] != "waiting" else 0.0, **row) for row in rows]
    return sorted(rows, key=lambda row: (-row.exclusive, row.kind, row.name))


def summary(
    kind: str,
    names: list[str],
    name: np.ndarray,
    inclusive: np.ndarray,
    exclusive: np.ndarray,
    suspended: np.ndarray,
) -> list[dict]:
    """Return the fields of `Row`, but for the share, for every name among the calls."""
    calls = np.bincount(name, minlength=len(names))
    total = np.bincount(name, inclusive, len(names))
    mean = total / np.maximum(calls, 1)
    variance = np.bincount(name, (inclusive - mean[name]) ** 2, len(names)) / np.maximum(calls, 1)
    low, high = np.full(len(names), np.inf), np.full(len(names), -np.inf)
    np.minimum.at(low, name, inclusive)
    np.maximum.at(high, name, inclusive)
    columns = {
        "inclusive": total,
        "exclusive": np.bincount(name, exclusive, len(names)),
        "mean": mean,
        "min": low,
        "max": high,
        "stddev": np.sqrt(variance),
        "suspended": np.bincount(name, suspended, len(names)),
    }
    return [
        {"kind": kind, "name": names[k], "calls": int(calls[k])}
        | {column: float(values[k]) for column, values in columns.items()}
        for k in np.flatnonzero(calls)
    ]


def as_csv(rows: list[Row], notes: list[str]) -> str:
    """Return a line per row, times in s; notes of the trace come first as lines that begin with #."""
    text = io.StringIO()
    text.writelines(f"# {note}\n" for note in notes)
    table = csv.DictWriter(text, [field.name for field in fields(Row)], lineterminator="\n")
    table.writeheader()
    table.writerows(asdict(row) for row in rows)
    return text.getvalue()


def busy(trace: Trace) -> str:
    """Return one line: duration, number of workers, and shares of their time of work and of waiting tasks."""
    workers = sum(len(rank.workers) for rank in trace.ranks)
    used = float((trace.slices["end"] - trace.slices["begin"]).sum())
    known = [trace.duration if rank.end == "closed" else rank.until for rank in trace.ranks]
    available = sum(len(rank.workers) * time for rank, time in zip(trace.ranks, known))
    waited = float(waiting_on_workers(trace)[1].sum())
    share = f", busy {100 * (used - waited) / available:.1f} %" if available else ""
    share += f", waiting {100 * waited / available:.1f} %" if available and waited else ""
    counted = f"{len(trace.ranks)} rank{'s' * (len(trace.ranks) != 1)}"
    return f"{time_text(trace.duration)} on {workers} worker{'s' * (workers != 1)} of {counted}{share}"


def time_text(seconds: float) -> str:
    """Return ``1.23 s``, ``45.6 ms``, ``7.89 µs``, ``12.0 ns``."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if abs(seconds) >= 0.9995 * size:
            return f"{seconds / size:.{2 if abs(seconds) < 9.995 * size else 1}f} {unit}"
    return f"{seconds * 1e9:.0f} ns"
