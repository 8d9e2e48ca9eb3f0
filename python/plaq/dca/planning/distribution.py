"""Distribution of the sums of two-particle functions: whole on every rank, or rows that ranks share."""

from __future__ import annotations

from typing import Any

from plaq.dca.inputs.checks import MOST_CHAINS_DISTRIBUTED
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.parameters import Parameters
from plaq.dca.planning.cost import Machine, cost
from plaq.machine import memory, pool_options


def may_be_distributed(p: Parameters) -> bool:
    """Return whether the input leaves the distribution to the available memory.

    Not for more chains than message tags, nor where all ranks need the samples of the functions, nor with orbitals.
    """
    return (not p.is_general and p.run.two_particle != "local" and p.solver.chains <= MOST_CHAINS_DISTRIBUTED
            and not p.two_particle.samples and not p.two_particle.decomposition)


def is_distributed(p: Parameters, cluster: Cluster, T: float, comm: Any) -> bool:
    """Return whether ranks share the rows at temperature T, by ``run.two_particle``; the same on all ranks. Collective.

    "auto" distributes them when the estimate of `plaq.dca.planning.cost` for bins that all ranks hold is above the
    memory of the rank that has least. One rank has everything in any case.
    """
    if comm.size == 1 or not may_be_distributed(p):
        return False
    if p.run.two_particle == "distributed":
        return True
    workers = pool_options(p.run.workers, p.run.bind).workers
    fits = cost(p, cluster, T, Machine(), comm.size, workers).rank_bytes <= memory()
    return not comm.allreduce(int(fits), "min")
