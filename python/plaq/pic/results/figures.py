"""Figures of a run, which `plaq.data.figures` draws on the page or as a file.

Each function returns ``draw(theme)``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import ListedColormap
from matplotlib.ticker import NullFormatter

from plaq.data.estimate import Axis
from plaq.data.figures import subplots
from plaq.data.plots import label
from plaq.data.recorded import Recorded
from plaq.pic.diagnostics.spectra import dispersion
from plaq.pic.results.results import Results, energy_of, times_of

Draw = Callable[[Any], Any]
SCALE, SIGNED = "viridis", "RdBu_r"
TIME = label("t", "1/ω_p")
PICTURES = 4  # times that a figure shows
WEAK = -5  # log₁₀ of the least power shown in ω(k), relative to the largest


def figure_of(recorded: Recorded) -> Draw:
    """Return the figure of a record."""
    for prefix, draw in (("histogram_", histogram), ("mean_", mean), ("picture_", pictures)):
        if recorded.name.startswith(prefix):
            return draw(recorded)
    return probe(recorded)


def axis_label(axis: Axis) -> str:
    return label(axis.name, axis.unit)


def value_label(recorded: Recorded) -> str:
    """Return the quantity of a probe, histogram or picture with its unit."""
    name = re.sub("^(picture|probe|histogram|mean)_", "", recorded.name)
    return label(f"{name[0].upper()}_{name[1]}" if re.fullmatch("[ebj][xyz]", name) else name, recorded.unit)


def legend(axes: Any, **options: Any) -> None:
    """Draw a legend where a curve has a name."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(**options)


def energies(results: Results) -> Draw:
    """Draw the energies of fields and species, on a logarithmic scale."""
    recorded = results.recorded
    curves = {f"fields, {kind}": energy_of(recorded, kind) for kind in ("electric", "magnetic")}
    curves |= {name.removesuffix(".kinetic"): column.values for name, column in recorded.items()
               if name.endswith(".kinetic")}
    times = times_of(recorded)

    def draw(theme):
        figure, axes = subplots(figsize=(6, 3.4))
        for name, values in curves.items():
            if np.any(values > 0):
                axes.semilogy(times, np.where(values > 0, values, np.nan), label=name, linewidth=1.1)
        axes.set(xlabel=TIME, ylabel=label("energy", "W m_e c²"))
        top = max(float(np.nanmax(values)) for values in curves.values())
        axes.set_ylim(bottom=max(axes.get_ylim()[0], 1e-14 * top))
        legend(axes)
        return figure

    return draw


def conservation(results: Results) -> Draw:
    """Draw the change of the total energy of a closed run, and the residual of Gauss's law."""
    recorded, times = results.recorded, results.time
    total = results.field_energy + results.kinetic_energy
    curves = ([("energy, change in %", times[:-1], 100 * (total[:-1] / total[0] - 1))]
              if results.is_closed and total[0] else [])
    if "gauss" in recorded:
        curves.append((label("Gauss", "e n_0"), times, np.maximum(recorded["gauss"].values, 1e-18)))

    def draw(theme):
        figure, grid = subplots(max(1, len(curves)), 1, figsize=(6, 3.4), sharex=True, squeeze=False)
        for i, (axes, (words, t, values)) in enumerate(zip(grid[:, 0], curves)):
            axes.plot(t, values, color=theme.series[i], linewidth=1.1)
            axes.set(ylabel=words)
            if words.startswith("Gauss"):
                axes.set(yscale="log")
                axes.yaxis.set_minor_formatter(NullFormatter())
        grid[-1, 0].set(xlabel=TIME)
        return figure

    return draw


def through_sides(results: Results) -> Draw:
    """Draw the weight from plates and through each side, per time, in means over a hundredth of the run."""
    curves = {}
    for name, recorded in results.recorded.items():
        species, _, quantity = name.partition(".")
        if quantity in ("emitted_weight", "absorbed_weight") or quantity.startswith("left_weight_"):
            if np.any(recorded.values):
                words = ({"emitted_weight": "came in", "absorbed_weight": "on conductors"}.get(quantity)
                         or f"left by {quantity[12]}, {quantity[13:]}")
                curves[f"{species} {words}"] = recorded

    def draw(theme):
        figure, axes = subplots(figsize=(6, 3.4))
        for words, recorded in curves.items():
            times, length = recorded.axis("time"), max(1, len(recorded.values) // 100)
            count = len(times) // length * length
            sums = recorded.values[:count].reshape(-1, length).sum(axis=1)
            axes.plot(times[length - 1 : count : length], sums / (length * results.history["dt"]),
                      label=words, linewidth=1.1)
        axes.set(xlabel=TIME, ylabel=label("weight per time", "W ω_p"), ylim=(0, None))
        legend(axes)
        return figure

    return draw


def pictures(recorded: Recorded) -> Draw:
    """Draw a field or density at up to four times: curves in one dimension, else planes side by side or in rows.

    Times at which it is 0 everywhere are left out, and the last time is always there.
    """
    times = recorded.axis("time")
    filled = [i for i, values in enumerate(recorded.values) if np.any(values)] or [len(times) - 1]
    places = np.linspace(0, len(filled) - 1, min(PICTURES, len(filled))).round().astype(int)
    chosen = [filled[i] for i in np.unique(places)]

    def curves(theme):
        figure, axes = subplots(figsize=(6, 3.4))
        for i, at in enumerate(chosen):
            axes.plot(recorded.axes[1].at(at), recorded.values[at], label=f"t = {times[at]:.4g}", linewidth=1.0,
                      color=colormaps["plasma"](0.85 * i / max(1, len(chosen) - 1)))
        axes.set(xlabel=axis_label(recorded.axes[1]), ylabel=value_label(recorded))
        legend(axes, ncols=2)
        return figure

    def planes(theme):
        signed = float(recorded.values.min()) < 0
        largest = float(np.abs(recorded.values).max()) or 1.0
        x, y = (axis.at(0) for axis in recorded.axes[1:3])
        shape = (y[-1] - y[0]) / max(x[-1] - x[0], 1e-300)  # height over width
        columns = min(len(chosen), 1 if shape < 0.3 else 2 if shape < 0.8 else PICTURES)
        rows = -(-len(chosen) // columns)
        tall = min(4.0, max(0.6, 9.5 / columns * shape))
        figure, grid = subplots(rows, columns, figsize=(11, rows * (tall + 0.75)), squeeze=False, sharey=True)
        for axes in grid.flat[len(chosen):]:
            axes.set_axis_off()
        for axes, at in zip(grid.flat, chosen):
            image = panel(axes, recorded, at, times[at], recorded.values[at].T, cmap=SIGNED if signed else SCALE,
                          vmin=-largest if signed else 0.0, vmax=largest)
            axes.set(aspect="equal")
        for axes in grid[:, 0]:
            axes.set(ylabel=axis_label(recorded.axes[2]))
        figure.colorbar(image, ax=list(grid.flat), shrink=0.85, label=value_label(recorded))
        return figure

    return curves if len(recorded.axes) == 2 else planes


def panel(axes, recorded: Recorded, at: int, t: float, values: np.ndarray, **options):
    """Draw values [y, x] of record `at`, at time t, over the last two axes; return the image."""
    image = axes.pcolormesh(recorded.axes[1].at(at), recorded.axes[2].at(at), values, shading="nearest",
                            rasterized=True, **options)
    axes.set(title=f"t = {t:.4g} /$ω_p$", xlabel=axis_label(recorded.axes[1]))
    axes.grid(False)
    return image


def histogram(recorded: Recorded) -> Draw:
    """Draw phase space at the first, middle and last time; with one axis, curves at up to six times."""
    times = recorded.axis("time")

    def curves(theme):
        figure, axes = subplots(figsize=(6, 3.4))
        shown = np.unique(np.linspace(0, len(times) - 1, min(6, len(times))).astype(int))
        for i, at in enumerate(shown):
            axes.plot(recorded.axes[1].at(at), np.where(recorded.values[at] > 0, recorded.values[at], np.nan),
                      label=f"t = {times[at]:.4g}",
                      color=colormaps["plasma"](0.85 * i / max(1, len(shown) - 1)), linewidth=1.1)
        axes.set(xlabel=axis_label(recorded.axes[1]), ylabel=value_label(recorded), yscale="log")
        legend(axes, ncols=2)
        return figure

    def planes(theme):
        shown = np.unique([0, len(times) // 2, len(times) - 1])
        figure, grid = subplots(1, len(shown), figsize=(11, 3.2), squeeze=False, sharey=True)
        for axes, at in zip(grid[0], shown):
            values = recorded.values[at].T
            image = panel(axes, recorded, at, times[at], np.where(values > 0, values, np.nan), cmap=SCALE)
        grid[0][0].set(ylabel=axis_label(recorded.axes[2]))
        figure.colorbar(image, ax=list(grid[0]), shrink=0.9, label=value_label(recorded))
        return figure

    return curves if len(recorded.axes) == 2 else planes


def mean(recorded: Recorded) -> Draw:
    """Draw the mean over all windows with its standard error, from their spread; of two axes as a plane."""
    values = recorded.values.mean(axis=0)
    count = len(recorded.values)
    error = recorded.values.std(axis=0, ddof=1) / np.sqrt(count) if count > 1 else np.zeros_like(values)

    def curve(theme):
        figure, axes = subplots(figsize=(6, 3.4))
        x = recorded.axes[1].at(-1)
        axes.plot(x, values, color=theme.series[0], linewidth=1.1)
        axes.fill_between(x, values - error, values + error, color=theme.series[0], alpha=0.3, linewidth=0)
        axes.set(xlabel=axis_label(recorded.axes[1]), ylabel=value_label(recorded))
        return figure

    def plane(theme):
        figure, axes = subplots(figsize=(6, 3.8))
        shown = np.where(values > 0, values, np.nan) if values.min() >= 0 else values
        energies = recorded.axes[2].name == "energy"
        image = axes.pcolormesh(recorded.axes[1].at(-1), recorded.axes[2].at(-1),
                                (np.log10(shown) if energies else shown).T, cmap=SCALE, shading="nearest",
                                rasterized=True)
        axes.set(xlabel=axis_label(recorded.axes[1]), ylabel=axis_label(recorded.axes[2]))
        axes.grid(False)
        figure.colorbar(image, ax=axes, label=("log₁₀ of " if energies else "") + value_label(recorded))
        return figure

    return curve if len(recorded.axes) == 2 else plane


def probe(recorded: Recorded) -> Draw:
    """Draw a field at a point, or along a line, in time."""

    def curve(theme):
        figure, axes = subplots(figsize=(6, 3.4))
        axes.plot(recorded.axis("time"), recorded.values, linewidth=1.0)
        axes.set(xlabel=TIME, ylabel=value_label(recorded))
        return figure

    def plane(theme):
        largest = float(np.abs(recorded.values).max()) or 1.0
        figure, axes = subplots(figsize=(6, 3.8))
        image = axes.pcolormesh(*thinned(recorded), cmap=SIGNED, vmin=-largest, vmax=largest, shading="nearest",
                                rasterized=True)
        axes.set(xlabel=axis_label(recorded.axes[1]), ylabel=TIME)
        axes.grid(False)
        figure.colorbar(image, ax=axes, label=value_label(recorded))
        return figure

    return curve if len(recorded.axes) == 1 else plane


def thinned(recorded: Recorded, most: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (positions, times, values) of a line, as many as a page can show."""
    rows, columns = (slice(None, None, -(-n // most)) for n in recorded.values.shape)
    values, times = recorded.values[rows, columns], recorded.axis("time")[rows]
    positions = recorded.axes[1].values[..., columns]
    if positions.ndim == 1:
        return positions, times, values
    return positions[rows], np.broadcast_to(times[:, None], values.shape), values  # a window moves


def omega_k(recorded: Recorded) -> Draw:
    """Draw the power of a line in wave number and frequency, with the line of light in vacuum."""
    k, omega, power = dispersion(recorded)

    def draw(theme):
        figure, axes = subplots(figsize=(6, 3.8))
        level = np.log10(np.maximum(power, power.max() * 10.0 ** (WEAK - 1)) / power.max())
        image = axes.pcolormesh(k, omega, level, cmap=SCALE, shading="nearest", rasterized=True)
        axes.plot(k, k, color="white", linewidth=0.7, linestyle="--")
        largest = np.argwhere(level > WEAK).max(axis=0)  # indices of ω and k above the noise
        axes.set(xlabel=label(f"k_{recorded.axes[1].name}", "ω_p/c"), ylabel=label("ω", "ω_p"),
                 xlim=(0, k[min(len(k) - 1, largest[1] + 2)]),
                 ylim=(0, omega[min(len(omega) - 1, largest[0] + 2)]))
        axes.grid(False)
        figure.colorbar(image, ax=axes, label="log₁₀ of the power")
        return figure

    return draw


def homes(ranks: np.ndarray) -> Draw:
    """Draw the rank of each patch at the end; in three dimensions in the middle of z."""
    plane = ranks if ranks.ndim == 2 else ranks[:, None] if ranks.ndim == 1 else ranks[:, :, ranks.shape[2] // 2]

    def draw(theme):
        figure, axes = subplots(figsize=(6, 1.6 if ranks.ndim == 1 else 3.8))
        count = min(20, int(ranks.max()) + 1)
        image = axes.pcolormesh(plane.T % 20, cmap=ListedColormap([*colormaps["tab20"].colors[:count]]), vmin=-0.5,
                                vmax=count - 0.5, edgecolors=theme.faint, linewidth=0.5)
        axes.set(xlabel="patch in x", ylabel="" if ranks.ndim == 1 else "patch in y")
        axes.grid(False)
        if ranks.ndim == 1:
            axes.set_yticks([])
        figure.colorbar(image, ax=axes, label="rank" + (" modulo 20" if ranks.max() > 19 else ""),
                        ticks=np.arange(count))
        return figure

    return draw
