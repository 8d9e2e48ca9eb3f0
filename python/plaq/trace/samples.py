"""Names and known samples of counters, for the outputs."""

from __future__ import annotations

import numpy as np

from plaq.trace.model import Counter, Trace
from plaq.trace.timeline import nanoseconds


def counter_name(trace: Trace, counter: Counter) -> str:
    """Return ``queue length``, ``idle rate, worker 1``, ``involuntary switches, main``."""
    if counter.worker >= 0:
        return f"{counter.name}, worker {counter.worker}"
    if counter.thread >= 0:
        threads = next(info.threads for info in trace.ranks if info.rank == counter.rank)
        return f"{counter.name}, {threads[counter.thread]}"
    return counter.name


def known_samples(counter: Counter) -> tuple[np.ndarray, np.ndarray]:
    """Return times in ns and values of the samples that are numbers."""
    known = np.isfinite(counter.value)
    return nanoseconds(counter.time[known]), counter.value[known].astype(float)
