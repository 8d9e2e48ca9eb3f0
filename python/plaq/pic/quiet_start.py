"""Quiet starts: momenta of a normal distribution without noise, from Hammersley's points instead of random numbers.

Particle i of the box, counted cell by cell, has the position i/N and as momenta the normal quantiles of the radical
inverses of i in the bases 2, 3, 5: i's digits behind the point, in reverse [Hammersley 1960]. Any part of the box
then has all momenta in equal shares, up to O(log N/N).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

BASES = (2, 3, 5)


def particle_numbers(x: np.ndarray, per_cell: int, cells: Sequence[int], spacing: Sequence[float]) -> np.ndarray:
    """Return the number of each particle in the box, int64 [n], from positions [n, D] that are ordered by cell."""
    at = np.minimum((x / np.array(spacing)).astype(np.int64), np.array(cells) - 1)
    return np.ravel_multi_index(tuple(at.T), tuple(cells)) * per_cell + np.arange(len(x)) % per_cell


def radical_inverse(i: np.ndarray, base: int) -> np.ndarray:
    """Return the radical inverse of i + 1, [n] in (0, 1); of i + 1, so that it is never 0."""
    i, result, scale = np.asarray(i, np.int64) + 1, np.zeros(len(i)), 1.0 / base
    while i.any():
        i, digit = np.divmod(i, base)
        result, scale = result + digit * scale, scale / base
    return result


def normal(i: np.ndarray) -> np.ndarray:
    """Return normal numbers of variance 1 for the particles i, [n, 3]."""
    return np.stack([scipy.special.ndtri(radical_inverse(i, base)) for base in BASES], axis=1)
