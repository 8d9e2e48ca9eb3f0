"""Momentum patches: the Wigner-Seitz cell of the reciprocal superlattice and Gauss rules on it."""

import functools
import itertools

import numpy as np
import scipy


def obtuse_superbase(basis, metric):
    """Return D + 1 lattice vectors with sum zero and no positive product, any D of which generate the lattice.

    Selling's reduction in up to three dimensions (Conway and Sloane, Proc. R. Soc. A 436, 55 (1992)); scalar products
    are u.metric.v.
    """
    basis = np.asarray(basis, dtype=float)
    base = [*basis, -sum(basis)]
    longest, shortest = sorted(np.sqrt(v @ metric @ v) for v in basis[:2])[::-1] if len(basis) > 1 else (1, 1)
    tolerance = 1e-9 * longest * shortest
    while True:
        acute = [(i, j) for i, j in itertools.combinations(range(len(base)), 2)
                 if base[i] @ metric @ base[j] > tolerance]
        if not acute:
            return np.array(base)
        u, v = (base[index] for index in acute[0])
        # 2 u more in all others together
        others = [base[index] for index in range(len(base)) if index not in acute[0]]
        base = [-u, v, *([u - v] if len(base) == 3 else [w + u for w in others])]


def voronoi_cell(basis, metric):
    """Return corners [n, D] of the points closer to 0 than to any other lattice vector.

    In two dimensions 4 or 6, counterclockwise: the circumcentres of the Delaunay triangles (0, b_i, b_i + b_j) of the
    obtuse superbase; a rectangular lattice has coinciding ones. With an invariant metric the cell has the lattice's
    symmetry.
    """
    base = obtuse_superbase(basis, metric)
    if len(base) != 3:
        return zonotope_corners(voronoi_edges(base, metric))
    corners = []
    for i, j in itertools.permutations(range(3), 2):
        sides = np.array([base[i], base[i] + base[j]])
        # |v|^2 = |v - b|^2 for both sides b:  2 b.metric.v = b.metric.b
        corners.append(np.linalg.solve(2 * sides @ metric, np.einsum("bi,ij,bj->b", sides, metric, sides)))
    corners = np.array(sorted(corners, key=lambda v: np.arctan2(v[1], v[0])))
    scale = np.abs(corners).max()
    distinct = np.abs(corners - np.roll(corners, 1, axis=0)).max(axis=1) > 1e-7 * scale
    return corners[distinct]


def voronoi_edges(base, metric):
    """Return the edges g [n, D] of which the Voronoi cell is the sum: sum_r c_r g_r with |c_r| <= 1/2.

    With p_ij = -b_i.metric.b_j >= 0 of the obtuse superbase |sum_i x_i b_i|^2 = sum_i<j p_ij (x_i - x_j)^2. The cell of
    a quadratic form sum_r p_r (e_r.x)^2 = x.Q.x is the zonotope of the edges p_r Q^-1 e_r (Erdahl, Europ. J. Combin.
    20, 527 (1999)); in three dimensions these are 3 to 6.
    """
    gram = base @ metric @ base.T
    inverse = np.linalg.inv(gram[1:, 1:])
    edges = []
    for i, j in itertools.combinations(range(len(base)), 2):
        if -gram[i, j] > 1e-9 * abs(gram[i, i] * gram[j, j]) ** 0.5:
            form = np.eye(len(base))[i] - np.eye(len(base))[j]
            edges.append(-gram[i, j] * inverse @ form[1:] @ base[1:])
    return np.array(edges)


def zonotope_corners(edges):
    """Return the corners [n, D] of sum_r c_r g_r with |c_r| <= 1/2, in one or three dimensions."""
    if edges.shape[1] == 1:
        return np.array([-0.5, 0.5])[:, None] * np.abs(edges).sum()
    from scipy.spatial import ConvexHull

    points = np.array(list(itertools.product((-0.5, 0.5), repeat=len(edges)))) @ edges
    return points[np.sort(ConvexHull(points).vertices)]


def zonotope_cells(edges):
    """Return parallelepipeds (origin, edge, ...) that tile sum_r c_r g_r with |c_r| <= 1/2.

    There is one for each basis among the edges. The tiling is the regular one of generic heights h_r: the cell of a
    basis B, on which psi.g = h, is shifted by every other edge with psi.g_r > h_r.
    """
    count, dimension = edges.shape
    heights = np.modf((np.arange(count) + 1) * 0.6180339887498949)[0]  # generic
    scale = np.abs(edges).max()
    cells = []
    for chosen in itertools.combinations(range(count), dimension):
        basis = edges[list(chosen)]
        if abs(np.linalg.det(basis / scale)) < 1e-9:
            continue
        psi = np.linalg.solve(basis, heights[list(chosen)])
        origin = -0.5 * edges.sum(axis=0)
        for r in set(range(count)) - set(chosen):
            origin = origin + (edges[r] if psi @ edges[r] > heights[r] else 0)
        cells.append((origin, *basis))
    return cells


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


def product_rule(cells, density):
    """Return points [M, D] and weights [M] (sum 1) of the mean over parallelepipeds (origin, edge, ...).

    Gauss-Legendre products, with `density` points per unit length of edge and 4 more.
    """
    points, weights = [], []
    for origin, *edges in cells:
        rules = [legendre(4 + int(density * np.linalg.norm(edge))) for edge in edges]
        along = np.meshgrid(*[x for x, _ in rules], indexing="ij")
        points.append(sum((x[..., None] * edge for x, edge in zip(along, edges)), origin).reshape(-1, len(edges)))
        weight = functools.reduce(np.multiply.outer, [w for _, w in rules])
        weights.append(weight.ravel() * abs(_volume(edges)))
    weights = np.concatenate(weights)
    return np.concatenate(points), weights / weights.sum()


def wave_means(cells, x):
    """Return the means of cos(k.x) over parallelepipeds (origin, edge, ...), for x [n, D]."""
    total, volume = np.zeros(len(x)), 0.0
    for origin, *edges in cells:
        part = abs(_volume(edges))
        middle = origin + sum(edges) / 2
        total += part * np.cos(x @ middle) * np.prod([np.sinc(x @ edge / (2 * np.pi)) for edge in edges], axis=0)
        volume += part
    return total / volume


def _volume(edges):
    if len(edges) == 2:
        u, v = edges
        return u[0] * v[1] - u[1] * v[0]
    return np.linalg.det(np.array(edges))


@functools.lru_cache(maxsize=512)
def legendre(n):
    """Return points and weights of the Gauss rule of n points on (0, 1)."""
    x, w = scipy.special.roots_legendre(n)
    return 0.5 * (x + 1), 0.5 * w
