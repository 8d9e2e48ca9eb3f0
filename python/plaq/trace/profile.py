"""The profile: calls and times of each task and region."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields, replace

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
    counts: dict[str, int] = field(default_factory=dict)  # exclusive, by the counter of the processor


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

    region_counts, task_counts = trace.region_counts.copy(), trace.task_counts.copy()
    if trace.counted:  # exclusive, as the times
        np.subtract.at(task_counts, regions["task"][outermost], trace.region_counts[outermost])
        np.subtract.at(region_counts, regions["parent"][child], trace.region_counts[child])

    rows = summary(
        "task", trace.names, tasks["name"][ran], task_time[ran], (task_time - in_tasks)[ran], lasted[ran],
        counted_by_name(trace, tasks["name"], task_counts),
    )
    waits = waiting_names(trace)[regions["name"]]
    for kind, these in (("region", ~waits), ("waiting", waits)):
        own = (region_time - in_regions)[these]
        rows += summary(
            kind, trace.names, regions["name"][these], region_time[these], own, (wall - region_time)[these],
            counted_by_name(trace, regions["name"][these], region_counts[these] if trace.counted else region_counts),
        )
    return shared([Row(share=0.0, **row) for row in rows])


def profile_by_rank(traces: Iterable[Trace]) -> tuple[list[Row], str, list[str]]:
    """Return rows as `profile`, the line of `busy`, and the notes, of traces of one rank each (`read_by_rank`)."""
    rows: dict[tuple[str, str], Row] = {}
    use, notes = Use(), []
    for trace in traces:
        for row in profile(trace):
            same = rows.get((row.kind, row.name))
            rows[row.kind, row.name] = joined(same, row) if same else row
        use.add(trace)
        notes += trace.notes
    return shared(list(rows.values())), use.line(), notes


def joined(a: Row, b: Row) -> Row:
    """Return the row of the calls of both."""
    calls, inclusive = a.calls + b.calls, a.inclusive + b.inclusive
    mean = inclusive / calls
    variance = sum(row.calls * (row.stddev**2 + (row.mean - mean) ** 2) for row in (a, b)) / calls
    return replace(
        a, calls=calls, inclusive=inclusive, exclusive=a.exclusive + b.exclusive, mean=mean, min=min(a.min, b.min),
        max=max(a.max, b.max), stddev=float(np.sqrt(variance)), suspended=a.suspended + b.suspended,
        counts={name: count + b.counts[name] for name, count in a.counts.items()},
    )


def shared(rows: list[Row]) -> list[Row]:
    """Return the rows with their shares, most exclusive time first."""
    total = sum(row.exclusive for row in rows if row.kind != "waiting")
    rows = [replace(row, share=row.exclusive / total if total and row.kind != "waiting" else 0.0) for row in rows]
    return sorted(rows, key=lambda row: (-row.exclusive, row.kind, row.name))


def counted_by_name(trace: Trace, name: np.ndarray, counts: np.ndarray) -> list[dict[str, int]]:
    """Return for every name the sums of the counts of its calls, by counter."""
    if not trace.counted:
        return [{} for _ in trace.names]
    sums = np.zeros((len(trace.names), len(trace.counted)), np.int64)
    np.add.at(sums, name, counts)
    return [dict(zip(trace.counted, row)) for row in sums.tolist()]


def summary(
    kind: str,
    names: list[str],
    name: np.ndarray,
    inclusive: np.ndarray,
    exclusive: np.ndarray,
    suspended: np.ndarray,
    counts: list[dict[str, int]],
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
        {"kind": kind, "name": names[k], "calls": int(calls[k]), "counts": counts[k]}
        | {column: float(values[k]) for column, values in columns.items()}
        for k in np.flatnonzero(calls)
    ]


def as_csv(rows: list[Row], notes: list[str]) -> str:
    """Return a line per row, times in s; notes of the trace come first as lines that begin with #."""
    text = io.StringIO()
    text.writelines(f"# {note}\n" for note in notes)
    columns = [field.name for field in fields(Row)[:-1]] + list(rows[0].counts if rows else ())
    table = csv.DictWriter(text, columns, lineterminator="\n")
    table.writeheader()
    for row in rows:
        values = asdict(row)
        table.writerow(values | values.pop("counts"))
    return text.getvalue()


class Use:
    """Use of the workers in the traces so far."""

    def __init__(self):
        self._ranks = self._workers = 0
        self._used = self._waited = 0.0
        self._known: list[tuple[int, float]] = []  # workers, and the time until which a rank that ended early is known
        self._closed = 0  # workers of the others
        self._first, self._last = np.inf, -np.inf

    def add(self, trace: Trace) -> None:
        self._ranks += len(trace.ranks)
        self._used += float((trace.slices["end"] - trace.slices["begin"]).sum())
        self._waited += float(waiting_on_workers(trace)[1].sum())
        for rank in trace.ranks:
            self._workers += len(rank.workers)
            if rank.end == "closed":
                self._closed += len(rank.workers)
            else:
                self._known.append((len(rank.workers), trace.start + rank.until))
        self._first = min(self._first, trace.start)
        self._last = max(self._last, trace.start + trace.duration)

    def line(self) -> str:
        """Return one line: duration, number of workers, and shares of their time of work and of waiting tasks."""
        duration = self._last - self._first
        available = self._closed * duration + sum(count * (until - self._first) for count, until in self._known)
        share = f", busy {100 * (self._used - self._waited) / available:.1f} %" if available else ""
        share += f", waiting {100 * self._waited / available:.1f} %" if available and self._waited else ""
        workers, ranks = self._workers, self._ranks
        counted = f"{ranks} rank{'s' * (ranks != 1)}"
        return f"{time_text(duration)} on {workers} worker{'s' * (workers != 1)} of {counted}{share}"


def busy(trace: Trace) -> str:
    """Return the line of `Use` for one trace."""
    use = Use()
    use.add(trace)
    return use.line()


def time_text(seconds: float) -> str:
    """Return ``1.23 s``, ``45.6 ms``, ``7.89 µs``, ``12.0 ns``."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if abs(seconds) >= 0.9995 * size:
            return f"{seconds / size:.{2 if abs(seconds) < 9.995 * size else 1}f} {unit}"
    return f"{seconds * 1e9:.0f} ns"
