"""Equations of a general model, solved by CT-INT: functions are [S, K, a, b, w], averages are per cell."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from plaq.dca.lattice.algebra import Matrices
from plaq.dca.lattice.interaction import DN, UP
from plaq.dca.physics import hartree, orbitals, single_particle
from plaq.dca.solver import ctint
from plaq.dca.solver.ctaux import Measured

EMPTY = 1e-6  # least response n (1 - n) of an orbital to the chemical potential


class General:
    """`plaq.dca.physics.equations.Equations` of a general model.

    even : whether hopping and interaction are those of their mirror image d -> -d, so that functions of K are real in
    imaginary time.
    """

    series_columns = list(ctint.series_columns)
    order = None

    def __init__(self, model):
        self.model, self.bands = model, len(model.lattice.orbitals)
        self.algebra = Matrices(model.cluster, self.bands)
        self.shift = ctint.auxiliary_shift(model)[..., None]

    @property
    def first_mu(self) -> float:
        return float(np.einsum("skaaw->", self.shift) / (self.shift.shape[0] * self.bands))

    def odd(self, f: np.ndarray) -> np.ndarray:
        return self.model.invariant(f)

    @cached_property
    def even(self) -> bool:
        pairs = self.model.interaction.pairs
        place = lambda d: self.model.cluster.site_index(d)
        there = {key for p in pairs for key in (
            (p.a, p.spin_a, place(p.d), p.b, p.spin_b), (p.b, p.spin_b, place(-np.array(p.d)), p.a, p.spin_a))}
        mirrored = all((p.a, p.spin_a, place(-np.array(p.d)), p.b, p.spin_b) in there for p in pairs)
        return mirrored and all(np.allclose(t, np.swapaxes(t, -1, -2)) for t in self.model.lattice.table.values())

    def expansion_constant(self, parameters, beta: float) -> float:
        return ctint.constant_of(parameters.solver)

    def expected_order(self, parameters, beta: float, filling: float) -> float:
        return ctint.uncorrelated_order(self.model, beta, filling, self.expansion_constant(parameters, beta))

    @property
    def terms(self) -> list:
        """Terms of the interaction, in the order of the average ``vertices``."""
        return [*self.model.interaction.pairs, *self.model.interaction.exchanges]

    def make_problem(self, mesh, request, solver):
        return ctint.make_problem(self.model, mesh, request, solver)

    def collect(self, problem, bins, tally, request, distributed=None) -> Measured:
        return ctint.collect(problem, bins, tally, self.model, request)

    def filling(self, density: np.ndarray) -> float:
        return density.sum()

    def number_pairs(self, correlations) -> np.ndarray:
        return correlations["pairs"].sum(axis=(1, 2, 3, 4, 5))

    def hartree(self, target: float, density: np.ndarray) -> np.ndarray:
        """Return the correction of the Hartree term, [S, 1, a, b, 1], from density [spin, a] to a ``target`` per cell.

        """
        missing = hartree.potential(self.model.interaction, self.missing(target, density))
        return hartree.on_diagonal(missing, self.model.spins)[..., None]

    def missing(self, target: float, density: np.ndarray) -> np.ndarray:
        """Return the electrons [spin, a] that are missing from density [spin, a] to a ``target`` per cell.

        They are dealt to the orbitals in proportion to n (1 - n), the response without correlations.
        """
        response = np.maximum(density * (1 - density), EMPTY)
        return (target - density.sum()) * response / response.sum()

    def mean_field(self, density: np.ndarray, occupations: np.ndarray) -> np.ndarray:
        """Return Sigma at infinite frequency, [S, K, a, b]: Hartree, Fock and exchange terms.

        density : [spin, a]; occupations : <c+_b c_a>(K) as a matrix [S, K, a, b].
        """
        cluster, spins = self.model.cluster, self.model.spins
        there = self.algebra.to_cells(occupations[..., None])[..., 0].real  # <c+_{0 b} c_{R a}>
        stored = lambda s: min(s, spins - 1)
        fock = np.zeros((spins, cluster.size, self.bands, self.bands))  # [S, R, a, b] of c+_{R a} c_{0 b}
        for p in self.model.interaction.pairs:
            if p.spin_a == p.spin_b and p.spin_a < spins:
                d, back = cluster.site_index(p.d), cluster.site_index(-np.array(p.d))
                fock[p.spin_a, d, p.b, p.a] -= p.value * there[p.spin_a, d, p.b, p.a]
                fock[p.spin_a, back, p.a, p.b] -= p.value * there[p.spin_a, back, p.a, p.b]
        for x in self.model.interaction.exchanges:
            fock[UP, 0, x.a, x.b] += x.value * there[stored(DN), 0, x.d, x.c]
            if spins == 2:
                fock[DN, 0, x.c, x.d] += x.value * there[UP, 0, x.b, x.a]
        direct = hartree.on_diagonal(hartree.potential(self.model.interaction, density), spins)
        return direct + self.algebra.to_momenta(fock[..., None])[..., 0]

    def single_particle(self, evaluation, m, sign, order, averages):
        return orbitals.single_particle(self, evaluation, m, sign, order, averages)

    def labels(self, evaluation):
        return orbitals.labels(self, evaluation)

    def least_errors(self, evaluation, measurements):
        return single_particle.one_configuration(evaluation, measurements)

    def without_noise(self, estimates, evaluation):
        return estimates
