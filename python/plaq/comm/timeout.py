"""Timeout of ranks that wait for each other: detection of a rank that hangs, has ended or was stopped.

After half of its timeout a waiting rank polls one other now and then: the rank before it in the ring of the group that
makes the call. So each rank is watched by one other and exchanges messages with two, on any number of ranks. On each
rank a helper thread replies, even while the rank computes (src/plaq/comm/job/heartbeat.hpp).

A rank that computes or writes for long reports so, and is waited for without limit: in the end it waits too and watches
its own neighbour. A stopped rank does not reply, a rank that has ended reports that. Within a run, a rank whose main
thread has used no processor for that long counts as hung, for example in a file system that hangs. Of the ranks that a
call waits for in vain, at least one has a waiting neighbour, which names it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from plaq.errors import RunError
from plaq.inputs.running import TIMEOUT

POLL = 0.1  # seconds between two checks of a waiting rank for signals
GRACE = 10.0  # seconds, once a run is to stop


class Status(NamedTuple):
    """Last report of a rank on itself.

    ``ago`` is its age in seconds, negative for none; ``doing`` is "works", "waits" or "ended"; ``idle`` is the number
    of seconds for which its main thread has used no processor.
    """

    ago: float
    doing: str
    idle: float


@dataclass
class _Limits:
    seconds: float = TIMEOUT
    stop: Callable[[], str | None] = lambda: None
    in_run: bool = False


_limits = _Limits()
heartbeat: Any = None  # of the world; None if plaq did not start MPI, since it cannot know then when MPI ends


@contextmanager
def limit_waits(seconds: float, stop: Callable[[], str | None]) -> Iterator[None]:
    """Set, within a run, the timeout of waits in seconds, and the function that requests an early stop.

    After such a request no more than `GRACE` is given.
    """
    global _limits
    before, _limits = _limits, _Limits(seconds, stop, True)
    try:
        yield
    finally:
        _limits = before


def wait(call: Any, rank: int, members: Sequence[int], heartbeat: Any) -> None:
    """Wait until ``call`` is over. RunError that names a rank if it never will be; ``call`` is then still in progress.

    rank : in the world, of this process; members : in the world, of the group that makes the call; heartbeat : as in
    plaq._core.comm, None if there is none.
    """
    other = watched_rank(members, rank)
    if call.wait(POLL) or heartbeat is None or other == rank:
        while not call.wait(POLL):
            pass
        return
    started, reason, polled_since = time.monotonic(), None, None
    idle = _limits.seconds if _limits.in_run else math.inf
    heartbeat.set_waiting(True)
    try:
        while not call.wait(POLL):
            now = time.monotonic()
            if reason is None and (reason := _limits.stop()):
                polled_since = None  # more often from now on
            limit = min(_limits.seconds, GRACE) if reason else _limits.seconds
            if now - started < limit / 2:
                continue
            if polled_since is None:
                polled_since = now
                heartbeat.poll([other], min(1.0, limit / 10))
            status = Status(*heartbeat.report_of(other))
            if now - polled_since >= limit / 2 and (fault := find_fault(status, limit / 2, idle)):
                limit_text = f"run.timeout = {_limits.seconds:g} s" if _limits.in_run else f"after {limit:g} s"
                stopping = f"; it was asked to stop ({reason})" if reason else ""
                raise RunError(f"rank {other} of {heartbeat.size} {fault}, and others wait for it ({limit_text})"
                               f"{stopping}; checkpoints stay as they are")
    finally:
        heartbeat.set_waiting(False)
        if polled_since is not None:
            heartbeat.poll([], 1.0)


def watched_rank(members: Sequence[int], rank: int) -> int:
    """Return the member before this one in the ring of a group."""
    return members[list(members).index(rank) - 1]


def find_fault(status: Status, silent: float, idle: float) -> str | None:
    """Return a description of the fault of a rank that others wait for; None if there is none.

    silent, idle : limits in seconds for a rank without a report, and for work without use of the processor (a slow
    disk).
    """
    if not 0 <= status.ago <= silent:
        return "does not respond"
    if status.doing == "ended":
        return "has ended"
    if status.doing == "works" and status.idle > idle:
        return f"has made no progress for {status.idle:.0f} s"
    return None
