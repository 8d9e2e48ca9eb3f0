"""Times at which each task had a worker: slices by task, and running sums over them."""

from __future__ import annotations

import numpy as np

from plaq.trace.model import Trace


class OnWorker:
    """Slices of a trace ordered by task and begin. "Place" is a position in that order.

    `order[place]` is the row of the slice, `first[task]` the place of the task's first slice and `first[task + 1]` one
    beyond its last.
    """

    def __init__(self, trace: Trace):
        slices = trace.slices
        self.order = np.lexsort((slices["begin"], slices["task"]))
        count = np.bincount(slices["task"], minlength=len(trace.tasks))
        self.first = np.concatenate([[0], np.cumsum(count)])
        self.begin = slices["begin"][self.order]
        self.end = slices["end"][self.order]
        self._before = np.concatenate([[0.0], np.cumsum(self.end - self.begin)])

    def last_begun(self, task: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Return places of the last slice of `task` that begins at or before `time`; `first[task] - 1` if none does.

        A binary search for all at once.
        """
        low, high = self.first[task], self.first[task + 1]
        while (searching := low < high).any():
            middle = (low + high) // 2
            begun = self.begin[np.where(searching, middle, 0)] <= time
            low = np.where(searching & begun, middle + 1, low)
            high = np.where(searching & ~begun, middle, high)
        return low - 1

    def seconds(self, task: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Return the time for which `task` had a worker before `time`, s."""
        place = self.last_begun(task, time)
        some = place >= self.first[task]
        last = np.where(some, place, 0)
        partial = np.minimum(time, self.end[last]) - self.begin[last] if len(self.begin) else 0.0
        return np.where(some, self._before[last] - self._before[self.first[task]] + partial, 0.0)

    def total(self) -> np.ndarray:
        """Return [task] the time for which each task had a worker, s."""
        return self._before[self.first[1:]] - self._before[self.first[:-1]]


def depths(parent: np.ndarray) -> np.ndarray:
    """Return [row] the number of ancestors of each row, from the row of its parent (-1: none).

    The stride doubles with each round, so that a long chain costs the logarithm of its length. ValueError for rows that
    are their own ancestors.
    """
    depth = (parent >= 0).astype(np.int64)
    jump = parent.copy()
    rows = np.flatnonzero(jump >= 0)
    for _ in range(len(parent).bit_length() + 1):
        if not len(rows):
            return depth
        target = jump[rows]
        depth[rows] += depth[target]
        jump[rows] = jump[target]
        rows = rows[jump[rows] >= 0]
    raise ValueError("tasks created each other in a cycle")
