"""Picture of a cluster in momentum space: momenta, patches and the first Brillouin zone."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from plaq.data.figures import Theme
from plaq.dca.lattice.patch import voronoi_cell
from plaq.dca.lattice.picture_cells import AXES, decorate

NEAR = range(-2, 3)  # copies that are looked at, in each direction
MOST_NAMES = 16


def zone(axes, cluster, theme: Theme, along=None) -> None:
    """Draw the momenta in their patches, in units of π/a, and the first Brillouin zone; along: the Path of bands."""
    lattice = cluster.lattice
    corners = cartesian(lattice, voronoi_cell(2 * np.pi * np.eye(lattice.dimension), _inverse(lattice)))
    {1: _segments, 2: _polygons, 3: _solids}[lattice.dimension](axes, cluster, corners, theme)
    if along is not None:
        _path(axes, lattice, along, theme)
    labels = [f"$K_{x}$ / (π/a)" for x in AXES]
    decorate(axes, lattice.dimension, labels, "momentum and patch" if cluster.size == 1 else "momenta and patches")


def cartesian(lattice, k) -> np.ndarray:
    """Return momenta k [..., D], k.a_i, in Cartesian coordinates in units of π/a."""
    return np.asarray(k) @ np.linalg.inv(lattice.system.axes).T / np.pi


def _inverse(lattice) -> np.ndarray:
    return np.linalg.inv(np.array(lattice.system.metric, dtype=float))


def _images(cluster, corners) -> list[np.ndarray]:
    """Return the images [n, D] of each momentum that lie in the closed zone of these corners, Cartesian."""
    lattice = cluster.lattice
    shifts = 2 * np.pi * np.array(list(product(NEAR, repeat=lattice.dimension)))
    metric = _inverse(lattice)
    length = lambda k: np.einsum("...i,ij,...j->...", k, metric, k)
    found = []
    for K in cluster.momenta:
        images = K + shifts
        nearest = length(images).min()
        found.append(cartesian(lattice, images[length(images) < nearest * (1 + 1e-9) + 1e-9]))
    return found


def _segments(axes, cluster, corners, theme: Theme) -> None:
    patch = np.sort(cartesian(cluster.lattice, cluster.patch)[:, 0])
    low, high = corners[:, 0].min(), corners[:, 0].max()
    for i, K in enumerate(cartesian(cluster.lattice, cluster.momenta)[:, 0]):
        colour = theme.series[i % len(theme.series)]
        for shift in (-2, 0, 2):
            left, right = np.clip(K + shift + patch, low, high)
            if right > left:
                axes.fill_between([left, right], -0.25, 0.25, color=colour, alpha=0.25, lw=0)
    for i, images in enumerate(_images(cluster, corners)):
        axes.plot(images[:, 0], 0 * images[:, 0], "o", color=theme.series[i % len(theme.series)], ms=6)
        if cluster.size <= MOST_NAMES:
            axes.annotate(cluster.names[i].strip("()"), (images[0, 0], 0.3), ha="center", fontsize=7.5,
                          color=theme.ink)
    axes.plot([low, low, high, high, low], [-0.25, 0.25, 0.25, -0.25, -0.25], color=theme.ink, lw=1.2)


def _polygons(axes, cluster, corners, theme: Theme) -> None:
    lattice = cluster.lattice
    outline = corners[np.argsort(np.arctan2(corners[:, 1], corners[:, 0]))]
    outline = np.vstack([outline, outline[:1]])
    patch = cartesian(lattice, np.vstack([cluster.patch, cluster.patch[:1]]))
    copies = cartesian(lattice, 2 * np.pi * np.array(list(product(NEAR, NEAR))))
    momenta = cartesian(lattice, cluster.momenta)
    reach = 1.3 * np.abs(outline).max(axis=0)
    for i, K in enumerate(momenta):
        colour = theme.series[i % len(theme.series)]
        for shift in copies:
            axes.fill(*(K + shift + patch).T, color=colour, alpha=0.25, lw=0)
            axes.plot(*(K + shift + patch).T, color=theme.ink, lw=0.4)
    for i, images in enumerate(_images(cluster, corners)):
        axes.plot(*images.T, "o", color=theme.series[i % len(theme.series)], ms=6)
        if cluster.size <= MOST_NAMES:
            at = images[np.lexsort((-images[:, 0].round(6), -images[:, 1].round(6)))[0]]
            axes.annotate(cluster.names[i], at, xytext=(4, 4), textcoords="offset points", fontsize=7.5,
                          color=theme.ink)
    axes.plot(*outline.T, color=theme.ink, lw=1.2)
    axes.set(xlim=(-reach[0], reach[0]), ylim=(-reach[1], reach[1]))


def _solids(axes, cluster, corners, theme: Theme) -> None:
    for start, end in _hull_edges(corners):
        axes.plot(*np.array([start, end]).T, color=theme.ink, lw=0.9)
    patch = cartesian(cluster.lattice, cluster.patch)
    for start, end in _hull_edges(patch):  # the patch around Gamma alone: all of them would hide each other
        axes.plot(*np.array([start, end]).T, color=theme.series[0], lw=0.8, alpha=0.8)
    for i, images in enumerate(_images(cluster, corners)):
        colour = theme.series[i % len(theme.series)]
        axes.plot(*images.T, "o", color=colour, ms=5)


def _hull_edges(corners) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the edges of a convex polyhedron: pairs of corners that share two faces."""
    from scipy.spatial import ConvexHull

    hull = ConvexHull(corners)
    planes = np.unique(hull.equations.round(6), axis=0)
    on = np.abs(planes[:, :3] @ corners.T + planes[:, 3:]) < 1e-5
    pairs = combinations(range(len(corners)), 2)
    return [(corners[i], corners[j]) for i, j in pairs if np.sum(on[:, i] & on[:, j]) >= 2]


def _path(axes, lattice, along, theme: Theme) -> None:
    points = cartesian(lattice, along.points)
    flat = np.stack([points[:, 0], 0 * points[:, 0]]) if lattice.dimension == 1 else points.T
    axes.plot(*flat, color=theme.ink, lw=1.4, ls=(0, (3, 2)), alpha=0.8)
    named = {}
    for label, corner in zip(along.labels, along.corners):
        named.setdefault(label, flat[:, corner])
    for label, place in named.items():
        if lattice.dimension == 3:
            axes.text(*place, f"{label}", color=theme.series[5], fontweight="bold", fontsize=8)
        else:
            axes.annotate(label, place, xytext=(-4, -11), textcoords="offset points", color=theme.series[5],
                          fontweight="bold", fontsize=9)
