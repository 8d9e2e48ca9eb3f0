"""``report.html`` of estimates: what a run found on one page, for applications that have no page of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from html import escape
from pathlib import Path

import numpy as np

from plaq.data import page, results_file
from plaq.data.estimate import Axis, Estimate
from plaq.data.formatting import format_duration
from plaq.data.results_file import Findings
from plaq.files.atomic import write_atomically
from plaq.trace.session import region

MOST_ROWS = 50


@region("report")
def write(folder: Path, program: str, drawn: Callable[[Findings], list[str]] = lambda findings: []) -> Path:
    """Write the report of a run from its ``results.h5``, with what ``drawn`` makes figures of (`page.figure`); its
    path. InputError when that is not one of this program."""
    format = results_file.format_of(program)
    findings, toml, header = results_file.read(folder / "results.h5", format)
    first, *more = findings.answers() or ["No result"]
    parts = [
        f'<p class="over">{escape(program)}</p>',
        f"<h1>{page.markup(first)}</h1>",
        *(f'<p class="sentence">{page.markup(sentence)}</p>' for sentence in more),
        '<div class="figures">', *drawn(findings), "</div>",
        "<h2>Results</h2>",
        numbers(findings.estimates),
        '<p class="note">Numbers in brackets are standard errors in units of the last digits; (?) marks one '
        "that the data cannot support.</p>",
        *along_axes(findings.estimates), *in_planes(findings.estimates),
        "<h2>How it ran</h2>",
        page.rows([*header.items(), *((f"time: {part}", format_duration(s)) for part, s in findings.seconds.items()),
                   ("digest of the results", results_file.digest_of(folder / "results.h5", format))]),
        page.folded("The input, with every key resolved", f"<pre>{escape(toml)}</pre>"),
    ]
    path = folder / "report.html"
    write_atomically(path, page.frame(escape(f"{program} · {first}"), parts).encode())
    return path


def numbers(estimates: Mapping[str, Estimate]) -> str:
    """The table of all quantities, those with one axis or two without their numbers; with columns for what some of
    them have: autocorrelation times, in measurements, quality of fits, notes."""
    columns = [("value", value_in_words), ("unit", lambda e: e.unit), ("τ<sub>int</sub>", tau_in_words),
               ("fit", lambda e: e.fit),
               ("convention", lambda e: e.convention), ("note", lambda e: e.note)]
    columns = [(head, text) for head, text in columns if any(text(e) for e in estimates.values())]
    return page.table(["quantity", *(head for head, _ in columns)],
                      ([name, *(text(e) for _, text in columns)] for name, e in estimates.items()),
                      doubtful=[i for i, e in enumerate(estimates.values()) if e.note])


def value_in_words(e: Estimate) -> str:
    """The value with its error, of an array where it stands."""
    if 0 < e.mean.ndim < 3 and len(e.axes) == e.mean.ndim:
        return f"below, by {' and '.join(axis.name for axis in e.axes)}"
    return str(e)


def tau_in_words(e: Estimate) -> str:
    """The autocorrelation time with its error, where there are any."""
    if e.tau_int is None or e.tau_int_error is None:
        return ""
    return f"{e.tau_int:.1f} ± {e.tau_int_error:.1f}"


def along_axes(estimates: Mapping[str, Estimate]) -> Iterator[str]:
    """A table of the quantities with one axis, for each axis that some of them have."""
    groups: dict[tuple[str, str], dict[str, Estimate]] = {}
    for name, e in estimates.items():
        if e.mean.ndim == 1 and len(e.axes) == 1:
            groups.setdefault((e.axes[0].name, e.axes[0].unit), {})[name] = e
    for (axis, unit), group in groups.items():
        yield titled(f"By {axis}{f' / {unit}' if unit else ''}", few(np.unique(np.concatenate(
            [e.axes[0].values for e in group.values()]))), lambda rows: page.table(
                [page.markup(axis), *map(page.markup, group)],
                ([page.cell(x), *(at(e, axis, x) for e in group.values())] for x in rows), "plain"))


def in_planes(estimates: Mapping[str, Estimate]) -> Iterator[str]:
    """A table for each quantity with two axes."""
    for name, e in estimates.items():
        if e.mean.ndim == 2 and len(e.axes) == 2:
            first, second = e.axes
            columns = few(second.values)[0]
            yield titled(f"{name} by {axis_in_words(first)} and {axis_in_words(second)}", few(first.values),
                         lambda rows: page.table(
                             [page.markup(first.name), *(f"{second.name} = {page.cell(y)}" for y in columns)],
                             ([page.cell(x), *(at(one, second.name, y) for y in columns)]
                              for x in rows for one in [e.pick(**{first.name: position(first, x)})]), "plain"))


def axis_in_words(axis: Axis) -> str:
    return f"{axis.name} / {axis.unit}" if axis.unit else axis.name


def titled(title: str, rows: tuple[np.ndarray, bool], table: Callable[[np.ndarray], str]) -> str:
    """A table of values along an axis under its title, which says where there are more than are shown."""
    shown, all_shown = rows
    more = "" if all_shown else '<p class="note">Some of the rows; all are in results.h5.</p>'
    return f"<h3>{page.markup(title)}</h3>{table(shown)}{more}"


def few(values: np.ndarray) -> tuple[np.ndarray, bool]:
    """At most `MOST_ROWS` of them, from the first to the last; whether those are all."""
    if len(values) <= MOST_ROWS:
        return values, True
    return values[np.unique(np.linspace(0, len(values) - 1, MOST_ROWS).round().astype(int))], False


def position(axis: Axis, value: float) -> int | None:
    """Index of a value on an axis; None where the axis lacks it."""
    found = np.flatnonzero(axis.values == value)
    return int(found[0]) if found.size else None


def at(e: Estimate, axis: str, value: float) -> str:
    """The number of an estimate with one axis there, with its error; nothing where it has none."""
    i = position(e.axes[0], value)
    if i is None:
        return ""
    one = e.pick(**{axis: i})
    return str(one) if np.isfinite(one.mean) else "–"
