"""Collectives between hosts beside their simulation, with nothing fitted:
`python benchmarks/comm/between.py TABLE.csv RANKS_PER_HOST DELAY_US MBIT`.

TABLE.csv is of bench_collectives under hosts.py with these arguments. The simulated machine has the latency and
bandwidth that hosts.py sets for each link, and Open MPI's limit of eager messages over TCP. The time of the cores,
which all ranks share, does not count where the delay is long. Prints measured and simulated times, and for each
operation the median of |log₂(simulated/measured)| as a factor.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from fit import cases
from run import read

from plaq import _core

EAGER = 65536  # bytes, with the header of a message
HEADER = 64


def machine(per_host: int, delay: float, bytes_per_second: float) -> _core.comm.Machine:
    node = _core.comm.Level(per_host, 1e-6, 0.0, 1e-10)
    links = _core.comm.Level(1024 * per_host, delay, 0.0, 1 / bytes_per_second)
    return _core.comm.Machine([node, links], 1e-5, 1e-10, EAGER - HEADER, 0, 0.0)


def main() -> None:
    table, per_host, delay, mbit = sys.argv[1:]
    on = machine(int(per_host), 1e-6 * float(delay), 1e6 * float(mbit) / 8)
    factors: dict[str, list[float]] = {}
    print("| operation | bytes | method | measured, ms | simulated |\n|---|---|---|---|---|")
    for operation, nbytes, ranks, by, seconds in cases(read(Path(table))):
        nbytes = 1 if operation == "barrier" else nbytes
        simulated = _core.comm.simulate(operation, nbytes, by, on, ranks).seconds
        factors.setdefault(operation, []).append(abs(np.log2(simulated / seconds)))
        method = f"{by.algorithm} {by.arity}" + (f", {by.segment} B" if by.segment else "")
        print(f"| {operation} | {nbytes} | {method} | {1e3 * seconds:.1f} | {1e3 * simulated:.1f} |")
    print("\n| off by a factor of | |\n|---|---|")
    for operation, some in factors.items():
        print(f"| {operation} | {2 ** np.median(some):.2f} ({len(some)}) |")


if __name__ == "__main__":
    main()
