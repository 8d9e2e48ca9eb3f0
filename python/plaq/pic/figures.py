"""Figures of a run: what `plaq.data.figures` draws on the page or as a file.
Each takes the results and gives ``draw(theme)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.ticker import NullFormatter

from plaq.data.recorded import Recorded
from plaq.pic.results import Results
from plaq.pic.spectra import dispersion

Draw = Callable[[Any], Any]
SCALE, SIGNED = "viridis", "RdBu_r"
WEAK = -5  # log₁₀ of the power that ω(k) is shown down to, of the strongest


def of(results: Results, name: str) -> Draw:
    """The figure of what was recorded under a name, or of the whole run. KeyError where there is none."""
    if name in ("energy", "conservation"):
        return energies(results) if name == "energy" else conservation(results)
    one = results[name]
    kind = next((kind for kind in ("histogram", "picture") if one.name.startswith(f"{kind}_")), "probe")
    return {"histogram": histogram, "picture": pictures, "probe": probe}[kind](one)


def legend(axes: Any, **how: Any) -> None:
    """Draw a legend where a curve has a name."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(**how)


def energies(results: Results) -> Draw:
    """Of fields and species, on a logarithmic scale."""
    recorded = results.recorded
    curves = {"fields, electric": sum(recorded[f"electric_{d}"].values for d in "xyz"),
              "fields, magnetic": sum(recorded[f"magnetic_{d}"].values for d in "xyz")}
    curves |= {name.removesuffix(".kinetic"): one.values for name, one in recorded.items()
               if name.endswith(".kinetic")}
    times = recorded["electric_x"].axis("time")

    def draw(theme):
        figure, axes = plt.subplots(figsize=(6, 3.4))
        for name, values in curves.items():
            if np.any(values > 0):
                axes.semilogy(times, np.where(values > 0, values, np.nan), label=name, linewidth=1.1)
        axes.set(xlabel="t ω_p", ylabel="energy / W m_e c²")
        top = max(float(np.nanmax(values)) for values in curves.values())
        axes.set_ylim(bottom=max(axes.get_ylim()[0], 1e-14 * top))
        legend(axes)
        return figure

    return draw


def conservation(results: Results) -> Draw:
    """What the total energy has lost or won, where nobody came or left, and the residual of Gauss's law."""
    recorded, times = results.recorded, results.time
    total = results.field_energy + results.kinetic_energy
    curves = ([("energy, change in %", times[:-1], 100 * (total[:-1] / total[0] - 1))]
              if results.is_closed and total[0] else [])
    if "gauss" in recorded:
        curves.append(("Gauss / e n_0", times, np.maximum(recorded["gauss"].values, 1e-18)))

    def draw(theme):
        figure, grid = plt.subplots(max(1, len(curves)), 1, figsize=(6, 3.4), sharex=True, squeeze=False)
        for i, (axes, (words, t, values)) in enumerate(zip(grid[:, 0], curves)):
            axes.plot(t, values, color=theme.series[i], linewidth=1.1)
            axes.set(ylabel=words)
            if words.startswith("Gauss"):
                axes.set(yscale="log")
                axes.yaxis.set_minor_formatter(NullFormatter())
        grid[-1, 0].set(xlabel="t ω_p")
        return figure

    return draw


def through_sides(results: Results) -> Draw:
    """Weight that came from plates and left by each side, per time, in means over a hundredth of the run."""
    curves = {}
    for name, one in results.recorded.items():
        species, _, what = name.partition(".")
        if what in ("emitted_weight", "absorbed_weight") or what.startswith("left_weight_"):
            if np.any(one.values):
                words = ({"emitted_weight": "came in", "absorbed_weight": "on conductors"}.get(what)
                         or f"left by {what[12]}, {what[13:]}")
                curves[f"{species} {words}"] = one

    def draw(theme):
        figure, axes = plt.subplots(figsize=(6, 3.4))
        for words, one in curves.items():
            times, length = one.axis("time"), max(1, len(one.values) // 100)
            count = len(times) // length * length
            sums = one.values[:count].reshape(-1, length).sum(axis=1)
            axes.plot(times[length - 1 : count : length], sums / (length * results.history["dt"]),
                      label=words, linewidth=1.1)
        axes.set(xlabel="t ω_p", ylabel="W ω_p", ylim=(0, None))
        legend(axes)
        return figure

    return draw


def pictures(one: Recorded) -> Draw:
    """A field or density at the times of the pictures: curves in one dimension, else planes side by side."""
    times = one.axis("time")

    def curves(theme):
        figure, axes = plt.subplots(figsize=(6, 3.4))
        for i, (t, values) in enumerate(zip(times, one.values)):
            axes.plot(one.axes[1].at(i), values, label=f"t = {t:.4g}", linewidth=1.0,
                      color=plt.get_cmap("plasma")(0.85 * i / max(1, len(times) - 1)))
        axes.set(xlabel=f"{one.axes[1].name} / (c/ω_p)", ylabel=one.unit)
        legend(axes, ncols=2)
        return figure

    def planes(theme):
        signed = float(one.values.min()) < 0
        largest = float(np.abs(one.values).max()) or 1.0
        x, y = (axis.at(0) for axis in one.axes[1:3])
        wide = (y[-1] - y[0]) / max(x[-1] - x[0], 1e-300)
        figure, grid = plt.subplots(1, len(times),
                                    figsize=(11, min(5.0, max(2.2, 10.5 / len(times) * wide + 0.7))),
                                    squeeze=False)
        for i, (axes, t, values) in enumerate(zip(grid[0], times, one.values)):
            image = axes.pcolormesh(one.axes[1].at(i), y, values.T, cmap=SIGNED if signed else SCALE,
                                    vmin=-largest if signed else 0.0,
                                    vmax=largest, shading="nearest", rasterized=True)
            axes.set(title=f"t = {t:.4g}", xlabel=one.axes[1].name, aspect="equal")
            axes.grid(False)
        grid[0][0].set(ylabel=one.axes[2].name)
        figure.colorbar(image, ax=list(grid[0]), shrink=0.85, label=one.unit)
        return figure

    return curves if len(one.axes) == 2 else planes


def histogram(one: Recorded) -> Draw:
    """Phase space at the first, middle and last time; of one axis curves at up to six times."""
    times = one.axis("time")

    def curves(theme):
        figure, axes = plt.subplots(figsize=(6, 3.4))
        some = np.unique(np.linspace(0, len(times) - 1, min(6, len(times))).astype(int))
        for i, at in enumerate(some):
            axes.plot(one.axes[1].at(at), np.where(one.values[at] > 0, one.values[at], np.nan),
                      label=f"t = {times[at]:.4g}",
                      color=plt.get_cmap("plasma")(0.85 * i / max(1, len(some) - 1)), linewidth=1.1)
        axes.set(xlabel=f"{one.axes[1].name} / {one.axes[1].unit}", ylabel=one.unit, yscale="log")
        legend(axes, ncols=2)
        return figure

    def planes(theme):
        some = np.unique([0, len(times) // 2, len(times) - 1])
        figure, grid = plt.subplots(1, len(some), figsize=(11, 3.2), squeeze=False, sharey=True)
        for axes, at in zip(grid[0], some):
            values = one.values[at].T
            image = axes.pcolormesh(one.axes[1].at(at), one.axes[2].at(at),
                                    np.where(values > 0, values, np.nan), cmap=SCALE,
                                    shading="nearest", rasterized=True)
            axes.set(title=f"t = {times[at]:.4g}", xlabel=one.axes[1].name)
            axes.grid(False)
        grid[0][0].set(ylabel=one.axes[2].name)
        figure.colorbar(image, ax=list(grid[0]), shrink=0.9, label=one.unit)
        return figure

    return curves if len(one.axes) == 2 else planes


def probe(one: Recorded) -> Draw:
    """In time at a place, or along a line in time."""

    def curve(theme):
        figure, axes = plt.subplots(figsize=(6, 3.4))
        axes.plot(one.axis("time"), one.values, linewidth=1.0)
        axes.set(xlabel="t ω_p", ylabel=one.unit)
        return figure

    def plane(theme):
        largest = float(np.abs(one.values).max()) or 1.0
        figure, axes = plt.subplots(figsize=(6, 3.8))
        image = axes.pcolormesh(*thinned(one), cmap=SIGNED, vmin=-largest, vmax=largest, shading="nearest",
                                rasterized=True)
        axes.set(xlabel=one.axes[1].name, ylabel="t ω_p")
        axes.grid(False)
        figure.colorbar(image, ax=axes, label=one.unit)
        return figure

    return curve if len(one.axes) == 1 else plane


def thinned(one: Recorded, most: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(places, times, values) of a line, as many as a page can show."""
    rows, columns = (slice(None, None, -(-n // most)) for n in one.values.shape)
    values, times, places = one.values[rows, columns], one.axis("time")[rows], one.axes[1].values[..., columns]
    if places.ndim == 1:
        return places, times, values
    return places[rows], np.broadcast_to(times[:, None], values.shape), values  # a window moves


def omega_k(one: Recorded) -> Draw:
    """The power of a line in wave number and frequency, with the line of light in vacuum."""
    k, omega, power = dispersion(one)

    def draw(theme):
        figure, axes = plt.subplots(figsize=(6, 3.8))
        level = np.log10(np.maximum(power, power.max() * 10.0 ** (WEAK - 1)) / power.max())
        image = axes.pcolormesh(k, omega, level, cmap=SCALE, shading="nearest", rasterized=True)
        axes.plot(k, k, color="white", linewidth=0.7, linestyle="--")
        seen = np.argwhere(level > WEAK).max(axis=0)  # what is above the noise
        axes.set(xlabel=f"k_{one.axes[1].name} c/ω_p", ylabel="ω/ω_p", xlim=(0, k[min(len(k) - 1, seen[1] + 2)]),
                 ylim=(0, omega[min(len(omega) - 1, seen[0] + 2)]))
        axes.grid(False)
        figure.colorbar(image, ax=axes, label="log₁₀ of the power")
        return figure

    return draw


def homes(ranks: np.ndarray) -> Draw:
    """Which rank each patch was on at the end; of three dimensions the middle in z."""
    plane = ranks if ranks.ndim == 2 else ranks[:, None] if ranks.ndim == 1 else ranks[:, :, ranks.shape[2] // 2]

    def draw(theme):
        figure, axes = plt.subplots(figsize=(6, 1.6 if ranks.ndim == 1 else 3.8))
        count = min(20, int(ranks.max()) + 1)
        image = axes.pcolormesh(plane.T % 20, cmap=ListedColormap(plt.get_cmap("tab20").colors[:count]), vmin=-0.5,
                                vmax=count - 0.5, edgecolors=theme.faint, linewidth=0.5)
        axes.set(xlabel="patch in x", ylabel="" if ranks.ndim == 1 else "patch in y")
        axes.grid(False)
        if ranks.ndim == 1:
            axes.set_yticks([])
        figure.colorbar(image, ax=axes, label="rank" + (" modulo 20" if ranks.max() > 19 else ""),
                        ticks=np.arange(count))
        return figure

    return draw
