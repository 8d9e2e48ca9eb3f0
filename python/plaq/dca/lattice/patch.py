"""Momentum patches: the Wigner-Seitz cell of the reciprocal superlattice and Gauss rules on it."""

import itertools

import numpy as np
from scipy.special import roots_legendre


def obtuse_superbase(basis, metric):
    """Return three lattice vectors [3, 2] with sum zero and no positive product, any two of which generate the lattice.

    Selling's reduction (Conway and Sloane, Proc. R. Soc. A 436, 55 (1992)); scalar products are u.metric.v.
    """
    first, second = np.asarray(basis, dtype=float)
    base = [first, second, -first - second]
    tolerance = 1e-9 * np.sqrt((first @ metric @ first) * (second @ metric @ second))
    while True:
        acute = [(i, j) for i, j in ((0, 1), (0, 2), (1, 2)) if base[i] @ metric @ base[j] > tolerance]
        if not acute:
            return np.array(base)
        u, v = (base[index] for index in acute[0])
        base = [-u, v, u - v]


def voronoi_cell(basis, metric):
    """Return corners [4 or 6, 2], counterclockwise, of the points closer to 0 than to any other lattice vector.

    The corners are the circumcentres of the Delaunay triangles (0, b_i, b_i + b_j) of the obtuse superbase; a
    rectangular lattice has coinciding ones. With an invariant metric the cell has the lattice's symmetry.
    """
    base = obtuse_superbase(basis, metric)
    corners = []
    for i, j in itertools.permutations(range(3), 2):
        sides = np.array([base[i], base[i] + base[j]])
        # |v|^2 = |v - b|^2 for both sides b:  2 b.metric.v = b.metric.b
        corners.append(np.linalg.solve(2 * sides @ metric, np.einsum("bi,ij,bj->b", sides, metric, sides)))
    corners = np.array(sorted(corners, key=lambda v: np.arctan2(v[1], v[0])))
    scale = np.abs(corners).max()
    distinct = np.abs(corners - np.roll(corners, 1, axis=0)).max(axis=1) > 1e-7 * scale
    return corners[distinct]


def patch_area(corners):
    """Return area of a polygon with corners [n, 2] in order."""
    x, y = corners.T
    return 0.5 * abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))


def parallelograms(corners):
    """Return the point-symmetric cell as parallelograms (origin, edge, edge): one for 4 corners, three for 6."""
    edges = np.roll(corners, -1, axis=0) - corners
    start = corners[0]
    if len(corners) == 4:
        return [(start, edges[0], edges[1])]
    e0, e1, e2 = edges[:3]
    return [(start, e0, e1), (start + e1, e0, e2), (start, e1, e2)]


def gauss_rule(corners, density):
    """Return points [M, 2] and weights [M] (sum 1) of the mean over the cell.

    Gauss-Legendre products on its parallelograms, with `density` points per unit length of edge and 4 more.
    """
    points, weights = [], []
    for origin, u, v in parallelograms(corners):
        (x, wx), (y, wy) = (_legendre(4 + int(density * np.linalg.norm(edge))) for edge in (u, v))
        points.append((origin + x[:, None, None] * u + y[None, :, None] * v).reshape(-1, 2))
        weights.append(np.outer(wx, wy).ravel() * abs(u[0] * v[1] - u[1] * v[0]))
    weights = np.concatenate(weights)
    return np.concatenate(points), weights / weights.sum()


def _legendre(n):
    x, w = roots_legendre(n)
    return 0.5 * (x + 1), 0.5 * w
