"""Setup of one temperature: all that its iterations share and none of them changes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plaq.dca.lattice.matsubara import Mesh
from plaq.dca.lattice.model import Model
from plaq.dca.loop import ordering
from plaq.dca.loop.observer import QuietObserver
from plaq.dca.parameters import Parameters
from plaq.dca.physics.equations import Equations, equations_of
from plaq.dca.physics.vertex_parts import needed_functions
from plaq.dca.solver import choices, iteration_average
from plaq.run.driver import Run

PAIRING = "pp", 0, 0  # in its real form

Channel = tuple[str, int, int]  # (kind, index of the transfer q, bosonic index) of a two-particle function


@dataclass(frozen=True)
class Setup:
    """Temperature T of a run: model, mesh of frequencies, and the ranks that work on it.

    index : of the temperature in dca.temperatures; point : its number in the random streams.
    """

    parameters: Parameters
    model: Model
    run: Run
    observer: QuietObserver
    T: float
    mesh: Mesh
    index: int
    point: int

    @cached_property
    def equations(self) -> Equations:
        """Equations of the model."""
        return equations_of(self.model)

    @property
    def grouped(self) -> bool:
        """Whether errors come from groups of chains: an isolated cluster has no bath that could be noisy."""
        return not self.parameters.dca.isolated

    @property
    def target_density(self) -> float | None:
        """Density that mu is searched for; None where mu is given, or known by particle-hole symmetry."""
        symmetric = self.model.mirror is not None
        return None if symmetric or self.parameters.dca.isolated else self.parameters.dca.density

    @property
    def searched_density(self) -> float | None:
        """Density of an isolated cluster that mu is searched for, from one iteration to the next; else None."""
        symmetric = self.model.mirror is not None
        return None if symmetric or not self.parameters.dca.isolated else self.parameters.dca.density

    @cached_property
    def field(self) -> np.ndarray:
        """Matrix in H of the field that starts an ordered phase, [S, K, a, b, 1]."""
        return self.equations.order.field(self.model.spinor.order.seed)

    def is_seeded(self, records: list[dict]) -> bool:
        """Return whether the iteration after these records of this temperature has the field."""
        return ordering.is_seeded(self.parameters, records)

    @property
    def measurements(self) -> tuple[int, int]:
        """Measurements of an iteration of the approach, and of all final iterations together."""
        return self.parameters.measurements(self.T)

    @property
    def final_iterations(self) -> int:
        """Number of iterations that share the measurements of the temperature."""
        return iteration_average.final_iterations(self.parameters.dca.iterations, self.measurements[1], self.T,
                                                  self.model.lattice.largest_energy)

    @property
    def channels(self) -> list[Channel]:
        """Two-particle functions asked for at this temperature, pairing among them."""
        return asked_channels(self.parameters, self.model) if self.parameters.measures_two_particle(self.T) else []

    @property
    def measures_real_pairing(self) -> bool:
        """Whether pairing at q = 0, nu = 0 is measured in its real form, that of one band."""
        return PAIRING in self.channels and not self.model.general

    @property
    def general_channels(self) -> list[Channel]:
        """Two-particle functions asked for at this temperature, other than pairing in its real form."""
        return [channel for channel in self.channels if not (self.measures_real_pairing and channel == PAIRING)]

    @property
    def exchanged(self) -> list[Channel]:
        """Two-particle functions that the decomposition of the pairing vertex needs at this temperature, if asked for.
        """
        return exchanged_functions(self.parameters, self.model, self.T)


def exchanged_functions(p: Parameters, model: Model, T: float) -> list[Channel]:
    """Return the two-particle functions that the decomposition of the pairing vertex needs; none if not asked for."""
    if not p.two_particle.decomposition or not p.measures_two_particle(T):
        return []
    return needed_functions(model.group, choices.window(p, 1 / T))


def asked_channels(p: Parameters, model: Model) -> list[Channel]:
    """Return every two-particle function that the input asks for."""
    return [(kind, q, m) for kind in p.two_particle.channels for q in model.transfers
            for m in p.two_particle.bosonic]
