"""What can happen to a job of collections: killed again and again it comes to the same bits on any number of ranks; a
rank without memory, and an element whose step throws, end it with a line, and the checkpoint is whole.

The job is killed a few times here; PLAQ_TEST_KILLS=50 kills it more often.
"""

import os
import random
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from plaq import _core

PROGRAM = Path(os.environ.get("PLAQ_BUILD", Path(__file__).parents[2] / "build")) / "tests/collection/collection_job"
pytestmark = pytest.mark.skipif(not PROGRAM.exists() or not _core.comm.mpiexec() or not Path("/proc/self").exists(),
                                reason="the C++ tests are not built, or there is no MPI or /proc")
KILLS = int(os.environ.get("PLAQ_TEST_KILLS", "3"))
ROUNDS = 4 * (KILLS + 1)
LIMIT = 300.0  # seconds
SETTINGS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
}


def start(folder, ranks, rounds, *trouble):
    command = [_core.comm.mpiexec(), "-n", ranks, PROGRAM, folder, rounds, *trouble]
    return subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env=os.environ | SETTINGS | {"PLAQ_EXPECTED_RANKS": str(ranks)}, start_new_session=True)


def ended(job):
    """What it said; it has ended, whoever of it is left."""
    try:
        return job.communicate(timeout=LIMIT)[0]
    finally:
        try:
            os.killpg(job.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def whole(folder, ranks, rounds):
    job = start(folder, ranks, rounds)
    said = ended(job)
    assert job.returncode == 0, said
    return (folder / "sum").read_text()


def ranks_of(job):
    """The processes of its ranks that run."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and os.getpgid(int(process.name)) != os.getpgrp():
                if os.readlink(process / "exe") == str(PROGRAM.resolve()) and os.getsid(int(process.name)) == job.pid:
                    found.append(int(process.name))
        except OSError:  # it has ended
            pass
    return found


def generation(folder):
    try:
        return (folder / "cells.checkpoint").stat().st_ino
    except FileNotFoundError:
        return None


def test_a_job_that_is_killed_again_and_again_comes_to_the_same_bits(tmp_path):
    expected = whole(tmp_path / "whole", 2, ROUNDS)
    drawn = random.Random(7)
    folder, killed, restarts = tmp_path / "killed", 0, 0
    while killed < KILLS:
        before = generation(folder)
        job = start(folder, drawn.randint(1, 4), ROUNDS)
        restarts += 1
        try:
            # It gets on by a checkpoint at least, so that it comes to an end.
            deadline = time.monotonic() + LIMIT
            while generation(folder) == before and job.poll() is None and time.monotonic() < deadline:
                time.sleep(0.002)
            time.sleep(drawn.uniform(0, 0.02))
            if victims := ranks_of(job):
                for victim in victims if drawn.random() < 0.3 else [drawn.choice(victims)]:
                    os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            pass
        said = ended(job)
        if job.returncode == 0:
            break
        assert "is damaged" not in said and "cannot be read" not in said, said
        killed += 1
    print(f"killed {killed} times in {restarts} starts")
    assert killed > 0
    assert whole(folder, 3, ROUNDS) == expected


@pytest.mark.parametrize("trouble, words", [
    ("memory", r"^rank 2: cells \(\d, \d\), step \d+ 'mix': out of memory"),
    ("throw", r"^rank \d: cells \(3, 1\), step 21 'mix': no luck"),
])
def test_who_fails_is_named_and_the_checkpoint_is_whole(tmp_path, trouble, words):
    job = start(tmp_path / "it", 3, 6, trouble)
    said = ended(job)
    assert job.returncode != 0
    assert len(re.findall(words, said, re.M)) == 1, said
    # It goes on from the last checkpoint, on another number of ranks.
    assert whole(tmp_path / "it", 2, 6) == whole(tmp_path / "whole", 1, 6)
