"""Reader of traces: the files of all ranks as one Trace."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from plaq.errors import InputError
from plaq.files.guard import DamagedFile, reading
from plaq.trace.assemble import RankTables, assemble
from plaq.trace.clocks import Clock
from plaq.trace.gpu import gpu_table
from plaq.trace.messages import match
from plaq.trace.model import END, GPU, LINK, READY, REGION, SLICE, TASK, Counter, RankInfo, Trace
from plaq.trace.rank_file import FORMAT, RankFile, read_rank_file
from plaq.trace.sampled import counters_of


def read(folder: str | Path, ranks: Collection[int] | None = None) -> Trace:
    """Read the trace in a folder, all its ranks or these ``ranks`` merged on one clock.

    A file that ends early (kill, full disk) is read as far as it is complete. `Trace.notes` reports that, lost events,
    and clocks that do not fit. Raises InputError if there is no trace, a damaged one, or none of a rank in ``ranks``.
    """
    recording = _Recording(Path(folder), ranks)
    merged = _Merged()
    for file, clock in recording.files():
        with reading(file.path, FORMAT):
            merged.add(file, clock)
    return _noted(merged.trace(recording.reference.process), recording.notes)


def read_by_rank(
    folder: str | Path, ranks: Collection[int] | None = None, since: float | None = None
) -> Iterator[Trace]:
    """Yield the trace of one rank after the other, so that memory is that of one rank at a time.

    Time 0 of each is its own `Trace.start`, on a clock that they share, or ``since`` for all. The notes of the whole
    are those of the last one. Messages between ranks are in none of them; `Trace.message_ends` has the rank's ends of
    them. Raises InputError as `read`.
    """
    recording = _Recording(Path(folder), ranks)
    last = None
    for file, clock in recording.files():
        if last:
            yield _noted(last, [])
        one = _Merged()
        with reading(file.path, FORMAT):
            one.add(file, clock)
        last = one.trace(recording.reference.process, since)
    if last:
        yield _noted(last, recording.notes)


def start_of(folder: str | Path, ranks: Collection[int] | None = None) -> float:
    """Return the earliest start of these ranks' recordings, s, on the clock that they share."""
    files = _Recording(Path(folder), ranks).files()
    return min(float(clock.seconds(file.clocks["ticks"][:1])[0]) for file, clock in files)


class _Recording:
    """Files of a trace, and what is to be said of them: `notes` are whole when all `files` have been read."""

    def __init__(self, folder: Path, ranks: Collection[int] | None):
        present = {int(path.stem.removeprefix("rank-")): path for path in folder.glob("rank-*.plaqtrace")}
        if not present:
            raise InputError(f"{folder}: holds no trace (rank-0000.plaqtrace)")
        for rank in sorted(set(ranks or ()) - set(present)):
            raise InputError(f"{folder}: rank {rank} has no file here")
        self.folder, self.notes = folder, []
        self.paths = [present[rank] for rank in sorted(present) if ranks is None or rank in ranks]
        self.reference: RankFile  # the first one: its clock is that of all
        self._present = len(present)

    def files(self) -> Iterator[tuple[RankFile, Clock]]:
        first, took_part = None, set()
        for path in self.paths:
            file = read_rank_file(path)
            if not file.process or len(file.clocks) < 2:
                self.notes.append(f"{path.name}: ends before anything was recorded")
                continue
            with reading(path, FORMAT):
                if path.name != name_of(file.process["rank"]):
                    raise DamagedFile(f"{path}: is the file of rank {file.process['rank']}")
                first = first or file.without_events()
                if _session(file) != _session(first):
                    raise DamagedFile(f"{path}: is of another session than {first.path.name}")
                if file.counters != first.counters:
                    raise DamagedFile(f"{path}: has other counters than {first.path.name}")
                self.reference = first
                clock = Clock(file, first)
            self.notes += clock.notes
            yield file, clock
            took_part.add(file.process["notes"].get("ranks", str(self._present)))
        if not first:
            raise InputError(f"{self.folder}: {'; '.join(self.notes)}")
        if took_part != {str(self._present)}:
            self.notes.append(f"{self._present} ranks have a file here, but {' or '.join(sorted(took_part))} took part")


def _noted(trace: Trace, notes: list[str]) -> Trace:
    trace.notes = [*notes, *(trouble for info in trace.ranks for trouble in _troubles(info))]
    return trace


def name_of(rank: int) -> str:
    """Return the name of the file of a rank, as src/plaq/trace/session.cpp writes it."""
    return f"rank-{rank:04d}.plaqtrace"


def _session(file: RankFile) -> str | None:
    return file.process["notes"].get("session")  # those of a program in C++ do not say it


def _troubles(info: RankInfo) -> list[str]:
    out = []
    if info.lost:
        out.append(f"rank {info.rank}: {info.lost} events did not fit into the buffers and are missing")
    if info.end != "closed":
        out.append(f"rank {info.rank}: the trace ends early, at {info.until:.3f} s: {info.end.removeprefix('cut: ')}")
    if info.uncounted:
        out.append(f"rank {info.rank}: {info.uncounted} events have no counts of the processor")
    return out


class _Merged:
    """Tables of the ranks so far."""

    def __init__(self):
        self.names: dict[str, int] = {}
        self.parts: list[RankTables] = []
        self.gpu: list[np.ndarray] = []
        self.ranks: list[RankInfo] = []
        self.counters: list[Counter] = []
        self.first_task = self.first_region = 0
        self.counted: list[str] = []

    def add(self, file: RankFile, clock: Clock) -> None:
        part = assemble(file, clock)
        streams, gpu = gpu_table(file, clock, part.tasks)
        number = np.array([self.names.setdefault(name, len(self.names)) for name in part.names], np.int32)
        for table in (part.tasks, part.regions, gpu):
            table["name"] = number[table["name"]]
        for table, field, first in (
            (part.tasks, "parent", self.first_task),
            (part.slices, "task", self.first_task),
            (part.regions, "task", self.first_task),
            (part.regions, "parent", self.first_region),
            (part.links, "source", self.first_task),
            (part.links, "target", self.first_task),
            (part.readies, "task", self.first_task),
            (gpu, "task", self.first_task),
        ):
            table[field][table[field] >= 0] += first
        self.first_task += len(part.tasks)
        self.first_region += len(part.regions)
        threads, counters = counters_of(file, clock, part)
        self.parts.append(part)
        self.counted = file.counters
        self.gpu.append(gpu)
        self.counters += counters
        p = file.process
        workers = np.unique(part.slices["worker"]).tolist()
        self.ranks.append(
            RankInfo(p["rank"], p["host"], p["pid"], workers, threads, clock.text, file.lost, file.state, part.last,
                     streams, part.uncounted)
        )

    def trace(self, first: dict[str, Any], since: float | None = None) -> Trace:
        """Return all of them as one trace, from `since` or its start; `first` is the process of the first rank."""
        kinds = dict(tasks=TASK, slices=SLICE, regions=REGION, links=LINK, readies=READY)
        empty = {name: np.zeros(0, kind) for name, kind in kinds.items()}
        tables = {n: np.concatenate([empty[n], *(getattr(p, n) for p in self.parts)]) for n in kinds}
        tables["gpu"] = np.concatenate([np.zeros(0, GPU), *self.gpu])
        counts = {n: np.concatenate([getattr(p, n) for p in self.parts]) for n in ("task_counts", "region_counts")}
        tables["message_ends"] = np.concatenate([np.zeros(0, END), *(p.message_ends for p in self.parts)])
        tables["messages"] = match(tables["message_ends"])
        if len(self.parts) > 1:
            tables["slices"] = tables["slices"][np.argsort(tables["slices"]["begin"], kind="stable")]
            order = np.argsort(tables["regions"]["begin"], kind="stable")
            place = np.empty(len(order) + 1, np.int64)
            place[order], place[-1] = np.arange(len(order)), -1
            tables["regions"] = tables["regions"][order]
            counts["region_counts"] = counts["region_counts"][order]
            tables["regions"]["parent"] = place[tables["regions"]["parent"]]
        zero = since if since is not None else min([*(p.first for p in self.parts), *tables["gpu"]["begin"]])
        last = max([*(p.last for p in self.parts), *tables["gpu"]["end"]])
        for counter in self.counters:
            counter.time -= zero
        for info in self.ranks:
            info.until -= zero
        times = ("created", "started", "finished", "begin", "end", "time", "sent", "received")
        for table in tables.values():
            for field in set(times) & set(table.dtype.names):
                if table.dtype[field].kind == "f":
                    table[field] -= zero
        latest = max([last - zero, *(c.time[-1] for c in self.counters if len(c.time))])
        metadata = {**first["notes"], **{name: first[name] for name in ("host", "period_ms")}}
        return Trace(
            list(self.names), self.ranks, **tables, counters=self.counters, notes=[], duration=float(latest),
            metadata=metadata, counted=self.counted, start=float(zero), **counts,
        )
