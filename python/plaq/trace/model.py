"""A trace in memory: plain numpy tables. Readers make it, outputs read it.

All times are float64 seconds since the earliest event of all ranks, on one clock. "Row" is a position in a table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

#: One row per task, by rank and then by id, which is unique within its rank. `name` is a position in
#: `Trace.names`, `parent` the row of the task that created it (-1: none); a time is nan where it was not seen.
TASK = np.dtype(
    [
        ("id", "u8"),
        ("rank", "i4"),
        ("name", "i4"),
        ("parent", "i8"),
        ("created", "f8"),
        ("started", "f8"),
        ("finished", "f8"),
    ]
)
#: One row per interval in which a task had a worker, sorted by begin. `worker` counts from 0 over the pools of the
#: rank; a later pool has the numbers of one that ended.
SLICE = np.dtype([("task", "i8"), ("rank", "i4"), ("worker", "i4"), ("begin", "f8"), ("end", "f8")])
#: One row per region, sorted by begin. `task` is the row of the task it lies in (-1: a plain thread), `parent` the
#: row of the region around it (-1: none), `worker` where it began (-1: a thread outside of the pools), `thread`
#: the kernel thread where it began, a position in `RankInfo.threads`. A `subject` is that of its task.
REGION = np.dtype(
    [
        ("id", "u8"),
        ("rank", "i4"),
        ("name", "i4"),
        ("task", "i8"),
        ("parent", "i8"),
        ("worker", "i4"),
        ("thread", "i4"),
        ("begin", "f8"),
        ("end", "f8"),
        ("subject", "?"),
    ]
)
#: `target` used what `source` made: a result, an item of a channel. Rows of tasks.
LINK = np.dtype([("source", "i8"), ("target", "i8"), ("time", "f8")])
#: A suspended task may go on.
READY = np.dtype([("task", "i8"), ("time", "f8")])
#: One row per kernel, copy or memset on a GPU. `stream` is a position in `RankInfo.streams`, `name` in
#: `Trace.names`, `task` the row of the task that asked for it (-1: none); a kernel has 0 `bytes`.
GPU = np.dtype(
    [
        ("rank", "i4"),
        ("stream", "i4"),
        ("name", "i4"),
        ("task", "i8"),
        ("bytes", "u8"),
        ("begin", "f8"),
        ("end", "f8"),
    ]
)

#: One row per message between two ranks whose both ends were recorded, sorted by `sent`: when the sender began to send
#: it, and when the receiver found that it had arrived. An end is at a `worker`, or at a kernel thread outside of the
#: pools (then `worker` is -1), a position in `RankInfo.threads`.
MESSAGE = np.dtype(
    [
        ("sender", "i4"),
        ("receiver", "i4"),
        ("bytes", "u8"),
        ("sent", "f8"),
        ("received", "f8"),
        ("sender_worker", "i4"),
        ("sender_thread", "i4"),
        ("receiver_worker", "i4"),
        ("receiver_thread", "i4"),
    ]
)

#: One row per end of a message that a rank recorded. `wire` and `ends` are the identity of the message, which both ends
#: have; see src/plaq/trace/buffer.hpp.
END = np.dtype(
    [
        ("wire", "u8"),
        ("ends", "u8"),
        ("time", "f8"),
        ("bytes", "u8"),
        ("rank", "i4"),
        ("worker", "i4"),
        ("thread", "i4"),
        ("sent", "?"),
    ]
)


@dataclass
class RankInfo:
    """One process. `end` is "closed" for a complete trace, else "cut: " and the reason."""

    rank: int
    host: str
    pid: int
    workers: list[int]  # that were seen
    threads: list[str]  # names of the kernel threads that recorded or were sampled
    clock: str  # what the times were read from, and how well they fit
    lost: int  # events that did not fit into a buffer
    end: str
    until: float  # s, the last moment that is known of
    streams: list[tuple[int, str]] = field(default_factory=list)  # of GPUs: the GPU and a name
    uncounted: int = 0  # events without counts of the processor that should have them


@dataclass
class Counter:
    """Samples of one quantity. `worker` and `thread` (a position in `RankInfo.threads`) are -1 for a process."""

    name: str
    unit: str
    rank: int
    worker: int
    thread: int
    time: np.ndarray  # [n], s
    value: np.ndarray  # [n]


@dataclass
class Trace:
    """Trace of a program: see the types above for its tables.

    `notes` are one-line warnings that every output shows: lost events, cut files, clocks that were not aligned.
    """

    names: list[str]
    ranks: list[RankInfo]
    tasks: np.ndarray
    slices: np.ndarray
    regions: np.ndarray
    links: np.ndarray
    readies: np.ndarray
    counters: list[Counter]
    notes: list[str]
    duration: float  # s, to the latest event of all ranks
    metadata: dict[str, Any] = field(default_factory=dict)  # command line, version, host, ... as recorded
    gpu: np.ndarray = field(default_factory=lambda: np.zeros(0, GPU))
    messages: np.ndarray = field(default_factory=lambda: np.zeros(0, MESSAGE))
    counted: list[str] = field(default_factory=list)  # counters of the processor, read at the ends of tasks and regions
    task_counts: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.int64))  # [task, counted], inclusive
    region_counts: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.int64))  # [region, counted]
    message_ends: np.ndarray = field(default_factory=lambda: np.zeros(0, END))  # also those without another end
    start: float = 0.0  # s, time 0 on the clock of the first rank that was read
