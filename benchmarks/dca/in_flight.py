"""Chains in progress at once, on two workers: `python in_flight.py [REPEATS]`.

16A, beta = 4, U = 6, n = 0.95, 16 chains of 4 bins, pairing and one general channel of G4 with 24 frequencies. All
chains at once (as without any limit), as many as the policy finds, and one. Each run is a process of its own, in
turn; peak memory is that of the process when the chains have ended, before their bins are collected.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from types import SimpleNamespace

CASES = ("4096", "auto", "1")


def one(in_flight):
    """Print wall seconds, peak memory in MB, the final limit, and a hash of the bits."""
    import hashlib

    from problems import Problem

    from plaq.comm import world
    from plaq.dca.lattice.symmetry import PointGroup
    from plaq.dca.physics.two_particle import pair_orbits
    from plaq.dca.solver import ctaux
    from plaq.dca.solver.chains import Chains, run_chains

    case = Problem([[4, 0], [0, 4]], 6.0, 4.0, 0.95)
    order = 1 + case.beta * case.U * case.cluster.size * case.density * (4 - case.density) / 16
    solver = SimpleNamespace(block_length="auto", measure_every=1, bins=64, chains=16, precision="double", seed=3)
    request = ctaux.SolverRequest(
        beta=case.beta, U=case.U, K=1.0, g0=case.g0, measurements=64 * 4, order=order, warm_up=20, point=0, iteration=0,
        window=24, pairing=True, orbit=pair_orbits(PointGroup(case.cluster)), channels=[("magnetic", 5, 0)])
    problem = ctaux.make_problem(case.cluster, case.mesh, request, solver)
    chains = Chains.fresh(world(), solver.chains, solver.bins)
    run = SimpleNamespace(threads="fiber", workers=2, bind="auto", device="none",
                          chains_in_flight=in_flight if in_flight == "auto" else int(in_flight))
    started = time.perf_counter()
    run_chains(problem, chains, run, world(), lambda *_: None)
    wall = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(wall, peak, chains.in_flight, hashlib.sha256(chains.bins.sums().tobytes()).hexdigest())


def main(repeats):
    found = {case: [] for case in CASES}
    for _ in range(repeats):
        for case in CASES:
            command = [sys.executable, __file__, "--one", case]
            shown = subprocess.run(command, capture_output=True, text=True, check=True)
            found[case].append(shown.stdout.split())
    print("| chains in flight at most | time, s | peak memory, MB | final limit |")
    print("|---|---|---|---|")
    for case, rows in found.items():
        walls, peaks = ([float(row[k]) for row in rows] for k in (0, 1))
        spread = statistics.stdev(walls) if len(walls) > 1 else 0.0
        print(f"| {'all 16' if case == '4096' else case} | {statistics.median(walls):.2f} ± {spread:.2f} | "
              f"{statistics.median(peaks):.0f} | {', '.join(row[2] for row in rows)} |")
    print("same bits" if len({row[3] for rows in found.values() for row in rows}) == 1 else "BITS DIFFER")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
