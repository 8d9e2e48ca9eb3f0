"""Convex polytopes in one to three dimensions: common parts, and cells for Gauss rules."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from plaq.dca.lattice.patch import obtuse_superbase

TOLERANCE = 1e-9  # of the size of the polytope
EQUAL = 1e-8  # distance of equal points, over their size
SMALLEST = 1e-12  # part of the volume of the patch that counts as nothing


@dataclass(frozen=True)
class Cell:
    """Points origin + x_1 e_1 + x_2 e_2 + ... with 0 < x < 1; of a simplex x_1 (e_1 + x_2 (e_2 + x_3 e_3))."""

    origin: np.ndarray
    edges: np.ndarray
    is_simplex: bool

    @property
    def along(self) -> list[list[np.ndarray]]:
        """Longest lines along each coordinate, whose number of points a rule needs."""
        if not self.is_simplex:
            return [[edge] for edge in self.edges]
        from_origin = [np.sum(self.edges[:n], axis=0) for n in range(1, len(self.edges) + 1)]
        # x_i moves along e_i + x_(i+1) e_(i+1) + ...: its ends are the differences of corners
        corners = [np.zeros_like(self.origin), *from_origin]
        return [[corner - corners[i] for corner in corners[i + 1:]] for i in range(len(self.edges))]

    def product(self, rules: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
        """Return points [M, D] and weights [M], which add to the volume, of rules (x, w) for each coordinate."""
        x = np.stack(np.meshgrid(*[x for x, _ in rules], indexing="ij"), axis=-1).reshape(-1, len(rules))
        w = functools.reduce(np.multiply.outer, [w for _, w in rules]).ravel() * abs(np.linalg.det(self.edges))
        if self.is_simplex:
            w = w * np.prod(x ** np.arange(len(rules) - 1, -1, -1), axis=1)
            x = np.cumprod(x, axis=1)
        return self.origin + np.einsum("mi,id->md", x, self.edges), w  # in one order, whatever the threads


@dataclass(frozen=True)
class Polytope:
    """Points with normals [f, D] . x <= heights [f]; corners [n, D]; smallest : volume that counts as nothing."""

    normals: np.ndarray
    heights: np.ndarray
    corners: np.ndarray
    smallest: float

    @classmethod
    def around_zero(cls, cluster) -> Polytope:
        """Return the patch of Gamma of a `Cluster`."""
        metric = np.linalg.inv(np.array(cluster.lattice.system.metric, dtype=float))
        base = obtuse_superbase(cluster.reciprocal, metric)
        sums = [np.sum(part, axis=0) for n in range(1, len(base)) for part in itertools.combinations(base, n)]
        # x is nearer to 0 than to b: 2 b.metric.x <= b.metric.b
        normals = np.array([b @ metric for b in sums])
        heights = np.array([b @ metric @ b for b in sums]) / 2
        volume = abs(np.linalg.det(cluster.reciprocal))
        return cls(normals, heights, _corners(normals, heights), SMALLEST * volume)

    def moved(self, by: np.ndarray) -> Polytope:
        """Return the polytope with all points moved by a vector."""
        return Polytope(self.normals, self.heights + self.normals @ by, self.corners + by, self.smallest)

    def common(self, other: Polytope) -> Polytope | None:
        """Return the common part of both; None where it has no volume."""
        slack = TOLERANCE * np.ptp(self.corners, axis=0).max()
        if np.any(self.corners.min(axis=0) > other.corners.max(axis=0) - slack) or np.any(
                other.corners.min(axis=0) > self.corners.max(axis=0) - slack):
            return None
        normals, heights = np.concatenate([self.normals, other.normals]), np.append(self.heights, other.heights)
        corners = _corners(normals, heights)
        if len(corners) <= corners.shape[1]:
            return None
        used = np.any(np.abs(corners @ normals.T - heights) <= _slack(heights), axis=0)
        found = Polytope(normals[used], heights[used], corners, self.smallest)
        return found if found.volume > self.smallest else None

    @property
    def volume(self) -> float:
        """Length, area or volume."""
        return float(sum(abs(np.linalg.det(cell.edges)) / (math.factorial(len(cell.edges)) if cell.is_simplex else 1)
                         for cell in self.cells()))

    def cells(self) -> Iterator[Cell]:
        """Yield one parallelepiped, or simplices from the first corner to the faces opposite of it."""
        edges = self._edges_of_parallelepiped()
        if edges is not None:
            yield Cell(self.corners[0], edges, False)
            return
        from scipy.spatial import ConvexHull, QhullError

        try:
            faces = ConvexHull(self.corners).simplices
        except QhullError:  # flat
            return
        for face in faces:
            edges = np.diff(self.corners[face], axis=0, prepend=self.corners[:1])
            if abs(np.linalg.det(edges)) > self.smallest:
                yield Cell(self.corners[0], edges, True)

    def _edges_of_parallelepiped(self) -> np.ndarray | None:
        """Return the edges at the first corner, [D, D]; None if it is another polytope."""
        dimension, apart = self.corners.shape[1], self.corners - self.corners[0]
        if len(apart) != 2**dimension:
            return None
        for chosen in itertools.combinations(apart[1:], dimension):
            edges = np.array(chosen)
            sums = np.array(list(itertools.product((0, 1), repeat=dimension))) @ edges
            missing = np.abs(sums[:, None] - apart).max(axis=2).min(axis=1).max()
            if missing < EQUAL * np.abs(edges).max() and abs(np.linalg.det(edges)) > self.smallest:
                return edges
        return None


def _slack(heights: np.ndarray) -> float:
    return TOLERANCE * np.abs(heights).max()


def _corners(normals: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """Return the distinct corners [n, D]: points on D planes and on the inner side of all."""
    dimension = normals.shape[1]
    chosen = np.array(list(itertools.combinations(range(len(normals)), dimension)))
    planes, at = normals[chosen], heights[chosen]
    size = np.prod(np.linalg.norm(planes, axis=2), axis=1)
    good = np.abs(np.linalg.det(planes)) > TOLERANCE * size
    points = np.linalg.solve(planes[good], at[good][..., None])[..., 0]
    points = points[np.all(points @ normals.T <= heights + _slack(heights), axis=1)]
    kept: list[np.ndarray] = []
    for point in points:
        if all(np.abs(point - other).max() > EQUAL * np.abs(points).max() for other in kept):
            kept.append(point)
    return np.array(kept).reshape(-1, dimension)
