"""Counters of one rank, and the names of its kernel threads."""

from __future__ import annotations

import numpy as np

from plaq.trace.assemble import RankTables
from plaq.trace.clocks import Clock
from plaq.trace.model import Counter
from plaq.trace.rank_file import SAMPLE, RankFile


def counters_of(file: RankFile, clock: Clock, tables: RankTables) -> tuple[list[str], list[Counter]]:
    """Return the names of the threads that recorded or were sampled, and all counters.

    The `thread` of regions and messages becomes a position among those names.
    """
    numbers = sorted(file.threads)
    place = {number: position for position, number in enumerate(numbers)}
    names = [_name(file, file.threads[n]["id"], file.threads[n]["name"], tables.worker_of.get(n)) for n in numbers]
    for table in (tables.regions, tables.message_ends):
        if len(table):
            table["thread"] = np.searchsorted(np.array(numbers), table["thread"])
    kernel = {thread["id"]: place[number] for number, thread in file.threads.items()}
    worker = {place[number]: w for number, w in tables.worker_of.items() if number in place}
    for series in file.series:
        if series["thread"] >= 0 and series["thread"] not in kernel:
            kernel[series["thread"]] = len(names)
            names.append(_name(file, series["thread"], series["thread name"], None))
    counters = []
    ticks = np.array([when for when, _ in file.samples], np.uint64)
    values = np.concatenate([np.zeros(0, SAMPLE), *(v for _, v in file.samples)])
    times = np.repeat(clock.seconds(ticks), [len(v) for _, v in file.samples])
    order = np.argsort(values["series"], kind="stable")
    edges = np.searchsorted(values["series"][order], np.arange(len(file.series) + 1))
    for number, series in enumerate(file.series):
        of = order[edges[number] : edges[number + 1]]
        thread = kernel.get(series["thread"], -1)
        of_worker = series["worker"] if series["worker"] >= 0 else worker.get(thread, -1)
        counter = Counter(
            series["name"], series["unit"], file.process["rank"], of_worker, thread, times[of],
            values["value"][of],
        )
        counters.append(as_utilisation(counter))
    return names, counters + _idle_rates(file, clock.seconds(ticks), tables.slices)


def as_utilisation(total: Counter) -> Counter:
    """Return the growing busy time of a core as its share of the time since the previous sample; others unchanged."""
    name, _, core = total.name.rpartition(" ")
    if name != "busy time of core":
        return total
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.nan_to_num(np.diff(total.value) / np.diff(total.time))
    percent = np.clip(100 * share, 0, 100)
    return Counter(f"utilisation of core {core}", "%", total.rank, -1, -1, total.time[1:], percent)


def _idle_rates(file: RankFile, edges: np.ndarray, slices: np.ndarray) -> list[Counter]:
    """Return, per worker, the share of each time between two samples in which it ran no task.

    In 0.01 % as HPX's /threads/idle-rate: search for work, switching and sleeping are idle, and so is a worker that
    does not exist.
    """
    out = []
    for worker in np.unique(slices["worker"]):
        of_worker = slices[slices["worker"] == worker]  # sorted by begin, without overlap
        done = np.concatenate([[0.0], np.cumsum(of_worker["end"] - of_worker["begin"])])
        before = np.searchsorted(of_worker["begin"], edges)  # slices that had begun
        last = np.maximum(before - 1, 0)
        in_progress = np.where(before > 0, np.minimum(edges, of_worker["end"][last]) - of_worker["begin"][last], 0.0)
        busy = done[last] + in_progress
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.nan_to_num(np.diff(busy) / np.diff(edges))
        idle = np.clip(1e4 * (1 - share), 0, 1e4)
        out.append(Counter("idle rate", "0.01 %", file.process["rank"], int(worker), -1, edges[1:].copy(), idle))
    return out


def _name(file: RankFile, kernel_id: int, name: str, worker: int | None) -> str:
    if kernel_id == file.process["pid"]:
        return "main"
    return f"{name or 'thread'} {kernel_id}" if worker is None else f"worker {worker} ({kernel_id})"
