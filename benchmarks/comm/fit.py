"""LogGP parameters of one node from measured collectives, and how far the simulation is off:
`python benchmarks/comm/fit.py TABLE.csv CORES`.

TABLE.csv is of run.py. Overhead, latency, time per byte, time to combine a byte and the turn of a core from one rank to
another are fitted (least squares of the logarithms) to broadcast and reduce, flat; every other operation and method in
the table is then predicted. Prints the machine as TOML and the median of |log₂(simulated/measured)| as a factor.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from run import OPERATIONS, read
from scipy.optimize import least_squares

from plaq import _core

FITTED = ("broadcast", "reduce")
START = {"overhead": 1e-7, "latency": 3e-7, "per_byte": 1e-10, "combine_per_byte": 5e-11, "turn": 2e-6}


def machine(parameters: dict[str, float], cores: int) -> _core.comm.Machine:
    node = _core.comm.Level(1024, parameters["latency"], 0.0, parameters["per_byte"])
    rest = (parameters["overhead"], parameters["combine_per_byte"], 4096, cores, parameters["turn"])
    return _core.comm.Machine([node], *rest)


def flat(operation: str, ranks: int) -> _core.comm.Method:
    if operation == "all_to_all":
        return _core.comm.Method("direct")
    return _core.comm.Method("tree", 2 if "scan" in operation else max(2, ranks))


def cases(rows: list[dict[str, str]]) -> list[tuple[str, int, int, _core.comm.Method, float]]:
    """(operation, bytes, ranks, method, measured seconds)"""
    found = []
    for row in rows:
        operation, ranks, nbytes = row["operation"], int(row["ranks"]), int(row["bytes"])
        found.append((operation, nbytes, ranks, flat(operation, ranks), 1e-6 * float(row["flat_us"])))
        own = _core.comm.Method(row["algorithm"], int(row["arity"]), int(row["segment"]))
        if (own.algorithm, own.arity, own.segment) != (found[-1][3].algorithm, found[-1][3].arity, 0):
            found.append((operation, nbytes, ranks, own, 1e-6 * float(row["plaq_us"])))
    return found


def off(which, on: _core.comm.Machine) -> np.ndarray:
    """log₂(simulated/measured)"""
    times = [(_core.comm.simulate(o, n, by, on, ranks).seconds, seconds) for o, n, ranks, by, seconds in which]
    return np.array([np.log2(simulated / measured) for simulated, measured in times])


def main() -> None:
    table, cores = Path(sys.argv[1]), int(sys.argv[2])
    everything = [c for c in cases(read(table)) if c[2] > 2]
    known = [c for c in everything if c[0] in FITTED and c[3].arity >= c[2]]
    start = np.log(list(START.values()))
    found = least_squares(lambda x: off(known, machine(dict(zip(START, np.exp(x))), cores)),
                          start, bounds=(start - np.log(100), start + np.log(100)), diff_step=0.05, loss="soft_l1")
    parameters = dict(zip(START, np.exp(found.x)))
    print("\n".join(f"{name} = {value:.3g}" for name, value in parameters.items()), f"cores = {cores}", sep="\n")
    on = machine(parameters, cores)
    print("\n| off by a factor of | fitted | predicted |\n|---|---|---|")
    for operation in OPERATIONS + ["barrier"]:
        cells = []
        for fitted in (True, False):
            some = [c for c in everything if c[0] == operation and (c in known) == fitted]
            cells.append(f"{2 ** np.median(np.abs(off(some, on))):.2f} ({len(some)})" if some else "")
        print(f"| {operation} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
