"""Crystal systems: maximal point groups as integer matrices, with the metrics that they leave invariant."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class CrystalSystem:
    """A maximal point group in lattice coordinates, with the metric it leaves invariant.

    metric: g_ij = a_i.a_j of the lattice vectors, so that |R|^2 = R.metric.R.
    harmonics: name -> (l, kind): the field's name of the irrep of cos(l phi), sin(l phi) or both, in two dimensions.
    """

    name: str
    metric: tuple
    harmonics: dict

    @property
    def dimension(self) -> int:
        return len(self.metric)

    @property
    def axes(self) -> np.ndarray:
        """Cartesian lattice vectors as rows [D, D], the first of length 1.

        It lies along x, but where edges of a cube are the axes.
        """
        if self.name in CENTRED:
            axes = np.array(CENTRED[self.name], dtype=float)
            return axes / np.linalg.norm(axes[0])
        metric = np.array(self.metric, dtype=float)
        return np.linalg.cholesky(metric / metric[0, 0])


CENTRED = {"face-centred cubic": ((0, 1, 1), (1, 0, 1), (1, 1, 0)),
           "body-centred cubic": ((-1, 1, 1), (1, -1, 1), (1, 1, -1))}
SQUARE_HARMONICS = {
    "s": (0, "cos"),
    "d_x2y2": (2, "cos"),
    "d_xy": (2, "sin"),
    "g": (4, "sin"),
    "p": (1, "both"),
}
HEXAGONAL_HARMONICS = {
    "s": (0, "cos"),
    "d": (2, "both"),
    "p": (1, "both"),
    "f_cos": (3, "cos"),
    "f_sin": (3, "sin"),
    "i": (6, "sin"),
}
# Every integer matrix of finite order with entries in {-1, 0, 1} belongs to one of those of its dimension in one and
# two dimensions; ties go to the first. In three dimensions the hexagonal axis is the third.
SYSTEMS = {
    1: (CrystalSystem("chain", ((1,),), {}),),
    2: (CrystalSystem("square", ((1, 0), (0, 1)), SQUARE_HARMONICS),
        CrystalSystem("hexagonal, axes at 60 degrees", ((2, 1), (1, 2)), HEXAGONAL_HARMONICS),
        CrystalSystem("hexagonal, axes at 120 degrees", ((2, -1), (-1, 2)), HEXAGONAL_HARMONICS)),
    3: (CrystalSystem("cubic", ((1, 0, 0), (0, 1, 0), (0, 0, 1)), {}),
        CrystalSystem("hexagonal layers, axes at 60 degrees", ((2, 1, 0), (1, 2, 0), (0, 0, 2)), {}),
        CrystalSystem("hexagonal layers, axes at 120 degrees", ((2, -1, 0), (-1, 2, 0), (0, 0, 2)), {}),
        CrystalSystem("face-centred cubic", ((2, 1, 1), (1, 2, 1), (1, 1, 2)), {}),
        CrystalSystem("body-centred cubic", ((3, -1, -1), (-1, 3, -1), (-1, -1, 3)), {})),
}


@functools.cache
def operations(system_name: str, dimension: int) -> tuple[np.ndarray, ...]:
    """Return the integer matrices g with entries in {-1, 0, 1} and g^T metric g = metric."""
    system = next(s for s in SYSTEMS[dimension] if s.name == system_name)
    metric = np.array(system.metric)
    entries = np.array(list(itertools.product((1, 0, -1), repeat=dimension**2))).reshape(-1, dimension, dimension)
    kept = np.all(np.einsum("nji,jk,nkl->nil", entries, metric, entries) == metric, axis=(1, 2))
    return tuple(entries[kept])


def schoenflies(matrices: np.ndarray) -> str:
    """Return the symbol of a point group [n, D, D] of distinct integer matrices: "C4v", "D4h", "Oh"."""
    dets = [round(np.linalg.det(g)) for g in matrices]
    rotations = [g for g, det in zip(matrices, dets) if det == 1]
    order, count = len(matrices), len(rotations)
    dimension = matrices.shape[1]
    if dimension == 1:
        return "Ci" if order == 2 else "C1"
    if dimension == 2:
        return f"C{count}" + ("v" if count < order else "")
    # trace of a proper rotation in three dimensions: 1 + 2 cos(angle)
    turns = {3: 1, -1: 2, 0: 3, 1: 4, 2: 6}
    folds = [turns[round(np.trace(g))] for g in rotations]
    n = max(folds)
    proper = ("O" if n == 4 else "T") if folds.count(3) >= 8 else f"C{n}" if count == n else f"D{n if count > 4 else 2}"
    if order == count:
        return proper
    inversion = any(np.array_equal(g, -np.eye(3)) for g in matrices)
    return _with_improper(proper, inversion, matrices, dets)


def _with_improper(proper: str, inversion: bool, matrices: np.ndarray, dets: list[int]) -> str:
    """Return the symbol of a group of three dimensions that has `proper` as its rotations and as many others."""
    improper = [g for g, det in zip(matrices, dets) if det == -1]
    mirrors = sum(round(np.trace(g)) == 1 for g in improper)
    if proper in ("O", "T"):
        return f"{proper}h" if inversion else "Td"
    kind, folds = proper[0], int(proper[1:])
    if kind == "C" and folds == 1:
        return "Ci" if inversion else "Cs"
    if kind == "D":
        return f"D{folds}h" if (inversion and folds % 2 == 0) or (not inversion and folds % 2) else f"D{folds}d"
    if inversion:
        return f"S{2 * folds}" if folds % 2 else f"C{folds}h"
    if mirrors == folds:
        return f"C{folds}v"
    return f"C{folds}h" if folds % 2 else f"S{2 * folds}"
