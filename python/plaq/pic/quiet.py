"""Quiet starts: momenta of a normal distribution without noise, from Hammersley's points instead of random numbers.

Particle i of the box, counted cell by cell, has the place i/N and as momenta the normal quantiles of the radical
inverses of i in the bases 2, 3, 5: i's digits behind the point, in reverse [Hammersley 1960]. Any part of the box
then has all momenta in equal shares, up to O(log N/N).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

BASES = (2, 3, 5)


def numbers(x: np.ndarray, per_cell: int, cells: Sequence[int], spacing: Sequence[float]) -> np.ndarray:
    """int64 [n]: which particle of the box each one is, of places [n, D] that come cell by cell."""
    at = np.minimum((x / np.array(spacing)).astype(np.int64), np.array(cells) - 1)
    return np.ravel_multi_index(tuple(at.T), tuple(cells)) * per_cell + np.arange(len(x)) % per_cell


def radical_inverse(i: np.ndarray, base: int) -> np.ndarray:
    """[n] in (0, 1): of i + 1, so that it is never 0."""
    i, result, scale = np.asarray(i, np.int64) + 1, np.zeros(len(i)), 1.0 / base
    while i.any():
        i, digit = np.divmod(i, base)
        result, scale = result + digit * scale, scale / base
    return result


def normal(i: np.ndarray) -> np.ndarray:
    """[n, 3]: numbers of variance 1 for the particles i."""
    return np.stack([ndtri(radical_inverse(i, base)) for base in BASES], axis=1)
