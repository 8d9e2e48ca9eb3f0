"""A cycle of multigrid on many ranks, by simulated messages: `python multigrid_scaling.py T X Y Z [options]`.

Counted as in `multigrid.cpp`, `coarse_level.cpp` and `gcr.hpp`: seven applications of the even-odd matrix on the
lattice, each of two hops; on a level below, steps of GCR, each of two hops with coarse vectors from all neighbours; on
a level between two others, a cycle in each of these steps. A smoothing step sums twice over all ranks, another step
three times. Machines, half spinors and sums are those of `scaling.py`. Coarse messages are not hidden.

A sum on 8192 ranks has up to 4e5 messages for each of ten algorithms. So sums of four lengths are simulated, and those
between are interpolated, since the costs of messages are linear in their bytes.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from scaling import SUM, halo

from plaq import _core
from plaq.comm.model import MACHINES, compare, machine

SMOOTHING = 6


@dataclass
class Times:
    """Seconds of a cycle by part."""

    parts: dict[str, float] = field(default_factory=lambda: dict.fromkeys(("fine", "coarse", "halos", "sums"), 0.0))

    def add(self, part: str, seconds: float) -> None:
        self.parts[part] += seconds


class Model:
    """Costs on one machine, for ranks with one core each."""

    def __init__(self, name: str, ranks: int, extents: list[int], boxes: list[list[int]], most_products: int):
        self.name, self.ranks, self.boxes, self.most_products = name, ranks, boxes, most_products
        self.grid = _core.lqcd.choose_grid(ranks, extents)
        self.locals = [[n // g for n, g in zip(extents, self.grid)]]
        for box in boxes:
            if any(n % b for n, b in zip(self.locals[-1], box)):
                raise ValueError(f"{' x '.join(map(str, self.locals[-1]))} sites of a rank, not whole aggregates")
            self.locals.append([n // b for n, b in zip(self.locals[-1], box)])

    @lru_cache  # noqa: B019
    def halo(self, level: int, site: int) -> float:
        costs = MACHINES[self.name]
        return halo(self.grid, self.locals[level], costs["levels"], costs["overhead"], site) if self.ranks > 1 else 0.0

    @lru_cache  # noqa: B019
    def simulated_sum(self, products: int) -> float:
        return compare(machine(self.name), "all_reduce", self.ranks, 2 * products * SUM)[0][1]

    def sums(self, products: int) -> float:
        """Seconds of one sum of so many scalar products."""
        if self.ranks == 1:
            return 0.0
        lengths = sorted({1, 2, 4, max(4, self.most_products)})
        return float(np.interp(products, lengths, [self.simulated_sum(one) for one in lengths]))


def cycle(model: Model, ns_hop: float, ns_coarse: float, vectors: int, steps: list[int]) -> dict[str, float]:
    """Return seconds of a cycle with these steps on each level below."""
    times = Times()

    def apply(level: int, count: float) -> None:
        sites = math.prod(model.locals[level]) / 2
        for _ in range(2):
            if level == 0:
                work, wait = ns_hop * 1e-9 * sites, model.halo(0, 48)
                inside = math.prod(max(0, n - 2) if g > 1 else n for n, g in zip(model.locals[0], model.grid))
                hidden = min(wait, work * inside / math.prod(model.locals[0]))
                times.add("fine", count * work)
                times.add("halos", count * (wait - hidden))
            else:
                times.add("coarse", count * ns_coarse * 1e-9 * sites)
                times.add("halos", count * model.halo(level, 16 * vectors))

    def orthogonalise(count: float, number: int, with_norm: bool) -> None:
        """Sums of ``number`` steps of GCR."""
        for k in range(number):
            seconds = (model.sums(k) if k else 0) + model.sums(2) + (model.sums(1) if with_norm else 0)
            times.add("sums", count * seconds)

    def smooth(level: int, count: float) -> None:
        apply(level, count * (1 + SMOOTHING))
        orthogonalise(count, SMOOTHING, False)

    smooth(0, 1)
    orthogonalise(1, 1, True)
    count = 1.0
    for level, number in enumerate(steps, 1):
        apply(level, count)  # of the source, and of even sites
        orthogonalise(count, number, True)
        count *= number
        if level < len(steps):
            smooth(level, count)
        else:
            apply(level, count)
    return times.parts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("extents", type=int, nargs=4)
    parser.add_argument("--box", type=int, nargs=4, action="append", required=True, help="of a level; once for each")
    parser.add_argument("--steps", type=int, nargs="+", required=True, help="of GCR on each level below, in a solve")
    parser.add_argument("--ns-per-hop", type=float, required=True, help="of a site, in single precision on one core")
    parser.add_argument("--ns-per-coarse-hop", type=float, required=True, help="of an aggregate")
    parser.add_argument("--vectors", type=int, default=16)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 16, 64, 512, 1024, 4096, 8192])
    parser.add_argument("--machine", choices=MACHINES, default="infiniband")
    given = parser.parse_args()
    print("ranks,box,cycle in ms,fine,coarse,halos,sums,efficiency")
    alone = None
    for ranks in given.ranks:
        try:
            model = Model(given.machine, ranks, given.extents, given.box, max(SMOOTHING, *given.steps) - 1)
        except ValueError as error:
            print(f"{ranks},{error}")
            continue
        parts = cycle(model, given.ns_per_hop, given.ns_per_coarse_hop, given.vectors, given.steps)
        seconds = sum(parts.values())
        alone = alone or seconds * ranks
        print(f"{ranks},{' x '.join(map(str, model.locals[0]))},{1e3 * seconds:.3f},"
              + ",".join(f"{1e3 * part:.3f}" for part in parts.values()) + f",{alone / seconds / ranks:.2f}")


if __name__ == "__main__":
    main()
