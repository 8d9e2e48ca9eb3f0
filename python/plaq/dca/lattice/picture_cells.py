"""Picture of a cluster in space: orbitals, bonds and the cell that repeats."""

from __future__ import annotations

from itertools import product

import numpy as np

from plaq.data.figures import Theme

AXES = "xyz"
FAINTEST = 0.03  # bond that is drawn, over the strongest


def cells(axes, cluster, theme: Theme) -> None:
    """Draw the orbitals of the cluster with their bonds, those of its copies faintly, and the cell that repeats.

    In Cartesian coordinates; orbitals in one place are drawn beside each other. The width of a bond is that of its
    amplitude.
    """
    lattice = cluster.lattice
    places = drawn_places(lattice)
    edges = outline(cluster.vectors)
    _bonds(axes, cluster, places, theme)
    for edge in edges:
        axes.plot(*_points(edge @ lattice.system.axes), color=theme.series[1], lw=1.5)
    around = _cells_around(cluster, edges)
    axes.plot(*_points(_of(around, places, lattice).reshape(-1, lattice.dimension)), "o", color=theme.faint, ms=3.5)
    for a, name in enumerate(lattice.orbitals):
        colour = theme.series[[0, 2, 3, 4, 5, 1][a % 6]]
        axes.plot(*_points(_of(cluster.sites, places, lattice)[:, a]), "o", color=colour, ms=6.5, label=name)
    if lattice.bands > 1:
        axes.legend(loc="best", title=None, handletextpad=0.2, ncols=min(lattice.bands, 3))
    noun = "sites" if lattice.bands == 1 else "cells"
    noun = noun[:-1] if cluster.size == 1 else noun
    decorate(axes, lattice.dimension, [f"{x} / a" for x in AXES], f"{cluster.size} {noun}")


def drawn_places(lattice) -> np.ndarray:
    """Return the positions [b, D] in Cartesian coordinates; orbitals in one place are set apart a little."""
    places = lattice.positions @ lattice.system.axes
    shifted = places.copy()
    for a in range(lattice.bands):
        same = [b for b in range(lattice.bands) if np.abs(places[a] - places[b]).max() < 1e-6]
        if len(same) > 1:
            shifted[a, 0] += 0.22 * (same.index(a) - (len(same) - 1) / 2)
            shifted[a, -1] += 0.12 * (same.index(a) - (len(same) - 1) / 2) * (lattice.dimension > 1)
    return shifted


def outline(vectors) -> list[np.ndarray]:
    """Return the edges [2, D] of the parallelepiped of the rows of `vectors`."""
    dimension = len(vectors)
    corners = np.array(list(product((0, 1), repeat=dimension)))
    return [np.array([c, c + np.eye(dimension, dtype=int)[i]]) @ vectors for c in corners for i in range(dimension)
            if c[i] == 0]


def decorate(axes, dimension: int, labels: list[str], title: str) -> None:
    """Set labels, title and equal scales of axes in one, two or three dimensions."""
    axes.set(xlabel=labels[0], title=title)
    axes.grid(False)
    if dimension == 1:
        axes.set(yticks=[], ylim=(-1, 1))
        axes.spines["left"].set_visible(False)
        axes.locator_params(axis="x", nbins=6)
        return
    axes.set(ylabel=labels[1], aspect="equal")
    if dimension == 3:
        axes.set(zlabel=labels[2])
        axes.locator_params(nbins=4)
        for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
            axis.set_pane_color((0, 0, 0, 0))


def _points(x: np.ndarray) -> np.ndarray:
    """Return coordinates [2 or 3, n] of points [n, D]; a chain lies at y = 0."""
    return np.stack([x[:, 0], np.zeros(len(x))]) if x.shape[1] == 1 else x.T


def _of(sites, places, lattice) -> np.ndarray:
    """Return where the orbitals of cells are drawn [n, b, D]."""
    return (np.asarray(sites) @ lattice.system.axes)[:, None] + places


def _cells_around(cluster, edges) -> np.ndarray:
    """Return the cells of the box around cluster and outline."""
    dimension = cluster.lattice.dimension
    inside = np.concatenate([*edges, cluster.sites])
    margin = 1 if dimension < 3 else 0
    low, high = inside.min(axis=0) - margin, inside.max(axis=0) + margin
    return np.array(list(product(*(range(a, b + 1) for a, b in zip(low, high)))))


def _bonds(axes, cluster, places, theme: Theme) -> None:
    lattice = cluster.lattice
    longest = max((np.abs(t[:, a, b]).max() for _, t, a, b in _amplitudes(lattice)), default=1.0)
    for d, t, a, b in _amplitudes(lattice):
        weight = np.abs(t[:, a, b]).max() / longest
        if weight < FAINTEST:
            continue
        for start in np.unique(np.concatenate([cluster.sites, cluster.sites - d]), axis=0):
            ends = np.stack([_of([start], places, lattice)[0, b], _of([start + d], places, lattice)[0, a]])
            axes.plot(*_points(ends), color=theme.ink, lw=0.3 + 1.5 * weight, alpha=0.15 + 0.45 * weight, zorder=0.5)


def _amplitudes(lattice):
    """Yield (displacement, amplitudes, a, b) of each bond once."""
    for d, t in lattice.table.items():
        for a, b in np.argwhere(np.any(t != 0, axis=0)).tolist():
            if (d, a, b) > (tuple(-x for x in d), b, a):
                yield np.array(d), t, a, b
