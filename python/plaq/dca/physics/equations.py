"""Interface between the self-consistency loop and the model: all that depends on its orbitals, spins and solver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from plaq.data.estimate import Estimate
from plaq.dca.physics.general import General
from plaq.dca.physics.one_band import OneBand
from plaq.dca.physics.order import OrderParameter
from plaq.dca.physics.ordered import Ordered


class Equations(Protocol):
    """Equations of a model.

    algebra : of its functions of (K, iw); shift : 1/bath - 1/G0, a number or a function without frequencies;
    first_mu : where the search for mu begins, half filling where particle-hole symmetry has it; order : the order
    parameter (plaq.dca.physics.order) where a symmetry may be broken, else None; series_columns : names of the columns
    of `Measured.series`.
    """

    algebra: Any
    shift: Any
    first_mu: float
    order: OrderParameter | None
    series_columns: list[str]

    def odd(self, f: np.ndarray) -> np.ndarray:
        """Return the part of M, G or 1/g0 that the symmetries of this run leave, of exact ones the whole function."""

    def expansion_constant(self, parameters, beta: float) -> float:
        """Return the constant K of the expansion."""

    def expected_order(self, parameters, beta: float, filling: float) -> float:
        """Return a first guess of <k> at a density."""

    def make_problem(self, mesh, request, solver) -> Any:
        """Return the problem of the C++ solver for a `SolverRequest`."""

    def collect(self, problem, bins, tally, request, distributed=None) -> Any:
        """Return the averages of complete bins as `plaq.dca.solver.ctaux.Measured`, with functions of the request."""

    def filling(self, density: np.ndarray) -> float:
        """Return electrons per cell from the average ``density`` of `Measured.correlations`."""

    def number_pairs(self, correlations) -> Any:
        """Return sum_R <n_R n_0> of cells, [bin], from `Measured.correlations`."""

    def hartree(self, target: float, density: np.ndarray) -> Any:
        """Return the correction of the Hartree term in Sigma, from the measured density to a ``target``."""

    def single_particle(self, evaluation, m, sign, order, averages) -> dict[str, Any]:
        """Return every observable without a two-particle function, from averages without sign."""

    def labels(self, evaluation) -> dict[str, dict[str, Any]]:
        """Return axes, unit and convention of these observables."""

    def least_errors(self, evaluation, measurements: float) -> dict[str, Any]:
        """Return the least error of observables that a conserved number may keep constant."""

    def without_noise(self, estimates: Mapping[str, Estimate], evaluation) -> Mapping[str, Estimate]:
        """Return the estimates with exact values where the model has no interaction."""


def equations_of(model) -> Equations:
    """Return the equations of `plaq.dca.lattice.model.Model`."""
    if not model.general:
        return OneBand(model)
    return General(model) if model.spinor is None else Ordered(model)
