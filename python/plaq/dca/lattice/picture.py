"""Picture of a cluster: its sites and its momenta."""

from __future__ import annotations

from itertools import product

import numpy as np

from plaq.data.figures import Theme, subplots

NEAR = range(-2, 3)  # copies that are drawn, in each direction


def cluster(cluster, theme: Theme):
    """Draw the sites with the cell of the superlattice, and the momenta with their patches."""
    figure, (left, right) = subplots(1, 2, figsize=(8.4, 4.0))
    sites(left, cluster, theme)
    momenta(right, cluster, theme)
    return figure


def sites(axes, cluster, theme: Theme) -> None:
    """Draw the sites of the cluster, those of its copies faintly, and the cell that repeats."""
    a, b = cluster.vectors
    corners = np.array([0 * a, a, a + b, b, 0 * a])
    axes.plot(*corners.T, color=theme.series[1], lw=1.5)
    low = np.minimum(corners.min(axis=0), cluster.sites.min(axis=0)) - 1
    high = np.maximum(corners.max(axis=0), cluster.sites.max(axis=0)) + 1
    everywhere = np.array(list(product(range(low[0], high[0] + 1), range(low[1], high[1] + 1))))
    axes.plot(*everywhere.T, "o", color=theme.faint, ms=4)
    axes.plot(*cluster.sites.T, "o", color=theme.series[0], ms=7)
    axes.set(xlabel="x / a", ylabel="y / a", title=f"{cluster.size} sites", aspect="equal")
    axes.grid(False)


def momenta(axes, cluster, theme: Theme) -> None:
    """Draw the momenta in their patches, in units of π/a, and the first Brillouin zone of the square lattice."""
    patch = np.vstack([cluster.patch, cluster.patch[:1]]) / np.pi
    copies = 2.0 * np.array(list(product(NEAR, NEAR)))
    for i, K in enumerate(cluster.momenta / np.pi):
        colour = theme.series[i % len(theme.series)]
        for shift in copies:
            axes.fill(*(K + shift + patch).T, color=colour, alpha=0.25, lw=0)
            axes.plot(*(K + shift + patch).T, color=theme.ink, lw=0.4)
        images = K + copies
        inside = np.all(np.abs(images) <= 1 + 1e-9, axis=1)
        axes.plot(*images[inside].T, "o", color=colour, ms=6)
        if cluster.size <= 16:
            axes.annotate(cluster.names[i], K, xytext=(4, 4), textcoords="offset points", fontsize=7.5, color=theme.ink)
    axes.plot([-1, 1, 1, -1, -1], [-1, -1, 1, 1, -1], color=theme.ink, lw=1.2)
    axes.set(xlim=(-1.3, 1.3), ylim=(-1.3, 1.3), xlabel="$K_x$ / (π/a)", ylabel="$K_y$ / (π/a)",
             title="momenta and patches", aspect="equal")
    axes.grid(False)
