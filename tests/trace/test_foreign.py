"""Programs that know nothing of plaq, recorded by the tools interfaces of OpenMP and Kokkos."""

import ctypes.util
import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from plaq.trace import read

BUILD = Path(os.environ.get("PLAQ_BUILD", Path(__file__).parents[2] / "build"))
PROGRAM = BUILD / "tests/trace/foreign_workload"
OPENMP = BUILD / "tests/trace/openmp_workload"
LISTENER = BUILD / "src/plaq/trace/libplaq-listener.so"

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the C++ tests were not built here")


def run(command, **environment):
    done = subprocess.run([*map(str, command)], env={**os.environ, **environment}, capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, done.stderr
    return done


def calls(trace):
    return Counter(trace.names[name] for name in trace.regions["name"])


def test_openmp_regions_are_nested_by_thread(tmp_path):
    run([PROGRAM, "openmp"], PLAQ_TRACE=str(tmp_path / "trace"))
    trace = read(tmp_path / "trace")
    assert not trace.notes
    found = {name.split(" at ")[0] if " at " in name and not name.startswith("wait") else name: count
             for name, count in calls(trace).items()}
    assert found == {"parallel": 3, "share of parallel": 6, "loop": 6, "task": 6, "wait at barrier": 6}
    around = {(trace.names[r["name"]].split(" at foreign")[0],
               trace.names[trace.regions["name"][r["parent"]]].split(" at foreign")[0] if r["parent"] >= 0 else None)
              for r in trace.regions}
    shares = {("loop", "share of parallel"), ("task", "share of parallel")}
    assert shares <= around
    assert ("share of parallel", "parallel") in around, "on the thread that began the region"
    assert ("share of parallel", None) in around, "on the others"
    assert ("wait at barrier", "share of parallel") not in around, "the share has ended"


def test_kernels_of_kokkos(tmp_path):
    run([PROGRAM, "kokkos"], PLAQ_TRACE=str(tmp_path / "trace"), PMIX_RANK="3")
    assert (tmp_path / "trace/rank-0003.plaqtrace").exists()
    trace = read(tmp_path / "trace")
    assert calls(trace) == {name: 1 for name in ("time step", "for", "reduce", "scan", "wait for all kernels",
                                                 "copy from Host to Cuda")}
    outer = trace.regions["parent"] == -1
    assert [trace.names[name] for name in trace.regions["name"][outer]] == ["time step"]


def test_without_a_folder_the_program_runs_unrecorded():
    environment = {k: v for k, v in os.environ.items() if k != "PLAQ_TRACE"}
    done = subprocess.run([PROGRAM, "openmp"], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1, "no tool for the runtime"
    assert done.stderr == "plaq: nothing is recorded: PLAQ_TRACE names no folder\n"


@pytest.mark.skipif(not ctypes.util.find_library("omp") or not OPENMP.exists(), reason="no LLVM's OpenMP runtime here")
def test_a_program_of_openmp(tmp_path):
    expected = run([OPENMP]).stdout
    runtime = ctypes.util.find_library("omp")
    done = run([OPENMP], LD_PRELOAD=runtime, OMP_TOOL_LIBRARIES=str(LISTENER), PLAQ_TRACE=str(tmp_path / "trace"))
    assert done.stdout == expected
    trace = read(tmp_path / "trace")
    kinds = Counter()
    for name, count in calls(trace).items():
        kinds[name.split(" at openmp")[0]] += count
    assert kinds["parallel"] == 4
    assert kinds["share of parallel"] == 8
    assert kinds["task"] == 8
    assert kinds["loop"] >= 3
