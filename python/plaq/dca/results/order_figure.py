"""The figure of an ordered phase: the order parameter, and the gap of a superconductor, against temperature."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from plaq.data.display import Drawing
from plaq.data.estimate import with_error
from plaq.data.figures import Theme, subplots
from plaq.data.formatting import momentum
from plaq.dca.physics.response import inequivalent
from plaq.dca.results.results import Results
from plaq.dca.units import measured, over

NAMES = {"T_N": "staggered magnetisation", "T_c": "pair amplitude, averaged over K"}
CAPTION = ("Without a field. The curve is the fit of its square, which vanishes at the transition; bars and band are "
           "one standard error.")


def order_drawings(results: Results) -> dict[str, Drawing]:
    """Return ``{name: drawing}`` of an ordered phase, where a symmetry may be broken."""
    if results.onset is None:
        return {}
    return {"order": Drawing(lambda theme: draw(results, theme), "Order parameter", CAPTION, True)}


def draw(results: Results, theme: Theme) -> Figure:
    """Draw the order parameter with its fit, beside it the gap at each inequivalent momentum."""
    onset = results.onset
    gapped = any("gap" in point for point in results.points)
    figure, panels = subplots(1, 1 + gapped, figsize=(7.6, 3.6), squeeze=False)
    axes = panels[0][0]
    T, value, error = results.series("order_parameter")
    axes.axhline(0, color=theme.ink, lw=0.6)
    if onset.value is not None:
        fine = np.linspace(onset.fitted[0], onset.value, 200)
        axes.plot(fine, onset.curve(fine), color=theme.series[0])
        mark(axes, onset, theme, results.unit)
    axes.errorbar(T, value, np.where(np.isfinite(error), error, 0), fmt="o", color=theme.series[0], zorder=3)
    axes.set(xlabel=over("temperature T", results.unit), ylabel=NAMES[onset.symbol])
    if gapped:
        gaps(panels[0][1], results, theme)
    if axes.get_legend_handles_labels()[0]:
        axes.legend()
    return figure


def mark(axes, onset, theme: Theme, unit: str) -> None:
    if np.isfinite(onset.error):
        axes.axvspan(onset.value - onset.error, onset.value + onset.error, color=theme.series[1], alpha=0.25, lw=0)
    known = measured(with_error(onset.value, onset.error), unit)
    axes.axvline(onset.value, color=theme.series[1], label=f"${onset.symbol}$ = {known}")


def gaps(axes, results: Results, theme: Theme) -> None:
    """Draw the gap against T, one curve per inequivalent momentum."""
    points = sorted((point for point in results.points if "gap" in point), key=lambda point: point.T)
    K = points[0]["gap"].axes[0].values
    for i, k in enumerate(inequivalent(points[0])):
        value, error = (np.array([getattr(point["gap"], part)[k] for point in points]) for part in ("mean", "error"))
        axes.errorbar([point.T for point in points], value, np.where(np.isfinite(error), error, 0), fmt="o-",
                      color=theme.series[i % len(theme.series)], label=momentum(K[k]))
    axes.axhline(0, color=theme.ink, lw=0.6)
    axes.set(xlabel=over("temperature T", results.unit), ylabel=over("gap at the lowest frequency", results.unit))
    axes.legend(title="K")
