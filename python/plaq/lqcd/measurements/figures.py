"""Figures of a report: histories, the flow, potential, correlators and masses."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from plaq.data.display import Drawing, estimate_drawing, record_drawing
from plaq.data.figures import Theme, subplots
from plaq.data.plots import typeset
from plaq.data.results_file import Findings
from plaq.lqcd.measurements.chain_figures import chain_drawings

SIZE = (5.2, 3.2)
PANELS = 4  # of the overview
Panel = Callable[[Any], None]  # draws on axes


def drawings(findings: Findings) -> dict[str, Drawing]:
    """Return figures of all available data by name."""
    return {name: on_axes(panel, title, caption)
            for name, (panel, title, caption) in panels(findings).items()} | chain_drawings(findings)


def drawing(findings: Findings, name: str | None) -> Drawing:
    """Return a figure of `drawings`, of an average or a series, or an overview; KeyError with all names if none."""
    found = drawings(findings)
    if name is None:
        return Drawing(lambda theme: overview(findings), "Overview")
    if name in found:
        return found[name]
    series, estimates = findings.recorded, findings.estimates
    if name in estimates and name in series and not estimates[name].mean.ndim and series[name].values.ndim == 1:
        return on_axes(lambda axes: history(axes, series[name].values, estimates[name], series[name].axes[0].name,
                                            typeset(name)), typeset(name), estimates[name].convention)
    if name in estimates:
        return estimate_drawing(estimates[name])
    if name not in series:
        raise KeyError(f"no figure or quantity {name!r}; there are "
                       f"{', '.join(dict.fromkeys([*found, *estimates, *series]))}")
    return record_drawing(series[name])


def on_axes(panel: Panel, title: str, caption: str) -> Drawing:
    """Return the drawing of a panel alone."""
    def draw(theme: Theme):
        figure, axes = subplots(figsize=SIZE)
        panel(axes)
        return figure

    return Drawing(draw, title, caption)


def overview(findings: Findings):
    """Draw the main panels side by side."""
    chosen = panels(findings)
    shown = [name for kind in ("plaquette", "flow", "potential", "effective_masses", "delta_h", "correlators", "charge")
             for name in chosen if name.rpartition("/")[2] == kind][:PANELS]
    rows = -(-len(shown) // 2)
    figure, grid = subplots(rows, min(2, len(shown)), figsize=(4.6 * min(2, len(shown)), 3.0 * rows), squeeze=False)
    for axes in grid.flat[len(shown):]:
        axes.set_axis_off()
    for axes, name in zip(grid.flat, shown):
        panel, title, _ = chosen[name]
        panel(axes)
        axes.set_title(title)
    return figure


def panels(findings: Findings) -> dict[str, tuple[Panel, str, str]]:
    """Return {name: (panel, title, caption)} of all available data."""
    series, estimates = findings.recorded, findings.estimates
    chosen: dict[str, tuple[Panel, str, str]] = {
        "plaquette": (lambda axes: history(axes, series["plaquette"].values, estimates["plaquette"], "configuration",
                                           "plaquette"),
                      "Plaquette", "Re tr P / 3 of one configuration after the other; the band is the average with its "
                      "error.")}
    if "delta_h" in series:
        chosen["delta_h"] = (lambda axes: changes(axes, series["delta_h"].values, series["accepted"].values),
                             "Energy violation", "ΔH of all trajectories, those of thermalisation too; crosses were "
                             "refused.")
    for path in tables(findings):
        chosen |= table_panels(findings, path)
    return chosen


def tables(findings: Findings) -> list[str]:
    """Return the paths of tables of the input that have estimates, as ``mesons/pion/``."""
    return list(dict.fromkeys(name.rpartition("/")[0] + "/" for name in findings.estimates if "/" in name))


def table_panels(findings: Findings, path: str) -> dict[str, tuple[Panel, str, str]]:
    """Return {name: (panel, title, caption)} of all available data of a table."""
    estimates = {name.removeprefix(path): e for name, e in findings.estimates.items() if name.startswith(path)}
    family, title = path.split("/")[0], f" of {path[:-1].replace('/', '.')}"
    chosen: dict[str, tuple[Panel, str, str]] = {}
    if family == "flow":
        chosen["flow"] = (lambda axes: flow(axes, estimates), "Gradient flow",
                          "t^2 E of the clover-shaped field strength, and by plaquettes; 0.3 at t = t0.")
        charge = findings.recorded[f"{path}charge"]
        chosen["charge"] = (lambda axes: history(axes, charge.values[:, -1], None, "configuration", "$Q$"),
                            "Topological charge", f"Clover-shaped, at flow time {charge.axis('t')[-1]:g} a^2.")
    if "potential" in estimates and np.isfinite(estimates["potential"].mean).any():
        chosen["potential"] = (lambda axes: potential(axes, estimates["potential"]), "Static potential",
                               "ln W(r, t) / W(r, t + 1) of Wilson loops; it falls to V(r) as t grows.")
    masses = {name.removeprefix("mass_"): e for name, e in estimates.items() if name.startswith("mass_")}
    if mesons := {name: estimates[name] for name in masses}:
        chosen["correlators"] = (lambda axes: correlators(axes, mesons), "Correlators",
                                 "|C(t)|, t from the source; open symbols are negative.")
    if any(np.isfinite(e.mean).any() for e in masses.values()):
        chosen["effective_masses"] = (lambda axes: effective_masses(axes, masses, estimates), "Effective masses",
                                      f"{next(iter(masses.values())).convention}; bands are masses of fits, where "
                                      "there are any.")
    if "pcac_mass" in estimates and np.isfinite(estimates["pcac_mass"].mean).any():
        chosen["pcac_mass"] = (lambda axes: pcac(axes, estimates["pcac_mass"]), "PCAC mass",
                               estimates["pcac_mass"].convention + ".")
    return {path + name: (panel, words + title, caption) for name, (panel, words, caption) in chosen.items()}


def history(axes, values: np.ndarray, average, axis: str, label: str):
    axes.plot(np.arange(1, len(values) + 1), values, linewidth=0.8, marker="." if len(values) < 200 else "")
    if average is not None and average.supported:
        axes.axhspan(average.mean - average.error, average.mean + average.error, color="C1", alpha=0.4, linewidth=0)
        axes.axhline(average.mean, color="C1", linewidth=1)
    axes.set(xlabel=axis, ylabel=label)


def changes(axes, values: np.ndarray, accepted: np.ndarray):
    """Plot Delta H of trajectories; with large values, as in thermalisation, on a scale that is linear up to one."""
    numbers, taken = np.arange(1, len(values) + 1), accepted > 0
    finite = np.isfinite(values)
    axes.plot(numbers[taken], values[taken], ".", markersize=3)
    axes.plot(numbers[~taken & finite], values[~taken & finite], "x", color="C1", markersize=4)
    if np.abs(values[finite]).max(initial=0) > 3:
        axes.set_yscale("symlog", linthresh=1)
    axes.axhline(0, color="C2", linewidth=0.8)
    axes.set(xlabel="trajectory", ylabel=r"$\Delta H$")


def flow(axes, estimates: dict):
    for i, (name, label) in enumerate((("energy", "clover"), ("energy_plaquette", "plaquettes"))):
        energy = estimates[name]
        t = energy.axes[0].values
        axes.plot(t, t**2 * energy.mean, color=f"C{2 * i}", label=label)
        if energy.supported:
            axes.fill_between(t, t**2 * (energy.mean - energy.error), t**2 * (energy.mean + energy.error),
                              color=f"C{2 * i}", alpha=0.3, linewidth=0)
    axes.axhline(0.3, color="C3", linewidth=0.8)
    if "t0" in estimates:
        axes.axvline(estimates["t0"].mean, color="C1", linewidth=0.8, label="$t_0$")
    axes.legend()
    axes.set(xlabel="$t / a^2$", ylabel="$t^2 E$", ylim=(0, None))


def potential(axes, estimate):
    r, t = (axis.values for axis in estimate.axes)
    for i, x in enumerate(t):
        error = estimate.error[:, i] if estimate.pick(t=i).supported else None
        axes.errorbar(r + 0.06 * i, estimate.mean[:, i], error, fmt="o", markersize=4, color=f"C{i % 6}",
                      label=f"$t = {x}$")
    axes.legend()
    axes.set(xlabel="$r / a$", ylabel="$a V$")


def correlators(axes, mesons: dict):
    """Plot correlators on a logarithmic scale; error bars that reach zero end at a tenth of the value."""
    for i, (name, c) in enumerate(mesons.items()):
        t, size = c.axes[0].values + 0.08 * i, np.abs(c.mean)
        error = np.stack([np.minimum(c.error, 0.9 * size), c.error]) if c.supported else np.zeros((2, len(t)))
        colour = f"C{i % 6}"
        for sign in (1, -1):
            chosen = (sign * c.mean > 0)
            if chosen.any():
                axes.errorbar(t[chosen], size[chosen], error[:, chosen], fmt="o", color=colour, markersize=4,
                              markerfacecolor=colour if sign > 0 else "none", label=name if chosen[0] else None)
    if len(mesons) > 1:
        axes.legend()
    axes.set(xlabel="$t / a$", ylabel="$|C(t)|$" if len(mesons) > 1 else f"$|C(t)|$ of {name}", yscale="log")


def pcac(axes, mass):
    axes.errorbar(mass.axes[0].values, mass.mean, mass.error if mass.supported else None, fmt="o")
    axes.set(xlabel="$t / a$", ylabel=r"$a\,m_{\rm PCAC}$")


def effective_masses(axes, masses: dict, estimates: dict):
    for i, (name, mass) in enumerate(masses.items()):
        t = mass.axes[0].values + 0.08 * i
        error = mass.error if mass.supported else None
        axes.errorbar(t, mass.mean, error, fmt="o", color=f"C{i % 6}", label=name)
        fit = estimates.get(f"fit_{name}")
        if fit is not None and fit.supported:
            first, last = re.search(r"([\d.]+) <= t <= ([\d.]+)", fit.convention).groups()
            axes.fill_between([float(first), float(last)], fit.mean - fit.error, fit.mean + fit.error,
                              color=f"C{i % 6}", alpha=0.3)
    if len(masses) > 1:
        axes.legend()
    axes.set(xlabel="$t / a$", ylabel=r"$a\,m$" if len(masses) > 1 else rf"$a\,m$ of {name}")
