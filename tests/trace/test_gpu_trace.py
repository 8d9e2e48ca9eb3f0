"""Kernels and copies in a trace: a C++ program on a CUPTI without a GPU, and every output of what it did."""

import gzip
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hand_made import with_gpu

from plaq import trace
from plaq.trace.chrome import write_chrome
from plaq.trace.on_worker import OnWorker
from plaq.trace.timeline import Timeline

BUILD = Path(os.environ.get("PLAQ_BUILD", Path(__file__).parents[2] / "build")) / "tests/trace"
PROGRAM, LIBRARY = BUILD / "gpu_workload", BUILD / "fake_cupti/libcupti.so.13"
built = pytest.mark.skipif(not PROGRAM.exists(), reason="the C++ tests are not built")


@built
@pytest.mark.parametrize("backend", ["os", "fiber"])
def test_what_a_gpu_did_belongs_to_the_task_that_asked_for_it(tmp_path, backend):
    paths = os.pathsep.join(filter(None, [str(LIBRARY.parent), os.environ.get("LD_LIBRARY_PATH")]))
    subprocess.run([PROGRAM, tmp_path / "t", backend, LIBRARY], check=True, timeout=100,
                   env=os.environ | {"LD_LIBRARY_PATH": paths})
    t = trace.read(tmp_path / "t")
    assert t.notes == []
    name = np.array(t.names)[t.gpu["name"]]
    kernel, copy = t.gpu[(t.gpu["bytes"] == 0) & (name != "main thread")], t.gpu[t.gpu["bytes"] > 0]
    assert len(t.tasks) == len(kernel) == len(copy) == 60 and len(t.gpu) == 121
    # Kernels have the id of their task for a name, copies have as many bytes.
    assert np.array(t.names)[kernel["name"]].tolist() == t.tasks["id"][kernel["task"]].astype(str).tolist()
    assert (copy["bytes"] == t.tasks["id"][copy["task"]]).all()
    assert set(name[t.gpu["bytes"] > 0]) == {"copy host to device"}
    assert t.gpu["task"][name == "main thread"] == -1
    assert t.ranks[0].streams == [(0, "GPU 0, stream 0"), (0, "GPU 0, stream 1"), (1, "GPU 1, stream 7")]
    # On the clock of the tasks: the task was there when it launched (the fake's clock is known to some us).
    for row in (kernel, copy):
        task = t.tasks[row["task"]]
        assert (row["begin"] > task["started"] - 1e-3).all() and (row["begin"] < task["finished"] + 1e-3).all()
    np.testing.assert_allclose(kernel["end"] - kernel["begin"], 1e-6, atol=2e-9)


def test_streams_are_lanes_behind_those_of_threads():
    t = with_gpu()
    line = Timeline(t, OnWorker(t))
    assert [(lane.name, lane.gpu) for lane in line.lanes] == [
        ("worker 0", -1), ("GPU 1, stream 7", 1), ("GPU 1, stream 8", 1)]
    on_gpu = line.intervals[line.intervals["gpu"] >= 0]
    columns = ("lane", "task", "begin", "end")
    assert [(t.names[row["name"]], *(int(row[column]) for column in columns)) for row in on_gpu] == [
        ("hopping", 1, 1, 1_500_000_000, 2_500_000_000),
        ("copy host to device", 2, 1, 500_000_000, 1_000_000_000),
        ("set memory", 2, -1, 2_000_000_000, 2_250_000_000)]
    assert (line.intervals["gpu"] >= 0).sum() == 3 and len(line.intervals) == 5


def test_chrome_says_who_launched_it(tmp_path):
    write_chrome(with_gpu(), tmp_path / "t.json.gz")
    events = json.loads(gzip.open(tmp_path / "t.json.gz").read())["traceEvents"]
    threads = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    found = [(threads[e["tid"]], e["name"], e["ts"], e["dur"], e["args"]) for e in events if e.get("cat") == "gpu"]
    by = {"task": 2, "launched by": "outer"}
    assert found == [
        ("GPU 1, stream 7", "hopping", 1.5e6, 1e6, {**by, "bytes": 0}),
        ("GPU 1, stream 8", "copy host to device", 0.5e6, 0.5e6, {**by, "bytes": 4096}),
        ("GPU 1, stream 8", "set memory", 2e6, 0.25e6, {"task": 0, "launched by": None, "bytes": 64})]
    assert sum(e.get("cat") == "task" for e in events) == 1 and sum(e.get("cat") == "region" for e in events) == 1
