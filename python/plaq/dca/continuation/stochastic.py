"""Stochastic continuation: the mean of many non-negative fits, each a sum of boxes at random places.

A fit has the weights >= 0 of its boxes that minimise chi2 (non-negative least squares) of the data with their noise
once more, so that the fits scatter as the data do. Fits whose chi2 exceeds that of the best one by more than the number
of data p are left out. Centres are drawn from the density of the grid's points, widths from a logarithmic distribution.
All samples of a jackknife have the same boxes and the same noise.

Sources: Mishchenko, Prokof'ev, Sakamoto, Svistunov, Phys. Rev. B 62, 6317 (2000), for the mean over fits of boxes;
Krivenko, Harland, Comput. Phys. Commun. 239, 166 (2019).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from plaq.dca.continuation.data import Whitened
from plaq.dca.continuation.kernel import Grid

FITS = 250
BOXES = 80
NARROWEST, WIDEST = 6, 80  # points of the grid
SEED = 20


def stochastic_spectra(grid: Grid, data: Whitened, rows: Sequence[np.ndarray]) -> np.ndarray:
    """Return the spectra [row, x] of data [p] in each row."""
    random = np.random.Generator(np.random.PCG64(SEED))
    found = [[] for _ in rows]
    for _ in range(FITS):
        boxes = random_boxes(grid, random)
        reduced = data.kernel @ boxes.T
        noise = np.append(random.standard_normal(len(reduced) - data.exact), np.zeros(data.exact))
        for fits, values in zip(found, rows):
            weights, distance = scipy.optimize.nnls(reduced, values + noise, maxiter=50 * BOXES)
            fits.append((distance**2, weights @ boxes))
    return np.array([mean_of_good(fits, data.size) for fits in found])


def mean_of_good(fits: list[tuple[float, np.ndarray]], size: int) -> np.ndarray:
    least = min(chi2 for chi2, _ in fits)
    return np.mean([spectrum for chi2, spectrum in fits if chi2 <= least + size], axis=0)


def random_boxes(grid: Grid, random: np.random.Generator) -> np.ndarray:
    """Return boxes [box, x] of the norm 1."""
    points = len(grid.omega)
    half = 0.5 * np.exp(random.uniform(np.log(NARROWEST), np.log(WIDEST), BOXES))
    centre = random.uniform(0, points - 1, BOXES)
    # Edges between points: a box that ends there has part of the height.
    edge = half[:, None] + 0.5 - np.abs(np.arange(points) - centre[:, None])
    boxes = np.clip(edge, 0.0, 1.0)
    return boxes / grid.integral(boxes)[:, None]
