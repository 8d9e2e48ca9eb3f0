"""Figures of single quantities: estimates with their errors and records, on the axes that they have."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure

from plaq.data.estimate import Axis, Estimate
from plaq.data.figures import Theme, subplots
from plaq.data.formatting import vector
from plaq.data.recorded import Recorded

SIZE, WIDE = (5.6, 3.4), (9.6, 3.2)
SCALE, SIGNED = "viridis", "RdBu_r"
MOST_CURVES = 8  # along a second axis; more of them are a plane
MOST_CELLS = 400  # of a plane in a direction
PANELS = 4  # times of a plane that moves
MARKERS = "osD^vP"
FEW = 40  # points of a curve with markers and bars; more of them are a line and a band
GREEK = {"omega": "ω", "tau": "τ", "Sigma": "Σ", "lambda": "λ", "mu": "μ", "phi": "φ", "rho": "ρ", "beta": "β"}
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def typeset(text: str) -> str:
    """Return a name or a unit with Greek letters, powers and indices of single letters: ω', a⁻⁴, λ_d, n_0."""
    text = re.sub(r"\^(-?\d+)", lambda power: power[1].translate(RAISED), text)
    text = re.sub(r"[A-Za-z]+", lambda word: GREEK.get(word[0], word[0]), text)
    return re.sub(r"(?<!\w)([^\W\d_]\d?)_(\w+)", r"$\1\0{\\rm \2}$", text).replace("_", " ").replace("\0", "_")


def label(name: str, unit: str) -> str:
    """Return the label of an axis: ``t / (1/ω_p)``, or ``t`` without a unit."""
    name, unit = typeset(name), typeset(unit)
    if not unit:
        return name
    return f"{name} / ({unit})" if any(sign in unit for sign in "/· ") else f"{name} / {unit}"


def value_label(quantity: Estimate | Recorded) -> str:
    return label(quantity.name, quantity.unit)


def in_words(axis: Axis, i: int) -> str:
    """Return the value of an axis at an index: ``T = 0.5``, ``K = (π,0)``."""
    return f"{typeset(axis.name)} = {place_in_words(axis, i)}"


def place_in_words(axis: Axis, i: int) -> str:
    """Return the value of an axis at an index: a number, a vector or a text."""
    value = np.asarray(axis.values)[i]
    return vector(value, axis.unit) if np.ndim(value) else str(value) if isinstance(value, str) else f"{value:.4g}"


def is_listed(axis: Axis) -> bool:
    """Return whether the values of an axis are vectors or texts, which lie one after the other."""
    values = np.asarray(axis.values)
    return values.ndim == 2 or values.dtype.kind == "U"


def positions(axis: Axis) -> np.ndarray:
    """Return where the values of an axis lie along x: numbers themselves, vectors and texts one after the other."""
    return np.arange(len(axis.values)) if is_listed(axis) else np.asarray(axis.values)


def set_axis(axes: Any, axis: Axis) -> None:
    """Set label and ticks of x for an axis."""
    axes.set_xlabel(label(axis.name, axis.unit))
    if is_listed(axis):
        axes.set_xlabel(axis.name)
        axes.set_xticks(np.arange(len(axis.values)), [place_in_words(axis, i) for i in range(len(axis.values))],
                        rotation=90 if len(axis.values) > 6 else 0)


# Estimates -------------------------------------------------------------------------------------------------------


def estimate(e: Estimate, theme: Theme) -> Figure:
    """Draw an estimate: a number with its bins, curves with error bars, or a plane of means.

    Of more than two axes, the first ones are at their first value.
    """
    title = []
    while e.mean.ndim > 2:
        title.append(in_words(e.axes[0], 0) if e.axes else "first of the first axis")
        e = e.pick(**{e.axes[0].name: 0})
    if e.mean.ndim == 0:
        return number(e, theme)
    axes_of = e.axes or tuple(Axis(f"index {i}", np.arange(n)) for i, n in enumerate(e.mean.shape))
    parts = [("", np.asarray(e.mean).real, np.asarray(e.error).real)]
    if np.iscomplexobj(e.mean):
        parts = [("Re ", *parts[0][1:]), ("Im ", e.mean.imag, e.error.imag)]
    if e.mean.ndim == 2 and min(e.mean.shape) > MOST_CURVES:
        figure = plane(e, parts, axes_of)
    else:
        figure = curves(e, parts, axes_of, theme)
    if title:
        figure.suptitle(", ".join(title), x=0.01, ha="left", fontsize=10)
    return figure


def number(e: Estimate, theme: Theme) -> Figure:
    """Draw a number with its error, and the values of the bins that the jackknife takes it from."""
    values, errors = (np.atleast_1d(x) for x in (e.mean, e.error))
    parts = [(values.real, errors.real)] + ([(values.imag, errors.imag)] if np.iscomplexobj(e.mean) else [])
    figure, axes = subplots(figsize=SIZE)
    for i, (value, error) in enumerate(parts):
        colour, words = theme.series[i], ("Re ", "Im ")[i] if len(parts) > 1 else ""
        axes.axhline(value[0], color=colour, label=words + typeset(e.name))
        if np.isfinite(error[0]):
            axes.axhspan(value[0] - error[0], value[0] + error[0], color=colour, alpha=0.25, lw=0)
        if e.jackknife is not None:
            bins = bin_values(e).imag if i else bin_values(e).real
            axes.plot(1 + np.arange(len(bins)), bins, MARKERS[i], color=colour)
    axes.set(xlabel="bin" if e.jackknife is not None else "", ylabel=value_label(e),
             title=f"{typeset(e.name)} = {e} {typeset(e.unit)}".strip())
    if e.jackknife is None:
        axes.set_xticks([])
    if len(parts) > 1:
        axes.legend()
    return figure


def bin_values(e: Estimate) -> np.ndarray:
    """Return the pseudo-values n f - (n - 1) f_i of the leave-one-out values f_i, whose spread gives the error."""
    n = len(e.jackknife)
    return n * e.mean - (n - 1) * e.jackknife


def curves(e: Estimate, parts: list, axes_of: tuple[Axis, ...], theme: Theme) -> Figure:
    """Draw values with error bars along the last axis, or the one with more values; real and imaginary part apart."""
    along = e.mean.ndim - 1 if e.mean.ndim == 1 or e.mean.shape[1] >= e.mean.shape[0] else 0
    other = None if e.mean.ndim == 1 else axes_of[1 - along]
    figure, grid = subplots(1, len(parts), figsize=SIZE if len(parts) == 1 else WIDE, squeeze=False)
    x, is_line = positions(axes_of[along]), not is_listed(axes_of[along])
    for axes, (words, mean, error) in zip(grid[0], parts):
        rows = [mean] if other is None else np.moveaxis(mean, along, 1)
        bars = [error] if other is None else np.moveaxis(error, along, 1)
        for i, (row, bar) in enumerate(zip(rows, bars)):
            words_of_curve = in_words(other, i) if other is not None else None
            bar, colour = np.where(np.isfinite(bar), bar, 0), theme.series[i % len(theme.series)]
            if len(x) > FEW:
                axes.plot(x, row, color=colour, label=words_of_curve)
                axes.fill_between(x, row - bar, row + bar, color=colour, alpha=0.25, lw=0)
            else:
                axes.errorbar(x, row, bar, marker=MARKERS[i % 6], ls="-" if is_line else "", color=colour,
                              label=words_of_curve)
        axes.set_ylabel(words + value_label(e))
        set_axis(axes, axes_of[along])
    if other is not None:
        grid[0, 0].legend(ncols=2 if len(rows) > 4 else 1)
    return figure


def plane(e: Estimate, parts: list, axes_of: tuple[Axis, ...]) -> Figure:
    """Draw means over two axes as colours; real and imaginary part apart."""
    figure, grid = subplots(1, len(parts), figsize=SIZE if len(parts) == 1 else WIDE, squeeze=False)
    for axes, (words, mean, _) in zip(grid[0], parts):
        image = coloured(axes, positions(axes_of[1]), positions(axes_of[0]), mean)
        set_axis(axes, axes_of[1])
        axes.set_ylabel(label(axes_of[0].name, axes_of[0].unit))
        figure.colorbar(image, ax=axes, label=words + value_label(e))
    return figure


# Records ---------------------------------------------------------------------------------------------------------


def record(r: Recorded, theme: Theme) -> Figure:
    """Draw a record: a curve, a plane of its two axes, or planes at some of the values of its first axis.

    Of complex numbers it is the real part.
    """
    if np.iscomplexobj(r.values):
        r = replace(r, name=f"Re {r.name}", values=r.values.real)
    if r.values.ndim == 1:
        figure, axes = subplots(figsize=SIZE)
        axes.plot(r.axes[0].values, r.values, lw=1.0, marker="." if len(r.values) < 100 else "")
        set_axis(axes, r.axes[0])
        axes.set_ylabel(value_label(r))
        return figure
    if r.values.ndim == 2:
        return lines(r, theme) if r.axes[1].size <= MOST_CURVES else over_two_axes(r)
    return panels(r)


def lines(r: Recorded, theme: Theme) -> Figure:
    """Draw a curve along the first axis for each value of the second."""
    figure, axes = subplots(figsize=SIZE)
    for i, column in enumerate(r.values.T):
        axes.plot(r.axes[0].values, column, lw=1.0, color=theme.series[i % len(theme.series)],
                  label=in_words(r.axes[1], i))
    set_axis(axes, r.axes[0])
    axes.set_ylabel(value_label(r))
    axes.legend(ncols=2 if len(r.values.T) > 4 else 1)
    return figure


def over_two_axes(r: Recorded) -> Figure:
    """Draw a record on two axes as colours, the first axis upwards; the second one may move with it."""
    rows, columns = (slice(None, None, -(-n // MOST_CELLS)) for n in r.values.shape)
    x, y, values = r.axes[1].values[..., columns], r.axes[0].values[rows], r.values[rows, columns]
    if x.ndim == 2:
        x, y = x[rows], np.broadcast_to(y[:, None], values.shape)
    figure, axes = subplots(figsize=(6, 3.8))
    image = coloured(axes, x, y, values)
    axes.set(xlabel=label(r.axes[1].name, r.axes[1].unit), ylabel=label(r.axes[0].name, r.axes[0].unit))
    figure.colorbar(image, ax=axes, label=value_label(r))
    return figure


def panels(r: Recorded) -> Figure:
    """Draw planes of the last two axes at up to four values of the first one, the last one included."""
    while r.values.ndim > 3:
        r = Recorded(r.name, r.values[..., 0], r.axes[:-1], r.unit, r.convention, r.note)
    shown = np.unique(np.linspace(0, len(r.values) - 1, min(PANELS, len(r.values))).round().astype(int))
    span = limits(r.values)
    figure, grid = subplots(1, len(shown), figsize=(min(11, 1.6 + 2.6 * len(shown)), 3.0), squeeze=False, sharey=True)
    for axes, at in zip(grid[0], shown):
        image = coloured(axes, r.axes[1].at(at), r.axes[2].at(at), r.values[at].T, span)
        axes.set(xlabel=label(r.axes[1].name, r.axes[1].unit), title=in_words(r.axes[0], at))
    grid[0, 0].set_ylabel(label(r.axes[2].name, r.axes[2].unit))
    figure.colorbar(image, ax=list(grid[0]), label=value_label(r))
    return figure


def limits(values: np.ndarray) -> tuple[float, float]:
    """Return the range of colours: symmetric about 0 if some values are negative, else from 0."""
    finite = values[np.isfinite(values)]
    largest = float(np.abs(finite).max(initial=0.0)) or 1.0
    return (-largest if finite.min(initial=0.0) < 0 else 0.0), largest


def coloured(axes: Any, x: np.ndarray, y: np.ndarray, values: np.ndarray, span: tuple[float, float] | None = None):
    """Draw values [y, x] as colours; return the image."""
    low, high = span or limits(values)
    image = axes.pcolormesh(x, y, values, cmap=colormaps[SIGNED if low < 0 else SCALE], vmin=low, vmax=high,
                            shading="nearest", rasterized=True)
    axes.grid(False)
    return image
