"""Figures of a chain: histories of its observables, and their autocorrelation times."""

from __future__ import annotations

import numpy as np

from plaq.data.display import Drawing
from plaq.data.figures import Theme, subplots
from plaq.data.results_file import Findings
from plaq.lqcd.measurements.doubts import OF_TRAJECTORIES, watched

WIDTH, HEIGHT = 9.6, 1.7  # of a row of panels
COLUMNS, MOST = 2, 16  # panels
ROW, MOST_TIMES = 0.24, 40  # of the plot of times


def chain_drawings(findings: Findings) -> dict[str, Drawing]:
    """Return the figures that there are data for."""
    found = {}
    if series := histories(findings):
        found["histories"] = Drawing(
            lambda theme: draw_histories(theme, series), "Histories", "One configuration after the other: Wilson loops "
            "of one plaquette, energies at the last flow time, correlators at a quarter of T.", wide=True)
    if times := known_times(findings):
        found["autocorrelation_times"] = Drawing(
            lambda theme: draw_times(theme, times), "Autocorrelation times", "tau_int of each quantity in "
            "configurations, 1/2 if these are independent; of an array the longest that is significant.", wide=True)
    return found


def histories(findings: Findings) -> dict[str, np.ndarray]:
    """Return series [configuration] by name, without the plaquette, which has a figure of its own."""
    normal, others = watched(findings.recorded)
    return {name: values for name, values in [*normal.items(), *others.items()]
            if not name.startswith("plaquette") and len(values) > 1 and not name.endswith("charge_squared")}


def draw_histories(theme: Theme, series: dict[str, np.ndarray]):
    shown = list(series.items())[:MOST]
    rows = -(-len(shown) // COLUMNS)
    figure, grid = subplots(rows, COLUMNS, figsize=(WIDTH, 0.4 + HEIGHT * rows), squeeze=False)
    for axes in grid.flat[len(shown):]:
        axes.set_axis_off()
    for axes, (name, values) in zip(grid.flat, shown):
        axes.plot(np.arange(1, len(values) + 1), values, linewidth=0.8, marker="." if len(values) < 100 else "")
        axes.axhline(values.mean(), color=theme.series[1], linewidth=0.8)
        axes.set_title(name, fontsize=9)
        axes.set_xlabel("configuration", fontsize=8)
    return figure


def known_times(findings: Findings) -> dict[str, tuple[float, float]]:
    """Return {name: (tau_int, its error)} of quantities that are measured on configurations."""
    return {name: (e.tau_int, e.tau_int_error) for name, e in findings.estimates.items()
            if e.tau_int and e.tau_int_error and name not in OF_TRAJECTORIES}


def draw_times(theme: Theme, times: dict[str, tuple[float, float]]):
    shown = list(times.items())[:MOST_TIMES]
    figure, axes = subplots(figsize=(WIDTH, 0.8 + ROW * len(shown)))
    places = np.arange(len(shown))[::-1]
    tau, error = np.array([pair for _, pair in shown]).T
    axes.errorbar(tau, places, xerr=error, fmt="o", color=theme.series[0])
    axes.axvline(0.5, color=theme.series[1], linewidth=0.8)
    axes.set_yticks(places, [name for name, _ in shown])
    axes.set(xlabel=r"$\tau_{\rm int}$ / configurations", xlim=(0, None), ylim=(-0.7, len(shown) - 0.3))
    return figure
