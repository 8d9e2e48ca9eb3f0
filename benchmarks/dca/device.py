"""Chains on a GPU beside one core of the same machine: `python device.py [GPU [chains]]`.

For the plaquette at T = 0.25 and 0.07, without and with the pairing function of 16 frequencies: sweeps with measurement
per second of all chains on the GPU (default: GPU 0, 2 chains for each of its multiprocessors) and of one chain on one
core. Runs of two lengths are subtracted, so that warm-up and the start of a run do not count.
"""

from __future__ import annotations

import statistics
import sys

from problems import Problem

from plaq._core.gpu import find_devices

REPEATS = 3
SHORT, LONG = 16, 80  # measurements of a chain


def rate(problem, order, chains, **options):
    """Measurements per second, and the largest drift of N."""
    rates = []
    for _ in range(REPEATS):
        short, long = (problem.run(order=order, measurements=chains * count, bins=chains, chains=chains, warm_up=20,
                                   **options) for count in (SHORT, LONG))
        rates.append((long.measurements - short.measurements) / (long.seconds - short.seconds))
    return statistics.median(rates), long


def main(gpu="0", chains=None):
    found = find_devices()
    if not found.gpus:
        sys.exit(f"no GPU: {found.why_none}")
    card = found.gpus[int(gpu)]
    chains = int(chains or 2 * card.multiprocessors)
    print(f"{card.name}, {chains} chains")
    for T in (0.25, 0.07):
        problem = Problem([[2, 0], [0, 2]], 6.0, 1 / T, 0.95)
        order = problem.converge(5, 2000)
        for window in (0, 16):
            core, _ = rate(problem, order, 1, window=window)
            device, run = rate(problem, order, chains, window=window, device=gpu, workers=2)
            print(f"T = {T}, <k> = {order:.0f}, {window:2} frequencies: {device:9.0f}/s on the GPU, {core:7.1f}/s on a "
                  f"core, ratio {device / core:6.1f}, drift {run.measured.drift:.1e}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
