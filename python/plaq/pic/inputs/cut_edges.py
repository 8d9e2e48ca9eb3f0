"""Edges of the mesh that the surface of a conductor cuts, by bisection of its formula."""

from __future__ import annotations

import numpy as np

from plaq import _core
from plaq.pic.inputs.setup import Profile, Setup

HALVINGS = 30  # of an edge
LEAST = _core.pic.Conductor.least_part


def cut_edges(setup: Setup, name: str, conductors: dict[str, np.ndarray]) -> list[tuple[int, int, float]]:
    """Return the edges that [conductor.NAME] cuts: node outside, direction, part outside; by nodes and directions.

    ``conductors``: numbers of the nodes of all of them, x fastest. The direction is 2 d where the node of the conductor
    is the lower one in dimension d, 2 d + 1 where it is the upper one.
    """
    counts, where = setup.node_counts, setup.profile(f"conductor.{name}.where", setup.p.conductor[name].where, "")
    of_any = np.zeros(int(np.prod(counts)), dtype=bool)
    for nodes in conductors.values():
        of_any[nodes] = True
    inside = np.stack(np.unravel_index(conductors[name], counts, order="F"), axis=1)  # [node, D]
    found = []
    for direction in range(2 * setup.dimension):
        d, step = direction // 2, 1 if direction % 2 else -1  # from the node outside
        outside = inside.copy()
        outside[:, d] -= step
        if counts[d] == setup.cells[d]:  # periodic
            outside[:, d] %= counts[d]
        in_box = (outside[:, d] >= 0) & (outside[:, d] < counts[d])
        numbers = np.ravel_multi_index(tuple(outside[in_box].T), counts, order="F")
        ends = ~of_any[numbers]
        begin = outside[in_box][ends]
        part = _part_outside(setup, where, begin, d, step)
        found += zip(numbers[ends].tolist(), [direction] * len(begin), np.clip(part, LEAST, 1.0).tolist())
    return sorted(found)


def _part_outside(setup: Setup, where: Profile, begin: np.ndarray, d: int, step: int) -> np.ndarray:
    """Return the part of each edge from these nodes, [edge, D], up to where the formula is not 0."""
    low, high = np.zeros(len(begin)), np.ones(len(begin))
    for _ in range(HALVINGS if len(begin) else 0):
        middle = 0.5 * (low + high)
        place = begin.astype(float)
        place[:, d] += step * middle
        if setup.node_counts[d] == setup.cells[d]:
            place[:, d] %= setup.cells[d]
        inside = np.broadcast_to(where.at(place * np.array(setup.spacing)) != 0, middle.shape)
        low, high = np.where(inside, low, middle), np.where(inside, middle, high)
    return high
