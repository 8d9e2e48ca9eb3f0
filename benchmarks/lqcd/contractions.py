"""Contractions beside solves: `python contractions.py [T X Y Z]`, processor time of one worker.

A point propagator of Wilson quarks on a quenched field of beta = 6, kappa = 0.15, residual 1e-8; mesons of the 16 gamma
matrices with eight momenta. Medians of five rounds.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

from plaq import lqcd
from plaq.lqcd.fields import gamma
from plaq.lqcd.measurements.mesons import meson_correlators

MOMENTA = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 1, 1)]


def median(rounds: int, call: Callable[[], object]) -> float:
    """Return the median seconds of the processor of some calls."""
    seconds = []
    for _ in range(rounds):
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    return statistics.median(seconds)


def main() -> None:
    gauge = lqcd.GaugeField(lqcd.Lattice([int(n) for n in sys.argv[1:]] or [16, 8, 8, 8])).hot(1)
    for sweep in range(30):
        gauge.heat_bath(6.0, 1, sweep)
        gauge.over_relax()
    matrix = lqcd.Wilson(gauge, 0.15, theta=(1, 0, 0, 0))
    solve = lambda: lqcd.point_propagator(matrix, (0, 0, 0, 0), 1e-8)
    propagator = solve()
    pairs = [(name, name) for name in gamma.STRUCTURES]
    solves = median(5, solve)
    mesons = median(5, lambda: meson_correlators(propagator, pairs, momenta=MOMENTA))
    print("part,seconds,share of the solves")
    print(f"twelve solves,{solves:.4f},")
    print(f"{len(pairs)} structures and {len(MOMENTA)} momenta,{mesons:.4f},{mesons / solves:.3f}")


if __name__ == "__main__":
    main()
