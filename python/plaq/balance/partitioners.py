"""Partitioners of the system as a baseline for balancers: Metis, Scotch and Zoltan."""

from __future__ import annotations

import ctypes

import numpy as np

from plaq.balance import zoltan
from plaq.balance.loads import Phase
from plaq.errors import InputError

LIBRARIES = {"metis": "libmetis.so.5", "scotch": "libscotch-7.0.so"} | dict.fromkeys(
    zoltan.METHODS, "libtrilinos_zoltan.so")
PACKAGES = {"metis": "libmetis5", "scotch": "libscotch-7.0"} | dict.fromkeys(
    zoltan.METHODS, "libtrilinos-zoltan-dev")
NEEDS = dict.fromkeys(LIBRARIES, "edges") | {"zoltan_rcb": "points", "zoltan_hsfc": "points"}
LARGEST_SUM = 2**30  # of integer weights; both libraries count in 32 bits as Debian builds them


def library(name: str) -> ctypes.CDLL:
    """Return the library of a partitioner. InputError where it is not installed."""
    try:
        if name == "scotch":  # which leaves its function for errors to the program
            ctypes.CDLL(LIBRARIES[name].replace("scotch", "scotcherr"), mode=ctypes.RTLD_GLOBAL)
        found = ctypes.CDLL(LIBRARIES[name])
    except OSError:
        raise InputError(f"--by: {name} is not installed: no {LIBRARIES[name]}, which is in Debian's "
                         f"{PACKAGES[name]}") from None
    if name in zoltan.METHODS:
        zoltan.check(found)
    return found


def graph(phase: Phase) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return begin, neighbour and bytes of the symmetric graph of a phase, rows one after the other.

    ``neighbour[begin[i]:begin[i + 1]]`` are the elements that i sends to or receives from, itself excepted.
    """
    n = len(phase.keys)
    a, b = phase.ends[:, 0].astype(np.int64), phase.ends[:, 1].astype(np.int64)
    apart = a != b
    pairs = np.concatenate([a[apart] * n + b[apart], b[apart] * n + a[apart]])
    pair, where = np.unique(pairs, return_inverse=True)
    weights = np.bincount(where, np.tile(phase.weights[apart], 2), len(pair))
    begin = np.searchsorted(pair // n, np.arange(n + 1))
    return begin, pair % n, weights


def as_integers(weights: np.ndarray) -> np.ndarray:
    """Return weights in proportion, from 1 on, whose sum fits."""
    total = float(weights.sum())
    scaled = weights * ((LARGEST_SUM - len(weights)) / total) if total > 0 else np.zeros(len(weights))
    return np.floor(scaled).astype(np.int32) + np.int32(1)


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)


def by_metis(n: int, parts: int, arrays: list[np.ndarray], part: np.ndarray) -> int:
    begin, neighbour, loads, weights = map(pointer, arrays)
    one = lambda value: ctypes.byref(ctypes.c_int32(value))
    code = library("metis").METIS_PartGraphKway(one(n), one(1), begin, neighbour, loads, None, weights, one(parts),
                                                None, None, None, one(0), pointer(part))
    return 0 if code == 1 else code


def by_scotch(n: int, parts: int, arrays: list[np.ndarray], part: np.ndarray) -> int:
    begin, neighbour, loads, weights = map(pointer, arrays)
    scotch = library("scotch")
    of_graph, strategy = (ctypes.create_string_buffer(1024) for _ in range(2))  # both structures are of some 100 bytes
    scotch.SCOTCH_randomReset()
    code = (scotch.SCOTCH_graphInit(of_graph) or scotch.SCOTCH_stratInit(strategy)
            or scotch.SCOTCH_graphBuild(of_graph, 0, n, begin, None, loads, None, len(arrays[1]), neighbour, weights)
            or scotch.SCOTCH_graphPart(of_graph, parts, strategy, pointer(part)))
    scotch.SCOTCH_graphExit(of_graph)
    scotch.SCOTCH_stratExit(strategy)
    return code


def partition(by: str, phase: Phase, parts: int, rank_of: np.ndarray) -> np.ndarray:
    """Return the part of each element, from 0 to parts - 1, with the library's settings.

    Only PHG knows the present ranks.
    """
    n, part = len(phase.keys), np.zeros(len(phase.keys), np.int32)
    if parts == 1:
        return part
    of_phase = graph(phase) if NEEDS[by] == "edges" else None
    if by in zoltan.METHODS:
        code, part = zoltan.partition(library(by), by, phase, parts, rank_of, of_phase)
    else:
        begin, neighbour, weights = of_phase
        arrays = [np.ascontiguousarray(array, np.int32)
                  for array in (begin, neighbour, as_integers(phase.loads), as_integers(weights))]
        code = (by_metis if by == "metis" else by_scotch)(n, parts, arrays, part)
    if code != 0:
        raise InputError(f"--by: {by} failed on {n} elements and {parts} ranks: error {code}")
    return part


def keep_places(part: np.ndarray, phase: Phase, rank_of: np.ndarray, ranks: int) -> np.ndarray:
    """Return the parts numbered so that elements of many bytes stay: the largest overlap with a rank is taken first."""
    sizes = phase.sizes if len(phase.sizes) else np.ones(len(part))
    pair, where = np.unique(part.astype(np.int64) * ranks + rank_of, return_inverse=True)
    overlap = np.bincount(where, sizes, len(pair))
    rank_of_part = np.full(ranks, -1)
    free = np.ones(ranks, bool)
    for i in np.argsort(-overlap, kind="stable"):
        p, rank = divmod(int(pair[i]), ranks)
        if rank_of_part[p] < 0 and free[rank]:
            rank_of_part[p], free[rank] = rank, False
    rank_of_part[rank_of_part < 0] = np.flatnonzero(free)
    return rank_of_part[part].astype(np.int32)


def plan(by: str, phase: Phase, rank_of: np.ndarray, ranks: int) -> np.ndarray:
    """Return a rank for each element. A limit of bytes is not known to the partitioner."""
    return keep_places(partition(by, phase, ranks, rank_of), phase, rank_of, ranks)
