"""One plasma in three ways, with a table and a figure: `python study.py BUILD OUT [--case uniform plate ranks]`.

Runs `bench_ways-SET` of a build with -DPLAQ_BENCHMARKS=ON: a bulk-synchronous MPI program, the same with its
particles in a collection, and all in a collection, on 2 ranks with 1 to 64 patches each; `ranks`: the plate on 2, 4
and 8 ranks, by processor time, since a machine may have fewer cores. OUT gets CASE.csv, table.md and study.png, of
the cases that have been run there.
"""

from __future__ import annotations

import argparse
import csv
import os
import statistics
import subprocess
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

WAYS = ("mpi", "beside", "whole")
PATCHES = (1, 2, 4, 8, 16, 32, 64)
STEPS = {"uniform": 40, "plate": 300, "ranks": 300}
EVERY = 10  # steps between balancings
NUMBERS = ("iteration", "busiest", "particles", "fields", "hand-off", "before", "expected", "floor", "number", "energy")
COLUMNS = ("way", "case", "ranks", "patches", "every", *NUMBERS)


def runs(case: str) -> list[tuple]:
    """(way, ranks, patches a rank, steps between balancings) of each."""
    if case == "uniform":
        return [("mpi", 2, 1, 0), *((way, 2, n, 0) for n in PATCHES for way in WAYS[1:])]
    if case == "plate":
        return [("mpi", 2, 1, 0), *((way, 2, n, EVERY) for n in PATCHES for way in WAYS[1:])]
    return [
        (way, ranks, *how)
        for ranks in (2, 4, 8)
        for way, how in (
            ("mpi", (1, 0)),
            ("beside", (64, EVERY)),
            ("whole", (64, 0)),
            ("whole", (16, EVERY)),
            ("whole", (64, EVERY)),
        )
    ]


def measure(program: Path, case: str, repeats: int) -> list[dict]:
    """Medians of runs that take turns."""
    found: dict[tuple, list[dict]] = {}
    for _ in range(repeats):
        for way, ranks, patches, every in runs(case):
            command = [
                "mpirun",
                "--oversubscribe",
                "--bind-to",
                "none",
                "-n",
                ranks,
                program,
                way,
                "plate" if case == "ranks" else case,
                patches,
                STEPS[case],
                every,
            ]
            said = subprocess.run(
                [str(c) for c in command],
                check=True,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "PLAQ_EXPECTED_RANKS": str(ranks)},
            ).stdout
            row = dict(zip(COLUMNS, said.strip().split(",")))
            found.setdefault((way, ranks, patches, every), []).append(row)
    rows = [
        {**many[0], **{key: statistics.median(float(one[key]) for one in many) for key in NUMBERS}}
        for many in found.values()
    ]
    for key in ("number", "energy"):  # it is one and the same plasma
        if max(row[key] for row in rows) - min(row[key] for row in rows) > 1e-9 * rows[0][key]:
            raise SystemExit(f"{case}: the ways differ in their {key}")
    return rows


def table(case: str, rows: list[dict]) -> str:
    """Milliseconds of a step, and imbalances."""
    lines = [
        f"{case}\n",
        "| way | ranks | patches a rank | step | busiest rank | particles | fields | hand-off | I | expected | floor |",
        "|" + "---|" * 11,
    ]
    for row in rows:
        times = [f"{float(row[key]):.2f}" for key in NUMBERS[:5]]
        if case == "ranks":
            times[0] = ""
        kept = [f"{float(row[key]):.2f}" if int(row["every"]) else "" for key in ("before", "expected", "floor")]
        lines.append("| " + " | ".join([row["way"], row["ranks"], row["patches"], *times, *kept]) + " |")
    return "\n".join(lines) + "\n"


def draw(found: dict[str, list[dict]], path: Path) -> None:
    """Time of a step by patches a rank; of the busiest rank by ranks."""
    figure, axes = plt.subplots(1, len(found), figsize=(4.2 * len(found), 3.6), layout="constrained", squeeze=False)
    names = {"mpi": "MPI", "beside": "particles in a collection", "whole": "all in a collection"}
    for panel, (case, rows) in zip(axes[0], found.items()):
        for way in WAYS:
            mine = [row for row in rows if row["way"] == way]
            if case == "ranks":
                mine = [row for row in mine if way == "mpi" or (row["patches"] == "64" and int(row["every"]))]
                panel.plot(
                    [int(row["ranks"]) for row in mine],
                    [float(row["busiest"]) for row in mine],
                    marker="o",
                    label=names[way],
                )
            elif way == "mpi":
                panel.axhline(float(mine[0]["iteration"]), color="C0", label=names[way])
            else:
                panel.plot(
                    [int(row["patches"]) for row in mine],
                    [float(row["iteration"]) for row in mine],
                    marker="o",
                    color=f"C{WAYS.index(way)}",
                    label=names[way],
                )
                panel.plot(
                    [int(row["patches"]) for row in mine],
                    [float(row["hand-off"]) for row in mine],
                    ":",
                    color=f"C{WAYS.index(way)}",
                )
        panel.set_xscale("log", base=2)
        panel.set(
            title={
                "uniform": "uniform plasma, 2 ranks",
                "plate": "plate, 2 ranks",
                "ranks": "plate, 64 patches a rank",
            }[case],
            xlabel="ranks" if case == "ranks" else "patches a rank",
            ylim=(0, None),
            ylabel="ms of the busiest rank" if case == "ranks" else "ms of a step (dotted: hand-off)",
        )
    axes[0][0].legend(frameon=False)
    figure.savefig(path, dpi=110)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("build", type=Path)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--case", nargs="+", choices=STEPS, default=list(STEPS))
    arguments.add_argument("--repeats", type=int, default=3)
    arguments.add_argument("--set", default="x86-64-v4", help="the instruction set of bench_ways")
    given = arguments.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for case in given.case:
        rows = measure(given.build / "benchmarks/pic" / f"bench_ways-{given.set}", case, given.repeats)
        with (given.out / f"{case}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(rows)
    found = {
        case: list(csv.DictReader((given.out / f"{case}.csv").open()))
        for case in STEPS
        if (given.out / f"{case}.csv").exists()
    }
    (given.out / "table.md").write_text("\n".join(table(case, rows) for case, rows in found.items()))
    draw(found, given.out / "study.png")


if __name__ == "__main__":
    main()
