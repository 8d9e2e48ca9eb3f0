"""Hubbard model of a run: interaction, lattice, cluster, their symmetry, and averages over patches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.coarse_graining import CoarseGraining
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.particle_hole import at_half_filling
from plaq.dca.lattice.symmetry import PointGroup


def lattice_of(parameters) -> Lattice:
    """Return the lattice of `plaq.dca.parameters.Parameters`."""
    return Lattice(parameters.hopping())


def cluster_of(parameters) -> Cluster:
    """Return the cluster of `plaq.dca.parameters.Parameters`."""
    return Cluster(lattice_of(parameters), parameters.model.cluster)


@dataclass(frozen=True)
class Model:
    """Hubbard model on a cluster of its lattice, fixed during a run.

    U : repulsion on a site, in the unit of the hopping amplitudes; group : point group of the cluster; transfers :
    indices of the momenta q of two-particle functions; mirror : [K] partners of an exchange of particles and holes
    that is a symmetry of this run, else None (plaq.dca.lattice.particle_hole).
    """

    U: float
    lattice: Lattice
    cluster: Cluster
    group: PointGroup
    coarse_graining: CoarseGraining
    transfers: list[int]
    mirror: np.ndarray | None

    @classmethod
    def of(cls, parameters) -> Model:
        """Return the model of `plaq.dca.parameters.Parameters`."""
        p, cluster = parameters, cluster_of(parameters)
        transfers = [cluster.momentum_index(np.pi * np.array(q)) for q in p.two_particle.transfers]
        return cls(p.model.U, cluster.lattice, cluster, PointGroup(cluster),
                   CoarseGraining(cluster, isolated=p.dca.isolated), transfers, at_half_filling(p, cluster))
