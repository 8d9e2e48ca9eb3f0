"""Whole runs of `plaq dca`: the same bits on every back end, number of workers and ranks, and after any
interruption."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from plaq import _core

INPUT = """
[model]
U = 4.0
[dca]
temperatures = [1.0, 0.5]
density = 0.95
iterations = 4
[solver]
measurements = 12800
measurements_first = 640
chains = 4
warmup = 20
[two_particle]
below = 0.5
frequencies = 4
[run]
checkpoint_every = 0.2
"""


def plaq(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "plaq", "dca", *map(str, arguments)], capture_output=True, text=True,
                          timeout=300, **options)


def run(folder, *arguments):
    done = plaq("run", folder.parent / "input.toml", "--out", folder, *arguments)
    assert done.returncode == 0, done.stderr + done.stdout
    return digest(folder)


def digest(folder):
    return plaq("digest", folder).stdout.split()[0]


def iterations_in(log):
    """Lines of the table in a log that may not be there yet."""
    return log.read_text().count("σ") if log.exists() else 0


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    home = tmp_path_factory.mktemp("runs")
    (home / "input.toml").write_text(INPUT)
    return home, run(home / "reference", "--threads", "os", "--workers", 1)


@pytest.mark.parametrize("arguments", [
    ("--threads", "os", "--workers", 3),
    ("--threads", "fiber", "--workers", 2),
    ("--threads", "fiber", "--workers", 2, "--set", "run.chains_in_flight=1"),
])
def test_workers_and_back_ends_do_not_change_a_bit(reference, tmp_path_factory, arguments):
    home, bits = reference
    assert run(home / "-".join(map(str, arguments)).replace("--", "").replace("/", ""), *arguments) == bits


@pytest.mark.skipif(not _core.comm.mpiexec(), reason="built without MPI")
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_ranks_do_not_change_a_bit(reference, ranks):
    home, bits = reference
    assert run(home / f"ranks{ranks}", "-n", ranks, "--workers", 1) == bits


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_run_ends_with_the_same_bits(reference, how):
    home, bits = reference
    folder = home / how.name
    command = [sys.executable, "-m", "plaq", "dca", "run", str(home / "input.toml"), "--out", str(folder)]
    for iterations in (1, 2):  # stop after that many more are in the log
        wanted = iterations_in(folder / "log.txt") + iterations
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ)
        while process.poll() is None and iterations_in(folder / "log.txt") < wanted:
            time.sleep(0.01)
        process.send_signal(how)
        code = process.wait(timeout=60)
        assert code == {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -signal.SIGKILL}[how]
    assert run(folder) == bits


def test_a_second_ctrl_c_ends_a_run_at_once_and_keeps_its_checkpoint(reference):
    home, bits = reference
    folder = home / "twice"
    command = [sys.executable, "-m", "plaq", "dca", "run", str(home / "input.toml"), "--out", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and iterations_in(folder / "log.txt") < 3:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode in (130, -signal.SIGINT), said
    assert "terminate" not in said
    assert run(folder) == bits


def test_summary_has_what_scripts_read(reference):
    home, _ = reference
    summary = json.loads((home / "reference" / "summary.json").read_text())
    assert set(summary["tc"]) == {"value", "error", "status"}
    cold = summary["temperatures"][-1]
    assert (cold["T"], cold["beta"]) == (0.5, 2.0)
    for name in ("density", "double_occupancy", "energy", "sign", "expansion_order", "lambda_d"):
        assert set(cold[name]) == {"value", "error", "bias"}
