"""Harmonics by which irreps are named, in one to three dimensions, and their characters."""

from __future__ import annotations

import numpy as np

# name -> polynomials of Cartesian coordinates that an irrep of the maximal point group transforms among themselves.
CHAIN = {"s": [lambda x: 1 + 0 * x], "p": [lambda x: x]}
SQUARE = {"s": [lambda x, y: 1 + 0 * x], "d_x2y2": [lambda x, y: x * x - y * y], "d_xy": [lambda x, y: x * y],
          "g": [lambda x, y: x * y * (x * x - y * y)], "p": [lambda x, y: x, lambda x, y: y]}
HEXAGONAL = {"s": [lambda x, y: 1 + 0 * x], "d": [lambda x, y: x * x - y * y, lambda x, y: x * y],
             "p": [lambda x, y: x, lambda x, y: y], "f_cos": [lambda x, y: x**3 - 3 * x * y * y],
             "f_sin": [lambda x, y: 3 * x * x * y - y**3],
             "i": [lambda x, y: (x**3 - 3 * x * y * y) * (3 * x * x * y - y**3)]}
CUBIC = {
    "s": [lambda x, y, z: 1 + 0 * x],
    "d_eg": [lambda x, y, z: x * x - y * y, lambda x, y, z: 2 * z * z - x * x - y * y],
    "d_t2g": [lambda x, y, z: y * z, lambda x, y, z: x * z, lambda x, y, z: x * y],
    "g": [lambda x, y, z: y * z * (y * y - z * z), lambda x, y, z: z * x * (z * z - x * x),
          lambda x, y, z: x * y * (x * x - y * y)],
    "i": [lambda x, y, z: (x * x - y * y) * (y * y - z * z) * (z * z - x * x)],
    "p": [lambda x, y, z: x, lambda x, y, z: y, lambda x, y, z: z],
    "f_xyz": [lambda x, y, z: x * y * z],
    "f": [lambda x, y, z: x * (y * y - z * z), lambda x, y, z: y * (z * z - x * x),
          lambda x, y, z: z * (x * x - y * y)],
}
LAYERS = {
    "s": [lambda x, y, z: 1 + 0 * x], "p_z": [lambda x, y, z: z], "p": [lambda x, y, z: x, lambda x, y, z: y],
    "d": [lambda x, y, z: x * x - y * y, lambda x, y, z: x * y],
    "d_z": [lambda x, y, z: x * z, lambda x, y, z: y * z],
    "f_z": [lambda x, y, z: z * (x * x - y * y), lambda x, y, z: x * y * z],
    "f_cos": [lambda x, y, z: x**3 - 3 * x * y * y], "f_sin": [lambda x, y, z: 3 * x * x * y - y**3],
}


def harmonics_of(system) -> dict:
    """Return the harmonics of a CrystalSystem."""
    if system.dimension == 1:
        return CHAIN
    if system.dimension == 2:
        return SQUARE if system.name == "square" else HEXAGONAL
    return LAYERS if system.name.startswith("hexagonal") else CUBIC


def representation(system, functions, matrices) -> np.ndarray:
    """Return orthogonal matrices [g, m, m] of operations [g, D, D] among m functions that these keep together.

    The functions of g x are found among those of x at random points.
    """
    x = np.random.default_rng(1).uniform(-1, 1, (40, system.dimension))
    values = np.stack([f(*x.T) for f in functions], axis=-1)
    found = []
    for g in matrices:
        rotation = np.linalg.inv(system.axes) @ g.T @ system.axes  # of Cartesian rows: R -> g R in lattice coordinates
        moved = np.stack([f(*(x @ rotation).T) for f in functions], axis=-1)
        found.append(np.linalg.lstsq(values, moved, rcond=None)[0])
    found = np.array(found)
    root = np.linalg.cholesky(np.einsum("gji,gjk->ik", found, found) / len(found)).T  # the invariant metric
    return root @ found @ np.linalg.inv(root)


def characters(system, matrices) -> dict[str, np.ndarray]:
    """Return {name: characters [g]} of the real irreps of a group of matrices [g, D, D] that harmonics carry.

    Where the functions of a harmonic belong to several irreps of a smaller group, its parts have a number behind the
    name. Harmonics with equal characters share an irrep, and their names are joined: "s+d_x2y2".
    """
    named: list[tuple[list[str], np.ndarray]] = []
    for name, functions in harmonics_of(system).items():
        parts = _irreducible_parts(representation(system, functions, matrices))
        for i, chi in enumerate(parts):
            label = f"{name}{i + 1}" if len(parts) > 1 else name
            same = next((names for names, other in named if np.allclose(chi, other)), None)
            if same is None:
                named.append(([label], chi))
            else:
                same.append(label)
    return {"+".join(names): chi for names, chi in named}


def _irreducible_parts(matrices) -> list[np.ndarray]:
    """Return the characters of the real irreps in orthogonal matrices [g, m, m].

    They are the eigenspaces of a symmetric matrix that commutes with all of them and is random otherwise.
    """
    m = matrices.shape[-1]
    random = np.random.default_rng(2).normal(size=(m, m))
    commuting = np.mean(matrices @ (random + random.T) @ matrices.swapaxes(1, 2), axis=0)
    values, vectors = np.linalg.eigh(commuting)
    edges = [0, *(np.flatnonzero(np.diff(values) > 1e-6) + 1), m]
    spaces = [vectors[:, a:b] for a, b in zip(edges, edges[1:])]
    return [np.einsum("ia,gij,ja->g", space, matrices, space) for space in spaces]
