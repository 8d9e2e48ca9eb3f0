"""A step of conjugate gradient on many ranks, by simulated messages: `python scaling.py T X Y Z [options]`.

A step on even-odd M^+ M applies the hopping matrix four times to half the sites and sums twice over all ranks.
Sites take what they take on a core (--ns-per-site, of a step); messages have LogGP's costs on a machine of `plaq comm
simulate`: of the ranks in a unit (a core, a node, what hangs on a switch) all that leaves it goes through its port
one after the other. Half spinors travel while the sites inside are worked on, as in `hopping.cpp`; sums are the
schedules of `plaq.comm` themselves, simulated.
"""

from __future__ import annotations

import argparse
import math

import numpy as np

from plaq import _core
from plaq.comm.model import MACHINES, compare, machine

HALF_SPINOR = 12 * 8  # bytes
SUM = 8 * 69  # bytes of an exact sum


def halo(grid: list[int], box: list[int], levels: list[dict], overhead: float, site: int = HALF_SPINOR) -> float:
    """Seconds for ``site`` bytes, those of half spinors, of each site of one parity on the faces, all ranks at once."""
    ranks = math.prod(grid)
    place = np.indices(grid).reshape(4, -1)
    messages, ports, latency = 0, [], 0.0
    for i, level in enumerate(levels):
        unit = levels[i - 1]["ranks"] if i else 1
        leaving = np.zeros(-(-ranks // unit))
        for mu in (mu for mu in range(4) if grid[mu] > 1):
            for step in (1, -1):
                moved = place.copy()
                moved[mu] = (moved[mu] + step) % grid[mu]
                out = np.ravel_multi_index(moved, grid) // unit != np.arange(ranks) // unit
                size = site * math.prod(box) / box[mu] / 2
                np.add.at(leaving, np.arange(ranks)[out] // unit, size)
                messages += out.any() and i == 0
        if leaving.any():
            ports.append(leaving.max() * level["per_byte"])
            latency = level["latency"]
    return 2 * overhead * messages + latency + max(ports, default=0.0)


def step(extents: list[int], ranks: int, ns: float, name: str) -> tuple[list[int], float, float, float]:
    """(grid, seconds of a step, of its sums, of its halos)."""
    grid = _core.lqcd.choose_grid(ranks, extents)
    box = [n // g for n, g in zip(extents, grid)]
    inside = math.prod(max(0, n - 2) if g > 1 else n for n, g in zip(box, grid))
    site = ns * 1e-9 / 4
    wait = halo(grid, box, MACHINES[name]["levels"], MACHINES[name]["overhead"]) if ranks > 1 else 0.0
    hop = max(site * inside, wait) + site * (math.prod(box) - inside)
    sums = 2 * compare(machine(name), "all_reduce", ranks, SUM)[0][1] if ranks > 1 else 0.0
    return grid, 4 * hop + sums, sums, 4 * wait


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("extents", type=int, nargs=4, help="of the lattice; with --weak of a rank's box")
    parser.add_argument("--weak", action="store_true")
    parser.add_argument("--ns-per-site", type=float, required=True, help="of a step on one core")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4, 8, 64, 512, 1024, 4096])
    parser.add_argument("--machine", choices=MACHINES, default="infiniband")
    given = parser.parse_args()
    print("ranks,grid,box,step in ms,sums in ms,halos in ms,efficiency")
    for ranks in given.ranks:
        extents = list(given.extents)
        if given.weak:
            for _ in range(ranks.bit_length() - 1):  # the shortest direction is doubled
                extents[extents.index(min(extents))] *= 2
        grid, seconds, sums, halos = step(extents, ranks, given.ns_per_site, given.machine)
        alone = given.ns_per_site * 1e-9 * math.prod(extents) / ranks
        box = " x ".join(str(n // g) for n, g in zip(extents, grid))
        print(f"{ranks},{' x '.join(map(str, grid))},{box},{1e3 * seconds:.3f},{1e3 * sums:.3f},{1e3 * halos:.3f},"
              f"{alone / seconds:.2f}")


if __name__ == "__main__":
    main()
