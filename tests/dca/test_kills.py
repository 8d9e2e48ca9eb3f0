"""Ranks are killed at random moments: the job ends, the checkpoint is whole, and the run still ends with the same bits.

One run is killed here; PLAQ_KILLED_RUNS=17 makes it seventeen runs with three kills each.
"""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from processes import rank_process
from whole_runs import command, digest

from plaq import _core
from plaq.dca.parameters import PROGRAM, Parameters
from plaq.files import checkpoint

needs_mpi = pytest.mark.skipif(not _core.comm.mpiexec() or not sys.platform.startswith("linux"),
                               reason="needs MPI, and /proc to find the ranks")
RUNS = int(os.environ.get("PLAQ_KILLED_RUNS", "1"))
KILLS, RANKS = 3, 3
LIMIT = 60.0  # seconds: a job of which a rank was killed has to be over by then
INPUT = """
[model]
U = 4.0
[dca]
temperatures = [1.0, 0.5]
density = 0.95
iterations = 4
[solver]
measurements = 25600
measurements_first = 1280
chains = 128
warmup = 20
[two_particle]
below = 0.5
frequencies = 4
[run]
checkpoint_every = 0.2
workers = 1
"""


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """A folder with the input, the bits of its results, and how long it takes on several ranks."""
    home = tmp_path_factory.mktemp("kills")
    (home / "input.toml").write_text(INPUT)
    started = time.monotonic()
    done = subprocess.run(command(home / "whole", "-n", RANKS), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return home, digest(home / "whole"), time.monotonic() - started


def killed(home, folder, random, duration):
    """Start or go on, and kill a rank; whether the run was done before."""
    victim, moment = int(random.integers(RANKS)), random.uniform(0, duration)
    job = subprocess.Popen(command(folder, "-n", RANKS), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True)
    with job:
        time.sleep(moment)
        while job.poll() is None and (pid := rank_process(victim, job)) is None:
            time.sleep(0.01)
        if job.poll() is not None:
            assert job.returncode == 0, job.stdout.read()
            return True
        os.kill(pid, signal.SIGKILL)
        try:
            said, _ = job.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            job.kill()
            raise AssertionError(f"rank {victim} was killed after {moment:.2f} s, and the others go on") from None
    if job.returncode == 0:  # its work was done
        return True
    assert job.returncode == 1 and "plaq: error" in said, said
    return False


@needs_mpi
@pytest.mark.parametrize("seed", range(RUNS))
def test_killed_ranks_end_the_job_and_lose_no_bit(reference, seed):
    home, bits, duration = reference
    random = np.random.default_rng(seed)
    folder, fingerprint = home / f"killed{seed}", Parameters.read(home / "input.toml").fingerprint()
    for _ in range(KILLS):
        if killed(home, folder, random, duration):
            break
        checkpoint.load(folder / "checkpoint.h5", PROGRAM, fingerprint)  # whole, if there is one
    done = subprocess.run(command(folder, "-n", int(random.integers(1, 4))), capture_output=True, text=True,
                          timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert digest(folder) == bits
