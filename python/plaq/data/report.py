"""``report.html`` of estimates: the results of a run on one page, for applications without a page of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from plaq.data import page, results_file
from plaq.data.display import Drawing
from plaq.data.estimate import Axis, Estimate, with_error
from plaq.data.formatting import format_duration, format_number, vector
from plaq.data.results_file import Findings
from plaq.files.atomic import write_atomically
from plaq.trace.session import region

MOST_ROWS = 50


@region("report")
def write(folder: Path, program: str, drawn: Callable[[Findings], Mapping[str, Drawing]] = lambda findings: {}) -> Path:
    """Write the report of a run from its ``results.h5``; return its path.

    ``drawn`` returns the figures of findings by name. InputError if the file is not one of this program.
    """
    format = results_file.format_of(program)
    findings, toml, header = results_file.read(folder / "results.h5", format)
    first, *more = findings.answers() or ["No result"]
    parts = [
        f'<p class="over">{escape(program)}</p>',
        f"<h1>{page.markup(first)}</h1>",
        page.sentences(more),
        '<div class="figures">', *(drawing.html() for drawing in drawn(findings).values()),
        "</div>",
        "<h2>Results</h2>",
        quantity_table(findings.estimates),
        '<p class="note">Numbers in brackets are standard errors in units of the last digits; (?) marks one '
        "that the data cannot support.</p>",
        *tables_by_axis(findings.estimates), *tables_by_two_axes(findings.estimates),
        "<h2>How it ran</h2>",
        page.rows([*header.items(), *((f"time: {part}", format_duration(s)) for part, s in findings.seconds.items()),
                   ("digest of the results", results_file.digest_of(folder / "results.h5", format))]),
        page.collapsible("The input, with every key resolved", f"<pre>{escape(toml)}</pre>"),
    ]
    path = folder / "report.html"
    write_atomically(path, page.frame(escape(f"{program} · {first}"), parts).encode())
    return path


def quantity_table(estimates: Mapping[str, Estimate]) -> str:
    """Return the table of all quantities, those with one axis or two without their numbers.

    It has columns for optional properties: autocorrelation times in measurements, quality of fits, notes.
    """
    columns = [("value", value_in_words), ("unit", lambda e: e.unit), ("error by Γ", gamma_in_words),
               ("τ<sub>int</sub>", tau_in_words), ("p of chains", chains_in_words),
               ("fit", lambda e: e.fit),
               ("convention", lambda e: e.convention), ("note", lambda e: e.note)]
    columns = [(head, text) for head, text in columns if any(text(e) for e in estimates.values())]
    return page.table(["quantity", *(head for head, _ in columns)],
                      ([name, *(text(e) for _, text in columns)] for name, e in estimates.items()),
                      doubtful=[i for i, e in enumerate(estimates.values()) if e.note])


def value_in_words(e: Estimate) -> str:
    """Return the value with its error, or for an array the table that has it."""
    if 0 < e.mean.ndim < 3 and len(e.axes) == e.mean.ndim:
        return f"below, by {' and '.join(axis.name for axis in e.axes)}"
    return str(e)


def gamma_in_words(e: Estimate) -> str:
    """Return the error of a number by the Gamma method with its own error, if it is known."""
    if e.gamma is None or e.mean.ndim or np.iscomplexobj(e.mean) or not 0 < e.gamma.error < np.inf:
        return ""
    return with_error(float(e.gamma.error), float(e.gamma.error_error))


def chains_in_words(e: Estimate) -> str:
    """Return the probability that averages of chains differ as they do, of an array the smallest one."""
    if e.gamma is None or np.isnan(e.gamma.replica_p).all():
        return ""
    return format_number(float(np.nanmin(e.gamma.replica_p)), ".2g")


def tau_in_words(e: Estimate) -> str:
    """Return the autocorrelation time with its error, if there are any."""
    if e.tau_int is None or e.tau_int_error is None:
        return ""
    return f"{e.tau_int:.1f} ± {e.tau_int_error:.1f}"


def tables_by_axis(estimates: Mapping[str, Estimate]) -> Iterator[str]:
    """Yield a table of the quantities with one axis, for each axis that some of them have."""
    groups: dict[tuple[str, str], dict[str, Estimate]] = {}
    for name, e in estimates.items():
        if e.mean.ndim == 1 and len(e.axes) == 1:
            groups.setdefault((e.axes[0].name, e.axes[0].unit), {})[name] = e
    for (axis, unit), group in groups.items():
        yield titled_table(f"By {axis}{f' / {unit}' if unit else ''}", thin_rows(sorted(
            {x for e in group.values() for x in marks(e.axes[0])})), lambda rows: page.table(
                [page.markup(axis), *map(page.markup, group)],
                ([in_words(x, unit), *(value_at(e, axis, x) for e in group.values())] for x in rows), "plain"))


def tables_by_two_axes(estimates: Mapping[str, Estimate]) -> Iterator[str]:
    """Yield a table for each quantity with two axes."""
    for name, e in estimates.items():
        if e.mean.ndim == 2 and len(e.axes) == 2:
            first, second = e.axes
            columns = thin_rows(marks(second))[0]
            yield titled_table(f"{name} by {axis_in_words(first)} and {axis_in_words(second)}", thin_rows(marks(first)),
                         lambda rows: page.table(
                             [page.markup(first.name), *(f"{second.name} = {in_words(y, second.unit)}"
                                                         for y in columns)],
                             ([in_words(x, first.unit), *(value_at(row, second.name, y) for y in columns)]
                              for x in rows for row in [e.pick(**{first.name: position(first, x)})]), "plain"))


def marks(axis: Axis) -> list[Any]:
    """Return the values of an axis, vectors as tuples."""
    return [tuple(value) if np.ndim(value) else value for value in np.asarray(axis.values).tolist()]


def in_words(mark: Any, unit: str) -> str:
    return vector(mark, unit) if isinstance(mark, tuple) else page.cell(mark)


def axis_in_words(axis: Axis) -> str:
    return f"{axis.name} / {axis.unit}" if axis.unit else axis.name


def titled_table(title: str, rows: tuple[list[Any], bool], table: Callable[[list[Any]], str]) -> str:
    """Return a table of values along an axis under its title, with a note if rows are left out."""
    shown, all_shown = rows
    more = "" if all_shown else '<p class="note">Some of the rows; all are in results.h5.</p>'
    return f"<h3>{page.markup(title)}</h3>{table(shown)}{more}"


def thin_rows(values: list[Any]) -> tuple[list[Any], bool]:
    """Return at most `MOST_ROWS` of the values, from the first to the last, and whether those are all."""
    if len(values) <= MOST_ROWS:
        return values, True
    shown = np.unique(np.linspace(0, len(values) - 1, MOST_ROWS).round().astype(int))
    return [values[i] for i in shown], False


def position(axis: Axis, value: Any) -> int | None:
    """Return the index of a value on an axis; None if the axis lacks it."""
    there = marks(axis)
    return there.index(value) if value in there else None


def value_at(e: Estimate, axis: str, value: Any) -> str:
    """Return the value of an estimate at a position of one axis, with its error; empty if it has none."""
    i = position(e.axes[0], value)
    if i is None:
        return ""
    entry = e.pick(**{axis: i})
    return str(entry) if np.isfinite(entry.mean) else "–"
