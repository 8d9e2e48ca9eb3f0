"""Ranks: the world of this job, messages of any Python object, sums that do not depend on the number of ranks.

Under an MPI launcher every rank runs the same Python; without one the world has one rank and MPI is not even started.
"""

from plaq.comm.communicator import Communicator
from plaq.comm.job import Node, end_together, library_version, node, thread_level, world, world_if_started

__all__ = ["Communicator", "Node", "end_together", "library_version", "node", "thread_level", "world",
           "world_if_started"]
