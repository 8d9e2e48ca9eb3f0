"""Convergence of the self-consistency loop: distance from self-consistency, and iterations still needed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from plaq.dca.solver import jackknife_groups

APPROACH, FINAL = "approach", "final"  # phases of a temperature: only iterations of the last one count

FADING = 0.75  # largest part of the deviation after a step in T that remains after one more iteration
NEGLIGIBLE = 1.0  # such a deviation, in errors of the temperature's Sigma
UNNOTICED = 1e-5  # a density that deviates by less has deviated by rounding
UNORDERED = 5e-3  # change of the order in Sigma, in units of the field, that is none
RARE = 1e-3  # probability under noise alone below which a mismatch is not noise,
SMALL = 2.0  # unless it is below so many errors, which the error bars of the results can absorb


@dataclass(frozen=True)
class Residual:
    """Deviation of one iteration from self-consistency, samples in the sense of plaq.dca.solver.jackknife_groups.

    weight : measurements; sigma : [1 + group, K, w] Sigma_out - Sigma_in; density : [1 + group] density of the cluster
    less that of the lattice; order : [1 + group] change of the order in Sigma, None where no symmetry may be broken.
    """

    weight: float
    sigma: np.ndarray
    density: np.ndarray
    order: np.ndarray | None = None


@dataclass(frozen=True)
class Mismatch:
    """Distance from self-consistency with errors; zero there, up to the noise of output and input.

    sigma : root mean square of Sigma_out - Sigma_in; density : of the cluster less that of the lattice;
    modes : number of directions of the noise of Sigma, (sum l)^2 / sum l^2 with the eigenvalues l of its covariance;
    groups : number of groups that give the errors; order : the part of Sigma that breaks a symmetry.
    """

    sigma: float
    sigma_error: float
    density: float
    density_error: float
    modes: float = np.inf
    groups: int = 0
    order: float = 0.0
    order_error: float = 0.0

    def chance(self) -> float:
        """Return the probability that noise alone gives as much of sigma or of density, or more.

        It follows from the distribution of t, and from that of F, where a sum of squares of unequal modes counts as
        one of `modes` equal ones (Satterthwaite, Biometrics Bull. 2, 110 (1946)).
        """
        free = self.groups - 1
        if free < 1:
            return 1.0
        by_sigma = scipy.special.fdtrc(self.modes, self.modes * free, _over(self.sigma, self.sigma_error) ** 2)
        by_density = scipy.special.stdtr(free, -_over(self.noticed(), self.density_error))
        by_order = scipy.special.stdtr(free, -_over(self.ordering(), self.order_error))
        return float(min(1.0, 2 * min(by_sigma, 2 * by_density, 2 * by_order)))

    def noticed(self) -> float:
        """Return the size of the density's mismatch, 0 where it is rounding."""
        return abs(self.density) if abs(self.density) > UNNOTICED else 0.0

    def ordering(self) -> float:
        """Return the size of the order's mismatch, 0 where it is negligible."""
        return abs(self.order) if abs(self.order) > UNORDERED else 0.0

    def is_noise(self) -> bool:
        """Return whether noise alone explains all of it."""
        return self.within(SMALL) or self.chance() > RARE

    def within(self, tolerance: float) -> bool:
        """Return whether all are within so many of their errors.

        Density and order have twice as many, since one number scatters more than a mean.
        """
        return self.is_steady(tolerance) and self.ordering() <= 2 * tolerance * self.order_error

    def is_steady(self, tolerance: float) -> bool:
        """Return `within` for Sigma as a whole and the density alone."""
        return (self.sigma <= tolerance * self.sigma_error
                and self.noticed() <= 2 * tolerance * self.density_error)


def mismatch(residuals: list[Residual], weights: np.ndarray, density_noise: float = 0.0) -> Mismatch:
    """Return the mismatch of the weighted mean of residuals.

    weights : [group] measurements of the samples; density_noise : an error of the density common to all samples.
    """
    total = sum(r.weight for r in residuals)
    sigma = sum(r.weight * r.sigma for r in residuals) / total
    density = sum(r.weight * r.density for r in residuals) / total
    order = sum(r.weight * (np.zeros(len(sigma)) if r.order is None else r.order) for r in residuals) / total
    size = lambda f: float(np.sqrt(np.mean(np.abs(f) ** 2)))
    return Mismatch(size(sigma[0]), size(jackknife_groups.error(sigma, weights)), float(density[0]),
                    float(np.hypot(jackknife_groups.error(density, weights), density_noise)),
                    modes(sigma[1:]), len(weights), float(order[0]), float(jackknife_groups.error(order, weights)))


def modes(samples: np.ndarray) -> float:
    """Return (sum l)^2 / sum l^2 of the eigenvalues l of the covariance of ``samples`` [sample, ...].

    Without bias to first order (Ledoit and Wolf, Ann. Stat. 30, 1081 (2002)); between 1 and the number of real
    components.
    """
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


def iterations_left(mismatch: Mismatch, part: float) -> int:
    """Return the number of iterations until the deviation after the step in T is negligible.

    The remaining deviation is estimated from ``mismatch``; below half its noise it is invisible.
    part : measurements behind the mismatch, as a part of the temperature's.
    """
    worst = max(_without_noise(mismatch.sigma, mismatch.sigma_error),
                _without_noise(mismatch.noticed(), mismatch.density_error),
                _without_noise(mismatch.ordering(), mismatch.order_error))
    return int(np.ceil(np.log(max(worst / np.sqrt(part) / NEGLIGIBLE, 1.0)) / np.log(1 / FADING)))


def has_decayed(mismatch: Mismatch, sigma_error: float, density_error: float) -> bool:
    """Return whether the deviation after the step in T is negligible beside these errors of the temperature.

    mismatch : of all final iterations, where `dca.iterations` ended the approach before that was known. Noise of the
    mismatch that is more than twice as large as the errors could hide a deviation.
    """
    pairs = ((mismatch.sigma, mismatch.sigma_error, sigma_error),
             (mismatch.noticed(), mismatch.density_error, density_error))
    return all(_without_noise(deviation, noise) * noise <= NEGLIGIBLE * error for deviation, noise, error in pairs)


def _without_noise(deviation: float, error: float) -> float:
    """Return the deviation without its noise, in errors."""
    return max(np.sqrt(max((deviation / error) ** 2 - 1, 0.0)), 0.5) if 0 < error < np.inf else 0.0


def next_phase(settled: bool, iteration: int, most: int, fewest: int, last: int) -> str:
    """Return the phase after an ``iteration`` of the approach.

    A temperature has at most ``most`` iterations and at least ``fewest``, the ``last`` final ones among them. The
    measurements of an iteration never decide whether the iteration itself counts.
    """
    return FINAL if iteration >= most - last or settled and iteration >= fewest - last else APPROACH
