"""Pages of results: one HTML file that needs no network, its tables and drawings."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from plaq.data.figures import page_colours, svg
from plaq.data.formatting import format_number

WIDE = ' class="wide"'


class Html(str):
    """A cell that is HTML already."""


def markup(text: str) -> str:
    """Return HTML of a text, with indices of symbols, powers and averages set as such.

    Examples: T_c, λ_d, lambda_magnetic, E_x, ω_p, a^-4, <Q^2>.
    """
    if isinstance(text, Html):
        return text
    text = re.sub(r"&lt;([\w^() -]{1,24})&gt;", r"⟨\1⟩", escape(text))
    text = re.sub(r"(?<=[\w)])\^(-?\d+)\b", r"<sup>\1</sup>", text).replace("<sup>-", "<sup>−")
    text = re.sub(r"\bchi(?=<sup>)", "χ", text)
    return re.sub(r"\b(T|λ|lambda|E|B|ω|n|m)_(\w+)", lambda m: f"{m[1].replace('lambda', 'λ')}<sub>{m[2]}</sub>", text)


def frame(title: str, parts: list[str]) -> str:
    """Return the page around its parts; the title is HTML."""
    css = page_colours() + Path(__file__).with_name("page.css").read_text()
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
        f'<meta name="viewport" content="width=device-width,initial-scale=1">\n<style>\n{css}</style></head>\n'
        f"<body><main>\n{chr(10).join(part for part in parts if part)}\n</main></body></html>\n"
    )


def figure(draw, title: str, caption: str, wide: bool) -> str:
    """Return a drawing with its title and caption."""
    return (f'<figure{WIDE if wide else ""}><h3>{markup(title)}</h3><div class="drawing">{svg(draw)}</div>'
            f"<figcaption>{markup(caption)}</figcaption></figure>")


def table(head: Iterable[str], body: Iterable[Iterable[str]], style: str = "", failed: Container[int] = (),
          doubtful: Container[int] = ()) -> str:
    """Return a table of headings (HTML) and cells (texts); wide ones scroll.

    Rows of ``failed`` and ``doubtful`` stand out.
    """
    top = "".join(f"<th>{heading}</th>" for heading in head)
    mark = lambda i: ' class="failed"' if i in failed else ' class="doubtful"' if i in doubtful else ""  # noqa: E731
    lines = (f"<tr{mark(i)}>" + "".join(f"<td>{markup(cell)}</td>" for cell in row) + "</tr>"
             for i, row in enumerate(body))
    kind = f' class="{style}"' if style else ""
    return (f'<div class="scroll"><table{kind}><thead><tr>{top}</tr></thead>'
            f'<tbody>{"".join(lines)}</tbody></table></div>')


def sentences(texts: list[str]) -> str:
    """Return sentences below the headline; many of them as a list of small lines."""
    if len(texts) <= 3:
        return "".join(f'<p class="sentence">{markup(text)}</p>' for text in texts)
    return f'<ul class="sentences">{"".join(f"<li>{markup(text)}</li>" for text in texts)}</ul>'


def rows(entries: list[tuple[str, Any]]) -> str:
    body = "".join(
        f"<tr><td>{escape(str(name))}</td><td>{escape(str(value))}</td></tr>" for name, value in entries
    )
    return f'<div class="scroll"><table class="plain"><tbody>{body}</tbody></table></div>'


def collapsible(title: str, content: str, state: str = "") -> str:
    """Return a part that opens on a click."""
    return f"<details{state}><summary>{escape(title)}</summary>{content}</details>"


def cell(value: Any) -> str:
    if isinstance(value, (int, np.integer)) or (
        isinstance(value, float) and value.is_integer() and abs(value) < 1e9
    ):
        return f"{int(value)}"
    return value if isinstance(value, str) else format_number(value, ".6g")
