"""What the traces of the solver show: idle rate and queue length over time, and the names with most time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tables import Table

from plaq import trace
from plaq.trace.model import Trace
from plaq.trace.profile import Row, profile

TOP = 10


class Traces:
    """The traces below a folder, by back end."""

    def __init__(self, folder: Path):
        self.runs: dict[str, Trace] = {}
        for path in sorted(folder.iterdir()):
            found = trace.read(path)
            self.runs[found.metadata["back end"]] = found

    def top(self) -> Table:
        """The names that have most exclusive time on the first back end, in tasks."""
        profiles = {threads: on_workers(found) for threads, found in self.runs.items()}
        first = next(iter(profiles.values()))
        rows = []
        for key in list(first)[:TOP]:
            kind, name = key
            rows.append([name, kind, f"{first[key].calls}", *(
                f"{of[key].exclusive:.3f} s, {of[key].exclusive / sum(r.exclusive for r in of.values()):.1%}"
                if key in of else "–" for of in profiles.values())])
        return Table("Top ten of a traced run: exclusive time, share", ["name", "kind", "calls", *profiles], rows)


def on_workers(found: Trace) -> dict[tuple[str, str], Row]:
    """The profile by (kind, name), without regions of threads outside of the pools."""
    outside = {found.names[k] for k in found.regions["name"][found.regions["task"] < 0]}
    return {(row.kind, row.name): row for row in profile(found) if row.kind == "task" or row.name not in outside}


def idle_rate(found: Trace) -> tuple[np.ndarray, np.ndarray]:
    """(time since the first task began in s, mean over the workers in %), while there are tasks."""
    rates = [counter for counter in found.counters if counter.name == "idle rate"]
    return while_tasks_run(found, rates[0].time, np.mean([counter.value for counter in rates], axis=0) / 100)


def queue_length(found: Trace) -> tuple[np.ndarray, np.ndarray]:
    """(time since the first task began in s, tasks that could run and had no worker), while there are tasks."""
    counter = next(counter for counter in found.counters if counter.name == "queue length")
    return while_tasks_run(found, counter.time, counter.value)


def while_tasks_run(found: Trace, time: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    begin, end = found.slices["begin"].min(), found.slices["end"].max()
    inside = (time >= begin) & (time <= end)
    return time[inside] - begin, value[inside]
