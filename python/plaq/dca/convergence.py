"""When the self-consistency loop has converged: how far it is from that, and how many iterations the way takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plaq.dca.solver import groups, pooling

APPROACH, FINAL = "approach", "final"  # the phases of a temperature: only iterations of the last one count

FADING = 0.75  # of the deviation that a step in T left, at most so much is left after one more iteration
NEGLIGIBLE = 1.0  # such a deviation, in errors of the temperature's Sigma
UNNOTICED = 1e-5  # a density that deviates by less has deviated by rounding


@dataclass
class Mismatch:
    """How far from self-consistency: both are zero there, but for the noise of output and input.

    sigma : root mean square of Sigma_out - Sigma_in; density : of the cluster less that of the lattice. With their errors."""

    sigma: float
    sigma_error: float
    density: float
    density_error: float

    def within(self, tolerance: float) -> bool:
        """Whether both are, in their errors; twice as many for the density, since one number scatters more than a mean."""
        return (self.sigma <= tolerance * self.sigma_error
                and abs(self.density) <= max(2 * tolerance * self.density_error, UNNOTICED))


def mismatch(residuals: list[dict[str, Any]], weights: np.ndarray, density_noise: float = 0.0) -> Mismatch:
    """Of the weighted mean of residuals: of each its weight and samples of Sigma_out - Sigma_in [1 + group, K, w] and of
    the densities' difference.

    weights : of the samples; density_noise : an error of the density that all samples have in common"""
    total = sum(r["weight"] for r in residuals)
    sigma, density = (sum(r["weight"] * r[name] for r in residuals) / total for name in ("sigma", "density"))
    size = lambda f: float(np.sqrt(np.mean(np.abs(f) ** 2)))
    return Mismatch(size(sigma[0]), size(groups.error(sigma, weights)), float(density[0]),
                    float(np.hypot(groups.error(density, weights), density_noise)))


def iterations_left(off: Mismatch, of_all: float) -> int:
    """How many more iterations make negligible what the step in T did to Sigma, by what is left of it now; what is below
    half its noise cannot be seen.

    of_all : the measurements that found it, as a part of the temperature's"""
    left = max(np.sqrt(max(off.sigma**2 - off.sigma_error**2, 0.0)), off.sigma_error / 2)
    error = off.sigma_error * np.sqrt(of_all)
    if not 0 < error < np.inf:
        return 0
    return int(np.ceil(np.log(max(left / error / NEGLIGIBLE, 1.0)) / np.log(1 / FADING)))


def next_phase(settled: bool, iteration: int, most: int, fewest: int) -> str:
    """The phase after an ``iteration`` of the approach, of at most ``most`` iterations at a temperature and at least
    ``fewest``, those that count among them. What an iteration measured never decides whether itself counts."""
    parts = pooling.parts(most)
    return FINAL if iteration >= most - parts or settled and iteration >= fewest - parts else APPROACH
