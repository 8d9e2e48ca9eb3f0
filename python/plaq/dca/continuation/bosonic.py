"""Dynamic susceptibilities: chi''(q, omega) of the lattice from chi(q, inu) at several bosonic frequencies.

With S(omega) = chi''(omega)/(pi omega), which is positive and even,

    chi(inu) = int omega^2/(omega^2 + nu^2) S(omega) domega,    chi(0) = int S domega,

so that S is continued as any spectrum, by maximum entropy or by stochastic fits. Its default model is a Gaussian whose
width is the frequency of one mode that falls from nu = 0 to the largest nu as the data do. What extrapolation of the
frequency window added to chi counts as a further error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaq.data.estimate import Estimate
from plaq.dca.continuation.data import Numbers
from plaq.dca.continuation.kernel import Grid

FEWEST = 3  # bosonic frequencies nu >= 0, zero among them
CONSERVED = 1e-9  # |q| below which S^z_q and n_q commute with H: chi'' is 0 there


@dataclass(frozen=True)
class Bosonic:
    """Susceptibility at bosonic frequencies nu [m] >= 0, rising from 0: values, errors [m]; samples [sample, m].

    As `plaq.dca.continuation.one_function.Matsubara`, for S(omega).
    """

    nu: np.ndarray
    values: np.ndarray
    errors: np.ndarray
    samples: np.ndarray | None

    rules = "classic", "bryan"  # chi2 of large alpha has no plateau without an exact norm
    mean = 0.0

    @property
    def norm(self) -> float:
        return float(self.values[0])

    @property
    def variance(self) -> float:
        """Square of the frequency W of one mode, chi(inu)/chi(0) = W^2/(W^2 + nu^2) at the largest nu."""
        ratio = np.clip(self.values[-1] / self.values[0], 1e-3, 0.999)
        return float(self.nu[-1] ** 2 * ratio / (1 - ratio))

    def numbers(self, grid: Grid) -> Numbers:
        """Return the values as integrals of S."""
        return Numbers(grid.bosonic_kernel(self.nu), self.values, self.errors, self.samples)

    def known(self, grid: Grid) -> None:
        """Return nothing: chi(0) is measured."""


def dynamic(chi: Estimate, window: Estimate, at: int) -> Bosonic:
    """Return chi(q, inu) [q, nu] of one momentum, at the frequencies nu >= 0 in rising order."""
    nu = chi.axes[1].values
    order = np.argsort(nu)
    order = order[nu[order] >= 0]
    values, errors = chi.mean[at, order], np.hypot(chi.error[at, order], window.mean[at, order])
    return Bosonic(nu[order], values, errors, None if chi.jackknife is None else chi.jackknife[:, at, order])


def moving(chi: Estimate) -> np.ndarray:
    """Return the indices of momenta at which chi'' is not 0 by conservation."""
    q = chi.axes[0].values
    away = q - 2 * np.pi * np.rint(q / (2 * np.pi))
    return np.flatnonzero(np.linalg.norm(away, axis=1) > CONSERVED)


def why_not(chi: Estimate) -> str:
    """Return why a susceptibility [q, nu] cannot be continued; empty if it can."""
    nu = chi.axes[1].values
    if np.count_nonzero(nu >= 0) < FEWEST or np.abs(nu).min() > 0:
        return f"it needs nu = 0 and at least {FEWEST - 1} frequencies above: two_particle.bosonic = [0, 1, 2, …]"
    if not len(moving(chi)):
        return "it has q = 0 alone, where it does not move"
    return "" if chi.supported else f"it has no errors: {chi.note or 'they are infinite'}"
