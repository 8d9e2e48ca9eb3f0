"""Density of states in place of a band, for one site: Gbar(z) = int de rho(e)/(z - e).

The Bethe lattice of infinite connectivity has rho(e) = 2/(pi D^2) sqrt(D^2 - e^2) with D = 2 t (Georges, Kotliar,
Krauth, Rozenberg, Rev. Mod. Phys. 68, 13 (1996), section II.C). A table has rho at rising energies, linear between them
and zero outside.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from plaq.dca.lattice.coarse_graining import TOLERANCE, CoarseGraining, PatchRules
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.table_of_states import BETHE
from plaq.errors import InputError

POINTS = 10  # Gauss-Legendre points on a piece as long as 2 |Im z|: an error of 1e-12
FINE = 0.02  # least |Im z| over the half width, for moments and free electrons


@dataclass(frozen=True)
class DensityOfStates:
    """Semicircle of half width D, or a table (energies, density) with integral 1."""

    half_width: float | None = None
    energies: np.ndarray | None = None
    density: np.ndarray | None = None

    @classmethod
    def of(cls, model: Any) -> DensityOfStates:
        """Return that of the section [model]."""
        if model.density_of_states == BETHE:
            return cls(half_width=2 * abs(model.t))
        energies, density = np.array(model.density_of_states, dtype=float).T
        return cls(None, energies, density / np.trapezoid(density, energies))

    @property
    def extrema(self) -> tuple[float, float]:
        """Ends of the band."""
        D = self.half_width
        return (float(self.energies[0]), float(self.energies[-1])) if D is None else (-D, D)

    @property
    def is_symmetric(self) -> bool:
        """Whether rho(-e) = rho(e)."""
        if self.half_width is not None:
            return True
        at = np.union1d(self.energies, -self.energies)
        here, there = (np.interp(sign * at, self.energies, self.density, 0, 0) for sign in (1, -1))
        return bool(np.allclose(here, there, rtol=0, atol=1e-10 * here.max()))

    def rule(self, min_im_z: float) -> tuple[np.ndarray, np.ndarray]:
        """Return nodes and weights, of sum 1, of the mean over rho of functions with poles |Im z| >= min_im_z away."""
        if self.half_width is not None:
            if not self.half_width:
                return np.zeros(1), np.ones(1)
            rate = math.asinh(min_im_z / self.half_width)
            n = max(4, math.ceil(math.log(2 / (TOLERANCE * min_im_z)) / (2 * rate)) + 2)
            angle = np.pi * np.arange(1, n + 1) / (n + 1)
            return self.half_width * np.cos(angle), 2 / (n + 1) * np.sin(angle) ** 2
        pieces = np.maximum(1, np.ceil(np.diff(self.energies) / (2 * min_im_z)).astype(int))
        ends = np.concatenate([*(np.linspace(a, b, count, endpoint=False) for a, b, count in
                                 zip(self.energies[:-1], self.energies[1:], pieces)), self.energies[-1:]])
        x, w = np.polynomial.legendre.leggauss(POINTS)
        half = np.diff(ends)[:, None] / 2
        nodes = ((ends[1:] + ends[:-1])[:, None] / 2 + half * x).ravel()
        weights = (half * w).ravel() * np.interp(nodes, self.energies, self.density)
        return nodes, weights / weights.sum()

    def curve(self) -> tuple[np.ndarray, np.ndarray]:
        """Return energies and rho(e) to draw; of a half width 0 its only energy twice."""
        if self.half_width is None:
            return self.energies, self.density
        if not self.half_width:
            return np.zeros(2), np.array([0.0, 1.0])
        x = np.cos(np.linspace(np.pi, 0, 201))
        return self.half_width * x, 2 / (np.pi * self.half_width) * np.sqrt(np.maximum(1 - x**2, 0))

    def moments(self) -> tuple[float, float]:
        """Return mean and variance of the energy."""
        nodes, weights = self.rule(FINE * max(np.ptp(self.extrema), 1e-300))
        mean = float(weights @ nodes)
        return mean, float(weights @ (nodes - mean) ** 2)


class SiteWithDensity(Lattice):
    """Lattice of one site in the cluster, whose band is known by its density of states alone."""

    def __init__(self, states: DensityOfStates):
        super().__init__({(1, 0): -1.0, (-1, 0): -1.0, (0, 1): -1.0, (0, -1): -1.0})
        self.states = states

    def dispersion(self, k):
        """Raise InputError: energies at a momentum are not known."""
        raise InputError("model.density_of_states: there is no band eps(k), so nothing is known at a momentum")

    hamiltonian = elements = energies = dispersion

    @property
    def extrema(self):
        """Ends of the band."""
        return self.states.extrema

    @property
    def largest_energy(self):
        """Max |eps|."""
        return max(map(abs, self.extrema))


class CoarseGrainingOverDensity(CoarseGraining):
    """Means over the density of states, with the interface of CoarseGraining; K = 0 alone, q = 0 alone."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.isolated = False
        mean, variance = cluster.lattice.states.moments()
        self.eps_mean, self.eps_second = np.array([mean]), np.array([variance + mean**2])
        self._rules = None

    def _make_rules(self, min_im_z):
        nodes, weights = self.cluster.lattice.states.rule(min_im_z)
        return PatchRules(min_im_z, nodes[None], weights[None], nodes[None], weights)
