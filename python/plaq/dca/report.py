"""``report.html``: a run on one page, in one file that needs no network."""

from __future__ import annotations

import tomllib
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from plaq.dca import checks
from plaq.dca.parameters import Parameters
from plaq.dca.plot import available, words
from plaq.dca.results import Results
from plaq.dca.results_file import digest_results, read_results
from plaq.estimate import with_error
from plaq.figures import page_colours, svg
from plaq.files import write_atomically
from plaq.live import duration, number
from plaq.trace.session import region

WIDE_FIGURES = {"lambda_d", "self_energy", "thermodynamics", "time"}

# Column of the table of results: observable, heading.
COLUMNS = {
    "density": "n",
    "double_occupancy": "D",
    "energy_kinetic": "E<sub>kin</sub> / t",
    "energy_potential": "E<sub>pot</sub> / t",
    "energy": "E / t",
    "sign": "sign",
    "expansion_order": "⟨k⟩",
    "lambda_d": "λ<sub>d</sub>",
    "lambda_s": "λ<sub>s</sub>",
    "lambda_p": "λ<sub>p</sub>",
}


@region("report")
def write_report(folder: Path) -> Path:
    """Write ``report.html`` from the ``results.h5`` of a run folder; its path."""
    results, toml, header = read_results(folder / "results.h5", functions=False)
    parameters = Parameters("input", **tomllib.loads(toml))
    path = folder / "report.html"
    write_atomically(path, page(results, parameters, header, digest_results(folder / "results.h5")).encode())
    return path


def page(results: Results, parameters: Parameters, header: dict[str, Any], digest: str) -> str:
    """The whole page as HTML."""
    css = page_colours() + Path(__file__).with_name("report.css").read_text()
    title = escape(f"plaq dca · U = {parameters.model.U:g} t · {filling(parameters)}")
    parts = [
        f'<p class="over">plaq dca · {escape(model_in_words(parameters))}</p>',
        f"<h1>{headline(results)}</h1>",
        f'<p class="sentence">{markup(sentence(results))}</p>',
        facts(results, parameters),
        figures(results),
        "<h2>Results by temperature</h2>",
        point_table(results),
        '<p class="note">Numbers in brackets are standard errors in units of the last digits; (?) marks one '
        "that the data cannot support. All energies and temperatures are in units of t.</p>",
        notes(results),
        check_table(results),
        "<h2>How it ran</h2>",
        rows(
            [*header.items(), ("time", duration(sum(results.seconds.values()))),
             *((f"time: {part}", duration(seconds)) for part, seconds in results.seconds.items()),
             ("digest of the results", digest)]
        ),
        *(history_table(point) for point in results.points if point.history),
        folded("The input, with every key resolved", f"<pre>{escape(parameters.to_toml())}</pre>"),
    ]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
        f'<meta name="viewport" content="width=device-width,initial-scale=1">\n<style>\n{css}</style></head>\n'
        f"<body><main>\n{chr(10).join(part for part in parts if part)}\n</main></body></html>\n"
    )


def headline(results: Results) -> str:
    tc = results.tc
    if tc["value"] is not None:
        return f"T<sub>c</sub> = {with_error(tc['value'], tc['error'])} t"
    if tc["status"] == "bound":
        return "T<sub>c</sub> is outside the temperatures of this run"
    coldest = min(results.points, key=lambda point: point.T, default=None)
    return (
        "No temperature is finished"
        if coldest is None
        else f"{len(results.points)} temperatures, down to T = {coldest.T:g} t"
    )


def sentence(results: Results) -> str:
    text = results.answer()
    return text[0].upper() + text[1:] + "."


def markup(text: str) -> str:
    """HTML of a text, with the two symbols that have an index set as such."""
    return escape(text).replace("T_c", "T<sub>c</sub>").replace("λ_d", "λ<sub>d</sub>")


def model_in_words(p: Parameters) -> str:
    vectors = ", ".join(f"({x},{y})" for x, y in p.model.cluster)
    hopping = "hopping table" if p.model.hopping else f"t′ = {p.model.t_prime:g} t"
    return f"Hubbard model, {hopping}, {'isolated ' if p.dca.isolated else ''}cluster {vectors}"


def filling(p: Parameters) -> str:
    return f"n = {p.dca.density:g}" if p.dca.density is not None else f"μ = {p.dca.mu:g} t"


def facts(results: Results, p: Parameters) -> str:
    """The boxes below the headline."""
    (a, b), (c, d) = p.model.cluster
    entries = [("U", f"{p.model.U:g} t"), tuple(filling(p).split(" = ")), ("sites", str(abs(a * d - b * c)))]
    if results.points:
        coldest = min(results.points, key=lambda point: point.T)
        entries.append(("lowest T", f"{coldest.T:g} t"))
        entries += [
            (f"{name} there", str(coldest[key]))
            for key, name in [("sign", "sign"), ("lambda_d", "λ_d")]
            if key in coldest
        ]
    entries += [
        ("measurements", f"{p.solver.measurements:,}".replace(",", " ")),
        ("time", duration(sum(results.seconds.values()))),
    ]
    boxes = "".join(f"<div><dt>{markup(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in entries)
    return f'<dl class="facts">{boxes}</dl>'


def figures(results: Results) -> str:
    shown = []
    for name, (draw, title, caption) in available(results).items():
        kind = ' class="wide"' if name in WIDE_FIGURES else ""
        shown.append(
            f"<figure{kind}><h3>{markup(title)}</h3>{svg(draw)}<figcaption>{markup(caption)}</figcaption></figure>"
        )
    return f'<div class="figures">{"".join(shown)}</div>'


def point_table(results: Results) -> str:
    columns = {
        name: heading for name, heading in COLUMNS.items() if any(name in point for point in results.points)
    }
    head = "".join(f"<th>{heading}</th>" for heading in ["T / t", "μ / t", *columns.values()])
    body = []
    for point in results.points:
        cells = [
            f"{point.T:g}",
            number(point.mu, ".5f"),
            *(str(point[name]) if name in point else "" for name in columns),
        ]
        body.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table></div>'


def check_table(results: Results) -> str:
    """What the run says about its own correctness, by temperature."""
    points = [point for point in results.points if "order_identity" in point]
    if not points:
        return ""
    names = ("T / t", "⟨k⟩ − exact", "in σ", "drift", "acceptance", "verdict")
    head = "".join(f"<th>{name}</th>" for name in names)
    body = []
    for point in points:
        last = point.history[-1] if point.history else {}
        deviation, failed = checks.deviation(point), checks.violated(point)
        cells = [
            f"{point.T:g}",
            str(point["order_identity"]),
            number(deviation, "+.1f"),
            number(last.get("drift"), ".1e"),
            number(last.get("acceptance"), ".3f"),
            f"FAILS: more than {checks.LIMIT:g} σ" if failed else "not known" if deviation is None else "holds",
        ]
        row = "".join(f"<td>{escape(text)}</td>" for text in cells)
        body.append(f'<tr class="failed">{row}</tr>' if failed else f"<tr>{row}</tr>")
    return (
        f'<h2>Checks</h2><div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody>'
        '</table></div><p class="note">⟨k⟩ = K + βU N<sub>c</sub> (n/2 − D) holds exactly in every bath, so the '
        "difference must be 0 within its error. Drift is the largest change of an element of the walker’s matrix "
        "when it is computed anew: the rounding that had piled up.</p>"
    )


def notes(results: Results) -> str:
    """What the statistics say about their own error bars."""
    said = []
    for point in results.points:
        for note in dict.fromkeys(estimate.note for estimate in point.observables.values() if estimate.note):
            names = [words(name) for name, estimate in point.observables.items() if estimate.note == note]
            said.append(f"T = {point.T:g}, {', '.join(names[:4])}{', …' if len(names) > 4 else ''}: {note}")
    if not said:
        return ""
    return folded("Error bars to read with care", f"<pre>{escape(chr(10).join(said))}</pre>", " open")


def history_table(point) -> str:
    """The iterations of one temperature, folded away."""
    names = [name for name in point.history[0] if name not in ("T", "seconds")]
    head = "".join(f"<th>{escape(words(name))}</th>" for name in [*names, "time"])
    body = []
    for record in point.history:
        cells = [cell(record.get(name)) for name in names] + [
            duration(sum((record.get("seconds") or {}).values()))
        ]
        body.append("<tr>" + "".join(f"<td>{text}</td>" for text in cells) + "</tr>")
    table = (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table></div>'
    )
    return folded(f"Iterations at T = {point.T:g} t", table)


def folded(title: str, content: str, state: str = "") -> str:
    """A part that opens on a click."""
    return f"<details{state}><summary>{escape(title)}</summary>{content}</details>"


def cell(value: Any) -> str:
    if isinstance(value, (int, np.integer)) or (
        isinstance(value, float) and value.is_integer() and abs(value) < 1e9
    ):
        return f"{int(value)}"
    return escape(value) if isinstance(value, str) else number(value, ".6g")


def rows(entries: list[tuple[str, Any]]) -> str:
    body = "".join(
        f"<tr><td>{escape(str(name))}</td><td>{escape(str(value))}</td></tr>" for name, value in entries
    )
    return f'<div class="scroll"><table class="plain"><tbody>{body}</tbody></table></div>'
