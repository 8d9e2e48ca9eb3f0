"""Chrome's trace event format, which Perfetto (ui.perfetto.dev) and chrome://tracing open.

Format: "Trace Event Format" by N. Duca and D. Sinclair, JSON object form. Processes are ranks; threads are workers,
threads outside of the pools and streams of GPUs; slices of tasks, parts of regions and operations of GPUs are complete
events, links and messages are flows, counters are counter tracks. Times are in us with three decimals, the unit of the
format.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from plaq.files.atomic import atomic_file
from plaq.trace.messages import match
from plaq.trace.model import MESSAGE, Counter, Trace
from plaq.trace.on_worker import OnWorker
from plaq.trace.samples import counter_name, known_samples
from plaq.trace.timeline import Timeline, message_key, nanoseconds

CHUNK = 1 << 16  # events that are text at the same time
COMPRESSION = 4  # of gzip, 1 to 9: twice as fast as the usual 6 for files 5 % larger


def write_chrome(traces: Trace | Iterable[Trace], path: Path) -> None:
    """Write the events of a trace, or of one for each rank, to `path`. RunError if it cannot be written.

    The file is compressed if it ends in .gz. Traces of one rank each (`read_by_rank`) have a common time 0; memory is
    that of one of them, and of the ends of messages. Process and thread ids are rank + 1 and lane + 1, since readers
    take 0 for the idle task of a kernel. A link between tasks that had no worker then is left out, and a note counts
    such links.
    """
    with ExitStack() as stack:
        file = stack.enter_context(atomic_file(path))
        if path.suffix == ".gz":
            file = stack.enter_context(gzip.GzipFile("", "wb", COMPRESSION, file, mtime=0))
        file.write(b'{"displayTimeUnit":"ns","traceEvents":[\n')
        separator = b""
        events = Events()
        for lines in events.of([traces] if isinstance(traces, Trace) else traces):
            if lines:
                file.write(separator + ",\n".join(lines).encode())
                separator = b",\n"
        other = json.dumps({"notes": events.notes, **events.metadata})
        file.write(f'\n],"otherData":{other}}}\n'.encode())


class Events:
    """Events of one trace after the other, as JSON texts; `notes` and `metadata` are of all traces so far."""

    def __init__(self):
        self.notes: list[str] = []
        self.metadata: dict[str, Any] = {}
        self._lanes = self._flows = self._left_out = 0
        self._first_pid = 1
        self._keys: list[np.ndarray] = []  # of the lanes
        self._ends: list[np.ndarray] = []  # of messages
        self._messages: list[np.ndarray] = []

    def of(self, traces: Iterable[Trace]) -> Iterator[list[str]]:
        """Yield all events, in lists of at most about CHUNK."""
        for trace in traces:
            yield from self._of_one(trace)
        if self._left_out:
            self.notes.append(f"{self._left_out} links are left out: no worker had their tasks")
        yield [note_event(note, self._first_pid) for note in self.notes]
        messages = match(np.concatenate(self._ends)) if self._ends else np.zeros(0, MESSAGE)
        for table in (*self._messages, messages):
            yield from message_events(table, np.concatenate(self._keys), self._flows)
            self._flows += len(table)

    def _of_one(self, trace: Trace) -> Iterator[list[str]]:
        on_worker = OnWorker(trace)
        line = Timeline(trace, on_worker, ends=not len(trace.messages))
        flows, left_out = flow_ends(trace, on_worker, line, self._lanes)
        yield list(headings(trace, line, self._lanes))
        yield from interval_events(trace, line, self._lanes)
        yield from flow_events(flows, self._flows)
        for counter in trace.counters:
            yield from counter_events(trace, counter)
        if line.lanes and not self._lanes:
            self._first_pid = line.lanes[0].rank + 1
        self.notes += trace.notes
        self.metadata = self.metadata or trace.metadata
        self._lanes += len(line.lanes)
        self._flows += len(flows)
        self._left_out += left_out
        self._keys.append(line.keys)
        if len(trace.messages):
            self._messages.append(trace.messages)
        else:
            self._ends.append(trace.message_ends)


def headings(trace: Trace, line: Timeline, first: int) -> Iterator[str]:
    """Yield names and order of processes and threads; lanes count from `first`."""

    def metadata(kind: str, pid: int, tid: int, **args: object) -> str:
        return json.dumps({"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": args})

    for info in trace.ranks:
        name = f"rank {info.rank} on {info.host}, process {info.pid}"
        yield metadata("process_name", info.rank + 1, 0, name=name)
        yield metadata("process_sort_index", info.rank + 1, 0, sort_index=info.rank)
    for tid, lane in enumerate(line.lanes, first + 1):
        yield metadata("thread_name", lane.rank + 1, tid, name=lane.name)
        yield metadata("thread_sort_index", lane.rank + 1, tid, sort_index=tid)


def note_event(note: str, pid: int) -> str:
    """Return a mark over all processes at the beginning."""
    return json.dumps({"ph": "i", "s": "g", "name": note, "cat": "note", "pid": pid, "tid": 1, "ts": 0})


def interval_events(trace: Trace, line: Timeline, first: int) -> Iterator[list[str]]:
    """Yield complete events: slices of tasks, parts of regions, operations of GPUs; lanes count from `first`.

    A slice has its task's id and its parent's (0: none), a part of a region its task's. An operation of a GPU has id
    and name of the task that requested it, and bytes.
    """
    names = [json.dumps(name) for name in trace.names]
    pids = np.array([lane.rank + 1 for lane in line.lanes], np.int64)
    ids = np.append(trace.tasks["id"], np.uint64(0))  # row -1 has id 0
    common = '{"ph":"X","pid":%d,"tid":%d,"ts":%d.%03d,"dur":%d.%03d,"name":%s,'
    task = common + '"cat":"task","args":{"task":%d,"parent":%d}}'
    region = common + '"cat":"region","args":{"task":%d}}'
    gpu = common + '"cat":"gpu","args":{"task":%d,"launched by":%s,"bytes":%d}}'
    launched_by = [names[name] for name in trace.tasks["name"]] + ["null"]
    for start in range(0, len(line.intervals), CHUNK):
        rows = line.intervals[start : start + CHUNK]
        lane, begin, length = rows["lane"], rows["begin"], rows["end"] - rows["begin"]
        id, parent = ids[rows["task"]], ids[np.append(trace.tasks["parent"], -1)[rows["task"]]]
        columns = (pids[lane], lane + first + 1, begin // 1000, begin % 1000, length // 1000, length % 1000)
        yield [
            gpu % (*numbers, names[name], id, launched_by[by], trace.gpu["bytes"][on_gpu])
            if on_gpu >= 0
            else task % (*numbers, names[name], id, parent)
            if whole
            else region % (*numbers, names[name], id)
            for *numbers, name, id, parent, whole, by, on_gpu in zip(
                *(column.tolist() for column in columns),
                rows["name"].tolist(),
                id.tolist(),
                parent.tolist(),
                (rows["region"] < 0).tolist(),
                rows["task"].tolist(),
                rows["gpu"].tolist(),
            )
        ]


def flow_ends(trace: Trace, on_worker: OnWorker, line: Timeline, first: int) -> tuple[np.ndarray, int]:
    """Return (links[k, end, (pid, tid, ns)], number of links left out). `end` is 0 at the source, 1 at the target.

    An arrow starts at the last worker of the source before the link, and ends at the worker that the target had then or
    got next; a point at the very end of a slice moves 1 ns into it.
    """
    links = trace.links
    source = on_worker.last_begun(links["source"], links["time"])
    target = on_worker.last_begun(links["target"], links["time"])
    gone = target < on_worker.first[links["target"]]
    gone |= np.append(on_worker.end, -np.inf)[target] < links["time"]
    target = target + gone
    drawn = (source >= on_worker.first[links["source"]]) & (target < on_worker.first[links["target"] + 1])
    lanes = np.array([(lane.rank + 1, tid) for tid, lane in enumerate(line.lanes, first + 1)], np.int64)
    lanes = lanes.reshape(-1, 2)
    ends = []
    for place in (source[drawn], target[drawn]):
        begin, end = nanoseconds(on_worker.begin[place]), nanoseconds(on_worker.end[place])
        time = np.clip(nanoseconds(links["time"][drawn]), begin, np.maximum(begin, end - 1))
        ends.append(np.column_stack([lanes[line.slice_lane[on_worker.order[place]]], time]))
    return np.stack(ends, axis=1), int((~drawn).sum())


def flow_events(flows: np.ndarray, first: int) -> Iterator[list[str]]:
    common = '"cat":"link","name":"link","id":%d,"pid":%d,"tid":%d,"ts":%d.%03d}'
    pair = '{"ph":"s",' + common + ',\n{"ph":"f","bp":"e",' + common
    for start in range(0, len(flows), CHUNK):
        yield [
            pair % (k, *a, from_ns // 1000, from_ns % 1000, k, *b, to_ns // 1000, to_ns % 1000)
            for k, ((*a, from_ns), (*b, to_ns)) in enumerate(flows[start : start + CHUNK].tolist(), first + start)
        ]


def message_events(messages: np.ndarray, lanes: np.ndarray, first: int) -> Iterator[list[str]]:
    """Yield flows from the sender of each message to its receiver; their ids count from `first`.

    `lanes` are the keys of all lanes, ascending.
    """
    common = '"cat":"message","name":"message","id":%d,"pid":%d,"tid":%d,"ts":%d.%03d,"args":{"bytes":%d}}'
    pair = '{"ph":"s",' + common + ',\n{"ph":"f","bp":"e",' + common
    ends = []
    for name, time in (("sender", "sent"), ("receiver", "received")):
        ns = nanoseconds(messages[time])
        lane = np.searchsorted(lanes, message_key(messages, name))
        ends += [messages[name] + 1, lane + 1, ns // 1000, ns % 1000, messages["bytes"]]
    for start in range(0, len(messages), CHUNK):
        rows = zip(*(column[start : start + CHUNK].tolist() for column in ends))
        yield [pair % (k, *row[:5], k, *row[5:]) for k, row in enumerate(rows, first + start)]


def counter_events(trace: Trace, counter: Counter) -> Iterator[list[str]]:
    """Yield a track of the process; the format has none for threads, so that the name includes the worker or thread."""
    name, unit = json.dumps(counter_name(trace, counter)), json.dumps(counter.unit or "value")
    head = f'{{"ph":"C","pid":{counter.rank + 1},"name":{name},"args":{{{unit}:'
    time, value = known_samples(counter)
    for start in range(0, len(time), CHUNK):
        some = slice(start, start + CHUNK)
        yield [
            f'{head}{v!r}}},"ts":{t // 1000}.{t % 1000:03d}}}'
            for t, v in zip(time[some].tolist(), value[some].tolist())
        ]
