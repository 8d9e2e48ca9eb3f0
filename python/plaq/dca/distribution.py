"""Where the sums of two-particle functions lie: whole on every rank, or in shares (plaq.dca.shares)."""

from __future__ import annotations

from typing import Any

from plaq.comm import thread_level
from plaq.dca.cluster import Cluster
from plaq.dca.cost import Machine, cost
from plaq.dca.parameters import Parameters
from plaq.errors import InputError
from plaq.machine import memory, pool_options

NEEDED = "multiple"  # thread level: tasks send and receive while the main thread is in a call of its own


def check_distribution(p: Parameters, ranks: int) -> None:
    """InputError when a ring is asked for that this MPI cannot run."""
    if p.run.two_particle == "ring" and ranks > 1 and thread_level() != NEEDED:
        raise InputError('run.two_particle = "ring" needs an MPI with the thread level MPI_THREAD_MULTIPLE, and this one '
                         f'has "{thread_level()}": take "local" or "auto", or another MPI')


def in_shares(p: Parameters, cluster: Cluster, T: float, comm: Any) -> bool:
    """What ``run.two_particle`` means at temperature T; the same on all ranks.

    "auto" is in shares when the estimate of `plaq.dca.cost` for bins that all ranks hold is above the memory of the
    rank that has least; where MPI cannot do that, it is not. One rank has everything in any case.
    """
    if comm.size == 1 or thread_level() != NEEDED or p.run.two_particle == "local":
        return False
    if p.run.two_particle == "ring":
        return True
    workers = pool_options(p.run.workers, p.run.bind).workers
    fits = cost(p, cluster, T, Machine(), comm.size, workers).rank_bytes <= memory()
    return not comm.allreduce(int(fits), "min")
