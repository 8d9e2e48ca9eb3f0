"""Elements of collections in a trace: their steps, on which rank and when.

A step of an element is a task whose subject is "collection (index)".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from plaq.trace.model import Counter, Trace

NAME = re.compile(r"(.+) \((\d{1,9}(?:, \d{1,9}){0,2})\)")
SAMPLES = 400  # of a curve


@dataclass
class Elements:
    """Elements of one collection. Visits are times at which an element did a step."""

    name: str
    index: np.ndarray  #: [n, dimensions]
    of: np.ndarray  #: [m] the element of each visit, a row of index; visits by begin
    rank: np.ndarray  #: [m] where it was
    begin: np.ndarray  #: [m], s
    end: np.ndarray

    def moves(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (time, previous rank, element) of every move: the first step of an element on another rank."""
        order = np.argsort(self.of, kind="stable")
        of, rank, begin = self.of[order], self.rank[order], self.begin[order]
        later = 1 + np.flatnonzero((np.diff(of) == 0) & (np.diff(rank) != 0))
        by_time = np.argsort(begin[later], kind="stable")
        return begin[later][by_time], rank[later - 1][by_time], of[later][by_time]

    def ranks_at(self, time: float) -> np.ndarray:
        """Return [n] the rank of each element at a time: of its last visit that began before, else of its first."""
        out = np.full(len(self.index), -1)
        out[self.of[::-1]] = self.rank[::-1]  # the first counts
        before = self.begin <= time
        out[self.of[before]] = self.rank[before]  # the last counts
        return out

    def seconds(self) -> np.ndarray:
        """Return [n] the total time that each element ran."""
        return np.bincount(self.of, self.end - self.begin, len(self.index))


def elements_of(trace: Trace) -> list[Elements]:
    """Return the elements of every collection in the trace, ordered by name."""
    by_name: dict[str, dict[tuple[int, ...], list[int]]] = {}
    for number, name in enumerate(trace.names):
        if parts := NAME.fullmatch(name):
            at = tuple(int(x) for x in parts[2].split(", "))
            by_name.setdefault(parts[1], {}).setdefault(at, []).append(number)
    regions = trace.regions[trace.regions["task"] >= 0]
    out = []
    for name, by_index in sorted(by_name.items()):
        if len({len(at) for at in by_index}) != 1:
            continue
        element = np.full(len(trace.names), -1)
        index = sorted(by_index)
        for row, at in enumerate(index):
            element[by_index[at]] = row
        of = element[regions["name"]]
        visits = regions[of >= 0]
        if len(visits) and (visits["end"] >= visits["begin"]).all():
            out.append(Elements(name, np.array(index), of[of >= 0], visits["rank"], visits["begin"], visits["end"]))
    return out


def counters_of(collections: list[Elements], trace: Trace) -> list[Counter]:
    """Return the load of every rank, seconds that its elements have run so far, and the moves from it so far.

    Moves only if there are any.
    """
    out = []
    grid = np.linspace(0, trace.duration, SAMPLES + 1)
    for elements in collections:
        left_at, left_from, _ = elements.moves()
        for info in trace.ranks:
            on_rank = elements.rank == info.rank
            run = running_time(elements.begin[on_rank], elements.end[on_rank], grid)
            out.append(Counter(f"load of {elements.name}", "s", info.rank, -1, -1, grid, run))
            if len(left_at):
                moved = np.searchsorted(left_at[left_from == info.rank], grid, "right").astype(float)
                out.append(Counter(f"moves of {elements.name}", "1", info.rank, -1, -1, grid, moved))
    return out


def running_time(begin: np.ndarray, end: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the total length of the intervals that lies before each time."""
    sums = lambda edges: (edges.size * at if not edges.size else
                          np.searchsorted(edges, at) * at
                          - np.concatenate([[0], np.cumsum(edges)])[np.searchsorted(edges, at)])
    return sums(np.sort(begin)) - sums(np.sort(end))
