"""Scripts that continue after errors end with Ctrl-C and SIGTERM nevertheless: interruptions are no Exception."""

import os
import signal
import subprocess
import sys

import pytest

import plaq.main  # noqa: F401  (which has the applications)
from plaq.cli.verify import verify
from plaq.errors import INTERRUPTIONS, InterruptedByUser, OutOfTime, Terminated

RUNS = {
    "dca": 'from plaq import dca\nrun = lambda: dca.run(dca.Parameters(model={"U": 4}, dca={"temperatures": [0.5], '
           '"density": 0.9}, solver={"measurements": 10**8}, run={"workers": 1}), "run")',
    "lqcd": "from plaq.lqcd.application import Lqcd\nfrom plaq.lqcd.parameters import Parameters\n"
            "from plaq.run import driver\n"
            'run = lambda: driver.run(Lqcd, Parameters(lattice={"extents": [4, 4, 4, 4]}, action={"beta": 5.7}, '
            'updates={"configurations": 10**6}, run={"workers": 1}), "run")',
    "pic": "from plaq import pic\n"
           'run = lambda: pic.run(pic.Parameters(grid={"cells": [16, 16], "length": [4, 4]}, time={"end": 10**6}, '
           'species={"e": {"charge": -1, "mass": 1, "density": 1, "per_cell": 4, "temperature": 0.01}}, '
           'output={"pictures": 0}, run={"workers": 1}), "run")',
}
# Three runs, each in spite of errors of the previous one; the signal comes in the first.
SCRIPT = """
import os, signal, sys, threading
{run}

def later():
    while not os.path.exists("run/log.txt"):
        threading.Event().wait(0.02)
    threading.Event().wait(0.5)
    os.kill(os.getpid(), {number})

signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Thread(target=later, daemon=True).start()
for number in range(3):
    try:
        print("begins", flush=True)
        run()
    except Exception as error:
        print("goes on after", repr(error), flush=True)
    except BaseException as stopped:
        print("caught", KeyboardInterrupt in type(stopped).__mro__, getattr(stopped, "code", None), flush=True)
        raise
"""


@pytest.mark.parametrize("number, caught, code", [(signal.SIGINT, "caught True None", -signal.SIGINT),
                                                  (signal.SIGTERM, "caught False 143", 143)])
@pytest.mark.parametrize("application", RUNS)
def test_a_script_that_goes_on_after_errors_ends_with_a_signal(tmp_path, application, number, caught, code):
    script = SCRIPT.format(run=RUNS[application], number=int(number))
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stdout + done.stderr
    said = done.stdout.splitlines()
    assert said.count("begins") == 1 and said[-1] == caught and "goes on after" not in done.stdout, done.stdout
    assert f"stopped by {number.name}: the state is saved in run; the same command continues" in said[-2]
    assert os.path.exists(tmp_path / "run/checkpoint.h5")
    verify(tmp_path / "run")


def test_what_stops_a_run_is_no_exception():
    assert not any(issubclass(kind, Exception) for kind in INTERRUPTIONS.values())
    assert issubclass(InterruptedByUser, KeyboardInterrupt) and issubclass(Terminated, SystemExit)
    assert Terminated().code == 143 and OutOfTime().code == 0
    assert {name: str(kind()) for name, kind in INTERRUPTIONS.items()} == {name: name for name in INTERRUPTIONS}
