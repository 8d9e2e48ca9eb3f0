"""`read`: the files of all ranks as one Trace."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from plaq.errors import InputError
from plaq.trace.assemble import RankTables, assemble
from plaq.trace.clocks import Clock
from plaq.trace.gpu import gpu_table
from plaq.trace.model import GPU, LINK, READY, REGION, SLICE, TASK, Counter, RankInfo, Trace
from plaq.trace.rank_file import RankFile, read_rank_file
from plaq.trace.sampled import counters_of

NOT_ENDED = "cut: no end was written, because the process was killed or still runs"


def read(folder: str | Path) -> Trace:
    """The trace in a folder, all ranks merged on one clock.

    A file that ends early (kill, full disk) is read as far as it goes and `Trace.notes` says so, as it does for
    lost events and for clocks that do not fit. Raises InputError where there is no trace, or a damaged one.
    """
    folder = Path(folder)
    paths = sorted(folder.glob("rank-*.plaqtrace"))
    if not paths:
        raise InputError(f"{folder}: holds no trace (rank-0000.plaqtrace)")
    notes: list[str] = []
    files = []
    for path in paths:
        file = read_rank_file(path)
        if not file.process or not len(file.clocks):
            notes.append(f"{path.name}: ends before anything was recorded")
        else:
            files.append(file)
    if not files:
        raise InputError(f"{folder}: {'; '.join(notes)}")
    merged = _Merged()
    for file in files:
        clock = Clock(file, files[0])
        notes += clock.notes
        merged.add(file, clock)
        notes += _troubles(file)
    sizes = {file.process["notes"].get("ranks", str(len(files))) for file in files}
    if sizes != {str(len(files))}:
        notes.append(f"{len(files)} ranks have a file here, of {' or '.join(sorted(sizes))} that took part")
    return merged.trace(notes, files[0])


def _troubles(file: RankFile) -> list[str]:
    rank = f"rank {file.process['rank']}"
    out = []
    if file.lost:
        out.append(f"{rank}: {file.lost} events did not fit into the buffers and are missing")
    if _end(file) != "closed":
        out.append(f"{rank}: the trace ends early ({_end(file).removeprefix('cut: ')})")
    return out


def _end(file: RankFile) -> str:
    return NOT_ENDED if file.state == "open" else file.state


class _Merged:
    """The tables of the ranks so far."""

    def __init__(self):
        self.names: dict[str, int] = {}
        self.parts: list[RankTables] = []
        self.gpu: list[np.ndarray] = []
        self.ranks: list[RankInfo] = []
        self.counters: list[Counter] = []
        self.first_task = self.first_region = 0

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
        self.gpu.append(gpu)
        self.counters += counters
        p = file.process
        workers = np.unique(part.slices["worker"]).tolist()
        self.ranks.append(
            RankInfo(p["rank"], p["host"], p["pid"], workers, threads, clock.text, file.lost, _end(file), streams)
        )

    def trace(self, notes: list[str], first: RankFile) -> Trace:
        kinds = dict(tasks=TASK, slices=SLICE, regions=REGION, links=LINK, readies=READY)
        empty = {name: np.zeros(0, kind) for name, kind in kinds.items()}
        tables = {n: np.concatenate([empty[n], *(getattr(p, n) for p in self.parts)]) for n in kinds}
        tables["gpu"] = np.concatenate([np.zeros(0, GPU), *self.gpu])
        if len(self.parts) > 1:
            tables["slices"] = tables["slices"][np.argsort(tables["slices"]["begin"], kind="stable")]
            order = np.argsort(tables["regions"]["begin"], kind="stable")
            place = np.empty(len(order) + 1, np.int64)
            place[order], place[-1] = np.arange(len(order)), -1
            tables["regions"] = tables["regions"][order]
            tables["regions"]["parent"] = place[tables["regions"]["parent"]]
        zero = min([*(p.first for p in self.parts), *tables["gpu"]["begin"]])
        last = max([*(p.last for p in self.parts), *tables["gpu"]["end"]])
        for counter in self.counters:
            counter.time -= zero
        times = ("created", "started", "finished", "begin", "end", "time")
        for table in tables.values():
            for field in set(times) & set(table.dtype.names):
                table[field] -= zero
        latest = max([last - zero, *(c.time[-1] for c in self.counters if len(c.time))])
        metadata = {**first.process["notes"], **{name: first.process[name] for name in ("host", "period_ms")}}
        return Trace(
            list(self.names), self.ranks, **tables, counters=self.counters, notes=notes, duration=float(latest),
            metadata=metadata,
        )
