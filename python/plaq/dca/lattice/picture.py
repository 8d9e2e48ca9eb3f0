"""Pictures of a cluster and of a model: cells with orbitals and bonds, momenta with patches, bands along a path."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plaq.data.display import Drawing
from plaq.data.figures import Picture, Theme
from plaq.dca.lattice.path import path
from plaq.dca.lattice.picture_cells import cells
from plaq.dca.lattice.picture_zone import zone

if TYPE_CHECKING:
    from plaq.dca.lattice.cluster import Cluster

NEARLY = 1e-9


def cluster(cluster: Cluster, theme: Theme) -> Picture:
    """Draw the orbitals with the cell of the superlattice, and the momenta with their patches."""
    figure = Picture(figsize=(8.4, 4.0))
    left, right = (_axes(figure, cluster, 1, 2, position) for position in (1, 2))
    cells(left, cluster, theme)
    zone(right, cluster, theme)
    return figure


def model(cluster: Cluster, theme: Theme, mu: float | None = None, unit: str = "") -> Picture:
    """Draw cells, zone and bands; a line at mu, the chemical potential, if it is given."""
    if cluster.lattice.states is not None:
        figure = Picture(figsize=(5.2, 3.5))
        states(figure.add_subplot(), cluster.lattice.states, theme, mu, unit)
        return figure
    figure = Picture(figsize=(12.6, 4.0))
    if cluster.lattice.dimension == 3:  # axes in space take no part in the layout: their labels need room
        figure.get_layout_engine().set(wspace=0.12)
    left, middle = (_axes(figure, cluster, 1, 3, position) for position in (1, 2))
    cells(left, cluster, theme)
    zone(middle, cluster, theme, along=path(cluster.lattice))
    bands(figure.add_subplot(1, 3, 3), cluster.lattice, theme, mu, unit)
    return figure


def drawing(cluster: Cluster, mu: float | None = None, unit: str = "") -> Drawing:
    """Return the picture of a model with its caption."""
    if cluster.lattice.states is not None:
        return Drawing(lambda theme: model(cluster, theme, mu, unit), "Density of states",
                       "Of one spin, without interaction" + (", and the chemical potential with it." if mu is not None
                                                             else "."))
    caption = ("Left: orbitals, the bonds between them, and the cell that repeats. Middle: the cluster momenta in "
               "their patches, the first Brillouin zone, and the path of the bands. Right: bands without interaction")
    caption += ", and the chemical potential with it." if mu is not None else "."
    return Drawing(lambda theme: model(cluster, theme, mu, unit), "Cluster, momenta and bands", caption, wide=True)


def bands(axes, lattice, theme: Theme, mu: float | None = None, unit: str = "") -> None:
    """Draw the bands along the path; those of spin down dashed where they differ."""
    along = path(lattice, 400)
    spins = [lattice.energies(along.points, spin) for spin in range(lattice.spins)]
    if len(spins) == 2 and np.allclose(*spins, rtol=0, atol=NEARLY * max(lattice.largest_energy, 1e-300)):
        spins = spins[:1]
    for spin, energies in enumerate(spins):
        for i, band in enumerate(energies.T):
            axes.plot(along.positions, band, ["-", "--"][spin], color=theme.series[i % len(theme.series)],
                      label=["up", "down"][spin] if len(spins) == 2 and i == 0 else None)
    for tick in along.ticks:
        axes.axvline(tick, color=theme.faint, lw=0.8, zorder=0)
    if mu is not None:
        axes.axhline(mu, color=theme.ink, lw=1.0, ls=":")
        axes.annotate("μ", (1.0, mu), xycoords=("axes fraction", "data"), xytext=(3, -3), textcoords="offset points",
                      color=theme.ink)
    if len(spins) == 2:
        axes.legend()
    axes.set(xlim=(0, along.positions[-1]), xticks=along.ticks, xticklabels=along.labels,
             ylabel=f"ε / {unit}" if unit else "ε", title=f"{lattice.bands} band{'s' * (lattice.bands > 1)}")
    axes.grid(False, axis="x")


def states(axes, density, theme: Theme, mu: float | None = None, unit: str = "") -> None:
    """Draw the density of states that takes the place of a band."""
    axes.fill_between(*density.curve(), color=theme.series[0], alpha=0.25, lw=0)
    axes.plot(*density.curve(), color=theme.series[0])
    if mu is not None:
        axes.axvline(mu, color=theme.ink, lw=1.0, ls=":")
        axes.annotate("μ", (mu, 1.0), xycoords=("data", "axes fraction"), xytext=(3, -9), textcoords="offset points",
                      color=theme.ink)
    axes.set(xlabel=f"ε / {unit}" if unit else "ε", ylabel=f"ρ {unit}".rstrip(), title="density of states",
             ylim=(0, None))


def _axes(figure: Picture, cluster: Cluster, *position: int):
    if cluster.lattice.dimension == 3:
        return figure.add_subplot(*position, projection="3d")
    return figure.add_subplot(*position)
