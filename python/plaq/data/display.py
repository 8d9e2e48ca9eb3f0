"""Display of results in notebooks: tables, with figures behind a click, on any light or dark theme.

Nothing here is drawn before it is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plaq.errors import RunError
from plaq.files.atomic import cannot_write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from plaq.data.estimate import Estimate
    from plaq.data.figures import Draw
    from plaq.data.recorded import Recorded
    from plaq.data.results_file import Findings

# Marks of a dark page: JupyterLab and Notebook, VS Code, Sphinx and MkDocs.
DARK = ('[data-jp-theme-light="false"]', "body.vscode-dark", 'html[data-theme="dark"]',
        '[data-md-color-scheme="slate"]')
PIXELS = 1.3  # to a point of a drawing, in a notebook
FEW = 4  # sentences that are shown; further ones open on a click
NUMBERS = count()  # of drawings, so that the names inside of one are not those of another


@dataclass(frozen=True, repr=False)
class Drawing:
    """Figure that is not drawn yet: ``draw(theme)`` returns it. A wide one takes the whole width of a page."""

    draw: Draw
    title: str
    caption: str = ""
    wide: bool = False

    def __repr__(self) -> str:
        return f"<plaq {type(self).__name__}: {self.title}>"

    def figure(self) -> Figure:
        from plaq.data.figures import drawn

        return drawn(self.draw)

    def html(self) -> str:
        """Return the figure of a page."""
        from plaq.data.page import figure

        return figure(self.draw, self.title, self.caption, self.wide)

    def content(self) -> str:
        """Return drawing and caption as HTML."""
        from plaq.data.figures import svg
        from plaq.data.page import markup

        drawing = own_names(svg(self.draw))
        width = float(re.search(r'viewBox="\S+ \S+ (\S+)', drawing)[1]) * PIXELS
        drawing = drawing.replace("<svg ", f'<svg style="max-width:{width:.0f}px" ', 1)
        return f"<div>{drawing}</div><p>{markup(self.caption)}</p>"


def drawing_of(drawings: Mapping[str, Drawing], name: str) -> Drawing:
    """Return a drawing by name; KeyError with all names if there is none."""
    if name not in drawings:
        raise KeyError(f"no figure {name!r}; there are {', '.join(drawings)}")
    return drawings[name]


def save(drawings: Mapping[str, Drawing], folder: Path) -> list[Path]:
    """Draw into ``figures/`` in a folder, a file for each; return the paths. RunError if they cannot be written."""
    from plaq.data.figures import png

    paths = []
    for name, drawing in drawings.items():
        path = folder / "figures" / f"{name}.png"
        try:
            path.parent.mkdir(exist_ok=True)
            png(drawing.draw, path)
        except OSError as error:
            raise RunError(cannot_write(path, error)) from error
        paths.append(path)
    return paths


def block(*parts: str) -> str:
    """Return HTML of a notebook's cell."""
    from plaq.data.figures import DARK as dark_series
    from plaq.data.figures import LIGHT as light_series

    colours = lambda series: "".join(f"--c{i}:{colour};" for i, colour in enumerate(series))  # noqa: E731
    css = (f".plaq{{{colours(light_series)}}}\n{','.join(f'{mark} .plaq' for mark in DARK)}{{{colours(dark_series)}}}\n"
           + Path(__file__).with_name("display.css").read_text())
    return f'<div class="plaq"><style>{css}</style>{"".join(part for part in parts if part)}</div>'


def head(text: str, sentences: Iterable[str] = ()) -> str:
    """Return a line that names the object, and sentences about it."""
    from plaq.data.page import markup

    first = f"<p><b>{markup(text)}</b></p>" if text else ""
    return first + "".join(f"<p>{markup(sentence)}</p>" for sentence in sentences)


def behind_clicks(drawings: Iterable[Drawing]) -> str:
    """Return figures, each of which opens on a click."""
    from plaq.data.page import markup

    return "".join(f"<details><summary>{markup(drawing.title)}</summary>{drawing.content()}</details>"
                   for drawing in drawings)


def details(title: str, content: str) -> str:
    """Return content that opens on a click; empty without any."""
    return f"<details><summary>{escape(title)}</summary>{content}</details>" if content else ""


def facts(entries: Iterable[tuple[str, Any]]) -> str:
    """Return a table of names and values."""
    from plaq.data.page import rows

    return rows(list(entries))


def own_names(drawing: str) -> str:
    """Return an SVG whose names differ from those of all others on the page.

    Names in a part that is closed could not be used in others.
    """
    prefix = f"plaq{next(NUMBERS)}-"
    drawing = re.sub(r'\bid="', f'id="{prefix}', drawing)
    return re.sub(r'(url\(#|href="#)', rf"\1{prefix}", drawing)


# Quantities ------------------------------------------------------------------------------------------------------


def shape(axes: Iterable[Any], values: Any) -> str:
    """Return the axes of an array with their lengths: ``[K: 4, omega: 32]``."""
    named = ", ".join(f"{axis.name}: {length}" for axis, length in zip(axes, values.shape))
    return f"[{named or ', '.join(map(str, values.shape))}]"


def estimate_line(e: Estimate) -> str:
    """Return an estimate in a line."""
    kind = " complex" if e.mean.ndim and e.mean.dtype.kind == "c" else ""
    value = f"{e.name} = {e}" if not e.mean.ndim else f"{e}{kind}"
    note = f" ({e.note})" if e.note and not e.mean.ndim else ""
    return f"<Estimate {value}{f' {e.unit}' if e.unit else ''}{note}>"


def estimate_html(e: Estimate) -> str:
    """Return an estimate with its table and figure."""
    from plaq.data import report

    named = {e.name: e}
    tables = "".join([*report.tables_by_axis(named), *report.tables_by_two_axes(named)])
    table = report.quantity_table(named)
    return block(table, details("Numbers", tables), behind_clicks([estimate_drawing(e)]))


def estimates_html(title: str, estimates: Mapping[str, Estimate]) -> str:
    """Return estimates by name: numbers in a table, arrays and all figures behind clicks."""
    from plaq.data import report

    numbers = {name: e for name, e in estimates.items() if not e.mean.ndim}
    arrays = {name: e for name, e in estimates.items() if e.mean.ndim}
    return block(head(title), report.quantity_table(numbers) if numbers else "",
                 details("Arrays", report.quantity_table(arrays)) if arrays else "",
                 behind_clicks(estimate_drawing(e) for e in arrays.values() if e.mean.ndim <= 2))


def findings_html(findings: Findings) -> str:
    """Return results: sentences and the table of averages; numbers along axes and each figure open on a click."""
    from plaq.data import report

    sentences = findings.answers()[1:]
    tables = [*report.tables_by_axis(findings.estimates), *report.tables_by_two_axes(findings.estimates)]
    return block(head(repr(findings)[1:-1], sentences[:FEW]), details("More", head("", sentences[FEW:])
                 if sentences[FEW:] else ""), report.quantity_table(findings.estimates) if findings.estimates else "",
                 details("Numbers along axes", "".join(tables)), behind_clicks(findings.drawings().values()))


def estimate_drawing(e: Estimate) -> Drawing:
    from plaq.data import plots

    return Drawing(lambda theme: plots.estimate(e, theme), e.name.replace("_", " "), e.convention)


def record_line(r: Recorded) -> str:
    """Return a record in a line."""
    return f"<Recorded {r.name} {shape(r.axes, r.values)}{f' {r.unit}' if r.unit else ''}>"


def record_html(r: Recorded) -> str:
    """Return a record with its axes, its range and its figure."""
    from plaq.data.formatting import format_number

    spans = [(axis.name, f"{length} from {format_number(axis.values.min())} to {format_number(axis.values.max())} "
              f"{axis.unit}".rstrip()) for axis, length in zip(r.axes, r.values.shape)]
    spread = {"least": np.min, "largest": np.max, "mean": np.mean} if r.values.size else {}
    entries = [*spans, *((name, f"{format_number(of(r.values))} {r.unit}".rstrip()) for name, of in spread.items()),
               *((name, text) for name, text in (("formula", r.convention), ("note", r.note)) if text)]
    return block(head(f"{r.name} {shape(r.axes, r.values)}"), facts(entries),
                 behind_clicks([record_drawing(r)] if r.values.size else []))


def record_drawing(r: Recorded) -> Drawing:
    from plaq.data import plots

    return Drawing(lambda theme: plots.record(r, theme), r.name.replace("_", " "), r.convention)


def plane_drawing(r: Recorded) -> Drawing:
    """Return a record on two axes as colours, however few values an axis has."""
    from plaq.data import plots

    return Drawing(lambda theme: plots.over_two_axes(r), r.name, r.convention)
