"""Tables of one rank from its records. Rows are counted within the rank."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from plaq.trace.clocks import LOW_BITS, Clock
from plaq.trace.counts import inclusive_counts
from plaq.trace.model import END, LINK, READY, REGION, SLICE, TASK
from plaq.trace.on_worker import depths
from plaq.trace.rank_file import RankFile

CREATED, STARTED, SUSPENDED, RESUMED, FINISHED = 1, 2, 3, 5, 6
WOKEN, LINKED, REGION_BEGIN, REGION_END, MORE, SENT, RECEIVED, COUNTS = 4, 7, 8, 9, 10, 11, 12, 13
WITH_MORE = (CREATED, LINKED, REGION_BEGIN, SENT, RECEIVED)
COUNTED = (STARTED, SUSPENDED, RESUMED, FINISHED, REGION_BEGIN, REGION_END)  # with readings of the counters
KIND_SHIFT, WORKER_SHIFT = np.uint64(56), np.uint64(48)
ID_BITS = np.uint64((1 << 48) - 1)
IS_SUBJECT = np.uint64(1 << 32)
UNKNOWN = "(began before the trace)"


@dataclass
class RankTables:
    """Tables as in the model; names are numbers of the rank's list, times on the common CLOCK_MONOTONIC."""

    names: list[str]
    tasks: np.ndarray
    slices: np.ndarray
    regions: np.ndarray
    links: np.ndarray
    readies: np.ndarray
    message_ends: np.ndarray
    task_counts: np.ndarray  # [task, counter], inclusive, as those of regions
    region_counts: np.ndarray
    uncounted: int  # events that should have readings of the counters, and have none
    worker_of: dict[int, int]  # thread: the worker that it was all the time, if it was one
    first: float
    last: float


def assemble(file: RankFile, clock: Clock) -> RankTables:
    """Return the tables of one rank."""
    head, subject = file.records["head"], file.records["subject"]
    kind = (head >> KIND_SHIFT).astype(np.uint8)
    next_ = np.minimum(np.arange(1, len(kind) + 1), len(kind) - 1)
    has_more = (kind[next_] == MORE) & (file.thread[next_] == file.thread)
    is_first_half = np.isin(kind, WITH_MORE)
    cut = is_first_half & ~has_more  # the file ended before the second half
    at = np.flatnonzero((kind != MORE) & (kind != COUNTS) & ~cut)
    readings, has_readings = _readings(file, kind, at)
    next_ = next_[at]
    events = _Events(
        kind=kind[at],
        time=clock.seconds(head[at] & LOW_BITS),
        subject=subject[at],
        number=(head[next_] & np.uint64(0xFFFFFFFF)).astype(np.int64),
        is_subject=(head[next_] & IS_SUBJECT) != 0,
        other=subject[next_],
        amount=head[next_] & LOW_BITS,
        thread=file.thread[at],
        readings=readings,
        has_readings=has_readings,
    )
    names = [*file.names, UNKNOWN]
    last = clock.seconds(file.clocks["ticks"][-1:])[0]
    if file.cut:  # of some threads there is more, of others not
        events = events.until(last)
    last = max(events.time.max(initial=-np.inf), last)
    first = min(events.time.min(initial=np.inf), clock.seconds(file.clocks["ticks"][:1])[0])
    ids = _TaskIds(events)
    tasks = _tasks(events, ids, len(names) - 1)
    slices = _slices(events, ids, tasks, last)
    regions = _regions(events, ids, tasks, last)
    task_counts, region_counts = _counts(events, ids, tasks, regions)
    uncounted = int((_is(events, *COUNTED) & ~events.has_readings).sum()) if file.counters else 0
    woken = events.kind == WOKEN
    readies = np.zeros(woken.sum(), READY)
    readies["task"], readies["time"] = ids.row(events.subject[woken]), events.time[woken]
    linked = events.kind == LINKED
    links = np.zeros(linked.sum(), LINK)
    links["source"], links["target"] = ids.row(events.subject[linked]), ids.row(events.other[linked])
    links["time"] = events.time[linked]
    rank = file.process["rank"]
    worker_of = _worker_of(events)
    ends = _message_ends(events, worker_of)
    for table in (tasks, slices, regions, ends):
        table["rank"] = rank
    return RankTables(names, tasks, slices, regions, links, readies, ends, task_counts, region_counts, uncounted,
                      worker_of, first, last)


@dataclass
class _Events:
    """Columns [n], one thread after the other, each in its order.

    `number`, `is_subject`, `other` and `amount` are of the second half; `readings` [n, counter] are of its thread.
    """

    kind: np.ndarray
    time: np.ndarray
    subject: np.ndarray
    number: np.ndarray
    is_subject: np.ndarray
    other: np.ndarray
    amount: np.ndarray
    thread: np.ndarray
    readings: np.ndarray
    has_readings: np.ndarray

    def until(self, time: float) -> _Events:
        """Return the events up to a time."""
        before = self.time <= time
        return _Events(*(getattr(self, field.name)[before] for field in fields(self)))


class _TaskIds:
    """Ids of all tasks that any event names, ascending; `row` gives their positions."""

    def __init__(self, events: _Events):
        columns = [events.subject[_is(events, CREATED, SUSPENDED, WOKEN, FINISHED, LINKED, REGION_BEGIN)]]
        columns.append(events.subject[_is(events, STARTED, RESUMED)] & ID_BITS)
        columns.append(events.other[_is(events, CREATED, LINKED)])
        named_ids = np.concatenate(columns)
        highest = int(named_ids.max(initial=0))
        if highest < 8 * len(named_ids) + 1024:  # ids are dense as a rule: no sorting
            is_named = np.zeros(highest + 1, bool)
            is_named[named_ids] = True
            is_named[0] = False
            self.ids = np.flatnonzero(is_named).astype(np.uint64)
            self._rows = np.cumsum(is_named) - 1
            self._rows[~is_named] = -1
        else:
            self.ids = np.unique(named_ids[named_ids > 0])
            self._rows = None

    def row(self, ids: np.ndarray) -> np.ndarray:
        """Return rows of ids that are named somewhere; -1 for id 0."""
        if self._rows is not None:
            return self._rows[ids]
        rows = np.searchsorted(self.ids, ids)
        return np.where(ids == 0, -1, rows)


def _worker_of(events: _Events) -> dict[int, int]:
    served = _is(events, STARTED, RESUMED)
    pairs = np.stack([events.thread[served], (events.subject[served] >> WORKER_SHIFT).astype(np.int64)], axis=1)
    unique = np.unique(pairs, axis=0)
    threads, counts = np.unique(unique[:, 0], return_counts=True)
    only = set(threads[counts == 1].tolist())
    return {thread: worker for thread, worker in unique.tolist() if thread in only}


def _message_ends(events: _Events, worker_of: dict[int, int]) -> np.ndarray:
    at = np.flatnonzero(_is(events, SENT, RECEIVED))
    ends = np.zeros(len(at), END)
    ends["wire"], ends["ends"], ends["bytes"] = events.subject[at], events.other[at], events.amount[at]
    ends["time"], ends["thread"] = events.time[at], events.thread[at]
    ends["sent"] = events.kind[at] == SENT
    ends["worker"] = [worker_of.get(thread, -1) for thread in events.thread[at].tolist()]
    return ends


def _readings(file: RankFile, kind: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return readings [event, counter] of the counters, and whether the event at these records has them."""
    counters = len(file.counters)
    readings, has = np.zeros((len(at), counters), np.uint64), np.zeros(len(at), bool)
    if not counters or not len(at):
        return readings, has
    first = at + np.where(np.isin(kind[at], WITH_MORE), 2, 1)  # of the records of counts
    has = np.isin(kind[at], COUNTED)
    for pair in range((counters + 1) // 2):
        place = np.minimum(first + pair, len(kind) - 1)
        has &= (first + pair < len(kind)) & (kind[place] == COUNTS) & (file.thread[place] == file.thread[at])
        readings[:, 2 * pair] = file.records["head"][place] & LOW_BITS
        if 2 * pair + 1 < counters:
            readings[:, 2 * pair + 1] = file.records["subject"][place]
    return readings, has


def _counts(events: _Events, ids: _TaskIds, tasks: np.ndarray, regions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return inclusive counts [task, counter] and [region, counter]."""
    at = np.flatnonzero(events.has_readings)
    kind = events.kind[at]
    has_worker = np.isin(kind, (STARTED, RESUMED))
    task = np.full(len(at), -1, np.int64)
    task[has_worker] = ids.row(events.subject[at[has_worker]] & ID_BITS)

    def reading_of(region: np.ndarray, of: np.ndarray) -> np.ndarray:
        order = np.argsort(region, kind="stable")
        place = np.minimum(np.searchsorted(region[order], regions["id"]), max(len(region) - 1, 0))
        if not len(region):
            return np.full(len(regions), -1)
        return np.where(region[order][place] == regions["id"], of[order][place], -1)

    begins, ends = np.flatnonzero(kind == REGION_BEGIN), np.flatnonzero(kind == REGION_END)
    return inclusive_counts(
        events.readings[at],
        events.time[at],
        events.thread[at],
        np.isin(kind, (STARTED, SUSPENDED, RESUMED, FINISHED)),
        task,
        (reading_of(events.other[at[begins]], begins), reading_of(events.subject[at[ends]], ends)),
        len(tasks),
    )


def _is(events: _Events, *kinds: int) -> np.ndarray:
    return np.isin(events.kind, kinds)


def _tasks(events: _Events, ids: _TaskIds, unknown: int) -> np.ndarray:
    tasks = np.zeros(len(ids.ids), TASK)
    tasks["id"], tasks["name"], tasks["parent"] = ids.ids, unknown, -1
    for field in ("created", "started", "finished"):
        tasks[field] = np.nan
    made = events.kind == CREATED
    row = ids.row(events.subject[made])
    tasks["created"][row], tasks["name"][row] = events.time[made], events.number[made]
    tasks["parent"][row] = ids.row(events.other[made])
    if (tasks["parent"] >= np.arange(len(tasks))).any():  # ids grow, so that a parent comes first
        depths(tasks["parent"])
    began, ended = events.kind == STARTED, events.kind == FINISHED
    tasks["started"][ids.row(events.subject[began] & ID_BITS)] = events.time[began]
    tasks["finished"][ids.row(events.subject[ended])] = events.time[ended]
    return tasks


def _slices(events: _Events, ids: _TaskIds, tasks: np.ndarray, last: float) -> np.ndarray:
    """Return slices, from started or resumed to suspended or finished.

    If the end is missing (lost, or the trace was over), the slice ends at the next slice of its task or its worker, at
    the latest with the trace. So does a slice whose end belongs to a later slice of the task, since the events between
    were lost.
    """
    chosen = np.flatnonzero(_is(events, STARTED, RESUMED, SUSPENDED, FINISHED))
    row = ids.row(events.subject[chosen] & ID_BITS)
    order = np.lexsort((events.time[chosen], row))
    chosen, row = chosen[order], row[order]
    begins = _is(events, STARTED, RESUMED)[chosen]
    begin = np.flatnonzero(begins)
    time = events.time[chosen]
    following = np.minimum(begin + 1, len(chosen) - 1)
    same_task = (begin + 1 < len(chosen)) & (row[following] == row[begin])
    slices = np.zeros(len(begin), SLICE)
    slices["task"], slices["begin"] = row[begin], time[begin]
    slices["worker"] = (events.subject[chosen[begin]] >> WORKER_SHIFT).astype(np.int32)
    slices["end"] = np.where(same_task, time[following], last)
    slices = slices[np.argsort(slices["begin"], kind="stable")]
    order = np.argsort(slices["worker"], kind="stable")
    worker, begin, end = (slices[name][order] for name in ("worker", "begin", "end"))
    following = np.where(worker[1:] == worker[:-1], begin[1:], last)
    slices["end"][order[:-1]] = np.minimum(end[:-1], following)
    return slices


def _regions(events: _Events, ids: _TaskIds, tasks: np.ndarray, last: float) -> np.ndarray:
    begin, end = np.flatnonzero(events.kind == REGION_BEGIN), np.flatnonzero(events.kind == REGION_END)
    regions = np.zeros(len(begin), REGION)
    regions["id"], regions["name"] = events.other[begin], events.number[begin]
    regions["subject"] = events.is_subject[begin]
    regions["task"] = ids.row(events.subject[begin])
    regions["thread"], regions["begin"] = events.thread[begin], events.time[begin]

    # The worker: where the thread was when the region began.
    has_worker = _is(events, STARTED, RESUMED)
    latest = np.maximum.accumulate(np.where(has_worker, np.arange(len(has_worker)), -1))[begin]
    inside = (regions["task"] >= 0) & (latest >= 0)
    regions["worker"] = np.where(inside, (events.subject[latest] >> WORKER_SHIFT).astype(np.int64), -1)

    # The end: by the region's number; of those without one, that of the region around it, the task's or the trace's.
    by_number = end[np.argsort(events.subject[end], kind="stable")]
    place = np.searchsorted(events.subject[by_number], regions["id"])
    place_in = np.minimum(place, max(len(by_number) - 1, 0))
    has_end = place < len(by_number)
    has_end[has_end] = events.subject[by_number[place_in[has_end]]] == regions["id"][has_end]
    of_task = np.full(len(begin), last)
    inside = regions["task"] >= 0
    of_task[inside] = tasks["finished"][regions["task"][inside]]
    regions["end"] = np.where(np.isnan(of_task), last, of_task)
    sequence_end = np.full(len(begin), len(events.kind))
    if has_end.any():
        matched = by_number[place_in[has_end]]
        regions["end"][has_end] = events.time[matched]
        sequence_end[has_end] = matched
    regions["end"] = np.maximum(regions["end"], regions["begin"])
    if not has_end.all():
        known = regions.copy()
        known["end"] = np.where(has_end, regions["end"], regions["begin"])
        around = _around(known, begin, np.where(has_end, sequence_end, begin))
        within = ~has_end & (around >= 0)
        regions["end"][within] = regions["end"][around[within]]
        sequence_end[within] = sequence_end[around[within]]
    regions["parent"] = _around(regions, begin, sequence_end)
    return _sorted_regions(regions)


def _around(regions: np.ndarray, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return the row of the region around each one, -1: none.

    Regions nest within their task or, outside of tasks, thread.
    """
    count = len(regions)
    parent = np.full(count, -1, np.int64)
    group = np.where(regions["task"] >= 0, regions["task"], -2 - regions["thread"].astype(np.int64))
    time = np.concatenate([regions["begin"], regions["end"]])
    order = np.lexsort((np.concatenate([begin, end]), time, np.concatenate([group, group])))
    step = np.where(order < count, 1, -1)
    level = np.cumsum(step)  # back to 0 at the end of every group
    opens = np.flatnonzero(order < count)
    levels = level[opens]
    for depth in range(2, levels.max(initial=0) + 1):
        inner, outer = opens[levels == depth], opens[levels == depth - 1]
        around = outer[np.searchsorted(outer, inner) - 1]
        parent[order[inner]] = order[around]
    # Where regions of one thread overlap without nesting: one further out that holds all of it, or none.
    while True:
        has = np.flatnonzero(parent >= 0)
        short = has[(regions["end"][parent[has]] < regions["end"][has]) | (group[parent[has]] != group[has])]
        if not len(short):
            return parent
        parent[short] = parent[parent[short]]


def _sorted_regions(regions: np.ndarray) -> np.ndarray:
    order = np.argsort(regions["begin"], kind="stable")
    place = np.empty(len(order) + 1, np.int64)
    place[order], place[-1] = np.arange(len(order)), -1
    regions = regions[order]
    regions["parent"] = place[regions["parent"]]
    return regions
