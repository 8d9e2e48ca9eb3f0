"""Simulation of collective operations on other machines: the fastest algorithm and arity for each case.

The C++ library simulates the schedules that it would run, with LogGP costs (Alexandrov et al., SPAA 1995) and links
that ranks share; see ``docs/collectives.md``.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from typing import Any

from plaq import _core
from plaq.errors import InputError
from plaq.inputs.kinds import integer, real
from plaq.inputs.schema import REQUIRED, Parameter, Schema, name_shown, read_toml, shown

# Times in seconds, per_byte of the port with which a unit of the level below is attached. Orders of magnitude from
# data sheets and from LogGP measurements in the literature, not fits.
MACHINES = {
    "infiniband": {  # nodes of 16 ranks, one 54 Gb/s port each, a fat tree with half the bandwidth at the top
        "overhead": 0.3e-6,
        "combine_per_byte": 0.1e-9,
        "eager": 12288,
        "levels": [
            {"ranks": 16, "latency": 0.4e-6, "gap": 0.0, "per_byte": 0.2e-9},
            {"ranks": 16 * 18, "latency": 1.0e-6, "gap": 0.05e-6, "per_byte": 8 / 54e9},
            {"ranks": 16 * 18 * 36, "latency": 1.5e-6, "gap": 0.01e-6, "per_byte": 8 / 54e9 / 9},
        ],
    },
    "dragonfly": {  # nodes of 64 ranks, 200 Gb/s; 16 nodes on a router, 32 routers in a group
        "overhead": 0.3e-6,
        "combine_per_byte": 0.05e-9,
        "eager": 16384,
        "levels": [
            {"ranks": 64, "latency": 0.4e-6, "gap": 0.0, "per_byte": 0.1e-9},
            {"ranks": 64 * 16, "latency": 1.0e-6, "gap": 0.02e-6, "per_byte": 8 / 200e9},
            {"ranks": 64 * 512, "latency": 1.5e-6, "gap": 0.002e-6, "per_byte": 8 / 200e9 / 16},
            {"ranks": 64 * 512 * 64, "latency": 2.2e-6, "gap": 0.0005e-6, "per_byte": 8 / 200e9 / 256},
        ],
    },
}
MOST_RANKS = 1 << 17  # of a job that is simulated
MOST_BYTES = 1 << 40  # of a block

_seconds, _per_byte = real("[0, 1e3]"), real("[0, 1]")
_LEVEL = [
    Parameter("levels", "ranks", integer(1, 2**31 - 1), REQUIRED, "", "ranks that a unit of this level holds"),
    Parameter("levels", "latency", _seconds, REQUIRED, "s", "of a message"),
    Parameter("levels", "gap", _seconds, REQUIRED, "s", "between two messages"),
    Parameter("levels", "per_byte", _per_byte, REQUIRED, "s", "of the port of a unit of the level below"),
]
_REST = [
    Parameter("machine", "overhead", _seconds, 0.0, "s", "of a message, on the processor"),
    Parameter("machine", "combine_per_byte", _per_byte, 0.0, "s", "of a sum"),
    Parameter("machine", "eager", integer(0, MOST_BYTES), 65536, "bytes", "longest message sent at once"),
    Parameter("machine", "cores", integer(0, 2**31 - 1), 0, "", "of a node; 0: one for each rank"),
    Parameter("machine", "turn", _seconds, 0.0, "s", "for another rank to get its turn on a core"),
]


def machine(name: str) -> _core.comm.Machine:
    """Return one of `MACHINES`, or the machine of a TOML file with the same keys.

    ``levels`` is a list of tables with ranks, latency (s), gap (s) and per_byte (s); overhead, combine_per_byte and
    turn in s, eager in bytes, cores of a node (0: one for each rank).

    Raises InputError for a name that is neither, for missing or unknown keys, and for impossible values.
    """
    table = MACHINES.get(name)
    if table is None:
        if not os.path.isfile(name):
            raise InputError(f"--machine {name_shown(name)}: neither a file nor one of {', '.join(MACHINES)}")
        table = read_toml(name)
    levels = table.get("levels")
    if not isinstance(levels, list) or not levels:
        raise InputError(f"{name}: levels = {shown(levels)} is not allowed: it must be a list of tables, [[levels]]")
    read = [_values(level, _LEVEL, f"{name}, level {i}") for i, level in enumerate(levels)]
    for i, (below, level) in enumerate(itertools.pairwise(read)):
        if level["ranks"] <= below["ranks"] or level["ranks"] % below["ranks"]:
            raise InputError(f"{name}, level {i + 1}: ranks = {level['ranks']} is not allowed: "
                             f"it must be a multiple of {below['ranks']}, which the level below holds")
    rest = _values({key: value for key, value in table.items() if key != "levels"}, _REST, name)
    return _core.comm.Machine([_core.comm.Level(**level) for level in read], **rest)


def _values(table: Any, rows: list[Parameter], source: str) -> dict[str, Any]:
    """Return {key: value} of one table; InputError for a missing or unknown key, and for an impossible value."""
    section = rows[0].section
    return vars(Schema({section: ""}, rows).read({section: table}, source)[section])


def compare(
    on: _core.comm.Machine, operation: str, ranks: int, nbytes: int, arities: Sequence[int] = (2, 4, 8, 16)
) -> list[tuple[str, float]]:
    """Return [(method in words, seconds)] for one operation with blocks of ``nbytes``, the fastest first.

    Methods are the candidates for this number of ranks, trees with the given arities. Exchanges between all pairs of
    ranks are left out beyond 2000 ranks, and the flat tree beyond 4096.
    """
    methods = []
    for by in _core.comm.candidates(operation, ranks, nbytes):
        all_pairs = by.algorithm in ("direct", "ring") or operation == "all_to_all"
        if all_pairs and ranks * ranks > 4_000_000:
            continue
        if by.algorithm in ("tree", "butterfly", "bruck") and by.arity not in arities:
            if by.arity < ranks or by.algorithm != "tree" or ranks > 4096:
                continue
        seconds = _core.comm.simulate(operation, nbytes, by, on, ranks).seconds
        words = "flat" if by.algorithm == "tree" and by.arity >= ranks else f"{by.algorithm} {by.arity}"
        methods.append((words + (f" in {by.segment // 1024} KiB" if by.segment else ""), seconds))
    return sorted(methods, key=lambda pair: pair[1])
