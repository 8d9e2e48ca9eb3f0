"""How long ranks wait for each other, and who is to blame when that is too long.

A rank that waits trusts the others for half of its timeout. Then it asks one of them every now and then: that which
comes before it in the ring of the group that makes the call, so that each rank is watched by one other and talks to
two, however many they are. Each has a thread that answers for it whatever it does (src/plaq/comm/job/heartbeat.hpp).
One that computes or writes for long says so and is waited for, however long that takes: then it comes to wait and
watches its own neighbour. One that was stopped says nothing, one that has ended says that, and in a run one whose
main thread has used no processor for as long stands still, in a file system that hangs for example. Of the ranks
that a call waits for in vain, at least one has a neighbour that waits, which says so.
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

LOOK = 0.1  # seconds after which a rank that waits looks after signals
GRACE = 10.0  # seconds, once a run is to stop


class Sign(NamedTuple):
    """What a rank said of itself: ``ago`` seconds before now, negative for never; ``doing`` is "works", "waits" or
    "ended"; ``still`` is for how many seconds its main thread has used no processor."""

    ago: float
    doing: str
    still: float


@dataclass
class _Limits:
    seconds: float = TIMEOUT
    stop: Callable[[], str | None] = lambda: None
    in_run: bool = False


_limits = _Limits()
heartbeat: Any = None  # of the world; where plaq has not started MPI it cannot know when MPI ends, and has none


@contextmanager
def limit_waits(seconds: float, stop: Callable[[], str | None]) -> Iterator[None]:
    """Within a run: how long to wait for others, and what says why the run should stop, after which no more than
    `GRACE` is given."""
    global _limits
    before, _limits = _limits, _Limits(seconds, stop, True)
    try:
        yield
    finally:
        _limits = before


def wait(call: Any, rank: int, members: Sequence[int], heartbeat: Any) -> None:
    """Until ``call`` is over. RunError that names a rank if it never will be; ``call`` is then still under way.

    rank : in the world, of this process; members : in the world, of the group that makes the call; heartbeat : as in
    plaq._core.comm, None where there is none.
    """
    other = watched(members, rank)
    if call.wait(LOOK) or heartbeat is None or other == rank:
        while not call.wait(LOOK):
            pass
        return
    started, reason, asked = time.monotonic(), None, None
    still = _limits.seconds if _limits.in_run else math.inf
    heartbeat.waits(True)
    try:
        while not call.wait(LOOK):
            now = time.monotonic()
            if reason is None and (reason := _limits.stop()):
                asked = None  # more often from now on
            limit = min(_limits.seconds, GRACE) if reason else _limits.seconds
            if now - started < limit / 2:
                continue
            if asked is None:
                asked = now
                heartbeat.ask([other], min(1.0, limit / 10))
            signs = heartbeat.heard()
            if now - asked >= limit / 2 and (found := blamed(Sign(*signs[other]), limit / 2, still)):
                limit_text = f"run.timeout = {_limits.seconds:g} s" if _limits.in_run else f"after {limit:g} s"
                stopping = f"; it was to stop ({reason})" if reason else ""
                raise RunError(f"rank {other} of {len(signs)} {found}, and others wait for it ({limit_text})"
                               f"{stopping}; checkpoints stay as they are")
    finally:
        heartbeat.waits(False)
        if asked is not None:
            heartbeat.ask([], 1.0)


def watched(members: Sequence[int], rank: int) -> int:
    """The member before this one in the ring of a group."""
    return members[list(members).index(rank) - 1]


def blamed(sign: Sign, silent: float, still: float) -> str | None:
    """Say what is wrong with a rank that others wait for; None if all is well.

    silent, still : seconds for which it may give no sign, and may work without use of the processor (a slow disk)."""
    if not 0 <= sign.ago <= silent:
        return "gives no sign of life"
    if sign.doing == "ended":
        return "has ended"
    if sign.doing == "works" and sign.still > still:
        return f"has stood still for {sign.still:.0f} s"
    return None
