"""Hopping tables of wannier90: files *_hr.dat.

A comment; the number of orbitals; the number of vectors R; their degeneracies, 15 a line; then for each R and each pair
of orbitals a line "R1 R2 R3 a b Re Im" of <0 a|H|R b>, orbital a running fastest. The amplitude of R is this number
divided by the degeneracy of R. Source: the user guide of wannier90, section seedname_hr.dat.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from plaq.dca.lattice.crystal import SYSTEMS, operations
from plaq.dca.lattice.interaction import minus
from plaq.errors import InputError
from plaq.files.guard import reading

MOST_LINES = 20_000_000
NOISE = 1e-3  # of the largest hop: a smaller breaking of a symmetry is averaged away
IMAGINARY = 1e-3  # of the largest amplitude: above it an imaginary part is no noise of the fit

Hops = dict[tuple[int, ...], list[list[float]]]


def read_hopping(path: str | Path, dimension: int, cutoff: float) -> Hops:
    """Return {d: [a][b]} of c+[R, a] c[R + d, b], displacements whose amplitudes are all at most ``cutoff`` left out.

    The hops are made Hermitian by averaging t(d) with the transpose of t(-d), from which they differ by rounding in a
    file that is whole, and symmetric (`symmetric`). InputError for a file cut short, for amplitudes that are not real,
    and for hops out of the first ``dimension`` directions. The energy of an only orbital is left out.
    """
    where = f"model.hopping_file = {path}"
    with reading(path, "a table of hops by wannier90"), open(path, encoding="utf-8", errors="replace") as file:
        hops = _parsed(iter(file), where)
    largest = max((abs(x) for m in hops.values() for row in m for x in row), default=0.0)
    count = len(next(iter(hops.values())))
    zero = [[0.0] * count] * count
    kept: Hops = {}
    for d in sorted({sign for d in hops for sign in (d, minus(d))}):
        here, there = hops.get(d, zero), hops.get(minus(d), zero)
        if any(abs(x - y) > 1e-4 * largest for row, column in zip(here, zip(*there)) for x, y in zip(row, column)):
            raise InputError(f"{where}: not Hermitian: the hops to {d} and to its reverse differ")
        mean = [[(x + y) / 2 for x, y in zip(row, column)] for row, column in zip(here, zip(*there))]
        if max(abs(x) for row in mean for x in row) <= cutoff and any(d):
            continue
        if any(d[dimension:]):
            raise InputError(f"{where}: it hops to {d} and model.cluster has {dimension} vectors: give a third one, or "
                             "a model.hopping_cutoff above these hops")
        if count > 1 or any(d):
            kept[d[:dimension]] = mean
    return symmetric(kept)


def symmetric(hops: Hops) -> Hops:
    """Return hops with the symmetry that they have to `NOISE` of the largest hop, averaged over it.

    Rounding and the fit of Wannier functions break it. They stay as they are where the operations make no group.
    """
    from plaq.dca.lattice.hopping import Lattice
    from plaq.dca.lattice.operations import Bonds, find_operations

    table = {d: np.array(m).T[None] for d, m in hops.items()}  # t_ab(d) of c+[R + d, a] c[R, b]
    bands, dimension = len(next(iter(hops.values()))), len(next(iter(hops)))
    apart = [np.abs(t[0] if any(d) else t[0] - np.diag(np.diag(t[0]))).max() for d, t in table.items()]
    if not max(apart):
        return hops
    loose = Bonds(table, NOISE * max(apart))
    best: list = []
    for system in SYSTEMS[dimension]:
        found = [op for g in operations(system.name, dimension) for op in find_operations(loose, g)]
        best = max(best, found, key=len)
    mean: dict[tuple[int, ...], np.ndarray] = {}
    for op in best:
        for d, t in table.items():
            for a, b in np.ndindex(bands, bands):
                image = tuple((op.matrix @ d + op.shifts[a] - op.shifts[b]).tolist())
                value = op.signs[a] * op.signs[b] * t[0, a, b] / len(best)
                mean.setdefault(image, np.zeros((bands, bands)))[op.orbitals[a], op.orbitals[b]] += value
    exact = {d: (t + mean[minus(d)].T) / 2 for d, t in mean.items() if minus(d) in mean}
    names = tuple(map(str, range(bands)))
    if len(exact) < len(mean) or len(Lattice(exact, names).operations) < len(best):
        return hops
    return {d: t.T.tolist() for d, t in sorted(exact.items())}


def _parsed(lines: Iterator[str], where: str) -> Hops:
    def numbers(count: int, what: str) -> list[float]:
        words = next(lines, "").split()
        try:
            values = [float(word) for word in words]
        except ValueError:
            values = []
        if len(values) < count or not all(map(math.isfinite, values)):
            raise InputError(f"{where}: cut short or no *_hr.dat: {what} is missing")
        return values

    next(lines, "")
    orbitals = int(numbers(1, "the number of orbitals, in line 2,")[0])
    vectors = int(numbers(1, "the number of vectors, in line 3,")[0])
    if not (orbitals >= 1 and vectors >= 1 and orbitals**2 * vectors <= MOST_LINES):
        raise InputError(f"{where}: no *_hr.dat: {orbitals} orbitals and {vectors} vectors")
    degeneracy: list[float] = []
    while len(degeneracy) < vectors:
        degeneracy += numbers(1, f"a degeneracy, of which there are {len(degeneracy)} of {vectors},")
    hops: Hops = {}
    imaginary, largest = 0.0, 0.0
    for i in range(vectors):
        for j in range(orbitals**2):
            line = numbers(7, f"line {i * orbitals**2 + j + 1} of {vectors * orbitals**2} amplitudes")
            d, (a, b) = tuple(int(x) for x in line[:3]), (int(x) - 1 for x in line[3:5])
            if not (0 <= a < orbitals and 0 <= b < orbitals and degeneracy[i] >= 1):
                raise InputError(f"{where}: orbitals {a + 1} and {b + 1} of {orbitals}, or a degeneracy, are not right")
            matrix = hops.setdefault(d, [[0.0] * orbitals for _ in range(orbitals)])
            matrix[a][b] = line[5] / degeneracy[i]
            imaginary, largest = max(imaginary, abs(line[6])), max(largest, abs(line[5]))
    if imaginary > IMAGINARY * largest:
        raise InputError(f"{where}: complex hopping, with imaginary parts up to {imaginary:g}: only real hopping is "
                         "solved")
    return hops
