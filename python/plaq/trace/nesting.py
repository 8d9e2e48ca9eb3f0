"""Nesting of intervals that overlap, as after lost ends of regions: they are cut until they nest."""

from __future__ import annotations

import heapq

import numpy as np


def lanes_that_do_not_nest(table: np.ndarray) -> np.ndarray:
    """Return the lanes of a table of intervals on which two overlap without nesting.

    One begins before another of its depth ended, or ends after the one around it. The table is in the order of
    `plaq.trace.timeline.INTERVAL`.
    """
    order = np.argsort(table["depth"], kind="stable")
    levels = np.split(order, np.flatnonzero(np.diff(table["depth"][order])) + 1)
    wrong = np.zeros(len(table), bool)
    for level, above in zip(levels, [order[:0], *levels]):
        before, after = table[level[:-1]], table[level[1:]]
        wrong[level[1:]] = (before["lane"] == after["lane"]) & (before["end"] > after["begin"])
        if len(above):
            outer, inner = table[above[np.searchsorted(above, level) - 1]], table[level]
            wrong[level] |= (outer["lane"] == inner["lane"]) & (outer["end"] < inner["end"])
    return np.unique(table["lane"][wrong])


def nest(rows: np.ndarray) -> np.ndarray:
    """Return the intervals of one lane, each cut where an earlier one ends. Depths are counted anew."""
    waiting = [(row["begin"], place, 0, row["end"]) for place, row in enumerate(rows)]  # sorted already
    cut, open_ = [], []  # open_: (end, slice) from the outermost to the innermost
    while waiting:
        begin, place, cuts, end = heapq.heappop(waiting)
        within = rows["slice"][place]
        while open_ and open_[-1][0] <= begin and not (len(open_) == 1 and within >= 0 and open_[0][1] == within):
            open_.pop()
        if open_ and open_[-1][0] < end:
            heapq.heappush(waiting, (open_[-1][0], place, cuts + 1, end))
            end = open_[-1][0]
        cut.append((place, begin, end, len(open_)))
        open_.append((end, within))
    place, begin, end, depth = (np.array(column) for column in zip(*cut))
    out = rows[place]
    out["begin"], out["end"], out["depth"] = begin, end, depth
    return out
