"""The plate with patches that move and with patches that stay: `python plate.py OUT [--case ranks scale]`.

ranks: examples/plate on 2, 4 and 8 ranks of one worker, patches of 4 x 4 cells; the same digest, or it ends with an
error. scale: one rank records the loads of a large plate, which are replayed on 64 to 10^5 ranks. OUT gets the runs
and CASE.md.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from plaq import pic
from plaq.balance import loads, read
from plaq.balance.replay import replay
from plaq.comm.launch import launcher_command
from plaq.data.results_file import digest_of
from plaq.pic.results.results import FORMAT

EXAMPLE = Path(__file__).parents[2] / "examples/plate/input.toml"
EVERY = 20  # steps between two balancings
BALANCERS = ("hilbert_cut", "hilbert_refine", "greedy_refine", "refine")


def plaq_pic(folder: Path, ranks: int, source: Path, **settings) -> pic.Results:
    """A run from the beginning, with its loads in `loads_00000000.jsonl`."""
    subprocess.run(["rm", "-rf", folder], check=True)
    values = {
        "run.folder": json.dumps(str(folder)),
        "run.workers": 1,
        "run.threads": '"fiber"',
        "run.record_loads": "true",
        "run.checkpoint_every": 1e9,
        "output.pictures": 0,
        **settings,
    }
    command = [*launcher_command(ranks), sys.executable, "-m", "plaq", "pic", "run", source]
    for key, value in values.items():
        command += ["--set", f"{key}={value}"]
    subprocess.run(
        [str(c) for c in command],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "PLAQ_EXPECTED_RANKS": str(ranks), "PLAQ_TERMINAL": ""},
    )
    return pic.load(folder)


def by_rank(phase: loads.Phase, ranks: int) -> np.ndarray:
    return np.bincount(phase.rank_of, phase.loads, ranks)


def measured(folder: Path, ranks: int, results: pic.Results) -> dict[str, float]:
    """Seconds of the steps; of the busiest rank of each phase, of the mean rank; I measured, predicted, at least."""
    phases = [by_rank(phase, ranks) for phase in read(folder / "loads_00000000.jsonl").phases]
    moves = results.history["moves"]
    return {
        "wall": results.seconds["steps"],
        "balance": results.seconds["balance"],
        "busiest": sum(phase.max() for phase in phases),
        "mean": sum(phase.mean() for phase in phases),
        "first": moves[0]["before"],
        "predicted": statistics.mean(m["predicted"] for m in moves[:-1]),
        "observed": statistics.mean(m["before"] for m in moves[1:]),
        "floor": statistics.mean(m["floor"] for m in moves[:-1]),
        "moved": sum(m["moved"] for m in moves),
    }


def of_ranks(out: Path, repeats: int) -> str:
    head = (
        "ranks",
        "patches",
        "steps, s",
        "balancing, s",
        "busiest rank, s",
        "mean, s",
        "I at first",
        "predicted",
        "observed",
        "floor",
        "moves",
    )
    lines, digests = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)], set()
    found: dict[tuple, list[dict]] = {}
    for _ in range(repeats):
        for ranks in (2, 4, 8):
            for by in ("none", "hilbert_refine"):
                folder = out / f"{ranks}_{by}"
                results = plaq_pic(
                    folder,
                    ranks,
                    EXAMPLE,
                    **{"grid.patches": "[24, 24]", "run.balance_every": EVERY, "run.balance_by": json.dumps(by)},
                )
                digests.add(digest_of(folder / "results.h5", FORMAT))
                found.setdefault((ranks, by), []).append(measured(folder, ranks, results))
    if len(digests) != 1:
        raise SystemExit(f"results of the plate are not bitwise identical: {digests}")
    for (ranks, by), many in found.items():
        one = {key: statistics.median(m[key] for m in many) for key in many[0]}
        words = [
            ranks,
            "stay" if by == "none" else "move",
            *(f"{one[key]:.2f}" for key in ("wall", "balance", "busiest", "mean")),
            *(f"{one[key]:.3f}" for key in ("first", "predicted", "observed", "floor")),
            f"{one['moved']:.0f}",
        ]
        lines.append("| " + " | ".join(map(str, words)) + " |")
    return "\n".join(lines) + "\n"


def record_large(out: Path, patches: int, steps: int, per_cell: int = 450) -> loads.Loads:
    """Return recorded loads of a plate on patches x patches patches, of three cells in each direction.

    A beam comes from a plate of four fifths of the side, too thin to repel itself, as it is when it has come through an
    eighth of the box.
    """
    length = 3 * patches * 0.25
    flux, drift, beam = (
        1e-4,
        1.0,
        f"if(x < {length / 8} and abs(y - {length / 2}) < {0.4 * length}, n, 0)",
    )
    density = flux / (drift / math.hypot(1, drift))
    source = out / "large.toml"
    source.write_text(f"""
[constants]
n = {density}
[grid]
cells = [{3 * patches}, {3 * patches}]
length = [{length}, {length}]
patches = [{patches}, {patches}]
[boundaries]
x = "conducting"
y = "conducting"
[time]
step = 0.16
end = {0.16 * steps}
[solver]
precision = "single"
[species.electrons]
charge = -1
mass = 1
density = "{beam}"
per_cell = {per_cell}
drift = [{drift}, 0, 0]
temperature = 0.01
[emission.plate]
species = "electrons"
at = [0, {length / 2}]
normal = [1, 0]
half_width = {0.4 * length}
flux = {flux}
per_cell = {per_cell / density}
drift = {drift}
temperature = 0.01
[output]
gauss = false
""")
    folder = out / "scale"
    plaq_pic(folder, 1, source, **{"run.balance_every": steps // 5, "run.workers": 2})
    return read(folder / "loads_00000000.jsonl")


def median_loads(recorded: loads.Loads) -> np.ndarray:
    """Return the median of each patch's loads.

    What one in a hundred has above the others is cut: a machine that takes memory back costs some patches a hundred
    times the mean, and no rank has so much of it.
    """
    found = np.median([phase.loads for phase in recorded.phases], axis=0)
    return np.minimum(found, np.quantile(found, 0.99))


def replayed(recorded: loads.Loads) -> str:
    """Return a table of what balancers make of the median loads."""
    last = recorded.phases[-1]
    steady = median_loads(recorded)
    one = replace(recorded, phases=[replace(last, loads=steady)])
    lines = [
        "| ranks | balancer | I before | predicted | floor | patches moved | sent between ranks | balancer, s |",
        "|" + "---|" * 8,
    ]
    for ranks in (64, 1024, 16384, 100000):
        for by in BALANCERS:
            row = replay(one, by, ranks).rows[0]
            lines.append(
                f"| {ranks} | `{by}` | {row.before:.2f} | {row.predicted:.3f} | {row.floor:.3f} "
                f"| {100 * row.moved:.0f} % | {100 * row.cut:.0f} % | {row.seconds:.3f} |"
            )
    lines.append(
        f"\n{len(steady)} patches, {np.count_nonzero(steady > 2 * np.median(steady))} have twice the median load; "
        f"the largest is {steady.max() / steady.mean():.3g} times the mean."
    )
    return "\n".join(lines) + "\n"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--case", nargs="+", choices=("ranks", "scale"), default=["ranks", "scale"])
    arguments.add_argument("--repeats", type=int, default=3)
    arguments.add_argument("--patches", type=int, default=384, help="of scale, in each direction")
    arguments.add_argument("--steps", type=int, default=12, help="of scale")
    given = arguments.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for case in given.case:
        table = (
            of_ranks(given.out, given.repeats)
            if case == "ranks"
            else replayed(record_large(given.out, given.patches, given.steps))
        )
        (given.out / f"{case}.md").write_text(table)
        print(table)


if __name__ == "__main__":
    main()
