"""Hubbard model of a run: interaction, lattice, cluster, their symmetry, and averages over patches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.coarse_graining import CoarseGraining
from plaq.dca.lattice.density_of_states import (
    CoarseGrainingOverDensity,
    DensityOfStates,
    SiteWithDensity,
)
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.interaction import Interaction
from plaq.dca.lattice.matrix_coarse_graining import MatrixCoarseGraining
from plaq.dca.lattice.particle_hole import Exchange, at_half_filling, general_exchange
from plaq.dca.lattice.spinor import Spinor, SpinorCoarseGraining, spinor_group, spinor_interaction, spinor_of
from plaq.dca.lattice.symmetry import PointGroup
from plaq.dca.lattice.transfers import momenta_asked


def lattice_of(parameters) -> Lattice:
    """Return the lattice of `plaq.dca.parameters.Parameters`."""
    cell = parameters.hamiltonian
    if parameters.model.density_of_states is not None:
        return SiteWithDensity(DensityOfStates.of(parameters.model))
    return Lattice(parameters.hopping(), cell.orbitals, cell.positions)


def cluster_of(parameters) -> Cluster:
    """Return the cluster of `plaq.dca.parameters.Parameters`."""
    return Cluster(lattice_of(parameters), parameters.hamiltonian.vectors)


@dataclass(frozen=True)
class Model:
    """Hubbard model on a cluster of its lattice, fixed during a run.

    U : repulsion on a site of one band, in the unit of the hopping amplitudes; interaction : all of a cell; general :
    whether functions are matrices [S, K, a, b, w], with MatrixCoarseGraining, or [K, w] of one band; group : point
    group of the cluster; transfers : indices of the momenta q of two-particle functions; mirror : [K] partners of an
    exchange of particles and holes that is a symmetry of this run, of a general model an `Exchange`, else None
    (plaq.dca.lattice.particle_hole); momenta : [q, 2] at which responses of the lattice are asked for, in 1/a, or None;
    spinor : that of a phase of broken symmetry, whose components are then the orbitals of all of this; else None.
    """

    U: float
    lattice: Lattice
    cluster: Cluster
    group: PointGroup
    coarse_graining: CoarseGraining | MatrixCoarseGraining
    transfers: list[int]
    mirror: np.ndarray | Exchange | None
    interaction: Interaction | None = None
    general: bool = False
    momenta: np.ndarray | None = None
    spinor: Spinor | None = None

    @property
    def spins(self) -> int:
        """Number S of spins that functions of a general model are stored for."""
        return self.lattice.spins

    def invariant(self, f: np.ndarray) -> np.ndarray:
        """Return the part of M, G or 1/g0 [..., S, K, a, b, w] of a general model that further symmetries leave.

        Beside the point group these are the exchange of particles and holes, and those of a spinor.
        """
        if self.spinor is not None:
            return self.spinor.invariant(f)
        return f if self.mirror is None else self.mirror.odd(f)

    @classmethod
    def of(cls, parameters) -> Model:
        """Return the model of `plaq.dca.parameters.Parameters`."""
        p, cluster, isolated = parameters, cluster_of(parameters), parameters.dca.isolated
        interaction = p.hamiltonian.interaction
        transfers = [cluster.momentum_index(np.pi * np.array(p.hamiltonian.momentum(q)))
                     for q in p.two_particle.transfers]
        if p.is_general:
            return cls._general(p, cluster, transfers)
        coarse = (CoarseGraining(cluster, isolated) if cluster.lattice.states is None else
                  CoarseGrainingOverDensity(cluster))
        return cls(p.model.U, cluster.lattice, cluster, PointGroup(cluster), coarse, transfers,
                   at_half_filling(p, cluster), interaction,
                   momenta=momenta_asked(p.two_particle.momenta, cluster.lattice))

    @classmethod
    def _general(cls, p, cluster: Cluster, transfers: list[int]) -> Model:
        interaction, isolated = p.hamiltonian.interaction, p.dca.isolated
        group, exchange = PointGroup(cluster, interaction, isolated), general_exchange(p, cluster)
        if p.hamiltonian.order is None:
            coarse = MatrixCoarseGraining(cluster, isolated, group)
            return cls(np.nan, cluster.lattice, cluster, group, coarse, transfers, exchange, interaction, True,
                       momenta_asked(p.two_particle.momenta, cluster.lattice))
        spinor = spinor_of(p.hamiltonian.order, cluster, exchange)
        cluster, group = spinor.cluster, spinor_group(spinor, group)
        coarse = SpinorCoarseGraining(spinor, isolated, group)
        return cls(np.nan, cluster.lattice, cluster, group, coarse, transfers, exchange,
                   spinor_interaction(interaction, spinor.tau), True, spinor=spinor)
