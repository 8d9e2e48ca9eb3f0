"""A C++ program on ranks of which one fails: the job ends within seconds, with a line that names the failure."""

import os
import re
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from plaq.comm import library_version
from plaq.comm.launch import launcher_command

PROGRAM = Path(os.environ.get("PLAQ_BUILD", Path(__file__).parents[2] / "build")) / "tests/comm/failing_job"
pytestmark = pytest.mark.skipif(not PROGRAM.exists() or not library_version(),
                                reason="the C++ tests are not built, or plaq is without MPI")
ALIKE = "which all ranks must call with the same arguments"

# What the last rank does: how many ranks there are, the exit code, what is said.
MODES = {
    "throw": (3, 1, "rank 2 of 3 ended with exit code 1, which ended the job"),
    "uncaught": (2, None, "nobody catches this"),
    "exit": (4, 3, "rank 3 of 4 ended with exit code 3, which ended the job"),
    "_exit": (3, None, ""),
    "abort": (3, None, ""),
    "kill": (2, None, ""),
    "return": (3, 1, r"rank 2 of 3 has ended, and rank \d of 3 waits in all_reduce of 32 bytes"),
    "let go": (2, 1, "rank 1 of 2 has destroyed its collectives, and rank 0 of 2 waits in all_reduce of 32 bytes"),
    "stop": (2, 1, "rank 1 of 2 does not respond, and rank 0 of 2 waits for it"),
    "longer": (2, 1, rf"in all_reduce of (32|40) bytes, {ALIKE}"),
    "longer on three": (3, 1, rf"in all_reduce of (32|40) bytes, {ALIKE}|ranks call different collective operations: "
                              r"rank \d of 3 waits in all_reduce of 32 bytes"),
    "root": (3, 1, r"ranks call different collective operations: rank \d of 3 waits in broadcast of 32 bytes"
                   r".*, rank \d of 3 has called broadcast of 32 bytes"),
    "other call": (4, 1, rf"ranks call different collective operations: .*all_reduce of 32 bytes|{ALIKE}"),
    "future": (2, 1, rf"ranks call different collective operations: .*(barrier|all_reduce of 32 bytes)|{ALIKE}"),
    "slow": (3, 0, ""),
    "fine": (4, 0, ""),
    "after all": (2, 5, ""),
}


@pytest.fixture(scope="module")
def ended():
    """All jobs at once, because they only wait."""
    def job(mode):
        ranks = MODES[mode][0]
        began = time.monotonic()
        done = subprocess.run([*launcher_command(ranks), PROGRAM, mode.removesuffix(" on three")], capture_output=True,
                              text=True, timeout=240, stdin=subprocess.DEVNULL,
                              env={**os.environ, "PLAQ_EXPECTED_RANKS": str(ranks), "PLAQ_TERMINAL": "0"})
        print(f"{mode}: {time.monotonic() - began:.1f} s, {done.returncode}")
        return done

    with ThreadPoolExecutor(6) as pool:
        return dict(zip(MODES, pool.map(job, MODES)))


@pytest.mark.parametrize("mode", MODES)
def test_no_job_waits_for_a_rank_that_fails(ended, mode):
    _, code, words = MODES[mode]
    done = ended[mode]
    assert done.returncode == code if code is not None else done.returncode != 0, done.stderr
    assert re.search(words, done.stderr), done.stderr
    if code == 0:
        assert done.stdout == "done\n" and not done.stderr

