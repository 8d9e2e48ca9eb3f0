"""Elements of collections in a trace: loads, moves, maps."""

import json

import numpy as np
import pytest
from hand_made import suspended, trace_of

from plaq.trace.chrome import write_chrome
from plaq.trace.elements import counters_of, elements_of, running_time
from plaq.trace.elements_page import imbalance
from plaq.trace.on_worker import OnWorker
from plaq.trace.otf2 import steps_inside
from plaq.trace.profile import profile
from plaq.trace.report import page
from plaq.trace.subjects import subject_of_tasks, without_subjects
from plaq.trace.timeline import Timeline


def wandering():
    """Two ranks, four elements of a mesh of 2 x 2 that run for 1 s twice each, (1, 1) for 3 s; (0, 1) goes from rank 0
    to 1."""
    visits = [  # name, rank, begin, end
        ("cells (0, 0)", 0, 0, 1), ("cells (0, 1)", 0, 1, 2), ("cells (1, 0)", 1, 0, 1), ("cells (1, 1)", 1, 1, 4),
        ("cells (0, 0)", 0, 4, 5), ("cells (0, 1)", 1, 5, 6), ("cells (1, 0)", 1, 4, 5), ("cells (1, 1)", 1, 6, 9),
    ]
    return trace_of(
        tasks=[("mix", rank, -1, [(0, begin, end)]) for _, rank, begin, end in visits],
        regions=[(name, rank, task, -1, 0, 0, begin, end) for task, (name, rank, begin, end) in enumerate(visits)],
        duration=10.0, subjects={name for name, *_ in visits},
    )


def test_who_did_what_when():
    (cells,) = elements_of(wandering())
    assert cells.name == "cells" and cells.index.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert cells.seconds().tolist() == [2, 2, 2, 6]
    times, left, element = cells.moves()
    assert (times.tolist(), left.tolist(), element.tolist()) == ([5.0], [0], [1])
    assert cells.ranks_at(0.5).tolist() == [0, 0, 1, 1]  # (0, 1) has not begun yet
    assert cells.ranks_at(4.9).tolist() == [0, 0, 1, 1]
    assert cells.ranks_at(5.0).tolist() == [0, 1, 1, 1]


def test_loads_of_ranks_over_time():
    trace = wandering()
    counters = {(one.name, one.rank): one for one in counters_of(elements_of(trace), trace)}
    assert {name for name, _ in counters} == {"load of cells", "moves of cells"}
    load = counters["load of cells", 0]
    assert load.unit == "s" and np.interp([0, 1, 2, 4, 5, 10], load.time,
                                          load.value) == pytest.approx([0, 1, 2, 2, 3, 3])
    load = counters["load of cells", 1]
    assert np.interp([0.5, 1, 4, 4.5, 6, 7, 10], load.time, load.value) == pytest.approx([0.5, 1, 4, 4.5, 6, 7, 9])
    assert counters["moves of cells", 0].value[[0, -1]].tolist() == [0, 1]
    assert not counters["moves of cells", 1].value.any()


def test_a_profile_counts_steps_whichever_element_does_them():
    """Region "part" of 0.5 s lies in the visit of cells (1, 1)."""
    steps = [("heavy", 0, "c (0)", 0, 4), ("heavy", 0, "c (1)", 4, 8), ("light", 0, "c (0)", 8, 8.25)]
    trace = trace_of(
        tasks=[(name, rank, -1, [(0, begin, end)]) for name, rank, _, begin, end in steps],
        regions=[(element, rank, task, -1, 0, 0, begin, end) for task, (_, rank, element, begin, end)
                 in enumerate(steps)] + [("part", 0, 1, 1, 0, 0, 5, 5.5)],
        subjects={"c (0)", "c (1)"}, duration=10.0)
    rows = {row.name: row for row in profile(trace)}
    assert rows.keys() == {"heavy", "light", "part"}
    assert rows["heavy"].exclusive == 7.5 and rows["heavy"].calls == 2 and rows["part"].exclusive == 0.5
    assert sum(row.share for row in rows.values()) == pytest.approx(1)
    assert [trace.names[k] for k in subject_of_tasks(trace)] == ["c (0)", "c (1)", "c (0)"]
    inside = without_subjects(trace).regions
    assert inside["parent"].tolist() == [-1] and inside["task"].tolist() == [1]


def test_outputs_show_which_element_does_a_step(tmp_path):
    trace = wandering()
    write_chrome(trace, tmp_path / "t.json")
    slices = [one for one in json.loads((tmp_path / "t.json").read_text())["traceEvents"] if one["ph"] == "X"]
    of_one = {one["name"] for one in slices if one["args"]["task"] == 4}
    assert of_one == {"mix", "cells (1, 1)"}
    line = Timeline(trace, OnWorker(trace))
    rows = steps_inside(trace, line.intervals)
    assert {trace.names[k] for k in rows["name"][rows["depth"] == 1]} == {"mix"}
    assert {trace.names[k] for k in rows["name"][rows["depth"] == 0]} == {f"cells ({x}, {y})" for x in (0, 1)
                                                                           for y in (0, 1)}


def test_what_runs_before_a_time():
    rng = np.random.default_rng(1)
    begin = rng.uniform(0, 10, 50)
    end = begin + rng.exponential(1, 50)
    at = rng.uniform(0, 12, 20)
    expected = [(np.clip(end, 0, t) - np.clip(begin, 0, t)).sum() for t in at]
    assert running_time(begin, end, at) == pytest.approx(expected)
    assert running_time(begin[:0], end[:0], at).tolist() == [0] * 20


def test_imbalance_between_two_moments():
    trace = wandering()
    (cells,) = elements_of(trace)
    assert imbalance(cells, 0, 2, trace) == 0
    assert imbalance(cells, 0, 4, trace) == pytest.approx(4 / 3 - 1)
    assert imbalance(cells, 6, 9, trace) == 1
    assert imbalance(cells, 9.5, 10, trace) == 0


def test_the_page_has_maps_and_curves():
    text = page(wandering())
    assert "Elements of cells" in text and "4 elements, 1 moves" in text
    assert text.count("<figure>") == 7 and text.count('class="moved"') == 1
    assert "load of cells" in text and "moves of cells" in text
    assert "<title>rank 1</title>" in text


def test_a_trace_without_elements_has_none():
    trace = suspended()
    assert elements_of(trace) == [] and counters_of([], trace) == []
    assert "Elements of" not in page(trace)


def test_names_that_only_look_like_elements():
    trace = trace_of(
        tasks=[("mix", 0, -1, [(0, 0, 3)])],
        regions=[(name, 0, 0, -1, 0, 0, k, k + 1) for k, name in enumerate(("f (3, x)", "g (1, 2, 3, 4)", "h (2)"))],
    )
    assert [one.name for one in elements_of(trace)] == ["h"]
    line = page(trace)
    assert "Elements of h" in line and "1 elements, 0 moves" in line


def test_more_than_a_map_shows():
    regions = [(f"cells ({x}, {x})", 0, 0, -1, 0, 0, x, x + 1) for x in (0, 999)]
    text = page(trace_of(tasks=[("mix", 0, -1, [(0, 0, 1000)])], regions=regions))
    assert "2 elements, too many for a map of 16384 points" in text and "<figure>" not in text


def test_a_flat_mesh_of_three_dimensions_has_a_map_and_another_has_none():
    def text(z):
        regions = [(f"cells ({k}, {k % 2}, {z * k})", 0, 0, -1, 0, 0, k, k + 1) for k in range(4)]
        return page(trace_of(tasks=[("mix", 0, -1, [(0, 0, 4)])], regions=regions))

    assert 'viewBox="0 0 4 2"' in text(0) and "4 elements, 0 moves" in text(0)
    assert "too many for a map" in text(1) and "<figure>" not in text(1)


def test_names_of_collections_are_escaped():
    trace = trace_of(tasks=[("mix", 0, -1, [(0, 0, 1)])], regions=[("<b> (0)", 0, 0, -1, 0, 0, 0, 1)])
    assert "Elements of &lt;b&gt;" in page(trace)
