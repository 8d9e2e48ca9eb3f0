"""OTF2 archives, as OTF2's own reader shows them."""

import re
import shutil
import subprocess
import sys
from collections import Counter as Count
from pathlib import Path

import numpy as np
import pytest
from hand_made import suspended, trace_of, with_gpu
from synthetic_trace import synthetic

from plaq import _core
from plaq.errors import InputError, RunError
from plaq.trace.model import MESSAGE, Counter
from plaq.trace.otf2 import write_otf2

built = pytest.mark.skipif(not hasattr(_core, "otf2"), reason="plaq is built without OTF2")
reads = pytest.mark.skipif(
    not (hasattr(_core, "otf2") and shutil.which("otf2-print")),
    reason="plaq is built without OTF2, or no otf2-print",
)


def printed(folder, *options):
    """The lines of otf2-print, which must neither fail nor warn."""
    command = ["otf2-print", *options, str(folder / "traces.otf2")]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert shown.returncode == 0 and not shown.stderr and "warning" not in shown.stdout.lower()
    return shown.stdout.splitlines()


def events(folder):
    """{location: [(event, time in s, what)]}"""
    found = {}
    for line in printed(folder):
        if match := re.match(r"([A-Z_]+) +(\d+) +(\d+)  (.*)", line):
            event, location, time, rest = match.groups()
            if event in ("ENTER", "LEAVE"):
                what = re.match(r'Region: "(.*)" <\d+>$', rest)[1]
            elif event.startswith("MPI_"):
                message = (
                    r'(?:Sender|Receiver): (\d+) \("(.*)" <\d+>\), '
                    r'Communicator: "plaq" <\d+>, Tag: (\d+), Length: (\d+)'
                )
                what = re.match(message, rest).groups()
            elif event == "METRIC":
                what = re.match(r'Metric: \d+, 1 Value: \("(.*)" <\d+>; DOUBLE; (.*)\)$', rest).groups()
            else:
                thread = (
                    r'Thread Team: "(.*)" <\d+>, Creating Thread: \d+ \("(.*)" <\d+>\), Generation Number: (\d+)$'
                )
                what = re.match(thread, rest).groups()
            found.setdefault(int(location), []).append((event, int(time) / 1e9, what))
        elif match := re.match(r" +ADDITIONAL ATTRIBUTES: (.*)", line):
            numbers = re.findall(r'\("(\w+)" <\d+>; UINT64; (\d+)\)', match[1])
            last = found[int(location)].pop()
            found[int(location)].append((*last, {name: int(number) for name, number in numbers}))
    return found


def definitions(folder, kind):
    return [line.split(None, 2)[2] for line in printed(folder, "-G") if line.startswith(kind + " ")]


@reads
def test_a_suspended_task(tmp_path):
    write_otf2(suspended(), tmp_path / "archive")
    outer, inner, own = (
        ("rank 0", "outside of tasks", "1"),
        ("rank 0", "worker 0", "1"),
        ("rank 0", "worker 0", "0"),
    )
    assert events(tmp_path / "archive") == {
        0: [
            ("THREAD_TASK_CREATE", 0.0, inner),
            ("THREAD_TASK_SWITCH", 0.0, outer),
            ("ENTER", 0.0, "outer", {"task": 1, "parent": 0}),
            ("ENTER", 1.0, "whole"),
            ("ENTER", 2.0, "part"),
            ("LEAVE", 3.0, "part"),
            ("LEAVE", 3.0, "whole"),
            ("LEAVE", 3.0, "outer"),
            ("THREAD_TASK_SWITCH", 3.0, own),
            ("THREAD_TASK_SWITCH", 3.0, inner),
            ("ENTER", 3.0, "inner", {"task": 2, "parent": 1}),
            ("LEAVE", 5.0, "inner"),
            ("THREAD_TASK_COMPLETE", 5.0, inner),
        ],
        1: [
            ("THREAD_TASK_SWITCH", 5.0, outer),
            ("ENTER", 5.0, "outer", {"task": 1, "parent": 0}),
            ("ENTER", 5.0, "whole"),
            ("ENTER", 5.0, "part"),
            ("LEAVE", 6.0, "part"),
            ("ENTER", 7.0, "late"),
            ("LEAVE", 8.0, "late"),
            ("LEAVE", 8.0, "whole"),
            ("LEAVE", 9.0, "outer"),
            ("THREAD_TASK_COMPLETE", 9.0, outer),
        ],
        2: [("ENTER", 0.0, "loop"), ("ENTER", 4.0, "step"), ("LEAVE", 6.0, "step"), ("LEAVE", 10.0, "loop")],
        3: [("THREAD_TASK_CREATE", 0.0, outer)],
    }
    (clock,) = definitions(tmp_path / "archive", "CLOCK_PROPERTIES")
    assert "1000000000, Global Offset: 0, Length: 10000000001," in clock


@reads
def test_messages_have_both_ends(tmp_path):
    trace = trace_of([("give", 0, -1, [(0, 0.0, 2.0)]), ("take", 1, -1, [(0, 1.0, 4.0)])])
    trace.messages = np.array([(0, 1, 700, 1.0, 3.0, 0, 0, 0, 0), (0, 1, 9, 1.5, 2.5, 0, 0, 0, 0)], MESSAGE)
    write_otf2(trace, tmp_path / "archive")
    ends = {place: [(event, time, int(rank), int(tag), int(size)) for event, time, (rank, _, tag, size) in found]
            for place, all_events in events(tmp_path / "archive").items()
            if (found := [e for e in all_events if e[0].startswith("MPI_")])}
    assert ends == {0: [("MPI_SEND", 1.0, 1, 0, 700), ("MPI_SEND", 1.5, 1, 1, 9)],
                    1: [("MPI_RECV", 2.5, 0, 1, 9), ("MPI_RECV", 3.0, 0, 0, 700)]}


@reads
def test_all_ranks_are_in_one_archive_with_hosts_and_counters(tmp_path):
    time = np.array([0.0, 0.5, 1.5])
    trace = trace_of(
        [("a", 0, -1, [(0, 0.0, 1.0)]), ("a", 1, -1, [(1, 0.5, 1.0)]), ("b", 2, -1, [(0, 1.0, 2.0)])],
        counters=[
            Counter("memory", "B", 2, -1, -1, time, np.array([1.0, np.nan, 3.0])),
            Counter("idle rate", "0.01 %", 1, 1, -1, time, np.array([5, 6, 7])),
            Counter("idle rate", "0.01 %", 2, 3, -1, time[:1], np.array([8])),  # a worker that never had a task
            Counter("switches", "", 2, -1, 1, time[:1], np.array([4])),
        ],
        notes=["rank 1: cut", "rank 2: 5 events lost"],
    )
    write_otf2(trace, tmp_path / "new" / "archive")
    folder = tmp_path / "new" / "archive"
    assert [re.findall('"(.*?)"', text) for text in definitions(folder, "SYSTEM_TREE_NODE")] == [
        ["machine", "machine"],
        ["node0", "node", "machine::machine"],
        ["node1", "node", "machine::machine"],
    ]
    groups = [re.findall('"(.*?)"', text) for text in definitions(folder, "LOCATION_GROUP")]
    assert groups == [["rank 0", "node::node0"], ["rank 1", "node::node0"], ["rank 2", "node::node1"]]
    locations = [re.findall(r'"(.*?)"|Type: (\w+)', text) for text in definitions(folder, "LOCATION")]
    assert [(place[0][0], place[1][1], place[2][0]) for place in locations] == [
        ("worker 0", "CPU_THREAD", "rank 0"),
        ("worker 1", "CPU_THREAD", "rank 1"),
        ("worker 0", "CPU_THREAD", "rank 2"),
        ("worker 3", "CPU_THREAD", "rank 2"),
        *[("outside of tasks", "CPU_THREAD", f"rank {rank}") for rank in range(3)],
        *[("counters", "METRIC", f"rank {rank}") for rank in (1, 2)],
    ]
    found = events(folder)
    assert found[7] == [("METRIC", t, ("idle rate", v)) for t, v in zip(time, "567")]
    assert found[8] == [
        ("METRIC", 0.0, ("memory", "1")),
        ("METRIC", 0.0, ("idle rate", "8")),
        ("METRIC", 0.0, ("switches, helper", "4")),
        ("METRIC", 1.5, ("memory", "3")),
    ]
    scopes = [
        re.search(r"Recorder: .*? <(\d+)>, Scope: (.*)", t).groups()
        for t in definitions(folder, "METRIC_INSTANCE")
    ]
    assert scopes == [
        ("8", 'LOCATION_GROUP "rank 2" <2>'),
        ("7", 'LOCATION "worker 1" <1>'),
        ("8", 'LOCATION "worker 3" <3>'),
        ("8", 'LOCATION_GROUP "rank 2" <2>'),
    ]
    assert any(line.split(None, 1)[1:] == ["rank 1: cut"] for line in printed(folder, "-I"))
    assert "rank 2: 5 events lost" in printed(folder, "-I")


@reads
def test_streams_belong_to_their_gpu(tmp_path):
    write_otf2(with_gpu(), tmp_path / "archive")
    groups = definitions(tmp_path / "archive", "LOCATION_GROUP")
    assert [re.search(r'"(.*?)".*Type: (\w+)', text).groups() for text in groups] == [
        ("rank 0", "PROCESS"), ("rank 0, GPU 1", "ACCELERATOR")]
    locations = definitions(tmp_path / "archive", "LOCATION")
    assert [re.search(r'"(.*?)".*Type: (\w+).*Group: "(.*?)"', text).groups() for text in locations] == [
        ("worker 0", "CPU_THREAD", "rank 0"),
        ("GPU 1, stream 7", "ACCELERATOR_STREAM", "rank 0, GPU 1"),
        ("GPU 1, stream 8", "ACCELERATOR_STREAM", "rank 0, GPU 1"),
        ("outside of tasks", "CPU_THREAD", "rank 0"),
    ]
    found = events(tmp_path / "archive")
    by_outer = {"task": 2, "parent": 1}
    assert found[1] == [("ENTER", 1.5, "hopping", by_outer), ("LEAVE", 2.5, "hopping")]
    assert found[2] == [
        ("ENTER", 0.5, "copy host to device", by_outer),
        ("LEAVE", 1.0, "copy host to device"),
        ("ENTER", 2.0, "set memory"),
        ("LEAVE", 2.25, "set memory"),
    ]


@reads
def test_a_task_that_was_not_seen_to_begin_or_end(tmp_path):
    trace = trace_of([("a", 0, -1, [(0, 0.0, 1.0), (0, 2.0, 3.0)]), ("b", 0, 0, [(0, 1.0, 2.0)])])
    trace.tasks["created"] = np.nan
    trace.tasks["finished"][0] = np.nan
    write_otf2(trace, tmp_path / "archive")
    kinds = [(event[0], event[1], event[2][1:]) for event in events(tmp_path / "archive")[0] if "TASK" in event[0]]
    a, b, own = ("outside of tasks", "1"), ("outside of tasks", "2"), ("worker 0", "0")
    assert kinds == [
        ("THREAD_TASK_SWITCH", 0.0, a),
        ("THREAD_TASK_SWITCH", 1.0, own),
        ("THREAD_TASK_SWITCH", 1.0, b),
        ("THREAD_TASK_COMPLETE", 2.0, b),
        ("THREAD_TASK_SWITCH", 2.0, a),
        ("THREAD_TASK_SWITCH", 3.0, own),
    ]


@reads
def test_nothing_is_lost(tmp_path):
    trace = synthetic(6000, 3, 2, seed=5)
    write_otf2(trace, tmp_path / "archive")
    found = events(tmp_path / "archive")
    every = [event for location in found.values() for event in location]
    kinds = Count(event[0] for event in every)
    suspensions = len(trace.slices) - len(trace.tasks)
    assert kinds["THREAD_TASK_CREATE"] == kinds["THREAD_TASK_COMPLETE"] == len(trace.tasks)
    assert kinds["THREAD_TASK_SWITCH"] == len(trace.slices) + suspensions
    assert kinds["ENTER"] == kinds["LEAVE"] >= len(trace.slices) + len(trace.regions)
    assert kinds["METRIC"] == sum(len(counter.time) for counter in trace.counters)
    created = [event[2] for event in every if event[0] == "THREAD_TASK_CREATE"]
    assert len(set(created)) == len(created)
    for location in found.values():
        times = [event[1] for event in location]
        assert times == sorted(times)
        depth = np.cumsum([{"ENTER": 1, "LEAVE": -1}.get(event[0], 0) for event in location])
        assert depth.min() >= 0 and depth[-1] == 0


@reads
def test_an_empty_trace(tmp_path):
    write_otf2(trace_of([]), tmp_path / "archive")
    assert events(tmp_path / "archive") == {}


def test_a_folder_that_exists_stays_as_it_is(tmp_path):
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / "mine").write_text("kept")
    with pytest.raises((InputError, RunError), match="exists already|without OTF2") as caught:
        write_otf2(suspended(), tmp_path / "archive")
    if hasattr(_core, "otf2"):
        assert caught.type is InputError
    assert [p.name for p in (tmp_path / "archive").iterdir()] == ["mine"]


def test_without_the_library_it_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.delattr(_core, "otf2", raising=False)
    with pytest.raises(InputError, match="apt-get install libotf2-trace-dev"):
        write_otf2(suspended(), tmp_path / "archive")
    assert not list(tmp_path.iterdir())


@built
def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be written: (Not a directory|File exists)"):
        write_otf2(suspended(), tmp_path / "file" / "archive")


@built
def test_a_full_disk_leaves_nothing_behind(tmp_path):
    script = """
import resource, sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from plaq.trace.otf2 import write_otf2
from synthetic_trace import synthetic
trace = synthetic(20000)
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
try:
    write_otf2(trace, Path(sys.argv[1]))
except Exception as error:
    print(type(error).__name__, error)
"""
    command = [sys.executable, "-c", script, str(tmp_path / "archive"), str(Path(__file__).parent)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ran.stdout.startswith("RunError OTF2: File is too large") and not ran.stderr, ran
    assert not list(tmp_path.iterdir())


@built
@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"location": [0, 1, 0]}, "not sorted by location"),
        ({"location": [0, 0, 7]}, "out of range"),
        ({"begin": [0, 20, 5], "end": [10, 30, 8]}, "do not nest"),
        ({"end": [10, 20, 999]}, "out of range"),
        ({"begin": [0]}, "columns differ in length"),
    ],
)
def test_columns_that_do_not_fit_together(tmp_path, wrong, message):
    types = {name: np.int32 for name in ("location", "depth", "region", "creator")}
    types |= {"begin": np.int64, "end": np.int64, "generation": np.uint32, "last": np.uint8}
    types |= {"task": np.uint64, "parent": np.uint64}
    columns = {name: [0, 0, 0] for name in types} | {"begin": [0, 10, 20], "end": [10, 20, 30]} | wrong
    none = {
        "location": np.int32,
        "time": np.int64,
        "generation": np.uint32,
        "counter": np.int32,
        "value": np.float64,
        "peer": np.int32,
        "number": np.uint32,
        "bytes": np.uint64,
        "sends": np.uint8,
    }
    none = {name: np.zeros(0, type) for name, type in none.items()}
    with pytest.raises((RuntimeError, ValueError), match=message):
        _core.otf2.write(
            str(tmp_path / "archive"),
            creator="",
            description="",
            duration=100,
            hosts=["here"],
            task_names=["a"],
            region_names=[],
            processes=[("rank 0", 0, -1)],
            locations=[("worker 0", 0, _core.otf2.Kind.thread), ("worker 1", 0, _core.otf2.Kind.thread)],
            quantities=[],
            counters=[],
            intervals={name: np.array(values, types[name]) for name, values in columns.items()},
            created=none,
            samples=none,
            messages=none,
        )
