"""Migration of chains between ranks: a pure function of the loads that the ranks report."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, replace
from typing import NamedTuple

WORTH = 1.5  # a chain moves between two bins to a worker that is faster by this factor


@dataclass(frozen=True)
class Load:
    """Remaining work of a rank.

    waiting, running : chains; workers : number that can run at once; left : sweeps of all chains here together; speed :
    sweeps per second of one worker, 0 if not known yet.
    """

    waiting: int
    running: int
    workers: int
    left: float
    speed: float

    @property
    def chain(self) -> float:
        """Sweeps of a chain here, on average."""
        return self.left / max(self.waiting + self.running, 1)

    @property
    def seconds(self) -> float:
        """Time until all chains here are done: the workers share them, but a chain has one worker at a time."""
        return max(self.left / self.workers, self.chain) / self.speed

    def with_chains(self, chains: int, sweeps: float) -> Load:
        """Return the load with ``chains`` more (or fewer) chains waiting."""
        return replace(self, waiting=self.waiting + chains, left=self.left + sweeps)


class Move(NamedTuple):
    """Migration of waiting chains from one rank to another."""

    giver: int
    taker: int
    chains: int


def plan(loads: list[Load], ahead: float, bin_sweeps: float) -> tuple[list[Move], list[int]]:
    """Return moves of waiting chains, and for each rank the number of running chains to recall at the end of their bin.

    A rank takes chains if one of its workers is idle, or if it will be without work in ``ahead`` seconds. It takes them
    one by one from the rank that would finish last, as long as it would finish the chain before the giver finishes now.
    A worker that is idle even then recalls a chain from a slower worker, if more than one bin of ``bin_sweeps`` sweeps
    is left of it.
    """
    known = [load.speed for load in loads if load.speed > 0]
    mean = sum(known) / len(known) if known else 1.0
    now = [load if load.speed > 0 else replace(load, speed=mean) for load in loads]
    takers = [(load.seconds, rank) for rank, load in enumerate(now)
              if load.waiting == 0 and (load.running < load.workers or (known and load.seconds < ahead))]
    givers = [(-load.seconds, rank) for rank, load in enumerate(now) if load.waiting > 0]
    heapq.heapify(takers)
    heapq.heapify(givers)
    moved: Counter[tuple[int, int]] = Counter()
    while takers and givers:
        giver, taker = givers[0][1], takers[0][1]
        sweeps = now[giver].chain
        after = now[taker].with_chains(1, sweeps)
        if after.seconds >= now[giver].seconds:
            break
        moved[giver, taker] += 1
        now[taker], now[giver] = after, now[giver].with_chains(-1, -sweeps)
        heapq.heapreplace(takers, (after.seconds, taker))
        if now[giver].waiting > 0:
            heapq.heapreplace(givers, (-now[giver].seconds, giver))
        else:
            heapq.heappop(givers)
    return [Move(*pair, chains) for pair, chains in moved.items()], recalls(now, bin_sweeps)


def recalls(loads: list[Load], bin_sweeps: float) -> list[int]:
    """Return the number of running chains of each rank that idle workers elsewhere recall.

    The fastest idle worker recalls from the slowest busy one.
    """
    counts = [0] * len(loads)
    idle = sorted((-load.speed, rank) for rank, load in enumerate(loads)
                  for _ in range(load.workers - load.running - load.waiting))
    busy = sorted((load.speed, rank) for rank, load in enumerate(loads)
                  if load.waiting == 0 and load.chain > bin_sweeps for _ in range(load.running))
    for (fast, _), (slow, rank) in zip(idle, busy):
        if -fast < WORTH * slow:
            break
        counts[rank] += 1
    return counts
