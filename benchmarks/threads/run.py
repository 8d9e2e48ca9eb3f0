"""The thread back ends beside their peers, and the QMC solver over them: `python benchmarks/threads/run.py BUILD`.

BUILD is a CMake folder made with -DPLAQ_BENCHMARKS=ON; a peer that was not found there is left out, and said so. All
cases of a round run one after the other, and ratios are of medians over the rounds. Tables go to standard output as
Markdown, figures into docs/figures. What --traces recorded is for `plaq trace report FOLDER/fiber-split` (timeline,
idle rate and queue length) and `plaq trace profile` (top ten).
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
FIGURES = HERE.parent.parent / "docs" / "figures"
ENGINES = ["plaq_fiber", "plaq_os", "plaq_hpx", "hpx", "boost_fiber", "tbb", "std"]
SLOW = {"plaq_os": 0.02, "std": 0.02}  # a kernel thread per task: fewer tasks
CASES = {  # name of the case: what a number is
    "spawn_join": "spawn + join, batch of 1000",
    "future": "async(...).get()",
    "yield": "yield",
    "ping_pong": "mutex + condition variable, turn",
    "channel": "queue of one place, push + pop",
}
GRAINS = [0.2, 0.5, 1, 2, 3, 5, 10, 20]  # us
WORK = [2, 20, 200]  # us
TARGETS = [  # (case, workers, at most this part of HPX)
    ("spawn_join", 1, 0.5), ("spawn_join", 2, 0.5), ("yield", 1, 0.5), ("yield", 2, 0.5), ("ping_pong", 2, 0.3),
]


class Measured:
    """Medians over rounds of what the binaries print."""

    def __init__(self, build: Path):
        self.build, self.values = build, defaultdict(list)
        self.engines = [e for e in ENGINES if self.binary(e).exists()]
        for missing in sorted(set(ENGINES) - set(self.engines)):
            print(f"{missing} is left out: {self.binary(missing)} was not built")

    def binary(self, engine):
        return self.build / "benchmarks" / "threads" / f"threads_{engine}"

    def take(self, engine, case, workers, argument=0.0, scale=1.0):
        command = [self.binary(engine), case, str(workers), str(argument), str(scale)]
        try:
            ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:
            return
        if ran.returncode == 0:
            for line in ran.stdout.splitlines():
                name, value = line.split()
                self.values[engine, case, workers, argument, name].append(float(value))

    def __call__(self, engine, case, workers, argument, name):
        found = self.values.get((engine, case, workers, argument, name))
        return statistics.median(found) if found else None


def measure(build, rounds, scale):
    found = Measured(build)
    for _ in range(rounds):
        for workers in (1, 2):
            for case in CASES:
                for engine in found.engines:
                    found.take(engine, case, workers, 0.0, scale * SLOW.get(engine, 1.0))
        for us in WORK:
            for engine in found.engines:
                found.take(engine, "producers", 2, us, scale * 0.5)
        for us in GRAINS:
            for engine in found.engines:
                if engine != "std":
                    found.take(engine, "loop", 2, us, scale)
    for engine in found.engines:
        found.take(engine, "memory", 1, 3000 if engine in SLOW else 100_000)
    return found


def shown(value, form="{:.3g}"):
    return "–" if value is None else form.format(value)


def table(head, rows):
    print("\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def crossing(points, wanted):
    """The grain from which efficiency stays at or above `wanted`, interpolated in the grain; None if never."""
    grain = None
    for (low, e_low), (high, e_high) in zip(points, points[1:]):
        if e_low < wanted <= e_high:
            grain = low + (high - low) * (wanted - e_low) / (e_high - e_low)
        elif e_high < wanted:
            grain = None
    return points[0][0] if grain is None and min(e for _, e in points) >= wanted else grain


def micro(found):
    engines = found.engines
    print("\n## Small things, ns")
    table(["", "workers", *engines],
          [[text, str(w), *(shown(found(e, case, w, 0.0, "ns")) for e in engines)]
           for case, text in CASES.items() for w in (1, 2)])
    print("\n## Eight producers, eight consumers, two workers: time over ideal (voluntary context switches)")
    table(["work", *engines],
          [[f"{us} µs", *(f"{shown(found(e, 'producers', 2, us, 'over_ideal'))} "
                          f"({shown(found(e, 'producers', 2, us, 'switches'), '{:.0f}')})" for e in engines)]
           for us in WORK])
    print("\n## Efficiency of a loop of 1024 pieces on two workers")
    loops = [e for e in engines if found(e, "loop", 2, GRAINS[0], "efficiency")]
    table(["piece", *loops],
          [[f"{us} µs", *(shown(found(e, "loop", 2, us, "efficiency"), "{:.2f}") for e in loops)] for us in GRAINS])
    curves = {e: [(us, found(e, "loop", 2, us, "efficiency")) for us in GRAINS] for e in loops}
    table(["grain", *loops], [[f"{wanted:.0%}", *(shown(crossing(curves[e], wanted), "{:.2g} µs") for e in loops)]
                              for wanted in (0.5, 0.9)])
    print("\n## Memory per waiting task, bytes (100 000 tasks; a kernel thread per task: 3000)")
    table(engines, [[shown(next((v[0] for k, v in found.values.items() if k[:2] == (e, "memory")), None), "{:.0f}")
                     for e in engines]])
    targets(found, curves)
    return curves


def targets(found, curves):
    rows = []
    if "hpx" in found.engines:
        for case, workers, limit in TARGETS:
            ratio = found("plaq_fiber", case, workers, 0.0, "ns") / found("hpx", case, workers, 0.0, "ns")
            rows.append([f"{CASES[case]}, {workers} worker(s), over HPX's", f"{ratio:.2f}", f"≤ {limit}"])
    for us in WORK:
        rows.append([f"producers and consumers, {us} µs, over ideal",
                     shown(found("plaq_fiber", "producers", 2, us, "over_ideal"), "{:.2f}"), "≤ 1.1"])
    rows.append(["90 % efficient grain", shown(crossing(curves["plaq_fiber"], 0.9), "{:.2g} µs"), "≤ 3 µs"])
    print("\n## Targets of the back end fiber")
    table(["", "found", "wanted"], rows)


def figures(found, curves, study):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    FIGURES.mkdir(parents=True, exist_ok=True)
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    width = 0.8 / len(found.engines)
    for n, engine in enumerate(found.engines):
        bars = [(i, found(engine, case, 2, 0.0, "ns")) for i, case in enumerate(CASES)]
        axes[0].bar([i + n * width - 0.4 + width / 2 for i, v in bars if v], [v for _, v in bars if v], width,
                    label=engine)
    axes[0].set(yscale="log", ylabel="ns", title="two workers", xticks=range(len(CASES)),
                xticklabels=[c.replace("_", " ") for c in CASES])
    for engine, points in curves.items():
        axes[1].plot(*zip(*points), marker="o", color=f"C{found.engines.index(engine)}", label=engine)
    axes[1].axhline(0.9, color="0.6", lw=1, ls="--")
    axes[1].set(xscale="log", xlabel="work of a piece, µs", ylabel="efficiency", ylim=(0, 1.05),
                title="loop of 1024 pieces on two workers")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(found.engines))
    figure.savefig(FIGURES / "threads_micro.png", dpi=150)

    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    names = [f"{threads}\n{accumulate}" for threads, accumulate in study]
    walls = [[r["wall"] for r in runs] for runs in study.values()]
    axes[0].bar(names, [statistics.mean(w) for w in walls], yerr=[statistics.stdev(w) for w in walls], capsize=4)
    axes[0].set(ylabel="time to solution, s")
    for kind, shift in (("voluntary", -0.2), ("involuntary", 0.2)):
        counts = [statistics.mean(r[kind] for r in runs) for runs in study.values()]
        axes[1].bar([i + shift for i in range(len(names))], counts, 0.4, label=kind)
    axes[1].set(yscale="symlog", ylabel="context switches of the kernel", xticks=range(len(names)), xticklabels=names)
    axes[1].legend()
    figure.savefig(FIGURES / "threads_solver.png", dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=0.3, help="how many tasks, 1 takes about a second per case")
    parser.add_argument("--traces", type=Path, help="record the solver on each back end below this folder")
    given = parser.parse_args()
    sys.path[:0] = [str(HERE), str(HERE.parent / "dca")]
    from solver import compare

    found = measure(given.build, given.rounds, given.scale)
    curves = micro(found)
    study = compare(max(given.rounds, 2), table, given.traces)
    figures(found, curves, study)


if __name__ == "__main__":
    main()
