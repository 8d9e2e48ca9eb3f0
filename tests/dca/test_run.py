"""Whole runs of `plaq dca`: the same bits on every back end, number of workers and ranks, and after any
interruption."""

import json
import signal
import subprocess
import time

import pytest
from whole_runs import command, finish, needs_mpi

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


def iterations_in(log):
    """Lines of the table in a log that may not be there yet."""
    return log.read_text().count("σ") if log.exists() else 0


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    home = tmp_path_factory.mktemp("runs")
    (home / "input.toml").write_text(INPUT)
    return home, finish(home / "reference", "--threads", "os", "--workers", 1)


@pytest.mark.parametrize("arguments", [
    ("--threads", "os", "--workers", 3),
    ("--threads", "fiber", "--workers", 2),
    ("--threads", "fiber", "--workers", 2, "--set", "run.chains_in_flight=1"),
])
def test_workers_and_back_ends_do_not_change_a_bit(reference, tmp_path_factory, arguments):
    home, bits = reference
    assert finish(home / "-".join(map(str, arguments)).replace("--", "").replace("/", ""), *arguments) == bits


@needs_mpi
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_ranks_do_not_change_a_bit(reference, ranks):
    home, bits = reference
    assert finish(home / f"ranks{ranks}", "-n", ranks, "--workers", 1) == bits


@pytest.mark.parametrize("signal_sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_run_ends_with_the_same_bits(reference, signal_sent):
    home, bits = reference
    folder = home / signal_sent.name
    for iterations in (1, 2):  # stop after that many more are in the log
        wanted = iterations_in(folder / "log.txt") + iterations
        process = subprocess.Popen(command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and iterations_in(folder / "log.txt") < wanted:
            time.sleep(0.01)
        process.send_signal(signal_sent)
        code = process.wait(timeout=60)
        assert code == {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -signal.SIGKILL}[signal_sent]
    assert finish(folder) == bits


def test_a_second_ctrl_c_ends_a_run_at_once_and_keeps_its_checkpoint(reference):
    home, bits = reference
    folder = home / "twice"
    process = subprocess.Popen(command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and iterations_in(folder / "log.txt") < 3:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    errors = process.communicate(timeout=60)[1]
    assert process.returncode in (130, -signal.SIGINT), errors
    assert "terminate" not in errors
    assert finish(folder) == bits


def test_summary_has_the_entries_that_scripts_read(reference):
    home, _ = reference
    summary = json.loads((home / "reference" / "summary.json").read_text())
    assert set(summary["tc"]) == {"value", "error", "status"}
    cold = summary["temperatures"][-1]
    assert (cold["T"], cold["beta"]) == (0.5, 2.0)
    for name in ("density", "double_occupancy", "energy", "sign", "expansion_order", "lambda_d"):
        assert set(cold[name]) == {"value", "error", "bias"}
