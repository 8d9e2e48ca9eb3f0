"""What must hold in every trace, whoever made it."""

import numpy as np


def check_consistent(trace):
    """Assert that the tables fit together: rows exist, times are in order, nobody is in two places at once."""
    tasks, slices, regions = trace.tasks, trace.slices, trace.regions
    rows = len(tasks)
    ids = np.stack([tasks["rank"].astype(np.uint64), tasks["id"]], axis=1)
    assert len(np.unique(ids, axis=0)) == rows and (tasks["id"] > 0).all()
    assert ((tasks["parent"] >= -1) & (tasks["parent"] < rows)).all()
    assert ((tasks["name"] >= 0) & (tasks["name"] < len(trace.names))).all()
    child = np.flatnonzero(tasks["parent"] >= 0)
    parent = tasks["parent"][child]
    assert (tasks["rank"][child] == tasks["rank"][parent]).all()
    assert not (tasks["created"][child] < tasks["started"][parent]).any(), "a child before its parent started"
    assert not (tasks["started"] < tasks["created"]).any()
    assert not (tasks["finished"] < tasks["started"]).any()

    assert ((slices["task"] >= 0) & (slices["task"] < rows)).all()
    assert (slices["begin"] <= slices["end"]).all() and (np.diff(slices["begin"]) >= 0).all()
    of = tasks[slices["task"]]
    assert (of["rank"] == slices["rank"]).all()
    assert not (slices["begin"] < of["started"]).any() and not (slices["end"] > of["finished"]).any()
    assert_disjoint(slices, slices["rank"].astype(np.int64) << 32 | slices["worker"])
    assert_disjoint(slices, slices["task"])

    assert ((regions["task"] >= -1) & (regions["task"] < rows)).all()
    assert ((regions["parent"] >= -1) & (regions["parent"] < len(regions))).all()
    assert (regions["begin"] <= regions["end"]).all() and (np.diff(regions["begin"]) >= 0).all()
    inside = np.flatnonzero(regions["parent"] >= 0)
    around = regions[regions["parent"][inside]]
    assert (regions["begin"][inside] >= around["begin"]).all() and (regions["end"][inside] <= around["end"]).all()
    assert (regions["task"][inside] == around["task"]).all()
    inside = np.flatnonzero(regions["task"] >= 0)
    around = tasks[regions["task"][inside]]
    assert not (regions["begin"][inside] < around["started"]).any()
    assert not (regions["end"][inside] > around["finished"]).any()

    for column in (trace.links["source"], trace.links["target"], trace.readies["task"]):
        assert ((column >= 0) & (column < rows)).all()
    for counter in trace.counters:
        assert len(counter.time) == len(counter.value) and (np.diff(counter.time) >= 0).all()
    ends = [tasks["finished"], slices["end"], regions["end"], trace.links["time"]]
    latest = max((np.nanmax(end) for end in ends if len(end) and not np.isnan(end).all()), default=0.0)
    assert latest <= trace.duration


def assert_disjoint(intervals, owner):
    """No two of an owner's intervals overlap."""
    order = np.lexsort((intervals["end"], intervals["begin"], owner))
    same = owner[order][1:] == owner[order][:-1]
    overlap = same & (intervals["begin"][order][1:] < intervals["end"][order][:-1])
    assert not overlap.any(), f"{overlap.sum()} overlaps"
