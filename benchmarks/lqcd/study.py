"""The study of the hopping matrix, with figures: `python study.py BUILD OUT`.

Runs `bench_study-SET`, `bench_forces-SET`, `bench_overlap` on two ranks and `bench_solvers` of a build with
-DPLAQ_BENCHMARKS=ON; OUT gets their tables as CSV, ways.png (ways to write the hopping matrix, one worker),
schedules.png (threads and their schedules, two workers) and overlap.png (time of a call against the latency that a
wire is given).
"""

from __future__ import annotations

import argparse
import csv
import subprocess
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

WAYS = ("gather", "copied", "compressed", "push", "halves")
ORDERS = ("first", "faces", "graph")


def table(command: list, path: Path) -> list[dict]:
    """Run a program and keep what it prints."""
    text = subprocess.run([str(c) for c in command], check=True, stdout=subprocess.PIPE, text=True).stdout
    path.write_text(text)
    return list(csv.DictReader(text.splitlines()))


def ways(rows: list[dict], path: Path) -> None:
    """Gflop/s of each way on one worker, by lattice and precision."""
    rows = [r for r in rows if r["workers"] == "1"]
    groups = sorted({(r["precision"], r["lattice"]) for r in rows}, key=lambda g: (g[0], len(g[1]), g[1]))
    figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
    for n, way in enumerate(WAYS):
        rate = {(r["precision"], r["lattice"]): float(r["gflops"]) for r in rows if r["way"] == way}
        axes.bar([i + 0.16 * (n - 2) for i in range(len(groups))], [rate[g] for g in groups], 0.15, label=way)
    axes.set(xticks=range(len(groups)), xticklabels=[f"{lattice}\n{precision}" for precision, lattice in groups],
             ylabel="Gflop/s, one worker")
    axes.legend(ncols=5, frameon=False, loc="upper center", bbox_to_anchor=(0.5, 1.12))
    figure.savefig(path, dpi=110)


def schedules(rows: list[dict], path: Path) -> None:
    """Gflop/s of the library's way on the most workers, in double precision, by threads and schedule."""
    most = max(r["workers"] for r in rows)
    rows = [r for r in rows if r["workers"] == most and r["way"] == "compressed" and r["precision"] == "double"]
    lattices = sorted({r["lattice"] for r in rows}, key=lambda s: (len(s), s))
    names = list(dict.fromkeys((r["threads"], r["schedule"]) for r in rows))
    figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
    for n, lattice in enumerate(lattices):
        rate = {(r["threads"], r["schedule"]): float(r["gflops"]) for r in rows if r["lattice"] == lattice}
        axes.bar([i + 0.8 / len(lattices) * (n + 0.5) - 0.4 for i in range(len(names))], [rate[s] for s in names],
                 0.75 / len(lattices), label=lattice)
    axes.set(xticks=range(len(names)), xticklabels=["\n".join(s) for s in names], ylabel=f"Gflop/s, {most} workers")
    axes.legend(frameon=False)
    figure.savefig(path, dpi=110)


def overlap(rows: list[dict], path: Path) -> None:
    """Time of a call against the latency of a message."""
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for order in ORDERS:
        axes.plot([float(r["latency_us"]) for r in rows], [float(r[f"{order}_us"]) for r in rows], marker="o",
                  label=order)
    axes.set(xlabel="latency of a message, µs", ylabel=f"a call on {rows[0]['lattice']}, two ranks, µs", ylim=(0, None))
    axes.legend(frameon=False)
    figure.savefig(path, dpi=110)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("build", type=Path)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--set", default="x86-64-v4", help="the instruction set of bench_study")
    given = arguments.parse_args()
    programs = given.build / "benchmarks" / "lqcd"
    given.out.mkdir(parents=True, exist_ok=True)
    study = table([programs / f"bench_study-{given.set}"], given.out / "study.csv")
    ways(study, given.out / "ways.png")
    schedules(study, given.out / "schedules.png")
    table([programs / f"bench_forces-{given.set}"], given.out / "forces.csv")
    overlap(table(["mpirun", "-n", 2, programs / "bench_overlap"], given.out / "overlap.csv"),
            given.out / "overlap.png")
    table([programs / "bench_solvers"], given.out / "solvers.csv")


if __name__ == "__main__":
    main()
