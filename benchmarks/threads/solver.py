"""Time to solution of the QMC solver over the thread back ends."""

from __future__ import annotations

import hashlib
import resource
import statistics
from pathlib import Path

import numpy as np
from problems import Problem
from tables import Table

from plaq import _core
from plaq.trace.session import Session

WORKERS = 2
PERIOD = 0.01  # s between the samples of a trace


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


class Job:
    """2x2 cluster, U = 6, T = 0.07, density 0.95 in a bath after a few iterations; eight chains."""

    text = f"2x2, U = 6, T = 0.07, 8 chains on {WORKERS} workers"

    def __init__(self):
        self._problem = Problem([[2, 0], [0, 2]], 6.0, 1 / 0.07, 0.95)
        self._order = self._problem.converge(5, 2000)

    def once(self, threads: str) -> dict:
        """Wall time in s, context switches, share of the cores that was used, digest of the result."""
        before = used()
        found = self._problem.run(threads=threads, workers=WORKERS, order=self._order,
                                  measurements=2048, bins=8, chains=8, warm_up=10, window=16)
        taken = {name: value - before[name] for name, value in used().items()}
        return {"threads": threads, "wall": found.wall,
                "voluntary": taken["voluntary"], "involuntary": taken["involuntary"],
                "used": taken["cpu"] / (found.wall * WORKERS), "digest": digest([found.states, found.bins.state()])}

    def measure(self) -> list[dict]:
        """One round: every back end once."""
        return [self.once(threads) for threads in _core.task.backends()]

    def record(self, folder: Path) -> None:
        """A trace of one run each, in a folder of its own; what is there stays."""
        for threads in _core.task.backends():
            into = folder / threads
            if not into.exists():
                with Session(into, period=PERIOD, notes={"back end": threads}):
                    self.once(threads)


class Study:
    """All rounds of `Job.measure`, by back end."""

    def __init__(self, rounds: list[list[dict]]):
        self.runs: dict[str, list[dict]] = {}
        for run in (run for found in rounds for run in found):
            self.runs.setdefault(run["threads"], []).append(run)

    @property
    def backends(self) -> list[str]:
        return sorted(self.runs)

    def mean(self, threads: str, quantity: str) -> tuple[float, float]:
        """Mean and its standard error."""
        values = [run[quantity] for run in self.runs[threads]]
        return statistics.mean(values), statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0

    @property
    def same_bits(self) -> bool:
        return len({run["digest"] for runs in self.runs.values() for run in runs}) == 1

    def table(self) -> Table:
        rows = []
        for threads in self.runs:
            wall, wall_error = self.mean(threads, "wall")
            used, used_error = self.mean(threads, "used")
            switches = [self.mean(threads, kind) for kind in ("voluntary", "involuntary")]
            rows.append([threads, f"{wall:.3f} ± {wall_error:.3f}",
                         *(f"{mean:.0f} ± {error:.0f}" for mean, error in switches),
                         f"{used:.1%} ± {used_error:.1%}"])
        count = sum(map(len, self.runs.values()))
        note = f"All {count} runs gave the same bits." if self.same_bits else "THE RESULTS DIFFER."
        repeats = len(next(iter(self.runs.values())))
        return Table(f"QMC solver: {Job.text}, {repeats} runs each, interleaved",
                     ["back end", "time, s", "voluntary", "involuntary", "cores in use"], rows, note)
