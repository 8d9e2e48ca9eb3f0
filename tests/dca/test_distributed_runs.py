"""Two-particle functions in shares over ranks: the same bits as on one rank, also when a run goes on differently."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import h5py
import numpy as np
import pytest
from processes import descendants
from whole_runs import command, digest, finish, needs_mpi

from plaq.comm.launch import launcher_command

pytestmark = needs_mpi

INPUT = """
[model]
U = 4.0
[dca]
temperatures = [0.5, 1.0]
density = 0.95
iterations = 8
[solver]
measurements = 640
measurements_first = 64
chains = 4
warmup = 10
[two_particle]
below = 0.5
measurements = 8000
frequencies = 2
channels = ["pp", "charge"]
transfers = [[0.0, 0.0], [1.0, 1.0]]
[run]
workers = 1
checkpoint_every = 0.05
"""
DISTRIBUTED = ("--set", "run.two_particle=distributed")


def shares_in(folder):
    """Files of the checkpoint that hold shares, and have something in them."""
    found = []
    for file in folder.glob("checkpoint.bins.*"):
        with suppress(FileNotFoundError):  # the run may remove it meanwhile
            if file.stat().st_size:
                found.append(file)
    return found


def stop(folder, how, reached, *arguments):
    """Start a run and stop it as soon as ``reached()``."""
    process = subprocess.Popen(command(folder, *arguments), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               text=True)
    there = False
    while process.poll() is None and not there:
        there = bool(reached())
        time.sleep(0.005)
    if how == signal.SIGKILL:  # all at once: ranks whose launcher is killed go on for a moment
        for pid in list(descendants(process.pid)):
            os.kill(pid, how)
    process.send_signal(how)
    said = process.communicate(timeout=60)[1]
    assert there, f"the run ended too early: {said}"
    owner = os.open(folder, os.O_RDONLY)
    fcntl.flock(owner, fcntl.LOCK_EX)  # ranks end some time after a launcher that was killed
    os.close(owner)


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    home = tmp_path_factory.mktemp("distributed")
    (home / "input.toml").write_text(INPUT)
    return home, finish(home / "reference")


@pytest.mark.parametrize("ranks, threads", [(2, "os"), (3, "fiber"), (4, "os")])
def test_it_has_the_bits_of_one_rank(reference, ranks, threads):
    home, bits = reference
    folder = home / f"distributed{ranks}"
    assert finish(folder, "-n", ranks, *DISTRIBUTED, "--threads", threads) == bits
    assert not shares_in(folder)
    with h5py.File(home / "reference" / "results.h5") as a, h5py.File(folder / "results.h5") as b:
        for index in a["points"]:
            one, other = a[f"points/{index}/observables"], b[f"points/{index}/observables"]
            assert set(one) == set(other) and ("G4_charge_q3_m0" in one) == (index == "000")
            for name in one:
                assert all(one[name].attrs[key] == other[name].attrs[key] for key in ("unit", "convention", "note"))
                for part in one[name]:
                    assert np.array_equal(one[name][part], other[name][part])
                    assert one[name][part].dtype == other[name][part].dtype


def test_a_run_resumes_on_other_ranks_and_undistributed(reference):
    home, bits = reference
    folder = home / "changed"
    stop(folder, signal.SIGKILL, lambda: shares_in(folder), "-n", 3, *DISTRIBUTED)
    labels = {file.name for file in shares_in(folder)}
    later = lambda: {file.name for file in shares_in(folder)} - labels  # in the next iteration: bins are pooled
    stop(folder, signal.SIGTERM, later, "-n", 2, *DISTRIBUTED)
    log = folder / "log.txt"
    stop(folder, signal.SIGTERM, lambda: log.read_text().count("ranks: ") == 3)  # has begun; alone it is done soon
    assert not shares_in(folder)
    assert finish(folder, "-n", 4, *DISTRIBUTED) == bits


def test_damaged_or_missing_files_are_refused(reference):
    home, bits = reference
    folder = home / "damaged"
    stop(folder, signal.SIGTERM, lambda: shares_in(folder), "-n", 2, *DISTRIBUTED)
    (file,) = shares_in(folder)
    whole = file.read_bytes()
    for content in (whole[:-8], whole[:-1] + bytes([whole[-1] ^ 1])):
        file.write_bytes(content)
        refused = subprocess.run(command(folder, "-n", 2, *DISTRIBUTED), capture_output=True, text=True, timeout=60)
        assert refused.returncode == 2 and f"{file.name}: " in refused.stderr
        assert "damaged, or of another run or step" in refused.stderr
    file.write_bytes(whole + b"added when the run was killed")
    assert finish(folder, "-n", 2, *DISTRIBUTED) == bits


def test_a_function_that_is_in_the_results_alone_has_to_be_there(reference):
    home, _ = reference
    folder = home / "lost"
    stop(folder, signal.SIGTERM, (folder / "summary.json").exists, "-n", 2, *DISTRIBUTED)
    results = folder / "results.h5"
    whole = results.read_bytes()
    with h5py.File(results) as file:
        mean = file["points/000/observables/G4_pp/mean"]
        at = mean.id.get_offset() + mean.nbytes // 2

    def refused(what):
        outcome = subprocess.run(command(folder), capture_output=True, text=True, timeout=60)
        assert outcome.returncode == 2 and outcome.stderr.count("\n") == 1, outcome.stderr
        assert what in outcome.stderr and "checkpoint.h5 to start this run from the beginning" in outcome.stderr

    results.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    refused("results.h5: damaged between bytes")
    results.unlink()
    refused("results.h5: points/000/observables/G4_pp is not there")


def test_without_a_folder_every_rank_gets_the_whole(reference):
    home, _ = reference
    (home / "all.py").write_text(f"""
import h5py, numpy as np, sys
from plaq import dca
from plaq.comm import world
p = dca.Parameters.read({str(home / "input.toml")!r}, ["run.two_particle=distributed", "dca.temperatures=[0.5]"])
found = dca.run(p).at(0.5)
with h5py.File({str(home / "reference" / "results.h5")!r}) as file:
    for name in ("G4_pp", "G4_charge_q0_m0"):
        expected = file[f"points/000/observables/{{name}}"]
        assert np.array_equal(found[name].mean, expected["mean"])
        assert np.array_equal(found[name].error, expected["error"])
print("checked on", world().rank, "of", world().size)
""")
    done = subprocess.run([*launcher_command(2), sys.executable, str(home / "all.py")], capture_output=True,
                          text=True, env={**os.environ, "PLAQ_EXPECTED_RANKS": "2", "PLAQ_TERMINAL": ""}, timeout=120)
    assert done.returncode == 0 and done.stdout.count("checked on") == 2, done.stdout + done.stderr


def test_one_thread_at_a_time_in_mpi_is_enough(reference):
    home, bits = reference
    folder = home / "serialized"
    (home / "serialized.py").write_text("""
import atexit, ctypes, sys
from plaq import _core
_core.comm.library_version()  # loads the library
library = next(line.split()[-1] for line in open("/proc/self/maps") if "/libmpi." in line)
mpi, serialized, granted = ctypes.CDLL(library), 2, ctypes.c_int()
assert mpi.MPI_Init_thread(None, None, serialized, ctypes.byref(granted)) == 0 and granted.value == serialized
atexit.register(mpi.MPI_Finalize)
from plaq.main import main
main()
""")
    done = subprocess.run(
        [*launcher_command(3), sys.executable, str(home / "serialized.py"), *command(folder, *DISTRIBUTED)[2:]],
        capture_output=True, text=True, env={**os.environ, "PLAQ_EXPECTED_RANKS": "3", "PLAQ_TERMINAL": ""},
        timeout=300)
    assert done.returncode == 0 and "threads: serialized" in done.stdout, done.stdout + done.stderr
    assert digest(folder) == bits


def test_a_wrong_value_names_the_allowed_ones(reference):
    home, _ = reference
    refused = subprocess.run(command(home / "wrong", "--set", "run.two_particle=some"), capture_output=True, text=True)
    assert refused.returncode == 2
    assert all(word in refused.stderr for word in ("run.two_particle", "some", "auto", "local", "distributed"))
    assert not (home / "wrong").exists()
