"""The phase diagram of a sweep as a picture, and as the table of its page.

T_c, T_N, temperatures of other orders and T* over one axis, and the average sign at each run's lowest temperature.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation

from plaq.data.figures import Theme, subplots
from plaq.data.page import markup
from plaq.data.page import table as html_table
from plaq.dca.results.boundaries import ABOVE, BELOW, FIRST, FOUND
from plaq.dca.results.plot import log_axis, math
from plaq.dca.results.sweep_table import DENSITY, MU, Entry, symbols
from plaq.dca.units import over

SIZE = (5.2, 5.0)
MARKERS = dict(zip(FIRST, "osD"))
OTHER = "PXp*h"  # of other orders
STYLES = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 2, 1, 2)))
COLUMNS = ((4, 13), (3, 20), (2, 34))  # of the legend, by letters of its longest text
DODGE = 8.0  # points between bounds of one run
WIDE = 10.0  # ratio of temperatures from which their axis is logarithmic


def table(entries: list[Entry], unit: str) -> str:
    """Return the table of the page."""
    names, body = drawn(entries), []
    for entry in entries:
        found = {boundary.symbol: str(boundary) for boundary in entry.boundaries}
        point = entry.coldest
        body.append([*entry.axes.values(), *(found.get(name, "") for name in names),
                     str(point["sign"]) if point and "sign" in point else "", f"{point.T:g}" if point else ""])
    head = [*entries[0].axes, *(markup(over(name, unit)) for name in names), "sign", over("at T", unit)]
    return html_table(head, body)


def drawn(entries: list[Entry]) -> list[str]:
    """Return the symbols of T_c, T_N, T*, and of other orders that set in within the temperatures of some run."""
    found = {b.symbol for entry in entries for b in entry.boundaries if b.status != BELOW}
    return [symbol for symbol in symbols(entries) if symbol in FIRST or symbol in found]


def across(entries: list[Entry]) -> tuple[str, list[float | str], list[str]]:
    """Return (key, value of every run along x, the rest of its axes in words).

    x is the density, or mu as the density it gives, where it has three values or more; else the axis with most numbers.
    """
    keys = list(entries[0].axes)
    values = {key: [entry.axes[key] for entry in entries] for key in keys}
    numeric = [key for key in keys if all(is_number(value) for value in values[key])]
    filling = [key for key in (DENSITY, MU) if key in numeric and len(set(values[key])) > 2]
    along = filling[0] if filling else max(numeric, key=lambda key: len(set(values[key])), default=None)
    if along is None:
        return "run", [entry.name for entry in entries], ["" for _ in entries]
    rest = [", ".join(f"{key.partition('.')[2]} = {value}" for key, value in entry.axes.items() if key != along)
            for entry in entries]
    x = [entry.density[0] for entry in entries] if along == MU else [float(value) for value in values[along]]
    return along, x, rest


def is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def label_of(along: str) -> str:
    return "density n" if along in (DENSITY, MU) else along.rpartition(".")[2]


def draw(entries: list[Entry], theme: Theme, unit: str) -> Figure:
    """Draw the boundaries, and below them the average sign at the lowest temperature.

    Colour : the rest of the axes; marker : the boundary; an open one with an arrow : a bound, moved aside a little
    where several coincide.
    """
    figure, (main, below) = subplots(2, 1, figsize=SIZE, sharex=True, height_ratios=(3.2, 1))
    along, x, rest = across(entries)
    groups, names = list(dict.fromkeys(rest)), drawn(entries)
    others = [name for name in names if name not in MARKERS]
    markers = MARKERS | {name: OTHER[i % len(OTHER)] for i, name in enumerate(others)}
    for i, words in enumerate(groups):
        look = {"color": theme.series[i % len(theme.series)],
                "ls": STYLES[i // len(theme.series) % len(STYLES)]}
        members = sorted((value, entry.name, entry) for value, entry, group in zip(x, entries, rest) if group == words)
        for j, name in enumerate(names):
            aside = DODGE * (j - (len(names) - 1) / 2 + (i - (len(groups) - 1) / 2) / max(len(groups), 1))
            draw_boundary(main, members, name, markers[name], look, aside)
        signs = [(value, p["sign"]) for value, _, entry in members if (p := entry.coldest) and "sign" in p]
        if signs:
            below.errorbar([value for value, _ in signs], *with_bars([s for _, s in signs]), marker=".", **look)
    main.set(ylabel=over("temperature T", unit))
    shown = [b for entry in entries for b in entry.boundaries if b.symbol in names]
    T, top = [b.T for b in shown], max(b.T + (b.error or 0.0) for b in shown)
    if max(T) > WIDE * min(T):
        log_axis(main, "y", T)
    else:
        main.set_ylim(0, 1.08 * top if np.isfinite(top) else 1.5 * max(T))
    below.set(xlabel=label_of(along), ylabel="sign", ylim=(0, 1.08))
    shapes, colours = legend(theme, names, markers, groups, entries)
    longest = max(len(handle.get_label()) for handle in (*shapes, *colours))
    columns = next((count for count, letters in COLUMNS if longest <= letters), 1)
    shapes += [Line2D([], [], ls="", label=" ") for _ in range(-len(shapes) % columns)]  # colours start a row
    handles = [*shapes, *colours]
    by_rows = [handle for column in range(columns) for handle in handles[column::columns]]  # they fill columns
    figure.legend(handles=by_rows, ncols=columns, loc="outside upper left")
    return figure


def draw_boundary(axes, members, name: str, marker: str, look: dict[str, Any], aside: float) -> None:
    """Draw one boundary of the runs [(x, name, entry)] of one colour; its bounds ``aside`` points to the right."""
    known = [(x, b) for x, _, entry in members for b in entry.boundaries if b.symbol == name]
    found = [(x, b.T, b.error if np.isfinite(b.error) else 0.0) for x, b in known if b.status == FOUND]
    if found:
        x, T, error = zip(*found)
        axes.errorbar(x, T, error, marker=marker, **look)
    moved = axes.transData + ScaledTranslation(aside / 72, 0, axes.figure.dpi_scale_trans)
    for x, b in known:
        if b.status != FOUND:
            axes.plot([x], [b.T], ls="")  # for the limits of the axes, which do not see what is moved
            axes.plot([x], [b.T], marker, mfc="none", color=look["color"], transform=moved)
            axes.plot([x], [b.T], "v" if b.status == BELOW else "^", ms=4, color=look["color"],
                      transform=moved + ScaledTranslation(0, (-7 if b.status == BELOW else 7) / 72,
                                                          axes.figure.dpi_scale_trans))


def with_bars(estimates) -> tuple[list[float], list[float]]:
    return ([float(e.mean) for e in estimates],
            [float(e.error) if np.isfinite(e.error) else 0.0 for e in estimates])


def legend(theme: Theme, names, markers, groups, entries) -> tuple[list[Line2D], list[Line2D]]:
    """Return handles: markers of boundaries and bounds, and a colour for each of the rest of the axes."""
    plain = {"color": theme.ink, "ls": ""}
    handles = [Line2D([], [], marker=markers[name], label=math(name), **plain) for name in names]
    used = {b.status for entry in entries for b in entry.boundaries}
    handles += [Line2D([], [], marker=shape, ms=4, label=words, **plain)
                for status, shape, words in ((BELOW, "v", "lies below"), (ABOVE, "^", "lies above")) if status in used]
    return handles, [Line2D([], [], color=theme.series[i % len(theme.series)], label=words,
                            ls=STYLES[i // len(theme.series) % len(STYLES)])
                     for i, words in enumerate(groups) if words]
