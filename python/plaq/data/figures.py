"""Style of figures: one colour-blind-safe palette for light and dark pages, as files and inline in HTML."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
from cycler import cycler
from matplotlib.figure import Figure

from plaq.files.atomic import atomic_file

# Series colours in order: blue, orange, green, purple, light blue, vermilion (after Okabe and Ito).
LIGHT = ("#0b6bb3", "#d98100", "#00896b", "#b0568f", "#3aa0d8", "#c9501c")
DARK = ("#5aaef0", "#f2aa3c", "#36c29d", "#e08fc0", "#8accf5", "#f08259")
SCREEN_DPI = 90  # of figures in notebooks, which have more pixels for sharp screens
INK, FAINT, PAPER = "#1f2328", "#d0d7de", "#ffffff"


@dataclass(frozen=True)
class Theme:
    """Colours of a figure."""

    ink: str = INK
    faint: str = FAINT
    paper: str = PAPER
    series: tuple[str, ...] = LIGHT


Draw = Callable[[Theme], Figure]

# Stand-ins that `svg` turns into colours of the page, so that one drawing serves light and dark.
_PAGE = Theme("#010101", "#020202", "#030303", tuple(f"#0404{i:02x}" for i in range(len(LIGHT))))


def style(theme: Theme) -> dict:
    """Return the settings of matplotlib for one theme."""
    return {
        "figure.dpi": 150,
        "figure.constrained_layout.use": True,
        "figure.facecolor": theme.paper,
        "savefig.facecolor": theme.paper,
        "axes.facecolor": "none",
        "axes.edgecolor": theme.ink,
        "axes.labelcolor": theme.ink,
        "text.color": theme.ink,
        "xtick.color": theme.ink,
        "ytick.color": theme.ink,
        "axes.linewidth": 0.8,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": theme.faint,
        "grid.linewidth": 0.6,
        "font.size": 10,
        "axes.titlesize": 10,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "legend.frameon": False,
        "legend.fontsize": 8.5,
        "lines.linewidth": 1.5,
        "lines.markersize": 4.5,
        "errorbar.capsize": 2.0,
        "axes.prop_cycle": cycler(color=theme.series),
        "svg.fonttype": "path",
        "svg.hashsalt": "plaq",
        "mathtext.fontset": "dejavusans",
    }


class Picture(Figure):
    """Figure outside of pyplot, which a notebook shows at the end of a cell."""

    def _repr_png_(self) -> tuple[bytes, dict[str, float]]:
        file = io.BytesIO()
        self.savefig(file, format="png")
        width, height = self.get_size_inches() * SCREEN_DPI
        return file.getvalue(), {"width": round(width), "height": round(height)}


def subplots(*grid: int, figsize: tuple[float, float], **options: Any) -> tuple[Figure, Any]:
    """Return a figure and its axes, as pyplot does, without pyplot's state."""
    figure = Picture(figsize=figsize)
    return figure, figure.subplots(*grid, **options)


def drawn(draw: Draw) -> Figure:
    """Return the figure of ``draw(theme)`` on white."""
    with matplotlib.rc_context(style(Theme())):
        return draw(Theme())


def png(draw: Draw, path: Path) -> None:
    """Draw on white and save; ``draw(theme)`` returns a figure."""
    with matplotlib.rc_context(style(Theme())), atomic_file(path) as file:
        draw(Theme()).savefig(file, format="png")


def svg(draw: Draw) -> str:
    """Draw for a page: return an ``<svg>`` without background.

    Its ink is the text colour, its series have the colours --c0, --c1, …
    """
    with matplotlib.rc_context({**style(_PAGE), "savefig.transparent": True}):
        file = io.StringIO()
        draw(_PAGE).savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    text = file.getvalue()
    text = text[text.index("<svg") :].replace(_PAGE.ink, "currentColor").replace(_PAGE.faint, "var(--grid)")
    text = text.replace(_PAGE.paper, "var(--paper)")
    for i, stand_in in enumerate(_PAGE.series):
        text = text.replace(stand_in, f"var(--c{i})")
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    return re.sub(
        r'<svg [^>]*viewBox="([^"]*)"[^>]*>',
        r'<svg viewBox="\1" role="img" xmlns:xlink="http://www.w3.org/1999/xlink">',
        text,
        count=1,
    )


def page_colours() -> str:
    """Return the style sheet's colour variables of `svg`, light and dark."""
    light = "".join(f"--c{i}:{colour};" for i, colour in enumerate(LIGHT))
    dark = "".join(f"--c{i}:{colour};" for i, colour in enumerate(DARK))
    return f":root{{{light}}}\n@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"


def temperature_colour(fraction: float) -> str:
    """Return a colour from cold (0, blue) to hot (1, orange) of one lightness, for curves by temperature."""
    stops = ((0x2F, 0x7F, 0xC8), (0x9B, 0x72, 0xB0), (0xDB, 0x7B, 0x2B))
    low, high, part = (*stops[:2], 2 * fraction) if fraction < 0.5 else (*stops[1:], 2 * fraction - 1)
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in zip(low, high))
