"""Partitioning by Zoltan of the Trilinos project: RCB, HSFC and PHG.

Zoltan needs MPI, which stays in a process and in its environment. So it runs in a process of its own.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import pickle
import subprocess
import sys
from ctypes import POINTER, c_char_p, c_double, c_float, c_int, c_uint, c_void_p

import numpy as np

from plaq.balance.loads import Phase
from plaq.errors import InputError

METHODS = {"zoltan_rcb": "RCB", "zoltan_hsfc": "HSFC", "zoltan_phg": "HYPERGRAPH"}
TOLERANCE = "1.02"  # of the load of a part, over the mean: as of plaq's refining balancers

# Numbers of query functions in zoltan.h, and their arguments between the one for data and the error code.
ids, ints, floats = POINTER(c_uint), POINTER(c_int), POINTER(c_float)
QUERIES = {
    "number": (7, c_int, ()),
    "list": (8, None, (c_int, c_int, ids, ids, c_int, floats)),
    "parts": (35, None, (c_int, c_int, c_int, ids, ids, ints)),
    "dimensions": (4, c_int, ()),
    "points": (5, None, (c_int, c_int, c_int, ids, ids, c_int, POINTER(c_double))),
    "degrees": (1, None, (c_int, c_int, c_int, ids, ids, ints)),
    "edges": (3, None, (c_int, c_int, c_int, ids, ids, ints, ids, ints, c_int, floats)),
}


def filled(to, values: np.ndarray) -> None:
    """Copy values to an array of C."""
    np.ctypeslib.as_array(to, values.shape)[...] = values


def answers(phase: Phase, rank_of: np.ndarray, graph: tuple[np.ndarray, np.ndarray, np.ndarray] | None) -> dict:
    """Return the functions by which Zoltan asks for elements: numbers, loads, ranks, points, and edges of a graph."""
    n, total = len(phase.keys), float(phase.loads.sum())
    loads = phase.loads / total if total > 0 else np.full(n, 1 / n)
    of = lambda count, elements: np.ctypeslib.as_array(elements, (count,))

    def all_elements(_, __, elements, ___, ____, weights):
        filled(elements, np.arange(n, dtype=np.uint32))
        filled(weights, loads)

    out = {
        "number": lambda: n,
        "list": all_elements,
        "parts": lambda _, __, count, elements, ___, to: filled(to, rank_of[of(count, elements)]),
    }
    if graph is None:
        used = max(1, int(np.flatnonzero(np.ptp(phase.points, axis=0))[-1:].sum()) + 1)
        points = np.ascontiguousarray(phase.points[:, :used])
        return out | {
            "dimensions": lambda: used,
            "points": lambda _, __, count, elements, ___, dim, to: filled(to, points[of(count, elements)].ravel()),
        }
    begin, neighbour, weights = graph
    weights = weights / max(weights.max(initial=0), 1e-300)

    def edges(_, __, count, elements, ___, ____, to, ranks, _____, bytes_sent):
        rows = [slice(begin[i], begin[i + 1]) for i in of(count, elements)]
        everything = np.concatenate([neighbour[row] for row in rows])
        filled(to, everything)
        filled(ranks, np.zeros(len(everything), np.int32))
        filled(bytes_sent, np.concatenate([weights[row] for row in rows]))

    return out | {
        "degrees": lambda _, __, count, elements, ___, to: filled(to, np.diff(begin)[of(count, elements)]),
        "edges": edges,
    }


def call(library: ctypes.CDLL, by: str, phase: Phase, parts: int, rank_of: np.ndarray,
         graph: tuple[np.ndarray, np.ndarray, np.ndarray] | None) -> tuple[int, np.ndarray]:
    """Return Zoltan's error code, and the part of each element."""
    handle = c_void_p(library.Zoltan_Create(ctypes.byref(c_int.in_dll(library, "ompi_mpi_comm_self"))))
    settings = {"DEBUG_LEVEL": "0", "LB_METHOD": METHODS[by], "NUM_GLOBAL_PARTS": str(parts), "OBJ_WEIGHT_DIM": "1",
                "NUM_LID_ENTRIES": "0", "RETURN_LISTS": "PARTS", "IMBALANCE_TOL": TOLERANCE,
                "EDGE_WEIGHT_DIM": "0" if graph is None else "1"}
    for name, value in settings.items():
        library.Zoltan_Set_Param(handle, name.encode(), value.encode())
    functions = []  # which live as long as Zoltan may call them
    for name, answer in answers(phase, rank_of, graph).items():
        number, result, arguments = QUERIES[name]

        def called(_, *given, answer=answer):
            given[-1][0] = 0
            return answer(*given[:-1])

        functions.append(ctypes.CFUNCTYPE(result, c_void_p, *arguments, ints)(called))
        library.Zoltan_Set_Fn(handle, number, ctypes.cast(functions[-1], c_void_p), None)
    counts = [c_int() for _ in range(5)]  # changes, sizes of ids, elements to import and export
    lists = [c_void_p() for _ in range(8)]
    arguments = [counts[0], counts[1], counts[2], counts[3], *lists[:4], counts[4], *lists[4:]]
    code = library.Zoltan_LB_Partition(handle, *map(ctypes.byref, arguments))
    part = rank_of.astype(np.int32)
    if code == 0 and counts[4].value:
        take = lambda at, kind: np.ctypeslib.as_array(ctypes.cast(lists[at], POINTER(kind)), (counts[4].value,))
        part[take(4, c_uint)] = take(7, c_int)
    for at in (0, 4):
        library.Zoltan_LB_Free_Part(*map(ctypes.byref, lists[at:at + 4]))
    library.Zoltan_Destroy(ctypes.byref(handle))
    return code, part


def serve(name: str) -> None:
    """Partition what comes at the standard input until that ends. What Zoltan prints goes to the standard error."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    library = ctypes.CDLL(name)
    library.MPI_Init(None, None)
    library.Zoltan_Initialize(0, None, ctypes.byref(c_float()))
    library.Zoltan_Create.restype = c_void_p
    while requests.peek(1):
        pickle.dump(call(library, *pickle.load(requests)), answers)
        answers.flush()
    library.MPI_Finalize()


def check(library: ctypes.CDLL) -> None:
    """InputError unless the library is built with Open MPI and integer ids."""
    kind = c_char_p()
    library.Zoltan_get_global_id_type(ctypes.byref(kind))
    if kind.value != b"unsigned int" or not hasattr(library, "ompi_mpi_comm_self"):
        raise InputError("--by: this Zoltan is not built as Debian's: with Open MPI and ids of type unsigned int")


@functools.cache
def process(name: str) -> subprocess.Popen:
    """Start the process that calls Zoltan. It ends with this one and is no rank of this one's job."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMI", "PLAQ_"))}
    child = subprocess.Popen(
        [sys.executable, "-P", "-c", f"from plaq.balance import zoltan; zoltan.serve({name!r})"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=clean)
    atexit.register(child.communicate)
    return child


def partition(library: ctypes.CDLL, by: str, phase: Phase, parts: int, rank_of: np.ndarray,
              graph: tuple[np.ndarray, np.ndarray, np.ndarray] | None) -> tuple[int, np.ndarray]:
    """Return Zoltan's error code, and the part of each element.

    RCB and HSFC cut the points of elements, PHG their graph, near to the present ranks.
    """
    child = process(library._name)
    try:
        pickle.dump((by, phase, parts, rank_of, graph), child.stdin)
        child.stdin.flush()
        return pickle.load(child.stdout)
    except (BrokenPipeError, EOFError):
        process.cache_clear()
        raise InputError(f"--by: {by}: Zoltan's process ended with code {child.wait()}") from None
