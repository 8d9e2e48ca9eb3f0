"""What a session wrote, read back: a C++ program that makes tasks on both back ends."""

import json
import os
import resource
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from consistent import check_consistent
from trace_file import blocks_of, file_of

from plaq import trace
from plaq.errors import InputError
from plaq.trace.rank_file import CLOCKS

PROGRAM = Path(os.environ.get("PLAQ_BUILD", Path(__file__).parents[2] / "build")) / "tests/trace/trace_workload"
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the C++ tests are not built")


def command(folder, backend="fiber", workers=2, batches=20, size=200, ring=4 << 20, period=20):
    return [str(x) for x in (PROGRAM, folder, backend, workers, batches, size, ring, period)]


def record(folder, **how):
    done = subprocess.run(command(folder, **how), capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), trace.read(folder)


def check_made(made, t):
    assert made["problem"] == "" and t.notes == [] and t.ranks[0].lost == 0 and t.ranks[0].end == "closed"
    assert len(t.tasks) == made["tasks"] and len(t.regions) == made["regions"]
    assert not np.isnan(t.tasks["finished"]).any()
    check_consistent(t)


@pytest.mark.parametrize("backend", ["os", "fiber"])
def test_a_million_tasks(tmp_path, backend):
    made, t = record(tmp_path / "t", backend=backend, batches=1000, size=999, ring=64 << 20)
    assert made["tasks"] == 1_000_000
    check_made(made, t)


@pytest.mark.parametrize("backend", ["os", "fiber"])
def test_every_relation_is_there(tmp_path, backend):
    made, t = record(tmp_path / "t", backend=backend, period=5)
    check_made(made, t)
    name = np.array(t.names)
    leaf = name[t.tasks["name"]] == "leaf"
    parents = t.tasks["parent"]
    assert (parents[~leaf] == -1).all() and (name[t.tasks["name"][parents[leaf]]] == "batch").all()
    assert (np.bincount(parents[leaf], minlength=len(t.tasks))[~leaf] == 200).all()

    regions = t.regions
    kind = name[regions["name"]]
    around = np.where(regions["parent"] >= 0, kind[regions["parent"]], "none")
    assert set(zip(kind, around)) == {
        ("main", "none"), ("batch", "none"), ("outer", "none"), ("inner", "outer"), ("other", "outer"),
    }
    assert (t.tasks["name"][regions["task"][kind == "outer"]] == t.names.index("leaf")).all()
    main = regions[kind == "main"]
    assert main["task"] == -1 and main["worker"] == -1 and t.ranks[0].threads[main["thread"][0]] == "main"
    # Where a region began, its task had that worker.
    inside = regions[regions["task"] >= 0]
    for r in inside[:: len(inside) // 50]:
        mine = t.slices[t.slices["task"] == r["task"]]
        at = np.searchsorted(mine["begin"], r["begin"], side="right") - 1
        assert mine["worker"][at] == r["worker"] and r["begin"] <= mine["end"][at]
    assert set(t.slices["worker"]) <= set(t.ranks[0].workers) and len(t.ranks[0].workers) <= 2
    # A batch waits for its leaves, and each time somebody woke it.
    assert len(t.slices) > len(t.tasks) and len(t.readies)
    # It used the results of its leaves.
    used = t.links[leaf[t.links["source"]]]
    assert (t.tasks["parent"][used["source"]] == used["target"]).all()

    counters = {c.name: c for c in t.counters}
    assert counters["batches done"].value[-1] == 20
    assert {"queue length", "tasks", "stacks", "task switches", "idle rate", "resident memory"} <= counters.keys()
    for c in t.counters:
        assert (c.time >= 0).all() and (c.time <= t.duration).all()


def test_idle_rate_is_what_the_slices_say(tmp_path):
    _, t = record(tmp_path / "t", workers=1, batches=200, period=5)
    idle = next(c for c in t.counters if c.name == "idle rate")
    edges = next(c for c in t.counters if c.name == "user time").time
    for begin, end, value in zip(edges, edges[1:], idle.value):
        inside = np.minimum(t.slices["end"], end) - np.maximum(t.slices["begin"], begin)
        busy = np.maximum(inside, 0).sum() / (end - begin)
        assert value == pytest.approx(1e4 * (1 - busy), abs=1e-3)


def test_what_does_not_fit_is_counted(tmp_path):
    made, t = record(tmp_path / "t", batches=400, ring=2048, period=1000)
    lost = t.ranks[0].lost
    assert lost > 0 and t.notes == [f"rank 0: {lost} events did not fit into the buffers and are missing"]
    check_consistent_but_for_life(t)
    # Every event is either there or counted: created, started and finished once a task.
    seen = sum(int((~np.isnan(t.tasks[when])).sum()) for when in ("created", "started", "finished"))
    assert 3 * made["tasks"] - lost <= seen < 3 * made["tasks"]


def check_consistent_but_for_life(t):
    """With losses a slice may outlive what is known of its task; the rest must hold."""
    for when in ("created", "started", "finished"):
        t.tasks[when] = np.nan
    check_consistent(t)


def test_after_a_kill_what_was_written_is_there(tmp_path):
    folder = tmp_path / "t"
    program = subprocess.Popen(command(folder, batches=10**7, period=10, ring=1 << 20), stdout=subprocess.DEVNULL)
    file = folder / "rank-0000.plaqtrace"
    deadline = time.monotonic() + 60
    while not file.exists() or file.stat().st_size < 8_000_000:  # some rounds of writing
        assert time.monotonic() < deadline
        time.sleep(0.01)
    program.send_signal(signal.SIGKILL)
    program.wait()
    t = trace.read(folder)
    assert t.ranks[0].end.startswith("cut: ") and "killed" in t.notes[-1]
    assert len(t.tasks) > 1000
    if t.ranks[0].lost:  # on a busy machine the writer may not keep up with this flood
        check_consistent_but_for_life(t)
    else:
        check_consistent(t)


def cut_anywhere(folder, batches):
    """How many tasks are read of a recorded file that is cut at more and more bytes; and the file, as it was."""
    record(folder, batches=batches, period=1)
    file = folder / "rank-0000.plaqtrace"
    whole = file.read_bytes()
    sizes = []
    blocks = blocks_of(whole)
    second = np.flatnonzero([kind == CLOCKS for kind, *_ in blocks])[1]
    for size in np.linspace(len(file_of(blocks[: second + 1])), len(whole) - 1, 20).astype(int):
        file.write_bytes(whole[:size])
        t = trace.read(folder)
        check_consistent(t)
        sizes.append(len(t.tasks))
        assert (f"rank 0: the trace ends early, at {t.ranks[0].until:.3f} s: truncated, {size} of {len(whole)} "
                "bytes are there") in t.notes
        assert t.slices["end"].max(initial=0) <= t.ranks[0].until
    return sizes, whole, file


def test_a_file_cut_anywhere_is_read_up_to_there(tmp_path):
    # A busy machine may let the program end before the thread that writes has had its second turn.
    for batches in (100, 1000, 10000):
        sizes, whole, file = cut_anywhere(tmp_path / str(batches), batches)
        assert sizes == sorted(sizes)
        if sizes[-1] > sizes[0]:
            break
    assert sizes[-1] > sizes[0]
    file.write_bytes(whole[:1000])
    with pytest.raises(InputError, match="rank-0000.plaqtrace: ends before anything was recorded"):
        trace.read(file.parent)


def test_a_full_disk_ends_the_trace_and_not_the_program(tmp_path):
    folder = tmp_path / "t"
    limit = 5_000_000  # some rounds of writing, and far less than on a busy machine, where much of it is lost
    batches = 4000
    done = subprocess.run(
        command(folder, batches=batches, period=5, ring=1 << 20),
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert made["problem"] == "File too large" and made["tasks"] == batches * 201
    t = trace.read(folder)
    assert t.ranks[0].end == "cut: File too large"
    assert t.notes[-1] == f"rank 0: the trace ends early, at {t.ranks[0].until:.3f} s: File too large"
    assert 0 < len(t.tasks) < made["tasks"]
    if t.ranks[0].lost:  # on a busy machine the writer may not keep up with this flood
        check_consistent_but_for_life(t)
    else:
        check_consistent(t)


def test_a_file_that_is_removed_ends_the_trace_and_not_the_program(tmp_path):
    program = subprocess.Popen(command(tmp_path / "t", batches=2000, period=1), stdout=subprocess.PIPE, text=True)
    file = tmp_path / "t" / "rank-0000.plaqtrace"
    while not file.exists():
        assert program.poll() is None
        time.sleep(0.001)
    file.unlink()
    said = program.communicate(timeout=100)[0]
    assert program.returncode == 0 and json.loads(said)["problem"] == "its file was removed"


def test_a_folder_with_a_trace_is_refused(tmp_path):
    record(tmp_path / "t", batches=2)
    done = subprocess.run(command(tmp_path / "t"), capture_output=True, text=True)
    assert done.returncode == 1 and "exists already" in done.stderr


def test_what_is_no_trace_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds no trace"):
        trace.read(tmp_path)
    (tmp_path / "rank-0000.plaqtrace").write_bytes(b"something else" * 100)
    with pytest.raises(InputError, match="is not a trace of plaq, version 2"):
        trace.read(tmp_path)
    record(tmp_path / "t", batches=2)
    file = tmp_path / "t" / "rank-0000.plaqtrace"
    data = bytearray(file.read_bytes())
    data[512] ^= 1
    file.write_bytes(data)
    with pytest.raises(InputError, match="is damaged at byte 512: block 0 does not begin there"):
        trace.read(tmp_path / "t")
