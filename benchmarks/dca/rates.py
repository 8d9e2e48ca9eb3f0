"""Sweeps with measurement per second and core, and what threads do: `python rates.py`.

A sweep is <k> proposals; every sweep is measured (single-particle functions, correlations; with G4 where it says so).
To compare with another code in one run, give its command as arguments: it is run before and after, and its output
shown.
"""

from __future__ import annotations

import statistics
import subprocess
import sys

from problems import Problem

REPEATS = 5


def other(command):
    if command:
        subprocess.run(command, check=True)


def rate(problem, **options):
    """Median measurements per second of one worker."""
    return statistics.median(r.measurements / r.seconds for r in (problem.run(**options) for _ in range(REPEATS)))


def main():
    other(sys.argv[1:])
    plaquette = Problem([[2, 0], [0, 2]], 6.0, 1 / 0.07, 0.95)
    order = plaquette.converge(6, 3000)
    large = Problem([[4, 0], [0, 4]], 6.0, 10.0, 0.95)
    large_order = large.converge(4, 300)
    print(f"2x2, T = 0.07, U = 6, n = 0.95: <k> = {order:.0f}")
    start = plaquette.run(order=order, measurements=16).states
    for name, options in {"single-particle": {}, "with G4, 16 frequencies": {"window": 16},
                          "N in float": {"precision": "float"}}.items():
        value = rate(plaquette, order=order, measurements=1500, warm_up=0, start=start, **options)
        print(f"  {name:<26}{value:8.0f} measured sweeps/s and core")
    print(f"16A, beta = 10, U = 6, n = 0.95: <k> = {large_order:.0f}")
    start = large.run(order=large_order, measurements=4).states
    for name, options in {"single-particle": {}, "with G4, 16 frequencies": {"window": 16}}.items():
        value = rate(large, order=large_order, measurements=80, warm_up=0, start=start, **options)
        print(f"  {name:<26}{value:8.1f} measured sweeps/s and core")
    print("Threads, 2x2, 8 chains: wall seconds, median of", REPEATS, "interleaved")
    walls = {}
    for _ in range(REPEATS):
        for threads in ("os", "fiber"):
            for workers in (1, 2):
                found = plaquette.run(order=order, measurements=2048, bins=8, chains=8, warm_up=10, window=16,
                                      threads=threads, workers=workers)
                walls.setdefault((threads, workers), []).append(found.wall)
    for (threads, workers), values in walls.items():
        print(f"  {threads:<6} {workers} workers {statistics.median(values):7.2f} s")
    other(sys.argv[1:])


if __name__ == "__main__":
    main()
