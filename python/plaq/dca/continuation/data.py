"""Data of a continuation: integrals of a spectrum in the eigenbasis of their covariance.

Values at Matsubara frequencies have correlated noise, and their covariance is known from as many samples as there are
bins, or groups of chains: often fewer than values. Therefore

1. values are divided by their errors, and projected onto those singular vectors of the kernel that some spectrum of the
   norm 1 moves by more than a part `VISIBLE` of an error; the others have noise alone;
2. the covariance of these components is that of the samples, shrunk towards its diagonal. The shrinkage is the one
   with which samples are likeliest in the covariance of the others;
3. the covariance is enlarged until samples that are left out have, in that of the others, the median of chi2.

Sources: Jarrell, Gubernatis, Phys. Rep. 269, 133 (1996) for the eigenbasis; Schaefer, Strimmer, Stat. Appl. Genet. Mol.
Biol. 4, 32 (2005) for the shrinkage.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaq.dca.continuation.kernel import Grid

VISIBLE = 0.1
ACCURACY = 1e-5  # of grid and functions, relative to the largest value: errors are not smaller
SHRINKAGES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0)
TAIL = 8  # one in so many samples, the farthest ones, does not decide: the covariance has it in any case
FEWEST_SAMPLES = 8  # for correlations


@dataclass(frozen=True)
class Numbers:
    """Measured integrals of a spectrum.

    kernel [n, x] includes the weights of the grid; values, errors [n], real and finite; samples [sample, n],
    leave-one-out values, None where nothing is known of correlations.
    """

    kernel: np.ndarray
    values: np.ndarray
    errors: np.ndarray
    samples: np.ndarray | None


@dataclass(frozen=True)
class Whitened:
    """Components of the data with the covariance 1, and the kernel that gives them from a spectrum.

    values [p]; samples [sample, p], leave-one-out values; kernel [p, x] includes the weights of the grid. The last
    ``exact`` components have no noise: the norm, or none. size : number of components with noise; shrinkage,
    inflation : of the covariance.
    """

    values: np.ndarray
    samples: np.ndarray
    kernel: np.ndarray
    size: int
    shrinkage: float
    inflation: float
    exact: int

    def chi2(self, spectrum: np.ndarray) -> float:
        """Return chi2 of a spectrum [x] that is integrated back onto the data, without the norm."""
        measured = len(self.values) - self.exact
        return float(np.sum((self.kernel[:measured] @ spectrum - self.values[:measured]) ** 2))


def whitened(grid: Grid, numbers: Numbers, norm: float, known: Numbers | None = None) -> Whitened:
    """Return measured numbers in the eigenbasis of their covariance.

    norm : size of the integral of the spectrum; known : the norm where it has no noise, with what it may deviate by
    as error.
    """
    kernel, values, errors, samples = numbers.kernel, numbers.values, numbers.errors, numbers.samples
    largest = np.abs(values).max()
    floor = ACCURACY * largest
    errors = np.hypot(errors, floor)
    left, _, _ = np.linalg.svd(kernel / errors[:, None] / np.sqrt(grid.weights), full_matrices=False)
    moves = norm * np.abs(left.T @ (kernel / errors[:, None]) / grid.weights).max(axis=1)
    onto = left[:, moves > VISIBLE].T / errors
    rounding = (onto**2) @ np.full(len(errors), floor**2)
    samples = np.zeros((0, len(values))) if samples is None else samples
    if len(samples) >= FEWEST_SAMPLES:
        covariance, shrinkage, inflation = shrunk(scaled_deviations(samples, errors) @ onto.T, rounding)
    else:
        covariance, shrinkage, inflation = np.diag((onto**2) @ errors**2), 1.0, 1.0
    size = int(np.count_nonzero(np.diag(covariance) > 2 * rounding))
    variances, vectors = np.linalg.eigh(covariance)
    rotation = vectors.T / np.sqrt(variances)[:, None] @ onto
    values, samples, kernel = rotation @ values, samples @ rotation.T, rotation @ kernel
    exact = 0 if known is None else len(known.values)
    if exact:
        fixed = known.values / known.errors
        values = np.append(values, fixed)
        samples = np.hstack([samples, np.tile(fixed, (len(samples), 1))])
        kernel = np.vstack([kernel, known.kernel / known.errors[:, None]])
    return Whitened(values, samples, kernel, size or len(variances), shrinkage, inflation, exact)


def scaled_deviations(samples: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Return deviations [sample, n] whose sum of squares is errors^2: larger than theirs where chains disagree."""
    count = len(samples)
    deviations = (samples - samples.mean(axis=0)) * np.sqrt((count - 1) / count)
    own = np.sqrt(np.sum(deviations**2, axis=0))
    noisy = own > 0
    return deviations * np.where(noisy, np.maximum(errors / np.where(noisy, own, 1.0), 1.0), 0.0)


def shrunk(deviations: np.ndarray, floor: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Return (covariance [p, p], shrinkage, inflation) of a mean.

    deviations [sample, p] : their squares add to the covariance; floor [p] : variances of what does not scatter.
    """
    count, size = deviations.shape
    found = []
    for part in SHRINKAGES:
        scores, logs = [], []
        for j in range(count):
            # Sample j from the mean of the others, in the covariance of one sample that these have.
            rest = np.delete(deviations, j, axis=0)
            rest = rest - rest.mean(axis=0)
            one = towards_diagonal(rest.T @ rest / (count - 2), part) + np.diag(floor) / (count - 1)
            lower = np.linalg.cholesky(one * count / (count - 1))
            scores.append(np.sum(np.linalg.solve(lower, deviations[j] * count / (count - 1)) ** 2))
            logs.append(np.log(np.diag(lower)).sum())
        usual = np.argsort(scores)[: count - count // TAIL]
        likelihood = -0.5 * np.sum(np.array(scores)[usual]) - np.sum(np.array(logs)[usual])
        found.append((likelihood, part, float(np.median(scores)) / (size * (1 - 2 / (9 * size)) ** 3)))
    _, part, inflation = max(found)
    covariance = towards_diagonal(deviations.T @ deviations, part) + np.diag(floor)
    return covariance * max(inflation, 1.0), part, inflation


def towards_diagonal(covariance: np.ndarray, part: float) -> np.ndarray:
    return (1 - part) * covariance + part * np.diag(np.diag(covariance))
