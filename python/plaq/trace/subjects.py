"""Subjects of tasks, such as elements of collections.

The program marks them by regions, which are no work of their own: their time counts for their tasks.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plaq.trace.model import Trace


def without_subjects(trace: Trace) -> Trace:
    """Return the trace without regions of subjects; regions directly inside one move to the region around it."""
    regions = trace.regions
    if not regions["subject"].any():
        return trace
    parent = np.append(regions["parent"], -1)
    subject = np.append(regions["subject"], False)
    while subject[parent].any():
        parent = np.where(subject[parent], parent[parent], parent)
    kept = ~regions["subject"]
    row = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)
    out = regions[kept].copy()
    out["parent"] = row[parent[:-1][kept]]
    counts = trace.region_counts[kept] if trace.counted else trace.region_counts
    return replace(trace, regions=out, region_counts=counts)


def subject_of_tasks(trace: Trace) -> np.ndarray:
    """Return [task] the name of its first subject, a position in ``trace.names``; -1: none."""
    out = np.full(len(trace.tasks), -1, np.int64)
    marked = trace.regions[trace.regions["subject"] & (trace.regions["task"] >= 0)][::-1]  # the first counts
    out[marked["task"]] = marked["name"]
    return out
