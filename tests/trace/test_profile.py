import csv

import numpy as np
import pytest
from hand_made import suspended, trace_of
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic_trace import synthetic

from plaq.trace.profile import as_csv, busy, profile, time_text


def by_name(trace):
    return {(row.kind, row.name): row for row in profile(trace)}


def test_nested_regions_of_a_suspended_task():
    rows = by_name(suspended())
    found = {key: (row.calls, row.inclusive, row.exclusive, row.suspended) for key, row in rows.items()}
    assert found == {
        ("task", "outer"): (1, 7.0, 2.0, 2.0),  # 0-3 and 5-9; "whole" has 1-3 and 5-8 of it
        ("region", "whole"): (1, 5.0, 2.0, 2.0),  # "part" has 2-3 and 5-6, "late" 7-8
        ("region", "part"): (1, 2.0, 2.0, 2.0),
        ("region", "late"): (1, 1.0, 1.0, 0.0),
        ("task", "inner"): (1, 2.0, 2.0, 0.0),
        ("region", "loop"): (1, 10.0, 8.0, 0.0),  # a thread's: from begin to end
        ("region", "step"): (1, 2.0, 2.0, 0.0),
    }
    assert sum(row.share for row in rows.values()) == pytest.approx(1)
    assert rows["region", "loop"].share == pytest.approx(8 / 19)


def test_statistics_over_calls_and_ranks():
    trace = trace_of(
        [
            ("a", 0, -1, [(0, 0.0, 1.0)]),
            ("a", 1, -1, [(0, 0.0, 3.0)]),
            ("a", 1, -1, [(1, 1.0, 3.0), (0, 4.0, 4.0)]),
        ]
        + [("a", 0, -1, []), ("never", 0, -1, [])]  # these did not run
    )
    (row,) = profile(trace)
    assert (row.calls, row.inclusive, row.exclusive, row.mean, row.min, row.max) == (3, 6.0, 6.0, 2.0, 1.0, 3.0)
    assert row.stddev == pytest.approx(np.sqrt(2 / 3)) and row.share == 1.0
    assert busy(trace) == "4.00 s on 3 workers of 2 ranks, busy 50.0 %"


def test_a_region_within_one_of_its_name():
    trace = trace_of(
        [("a", 0, -1, [(0, 0.0, 4.0)])], [("r", 0, 0, -1, 0, 0, 0.0, 4.0), ("r", 0, 0, 0, 0, 0, 1.0, 2.0)]
    )
    row = by_name(trace)["region", "r"]
    assert (row.calls, row.inclusive, row.exclusive) == (2, 5.0, 4.0)


def test_a_region_whose_end_was_guessed_while_its_task_was_suspended():
    trace = trace_of([("a", 0, -1, [(0, 0.0, 1.0), (0, 3.0, 4.0)])], [("r", 0, 0, -1, 0, 0, 0.5, 2.0)])
    row = by_name(trace)["region", "r"]
    assert (row.inclusive, row.suspended) == (0.5, 1.0)


def test_a_task_that_did_not_finish():
    trace = trace_of([("a", 0, -1, [(0, 0.0, 1.0), (0, 3.0, 4.0)])])
    trace.tasks["finished"] = np.nan
    (row,) = profile(trace)
    assert (row.calls, row.inclusive, row.suspended) == (1, 2.0, 0.0)


def test_csv_has_the_notes_and_all_digits():
    trace = trace_of([('a "b", c', 0, -1, [(0, 0.0, 1 / 3)])], notes=["rank 0: 12 events were lost"])
    text = as_csv(profile(trace), trace.notes)
    notes, table = text.split("\n", 1)
    assert notes == "# rank 0: 12 events were lost"
    (row,) = csv.DictReader(table.splitlines())
    assert row["name"] == 'a "b", c' and float(row["inclusive"]) == 1 / 3 and row["calls"] == "1"


def test_an_empty_trace():
    trace = trace_of([])
    assert profile(trace) == [] and busy(trace) == "0 ns on 0 workers of 1 rank"
    assert as_csv([], []).startswith("kind,name,calls,")


@pytest.mark.parametrize(
    "seconds, text",
    [
        (0, "0 ns"),
        (2.4e-8, "24 ns"),
        (1e-6, "1.00 µs"),
        (1.2345e-5, "12.3 µs"),
        (0.9999, "1.00 s"),
        (123.4, "123.4 s"),
    ],
)
def test_times_in_words(seconds, text):
    assert time_text(seconds) == text


@settings(max_examples=40)
@given(st.integers(20, 2000), st.integers(1, 3), st.integers(1, 4), st.integers(0, 10**6))
def test_exclusive_times_add_up_to_all_that_was_busy(events, ranks, workers, seed):
    """Every second of a worker belongs to exactly one task or region, every second of an outermost region of a
    thread to exactly one region."""
    trace = synthetic(events, ranks, workers, seed)
    rows = profile(trace)
    outermost = trace.regions[(trace.regions["task"] < 0) & (trace.regions["parent"] < 0)]
    spent = sum((table["end"] - table["begin"]).sum() for table in (trace.slices, outermost))
    assert sum(row.exclusive for row in rows) == pytest.approx(spent, rel=1e-9)
    for row in rows:
        assert row.min <= row.mean * (1 + 1e-12) and row.mean <= row.max * (1 + 1e-12)
        assert -1e-12 <= row.exclusive <= row.inclusive + 1e-12
