"""Equations of the one-band Hubbard model with U >= 0, solved by CT-AUX: functions are [K, w]."""

from __future__ import annotations

from plaq import _core
from plaq.dca.lattice.algebra import SCALARS
from plaq.dca.lattice.particle_hole import odd_under_exchange
from plaq.dca.physics import free, single_particle
from plaq.dca.solver import choices, ctaux


class OneBand:
    """`plaq.dca.physics.equations.Equations` of one band."""

    algebra = SCALARS
    order = None

    def __init__(self, model):
        self.model, self.shift = model, model.U / 2

    @property
    def first_mu(self) -> float:
        return self.model.U / 2

    @property
    def series_columns(self) -> list[str]:
        return list(_core.dca.series_columns)

    def odd(self, f):
        return odd_under_exchange(f, self.model.mirror)

    def expansion_constant(self, parameters, beta: float) -> float:
        return choices.expansion_constant(parameters, self.model.cluster, beta)

    def expected_order(self, parameters, beta: float, filling: float) -> float:
        return choices.expected_order(parameters, self.model.cluster, beta, filling)

    def make_problem(self, mesh, request, solver):
        return ctaux.make_problem(self.model.cluster, mesh, request, solver)

    def collect(self, problem, bins, tally, request, distributed=None) -> ctaux.Measured:
        return ctaux.collect(problem, bins, tally, self.model.group, distributed, self.model.mirror)

    def filling(self, density) -> float:
        return density

    def number_pairs(self, correlations):
        return correlations["charge"].sum(axis=1)

    def hartree(self, target: float, density) -> float:
        return self.model.U / 2 * (target - density)

    def single_particle(self, evaluation, m, sign, order, averages):
        return single_particle.single_particle(evaluation, m, sign, order, averages)

    def labels(self, evaluation):
        return single_particle.single_particle_labels(evaluation)

    def least_errors(self, evaluation, measurements):
        return single_particle.one_configuration(evaluation, measurements)

    def without_noise(self, estimates, evaluation):
        return estimates | free.without_noise(estimates, evaluation) if self.model.U == 0 else estimates
