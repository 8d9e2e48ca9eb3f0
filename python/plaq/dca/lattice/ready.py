"""Ready models, which are only tables: orbitals, hopping, and interaction between sites.

Matrices [a][b] join orbital a of a cell and orbital b of the cell at the displacement: c+[R, a] c[R + d, b] in hopping,
n[R, a] n[R + d, b] in V. One sign of each displacement is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import combinations

Terms = list[tuple[tuple[int, ...], int, int, float]]  # (displacement, a, b, value)
T = Mapping[str, float]


@dataclass(frozen=True)
class Ready:
    """A model: names of its orbitals, their positions, amplitudes with their values if none are given, and its terms.

    ``hops`` and ``repulsions`` turn amplitudes into terms.
    """

    hops: Callable[[T], Terms]
    dimension: int = 2
    orbitals: tuple[str, ...] = ("1",)
    positions: tuple[tuple[float, ...], ...] | None = None
    amplitudes: Mapping[str, float] = field(default_factory=dict)
    repulsions: Callable[[T], Terms] = lambda t: []


NEAR, DIAGONAL = [(1, 0), (0, 1)], [(1, 1), (1, -1)]


def same(displacements: list[tuple[int, ...]], a: int, value: float) -> Terms:
    return [(d, a, a, value) for d in displacements]


def square(t: T, a: int = 0) -> Terms:
    return same(NEAR, a, -t["t"]) + same(DIAGONAL, a, -t["t_prime"])


def bilayer(t: T) -> Terms:
    return square(t, 0) + square(t, 1) + [((0, 0), 0, 1, -t["t_perp"])]


def honeycomb(t: T) -> Terms:
    second = [d for a in (0, 1) for d in same([(1, 0), (0, 1), (1, -1)], a, -t["t_prime"])]
    return [((x, y), 0, 1, -t["t"]) for x, y in [(0, 0), (-1, 0), (0, -1)]] + second


# A at the origin, B at a1/2, C at a2/2: bonds within the cell, then those across its edges
KAGOME = [((0, 0), 0, 1), ((0, 0), 0, 2), ((0, 0), 1, 2), ((-1, 0), 0, 1), ((0, -1), 0, 2), ((1, -1), 1, 2)]


def three_band(t: T) -> Terms:
    """Return the hops of holes in d, px at a1/2 and py at a2/2, with the signs of their lobes, and p above d by Delta.
    """
    pd, pp = t["t_pd"], t["t_pp"]
    return [((0, 0), 0, 1, pd), ((-1, 0), 0, 1, -pd), ((0, 0), 0, 2, -pd), ((0, -1), 0, 2, pd),
            ((0, 0), 1, 2, pp), ((1, 0), 1, 2, -pp), ((0, -1), 1, 2, -pp), ((1, -1), 1, 2, pp),
            ((0, 0), 1, 1, t["Delta"]), ((0, 0), 2, 2, t["Delta"])]


def three_band_repulsions(t: T) -> Terms:
    return [(d, a, b, t["V_pd"] if a == 0 else t["V_pp"]) for d, a, b, _ in three_band(t | {"Delta": 0}) if a != b]


def nickelate(t: T) -> Terms:
    """Return the hops of x2-y2 (x) and 3z2-r2 (z) in two layers."""
    terms: Terms = [((0, 0), 0, 2, t["t_perp_x"]), ((0, 0), 1, 3, t["t_perp_z"])]
    for x, z, far in (0, 1, 3), (2, 3, 1):
        for a, name in (x, "x"), (z, "z"):
            terms += [((0, 0), a, a, t[f"e_{name}"])]
            terms += same(NEAR, a, t[f"t1_{name}"]) + same(DIAGONAL, a, t[f"t2_{name}"])
        for b, size in (z, t["t3_xz"]), (far, t["t4_xz"]):
            terms += [(d, x, b, s * size) for (dx, dy), s in zip(NEAR, (1, -1))
                      for d in ((dx, dy), (-dx, -dy))]
    return terms


def pnictide(t: T) -> Terms:
    """Return the hops of xz and yz (S. Raghu et al., Phys. Rev. B 77, 220503 (2008), eq. 1)."""
    diagonal = [((x, y), 0, 1, x * y * t["t4"]) for x in (1, -1) for y in (1, -1)]
    return [((1, 0), 0, 0, -t["t1"]), ((0, 1), 0, 0, -t["t2"]), ((1, 0), 1, 1, -t["t2"]), ((0, 1), 1, 1, -t["t1"]),
            *same(DIAGONAL, 0, -t["t3"]), *same(DIAGONAL, 1, -t["t3"]), *diagonal]


def cubic(t: T) -> Terms:
    near = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    diagonal = [tuple(p + s * q for p, q in zip(a, b)) for a, b in combinations(near, 2) for s in (1, -1)]
    return same(near, 0, -t["t"]) + same(diagonal, 0, -t["t_prime"])


# Z. Luo et al., Phys. Rev. Lett. 131, 126001 (2023), table I, in eV
NICKELATE = {"t1_x": -0.483, "t1_z": -0.110, "t2_x": 0.069, "t2_z": -0.017, "t3_xz": 0.239, "t4_xz": -0.034,
             "t_perp_x": 0.005, "t_perp_z": -0.635, "e_x": 0.776, "e_z": 0.409}
# holes of cuprates in eV: P. Mai, G. Balduzzi, S. Johnston, T. A. Maier, npj Quantum Mater. 6, 26 (2021)
THREE_BAND = {"t_pd": 1.13, "t_pp": 0.49, "Delta": 3.24, "V_pd": 0.0, "V_pp": 0.0}
# t and t_prime are keys of their own
READY = {
    "square": Ready(square, amplitudes={"t": 1.0, "t_prime": 0.0}),
    "chain": Ready(lambda t: [((1,), 0, 0, -t["t"]), ((2,), 0, 0, -t["t_prime"])], 1,
                   amplitudes={"t": 1.0, "t_prime": 0.0}),
    "triangular": Ready(lambda t: same([(1, 0), (0, 1), (1, -1)], 0, -t["t"]), amplitudes={"t": 1.0}),
    "honeycomb": Ready(honeycomb, orbitals=("A", "B"), positions=((0, 0), (1 / 3, 1 / 3)),
                       amplitudes={"t": 1.0, "t_prime": 0.0}),
    "kagome": Ready(lambda t: [(d, a, b, -t["t"]) for d, a, b in KAGOME], orbitals=("A", "B", "C"),
                    positions=((0, 0), (0.5, 0), (0, 0.5)), amplitudes={"t": 1.0, "V": 0.0},
                    repulsions=lambda t: [(d, a, b, t["V"]) for d, a, b in KAGOME]),
    "cubic": Ready(cubic, 3, amplitudes={"t": 1.0, "t_prime": 0.0}),
    "bilayer": Ready(bilayer, orbitals=("1", "2"), positions=((0, 0, 0), (0, 0, 1)),
                     amplitudes={"t": 1.0, "t_prime": 0.0, "t_perp": 1.0}),
    "three_band": Ready(three_band, orbitals=("d", "px", "py"), positions=((0, 0), (0.5, 0), (0, 0.5)),
                        amplitudes=THREE_BAND, repulsions=three_band_repulsions),
    "nickelate": Ready(nickelate, orbitals=("x1", "z1", "x2", "z2"),
                       positions=((0, 0, 0), (0, 0, 0), (0, 0, 1), (0, 0, 1)), amplitudes=NICKELATE),
    "pnictide": Ready(pnictide, orbitals=("xz", "yz"), amplitudes={"t1": -1.0, "t2": 1.3, "t3": -0.85, "t4": -0.85}),
}
