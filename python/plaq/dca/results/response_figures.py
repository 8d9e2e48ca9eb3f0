"""Figures of the lattice's response: susceptibilities along the momenta asked for, and leading eigenvalues."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from plaq.data.display import Drawing
from plaq.data.figures import Theme, subplots, temperature_colour
from plaq.data.formatting import momentum
from plaq.dca.physics.point import Point
from plaq.dca.results.results import Results
from plaq.dca.units import measured, over

SHOWN = {"chi_s": r"$\chi_s$", "chi_c": r"$\chi_c$", "chi_pair_d": r"$\chi_{\rm pair}$, d wave",
         "chi_pair_s": r"$\chi_{\rm pair}$, s wave"}
PANELS = 3
LEADING = {"leading_magnetic": "magnetic", "leading_charge": "charge", "leading_pp": "pairing"}
MOST_TICKS = 6
PARTS = {("",): "all", ("_magnetic",): "spin", ("_charge", "_irreducible"): "charge + irreducible",
         ("_charge",): "charge", ("_irreducible",): "irreducible"}
STEADY = list(PARTS)[:3]  # parts without divergences, which the axes are made for


def response_drawings(results: Results) -> dict[str, Drawing]:
    """Return ``{name: drawing}`` of the figures that these results have data for."""
    any_has = lambda names: any(name in point for point in results.points for name in names)  # noqa: E731
    chosen = {
        "lattice_susceptibilities": (any_has(SHOWN), susceptibilities, "Response of the lattice",
                                     "Static susceptibilities at the momenta asked for, by temperature. They jump "
                                     "where the vertex changes from one cluster momentum to the next."),
        "leading_eigenvalues": (any_has(LEADING), eigenvalues, "Leading eigenvalues on the lattice",
                                "Left: along the momenta, at the lowest temperature. Right: the largest of them "
                                "against temperature. Order sets in where one reaches 1."),
        "pairing_vertex": (any_has(["vertex_d"]), pairing_vertex, "Parts of the pairing vertex",
                           "Left: d-wave projections at the lowest frequencies. Right: contributions to λ_d, which add "
                           "up to it. Where the charge vertex passes a divergence, its part and the irreducible one "
                           "are large and cancel: they are then outside the figure."),
    }
    return {name: Drawing(lambda theme, draw=draw: draw(results, theme), title, caption, True)
            for name, (present, draw, title, caption) in chosen.items() if present}


def susceptibilities(results: Results, theme: Theme) -> Figure:
    """Draw up to three of them side by side, one curve per temperature."""
    names = [name for name in SHOWN if any(name in point for point in results.points)][:PANELS]
    figure, panels = subplots(1, len(names), figsize=(max(5.2, 3.4 * len(names)), 3.3), squeeze=False)
    for axes, name in zip(panels[0], names):
        points = sorted((point for point in results.points if name in point), key=lambda point: -point.T)
        for i, point in enumerate(points):
            values, colour = static(point, name), temperature_colour(1 - i / max(1, len(points) - 1))
            curve(axes, place(values.axes[0].values), values, color=colour, label=f"{point.T:.4g}")
        ticks(axes, points[0][name].axes[0].values)
        axes.set(ylabel=" · ".join(filter(None, (SHOWN[name], results.unit))), ylim=(min(0, axes.get_ylim()[0]), None))
    panels[0][0].legend(title=over("T", results.unit), ncols=1 + len(points) // 6)
    return figure


def eigenvalues(results: Results, theme: Theme) -> Figure:
    """Draw the channels along the momenta at the lowest temperature, and the largest values against temperature."""
    figure, (left, right) = subplots(1, 2, figsize=(7.6, 3.5))
    for colour, (name, label) in zip(theme.series, LEADING.items()):
        points = sorted((point for point in results.points if name in point), key=lambda point: point.T)
        if not points:
            continue
        values = static(points[0], name)
        curve(left, place(values.axes[0].values), values, color=colour, label=label)
        ticks(left, values.axes[0].values)
        largest = [values[int(np.nanargmax(values.mean))] for point in points for values in [static(point, name)]
                   if np.isfinite(values.mean).any()]
        curve(right, np.array([point.T for point in points])[:len(largest)], largest, color=colour)
    for axes in (left, right):
        axes.axhline(1.0, color=theme.ink, lw=0.9, ls=(0, (4, 3)))
    left.set(ylabel="leading eigenvalue", title=f"T = {measured(f'{points_of(results)[0].T:.4g}', results.unit)}")
    right.set(xlabel=over("temperature T", results.unit))
    figure.legend(ncols=3, loc="outside upper right")
    return figure


def pairing_vertex(results: Results, theme: Theme) -> Figure:
    """Draw d-wave projections of the pairing vertex and contributions to lambda_d against temperature."""
    figure, panels = subplots(1, 2, figsize=(7.6, 3.5))
    points = sorted((point for point in results.points if "vertex_d" in point), key=lambda point: point.T)
    labels = [over("d-wave vertex", results.unit), "contribution to λ_d"]
    for axes, name, label in zip(panels, ("vertex_d", "lambda_d"), labels):
        reach = 0.0
        for colour, (part, words) in zip(theme.series, PARTS.items()):
            values = [sum(point[f"{name}{each}"] for each in part) for point in points]
            steady = part in STEADY
            curve(axes, np.array([point.T for point in points]), values, color=colour, label=words,
                  fmt="o-" if steady else "o")
            if steady:
                reach = max(reach, *(abs(float(value.mean)) for value in values))
        axes.axhline(0, color=theme.ink, lw=0.7)
        axes.set(xlabel=over("temperature T", results.unit), ylabel=label, xlim=(0, 1.06 * points[-1].T),
                 ylim=(-1.6 * reach, 1.6 * reach))
    figure.legend(*panels[0].get_legend_handles_labels(), ncols=5, loc="outside upper right")
    return figure


def points_of(results: Results) -> list[Point]:
    """Return the points that have an eigenvalue, the coldest first."""
    return sorted((p for p in results.points if any(name in p for name in LEADING)), key=lambda point: point.T)


def static(point: Point, name: str):
    """Return the values [q] at nu = 0, or at the lowest frequency there is."""
    estimate = point[name]
    return estimate.pick(nu=int(np.argmin(np.abs(estimate.axes[1].values))))


def curve(axes, x, values, **style) -> None:
    """Draw estimates with their errors, those that are known."""
    mean, error = (np.array([getattr(value, part) for value in values]) if isinstance(values, list)
                   else getattr(values, part) for part in ("mean", "error"))
    axes.errorbar(x, mean, np.where(np.isfinite(error), error, 0), **{"fmt": "o-", "ms": 3} | style)


def place(q: np.ndarray) -> np.ndarray:
    """Return the length of the polygon through the momenta up to each of them, [q]."""
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(q, axis=0), axis=1))])


def ticks(axes, q: np.ndarray) -> None:
    """Set ticks at the ends and the corners of the polygon, or some of its momenta where it has too many."""
    steps = np.diff(q, axis=0)
    lengths = np.linalg.norm(steps, axis=1, keepdims=True)
    directions = steps / np.where(lengths > 0, lengths, 1)
    corners = [0, *(i + 1 for i in range(len(steps) - 1) if directions[i] @ directions[i + 1] < 1 - 1e-6), len(q) - 1]
    corners = sorted(set(corners))
    if len(corners) > MOST_TICKS:
        corners = np.unique(np.linspace(0, len(q) - 1, MOST_TICKS).round().astype(int)).tolist()
    axes.set_xticks(place(q)[corners], [momentum(q[i]) for i in corners])
    axes.set_xlabel("q / (1/a)")
