"""Paths through the points of high symmetry of a Brillouin zone, for bands and spectra.

The points are those of Setyawan and Curtarolo, Comput. Mater. Sci. 49, 299 (2010), for the lattice vectors of
`crystal.SYSTEMS`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Points as fractions of the reciprocal lattice vectors.
CHAIN = {"Γ": (0,), "X": (1 / 2,)}
SQUARE = {"Γ": (0, 0), "X": (1 / 2, 0), "Y": (0, 1 / 2), "M": (1 / 2, 1 / 2)}
HEXAGONAL_60 = {"Γ": (0, 0), "K": (2 / 3, 1 / 3), "M": (1 / 2, 0)}
HEXAGONAL_120 = {"Γ": (0, 0), "K": (1 / 3, 1 / 3), "M": (1 / 2, 0)}
CUBIC = {"Γ": (0, 0, 0), "X": (1 / 2, 0, 0), "M": (1 / 2, 1 / 2, 0), "R": (1 / 2, 1 / 2, 1 / 2)}
TETRAGONAL = {"Γ": (0, 0, 0), "X": (1 / 2, 0, 0), "M": (1 / 2, 1 / 2, 0), "Z": (0, 0, 1 / 2), "R": (1 / 2, 0, 1 / 2),
              "A": (1 / 2, 1 / 2, 1 / 2)}
ORTHORHOMBIC = {"Γ": (0, 0, 0), "X": (1 / 2, 0, 0), "S": (1 / 2, 1 / 2, 0), "Y": (0, 1 / 2, 0), "Z": (0, 0, 1 / 2),
                "U": (1 / 2, 0, 1 / 2), "R": (1 / 2, 1 / 2, 1 / 2), "T": (0, 1 / 2, 1 / 2)}
FACE_CENTRED = {"Γ": (0, 0, 0), "X": (1 / 2, 0, 1 / 2), "W": (1 / 2, 1 / 4, 3 / 4), "K": (3 / 8, 3 / 8, 3 / 4),
                "L": (1 / 2, 1 / 2, 1 / 2)}
BODY_CENTRED = {"Γ": (0, 0, 0), "H": (1 / 2, -1 / 2, 1 / 2), "N": (0, 0, 1 / 2), "P": (1 / 4, 1 / 4, 1 / 4)}


@dataclass(frozen=True)
class Path:
    """Points along straight lines between points of high symmetry.

    points [n, D]   k in units of the inverse lattice vectors, as `Lattice.dispersion` takes it
    positions [n]   length of the path up to each point, in units of 1/a with a the first lattice vector's length
    labels, ticks   names of the points of high symmetry, and their positions
    corners         their indices among the points
    """

    points: np.ndarray
    positions: np.ndarray
    labels: tuple[str, ...]
    ticks: np.ndarray
    corners: np.ndarray


def path(lattice, n: int = 200) -> Path:
    """Return the path of a lattice's zone with n points, of which every corner is one.

    ΓXMΓ on the square lattice, ΓXMYΓ where its two directions differ, ΓKMΓ on the hexagonal ones, ΓXMΓRX on the cubic
    one; others in `corners`.
    """
    names, places = corners(lattice)
    metric = np.linalg.inv(np.array(lattice.system.metric, dtype=float)) * lattice.system.metric[0][0]
    lengths = np.array([np.sqrt(d @ metric @ d) for d in np.diff(places, axis=0)])
    counts = _shared(lengths, max(n - 1, len(lengths)))
    points = [places[0][None]]
    for start, end, count in zip(places, places[1:], counts):
        points.append(start + (np.arange(1, count + 1) / count)[:, None] * (end - start))
    points = np.concatenate(points)
    steps = np.repeat(lengths / counts, counts)
    positions = np.concatenate([[0.0], np.cumsum(steps)])
    indices = np.concatenate([[0], np.cumsum(counts)])
    return Path(points, positions, names, positions[indices], indices)


def corners(lattice) -> tuple[tuple[str, ...], np.ndarray]:
    """Return names of the corners of the path and the points themselves [corner, D]."""
    table, names = _named(lattice)
    return tuple(names), 2 * np.pi * np.array([table[label] for label in names])


def _named(lattice) -> tuple[dict, str]:
    name = lattice.system.name
    if name == "chain":
        return CHAIN, "ΓX"
    if name == "square":
        return SQUARE, "ΓXMΓ" if _exchanged(lattice, 0, 1) else "ΓXMYΓ"
    if lattice.dimension == 2:
        return HEXAGONAL_60 if "60" in name else HEXAGONAL_120, "ΓKMΓ"
    if name == "cubic":
        if not _exchanged(lattice, 0, 1):
            return ORTHORHOMBIC, "ΓXSYΓZURTZ"
        return (CUBIC, "ΓXMΓRX") if _exchanged(lattice, 1, 2) else (TETRAGONAL, "ΓXMΓZRAZ")
    if name.startswith("hexagonal"):
        flat = HEXAGONAL_60 if "60" in name else HEXAGONAL_120
        lower = {label: (*place, 0) for label, place in flat.items()}
        upper = {above: (*flat[label], 1 / 2) for label, above in (("Γ", "A"), ("M", "L"), ("K", "H"))}
        return lower | upper, "ΓKMΓALHA"
    return (FACE_CENTRED, "ΓXWKΓL") if name.startswith("face") else (BODY_CENTRED, "ΓHNΓP")


def _exchanged(lattice, i: int, j: int) -> bool:
    """Return whether some operation maps axis i onto axis j."""
    return any(g[j, i] != 0 and not np.delete(g[:, i], j).any() for g in lattice.point_group)


def _shared(lengths: np.ndarray, total: int) -> np.ndarray:
    """Return numbers of steps in proportion to the lengths, at least one each, with the sum `total`."""
    ends = np.rint(np.cumsum(lengths) / lengths.sum() * (total - len(lengths))).astype(int)
    return np.diff(ends, prepend=0) + 1
