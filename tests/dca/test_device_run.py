"""Whole runs of `plaq dca` whose chains walk and are measured on devices, the host in place of these."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import gpus_on_host
import numpy as np
import pytest

from plaq import _core, dca
from plaq.comm.launch import launcher_command
from plaq.dca.results.file import read_results

SECTIONS = {
    "model": {"U": 4.0}, "dca": {"temperatures": [0.5], "density": 0.95, "iterations": 3},
    "solver": {"measurements": 2560, "measurements_first": 320, "chains": 8, "warmup": 20},
    "two_particle": {"below": 0.5, "frequencies": 3, "channels": ["pp", "magnetic"]},
    "run": {"workers": 1, "checkpoint_every": 0.1},
}


def command(folder):
    return [sys.executable, str(Path(gpus_on_host.__file__)), "dca", "run", str(folder.parent / "input.toml"), "--out",
            str(folder), "--device", "0"]


def finished(folder, gpus, launcher=()):
    done = subprocess.run([*launcher, *command(folder)], capture_output=True, text=True, timeout=300,
                          env=os.environ | {"GPUS": str(gpus)})
    assert done.returncode == 0, done.stderr + done.stdout
    return read_results(folder / "results.h5")[0]


def here(monkeypatch, gpus, **changed):
    """In this process."""
    gpus_on_host.put(monkeypatch.setattr)
    monkeypatch.setenv("GPUS", str(gpus))
    sections = SECTIONS | changed | {"run": SECTIONS["run"] | {"device": "0" if gpus else "none"}}
    return dca.run(dca.Parameters(**sections))


def same(a, b):
    a, b = a.at(0.5).observables, b.at(0.5).observables
    return a.keys() == b.keys() and all(
        np.array_equal(getattr(a[name], of), getattr(b[name], of)) for name in a for of in ("mean", "error"))


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    home = tmp_path_factory.mktemp("runs")
    (home / "input.toml").write_text(dca.Parameters(**SECTIONS).to_toml())
    with pytest.MonkeyPatch.context() as patch:
        return home, here(patch, 1)


def test_the_number_of_devices_does_not_change_a_bit(reference, monkeypatch):
    assert same(here(monkeypatch, 3), reference[1])


@pytest.mark.skipif(not _core.comm.mpiexec(), reason="built without MPI")
def test_ranks_do_not_change_a_bit(reference):
    home, one = reference
    assert same(finished(home / "ranks", 1, launcher_command(2)), one)


def test_a_killed_run_resumes_to_the_same_bits_on_other_devices(reference):
    home, one = reference
    folder = home / "killed"
    process = subprocess.Popen(command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env=os.environ | {"GPUS": "2"})
    log = folder / "log.txt"
    while process.poll() is None and not (log.exists() and log.read_text().count("σ") > 1):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait(timeout=60) == -signal.SIGKILL
    assert same(finished(folder, 1), one)
    assert log.read_text().count("device:         GPU -1") == 2


def test_one_iteration_agrees_with_the_workers_up_to_rounding(monkeypatch):
    once = {"dca": {"temperatures": [0.5], "mu": 1.6, "iterations": 1}}
    there, workers = (here(monkeypatch, gpus, **once).at(0.5) for gpus in (2, 0))
    names = ("sign", "density", "double_occupancy", "Sigma", "G_tau", "spin_susceptibility", "spin_correlation",
             "lambda_d", "G4_pp", "G4_magnetic_q0_m0")
    for name in names:
        a, b = there[name].mean, workers[name].mean
        assert np.allclose(a, b, rtol=0, atol=1e-3 * np.abs(b).max()), name
    # A sum over all frequencies may round to the same bits in both; not every number does.
    assert any(not np.array_equal(there[name].mean, workers[name].mean) for name in names)
