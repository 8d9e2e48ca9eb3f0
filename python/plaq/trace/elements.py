"""Elements of collections in a trace: what they did when, on which rank. A step of an element is a task that is about
"collection (index)"."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from plaq.trace.model import Counter, Trace

NAME = re.compile(r"(.+) \((\d{1,9}(?:, \d{1,9}){0,2})\)")
SAMPLES = 400  # of a curve


@dataclass
class Elements:
    """Those of one collection. Visits are times at which an element did a step."""

    name: str
    index: np.ndarray  #: [n, dimensions]
    of: np.ndarray  #: [m] the element of each visit, a row of index; visits by begin
    rank: np.ndarray  #: [m] where it was
    begin: np.ndarray  #: [m], s
    end: np.ndarray

    def moves(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(time, rank before, element) of every move: when an element first did something on another rank."""
        order = np.argsort(self.of, kind="stable")
        of, rank, begin = self.of[order], self.rank[order], self.begin[order]
        later = 1 + np.flatnonzero((np.diff(of) == 0) & (np.diff(rank) != 0))
        by_time = np.argsort(begin[later], kind="stable")
        return begin[later][by_time], rank[later - 1][by_time], of[later][by_time]

    def places(self, time: float) -> np.ndarray:
        """[n] The rank of each element at a time: of its last visit that began before, else of its first."""
        out = np.full(len(self.index), -1)
        out[self.of[::-1]] = self.rank[::-1]  # the first counts
        before = self.begin <= time
        out[self.of[before]] = self.rank[before]  # the last counts
        return out

    def seconds(self) -> np.ndarray:
        """[n] How long each element ran in all."""
        return np.bincount(self.of, self.end - self.begin, len(self.index))


def elements_of(trace: Trace) -> list[Elements]:
    """Of every collection in the trace, in the order of their names."""
    found: dict[str, dict[tuple[int, ...], list[int]]] = {}
    for number, name in enumerate(trace.names):
        if parts := NAME.fullmatch(name):
            at = tuple(int(x) for x in parts[2].split(", "))
            found.setdefault(parts[1], {}).setdefault(at, []).append(number)
    regions = trace.regions[trace.regions["task"] >= 0]
    out = []
    for name, by_index in sorted(found.items()):
        if len({len(at) for at in by_index}) != 1:
            continue
        element = np.full(len(trace.names), -1)
        index = sorted(by_index)
        for row, at in enumerate(index):
            element[by_index[at]] = row
        of = element[regions["name"]]
        mine = regions[of >= 0]
        if len(mine) and (mine["end"] >= mine["begin"]).all():
            out.append(Elements(name, np.array(index), of[of >= 0], mine["rank"], mine["begin"], mine["end"]))
    return out


def counters_of(all_of_them: list[Elements], trace: Trace) -> list[Counter]:
    """The load of every rank, seconds that its elements have run so far; and moves from it so far,
    where some move."""
    out = []
    grid = np.linspace(0, trace.duration, SAMPLES + 1)
    for one in all_of_them:
        left_at, left_from, _ = one.moves()
        for info in trace.ranks:
            here = one.rank == info.rank
            run = running(one.begin[here], one.end[here], grid)
            out.append(Counter(f"load of {one.name}", "s", info.rank, -1, -1, grid, run))
            if len(left_at):
                moved = np.searchsorted(left_at[left_from == info.rank], grid, "right").astype(float)
                out.append(Counter(f"moves of {one.name}", "1", info.rank, -1, -1, grid, moved))
    return out


def running(begin: np.ndarray, end: np.ndarray, at: np.ndarray) -> np.ndarray:
    """What of all intervals lies before each time."""
    sums = lambda edges: (edges.size * at if not edges.size else
                          np.searchsorted(edges, at) * at
                          - np.concatenate([[0], np.cumsum(edges)])[np.searchsorted(edges, at)])
    return sums(np.sort(begin)) - sums(np.sort(end))
