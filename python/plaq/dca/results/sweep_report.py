"""The page of a sweep: a phase diagram over what was swept, and every quantity of every run."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from urllib.parse import quote

import numpy as np
from matplotlib.figure import Figure

from plaq.data.display import Drawing, save
from plaq.data.estimate import with_error
from plaq.data.figures import Theme, subplots
from plaq.data.formatting import format_duration, format_number, momentum
from plaq.data.page import Html, collapsible, frame, markup, table
from plaq.data.tables import to_csv
from plaq.dca.physics import checks
from plaq.dca.physics.instabilities import Instability
from plaq.dca.physics.response import responses
from plaq.dca.results import equation_of_state, phase_diagram
from plaq.dca.results.phase_diagram import across, label_of
from plaq.dca.results.plot import math
from plaq.dca.results.report_tables import COLUMNS, RESPONSES, heading
from plaq.dca.results.sweep_table import PHASES, Entry, digests, read
from plaq.dca.units import measured, over
from plaq.files.atomic import write_atomically
from plaq.run.table import TABLE
from plaq.trace.session import region

EQUATION = "equation_of_state.csv"
SIZE = (5.2, 5.0)
MARKERS = "osDPX*"  # triangles are bounds


@region("report")
def write_page(base: Path) -> Path:
    """Write ``report.html`` and ``figures/`` of the sweep in a folder, from ``sweep.csv`` and the runs' results.

    Returns the path of the page. InputError when it is no sweep, RunError when nothing can be written.
    """
    entries = read(base)
    save(drawings(entries), base)
    if table := equation_of_state.rows(entries):
        write_atomically(base / EQUATION, to_csv(table, ("run",)).encode())
    write_atomically(base / "report.html", page(entries, digests(base, entries)).encode())
    return base / "report.html"


def page(entries: list[Entry], digest: list[str]) -> str:
    """Return the whole page as HTML."""
    keys = list(entries[0].axes) if entries else []
    over = " × ".join(keys) or "runs"
    parts = "".join(drawing.html() for drawing in drawings(entries).values())
    title = escape(f"plaq dca · sweep over {over}")
    return frame(title, [
        f'<p class="over">plaq dca · sweep over {escape(over)}</p>',
        f"<h1>{markup(headline(entries))}</h1>",
        f'<p class="sentence">{markup(sentence(entries))}</p>',
        warnings(entries),
        f'<div class="figures">{parts}</div>',
        phases(entries),
        "<h2>Runs</h2>",
        run_table(entries, keys),
        "<h2>Results by run and temperature</h2>",
        point_table(entries),
        '<p class="note">Numbers in brackets are standard errors in units of the last digits; (?) marks one '
        f"that the data cannot support. The same numbers in full: {TABLE}, sweep_points.csv.</p>",
        collapsible("Digests of the results", f"<pre>{escape(chr(10).join(digest))}</pre>"),
    ])


def headline(entries: list[Entry]) -> str:
    """Return the highest T_c, or the number of runs."""
    best = max(found(entries), key=lambda pair: pair[1].transition.value, default=None)
    if best is None:
        return f"{len(entries)} run{'' if len(entries) == 1 else 's'}"
    entry, order = best
    T = with_error(order.transition.value, order.transition.error)
    at = ", ".join(f"{key.rpartition('.')[2]} = {value}" for key, value in entry.axes.items())
    return f"T_c = {measured(T, entry.results.unit)} at {at or entry.name}"


def found(entries: list[Entry]) -> list[tuple[Entry, Instability]]:
    """Return the runs that found T_c, with its order."""
    return [(entry, order) for entry in entries for order in entry.orders
            if order.is_pairing and order.status == "found"]


def sentence(entries: list[Entry]) -> str:
    """Return the numbers of runs that found T_c, a bound, nothing, or failed."""
    words = {"found": "found T_c", "bound": "have a bound for T_c", "not measured": "did not measure it",
             "failed": "failed", "damaged": "have damaged results"}
    counts = {status: sum(entry.status == status for entry in entries) for status in words}
    texts = [f"{count} {words[status]}" for status, count in counts.items() if count]
    others = dict.fromkeys(order.name for entry in entries for order in entry.orders
                           if not order.is_pairing and order.status == "found")
    text = f"Of {len(entries)} runs {', '.join(texts)}." if entries else "No run has ended."
    return text + (f" Found as well: {', '.join(others)}." if others else "")


def warnings(entries: list[Entry]) -> str:
    """Return the runs with failed checks, as a paragraph."""
    names = [entry.name for entry in entries if entry.results and entry.results.warnings(entry.target_density)]
    return (f'<p class="doubt"><b>Warnings.</b> Some temperatures of {escape("; ".join(names))}: see the tables.</p>'
            if names else "")


def phases(entries: list[Entry]) -> str:
    """Return the numbers of the phase diagram; empty without any."""
    if not phase_diagram.drawn(entries):
        return ""
    return (f"<h2>Phase diagram</h2>{phase_diagram.table(entries, unit_of_all(entries))}"
            f'<p class="note">&lt; and &gt;: the temperature lies below or above; T*: maximum of χ<sub>s</sub>(q = 0) '
            f"of the cluster. The same in full: {PHASES}.</p>")


def run_table(entries: list[Entry], keys: list[str]) -> str:
    """Return one row per run: the axes, the transitions, and a link to its own page."""
    labels = {order.observable: order for entry in entries for order in entry.orders}
    rows = []
    for entry in entries:
        orders = {order.observable: order for order in entry.orders}
        time = format_duration(sum(entry.results.seconds.values())) if entry.results else ""
        rows.append([link(entry), *entry.axes.values(), entry.status,
                     *(sets_in(orders.get(name)) for name in labels), time])
    head = ["run", *(escape(key) for key in keys), "T<sub>c</sub>: status",
            *(f"{markup(o.symbol)} <small>{markup(o.label)}</small>" for o in labels.values()), "time"]
    return table(head, rows, failed={i for i, entry in enumerate(entries) if entry.status in ("failed", "damaged")})


def link(entry: Entry) -> str:
    """Return the run's name, with a link to its page where there is one."""
    return (Html(f'<a href="{quote(entry.name)}/report.html">{escape(entry.name)}</a>') if entry.results
            else entry.name)


def sets_in(order: Instability | None) -> str:
    """Return ``0.0763(2)``, ``< 0.07`` or ``> 0.1`` where it lies outside, empty where it was not looked for."""
    if order is None or order.transition is None:
        return ""
    if order.status == "found":
        return with_error(order.transition.value, order.transition.error)
    side, T = order.outside
    return f"{side} {T:g}"


def unit_of_all(entries: list[Entry]) -> str:
    """Return the unit of energies that all runs have in common; none where they differ."""
    units = {entry.results.unit for entry in entries if entry.results}
    return units.pop() if len(units) == 1 else ""


def point_table(entries: list[Entry]) -> str:
    """Return every scalar of every run and temperature, and spin and charge at inequivalent momenta."""
    points = [(entry, point) for entry in entries if entry.results for point in entry.results.points]
    names = [name for name in COLUMNS if any(name in point for _, point in points)]
    at = [{(name, momentum(row.q), row.m): e for row in responses(point) for name, e in row.values.items()}
          for _, point in points]
    columns = sorted({column for row in at for column in row},
                     key=lambda c: (list(RESPONSES).index(c[0]), c[2], c[1]))
    rows, doubtful = [], set()
    for i, ((entry, point), values) in enumerate(zip(points, at)):
        why = "; ".join(checks.warnings(point, entry.target_density))
        doubtful |= {i} if why else set()
        rows.append([link(entry), why, f"{point.T:g}", format_number(point.mu, ".5f"),
                     *(str(point[name]) if name in point else "" for name in names),
                     *(str(values.get(column, "")) for column in columns), f"{point.measurements or 'exact'}"])
    unit = unit_of_all(entries)
    head = ["run", "warnings", over("T", unit), over("μ", unit), *(heading(name, unit) for name in names),
            *(f"{heading(name, unit)} {q}{f', m = {m}' if m else ''}" for name, q, m in columns), "measurements"]
    if not doubtful:
        del head[1]
        rows = [[name, *cells] for name, _, *cells in rows]
    return table(head, rows, "doubts" if doubtful else "", doubtful=doubtful)


# Figures ---------------------------------------------------------------------------------------------------------


def drawings(entries: list[Entry]) -> dict[str, Drawing]:
    """Return the figures that there are data for, by name."""
    drawn = {}
    if symbols := phase_diagram.drawn(entries):
        maximum = ", and T* of the largest uniform spin susceptibility" if "T*" in symbols else ""
        drawn["phase_diagram"] = Drawing(
            lambda theme: phase_diagram.draw(entries, theme, unit_of_all(entries)), "Phase diagram",
            f"Temperatures at which order sets in{maximum}, with one standard error; open symbols with an arrow are "
            "bounds. Below: the sign at the lowest temperature.")
    if any(entry.orders for entry in entries):
        drawn["eigenvalues"] = Drawing(lambda theme: eigenvalues(entries, theme),
                               "Leading eigenvalues at the lowest temperature",
                               "Of each run, at its own lowest temperature; order has set in where one is above 1.")
    if table := equation_of_state.rows(entries):
        drawn["equation_of_state"] = Drawing(
            lambda theme: equation_of_state.draw(table, theme, unit_of_all(entries)), "Entropy and compressibility",
            "By density at some temperatures. Points: entropy by integration from T = ∞; lines: by integration in the "
            "filling from the run nearest to half filling, with Maxwell's relation.")
    return drawn


def series(entries: list[Entry]) -> list[tuple[str, str, list[tuple[float | str, Entry, Instability]]]]:
    """Return (order, rest of the axes, points along x) of every order and every combination of the other axes."""
    _, x, rest = across(entries)
    groups: dict[tuple[str, str], list] = {}
    for value, words, entry in zip(x, rest, entries):
        for order in entry.orders:
            groups.setdefault((order.observable, words), []).append((value, entry, order))
    return [(points[0][2], words, sorted(points, key=lambda point: point[0])) for (_, words), points in groups.items()]


def eigenvalues(entries: list[Entry], theme: Theme) -> Figure:
    """Draw the leading eigenvalue of each order at the lowest temperature that has it."""
    figure, axes = subplots(figsize=SIZE)
    axes.axhline(1.0, color=theme.ink, lw=0.9, ls=(0, (4, 3)))
    for look, label, points in looks(entries, theme, lambda order: order.label):
        rows = [(x, e.mean, e.error) for x, entry, order in points for e in [lowest(entry, order)]]
        x, value, error = zip(*rows)
        axes.errorbar(x, value, np.where(np.isfinite(error), error, 0), label=label, **look)
    return finished(figure, axes, entries, "leading eigenvalue")


def lowest(entry: Entry, order: Instability):
    """Return the eigenvalue of an order at the lowest temperature that has it."""
    return min((p for p in entry.results.points if order.observable in p), key=lambda p: p.T)[order.observable]


def looks(entries: list[Entry], theme: Theme, name: Callable[[Instability], str]):
    """Yield (style, label, points) of each series: colour and marker of its own, until all pairs of these are used."""
    for i, (order, words, points) in enumerate(series(entries)):
        look = {"color": theme.series[i % len(theme.series)],
                "fmt": MARKERS[(i + i // len(theme.series)) % len(MARKERS)] + "-"}
        yield look, ", ".join(part for part in (math(name(order)), words) if part), points


def finished(figure: Figure, axes, entries: list[Entry], ylabel: str) -> Figure:
    axes.set(xlabel=label_of(across(entries)[0]), ylabel=ylabel)
    if axes.get_legend_handles_labels()[0]:
        figure.legend(ncols=2, loc="outside upper left")
    return figure
