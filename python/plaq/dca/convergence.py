"""When the self-consistency loop has converged: how far it is from that, and how many iterations the way takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from plaq.dca.solver import groups

APPROACH, FINAL = "approach", "final"  # the phases of a temperature: only iterations of the last one count

FADING = 0.75  # of the deviation that a step in T left, at most so much is left after one more iteration
NEGLIGIBLE = 1.0  # such a deviation, in errors of the temperature's Sigma
UNNOTICED = 1e-5  # a density that deviates by less has deviated by rounding
RARE = 1e-3  # what noise alone does as seldom as that is no noise,
SMALL = 2.0  # but for a mismatch of so many errors, which the bars of the results have room for


@dataclass
class Mismatch:
    """How far from self-consistency: both are zero there, but for the noise of output and input.

    sigma : root mean square of Sigma_out - Sigma_in; density : of the cluster less that of the lattice.
        With their errors.
    modes : in how many directions the noise of Sigma goes, (sum l)^2 / sum l^2 with the eigenvalues l of its
        covariance
    groups : from which the errors come"""

    sigma: float
    sigma_error: float
    density: float
    density_error: float
    modes: float = np.inf
    groups: int = 0

    def chance(self) -> float:
        """How often noise alone gives as much of one of the two, or more: by the distributions of F, where a sum
        of squares of unequal modes counts as one of `modes` equal ones (Satterthwaite, Biometrics Bull. 2,
        110 (1946)), and of t."""
        free = self.groups - 1
        if free < 1:
            return 1.0
        by_sigma = stats.f.sf(_over(self.sigma, self.sigma_error) ** 2, self.modes, self.modes * free)
        by_density = stats.t.sf(_over(self.noticed(), self.density_error), free)
        return float(min(1.0, 2 * min(by_sigma, 2 * by_density)))

    def noticed(self) -> float:
        """The size of the density's mismatch, 0 where it is rounding."""
        return abs(self.density) if abs(self.density) > UNNOTICED else 0.0

    def is_noise(self) -> bool:
        return self.within(SMALL) or self.chance() > RARE

    def within(self, tolerance: float) -> bool:
        """Whether both are, in their errors; twice as many for the density,
        since one number scatters more than a mean."""
        return (self.sigma <= tolerance * self.sigma_error
                and self.noticed() <= 2 * tolerance * self.density_error)


def mismatch(residuals: list[dict[str, Any]], weights: np.ndarray, density_noise: float = 0.0) -> Mismatch:
    """Of the weighted mean of residuals: of each its weight and samples of Sigma_out - Sigma_in [1 + group, K, w]
    and of the densities' difference.

    weights : of the samples; density_noise : an error of the density that all samples have in common"""
    total = sum(r["weight"] for r in residuals)
    sigma, density = (sum(r["weight"] * r[name] for r in residuals) / total for name in ("sigma", "density"))
    size = lambda f: float(np.sqrt(np.mean(np.abs(f) ** 2)))
    return Mismatch(size(sigma[0]), size(groups.error(sigma, weights)), float(density[0]),
                    float(np.hypot(groups.error(density, weights), density_noise)), modes(sigma[1:]), len(weights))


def modes(samples: np.ndarray) -> float:
    """(sum l)^2 / sum l^2 of the eigenvalues l of the covariance that these come from, [sample, ...], without bias
    to first order (Ledoit and Wolf, Ann. Stat. 30, 1081 (2002)); between 1 and the number of real components."""
    parts = np.concatenate([part.reshape(len(samples), -1) for part in (samples.real, samples.imag)], axis=1)
    free = len(samples) - 1
    if free < 2:
        return 1.0
    # the same eigenvalues, but for zeros
    products = (parts - parts.mean(axis=0)) @ (parts - parts.mean(axis=0)).T / free
    sum_of_squares = free**2 * (np.sum(products**2) - np.trace(products) ** 2 / free) / ((free - 1) * (free + 2))
    most = parts.shape[1]
    return float(np.clip(np.trace(products) ** 2 / sum_of_squares, 1, most)) if sum_of_squares > 0 else float(most)


def _over(size: float, error: float) -> float:
    return size / error if error > 0 else 0.0 if size == 0 else np.inf


def iterations_left(off: Mismatch, of_all: float) -> int:
    """How many more iterations make negligible what the step in T did to Sigma and to the density, by what is left of
    it now; what is below half its noise cannot be seen.

    of_all : the measurements that found it, as a part of the temperature's"""
    worst = max(_left(off.sigma, off.sigma_error), _left(off.noticed(), off.density_error))
    return int(np.ceil(np.log(max(worst / np.sqrt(of_all) / NEGLIGIBLE, 1.0)) / np.log(1 / FADING)))


def _left(deviation: float, error: float) -> float:
    """What is left without the noise, in errors."""
    return max(np.sqrt(max((deviation / error) ** 2 - 1, 0.0)), 0.5) if 0 < error < np.inf else 0.0


def next_phase(settled: bool, iteration: int, most: int, fewest: int, last: int) -> str:
    """The phase after an ``iteration`` of the approach, of at most ``most`` iterations at a temperature and at least
    ``fewest``, the ``last`` of them, those that count, among them. What an iteration measured never decides whether
    itself counts."""
    return FINAL if iteration >= most - last or settled and iteration >= fewest - last else APPROACH
