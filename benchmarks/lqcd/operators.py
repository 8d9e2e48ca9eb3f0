"""Operators of plaq lqcd beside Grid's: `python operators.py BENCH_OPERATORS [--grid BESIDE] [options]`.

Programs take turns. The tables have nanoseconds a site of processor time, all threads together, and of wall time, each
the median over rounds; blocks.hpp says of which blocks. BESIDE is grid/beside.cpp.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
from collections import defaultdict
from pathlib import Path

#: names of plaq, and those of Grid for the same product: the faster one counts
ROWS = {
    "hopping": ("hopping, whole", "hopping, halves"),
    "wilson": ("wilson",),
    "wilson, even-odd": ("wilson, even-odd",),
    "twisted mass": ("twisted mass",),
    "twisted mass, even-odd": ("twisted mass, even-odd",),
    "clover": ("clover", "clover, compact"),
    "clover, even-odd": ("clover, even-odd", "clover, compact, even-odd"),
    "doublet": (),
    "doublet, even-odd": (),
    "clover doublet": (),
    "clover doublet, even-odd": (),
}
Times = dict[tuple[str, str], tuple[float, float]]


def call(command: list[str], threads: int) -> Times:
    """Return (processor, wall) by (operator, precision) of what a program prints."""
    text = subprocess.run(command, env=os.environ | {"OMP_NUM_THREADS": str(threads)}, check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    found = {}
    for line in text.splitlines():
        name, *values = line.rsplit(",", 3)
        if len(values) == 3 and values[0] in ("double", "single"):
            found[name, values[0]] = float(values[1]), float(values[2])
    return found


def medians(rounds: list[Times]) -> Times:
    """Return the median of each time over rounds."""
    return {key: tuple(statistics.median(r[key][i] for r in rounds) for i in (0, 1)) for key in rounds[0]}


def shown(times: Times, names: tuple[str, ...], precision: str) -> tuple[float, float] | None:
    """Return the least times of these operators, None without any."""
    found = [times[name, precision] for name in names if (name, precision) in times]
    return tuple(min(t[i] for t in found) for i in (0, 1)) if found else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", type=Path, help="bench_operators")
    parser.add_argument("--grid", type=Path, help="program of grid/beside.cpp")
    parser.add_argument("--lattice", type=int, nargs=4, action="append", metavar=("T", "X", "Y", "Z"))
    parser.add_argument("--only", choices=sorted({name.partition(",")[0] for name in ROWS}), help="operator to time")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    o = parser.parse_args()
    for T, X, Y, Z in o.lattice or [[8, 8, 8, 8]]:
        commands = {"plaq": [str(o.bench), *map(str, (o.threads, T, X, Y, Z))]}
        if o.grid:
            commands["Grid"] = [str(o.grid), "--grid", f"{X}.{Y}.{Z}.{T}", "--threads", str(o.threads),
                                "--dslash-unroll"]
        if o.only:
            commands["plaq"].append(o.only)
            commands.get("Grid", []).extend(["--only", o.only])
        rounds: dict[str, list[Times]] = defaultdict(list)
        for _ in range(o.rounds):
            for program, command in commands.items():
                rounds[program].append(call(command, o.threads))
        times = {program: medians(found) for program, found in rounds.items()}
        print(f"\n{T} x {X} x {Y} x {Z}, {o.threads} thread(s)\n\n| | plaq | Grid | ratio, processor | ratio, wall |")
        print("|---|---|---|---|---|")
        for precision in ("double", "single"):
            for name, peers in ROWS.items():
                own, other = shown(times["plaq"], (name,), precision), shown(times.get("Grid", {}), peers, precision)
                if not own:
                    continue
                cells = [f"{own[0]:.1f}, {own[1]:.1f}"]
                cells += [f"{other[0]:.1f}, {other[1]:.1f}", *(f"{b / a:.2f}" for a, b in zip(own, other, strict=True))
                          ] if other else ["", "", ""]
                print(f"| {name}, {precision} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
