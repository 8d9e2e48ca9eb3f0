"""plaq's collectives beside MPI's own and a flat root-to-all: `python benchmarks/comm/run.py BUILD TABLE.csv`.

BUILD is a CMake folder made with -DPLAQ_BENCHMARKS=ON. Measures what TABLE.csv does not hold yet, so a run may be cut
in parts (--ranks), then draws docs/figures/collectives_{ranks,sizes}.png and prints the ratios as Markdown. Each number
of ranks and size is one job in which the three take turns; medians.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
from pathlib import Path

FIGURES = Path(__file__).resolve().parent.parent.parent / "docs" / "figures"
OPERATIONS = ["broadcast", "reduce", "all_reduce", "all_gather", "scatter", "gather", "all_to_all", "reduce_scatter",
              "inclusive_scan"]
SIZES = [4, 4 << 10, 64 << 10, 1 << 20, 16 << 20]  # bytes of each rank
WHO = {"mpi_us": ("MPI", "C0"), "flat_us": ("flat", "0.6"), "plaq_us": ("plaq", "C1")}


def repeats(ranks: int, size: int) -> int:
    """100 calls where they are short, at least 5."""
    return max(5, min(100, (1 << 29) // (ranks * ranks * max(size, 4096))))


def measure(build: Path, table: Path, ranks: list[int]) -> None:
    have = {(row["operation"], row["ranks"], row["bytes"]) for row in read(table)} if table.exists() else set()
    environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    for n in ranks:
        for size in SIZES:
            wanted = [o for o in OPERATIONS + ["barrier"] * (size == SIZES[0]) if (o, str(n), str(size)) not in have]
            if not wanted:
                continue
            command = ["mpirun", "-q", "--bind-to", "none", "--map-by", "slot:OVERSUBSCRIBE", "-n", str(n)]
            command += [build / "benchmarks/comm/bench_collectives", str(repeats(n, size)), str(size), ",".join(wanted)]
            lines = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
            with table.open("a") as out:
                out.write("".join(lines.splitlines(keepends=True)[table.stat().st_size > 0 :]))


def read(table: Path) -> list[dict[str, str]]:
    with table.open() as lines:
        return list(csv.DictReader(lines))


def plot(axis, rows, x: str) -> None:
    for who, (label, color) in WHO.items():
        points = sorted((int(row[x]), float(row[who])) for row in rows)
        axis.plot(*zip(*points), marker="o", ms=3, color=color, label=label)


def draw(rows: list[dict[str, str]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    def finish(axis, title, x):
        axis.set(xscale="log", yscale="log", title=title, xlabel=x, ylabel="µs")
        axis.grid(alpha=0.3)

    shown = ["broadcast", "reduce", "scatter", "all_reduce"]
    figure, axes = plt.subplots(2, len(shown), figsize=(13, 6), layout="constrained", sharex=True)
    for line, size in zip(axes, (4, 1 << 20)):
        for axis, operation in zip(line, shown):
            plot(axis, [r for r in rows if r["operation"] == operation and int(r["bytes"]) == size], "ranks")
            finish(axis, f"{operation}, {'4 B' if size == 4 else '1 MiB'}", "ranks")
            ticks = sorted({int(r["ranks"]) for r in rows})
            axis.set_xticks(ticks, [str(t) for t in ticks])
            axis.minorticks_off()
    axes[0][0].legend()
    figure.savefig(FIGURES / "collectives_ranks.png", dpi=110)

    most = max(int(r["ranks"]) for r in rows)
    figure, axes = plt.subplots(2, 4, figsize=(13, 6), layout="constrained")
    for axis, operation in zip(axes.flat, OPERATIONS):
        plot(axis, [r for r in rows if r["operation"] == operation and int(r["ranks"]) == most], "bytes")
        finish(axis, f"{operation}, {most} ranks", "bytes of each rank")
    axes.flat[0].legend()
    figure.savefig(FIGURES / "collectives_sizes.png", dpi=110)


def ratios(rows: list[dict[str, str]]) -> None:
    """Time over MPI's, and flat's time over ours."""
    ranks = sorted({int(r["ranks"]) for r in rows})
    print("| time over MPI's | bytes | " + " | ".join(map(str, ranks)) + " |\n|---|---|" + "---|" * len(ranks))
    for operation in OPERATIONS + ["barrier"]:
        for size in SIZES:
            of = {int(r["ranks"]): r for r in rows if r["operation"] == operation and int(r["bytes"]) == size}
            if of:
                cells = [f"{float(of[n]['plaq_us']) / float(of[n]['mpi_us']):.2f}" if n in of else "" for n in ranks]
                print(f"| {operation} | {size} | " + " | ".join(cells) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("table", type=Path)
    parser.add_argument("--ranks", default="2,4,8,16,32")
    told = parser.parse_args()
    measure(told.build, told.table, [int(n) for n in told.ranks.split(",")])
    rows = read(told.table)
    draw(rows)
    ratios(rows)


if __name__ == "__main__":
    main()
