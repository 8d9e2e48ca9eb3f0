"""Real runs on ranks of which one fails: all of its group say so, other groups go on, and nobody waits for ever."""

import os
import subprocess
import sys

import pytest

from plaq import _core
from plaq.comm.launch import launcher_command

pytestmark = pytest.mark.skipif(not _core.comm.mpiexec(), reason="built without MPI")
SMALL = """
[model]
U = 4.0
[dca]
temperatures = [1.0]
density = 0.95
iterations = 3
[solver]
measurements = 128
measurements_first = 64
chains = 4
bins = 64
warmup = 5
[run]
workers = 1
"""
SWEEP = SMALL + """
[sweep]
"model.U" = [3.0, 4.0]
"""
# A disk that is full for one rank alone.
FULL = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (6000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
"""
# A disk that is full when the checkpoint comes.
NO_CHECKPOINT = """
from plaq.files import checkpoint
def save(*_):
    raise OSError(28, "No space left on device", "checkpoint.h5")
checkpoint.save = save
"""
# An error in what all ranks do.
FAILS = """
from plaq.dca.loop import iteration
def self_energy(*_):
    raise {error}
iteration.self_energy = self_energy
"""


def job(folder, text, ranks, fault, victim):
    """`plaq dca run` on ranks, of which ``victim`` has executed ``fault`` first."""
    (folder / "input.toml").write_text(text)
    script = ("import sys\nfrom plaq.comm import world\n"
              f"if world().rank == {victim}:\n    exec(sys.argv.pop())\nelse:\n    sys.argv.pop()\n"
              "from plaq.main import main\nmain()")
    return subprocess.run([*launcher_command(ranks), sys.executable, "-c", script, "dca", "run", "input.toml", fault],
                          cwd=folder, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL,
                          env={**os.environ, "PLAQ_EXPECTED_RANKS": str(ranks), "PLAQ_TERMINAL": ""})


def errors(done):
    return [line for line in done.stderr.splitlines() if line.startswith("plaq: error")]


def test_a_full_disk_ends_a_run_on_all_ranks(tmp_path):
    done = job(tmp_path, SMALL, 3, FULL, 0)
    assert done.returncode == 1, done.stdout + done.stderr
    (said,) = errors(done)
    assert "no space left for it" in said and "on rank" not in said


@pytest.mark.parametrize("fault, victim, words", [
    (NO_CHECKPOINT, 0, "No space left on device"),
    (FAILS.format(error='MemoryError("40 GB")'), 1, "out of memory: 40 GB"),
])
def test_groups_of_a_sweep_without_an_error_continue(tmp_path, fault, victim, words):
    """Ranks 0 and 1 are one group, rank 2 the other."""
    done = job(tmp_path, SWEEP, 3, fault, victim)
    assert done.returncode == 1 and len(errors(done)) == 1, done.stdout + done.stderr
    assert "1 of 2 runs failed" in done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("U=")]
    assert sorted("failed" in line for line in lines) == [False, True]
    assert words in next(line for line in lines if "failed" in line)
    assert len((tmp_path / "run" / "sweep.csv").read_text().splitlines()) == 3


def test_an_error_that_the_others_cannot_know_ends_the_job_with_one_line(tmp_path):
    done = job(tmp_path, SWEEP, 3, "import plaq.dca.loop.iteration as i\ni.solver_request = lambda *_: 1 / 0", 1)
    assert done.returncode == 1 and len(errors(done)) == 1, done.stdout + done.stderr
    assert "on rank 1 of 3" in errors(done)[0] and "ZeroDivisionError" in done.stderr
