"""``report.html``: a trace on one page, in one file that needs no network."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from html import escape
from pathlib import Path

import numpy as np

from plaq.files.atomic import write_atomically
from plaq.trace.curves import Strip, strips_of
from plaq.trace.elements import counters_of, elements_of
from plaq.trace.elements_page import maps
from plaq.trace.model import Trace
from plaq.trace.on_worker import OnWorker
from plaq.trace.pack import Pack
from plaq.trace.palette import FILLS, WAITING, styles_of
from plaq.trace.profile import Row, busy, profile
from plaq.trace.report_tables import tables
from plaq.trace.timeline import Timeline, nanoseconds
from plaq.trace.waiting import waiting_names

PAGE = Path(__file__).with_name("page")
SCRIPTS = ("canvas", "units", "unpack", "model", "messages")  # in the order of reading
SCRIPTS += ("exclusive", "view", "paint", "looks")
SCRIPTS += ("timeline", "curves", "overlay", "words", "legend", "search", "statistics", "pointer", "main")
MAX_DEPTH = 8  # regions that are nested deeper share the last track
CURVE_STEPS = 1_000_000  # fractions are kept to this part of the largest value of their curve


def write_report(trace: Trace, path: Path) -> None:
    """Write the page of a trace. RunError if the file cannot be written."""
    write_atomically(path, page(trace).encode())


def page(trace: Trace) -> str:
    """Return the whole page: text and tables as HTML, the timeline as packed columns and a script that draws it."""
    elements = elements_of(trace)
    trace = replace(trace, counters=[*trace.counters, *counters_of(elements, trace)])
    rows = profile(trace)
    meta, data = picture(trace, rows)
    command = trace.metadata.get("command", "")
    template = (PAGE / "page.html").read_text()
    notes = "".join(f"<li>{escape(note)}</li>" for note in trace.notes)
    parts = {
        "title": escape(f"plaq trace · {command}" if command else "plaq trace"),
        "css": (PAGE / "page.css").read_text(),
        "command": f" · <code>{escape(str(command))}</code>" if command else "",
        "headline": escape(busy(trace)),
        "notes": f'<ul class="notes" role="alert">{notes}</ul>' if notes else "",
        "tables": maps(elements, trace) + tables(trace, rows, dict(zip(trace.names, meta["looks"]))),
        "meta": json.dumps(meta, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c"),
        "data": data,
        "script": "".join((PAGE / f"{name}.js").read_text() for name in SCRIPTS),
    }
    before, *rest = template.split("{")
    pieces = [before]
    for piece in rest:
        name, after = piece.split("}", 1)
        pieces += [parts[name], after]
    return "".join(pieces)


def picture(trace: Trace, rows: list[Row]) -> tuple[dict, str]:
    """Return the input of the script: words and numbers as JSON, and the columns of `Pack`. Times are in whole ns.

    Items lie track after track; a track holds the items of one lane at one depth, in the order of time. Each begins
    `gap` after the end of the one before it in its track (the first after 0).
    """
    on_worker = OnWorker(trace)
    timeline = Timeline(trace, on_worker)
    items = timeline.intervals
    depth = np.minimum(items["depth"], MAX_DEPTH - 1)
    order = np.lexsort((items["begin"], depth, items["lane"]))
    items, depth = items[order], depth[order]
    tracks = np.zeros((len(timeline.lanes), MAX_DEPTH), np.int64)
    np.add.at(tracks, (items["lane"], depth), 1)
    starts = np.concatenate([[True], np.diff(items["lane"] * MAX_DEPTH + depth) != 0])[: len(items)]
    before = np.concatenate([[0], items["end"][:-1]])[: len(items)]
    is_task, on_gpu = (items["region"] < 0) & (items["gpu"] < 0), items["gpu"] >= 0
    pack = Pack()
    pack.add("gap", items["begin"] - np.where(starts, 0, before))
    pack.add("length", items["end"] - items["begin"])
    row = np.where(is_task, items["task"], np.where(on_gpu, items["gpu"], items["region"]))
    pack.add("row", row, differences=True)
    pack.add("region_name", items["name"][~is_task])
    pack.add("wait", waits(trace, on_worker)[items["slice"][is_task]])
    add_tasks(pack, trace)
    pack.add("gpu_task", trace.gpu["task"])
    pack.add("gpu_bytes", trace.gpu["bytes"])
    pack.add("link_source", trace.links["source"], differences=True)
    pack.add("link_ahead", trace.links["target"] - trace.links["source"])
    pack.add("link_time", nanoseconds(trace.links["time"]), differences=True)
    add_messages(pack, trace, timeline)
    strips = add_curves(pack, strips_of(trace))
    own = Counter()  # a region that consists of others needs no colour of its own
    for row in rows:
        own[row.name] += row.exclusive
    seconds = np.array([own[name] for name in trace.names])
    shown = np.flatnonzero(np.bincount(items["name"], minlength=len(trace.names)))
    first_tasks = np.flatnonzero(np.diff(trace.tasks["rank"], prepend=-1))
    meta = {
        "columns": pack.columns,
        "duration": int(nanoseconds(np.float64(trace.duration))),
        "names": trace.names,
        "looks": styles_of(trace.names, seconds, waiting_names(trace)),
        "order": shown[np.argsort(-seconds[shown], kind="stable")].tolist(),
        "fills": FILLS,
        "waiting": WAITING,
        "ranks": [info.rank for info in trace.ranks],
        "rank_starts": [(int(trace.tasks["rank"][row]), int(row)) for row in first_tasks],
        "lanes": [
            {
                "rank": lane.rank,
                "worker": lane.worker,
                "gpu": lane.gpu,
                "label": lane.name,
                "tracks": np.trim_zeros(count, "b").tolist(),
            }
            for lane, count in zip(timeline.lanes, tracks)
        ],
        "strips": strips,
    }
    return meta, pack.text()


def add_tasks(pack: Pack, trace: Trace) -> None:
    """Add columns of the tasks: the parent as the number of rows to go back (0: none), the id as two halves."""
    tasks = trace.tasks
    row = np.arange(len(tasks))
    pack.add("task_name", tasks["name"])
    pack.add("task_parent", np.where(tasks["parent"] < 0, 0, row - tasks["parent"]))
    pack.add("task_id_high", (tasks["id"] >> np.uint64(32)).astype(np.int64), differences=True)
    pack.add("task_id_low", (tasks["id"] & np.uint64(0xFFFFFFFF)).astype(np.int64), differences=True)
    pack.add("task_finished", ~np.isnan(tasks["finished"]))


def add_messages(pack: Pack, trace: Trace, timeline: Timeline) -> None:
    """Add columns of the messages: lanes of both ends, bytes, when each was sent, and the ns until it had arrived."""
    sent = nanoseconds(trace.messages["sent"])
    pack.add("message_from", timeline.sender_lane)
    pack.add("message_to", timeline.receiver_lane)
    pack.add("message_bytes", trace.messages["bytes"])
    pack.add("message_sent", sent, differences=True)
    pack.add("message_takes", nanoseconds(trace.messages["received"]) - sent)


def waits(trace: Trace, on_worker: OnWorker) -> np.ndarray:
    """Return [slice] 1 + the ns for which its task waited for a worker just before; 0 if that was not recorded.

    The wait begins at the creation for a task's first slice, and when it was ready for a later one.
    """
    wait = np.full(len(trace.slices), -1, np.int64)
    ran = np.flatnonzero(np.diff(on_worker.first))
    ran = ran[~np.isnan(trace.tasks["created"][ran])]
    first = on_worker.first[ran]
    wait[on_worker.order[first]] = nanoseconds(on_worker.begin[first] - trace.tasks["created"][ran])
    task, time = trace.readies["task"], trace.readies["time"]
    following = on_worker.last_begun(task, time) + 1
    shown = following < on_worker.first[task + 1]
    following, time = following[shown], time[shown]
    wait[on_worker.order[following]] = nanoseconds(on_worker.begin[following] - time)
    return np.maximum(wait, -1) + 1


def add_curves(pack: Pack, strips: list[Strip]) -> list[dict]:
    """Add columns of all curves, one after the other, with their meaning. Values count steps of their curve."""
    times, values, meta = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], []
    for strip in strips:
        series = []
        for name, (time, value) in zip(strip.labels, strip.curves):
            largest = np.abs(value).max(initial=0)
            whole = largest < 2**50 and (value == np.rint(value)).all()
            step = 1.0 if whole else float(largest) / CURVE_STEPS
            times.append(time)
            values.append(np.rint(value / step).astype(np.int64))
            series.append({"label": name, "length": len(value), "step": step})
        meta.append({"name": strip.name, "unit": strip.unit, "series": series})
    pack.add("counter_time", np.concatenate(times), differences=True)
    pack.add("counter_value", np.concatenate(values), differences=True)
    return meta
