"""Chrome's trace event format, which Perfetto (ui.perfetto.dev) and chrome://tracing open.

Format: "Trace Event Format" by N. Duca and D. Sinclair, JSON object form. Processes are ranks; threads are workers,
threads outside of the pools and streams of GPUs; slices of tasks, parts of regions and operations of GPUs are complete
events, links and messages are flows, counters are counter tracks. Times are in us with three decimals, the unit of the
format.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from plaq.files.atomic import atomic_file
from plaq.trace.model import Counter, Trace
from plaq.trace.on_worker import OnWorker
from plaq.trace.samples import counter_name, known_samples
from plaq.trace.timeline import Timeline, nanoseconds

CHUNK = 1 << 16  # events that are text at the same time
COMPRESSION = 4  # of gzip, 1 to 9: twice as fast as the usual 6 for files 5 % larger


def write_chrome(trace: Trace, path: Path) -> None:
    """Write the events to `path`, compressed if it ends in .gz. RunError if it cannot be written.

    Process and thread ids are rank + 1 and lane + 1, since readers take 0 for the idle task of a kernel. A link between
    tasks that had no worker then is left out, and a note counts such links.
    """
    with ExitStack() as stack:
        file = stack.enter_context(atomic_file(path))
        if path.suffix == ".gz":
            file = stack.enter_context(gzip.GzipFile("", "wb", COMPRESSION, file, mtime=0))
        on_worker = OnWorker(trace)
        line = Timeline(trace, on_worker)
        flows, left_out = flow_ends(trace, on_worker, line)
        notes = trace.notes + ([f"{left_out} links are left out: no worker had their tasks"] if left_out else [])
        other = json.dumps({"notes": notes, **trace.metadata})
        file.write(f'{{"displayTimeUnit":"ns","otherData":{other},"traceEvents":[\n'.encode())
        separator = b""
        for lines in events(trace, line, flows, notes):
            if lines:
                file.write(separator + ",\n".join(lines).encode())
                separator = b",\n"
        file.write(b"\n]}\n")


def events(trace: Trace, line: Timeline, flows: np.ndarray, notes: list[str]) -> Iterator[list[str]]:
    """Yield all events as JSON texts, in lists of at most about CHUNK."""
    yield [*headings(trace, line), *(note_event(note, line) for note in notes)]
    yield from interval_events(trace, line)
    yield from flow_events(flows)
    yield from message_events(trace, line, len(flows))
    for counter in trace.counters:
        yield from counter_events(trace, counter)


def headings(trace: Trace, line: Timeline) -> Iterator[str]:
    """Yield names and order of processes and threads."""

    def metadata(kind: str, pid: int, tid: int, **args: object) -> str:
        return json.dumps({"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": args})

    for info in trace.ranks:
        name = f"rank {info.rank} on {info.host}, process {info.pid}"
        yield metadata("process_name", info.rank + 1, 0, name=name)
        yield metadata("process_sort_index", info.rank + 1, 0, sort_index=info.rank)
    for tid, lane in enumerate(line.lanes, 1):
        yield metadata("thread_name", lane.rank + 1, tid, name=lane.name)
        yield metadata("thread_sort_index", lane.rank + 1, tid, sort_index=tid)


def note_event(note: str, line: Timeline) -> str:
    """Return a mark over all processes at the beginning."""
    pid = line.lanes[0].rank + 1 if line.lanes else 1
    return json.dumps({"ph": "i", "s": "g", "name": note, "cat": "note", "pid": pid, "tid": 1, "ts": 0})


def interval_events(trace: Trace, line: Timeline) -> Iterator[list[str]]:
    """Yield complete events: slices of tasks, parts of regions, operations of GPUs.

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
        columns = (pids[lane], lane + 1, begin // 1000, begin % 1000, length // 1000, length % 1000)
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


def flow_ends(trace: Trace, on_worker: OnWorker, line: Timeline) -> tuple[np.ndarray, int]:
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
    lanes = np.array([(lane.rank + 1, tid) for tid, lane in enumerate(line.lanes, 1)], np.int64).reshape(-1, 2)
    ends = []
    for place in (source[drawn], target[drawn]):
        begin, end = nanoseconds(on_worker.begin[place]), nanoseconds(on_worker.end[place])
        time = np.clip(nanoseconds(links["time"][drawn]), begin, np.maximum(begin, end - 1))
        ends.append(np.column_stack([lanes[line.slice_lane[on_worker.order[place]]], time]))
    return np.stack(ends, axis=1), int((~drawn).sum())


def flow_events(flows: np.ndarray) -> Iterator[list[str]]:
    common = '"cat":"link","name":"link","id":%d,"pid":%d,"tid":%d,"ts":%d.%03d}'
    pair = '{"ph":"s",' + common + ',\n{"ph":"f","bp":"e",' + common
    for start in range(0, len(flows), CHUNK):
        yield [
            pair % (k, *a, from_ns // 1000, from_ns % 1000, k, *b, to_ns // 1000, to_ns % 1000)
            for k, ((*a, from_ns), (*b, to_ns)) in enumerate(flows[start : start + CHUNK].tolist(), start)
        ]


def message_events(trace: Trace, line: Timeline, first: int) -> Iterator[list[str]]:
    """Yield flows from the sender of each message to its receiver; their ids count from `first`."""
    common = '"cat":"message","name":"message","id":%d,"pid":%d,"tid":%d,"ts":%d.%03d,"args":{"bytes":%d}}'
    pair = '{"ph":"s",' + common + ',\n{"ph":"f","bp":"e",' + common
    ends = []
    for name, lane, time in (("sender", line.sender_lane, "sent"), ("receiver", line.receiver_lane, "received")):
        ns = nanoseconds(trace.messages[time])
        ends += [trace.messages[name] + 1, lane + 1, ns // 1000, ns % 1000, trace.messages["bytes"]]
    for start in range(0, len(trace.messages), CHUNK):
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
