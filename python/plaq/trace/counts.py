"""Counts of the processor by task and region, from the readings of its counters at the events of each thread."""

from __future__ import annotations

import numpy as np

OUTSIDE = -2  # context of a thread outside of tasks: OUTSIDE - thread


def inclusive_counts(
    readings: np.ndarray,
    time: np.ndarray,
    thread: np.ndarray,
    switches: np.ndarray,
    task: np.ndarray,
    regions: tuple[np.ndarray, np.ndarray],
    tasks: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return inclusive counts [task, counter] and [region, counter].

    The columns have a row per reading, one thread after the other, each in its order: `readings` [n, counter], `time`,
    `thread`; `switches` says where the thread changed to the row `task`, or to none (-1). `regions` are the readings at
    begin and end of each region, -1 for one without. What a thread counts between two readings belongs to its task, or
    to the thread itself outside of tasks. A region has the difference of what its task, or thread, had counted at its
    end and at its begin; one without a reading has 0, so that its counts stay with what is around it.
    """
    n = len(time)
    row = np.arange(n)
    first = np.append(True, thread[1:] != thread[:-1])[:n]
    latest = np.maximum.accumulate(np.where(switches | first, row, 0))
    inside = switches[latest] & (task[latest] >= 0)
    context = np.where(inside, task[latest], OUTSIDE - thread)
    gained = np.zeros(readings.shape, np.int64)
    gained[:-1] = readings[1:].view(np.int64) - readings[:-1].view(np.int64)
    gained[:-1][first[1:]] = 0
    order = np.lexsort((row, time, context))  # a task continues on any thread
    until = np.zeros(readings.shape, np.int64)  # what the context had counted at this reading, after a common start
    until[order] = np.cumsum(gained[order], axis=0) - gained[order]
    of_tasks = np.zeros((tasks, readings.shape[1]), np.int64)
    np.add.at(of_tasks, context[inside], gained[inside])
    begin, end = regions
    of_regions = np.zeros((len(begin), readings.shape[1]), np.int64)
    known = (begin >= 0) & (end >= 0)
    known[known] = context[begin[known]] == context[end[known]]
    of_regions[known] = until[end[known]] - until[begin[known]]
    return of_tasks, of_regions
