"""Which arity wins where, simulated: `python benchmarks/comm/arity.py TABLE.csv [--most RANKS]`.

Trees of several arities and the flat one on the built-in machine `infiniband` (nodes of 16 ranks), up to 10^5 ranks;
broadcast and long reductions in segments of 128 KiB. Simulates what TABLE.csv does not hold yet, then draws
docs/figures/collectives_arity.png.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

from plaq import _core
from plaq.comm.model import machine

FIGURES = Path(__file__).resolve().parent.parent.parent / "docs" / "figures"
RANKS = [16, 64, 256, 1024, 4096, 16384, 100000]
ARITIES = [2, 4, 8, 16]
FLAT_UP_TO = 4096
CASES = [("reduce", 4), ("reduce", 1 << 20), ("scatter", 4), ("scatter", 1 << 20)]


def simulate(table: Path, most: int) -> None:
    on = machine("infiniband")
    have = {tuple(row) for row in ((r["operation"], r["bytes"], r["ranks"], r["arity"]) for r in read(table))}
    with table.open("a") as out:
        if not have:
            print("operation,bytes,ranks,arity,seconds", file=out)
        for ranks in (n for n in RANKS if n <= most):
            for operation, nbytes in CASES:
                for arity in ARITIES + ["flat"] * (ranks <= FLAT_UP_TO):
                    if (operation, str(nbytes), str(ranks), str(arity)) in have:
                        continue
                    segment = 128 << 10 if operation == "reduce" and nbytes > 128 << 10 and arity != "flat" else 0
                    by = _core.comm.Method("tree", ranks if arity == "flat" else arity, segment)
                    seconds = _core.comm.simulate(operation, nbytes, by, on, ranks).seconds
                    print(operation, nbytes, ranks, arity, f"{seconds:.4g}", sep=",", file=out, flush=True)


def read(table: Path) -> list[dict[str, str]]:
    if not table.exists():
        return []
    with table.open() as lines:
        return list(csv.DictReader(lines))


def draw(rows: list[dict[str, str]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(CASES), figsize=(13, 3.6), layout="constrained")
    for axis, (operation, nbytes) in zip(axes, CASES):
        for i, arity in enumerate(ARITIES + ["flat"]):
            of = [r for r in rows if (r["operation"], r["bytes"], r["arity"]) == (operation, str(nbytes), str(arity))]
            points = sorted((int(r["ranks"]), 1e6 * float(r["seconds"])) for r in of)
            axis.plot(*zip(*points), marker="o", ms=3, color="0.6" if arity == "flat" else f"C{i}", label=arity)
        axis.set(xscale="log", yscale="log", xlabel="ranks", ylabel="µs",
                 title=f"{operation}, {'4 B' if nbytes == 4 else '1 MiB'}")
        axis.grid(alpha=0.3)
    axes[0].legend(title="arity")
    figure.savefig(FIGURES / "collectives_arity.png", dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("--most", type=int, default=max(RANKS))
    told = parser.parse_args()
    simulate(told.table, told.most)
    draw(read(told.table))


if __name__ == "__main__":
    main()
