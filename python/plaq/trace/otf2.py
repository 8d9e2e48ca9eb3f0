"""OTF2 archives, which Vampir, Scalasca, Score-P's tools and others open, by the OTF2 library.

One archive for all ranks: a location group per rank below its host, a location per worker and per thread outside
of the pools, one more for tasks that were created outside of tasks, one more for the counters. A GPU that a rank
used is a location group that the rank created, with a location per stream. Links between tasks have no counterpart
in OTF2 and are left out.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import plaq
from plaq.errors import InputError
from plaq.files.atomic import atomic_folder
from plaq.parts import demand
from plaq.trace.model import Trace
from plaq.trace.on_worker import OnWorker
from plaq.trace.samples import counter_name, known_samples
from plaq.trace.subjects import subject_of_tasks
from plaq.trace.timeline import Timeline, nanoseconds


def write_otf2(trace: Trace, folder: Path) -> None:
    """Write the archive `folder`/traces.otf2 with the files beside it.

    InputError if the folder exists or plaq was built without OTF2, RunError if it cannot be written. The notes of the
    trace stand in the archive's description.
    """
    library = otf2_library()
    if folder.exists():
        raise InputError(f"{folder} exists already, and an OTF2 archive goes into a new folder")
    on_worker = OnWorker(trace)
    line = Timeline(trace, on_worker)
    places = Places(trace, line)
    tasks = Creations(trace, on_worker, line, places)
    with atomic_folder(folder) as beside:
        library.write(
            str(beside),
            creator=f"plaq {plaq.__version__}",
            description="\n".join(trace.notes),
            duration=int(max(nanoseconds(trace.duration), line.intervals["end"].max(initial=0))),
            hosts=places.hosts,
            processes=places.processes,
            locations=places.locations,
            created=tasks.table,
            **intervals(trace, on_worker, line, tasks),
            **counters(trace, line, places),
            messages=messages(trace, line, places),
        )


def otf2_library():
    """Return the part of the compiled module that writes archives; InputError if it was built without."""
    from plaq import _core

    demand("OTF2", "OTF2 archives are written by the OTF2 library")
    return _core.otf2


class Places:
    """Hosts, processes with the GPUs that they used behind them, and locations.

    The location of a lane is its position. Behind the lanes stand, for every rank, one for tasks created outside of
    tasks (`outside[rank]`) and, if there are any, one for counters (`recorder[rank]`).
    """

    def __init__(self, trace: Trace, line: Timeline):
        self.hosts = list(dict.fromkeys(info.host for info in trace.ranks))
        self.processes = [(f"rank {info.rank}", self.hosts.index(info.host), -1) for info in trace.ranks]
        self.process = {info.rank: place for place, info in enumerate(trace.ranks)}
        gpus = sorted({(lane.rank, lane.gpu) for lane in line.lanes if lane.gpu >= 0})
        group = {gpu: len(self.processes) + place for place, gpu in enumerate(gpus)}
        for rank, gpu in gpus:
            process = self.process[rank]
            self.processes.append((f"rank {rank}, GPU {gpu}", self.processes[process][1], process))
        kinds = otf2_library().Kind
        self.locations = [
            (lane.name, self.process[lane.rank], kinds.thread)
            if lane.gpu < 0
            else (lane.name, group[lane.rank, lane.gpu], kinds.stream)
            for lane in line.lanes
        ]
        self.outside = self._add("outside of tasks", set(self.process), kinds.thread)
        self.recorder = self._add("counters", {counter.rank for counter in trace.counters}, kinds.counters)

    def _add(self, name: str, ranks: set[int], kind) -> dict[int, int]:
        first = len(self.locations)
        self.locations += [(name, self.process[rank], kind) for rank in sorted(ranks)]
        return {rank: first + i for i, rank in enumerate(sorted(ranks))}


class Creations:
    """Creators of tasks: `creator[task]` is a location, `generation[task]` counts its tasks from 1 in order of time.

    `table` has the tasks whose creation was recorded.
    """

    def __init__(self, trace: Trace, on_worker: OnWorker, line: Timeline, places: Places):
        tasks = trace.tasks
        outside = np.zeros(max(places.outside, default=0) + 1, np.int32)
        outside[list(places.outside)] = list(places.outside.values())
        self.creator = outside[tasks["rank"]]
        child = np.flatnonzero((tasks["parent"] >= 0) & ~np.isnan(tasks["created"]))
        parent, time = tasks["parent"][child], tasks["created"][child]
        place = on_worker.last_begun(parent, time)
        running = (place >= on_worker.first[parent]) & (np.append(on_worker.end, -np.inf)[place] >= time)
        self.creator[child[running]] = line.slice_lane[on_worker.order[place[running]]]

        order = np.lexsort((tasks["created"], self.creator))  # nan comes last
        creator = self.creator[order]
        is_first = np.append(True, creator[1:] != creator[:-1])[: len(creator)]
        first = np.maximum.accumulate(np.where(is_first, np.arange(len(creator)), 0))
        self.generation = np.zeros(len(tasks), np.uint32)
        self.generation[order] = np.arange(len(creator)) - first + 1
        recorded = order[~np.isnan(tasks["created"][order])]
        self.table = {
            "location": self.creator[recorded],
            "time": nanoseconds(tasks["created"][recorded]),
            "generation": self.generation[recorded],
        }


def steps_inside(trace: Trace, rows: np.ndarray) -> np.ndarray:
    """Return the intervals, with the name of a task within that of its subject.

    Readers count the time of the innermost name, and so that of a step for its name, on any element.
    """
    rows, subject = rows.copy(), np.append(subject_of_tasks(trace), -1)
    marks = np.append(trace.regions["subject"], False)[rows["region"]] & (rows["gpu"] < 0) & (rows["task"] >= 0)
    about = (rows["region"] < 0) & (rows["gpu"] < 0) & (subject[rows["task"]] >= 0)
    rows["name"][marks] = trace.tasks["name"][rows["task"][marks]]
    rows["name"][about] = subject[rows["task"][about]]
    return rows


def intervals(trace: Trace, on_worker: OnWorker, line: Timeline, created: Creations) -> dict:
    """Return the intervals, and the names of tasks and regions by which they are counted; with GPU operations."""
    rows, tasks = steps_inside(trace, line.intervals), trace.tasks
    is_slice = (rows["region"] < 0) & (rows["gpu"] < 0)
    of_tasks, of_regions = np.unique(rows["name"][is_slice]), np.unique(rows["name"][~is_slice])
    region = np.where(
        is_slice,
        np.searchsorted(of_tasks, rows["name"]),
        len(of_tasks) + np.searchsorted(of_regions, rows["name"]),
    )
    ran = np.flatnonzero(np.diff(on_worker.first))
    done = ran[~np.isnan(tasks["finished"][ran])]
    last = np.zeros(len(trace.slices) + 1, np.uint8)
    last[on_worker.order[on_worker.first[done + 1] - 1]] = 1
    ids = np.append(tasks["id"], np.uint64(0))  # row -1: no task
    parents = np.append(tasks["parent"], -1)
    return {
        "task_names": [trace.names[k] for k in of_tasks],
        "region_names": [trace.names[k] for k in of_regions],
        "intervals": {
            "location": rows["lane"].copy(),
            "depth": rows["depth"].copy(),
            "region": region.astype(np.int32),
            "begin": rows["begin"].copy(),
            "end": rows["end"].copy(),
            "task": ids[rows["task"]],
            "parent": ids[parents[rows["task"]]],
            "creator": np.append(created.creator, np.int32(0))[rows["task"]],
            "generation": np.append(created.generation, np.uint32(0))[rows["task"]],
            "last": last[rows["slice"]],
        },
    }


def messages(trace: Trace, line: Timeline, places: Places) -> dict:
    """Return the ends of messages: at a location, from it or to it, with the other process and the message's number."""
    table, number = trace.messages, np.arange(len(trace.messages), dtype=np.uint32)
    ranks = np.array(sorted(places.process), np.int32)
    process = np.array([places.process[rank] for rank in ranks.tolist()], np.int32)
    columns = [
        (lane, nanoseconds(table[time]), process[np.searchsorted(ranks, table[peer])], number, table["bytes"],
         np.full(len(table), sends, np.uint8))
        for lane, time, peer, sends in (
            (line.sender_lane, "sent", "receiver", 1),
            (line.receiver_lane, "received", "sender", 0),
        )
    ]
    location, time, peer, number, size, sends = (np.concatenate(both) for both in zip(*columns))
    order = np.lexsort((time, location))
    return {
        "location": location[order].astype(np.int32),
        "time": time[order],
        "peer": peer[order],
        "number": number[order],
        "bytes": size[order],
        "sends": sends[order],
    }


def counters(trace: Trace, line: Timeline, places: Places) -> dict:
    """Return quantities, counters and samples.

    A worker's counter belongs to its location; a counter of another kernel thread belongs to the process, and its name
    includes the thread.
    """
    lanes = {(lane.rank, lane.worker): place for place, lane in reversed(list(enumerate(line.lanes)))}
    quantities: dict[tuple[str, str], int] = {}
    rows, columns = [], []
    for i, counter in enumerate(trace.counters):
        name = counter.name if counter.worker >= 0 else counter_name(trace, counter)
        quantity = quantities.setdefault((name, counter.unit), len(quantities))
        location = lanes[counter.rank, counter.worker] if counter.worker >= 0 else -1
        rows.append((quantity, places.process[counter.rank], location))
        time, value = known_samples(counter)
        recorder = np.full(len(time), places.recorder[counter.rank], np.int32)
        columns.append((recorder, np.full(len(time), i, np.int32), time, value))
    types = (np.int32, np.int32, np.int64, np.float64)
    joined = [
        np.concatenate([np.zeros(0, type), *some]) for type, some in zip(types, list(zip(*columns)) or [()] * 4)
    ]
    order = np.lexsort((joined[2], joined[0]))
    names = ("location", "counter", "time", "value")
    return {
        "quantities": list(quantities),
        "counters": rows,
        "samples": {name: column[order] for name, column in zip(names, joined)},
    }
