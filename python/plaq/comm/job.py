"""The job that this process belongs to: its ranks, those on this machine, the MPI behind them, and its end."""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
from typing import NamedTuple

from plaq import _core
from plaq.comm import timeout
from plaq.comm.communicator import Communicator
from plaq.errors import InputError


@functools.cache
def world() -> Communicator:
    """Return all ranks of the job. MPI starts at the first call, if a launcher started this process.

    On more than one rank, SIGUSR1 then counts as SIGTERM (launchers pass the first on and make the second a kill), and
    an uncaught exception ends the whole job instead of leaving the other ranks waiting.

    Raises InputError if the world has not the size that the launcher promised (a launcher of another MPI starts
    unrelated worlds of one rank each), or if rank 0 has a tuning table that cannot be read; RunError if MPI fails. The
    first of these is raised by the launcher's rank 0 alone; the others end with it.
    """
    comm = _ranks()
    if comm.size > 1:
        _listen_to_launcher()
        _end_job_with_uncaught_exceptions(comm)
    comm._together  # its errors are those of all ranks, those of a node are not
    if comm.size > 1 and _core.comm.mpi_is_ours():
        timeout.heartbeat = _core.comm.heartbeat(comm._native)
    _node(comm)
    return comm


@functools.cache
def _ranks() -> Communicator:
    try:
        native = _core.comm.Communicator.world()
    except InputError:
        if not _core.comm.launched_rank():
            raise
        raise SystemExit(2) from None
    return Communicator(native, list(range(native.size)))


def world_if_started() -> Communicator | None:
    """Return the world if MPI was started for it, also if `world` failed after that."""
    return _ranks() if _ranks.cache_info().currsize else None


def end_together() -> None:
    """End the job by agreement of all ranks, with any exit code: fast ranks wait for the others."""
    if timeout.heartbeat is not None:
        timeout.heartbeat.agree_to_end()


class Node(NamedTuple):
    """This process among the ranks of its machine: its number there, and the hardware threads that each may use."""

    rank: int
    masks: list[list[int]]


def node() -> Node:
    """Return the node of the whole world, as it was when `world` was first called."""
    return _node(world())


@functools.cache
def _node(comm: Communicator) -> Node:
    ranks = comm.split_by_node()
    return Node(ranks.rank, ranks.allgather(_core.task.allowed_cpus()))


def library_version() -> str:
    """Return the MPI of this process, such as "Open MPI v4.1.4"; empty without MPI."""
    return _core.comm.library_version()


def thread_level() -> str:
    """Return the thread level that MPI granted: "serialized" or "multiple"; empty if MPI is not running."""
    return _core.comm.thread_level()


def _listen_to_launcher() -> None:
    if (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL
    ):
        signal.signal(signal.SIGUSR1, lambda number, frame: os.kill(os.getpid(), signal.SIGTERM))


def _end_job_with_uncaught_exceptions(comm: Communicator) -> None:
    show = sys.excepthook

    def show_and_end(kind, error, trace):
        if issubclass(kind, KeyboardInterrupt):  # requested, and a run has reported where it was stopped
            comm.abort(128 + signal.SIGINT)
        print(f"rank {comm.rank} of {comm.size} failed:", file=sys.stderr)
        show(kind, error, trace)
        comm.abort(1)

    sys.excepthook = show_and_end
