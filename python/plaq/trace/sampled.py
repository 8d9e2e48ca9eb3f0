"""The counters of one rank, and the names of its kernel threads."""

from __future__ import annotations

import numpy as np

from plaq.trace.assemble import RankTables
from plaq.trace.clocks import Clock
from plaq.trace.model import Counter
from plaq.trace.rank_file import SAMPLE, RankFile

#: Totals that are read better as rates. name of the total: (name of the rate, unit, rate from d total / d t)
IDLE = ("idle rate", "0.01 %", lambda rate: np.clip(1e4 * (1 - rate), 0, 1e4))
BUSY = ("utilisation of core {}", "%", lambda rate: np.clip(100 * rate, 0, 100))


def counters_of(file: RankFile, clock: Clock, tables: RankTables) -> tuple[list[str], list[Counter]]:
    """Names of the threads that recorded or were sampled, and all counters. The `thread` of regions becomes a position
    among those names."""
    place, names = _threads(file, tables)
    regions = tables.regions
    if len(regions):
        numbers = np.array(sorted(place))
        regions["thread"] = np.array([place[n] for n in numbers])[np.searchsorted(numbers, regions["thread"])]
    kernel = {thread["id"]: place[number] for number, thread in file.threads.items()}
    for series in file.series:
        if series["thread"] >= 0 and series["thread"] not in kernel:
            kernel[series["thread"]] = len(names)
            names.append(_name(file, series["thread"], series["thread name"]))
    counters = []
    ticks = np.array([when for when, _ in file.samples], np.uint64)
    values = np.concatenate([np.zeros(0, SAMPLE), *(v for _, v in file.samples)])
    times = np.repeat(clock.seconds(ticks), [len(v) for _, v in file.samples])
    order = np.argsort(values["series"], kind="stable")
    edges = np.searchsorted(values["series"][order], np.arange(len(file.series) + 1))
    for number, series in enumerate(file.series):
        of = order[edges[number] : edges[number + 1]]
        thread = kernel.get(series["thread"], -1)
        counter = Counter(
            series["name"], series["unit"], file.process["rank"], series["worker"], thread, times[of],
            values["value"][of],
        )
        counters.append(as_rate(counter))
    return names, counters


def as_rate(total: Counter) -> Counter:
    """A busy time that grows becomes an idle rate or a utilisation over the time since the sample before."""
    if total.name == "busy time of worker":
        name, unit, formula = IDLE
    elif total.name.startswith("busy time of core "):
        name, unit, formula = BUSY
        name = name.format(total.name.rsplit(" ", 1)[1])
    else:
        return total
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.nan_to_num(np.diff(total.value) / np.diff(total.time))
    return Counter(name, unit, total.rank, total.worker, total.thread, total.time[1:], formula(rate))


def _threads(file: RankFile, tables: RankTables) -> tuple[dict[int, int], list[str]]:
    numbers = sorted(file.threads)
    return (
        {number: place for place, number in enumerate(numbers)},
        [_name(file, file.threads[n]["id"], file.threads[n]["name"]) for n in numbers],
    )


def _name(file: RankFile, kernel_id: int, name: str) -> str:
    if kernel_id == file.process["pid"]:
        return "main"
    return f"{name or 'thread'} {kernel_id}"
