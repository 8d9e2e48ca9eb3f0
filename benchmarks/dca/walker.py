"""Cost of a sweep against the expansion order, beside k^3 and beside dgemm's peak: `python walker.py [figure.png]`.

The peak is that of numpy's BLAS for large squares; the walker multiplies with src/plaq/linalg/gemm.cpp.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from problems import Problem
from threadpoolctl import threadpool_limits

BETAS = (5, 10, 20, 40, 80, 160, 330)


def dgemm_peak(size=1500, repeats=5):
    """Best rate of one core in flop/s for a square product."""
    a, b = np.random.default_rng(1).normal(size=(2, size, size))
    best = np.inf
    for _ in range(repeats):
        started = time.perf_counter()
        a @ b
        best = min(best, time.perf_counter() - started)
    return 2 * size**3 / best


def operations(order, block, acceptance):
    """Floating-point operations of the matrix products in one block of the walker, both spins; see docs/solver.md."""
    c = block / 2
    m = acceptance * block
    inserted = m / 2
    size = order + inserted
    one_spin = (2 * order**2 * c + 2 * c**2 * order  # N g, (x g)^T (N g)
                + 2 * order**2 * inserted + 2 * m**2 * size + 2 * size**2 * m)  # new rows, B^-1 N, update
    return 2 * one_spin


def main():
    rows = []
    with threadpool_limits(1):
        print(f"{'beta':>6} {'<k>':>7} {'block':>6} {'accept':>7} {'ms/sweep':>9} {'GFlop/s':>8} "
              f"{'dgemm':>7} {'share':>6}")
        for beta in BETAS:
            problem = Problem([[2, 0], [0, 2]], 6.0, beta, 1.0)
            warm = problem.run(measurements=4, bins=2, warm_up=8)
            found = problem.run(order=warm.order, measurements=max(8, int(4e4 / warm.order)), bins=2, warm_up=0,
                                start=warm.states)
            peak = dgemm_peak()
            sweep = found.walking / found.sweeps
            blocks = -(-found.proposals // found.block)
            rate = blocks * operations(found.order, found.proposals / blocks, found.acceptance) / sweep
            rows.append((found.order, sweep, rate * sweep / peak))
            print(f"{beta:6} {found.order:7.0f} {found.block:6} {found.acceptance:7.2f} {1e3 * sweep:9.3f} "
                  f"{rate / 1e9:8.1f} {peak / 1e9:7.1f} {rate / peak:6.0%}", flush=True)
    if len(sys.argv) > 1:
        draw(np.array(rows), sys.argv[1])


def draw(rows, path):
    import matplotlib.pyplot as plt

    k, seconds, at_peak = rows.T
    figure, axes = plt.subplots(figsize=(5, 3.6), layout="constrained")
    axes.loglog(k, 1e3 * seconds, "o-", label="walker")
    axes.loglog(k, 1e3 * at_peak, "s:", label="its products alone at dgemm's peak")
    axes.loglog(k, 1e3 * seconds[-1] * (k / k[-1]) ** 3, "--", color="0.4", label="$k^3$")
    axes.set(xlabel="expansion order k", ylabel="ms per sweep of k proposals, one core")
    axes.legend()
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
