"""Picture of loads of ranks before and after, and of the ranks of elements."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib import colormaps

from plaq.balance.loads import Loads
from plaq.balance.replay import Replayed
from plaq.data.figures import Picture, png
from plaq.errors import InputError

MAPS = 4  # to a row


def draw(path: Path, loads: Loads, replayed: list[Replayed]) -> None:
    """Draw the last phase: loads of ranks from high to low, over their mean.

    For elements in two dimensions also a map of ranks for each balancer. RunError if the file cannot be written.
    """
    if path.suffix != ".png":
        raise InputError(f"--picture: {path} does not end in .png")
    mesh = mesh_of(loads)
    rows = 1 + (0 if mesh is None else -(-len(replayed) // MAPS))

    def figure(theme):
        picture = Picture(figsize=(9, 3.2 + 2.3 * (rows - 1)))
        grid = picture.add_gridspec(rows, MAPS, height_ratios=[1.4] + [1] * (rows - 1))
        curves(picture.add_subplot(grid[0, :]), loads, replayed, theme)
        for k, result in enumerate(replayed if mesh is not None else []):
            axes = picture.add_subplot(grid[1 + k // MAPS, k % MAPS])
            axes.imshow(colours(mesh, result.rank_of), origin="lower", interpolation="nearest")
            axes.set_title(result.by)
            axes.set(xticks=[], yticks=[])
            axes.grid(False)
        return picture

    png(figure, path)


def curves(axes, loads: Loads, replayed: list[Replayed], theme) -> None:
    first = replayed[0]
    mean = max(first.first.mean(), 1e-300)
    share = np.arange(len(first.first)) / len(first.first)
    axes.plot(share, np.sort(first.first)[::-1] / mean, color=theme.ink, lw=2.5, label="nothing moves")
    styles = ["-", "--", ":"]
    for k, result in enumerate(result for result in replayed if result.by != "none"):
        axes.plot(share, np.sort(result.last)[::-1] / mean, styles[k // len(theme.series) % 3],
                  color=theme.series[k % len(theme.series)], label=result.by)
    axes.set(xlabel="share of the ranks", ylabel="load / mean",
             title=f"{loads.name}: the last phase on {len(share)} ranks")
    axes.legend(ncols=2)


def mesh_of(loads: Loads) -> np.ndarray | None:
    """Return (rows, columns): the number of the element at each point of a two-dimensional mesh, -1 without one.

    None if the elements do not lie on such a mesh.
    """
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
    """Return a colour for each rank; ranks with neighbouring numbers get different ones."""
    turn = (ranks * 0.618033988749895) % 1
    shade = colormaps["twilight"](0.1 + 0.8 * turn)[:, :3]
    out = np.ones((*mesh.shape, 3))
    out[mesh >= 0] = shade[mesh[mesh >= 0]]
    return out
