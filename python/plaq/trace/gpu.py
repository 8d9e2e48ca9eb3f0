"""Operations on the GPUs of one rank, and the tasks that requested them."""

from __future__ import annotations

import numpy as np

from plaq.trace.clocks import Clock
from plaq.trace.model import GPU
from plaq.trace.rank_file import RankFile


def gpu_table(file: RankFile, clock: Clock, tasks: np.ndarray) -> tuple[list[tuple[int, str]], np.ndarray]:
    """Return GPU and name of each stream, and the table `GPU`; names and rows of tasks are those of the rank's tables.

    The task is the one that made the call of CUDA's with the same correlation id.
    """
    operations = np.sort(file.gpu, order="begin", kind="stable")
    table = np.zeros(len(operations), GPU)
    stream_keys = np.stack([operations[name] for name in ("gpu", "context", "stream")], axis=1)
    streams, stream = np.unique(stream_keys, axis=0, return_inverse=True)
    table["stream"] = stream.reshape(-1)
    table["rank"], table["name"], table["bytes"] = file.process["rank"], operations["name"], operations["bytes"]
    table["begin"], table["end"] = clock.since_boot(operations["begin"]), clock.since_boot(operations["end"])

    calls = np.sort(file.gpu_calls, order="correlation", kind="stable")
    row = row_of(calls["correlation"], operations["correlation"])
    id = np.append(calls["task"], np.uint64(0))[row]  # row -1: no task
    table["task"] = row_of(tasks["id"], id)
    return names_of(streams.tolist()), table


def row_of(sorted_: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the position of each value in an ascending list, -1 if it is not in it."""
    row = np.searchsorted(sorted_, values)
    present = row < len(sorted_)
    present[present] = sorted_[row[present]] == values[present]
    return np.where(present, row, -1)


def names_of(streams: list[list[int]]) -> list[tuple[int, str]]:
    """Return GPU and name of streams [(gpu, context, stream)].

    The name includes the context if a GPU has several.
    """
    contexts: dict[int, set[int]] = {}
    for gpu, context, _ in streams:
        contexts.setdefault(gpu, set()).add(context)
    return [
        (gpu, f"GPU {gpu}, " + (f"context {context}, " if len(contexts[gpu]) > 1 else "") + f"stream {stream}")
        for gpu, context, stream in streams
    ]
