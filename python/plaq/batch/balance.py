"""Which chains move to which rank: a pure function of what the ranks say of their loads."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, replace
from typing import NamedTuple

WORTH = 1.5  # a chain leaves a worker between two bins for one that is faster by this factor


@dataclass(frozen=True)
class Load:
    """What a rank has to do.

    waiting, running : chains; workers : how many can run; left : sweeps of all chains here together; speed : sweeps
    per second of one worker, 0 where nobody knows it yet.
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
        """Until all chains here are done: the workers share them, but a chain has one worker at a time."""
        return max(self.left / self.workers, self.chain) / self.speed

    def given(self, chains: int, sweeps: float) -> Load:
        """With so many chains more (or fewer) waiting."""
        return replace(self, waiting=self.waiting + chains, left=self.left + sweeps)


class Move(NamedTuple):
    """So many waiting chains go from one rank to another."""

    giver: int
    taker: int
    chains: int


def plan(loads: list[Load], ahead: float, bin_sweeps: float) -> tuple[list[Move], list[int]]:
    """Moves of waiting chains, and for each rank how many running chains to call back at the end of their bin.

    A rank takes when a worker of it is idle, or when it will have nothing to do in ``ahead`` seconds; it takes from
    the rank that would be done last, one chain after the other, as long as it would be done with it sooner than the
    giver is now. A worker that is idle even then calls back a chain that has more than one bin, of ``bin_sweeps``
    sweeps, left on a slower worker.
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
        after = now[taker].given(1, sweeps)
        if after.seconds >= now[giver].seconds:
            break
        moved[giver, taker] += 1
        now[taker], now[giver] = after, now[giver].given(-1, -sweeps)
        heapq.heapreplace(takers, (after.seconds, taker))
        if now[giver].waiting > 0:
            heapq.heapreplace(givers, (-now[giver].seconds, giver))
        else:
            heapq.heappop(givers)
    return [Move(*pair, chains) for pair, chains in moved.items()], recalls(now, bin_sweeps)


def recalls(loads: list[Load], bin_sweeps: float) -> list[int]:
    """Running chains of each rank that idle workers elsewhere call back: the fastest worker, the slowest chain."""
    found = [0] * len(loads)
    idle = sorted((-load.speed, rank) for rank, load in enumerate(loads)
                  for _ in range(load.workers - load.running - load.waiting))
    busy = sorted((load.speed, rank) for rank, load in enumerate(loads)
                  if load.waiting == 0 and load.chain > bin_sweeps for _ in range(load.running))
    for (fast, _), (slow, rank) in zip(idle, busy):
        if -fast < WORTH * slow:
            break
        found[rank] += 1
    return found
