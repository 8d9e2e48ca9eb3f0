"""What all iterations of a run share: lattice, cluster, their symmetry, and the averages over patches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.coarse_graining import CoarseGraining
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.particle_hole import at_half_filling
from plaq.dca.lattice.symmetry import PointGroup


@dataclass
class Crystal:
    """Lattice, cluster, symmetries and coarse graining of one model.

    transfers : indices of the momenta q of two-particle functions; mirror : of particle_hole.at_half_filling."""

    lattice: Lattice
    cluster: Cluster
    group: PointGroup
    coarse: CoarseGraining
    transfers: list[int]
    mirror: np.ndarray | None

    @classmethod
    def of(cls, parameters) -> Crystal:
        """That of `plaq.dca.parameters.Parameters`."""
        p = parameters
        lattice = Lattice(p.hopping())
        cluster = Cluster(lattice, p.model.cluster)
        transfers = [cluster.momentum_index(np.pi * np.array(q)) for q in p.two_particle.transfers]
        return cls(lattice, cluster, PointGroup(cluster), CoarseGraining(cluster, isolated=p.dca.isolated), transfers,
                   at_half_filling(p, cluster))
