"""The task graph: creation of tasks and use of results, task by task or by name."""

from __future__ import annotations

import numpy as np

from plaq.errors import InputError
from plaq.trace import dot
from plaq.trace.model import Trace
from plaq.trace.on_worker import OnWorker
from plaq.trace.profile import time_text


def graph_by_name(trace: Trace) -> str:
    """Return Graphviz: one node per name of tasks. A number at an edge counts its tasks or links."""
    names = trace.tasks["name"].astype(np.int64)
    calls = np.bincount(names, minlength=len(trace.names))
    seconds = np.bincount(names, OnWorker(trace).total(), len(trace.names))
    labels = {
        int(k): f"{trace.names[k]}\n{calls[k]} tasks, {time_text(seconds[k])}" for k in np.flatnonzero(calls)
    }
    parent, child = creators(trace)
    links = trace.links
    edges = [(names[parent], names[child], "parent"), (names[links["source"]], names[links["target"]], "link")]
    return drawing(labels, seconds, edges, trace.notes)


def graph_by_task(trace: Trace, limit: int) -> str:
    """Return Graphviz: one node per task. InputError for more than `limit` tasks."""
    count = len(trace.tasks)
    if count > limit:
        raise InputError(f"the trace has {count} tasks, and --limit allows {limit} in a graph by task")
    seconds = OnWorker(trace).total()
    ranks = len(trace.ranks) > 1
    labels = {
        row: f"{trace.names[task['name']]} {task['id']}"
        + (f" on rank {task['rank']}" if ranks else "")
        + f"\n{time_text(seconds[row])}"
        for row, task in enumerate(trace.tasks)
    }
    links = trace.links
    edges = [(*creators(trace), "parent"), (links["source"], links["target"], "link")]
    return drawing(labels, seconds, edges, trace.notes)


def creators(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of all tasks that another one created, and of their creators."""
    child = np.flatnonzero(trace.tasks["parent"] >= 0)
    return trace.tasks["parent"][child], child


def drawing(labels: dict[int, str], seconds: np.ndarray, edges: list, notes: list[str]) -> str:
    """Return the graph of labelled nodes, shaded by their time, with equal edges counted."""
    longest = seconds.max(initial=0.0) or 1.0
    lines = [dot.node(k, text, seconds[k] / longest) for k, text in labels.items()]
    for source, target, kind in edges:
        pairs, counts = np.unique(source * len(seconds) + target, return_counts=True)
        lines += [dot.edge(*divmod(k, len(seconds)), kind, n) for k, n in zip(pairs.tolist(), counts.tolist())]
    return dot.digraph("task graph (dashed: created, solid: used its result)", lines, notes)
