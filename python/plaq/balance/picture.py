"""Loads of ranks before and after, and where elements are."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from plaq.balance.loads import Loads
from plaq.balance.replay import Replayed
from plaq.data.figures import plt, png
from plaq.errors import InputError

MAPS = 4  # to a row


def draw(path: Path, loads: Loads, all_of_them: list[Replayed]) -> None:
    """The last phase: loads of ranks from high to low, over their mean; and, of elements in two dimensions, a map
    of ranks for each balancer. RunError where the file cannot be written."""
    if path.suffix != ".png":
        raise InputError(f"--picture: {path} does not end in .png")
    where = mesh_of(loads)
    rows = 1 + (0 if where is None else -(-len(all_of_them) // MAPS))

    def figure(theme):
        picture = plt.figure(figsize=(9, 3.2 + 2.3 * (rows - 1)))
        grid = picture.add_gridspec(rows, MAPS, height_ratios=[1.4] + [1] * (rows - 1))
        curves(picture.add_subplot(grid[0, :]), loads, all_of_them, theme)
        for k, one in enumerate(all_of_them if where is not None else []):
            axes = picture.add_subplot(grid[1 + k // MAPS, k % MAPS])
            axes.imshow(colours(where, one.where), origin="lower", interpolation="nearest")
            axes.set_title(one.by)
            axes.set(xticks=[], yticks=[])
            axes.grid(False)
        return picture

    png(figure, path)


def curves(axes, loads: Loads, all_of_them: list[Replayed], theme) -> None:
    first = all_of_them[0]
    mean = max(first.first.mean(), 1e-300)
    share = np.arange(len(first.first)) / len(first.first)
    axes.plot(share, np.sort(first.first)[::-1] / mean, color=theme.ink, lw=2.5, label="nothing moves")
    styles = ["-", "--", ":"]
    for k, one in enumerate(one for one in all_of_them if one.by != "none"):
        axes.plot(share, np.sort(one.last)[::-1] / mean, styles[k // len(theme.series) % 3],
                  color=theme.series[k % len(theme.series)], label=one.by)
    axes.set(xlabel="share of the ranks", ylabel="load / mean",
             title=f"{loads.name}: the last phase on {len(share)} ranks")
    axes.legend(ncols=2)


def mesh_of(loads: Loads) -> np.ndarray | None:
    """(rows, columns) the number of the element at each point of a mesh of two dimensions, -1 where none is;
    else None."""
    points = loads.phases[-1].points
    if not len(points) or np.any(points[:, 2]) or not np.any(points[:, 1]) or np.any(points % 1) or points.min() < 0:
        return None
    x, y = points[:, 0].astype(int), points[:, 1].astype(int)
    if (x.max() + 1) * (y.max() + 1) > 4 * len(points) + 1000:
        return None
    out = np.full((y.max() + 1, x.max() + 1), -1)
    out[y, x] = np.arange(len(points))
    return out


def colours(mesh: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Each rank a colour; those of ranks with neighbouring numbers differ."""
    turn = (ranks * 0.618033988749895) % 1
    shade = plt.get_cmap("twilight")(0.1 + 0.8 * turn)[:, :3]
    out = np.ones((*mesh.shape, 3))
    out[mesh >= 0] = shade[mesh[mesh >= 0]]
    return out
