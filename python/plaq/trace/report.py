"""``report.html``: a trace on one page, in one file that needs no network."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

import numpy as np

from plaq.files import write_atomically
from plaq.trace.model import Counter, Trace
from plaq.trace.on_worker import OnWorker
from plaq.trace.pack import Pack
from plaq.trace.palette import FILLS, looks
from plaq.trace.profile import busy, profile, time_text
from plaq.trace.timeline import Timeline, nanoseconds

PAGE = Path(__file__).with_name("page")
SCRIPTS = ("canvas", "units", "unpack", "model", "view", "paint", "looks")  # in the order in which they are read
SCRIPTS += ("timeline", "curves", "overlay", "words", "legend", "pointer", "main")
MAX_DEPTH = 8  # regions that are nested deeper share the last track
CURVE_STEPS = 1_000_000  # a counter of fractions is kept to this part of its largest value
SWITCHES = ("voluntary context switches", "involuntary context switches")
TOP = 10


def write_report(trace: Trace, path: Path) -> None:
    """Write the page of a trace. RunError when the file cannot be written."""
    write_atomically(path, page(trace).encode())


def page(trace: Trace) -> str:
    """The whole page as HTML: text and tables as such, the timeline as packed columns and a script that draws it."""
    meta, data = picture(trace)
    command = trace.metadata.get("command", "")
    template = (PAGE / "page.html").read_text()
    notes = "".join(f"<li>{escape(note)}</li>" for note in trace.notes)
    parts = {
        "title": escape(f"plaq trace · {command}" if command else "plaq trace"),
        "css": (PAGE / "page.css").read_text(),
        "command": f" · <code>{escape(str(command))}</code>" if command else "",
        "headline": escape(busy(trace)),
        "notes": f'<ul class="notes" role="alert">{notes}</ul>' if notes else "",
        "tables": tables(trace),
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


def picture(trace: Trace) -> tuple[dict, str]:
    """What the script needs: a few words and numbers as JSON, and the columns of `Pack`. Times are in whole ns.

    Items lie track after track; a track holds what one lane has at one depth, in the order of time. Each begins
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
    is_task = items["region"] < 0
    pack = Pack()
    pack.add("gap", items["begin"] - np.where(starts, 0, before))
    pack.add("length", items["end"] - items["begin"])
    pack.add("row", np.where(is_task, items["task"], items["region"]), differences=True)
    pack.add("region_name", items["name"][~is_task])
    pack.add("wait", waits(trace, on_worker)[slice_rows(timeline, trace)])
    add_tasks(pack, trace)
    pack.add("link_source", trace.links["source"], differences=True)
    pack.add("link_ahead", trace.links["target"] - trace.links["source"])
    pack.add("link_time", nanoseconds(trace.links["time"]), differences=True)
    counters = add_counters(pack, trace)
    seconds = np.bincount(items["name"], (items["end"] - items["begin"]) * 1e-9, len(trace.names))
    seen = np.flatnonzero(np.bincount(items["name"], minlength=len(trace.names)))
    first_tasks = np.flatnonzero(np.diff(trace.tasks["rank"], prepend=-1))
    meta = {
        "columns": pack.columns,
        "duration": int(nanoseconds(np.float64(trace.duration))),
        "names": trace.names,
        "looks": looks(trace.names, seconds),
        "order": seen[np.argsort(-seconds[seen], kind="stable")].tolist(),
        "fills": FILLS,
        "ranks": [info.rank for info in trace.ranks],
        "rank_starts": [(int(trace.tasks["rank"][row]), int(row)) for row in first_tasks],
        "lanes": [
            {
                "rank": lane.rank,
                "worker": lane.worker,
                "label": lane.name,
                "tracks": np.trim_zeros(count, "b").tolist(),
            }
            for lane, count in zip(timeline.lanes, tracks)
        ],
        "counters": counters,
    }
    return meta, pack.text()


def slice_rows(timeline: Timeline, trace: Trace) -> np.ndarray:
    """Rows of the slices in the order of the items: by lane and time."""
    slices = trace.slices
    return np.lexsort((nanoseconds(slices["end"]), nanoseconds(slices["begin"]), timeline.slice_lane))


def add_tasks(pack: Pack, trace: Trace) -> None:
    """Columns of the tasks: the parent as the number of rows to go back (0: none), the id as two halves."""
    tasks = trace.tasks
    row = np.arange(len(tasks))
    pack.add("task_name", tasks["name"])
    pack.add("task_parent", np.where(tasks["parent"] < 0, 0, row - tasks["parent"]))
    pack.add("task_id_high", (tasks["id"] >> np.uint64(32)).astype(np.int64), differences=True)
    pack.add("task_id_low", (tasks["id"] & np.uint64(0xFFFFFFFF)).astype(np.int64), differences=True)
    pack.add("task_finished", ~np.isnan(tasks["finished"]))


def waits(trace: Trace, on_worker: OnWorker) -> np.ndarray:
    """[slice] 1 + how many ns its task waited for a worker just before: since it was created, for a task's first
    slice, since it was ready, for a later one. 0 where that was not seen."""
    wait = np.full(len(trace.slices), -1, np.int64)
    ran = np.flatnonzero(np.diff(on_worker.first))
    ran = ran[~np.isnan(trace.tasks["created"][ran])]
    first = on_worker.first[ran]
    wait[on_worker.order[first]] = nanoseconds(on_worker.begin[first] - trace.tasks["created"][ran])
    task, time = trace.readies["task"], trace.readies["time"]
    following = on_worker.last_begun(task, time) + 1
    seen = following < on_worker.first[task + 1]
    following, time = following[seen], time[seen]
    wait[on_worker.order[following]] = nanoseconds(on_worker.begin[following] - time)
    return np.maximum(wait, -1) + 1


def add_counters(pack: Pack, trace: Trace) -> list[dict]:
    """Columns of all counters, one after the other, and for each what they mean."""
    found = []
    times, values = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for counter in sorted(trace.counters, key=lambda counter: -is_changing(counter)):
        finite = np.isfinite(counter.value)
        value = counter.value[finite]
        largest = np.abs(value).max(initial=0)
        whole = largest < 2**50 and (value == np.rint(value)).all()
        step = 1.0 if whole else float(largest) / CURVE_STEPS
        times.append(nanoseconds(counter.time[finite]))
        values.append(np.rint(value / step).astype(np.int64))
        entry = {"name": counter.name, "unit": counter.unit, "label": label(counter, trace)}
        found.append(entry | {"length": len(value), "step": step})
    pack.add("counter_time", np.concatenate(times), differences=True)
    pack.add("counter_value", np.concatenate(values), differences=True)
    return found


def is_changing(counter: Counter) -> bool:
    value = counter.value[np.isfinite(counter.value)]
    return bool(len(value) and (value != value[0]).any())


def label(counter: Counter, trace: Trace) -> str:
    """Whose counter it is."""
    parts = [f"rank {counter.rank}"] if len(trace.ranks) > 1 else []
    if counter.worker >= 0:
        parts.append(f"worker {counter.worker}")
    elif counter.thread >= 0:
        info = next(info for info in trace.ranks if info.rank == counter.rank)
        parts.append(info.threads[counter.thread])
    return ", ".join(parts) or "process"


def tables(trace: Trace) -> str:
    """What stands below the timeline."""
    parts = [
        f"<div><h2>Where the time went</h2>{top_table(trace)}</div>",
        f"<div><h2>Workers</h2>{worker_table(trace)}{switch_table(trace)}</div>",
    ]
    return f'<div class="columns">{"".join(parts)}</div>{about(trace)}'


def top_table(trace: Trace) -> str:
    """The names with most exclusive time."""
    rows = profile(trace)
    body = [
        [row.name, row.kind, f"{row.calls:,}".replace(",", " ")]
        + [time_text(seconds) for seconds in (row.inclusive, row.exclusive, row.mean, row.max)]
        + [row.share]
        for row in rows[:TOP]
    ]
    head = ["name", "kind", "calls", "inclusive", "exclusive", "mean", "max", "share"]
    left = len(rows) - len(body)
    more = f" {left} more names are in <code>plaq trace profile</code>." if left > 0 else ""
    return table(head, body, texts=2) + (
        '<p class="note">Time on a worker only: what a task was suspended for does not count. Exclusive time is '
        f"inclusive time without the regions inside; its share is of all names’ sum.{more}</p>"
    )


def worker_table(trace: Trace) -> str:
    """Tasks, busy time and idle rate of every worker."""
    slices = trace.slices
    body = []
    for info in trace.ranks:
        for worker in info.workers:
            here = (slices["rank"] == info.rank) & (slices["worker"] == worker)
            seconds = float((slices["end"] - slices["begin"])[here].sum())
            idle = 1 - seconds / trace.duration if trace.duration else 0.0
            name = f"rank {info.rank}, worker {worker}" if len(trace.ranks) > 1 else f"worker {worker}"
            body.append([name, f"{int(here.sum()):,}".replace(",", " "), time_text(seconds), max(idle, 0.0)])
    return table(["worker", "slices", "busy", "idle rate"], body) + (
        '<p class="note">Idle rate: the part of the whole trace in which the worker had no task.</p>'
    )


def switch_table(trace: Trace) -> str:
    """How often the kernel switched, for every thread that was sampled."""
    counts: dict[str, list[float]] = {}
    for counter in trace.counters:
        if counter.name in SWITCHES and len(counter.value):
            row = counts.setdefault(label(counter, trace), [0.0, 0.0])
            row[SWITCHES.index(counter.name)] += counter.value[-1] - counter.value[0]
    if not counts:
        return ""
    most = sorted(counts.items(), key=lambda item: -sum(item[1]))
    body = [[name, *(f"{count:,.0f}".replace(",", " ") for count in row)] for name, row in most[:TOP]]
    if len(most) > TOP:
        rest = np.sum([row for _, row in most[TOP:]], axis=0)
        body.append([f"{len(most) - TOP} more", *(f"{count:,.0f}".replace(",", " ") for count in rest)])
    return "<h2>Context switches of the kernel</h2>" + table(["thread", "voluntary", "involuntary"], body)


def table(head: list[str], body: list[list], texts: int = 1) -> str:
    """An HTML table; the first columns are texts, a number stands for a share and gets a bar."""
    cells = [f"<th{' class=text' if k < texts else ''}>{escape(name)}</th>" for k, name in enumerate(head)]
    lines = []
    for row in body:
        line = []
        for k, value in enumerate(row):
            if isinstance(value, float):
                line.append(f'<td class="share" style="--part:{100 * value:.1f}%">{100 * value:.1f} %</td>')
            else:
                line.append(f"<td{' class=text' if k < texts else ''}>{escape(value)}</td>")
        lines.append(f"<tr>{''.join(line)}</tr>")
    return (
        f'<div class="scroll"><table><thead><tr>{"".join(cells)}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def about(trace: Trace) -> str:
    """What was recorded where, folded away."""
    rows = [(name, value) for name, value in trace.metadata.items()]
    rows += [
        (
            f"rank {info.rank}",
            f"{info.host}, pid {info.pid}, clock: {info.clock}, lost events: {info.lost}, {info.end}",
        )
        for info in trace.ranks
    ]
    counted = (
        ("tasks", trace.tasks),
        ("slices", trace.slices),
        ("regions", trace.regions),
        ("links", trace.links),
    )
    rows += [(name, f"{len(rows_of):,}".replace(",", " ")) for name, rows_of in counted]
    body = "".join(f"<tr><td>{escape(str(a))}</td><td>{escape(str(b))}</td></tr>" for a, b in rows)
    return (
        "<details><summary>About this trace</summary>"
        f'<div class="scroll"><table class="plain"><tbody>{body}</tbody></table></div></details>'
    )
