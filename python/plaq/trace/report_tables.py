"""Tables of a trace's page: times, workers, context switches, and the content of the recording."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import repeat

import numpy as np

from plaq.trace.curves import label
from plaq.trace.model import Trace
from plaq.trace.palette import FILLS, STYLES, WAITING
from plaq.trace.profile import Row, time_text
from plaq.trace.waiting import waiting_on_workers

SWITCHES = ("voluntary context switches", "involuntary context switches")
TOP = 10
MINOR = ("kind", "mean", "max", "slices")  # columns that a narrow screen leaves out


def tables(trace: Trace, rows: list[Row], style_of: dict[str, int]) -> str:
    """Return the part of the page below the timeline."""
    parts = [
        f"<div><h2>Where the time went</h2>{top_table(trace, rows, style_of)}</div>",
        f"<div><h2>Workers</h2>{worker_table(trace)}{switch_table(trace)}</div>",
    ]
    return f'<div class="columns">{"".join(parts)}</div>{about(trace)}'


def top_table(trace: Trace, rows: list[Row], style_of: dict[str, int]) -> str:
    """Return the names with most exclusive time."""
    body = [
        [row.name, row.kind, number(row.calls)]
        + [time_text(seconds) for seconds in (row.inclusive, row.exclusive, row.mean, row.max)]
        + ["–" if row.kind == "waiting" else row.share, *map(number, row.counts.values())]
        for row in rows[:TOP]
    ]
    head = ["name", "kind", "calls", "inclusive", "exclusive", "mean", "max", "share", *trace.counted]
    left = len(rows) - len(body)
    counts = f" {', '.join(trace.counted).capitalize()}: exclusive, in user mode." if trace.counted else ""
    more = f" {left} more names are in <code>plaq trace profile</code>." if left > 0 else ""
    return table(head, body, 2, [swatch(style_of[row.name]) for row in rows[:TOP]]) + (
        '<p class="note">Time on a worker only: suspensions do not count. Exclusive time is '
        "inclusive time without the regions inside; its share is of the sum of all names that do not wait."
        f"{counts}{more}</p>"
    )


def worker_table(trace: Trace) -> str:
    """Return tasks, time of work and of waiting, and idle rate of every worker."""
    slices = trace.slices
    waiting_slice, waited = waiting_on_workers(trace)
    waits = np.bincount(waiting_slice, waited, len(slices))
    body = []
    for info in trace.ranks:
        for worker in info.workers:
            in_worker = (slices["rank"] == info.rank) & (slices["worker"] == worker)
            seconds = float((slices["end"] - slices["begin"])[in_worker].sum())
            waiting = float(waits[in_worker].sum())
            idle = 1 - seconds / trace.duration if trace.duration else 0.0
            name = f"rank {info.rank}, worker {worker}" if len(trace.ranks) > 1 else f"worker {worker}"
            body.append([name, number(int(in_worker.sum())), time_text(seconds - waiting), time_text(waiting),
                         max(idle, 0.0)])
    return table(["worker", "slices", "work", "waiting", "idle rate"], body) + (
        '<p class="note">Waiting: a task kept its worker while it waited, as in a blocking call between ranks. '
        "Idle rate: the part of the whole trace in which the worker had no task.</p>"
    )


def switch_table(trace: Trace) -> str:
    """Return the number of context switches of every thread that was sampled."""
    counts: dict[str, list[float]] = {}
    for counter in trace.counters:
        if counter.name in SWITCHES and len(counter.value):
            row = counts.setdefault(label(counter, trace), [0.0, 0.0])
            row[SWITCHES.index(counter.name)] += counter.value[-1] - counter.value[0]
    if not counts:
        return ""
    most = sorted(counts.items(), key=lambda item: -sum(item[1]))
    body = [[name, *(number(count) for count in row)] for name, row in most[:TOP]]
    if len(most) > TOP:
        rest = np.sum([row for _, row in most[TOP:]], axis=0)
        body.append([f"{len(most) - TOP} more", *(number(count) for count in rest)])
    return "<h2>Context switches of the kernel</h2>" + table(["thread", "voluntary", "involuntary"], body)


def swatch(style: int) -> str:
    """Return a small field in the colour of a name."""
    fill = (*FILLS, *FILLS, "var(--other)", "var(--waiting)")[style]
    light = f"color-mix(in srgb,{fill} 55%,white)"
    striped = f"repeating-linear-gradient(135deg,{fill} 0 3px,{light} 3px 5px)"
    return ('<i class="swatch" '
            f'style="background:{striped if len(FILLS) <= style < STYLES or style == WAITING else fill}"></i>')


def table(head: list[str], body: list[list], texts: int = 1, marks: Iterable[str] = repeat("")) -> str:
    """Return an HTML table.

    The first columns are texts, a row begins with its mark, a number is a share with a bar.
    """
    kinds = [" ".join(["text"] * (k < texts) + ["minor"] * (name in MINOR)) for k, name in enumerate(head)]
    classes = [f' class="{kind}"' if kind else "" for kind in kinds]
    cells = [f"<th{kind}>{escape(name)}</th>" for kind, name in zip(classes, head)]
    lines = []
    for row, mark in zip(body, marks):
        line = []
        for k, value in enumerate(row):
            if isinstance(value, float):
                line.append(f'<td class="share" style="--part:{100 * value:.1f}%">{100 * value:.1f} %</td>')
            else:
                text = mark * (k == 0) + escape(value)
                line.append(f"<td{classes[k]}>{text}</td>")
        lines.append(f"<tr>{''.join(line)}</tr>")
    return (
        f'<div class="scroll"><table><thead><tr>{"".join(cells)}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def number(value: float) -> str:
    """Return a whole number, its digits in groups of three."""
    return f"{value:,.0f}".replace(",", "\u202f")


def about(trace: Trace) -> str:
    """Return the properties of the recording, collapsed."""
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
    rows += [(name, number(len(rows_of))) for name, rows_of in counted]
    body = "".join(f"<tr><td>{escape(str(a))}</td><td>{escape(str(b))}</td></tr>" for a, b in rows)
    return (
        "<details><summary>About this trace</summary>"
        f'<div class="scroll"><table class="plain"><tbody>{body}</tbody></table></div></details>'
    )
