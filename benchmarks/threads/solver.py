"""Time to solution of the QMC solver over the thread back ends: chains that measure in place, or that hand their
configurations to accumulator tasks of their own."""

from __future__ import annotations

import hashlib
import resource
import statistics

import numpy as np
from problems import Problem

from plaq import _core
from plaq.trace.session import Session

WORKERS = 2


def digest(states):
    """Of all numbers in the chains' bins."""
    hashed = hashlib.sha256()

    def add(value):
        if isinstance(value, dict):
            for key in sorted(value):
                if not key.endswith("_seconds"):
                    add(value[key])
        elif isinstance(value, (list, tuple)):
            for item in value:
                add(item)
        else:
            hashed.update(np.ascontiguousarray(value).tobytes())

    add(states)
    return hashed.hexdigest()


def used():
    """Resources of this process without its main thread, which only watches the solver."""
    everything, main = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_THREAD)
    return {
        "voluntary": everything.ru_nvcsw - main.ru_nvcsw,
        "involuntary": everything.ru_nivcsw - main.ru_nivcsw,
        "cpu": everything.ru_utime + everything.ru_stime - main.ru_utime - main.ru_stime,
    }


def once(problem, threads, accumulate, **options):
    before = used()
    found = problem.run(threads=threads, workers=WORKERS, accumulate=accumulate, **options)
    taken = {name: value - before[name] for name, value in used().items()}
    return {**taken, "wall": found.wall, "used": taken["cpu"] / (found.wall * WORKERS), "digest": digest([found.states, found.bins.state()])}


def compare(repeats, table, traces=None):
    """{(back end, accumulate): [what `once` found, ...]}; the runs are interleaved. Prints the table.

    With a folder `traces` each is run once more and recorded there: tasks, idle rate and queue length over time.
    """
    problem = Problem([[2, 0], [0, 2]], 6.0, 1 / 0.07, 0.95)
    order = problem.converge(5, 2000)
    options = dict(order=order, measurements=2048, bins=8, chains=8, warm_up=10, window=16)
    study = {(threads, accumulate): [] for accumulate in ("shared", "split") for threads in _core.task.backends()}
    for _ in range(repeats):
        for (threads, accumulate), runs in study.items():
            runs.append(once(problem, threads, accumulate, **options))
    for threads, accumulate in study if traces else ():
        with Session(traces / f"{threads}-{accumulate}", notes={"back end": threads, "accumulate": accumulate}):
            once(problem, threads, accumulate, **options)
    print(f"\n## QMC solver: 2x2, U = 6, T = 0.07, 8 chains on {WORKERS} workers, {repeats} runs each, interleaved")
    rows = []
    for (threads, accumulate), runs in study.items():
        walls = [r["wall"] for r in runs]
        rows.append([
            threads, accumulate, f"{statistics.mean(walls):.3f} ± {statistics.stdev(walls) / repeats**0.5:.3f}",
            *(f"{statistics.median(r[kind] for r in runs):.0f}" for kind in ("voluntary", "involuntary")),
            f"{statistics.mean(r['used'] for r in runs):.0%}",
        ])
    table(["back end", "accumulate", "time, s", "voluntary", "involuntary", "cores in use"], rows)
    digests = {r["digest"] for runs in study.values() for r in runs}
    print(f"\nAll {sum(map(len, study.values()))} runs gave the same bits." if len(digests) == 1
          else f"\nTHE RESULTS DIFFER: {len(digests)} digests")
    return study
