"""What all iterations of a run share: lattice, cluster, their symmetry, and the averages over patches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.coarse_graining import CoarseGraining
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.symmetry import PointGroup


@dataclass
class Crystal:
    """Of one model. orbits : momenta of the cluster that its group maps onto each other, by index; transfers : the
    momenta q that two-particle functions are measured at, by index."""

    lattice: Lattice
    cluster: Cluster
    group: PointGroup
    orbits: list[np.ndarray]
    coarse: CoarseGraining
    transfers: list[int]

    @classmethod
    def of(cls, parameters) -> Crystal:
        """That of `plaq.dca.parameters.Parameters`."""
        p = parameters
        lattice = Lattice(p.hopping())
        cluster = Cluster(lattice, p.model.cluster)
        group = PointGroup(cluster)
        representatives = group.representatives
        orbits = [np.flatnonzero(representatives == k) for k in np.unique(representatives)]
        transfers = [cluster.momentum_index(np.pi * np.array(q)) for q in p.two_particle.transfers]
        return cls(lattice, cluster, group, orbits, CoarseGraining(cluster, isolated=p.dca.isolated), transfers)
