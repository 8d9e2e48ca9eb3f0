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
from plaq.dca.lattice.particle_hole import at_half_filling
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
    exchange of particles and holes that is a symmetry of this run, else None (plaq.dca.lattice.particle_hole);
    momenta : [q, 2] at which responses of the lattice are asked for, in 1/a, or None.
    """

    U: float
    lattice: Lattice
    cluster: Cluster
    group: PointGroup
    coarse_graining: CoarseGraining | MatrixCoarseGraining
    transfers: list[int]
    mirror: np.ndarray | None
    interaction: Interaction | None = None
    general: bool = False
    momenta: np.ndarray | None = None

    @property
    def spins(self) -> int:
        """Number S of spins that functions of a general model are stored for."""
        return self.lattice.spins

    @classmethod
    def of(cls, parameters) -> Model:
        """Return the model of `plaq.dca.parameters.Parameters`."""
        p, cluster, isolated = parameters, cluster_of(parameters), parameters.dca.isolated
        interaction = p.hamiltonian.interaction
        transfers = [cluster.momentum_index(np.pi * np.array(p.hamiltonian.momentum(q)))
                     for q in p.two_particle.transfers]
        if p.is_general:
            group = PointGroup(cluster, interaction, isolated)
            coarse = MatrixCoarseGraining(cluster, isolated, group)
            return cls(np.nan, cluster.lattice, cluster, group, coarse, transfers, None, interaction, True)
        coarse = (CoarseGraining(cluster, isolated) if cluster.lattice.states is None else
                  CoarseGrainingOverDensity(cluster))
        return cls(p.model.U, cluster.lattice, cluster, PointGroup(cluster), coarse, transfers,
                   at_half_filling(p, cluster), interaction,
                   momenta=momenta_asked(p.two_particle.momenta, cluster.lattice))
