"""``report.html`` of a run of ``plaq pic``: energies, conservation, fields, densities, phase space, ranks."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from plaq.data import page, results_file
from plaq.data.formatting import format_duration
from plaq.files.atomic import write_atomically
from plaq.pic.inputs.table import PROGRAM
from plaq.pic.results.drawings import drawings
from plaq.pic.results.results import FORMAT, Results, read_results
from plaq.trace.session import region


@region("report")
def write_report(folder: Path) -> Path:
    """Write the report from a run's ``results.h5`` and return its path. InputError where that is not valid."""
    results, toml, header = read_results(folder / "results.h5")
    path = folder / "report.html"
    write_atomically(path,
                     report_html(results, toml, header, results_file.digest_of(folder / "results.h5", FORMAT)).encode())
    return path


def report_html(results: Results, toml: str, header: dict[str, Any], digest: str) -> str:
    """Return the page as HTML."""
    first, *more = results.answers()
    parts = [
        f'<p class="over">{PROGRAM} · {escape(str(header.get("grid", "")))} · '
        f'{escape(str(header.get("units", "")))}</p>',
        f"<h1>{page.markup(first)}</h1>",
        page.sentences([f"{sentence}." for sentence in more]),
        '<div class="figures">', *(drawing.html() for drawing in drawings(results).values()),
        "</div>",
        "<h2>Results</h2>",
        page.table(("result", "shape", "unit", "formula"), rows(results), "plain"),
        '<p class="note">All results are in results.h5, in recorded/. W = n_0 (c/ω_p)^D.</p>',
        "<h2>Run</h2>",
        page.rows([*header.items(), *((f"time: {part}", format_duration(s)) for part, s in results.seconds.items()),
                   *balances(results), ("digest of the results", digest)]),
        page.collapsible("The input, with every key resolved", f"<pre>{escape(toml)}</pre>"),
    ]
    return page.frame(escape(f"{PROGRAM} · {first}"), parts)


def rows(results: Results) -> list[tuple[str, str, str, str]]:
    """Return name, shape, unit and formula of all records."""
    return [(name, " x ".join(f"{axis.name}: {axis.size}" for axis in recorded.axes), recorded.unit,
             recorded.convention) for name, recorded in results.recorded.items()]


def balances(results: Results) -> list[tuple[str, str]]:
    """Return a row on the patches that moved between ranks, if any did."""
    moves = [move for move in results.history.get("moves", []) if move["moved"]]
    if not moves:
        return []
    last = moves[-1]
    return [("patches moved", f"{len(moves)} times; the last time, at step {last['step']}, {int(last['moved'])} "
             f"of them: the rank with the most work had {1 + last['before']:.3g} times the mean, "
             f"{1 + last['predicted']:.3g} as planned, at least {1 + last['floor']:.3g}")]
