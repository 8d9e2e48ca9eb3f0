"""The page of a sweep, for applications without one of their own: a row for each run, with its answer."""

from __future__ import annotations

from html import escape
from pathlib import Path
from urllib.parse import quote

from plaq.data import page
from plaq.data.formatting import format_duration
from plaq.data.page import Html
from plaq.files.atomic import write_atomically
from plaq.run.table import STATUS, TABLE, read


def write(base: Path, program: str, digests: list[str]) -> Path:
    """Write ``report.html`` of the sweep in a folder from its table; return the path of the page."""
    keys, rows = read(base)
    over = " × ".join(keys) or "runs"
    failed = {i for i, row in enumerate(rows) if row[STATUS] == "failed"}
    body = ([*(row[key] for key in keys), answer(row), link(base, row["run"]), duration(row)] for row in rows)
    done = len(rows) - len(failed)
    parts = [f'<p class="over">{escape(program)} · sweep over {escape(over)}</p>',
             f"<h1>{done} run{'s' * (done != 1)}{f', {len(failed)} failed' if failed else ''}</h1>",
             page.table([*keys, "result", "report", "time"], body, "plain", failed=failed),
             f'<p class="note">All numbers with their errors: {TABLE}.</p>',
             page.collapsible("Digests of the results", f"<pre>{escape(chr(10).join(digests))}</pre>")]
    path = base / "report.html"
    write_atomically(path, page.frame(escape(f"{program} · sweep over {over}"), parts).encode())
    return path


def answer(row: dict[str, str]) -> str:
    """Return the first sentence of a run, or why it failed."""
    return row.get("in_words") or row.get("error_text") or row[STATUS]


def link(base: Path, run: str) -> str:
    """Return a link to the report of a run, if it has one."""
    if not (base / run / "report.html").exists():
        return ""
    return Html(f'<a href="{quote(run)}/report.html">{escape(run)}</a>')


def duration(row: dict[str, str]) -> str:
    return format_duration(float(row["seconds"])) if row.get("seconds") else ""
