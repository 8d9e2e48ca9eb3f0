"""``report.html`` of estimates: what a run found on one page, for applications that have no page of their own."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path

from plaq.data import page, results_file
from plaq.data.results_file import Findings
from plaq.data.words import duration
from plaq.files.atomic import write_atomically
from plaq.trace.session import region


@region("report")
def write(folder: Path, program: str, drawn: Callable[[Findings], list[str]] = lambda findings: []) -> Path:
    """Write the report of a run from its ``results.h5``, with what ``drawn`` makes figures of (`page.figure`); its
    path. InputError when that is not one of this program."""
    format = results_file.format_of(program)
    findings, toml, header = results_file.read(folder / "results.h5", format)
    first, *more = findings.answers() or ["No result"]
    numbers = [(name, str(e), e.unit, e.convention, e.note) for name, e in findings.estimates.items()]
    notes = any(e.note for e in findings.estimates.values())
    heads = ("quantity", "value", "unit", "convention", *(("note",) if notes else ()))
    parts = [
        f'<p class="over">{escape(program)}</p>',
        f"<h1>{page.markup(first)}</h1>",
        *(f'<p class="sentence">{page.markup(sentence)}</p>' for sentence in more),
        '<div class="figures">', *drawn(findings), "</div>",
        "<h2>Results</h2>",
        page.table(heads, (row[:len(heads)] for row in numbers)),
        '<p class="note">Numbers in brackets are standard errors in units of the last digits; (?) marks one '
        "that the data cannot support.</p>",
        "<h2>How it ran</h2>",
        page.rows([*header.items(), *((f"time: {part}", duration(s)) for part, s in findings.seconds.items()),
                   ("digest of the results", results_file.digest_of(folder / "results.h5", format))]),
        page.folded("The input, with every key resolved", f"<pre>{escape(toml)}</pre>"),
    ]
    path = folder / "report.html"
    write_atomically(path, page.frame(escape(f"{program} · {first}"), parts).encode())
    return path
