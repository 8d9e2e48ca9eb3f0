"""Small traces whose every number is known."""

import numpy as np

from plaq.trace.model import GPU, LINK, READY, REGION, SLICE, TASK, RankInfo, Trace


def trace_of(tasks, regions=(), links=(), notes=(), duration=None, counters=(), ranks=None, subjects=()):
    """A Trace of `tasks` (name, rank, parent, [(worker, begin, end), ...]), `regions` (name, rank, task, parent,
    worker, thread, begin, end) and `links` (source, target, time). Tasks are created when their parent starts, or
    at 0, and their ids are row + 1. Regions named in `subjects` say what their task is about."""
    names = sorted({row[0] for row in [*tasks, *regions]})
    table = np.zeros(len(tasks), TASK)
    slices = []
    for row, (name, rank, parent, runs) in enumerate(tasks):
        created = table["started"][parent] if parent >= 0 else 0.0
        started, finished = (runs[0][1], runs[-1][2]) if runs else (np.nan, np.nan)
        table[row] = (row + 1, rank, names.index(name), parent, created, started, finished)
        slices += [(row, rank, worker, begin, end) for worker, begin, end in runs]
    spans = [
        (row + 1, rank, names.index(name), task, parent, worker, thread, begin, end, name in subjects)
        for row, (name, rank, task, parent, worker, thread, begin, end) in enumerate(regions)
    ]
    slices = np.array(slices, SLICE)
    slices = slices[np.argsort(slices["begin"], kind="stable")]
    infos = []
    for rank in range(ranks or 1 + max([row[1] for row in [*tasks, *regions]], default=0)):
        workers = sorted({int(worker) for worker in slices["worker"][slices["rank"] == rank]})
        threads = ["main", "helper"]
        infos.append(RankInfo(rank, f"node{rank // 2}", 100 + rank, workers, threads, "made up", 0, "closed", 0.0))
    spans = np.array(spans, REGION)
    last = max([*slices["end"], *spans["end"]], default=0.0)
    return Trace(
        names,
        infos,
        table,
        slices,
        spans,
        np.array(list(links), LINK),
        np.zeros(0, READY),
        list(counters),
        list(notes),
        float(last if duration is None else duration),
        {"command": "made up"},
    )


def suspended():
    """Two workers. Task "outer" runs 0-3 on worker 0 and 5-9 on worker 1; "inner", which it created, runs 3-5 on
    worker 0. "outer" has region "whole" 1-8, with "part" 2-6 and "late" 7-8 in it; the main thread has "loop" 0-10
    with "step" 4-6. "inner" used what "outer" had made at 3.5, "outer" what "inner" had made at 6."""
    return trace_of(
        tasks=[("outer", 0, -1, [(0, 0.0, 3.0), (1, 5.0, 9.0)]), ("inner", 0, 0, [(0, 3.0, 5.0)])],
        regions=[
            ("loop", 0, -1, -1, -1, 0, 0.0, 10.0),
            ("whole", 0, 0, -1, 0, 0, 1.0, 8.0),
            ("part", 0, 0, 1, 0, 0, 2.0, 6.0),
            ("step", 0, -1, 0, -1, 0, 4.0, 6.0),
            ("late", 0, 0, 1, 1, 0, 7.0, 8.0),
        ],
        links=[(0, 1, 3.5), (1, 0, 6.0)],
    )


def waiting():
    """Two ranks with a worker each, on which "solve" runs 0-10. On rank 0 it is in an "all_reduce" 2-8, with "combine"
    6-7 in it; its main thread is in "wait for chains" 0-9."""
    return trace_of(
        tasks=[("solve", 0, -1, [(0, 0.0, 10.0)]), ("solve", 1, -1, [(0, 0.0, 10.0)])],
        regions=[
            ("wait for chains", 0, -1, -1, -1, 0, 0.0, 9.0),
            ("all_reduce", 0, 0, -1, 0, 0, 2.0, 8.0),
            ("combine", 0, 0, 1, 0, 0, 6.0, 7.0),
        ],
    )


def with_gpu():
    """Task "outer", which the main thread's task "first" created, ran 0-3 on worker 0. It launched "hopping" on
    stream 7 of GPU 1 and a copy on stream 8; nobody's is the "set memory" there."""
    t = trace_of(
        tasks=[("first", 0, -1, []), ("outer", 0, 0, [(0, 0.0, 3.0)])],
        regions=[("part", 0, 1, -1, 0, 0, 1.0, 2.0)],
    )
    first = len(t.names)
    t.names += ["hopping", "copy host to device", "set memory"]
    t.ranks[0].streams = [(1, "GPU 1, stream 7"), (1, "GPU 1, stream 8")]
    rows = [
        (0, 0, first, 1, 0, 1.5, 2.5),
        (0, 1, first + 1, 1, 4096, 0.5, 1.0),
        (0, 1, first + 2, -1, 64, 2.0, 2.25),
    ]
    t.gpu = np.array(rows, GPU)
    return t
