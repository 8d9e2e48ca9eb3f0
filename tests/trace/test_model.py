import numpy as np
import pytest
from consistent import check_consistent
from synthetic_trace import synthetic


@pytest.mark.parametrize("ranks, workers", [(1, 1), (1, 2), (3, 4)])
def test_a_synthetic_trace_is_consistent(ranks, workers):
    trace = synthetic(5000, ranks, workers, seed=3)
    check_consistent(trace)
    for table in (trace.tasks, trace.slices, trace.regions, trace.links, trace.readies):
        assert len(table)
    assert (trace.tasks["parent"] >= 0).any() and len(trace.slices) > len(trace.tasks)
    assert not np.isnan(trace.tasks["finished"]).any() and not np.isnan(trace.regions["end"]).any()
    assert len(trace.ranks) == ranks and set(trace.tasks["rank"]) == set(range(ranks))


def test_the_same_seed_gives_the_same_trace():
    one, two = synthetic(2000, 2, 2, seed=1), synthetic(2000, 2, 2, seed=1)
    assert one.tasks.tobytes() == two.tasks.tobytes() and one.slices.tobytes() == two.slices.tobytes()


@pytest.mark.parametrize(
    "table, field, value", [("slices", "end", 1.0), ("tasks", "started", -1.0), ("regions", "parent", 10**9)]
)
def test_the_check_notices(table, field, value):
    trace = synthetic(500, 1, 2)
    getattr(trace, table)[field][3] = value
    with pytest.raises((AssertionError, IndexError)):
        check_consistent(trace)
