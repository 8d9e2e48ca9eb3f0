"""Intervals that nest, from slices, regions of suspended tasks and threads outside of the pools."""

import numpy as np
import pytest
from consistent import check_consistent
from hand_made import suspended, trace_of
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic_trace import synthetic

from plaq.trace.on_worker import OnWorker, depths
from plaq.trace.timeline import Timeline


def timeline(trace):
    return Timeline(trace, OnWorker(trace))


def shown(trace):
    """lane -> [(name, depth, begin, end)] in s, in order."""
    line = timeline(trace)
    rows = {lane.name + (f" of rank {lane.rank}" if lane.rank else ""): [] for lane in line.lanes}
    for row in line.intervals:
        lane = list(rows)[row["lane"]]
        rows[lane].append((trace.names[row["name"]], int(row["depth"]), row["begin"] / 1e9, row["end"] / 1e9))
    return rows


def nests(line):
    """Every interval lies in the one above it on its lane and begins after the one before it ended."""
    above = []
    lane = -1
    for row in line.intervals:
        if row["lane"] != lane:
            lane, above = row["lane"], []
        while above and above[-1]["depth"] >= row["depth"]:
            if above.pop()["end"] > row["begin"]:
                return False
        if row["begin"] > row["end"] or (above and row["end"] > above[-1]["end"]):
            return False
        above.append(row)
    return True


def test_a_suspended_task():
    trace = suspended()
    check_consistent(trace)
    assert shown(trace) == {
        "worker 0": [
            ("outer", 0, 0.0, 3.0),
            ("whole", 1, 1.0, 3.0),
            ("part", 2, 2.0, 3.0),
            ("inner", 0, 3.0, 5.0),
        ],
        "worker 1": [
            ("outer", 0, 5.0, 9.0),
            ("whole", 1, 5.0, 8.0),
            ("part", 2, 5.0, 6.0),
            ("late", 2, 7.0, 8.0),
        ],
        "main": [("loop", 0, 0.0, 10.0), ("step", 1, 4.0, 6.0)],
    }
    assert nests(timeline(trace))


def test_lanes_of_two_ranks():
    trace = trace_of(
        tasks=[
            ("a", 1, -1, [(0, 0.0, 2.0)]),
            ("b", 0, -1, [(0, 0.0, 4.0)]),
            ("c", 0, -1, [(2, 1.0, 3.0)]),
            ("d", 0, -1, [(0, 4.0, 5.0)]),
        ],
        regions=[("r", 1, -1, -1, -1, 1, 0.0, 1.0)],
    )
    assert shown(trace) == {
        "worker 0": [("b", 0, 0.0, 4.0), ("d", 0, 4.0, 5.0)],
        "worker 2": [("c", 0, 1.0, 3.0)],
        "worker 0 of rank 1": [("a", 0, 0.0, 2.0)],
        "helper of rank 1": [("r", 0, 0.0, 1.0)],
    }


def test_what_takes_no_time_stays_where_it_was():
    """Region "tick" at the very end of "a" must not end up in "b", which begins at the same time."""
    trace = trace_of(
        tasks=[("a", 0, -1, [(0, 0.0, 1.0), (0, 2.0, 3.0)]), ("b", 0, -1, [(0, 1.0, 2.0)])],
        regions=[("tick", 0, 0, -1, 0, 0, 1.0, 1.0), ("away", 0, 0, -1, 0, 0, 1.0, 2.0)],
    )
    line = timeline(trace)
    assert [trace.names[k] for k in line.intervals["name"]] == ["a", "tick", "away", "b", "a"]
    assert nests(line)


def test_regions_that_overlap_are_cut():
    trace = trace_of(
        tasks=[("t", 0, -1, [(0, 0.0, 9.0)]), ("t", 0, -1, [(0, 9.0, 10.0)])],
        regions=[
            ("a", 0, 0, -1, 0, 0, 0.0, 5.0),
            ("b", 0, 0, -1, 0, 0, 2.0, 9.0),  # its end came after that of "a" around it
            ("c", 0, 0, -1, 0, 0, 3.0, 9.0),
            ("d", 0, 0, -1, 0, 0, 9.0, 9.0),
            ("a", 0, -1, -1, -1, 0, 0.0, 4.0),
            ("b", 0, -1, -1, -1, 0, 0.0, 6.0),
        ],
    )
    found = shown(trace)
    assert found == {
        "worker 0": [
            ("t", 0, 0.0, 9.0),
            ("a", 1, 0.0, 5.0),
            ("b", 2, 2.0, 5.0),
            ("c", 3, 3.0, 5.0),
            ("b", 1, 5.0, 9.0),
            ("c", 2, 5.0, 9.0),
            ("d", 1, 9.0, 9.0),
            ("t", 0, 9.0, 10.0),
        ],
        "main": [("a", 0, 0.0, 4.0), ("b", 1, 0.0, 4.0), ("b", 0, 4.0, 6.0)],
    }
    assert nests(timeline(trace))


@settings(max_examples=60)
@given(st.data())
def test_any_overlaps_nest_afterwards_and_keep_their_time(data):
    times = st.integers(0, 30)
    drawn = data.draw(st.lists(st.tuples(times, times, st.sampled_from([-1, 0, 1])), max_size=12))
    spans = sorted((min(a, b), max(a, b), task) for a, b, task in drawn)
    trace = trace_of(
        tasks=[("t", 0, -1, [(0, 0.0, 15.0), (1, 20.0, 30.0)]), ("t", 0, -1, [(0, 15.0, 30.0)])],
        regions=[(f"r{k}", 0, task, -1, 0, 0, a, b) for k, (a, b, task) in enumerate(spans)],
    )
    line = timeline(trace)
    assert nests(line)
    of = line.intervals[line.intervals["region"] >= 0]
    found = np.bincount(of["region"], of["end"] - of["begin"], len(spans)) / 1e9
    on_worker = [range(0), [*range(15), *range(20, 30)], range(15, 30)]
    expected = [b - a if task < 0 else sum(a <= t < b for t in on_worker[task + 1]) for a, b, task in spans]
    assert found.tolist() == expected and (np.diff(line.intervals["lane"]) >= 0).all()


def test_depths():
    assert depths(np.array([], np.int64)).tolist() == []
    assert depths(np.array([3, -1, 1, 2, 2, -1])).tolist() == [3, 0, 1, 2, 2, 0]
    chain = np.arange(-1, 99_999)
    assert (depths(chain) == np.arange(100_000)).all()


def test_an_empty_trace():
    trace = trace_of([])
    assert not len(timeline(trace).intervals) and timeline(trace).lanes == []


@settings(max_examples=40)
@given(st.integers(20, 2000), st.integers(1, 3), st.integers(1, 4), st.integers(0, 10**6))
def test_intervals_nest_and_nothing_is_lost(events, ranks, workers, seed):
    trace = synthetic(events, ranks, workers, seed)
    line = timeline(trace)
    assert nests(line)
    rows = line.intervals
    slices = rows[rows["region"] < 0]
    assert len(slices) == len(trace.slices)
    total = (trace.slices["end"] - trace.slices["begin"]).sum()
    assert (slices["end"] - slices["begin"]).sum() / 1e9 == pytest.approx(total, abs=1e-9 * len(slices))
    assert set(rows["region"]) - {-1} == set(range(len(trace.regions)))
    on_worker = OnWorker(trace)
    inside = np.flatnonzero(trace.regions["task"] >= 0)
    task = trace.regions["task"][inside]
    expected = on_worker.seconds(task, trace.regions["end"][inside])
    expected -= on_worker.seconds(task, trace.regions["begin"][inside])
    part = rows[rows["region"] >= 0]
    found = np.bincount(part["region"], part["end"] - part["begin"], len(trace.regions))[inside] / 1e9
    assert np.allclose(found, expected, atol=1e-8)
