"""Memory of a rank with two-particle functions whole and distributed: high-water marks of a run on 1, 2 and 4 ranks.

    python benchmarks/dca/distributed_memory.py [frequencies]

One isolated cluster 8A, one magnetic channel, 64 bins. Numbers are the largest of all ranks, and the time of the
measurements and of the evaluation.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time

CHAINS = 4


def run(kind: str, frequencies: int) -> None:
    """On every rank of the job."""
    from plaq.comm import world
    from plaq.dca import Parameters
    from plaq.dca.application import Dca
    from plaq.run.driver import run_on
    from plaq.run.live import Log
    from plaq.run.stop import Stop

    p = Parameters(model={"U": 4, "cluster": [[2, 2], [2, -2]]},
                   dca={"temperatures": [0.5], "mu": 2.0, "isolated": True},
                   solver={"measurements": 128, "measurements_first": 64, "chains": CHAINS, "warmup": 20},
                   two_particle={"channels": ["magnetic"], "frequencies": frequencies},
                   run={"two_particle": kind, "workers": 1})
    comm = world()
    before, started = high_water(), time.perf_counter()
    folder = comm.bcast(tempfile.mkdtemp() if comm.rank == 0 else None)
    with Stop(None) as stop, open(os.devnull, "w") as nowhere:
        point = run_on(Dca, comm, p, folder, "benchmark", stop, lambda path: Log(path, nowhere)).points[0]
    peaks = comm.allgather((before, high_water()))
    if comm.rank == 0:
        shutil.rmtree(folder)
        seconds = point.seconds
        print(f"{comm.size:5d} {kind:>6} {max(b for b, _ in peaks):10.0f} {max(a for _, a in peaks):10.0f} "
              f"{seconds['walking'] + seconds['measuring']:10.1f} {seconds['analysis']:10.1f} "
              f"{time.perf_counter() - started:10.1f}")


def high_water() -> float:
    """Largest resident size of this process so far, MB."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1000


if __name__ == "__main__":
    if len(sys.argv) == 3:
        run(sys.argv[1], int(sys.argv[2]))
    else:
        from plaq.comm.launch import launcher_command

        frequencies = sys.argv[1] if len(sys.argv) > 1 else "24"
        print("ranks    kind   start MB    peak MB  measure s evaluate s     wall s", flush=True)
        for ranks in (1, 2, 4):
            for kind in ("local", "distributed") if ranks > 1 else ("local",):
                environment = {**os.environ, "PLAQ_EXPECTED_RANKS": str(ranks), "PLAQ_TERMINAL": "0"}
                subprocess.run([*launcher_command(ranks), sys.executable, __file__, kind, frequencies], check=True,
                               env=environment)
