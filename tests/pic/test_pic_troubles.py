"""Failures of a plasma on ranks: a run killed repeatedly ends bitwise identical on any number of ranks; a rank without
memory ends the run with an error, and the checkpoint is whole.

The job is killed a few times here; PLAQ_TEST_KILLS=50 kills it more often.
"""

import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from processes import rank_process

from plaq import _core
from plaq.data import results_file
from plaq.files import checkpoint
from plaq.pic import Parameters
from plaq.pic.inputs.table import PROGRAM
from plaq.pic.results.results import FORMAT

pytestmark = pytest.mark.skipif(
    not _core.comm.mpiexec() or not sys.platform.startswith("linux"), reason="needs MPI, and /proc to find the ranks"
)
KILLS = int(os.environ.get("PLAQ_TEST_KILLS", "3"))
LIMIT = 300.0  # seconds
STEP = 0.1
INPUT = """
[grid]
cells = [32, 24]
length = [8, 6]
patches = [4, 3]
[boundaries]
x = ["conducting", "absorbing"]
particles_x = ["thermal", "absorbed"]
layer = 4
wall_temperature = 0.01
[time]
end = 10
step = 0.1
[species.electrons]
charge = -1
mass = 1
density = "0.1*(x < 4)"
per_cell = 9
temperature = 0.01
[emission.plate]
species = "electrons"
at = [4, 3]
normal = [1, 1]
half_width = 2
flux = 0.001
per_cell = 20000
drift = 0.5
[output]
pictures = 2
[probe.line]
field = "ey"
at = [3, 3]
along = "y"
[run]
balance_every = 7
workers = 1
checkpoint_every = 1e-9
"""


def start(folder, ranks, steps, *settings):
    (folder.parent / "input.toml").write_text(INPUT)
    command = [
        sys.executable,
        "-m",
        "plaq",
        "pic",
        "run",
        str(folder.parent / "input.toml"),
        "--out",
        str(folder),
        "-n",
        str(ranks),
    ]
    for one in (f"time.end={STEP * steps}", *settings):
        command += ["--set", one]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL
    )


def ended(job):
    """Return its output; the run has to end."""
    try:
        return job.communicate(timeout=LIMIT)[0]
    finally:
        job.kill()


def digest(folder):
    return results_file.digest_of(folder / "results.h5", FORMAT)


def whole(folder, ranks, steps, *settings):
    job = start(folder, ranks, steps, "run.checkpoint_every=1e9", *settings)
    said = ended(job)
    assert job.returncode == 0, said
    return digest(folder)


def generation(folder):
    try:
        return (folder / "checkpoint.h5").stat().st_ino
    except FileNotFoundError:
        return None


def until(what, job):
    deadline = time.monotonic() + LIMIT
    while not what() and job.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)


def process_of(rank, job):
    found = []
    until(lambda: found.append(rank_process(rank, job)) or found[-1], job)
    return found[-1]


def test_a_plasma_killed_repeatedly_ends_bitwise_identical(tmp_path):
    steps = 20 * (KILLS + 1)
    expected = whole(tmp_path / "whole", 1, steps)
    drawn, folder, killed, starts = random.Random(7), tmp_path / "killed", 0, 0
    fingerprint = Parameters.read(tmp_path / "input.toml", [f"time.end={STEP * steps}"]).binding()
    while killed < KILLS:
        before, ranks = generation(folder), drawn.randint(1, 3)
        job = start(folder, ranks, steps)
        starts += 1
        if drawn.random() < 0.8:  # it gets on by a checkpoint at least; else it is killed wherever it is
            until(lambda: generation(folder) != before, job)
        time.sleep(drawn.uniform(0, 0.3))
        pid = process_of(drawn.randrange(ranks), job)
        if pid and job.poll() is None:
            os.kill(pid, signal.SIGKILL)
            killed += 1
        said = ended(job)
        if job.returncode == 0:
            break
        assert "Traceback" not in said, said
        checkpoint.load(folder / "checkpoint.h5", PROGRAM, fingerprint)  # whole, if there is one
    print(f"killed {killed} times in {starts} starts")
    assert killed > 0
    assert whole(folder, 2, steps) == expected


def virtual_memory(pid):
    return int(re.search(r"VmSize:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())[1]) << 10


def test_a_rank_without_memory_is_named_and_the_checkpoint_is_whole(tmp_path):
    more = ("emission.plate.per_cell=3e6",)
    folder = tmp_path / "it"
    job = start(folder, 2, 60, *more)
    until(lambda: generation(folder), job)
    pid = process_of(1, job)
    room = virtual_memory(pid) + (4 << 20)
    resource.prlimit(pid, resource.RLIMIT_AS, (room, room))
    said = ended(job)
    # it ends in a step of a patch, which is named then, or between steps, where only the rank is known
    in_a_step = r"^plaq: error: rank 1: patches \(\d, \d, 0\), step \d+ '\w+': out of memory"
    between = r"^plaq: error on rank 1 of 2: out of memory"
    lines = re.findall(f"{in_a_step}|{between}", said, re.M)
    assert job.returncode == 1 and len(lines) == said.count("out of memory") == 1, said
    assert whole(folder, 1, 60, *more) == whole(tmp_path / "whole", 2, 60, *more)
