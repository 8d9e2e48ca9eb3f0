"""The task tree: creation of tasks, by name."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from plaq.trace import dot
from plaq.trace.model import Trace
from plaq.trace.on_worker import OnWorker, depths
from plaq.trace.profile import time_text


@dataclass
class Node:
    """All tasks of one name that were created along the same path of names.

    A task with the name of one of its ancestors is counted at that ancestor's node, so that recursion and chains
    of continuations stay finite. `seconds` is the time on a worker of the tasks of this node, `subtree` with that
    of all nodes below.
    """

    name: str
    place: int  # among all nodes, parents first
    parent: Node | None = None
    calls: int = 0
    seconds: float = 0.0
    subtree: float = 0.0
    children: list[Node] = field(default_factory=list)


def task_tree(trace: Trace) -> list[Node]:
    """Return the nodes of tasks created outside of tasks, with theirs below; the longest first everywhere."""
    nodes, of_task = nodes_of_tasks(trace)
    calls = np.bincount(of_task, minlength=len(nodes))
    seconds = np.bincount(of_task, OnWorker(trace).total(), len(nodes))
    for node, count, time in zip(nodes, calls.tolist(), seconds.tolist()):
        node.calls, node.seconds = count, time
    for node in reversed(nodes):  # children come after their parents
        node.children.sort(key=lambda child: (-child.subtree, child.name))
        node.subtree += node.seconds
        if node.parent:
            node.parent.subtree += node.subtree
    return sorted((node for node in nodes if not node.parent), key=lambda node: (-node.subtree, node.name))


def nodes_of_tasks(trace: Trace) -> tuple[list[Node], np.ndarray]:
    """Return the nodes, parents first, and for every task the position of its node."""
    parents = trace.tasks["parent"]
    order = np.argsort(depths(parents), kind="stable").tolist()
    names, parents = trace.tasks["name"].tolist(), parents.tolist()
    nodes: list[Node] = []
    known: dict[tuple[int, int], int] = {}  # (node of the parent, name) -> node
    of_task = [0] * len(order)
    for task in order:
        above = of_task[parents[task]] if parents[task] >= 0 else -1
        key = (above, names[task])
        place = known.get(key)
        if place is None:
            place = known[key] = find_or_add(nodes, above, trace.names[names[task]])
        of_task[task] = place
    return nodes, np.array(of_task, np.int64)


def find_or_add(nodes: list[Node], above: int, name: str) -> int:
    """Return the position of the node for a task `name` below node `above`: an ancestor of that name or a new one."""
    parent = nodes[above] if above >= 0 else None
    ancestor = parent
    while ancestor:
        if ancestor.name == name:
            return ancestor.place
        ancestor = ancestor.parent
    node = Node(name, len(nodes), parent)
    if parent:
        parent.children.append(node)
    nodes.append(node)
    return node.place


def as_lines(roots: list[Node]) -> list[tuple[str, Node]]:
    """Return, depth first, the name with the branches of the tree before it, and the node."""
    lines = []
    stack = [(root, "", "") for root in reversed(roots)]
    while stack:
        node, before, indent = stack.pop()
        lines.append((before + node.name, node))
        for i, child in reversed(list(enumerate(node.children))):
            last = i == len(node.children) - 1
            stack.append((child, indent + ("└─ " if last else "├─ "), indent + ("   " if last else "│  ")))
    return lines


def as_dot(roots: list[Node], notes: list[str]) -> str:
    """Return the tree in Graphviz's language; darker nodes took more time themselves."""
    nodes = [node for _, node in as_lines(roots)]
    longest = max((node.seconds for node in nodes), default=0.0) or 1.0
    lines = [dot.node(node.place, label(node), node.seconds / longest) for node in nodes]
    lines += [dot.edge(node.parent.place, node.place, "parent", node.calls) for node in nodes if node.parent]
    return dot.digraph("task tree", lines, notes)


def label(node: Node) -> str:
    return f"{node.name}\n{node.calls} tasks, {time_text(node.seconds)}"
