"""The timeline as nested intervals in whole nanoseconds, one lane per worker, thread or stream of a GPU."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaq.trace.model import Trace
from plaq.trace.nesting import lanes_that_do_not_nest, nest
from plaq.trace.on_worker import OnWorker, depths

#: One row per interval: a slice of a task (depth 0, region and gpu -1), a part of a region with the task and slice
#: that it lies in (both -1 outside of tasks), or what a stream of a GPU did (gpu) with the task that asked for it.
#: `lane` is a position in `Timeline.lanes`, `name` in `Trace.names`; `task`, `slice`, `region` and `gpu` are rows;
#: times in ns.
INTERVAL = np.dtype(
    [
        ("lane", "i4"),
        ("depth", "i4"),
        ("begin", "i8"),
        ("end", "i8"),
        ("name", "i4"),
        ("task", "i8"),
        ("slice", "i8"),
        ("region", "i8"),
        ("gpu", "i8"),
    ]
)
WORKER, THREAD, STREAM = range(3)  # kinds of lanes, in the order in which they stand


@dataclass(frozen=True)
class Lane:
    """A worker of a rank, or a thread outside of the pools or a stream of a GPU (`worker` is -1)."""

    rank: int
    worker: int
    name: str
    gpu: int = -1  # of a stream


class Timeline:
    """Lanes and intervals of a trace.

    `lanes` are ordered by rank, workers before threads and these before streams; `intervals` by lane, then by begin.

    A region of a task that was suspended meanwhile has one part for each slice of the task that it reaches into, so
    that the intervals of a lane nest: an interval follows the end of all before it that are not less deep. If regions
    overlap without nesting, the one that began later is cut at the end of the other. `slice_lane` is the lane of each
    row of `Trace.slices`, `sender_lane` and `receiver_lane` those of each row of `Trace.messages`.
    """

    def __init__(self, trace: Trace, on_worker: OnWorker, ends: bool = False):
        """Make the timeline; with `ends`, also lanes of messages whose other end is not in this trace."""
        slices, regions = trace.slices, trace.regions
        outside = np.flatnonzero(regions["task"] < 0)
        region, row, begin, end = parts(trace, on_worker)

        recorded = [lane_key(info.rank, WORKER, np.array(info.workers, np.int64)) for info in trace.ranks]
        recorded += [lane_key(c.rank, WORKER, np.array([c.worker])) for c in trace.counters if c.worker >= 0]
        of_slice = lane_key(slices["rank"], WORKER, slices["worker"])
        of_outside = lane_key(regions["rank"][outside], THREAD, regions["thread"][outside])
        of_gpu = lane_key(trace.gpu["rank"], STREAM, trace.gpu["stream"])
        of_messages = [message_key(trace.messages, end) for end in ("sender", "receiver")]
        others = trace.message_ends if ends else trace.message_ends[:0]
        of_ends = place_key(others["rank"], others["worker"], others["thread"])
        keys = np.unique(np.concatenate([*recorded, of_slice, of_outside, of_gpu, *of_messages, of_ends]))
        self.keys = keys  # of the lanes
        self.lanes = [lane_of(key, trace) for key in keys.tolist()]
        self.slice_lane = np.searchsorted(keys, of_slice)
        self.sender_lane, self.receiver_lane = (np.searchsorted(keys, end) for end in of_messages)

        depth = depths(regions["parent"])
        whole = rows(
            len(slices),
            lane=self.slice_lane,
            begin=nanoseconds(slices["begin"]),
            end=nanoseconds(slices["end"]),
            name=trace.tasks["name"][slices["task"]],
            task=slices["task"],
            slice=np.arange(len(slices)),
            region=-1,
        )
        alone = rows(
            len(outside),
            lane=np.searchsorted(keys, of_outside),
            depth=depth[outside],
            begin=nanoseconds(regions["begin"][outside]),
            end=nanoseconds(regions["end"][outside]),
            name=regions["name"][outside],
            task=-1,
            slice=-1,
            region=outside,
        )
        part = rows(
            len(region),
            lane=self.slice_lane[row],
            depth=depth[region] + 1,
            begin=nanoseconds(begin),
            end=nanoseconds(end),
            name=regions["name"][region],
            task=slices["task"][row],
            slice=row,
            region=region,
        )
        on_gpu = rows(
            len(trace.gpu),
            lane=np.searchsorted(keys, of_gpu),
            begin=nanoseconds(trace.gpu["begin"]),
            end=nanoseconds(trace.gpu["end"]),
            name=trace.gpu["name"],
            task=trace.gpu["task"],
            slice=-1,
            region=-1,
            gpu=np.arange(len(trace.gpu)),
        )
        # All that lies in a slice comes after it and before the next one, even where times are equal.
        turn = np.zeros(len(slices) + 1, np.int64)  # the last one is for what lies in none
        turn[np.lexsort((whole["end"], whole["begin"]))] = np.arange(len(slices))
        table = np.concatenate([whole, alone, part, on_gpu])
        order = (table["end"], table["depth"], table["begin"], turn[table["slice"]], table["lane"])
        table = table[np.lexsort(order)]
        for crowded in lanes_that_do_not_nest(table):
            begin, end = np.searchsorted(table["lane"], [crowded, crowded + 1])
            table = np.concatenate([table[:begin], nest(table[begin:end]), table[end:]])
        self.intervals = table


def nanoseconds(time: np.ndarray) -> np.ndarray:
    """Return times in s as whole ns."""
    return np.rint(time * 1e9).astype(np.int64)


def rows(count: int, **columns: np.ndarray | int) -> np.ndarray:
    """Return a table of intervals from its columns; depth is by default 0 and gpu -1."""
    table = np.zeros(count, INTERVAL)
    table["gpu"] = -1
    for name, values in columns.items():
        table[name] = values
    return table


def lane_key(rank: np.ndarray | int, kind: int, index: np.ndarray) -> np.ndarray:
    """Return one number for a lane; the order of these numbers is the order of the lanes."""
    return (np.int64(rank) << 34) | (kind << 32) | index.astype(np.int64)


def message_key(messages: np.ndarray, end: str) -> np.ndarray:
    """Return the numbers of the lanes in which messages have their end "sender" or "receiver"."""
    return place_key(messages[end], messages[f"{end}_worker"], messages[f"{end}_thread"])


def place_key(rank: np.ndarray, worker: np.ndarray, thread: np.ndarray) -> np.ndarray:
    """Return the numbers of the lanes of workers, or of threads where the worker is -1."""
    return np.where(worker >= 0, lane_key(rank, WORKER, worker), lane_key(rank, THREAD, thread))


def lane_of(key: int, trace: Trace) -> Lane:
    rank, kind, index = key >> 34, key >> 32 & 3, key & 0xFFFFFFFF
    if kind != WORKER:
        info = next(info for info in trace.ranks if info.rank == rank)
        if kind == THREAD:
            return Lane(rank, -1, info.threads[index])
        gpu, name = info.streams[index]
        return Lane(rank, -1, name, gpu)
    return Lane(rank, index, f"worker {index}")


def parts(trace: Trace, on_worker: OnWorker) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return (row of the region, row of the slice, begin, end) of every part of a region of a task that had a worker.

    A region without any time on a worker keeps one part of no length.
    """
    regions = trace.regions
    task = regions["task"]
    has_slices = np.diff(on_worker.first, append=0) > 0  # with one False at the end: row -1 is no task
    region = np.flatnonzero(has_slices[task])
    task, begin, end = task[region], regions["begin"][region], regions["end"][region]
    first = np.maximum(on_worker.last_begun(task, begin), on_worker.first[task])
    last = np.maximum(on_worker.last_begun(task, np.nextafter(end, -np.inf)), first)
    count = last - first + 1
    start = np.cumsum(count) - count
    index = np.repeat(np.arange(len(region)), count)
    place = first[index] + np.arange(len(index)) - start[index]
    low, high = on_worker.begin[place], on_worker.end[place]
    begin, end = np.clip(begin[index], low, high), np.clip(end[index], low, high)
    keep = end > begin
    empty = np.bincount(index, keep, len(region)) == 0
    keep[start[empty]] = True
    return region[index[keep]], on_worker.order[place[keep]], begin[keep], end[keep]
