"""Waiting is no work: in the profile, in the headline and in the tables of the page."""

import numpy as np
import pytest
from hand_made import suspended, trace_of, waiting

from plaq import _core
from plaq.errors import InputError
from plaq.trace.palette import OTHER, WAITING, styles_of
from plaq.trace.profile import busy, profile
from plaq.trace.report_tables import top_table, worker_table
from plaq.trace.waiting import COLLECTIVES, is_waiting, waiting_on_workers


def test_names_that_wait():
    assert all(map(is_waiting, ["wait", "wait for chains", "all_reduce", "barrier"]))
    assert not any(map(is_waiting, ["waiter", "combine", "await", "walk", ""]))
    with pytest.raises(InputError) as refused:  # the list of those that there are
        _core.comm.candidates("no such operation", 4, 8)
    with_algorithms = COLLECTIVES - {"exchange"}
    assert all(name in str(refused.value) for name in with_algorithms)
    assert str(refused.value).count(",") + 1 == len(with_algorithms)


def test_the_profile_tells_waiting_from_work():
    rows = {row.name: row for row in profile(waiting())}
    found = {name: (row.kind, row.exclusive, row.share) for name, row in rows.items()}
    assert found == {
        "solve": ("task", 14.0, pytest.approx(14 / 15)),
        "wait for chains": ("waiting", 9.0, 0.0),
        "all_reduce": ("waiting", 5.0, 0.0),
        "combine": ("region", 1.0, pytest.approx(1 / 15)),
    }
    assert busy(waiting()) == "10.0 s on 2 workers of 2 ranks, busy 75.0 %, waiting 25.0 %"


def test_the_tables_of_the_page():
    trace = waiting()
    workers = worker_table(trace)
    assert "<td>5.00 s</td><td>5.00 s</td>" in workers and "<td>10.0 s</td><td>0 ns</td>" in workers
    top = top_table(trace, profile(trace), dict.fromkeys(trace.names, 0))
    assert top.count("<td>–</td>") == 2 and top.count('class="share"') == 2


def test_waiting_counts_only_while_the_task_has_a_worker_and_not_twice():
    trace = trace_of(
        [("a", 0, -1, [(0, 0.0, 4.0), (1, 6.0, 9.0)])],
        [("wait", 0, 0, -1, 0, 0, 1.0, 8.0), ("barrier", 0, 0, 0, 0, 0, 2.0, 7.0), ("b", 0, 0, 1, 1, 0, 6.5, 7.0)],
    )
    row, seconds = waiting_on_workers(trace)
    assert np.bincount(row, seconds, 2).tolist() == [3.0, 1.5]
    assert len(waiting_on_workers(suspended())[0]) == 0


def test_a_look_of_its_own():
    found = styles_of(["wait", "a", "b"], np.array([9.0, 2.0, 1.0]), np.array([True, False, False]))
    assert found[0] == WAITING and WAITING not in found[1:] and WAITING != OTHER
