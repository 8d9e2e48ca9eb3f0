"""One plasma in several ways, with tables and a picture: `python study.py OUT [--case uniform plate weak sleep scale]`.

Builds `bench_ways` in the build of `make demo`, or in `--build`. uniform: cost of 1 to 128 patches of one rank. plate:
patches a rank that are best, on 2 ranks. weak: the plate on 2, 4, 8 ranks, 16 patches of 256 cells each. sleep: such
with patches that sleep. scale: recorded loads on 4 to 10^4 ranks, see scale.py. A machine may have fewer cores than
ranks, so times are of processors: of the busiest rank in each step, summed. Each case that has been run has CASE.csv in
OUT; table.md and study.png have all of them.
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
import scale

ROOT = Path(__file__).parents[2]
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
EVERY = 10  # steps between balancings
OF_STEP = ("elapsed", "processor", "busiest", "particles", "fields", "hand-off")  # milliseconds
NUMBERS = (*OF_STEP, "before", "balancing", "number", "energy")
KEYS = ("way", "case", "nx", "ny", "ranks", "patches", "every")
COLUMNS = (*KEYS, *NUMBERS)
ZOLTAN = ("rcb", "hsfc", "phg")
PATCHES = (1, 2, 4, 8, 16, 32, 64, 128)
WEAK = {2: (128, 64), 4: (128, 128), 8: (256, 128)}  # cells, in 16 patches of 256 a rank
NAMES = {"mpi": "MPI, patches stay", "beside": "particles in a collection", "whole": "all in a collection",
         "rcb": "Zoltan RCB, bulk-synchronous", "hsfc": "Zoltan HSFC", "phg": "Zoltan PHG"}


def build(folder: Path) -> Path:
    """Return the program, built for the best instruction set of this machine. The options of the build stay."""
    if not (folder / "CMakeCache.txt").exists():
        raise SystemExit(f"{folder}: there is no build; `make demo` makes one")
    run = lambda *words: subprocess.run(["cmake", *map(str, words)], check=True, stdout=subprocess.DEVNULL)
    run("-S", ROOT, "-B", folder, "-DPLAQ_BENCHMARKS=ON")
    try:
        targets = subprocess.run(["cmake", "--build", folder, "--target", "help"], check=True, text=True,
                                 stdout=subprocess.PIPE).stdout
        programs = [line.split(":")[0] for line in targets.splitlines() if line.startswith("bench_ways-")]
        if not programs:
            raise SystemExit("bench_ways needs the headers of an MPI, which CMake did not find: libopenmpi-dev")
        run("--build", folder, "--target", programs[-1])
    finally:
        run("-S", ROOT, "-B", folder, "-DPLAQ_BENCHMARKS=OFF")
    return folder / "benchmarks/pic" / programs[-1]


def runs(case: str) -> list[tuple]:
    """(way, cells, ranks, patches a rank, steps, steps between balancings) of each."""
    if case == "uniform":
        return [(way, (256, 128), 1, n, 20, 0) for n in PATCHES for way in ("mpi", "beside", "whole")]
    if case == "plate":
        moving = [(way, n) for n in PATCHES[2:-1:2] for way in ("rcb", "beside", "whole")]
        staying = [("mpi", 1), *(("whole", n) for n in PATCHES[:-1:2]), ("beside", 16)]
        return [(way, (256, 128), 2, n, 600, EVERY) for way, n in moving] + [
            (way, (256, 128), 2, n, 600, 0) for way, n in staying]
    ways = [("mpi", 1, 0), *((way, 16, EVERY) for way in (*ZOLTAN, "whole"))]
    if case == "weak":
        return [(way, cells, ranks, n, 300 * cells[0] // 128, every)
                for ranks, cells in WEAK.items() for way, n, every in [*ways, ("beside", 16, EVERY)]]
    return [(way, cells, ranks, 16 if way == "mpi" else n, 60, every)
            for ranks, cells in WEAK.items() for way, n, every in ways]


def has_zoltan(folder: Path) -> bool:
    cache = (folder / "CMakeCache.txt").read_text()
    return not any(line.startswith("ZOLTAN_") and line.endswith("-NOTFOUND") for line in cache.splitlines())


def measure(program: Path, case: str, repeats: int, zoltan: bool) -> list[dict]:
    """Return the medians of runs that take turns."""
    of_case = {"weak": "plate", "sleep": "plume"}.get(case, case)
    found: dict[tuple, list[dict]] = {}
    for _ in range(repeats):
        for way, (nx, ny), ranks, patches, steps, every in runs(case):
            if way in ZOLTAN and not zoltan:
                continue
            command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", ranks, program, way, of_case, nx, ny,
                       patches, steps, every]
            said = subprocess.run([str(c) for c in command], check=True, stdout=subprocess.PIPE, text=True,
                                  env=os.environ | OPEN_MPI | {
                                      "PLAQ_EXPECTED_RANKS": str(ranks),  # the workers of a collection yield themselves
                                      "OMPI_MCA_mpi_yield_when_idle": str(int(way in ("mpi", *ZOLTAN)))}).stdout
            row = dict(zip(COLUMNS, said.strip().split(",")))
            found.setdefault(tuple(row[key] for key in KEYS), []).append(row)
    rows = [{**many[0], **{key: statistics.median(float(one[key]) for one in many) for key in NUMBERS}}
            for many in found.values()]
    for key in ("number", "energy"):  # it is one and the same plasma
        for box in {(row["nx"], row["ny"]) for row in rows}:
            alike = [row[key] for row in rows if (row["nx"], row["ny"]) == box]
            if max(alike) - min(alike) > 1e-9 * abs(alike[0]):
                raise SystemExit(f"{case}: the ways differ in their {key}")
    return rows


def optimum(rows: list[dict], ranks: int) -> float:
    """Return the mean over the ranks of a step of the program whose patches stay."""
    stays = next(row for row in rows if row["way"] == "mpi" and int(row["ranks"]) == ranks)
    return float(stays["particles"]) + float(stays["fields"])


def table(case: str, rows: list[dict]) -> str:
    """Return milliseconds of a step, and the imbalance before the last balancing."""
    lines = [f"{case}\n", f"| way | ranks | patches a rank | moves | {' | '.join(OF_STEP)} | I before | a balancing |",
             "|" + "---|" * 12]
    for row in rows:
        moves = int(row["every"]) > 0
        lines.append("| " + " | ".join([
            row["way"], row["ranks"], row["patches"], "yes" if moves else "no",
            *(f"{float(row[key]):.2f}" for key in OF_STEP), f"{float(row['before']):.2f}" if moves else "",
            f"{float(row['balancing']):.2f}" if row["way"] in ZOLTAN else ""]) + " |")
    if case == "weak":
        lines.append("\noptimum: " + ", ".join(f"{n} ranks {optimum(rows, n):.2f}" for n in WEAK))
    return "\n".join(lines) + "\n"


def curve(panel, rows: list[dict], x: str, y: str, over: float = 1, **style) -> None:
    rows = sorted(rows, key=lambda row: int(row[x]))
    panel.plot([int(row[x]) for row in rows], [float(row[y]) / over for row in rows], marker=".", **style)


def draw_uniform(panel, rows: list[dict]) -> None:
    base = next(float(row["processor"]) for row in rows if row["way"] == "mpi" and row["patches"] == "1")
    for k, way in enumerate(("mpi", "beside", "whole")):
        curve(panel, [row for row in rows if row["way"] == way], "patches", "processor", base, color=f"C{k}",
              label=NAMES[way].replace(", patches stay", ""))
    panel.axhline(1.1, color="grey", ls=":", lw=1)
    panel.set(title="uniform: cost of over-decomposition", xlabel="patches of a rank", ylabel="step / one patch, MPI")


def draw_plate(panel, rows: list[dict]) -> None:
    for k, way in enumerate(("rcb", "beside", "whole")):
        curve(panel, [row for row in rows if row["way"] == way and int(row["every"])], "patches", "busiest",
              color=f"C{k}", label=NAMES[way])
    curve(panel, [row for row in rows if row["way"] == "whole" and not int(row["every"])], "patches", "busiest",
          color="C2", ls="--", label="the same, patches stay")
    panel.axhline(next(float(row["busiest"]) for row in rows if row["way"] == "mpi"), color="C3", label=NAMES["mpi"])
    panel.axhline(optimum(rows, 2), color="k", ls=":", label="optimum")
    panel.set(title="plate on 2 ranks: the best factor", xlabel="patches a rank", ylabel="ms of the busiest rank")


def draw_parts(panel, rows: list[dict]) -> None:
    """The parts of a step of the plate, the mean of the ranks, and what the busiest one has above it."""
    of = lambda way, n, moves: next(row for row in rows if (row["way"], row["patches"]) == (way, str(n))
                                    and (int(row["every"]) > 0) == moves)
    bars = {"MPI\nstays": of("mpi", 1, False), "beside\nstays": of("beside", 16, False),
            "beside\nmoves": of("beside", 16, True), "whole\nstays": of("whole", 16, False),
            "whole\nmoves": of("whole", 16, True)}
    for k, (name, row) in enumerate(bars.items()):
        bottom = 0.0
        parts = {part: float(row[part]) for part in ("particles", "fields", "hand-off")}
        parts["imbalance"] = float(row["busiest"]) - sum(parts.values())
        for c, (part, ms) in enumerate(parts.items()):
            panel.bar(name, ms, bottom=bottom, color=f"C{c}" if part != "imbalance" else "lightgrey",
                      label=part if k == 0 else None)
            bottom += ms
    panel.axhline(optimum(rows, 2), color="k", ls=":", label="optimum")
    panel.margins(y=0.4)  # for the legend
    panel.set(title="plate on 2 ranks: parts of a step", ylabel="ms")


def draw_weak(panel, rows: list[dict], y: str, best: dict[int, float], title: str) -> None:
    for k, (way, moves) in enumerate((("mpi", False), ("rcb", True), ("phg", True), ("whole", True))):
        curve(panel, [row for row in rows if row["way"] == way and (int(row["every"]) > 0) == moves], "ranks", y,
              color=f"C{k}", label=NAMES[way])
    panel.plot(list(best), list(best.values()), "k:", label="optimum")
    panel.set(title=title, xlabel="ranks", ylabel="ms of a step")


def draw(found: dict[str, list[dict]], path: Path) -> None:
    panels = {"uniform": [draw_uniform], "plate": [draw_plate, draw_parts],
              "weak": [lambda panel, rows: draw_weak(panel, rows, "busiest", {n: optimum(rows, n) for n in WEAK},
                                                     "weak scaling: busiest rank")],
              "sleep": [lambda panel, rows: draw_weak(panel, rows, "elapsed", dict.fromkeys(WEAK, 10.0),
                                                      "weak scaling: patches that sleep")],
              "scale": [scale.draw]}
    todo = [(one, rows) for case, rows in found.items() for one in panels[case]]
    figure, axes = plt.subplots(-(-len(todo) // 3), min(3, len(todo)), layout="constrained", squeeze=False,
                                figsize=(4.4 * min(3, len(todo)), 3.6 * -(-len(todo) // 3)))
    for panel in axes.flat[len(todo):]:
        panel.set_axis_off()
    for panel, (one, rows) in zip(axes.flat, todo):
        one(panel, rows)
        if one is not draw_parts:
            panel.set_xscale("log", base=10 if one is scale.draw else 2)
        if one is not draw_uniform:
            panel.set_ylim(0, None)
        panel.legend(frameon=False, fontsize=7)
    figure.savefig(path, dpi=110)


CASES = ("uniform", "plate", "weak", "sleep", "scale")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--case", nargs="+", choices=CASES, default=CASES)
    arguments.add_argument("--repeats", type=int, default=3)
    arguments.add_argument("--build", type=Path, default=ROOT / "build")
    given = arguments.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if set(given.case) - {"scale"}:
        program, zoltan = build(given.build), has_zoltan(given.build)
        if not zoltan:
            print("Zoltan's programs are left out: it was not found, Debian's libtrilinos-zoltan-dev")
    for case in given.case:
        rows = scale.measure(given.out) if case == "scale" else measure(program, case, given.repeats, zoltan)
        with (given.out / f"{case}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    found = {case: list(csv.DictReader((given.out / f"{case}.csv").open()))
             for case in CASES if (given.out / f"{case}.csv").exists()}
    (given.out / "table.md").write_text("\n".join(
        (scale.table if case == "scale" else lambda rows, case=case: table(case, rows))(rows)
        for case, rows in found.items()))
    draw(found, given.out / "study.png")


if __name__ == "__main__":
    main()
