"""The task tree and the task graph, and that Graphviz takes them."""

import re
import shutil
import subprocess

import pytest
from hand_made import suspended, trace_of
from synthetic_trace import synthetic

from plaq.errors import InputError
from plaq.trace import dot
from plaq.trace.graph import graph_by_name, graph_by_task
from plaq.trace.tree import as_dot, as_lines, task_tree


def family(notes=()):
    """run -> 2 x walk -> 3 x measure in all, the third below a walk within the second; another measure alone."""
    return trace_of(
        [
            ("run", 0, -1, [(0, 0.0, 1.0)]),
            ("walk", 0, 0, [(0, 1.0, 2.0)]),
            ("walk", 0, 0, [(0, 2.0, 4.0)]),
            ("measure", 0, 1, [(0, 4.0, 4.5)]),
            ("measure", 0, 2, [(0, 4.5, 5.0)]),
            ("walk", 0, 4, [(0, 5.0, 6.0)]),
            ("measure", 0, 5, [(0, 6.0, 7.0)]),
            ("measure", 0, -1, [(0, 7.0, 7.25)]),
        ],
        links=[(3, 1, 4.5), (4, 2, 5.0), (4, 2, 5.0), (3, 4, 4.6)],
        notes=notes,
    )


def test_the_tree_counts_paths_of_names():
    found = [(text, node.calls, node.seconds, node.subtree) for text, node in as_lines(task_tree(family()))]
    assert found == [
        ("run", 1, 1.0, 7.0),
        ("└─ walk", 3, 4.0, 6.0),  # with the walk that a measure below it created
        ("   └─ measure", 3, 2.0, 2.0),
        ("measure", 1, 0.25, 0.25),
    ]


def test_branches_and_order():
    trace = trace_of(
        [("r", 0, -1, [(0, 0.0, 1.0)])]
        + [("s", 0, 0, [(0, 1.0, 2.0)]), ("t", 0, 1, [(0, 2.0, 3.0)]), ("u", 0, 0, [(0, 3.0, 8.0)])]
    )
    assert [text for text, _ in as_lines(task_tree(trace))] == ["r", "├─ u", "└─ s", "   └─ t"]


def test_a_parent_may_stand_in_a_later_row():
    trace = family()
    order = [7, 6, 5, 4, 3, 2, 1, 0]
    tasks = trace.tasks[order].copy()
    tasks["parent"] = [order.index(parent) if parent >= 0 else -1 for parent in tasks["parent"]]
    trace.tasks = tasks
    trace.slices["task"] = [order.index(row) for row in trace.slices["task"]]
    assert [(text, node.calls) for text, node in as_lines(task_tree(trace))][:2] == [("run", 1), ("└─ walk", 3)]


def test_a_long_chain_of_two_names_stays_small():
    names = ["even", "odd"]
    trace = trace_of([(names[k % 2], 0, k - 1, [(0, k, k + 1.0)]) for k in range(3000)])
    assert [(text, node.calls) for text, node in as_lines(task_tree(trace))] == [("even", 1500), ("└─ odd", 1500)]


def test_nothing_is_lost_in_the_tree():
    trace = synthetic(20000, 2, 3, seed=4)
    nodes = [node for _, node in as_lines(task_tree(trace))]
    assert sum(node.calls for node in nodes) == len(trace.tasks)
    total = (trace.slices["end"] - trace.slices["begin"]).sum()
    assert sum(node.seconds for node in nodes) == pytest.approx(total)
    assert sum(node.subtree for node in nodes if not node.parent) == pytest.approx(total)


def edges(text):
    """{(source label, target label): (kind, count)} of a graph."""
    labels = dict(re.findall(r'^  (n\d+) \[label="(.*?)\\n', text, flags=re.MULTILINE))
    kinds = {style: kind for kind, style in dot.STYLES.items()}
    found = {}
    for source, target, style, count in re.findall(
        r'^  (n\d+) -> (n\d+) \[(.*?)(?: label="(\d+)")?\];$', text, flags=re.MULTILINE
    ):
        found[labels[source], labels[target], kinds[style]] = int(count or 1)
    return found


def test_the_graph_by_name_adds_up_edges():
    assert edges(graph_by_name(family())) == {
        ("run", "walk", "parent"): 2,
        ("walk", "measure", "parent"): 3,
        ("measure", "walk", "parent"): 1,
        ("measure", "walk", "link"): 3,
        ("measure", "measure", "link"): 1,
    }


def test_the_graph_by_task_up_to_its_limit():
    text = graph_by_task(suspended(), limit=2)
    assert edges(text) == {
        ("outer 1", "inner 2", "parent"): 1,
        ("outer 1", "inner 2", "link"): 1,
        ("inner 2", "outer 1", "link"): 1,
    }
    with pytest.raises(InputError, match="has 2 tasks, and --limit allows 1"):
        graph_by_task(suspended(), limit=1)


def test_notes_and_odd_names_stand_in_the_drawing():
    trace = trace_of([('say "a\\b"', 0, -1, [(0, 0.0, 1.0)])], notes=['rank 0: "cut" here'])
    for text in (graph_by_name(trace), graph_by_task(trace, 9), as_dot(task_tree(trace), trace.notes)):
        assert '\\nrank 0: \\"cut\\" here"' in text and '"say \\"a\\\\b\\"' in text


@pytest.mark.skipif(not shutil.which("dot"), reason="Graphviz is not installed")
@pytest.mark.parametrize("trace", [family(['a "note"']), suspended(), synthetic(400, 2, 2), trace_of([])])
def test_graphviz_draws_them(trace):
    for text in (graph_by_name(trace), graph_by_task(trace, 1000), as_dot(task_tree(trace), trace.notes)):
        drawn = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, text=True, timeout=120, check=False)
        assert drawn.returncode == 0 and not drawn.stderr and "</svg>" in drawn.stdout
        assert drawn.stdout.count('class="node"') == len(re.findall(r"^  n\d+ \[", text, flags=re.MULTILINE))
        for note in trace.notes:
            assert note.replace('"', "&quot;") in drawn.stdout
