"""Regions that wait, and so are no work of their worker or thread."""

from __future__ import annotations

import numpy as np

from plaq.trace.model import Trace
from plaq.trace.on_worker import OnWorker
from plaq.trace.timeline import parts

#: Blocking calls of plaq::comm, each a region: they move data and wait for other ranks; sums in them are regions of
#: their own.
COLLECTIVES = frozenset(
    ("broadcast", "reduce", "scatter", "gather", "all_reduce", "all_gather", "all_to_all", "barrier")
    + ("reduce_scatter", "inclusive_scan", "exclusive_scan", "exchange")
)


def is_waiting(name: str) -> bool:
    """Return whether a region of this name waits: it begins with the word "wait", or is a collective operation."""
    return name in COLLECTIVES or name.split(" ", 1)[0] == "wait"


def waiting_names(trace: Trace) -> np.ndarray:
    """Return [name] `is_waiting`, for the names that regions have."""
    waits = np.zeros(len(trace.names), bool)
    names = np.unique(trace.regions["name"])
    waits[names] = [is_waiting(trace.names[name]) for name in names]
    return waits


def waiting_on_workers(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """Return (row of the slice, seconds) of the time in which a task kept its worker and waited.

    That is the time of waiting regions without inner regions that do not wait.
    """
    regions, names = trace.regions, waiting_names(trace)
    if not names.any():
        return np.zeros(0, np.int64), np.zeros(0)
    waits = np.append(names[regions["name"]], False).astype(float)  # the last one is for no parent
    weight = waits[:-1] - waits[regions["parent"]]
    region, row, begin, end = parts(trace, OnWorker(trace))
    counts = np.flatnonzero(weight[region])
    return row[counts], (weight[region] * (end - begin))[counts]
