"""The rules of the trace event format, and that nothing is lost on the way."""

import gzip
import json

import numpy as np
import pytest
from hand_made import suspended, trace_of
from synthetic_trace import synthetic

from plaq.errors import RunError
from plaq.trace.chrome import write_chrome
from plaq.trace.model import Counter


def written(trace, path):
    write_chrome(trace, path)
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)


FIELDS = {  # of every phase, as the format has them; readers drop an event that lacks one, some silently
    "M": {"ph", "name", "pid", "tid", "args"},
    "X": {"ph", "name", "pid", "tid", "ts", "dur", "cat", "args"},
    "s": {"ph", "name", "pid", "tid", "ts", "cat", "id"},
    "f": {"ph", "name", "pid", "tid", "ts", "cat", "id", "bp"},
    "C": {"ph", "name", "pid", "ts", "args"},
    "i": {"ph", "name", "pid", "tid", "ts", "cat", "s"},
}
KINDS = {"ph": str, "name": str, "cat": str, "bp": str, "s": str, "args": dict, "pid": int, "tid": int, "id": int}


def check_rules(file):
    """What the format asks of every kind of event, and what viewers ask beyond."""
    assert set(file) == {"displayTimeUnit", "otherData", "traceEvents"} and file["displayTimeUnit"] in ("ms", "ns")
    processes, threads, stacks, flows = set(), set(), {}, {}
    for event in file["traceEvents"]:
        assert set(event) == FIELDS[event["ph"]]
        assert all(type(event[name]) is kind for name, kind in KINDS.items() if name in event)
        assert event["pid"] > 0
        if event["ph"] == "M":
            (key,) = event["args"]
            assert event["name"] in {f"process_{key}", f"thread_{key}"} and key in {"name", "sort_index"}
            (processes if event["name"] == "process_name" else threads).add((event["pid"], event["tid"]))
            continue
        assert event["ts"] >= 0 and event["ts"] == round(event["ts"], 3)
        if event["ph"] == "X":
            assert event["dur"] >= 0 and (event["pid"], event["tid"]) in threads
            begin, end = round(event["ts"] * 1000), round((event["ts"] + event["dur"]) * 1000)
            stacks.setdefault((event["pid"], event["tid"]), []).append((begin, end))
        elif event["ph"] in "sf":
            flows.setdefault(event["id"], []).append(event)
        elif event["ph"] == "C":
            assert event["args"] and all(isinstance(v, float) and np.isfinite(v) for v in event["args"].values())
        else:
            assert event["s"] == "g"
    for intervals in stacks.values():  # complete events of a thread nest, in the order of the file
        open_ends, last = [], 0
        for begin, end in intervals:
            assert begin >= last
            last = begin
            while open_ends and open_ends[-1] <= begin and end > open_ends[-1]:
                open_ends.pop()
            assert not open_ends or end <= open_ends[-1]
            open_ends.append(end)
    for start, finish in flows.values():  # an arrow starts and ends within a complete event
        assert (start["ph"], finish["ph"], finish["bp"]) == ("s", "f", "e") and start["ts"] <= finish["ts"]
        assert (start["cat"], start["name"]) == (finish["cat"], finish["name"])  # what readers join them by, with id
        for end in (start, finish):
            time = round(end["ts"] * 1000)
            intervals = np.array(stacks[end["pid"], end["tid"]])
            assert ((intervals[:, 0] <= time) & (time <= intervals[:, 1])).any()
    assert {pid for pid, _ in threads} <= {pid for pid, _ in processes}
    return flows


def kinds(file, phase):
    return [event for event in file["traceEvents"] if event["ph"] == phase]


def test_a_suspended_task(tmp_path):
    file = written(suspended(), tmp_path / "trace.json")
    flows = check_rules(file)
    found = [(e["name"], e["cat"], e["tid"], e["ts"] / 1e6, e["dur"] / 1e6) for e in kinds(file, "X")]
    assert found == [
        ("outer", "task", 1, 0, 3),
        ("whole", "region", 1, 1, 2),
        ("part", "region", 1, 2, 1),
        ("inner", "task", 1, 3, 2),
        ("outer", "task", 2, 5, 4),
        ("whole", "region", 2, 5, 3),
        ("part", "region", 2, 5, 1),
        ("late", "region", 2, 7, 1),
        ("loop", "region", 3, 0, 10),
        ("step", "region", 3, 4, 2),
    ]
    assert kinds(file, "X")[3]["args"] == {"task": 2, "parent": 1}
    names = {e["tid"]: e["args"]["name"] for e in kinds(file, "M") if e["name"] == "thread_name"}
    assert names == {1: "worker 0", 2: "worker 1", 3: "main"}
    ends = [[(e["tid"], e["ts"]) for e in pair] for pair in flows.values()]
    assert ends == [[(1, 2999999.999), (1, 3500000.0)], [(1, 4999999.999), (2, 6000000.0)]]
    assert file["otherData"] == {"notes": [], "command": "made up"}


def test_a_target_that_waits_is_met_at_its_next_slice_and_impossible_links_are_said(tmp_path):
    trace = trace_of(
        [("a", 0, -1, [(0, 0.0, 1.0)]), ("b", 0, -1, [(0, 1.0, 2.0), (0, 4.0, 5.0)]), ("never", 0, -1, [])],
        links=[(0, 1, 3.0), (0, 1, 0.5), (1, 0, 4.5), (2, 1, 1.0), (0, 2, 1.0)],
        notes=["rank 0 was cut"],
    )
    file = written(trace, tmp_path / "t.json")
    ends = [[e["ts"] for e in pair] for pair in check_rules(file).values()]
    assert ends == [[999999.999, 4e6], [5e5, 1e6]]
    notes = ["rank 0 was cut", "3 links are left out: no worker had their tasks"]
    assert file["otherData"]["notes"] == notes
    assert [e["name"] for e in kinds(file, "i")] == notes


def test_counters_and_odd_names(tmp_path):
    time = np.array([0.0, 0.5, 1.0])
    trace = trace_of(
        [('100 % "é"\n', 0, -1, [(0, 0.0, 1.0)])],
        counters=[
            Counter("idle rate", "0.01 %", 0, 0, -1, time, np.array([1, 2, 3])),
            Counter("load %d", "", 0, -1, 1, time, np.array([0.25, np.nan, np.inf])),
        ],
    )
    file = written(trace, tmp_path / "t.json")
    check_rules(file)
    assert [(e["name"], e["ts"], e["args"]) for e in kinds(file, "C")] == [
        ("idle rate, worker 0", 0, {"0.01 %": 1.0}),
        ("idle rate, worker 0", 500000, {"0.01 %": 2.0}),
        ("idle rate, worker 0", 1000000, {"0.01 %": 3.0}),
        ("load %d, helper", 0, {"value": 0.25}),
    ]
    assert kinds(file, "X")[0]["name"] == '100 % "é"\n'


@pytest.mark.parametrize("name", ["t.json", "t.json.gz"])
def test_nothing_is_lost(tmp_path, name):
    trace = synthetic(30000, 3, 2, seed=7)
    file = written(trace, tmp_path / name)
    flows = check_rules(file)
    whole = [event for event in kinds(file, "X") if event["cat"] == "task"]
    last = np.zeros(len(trace.tasks))
    np.maximum.at(last, trace.slices["task"], trace.slices["end"])
    possible = (last[trace.links["target"]] >= trace.links["time"]).sum()
    assert len(whole) == len(trace.slices) and 0 < len(flows) == possible < len(trace.links)
    assert file["otherData"]["notes"] == [
        f"{len(trace.links) - possible} links are left out: no worker had their tasks"
    ]
    assert len(kinds(file, "C")) == sum(len(counter.time) for counter in trace.counters)
    total = (trace.slices["end"] - trace.slices["begin"]).sum()
    assert sum(event["dur"] for event in whole) / 1e6 == pytest.approx(total, abs=1e-9 * len(whole))
    assert {event["pid"] for event in whole} == {1, 2, 3}
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_an_empty_trace_and_a_folder_that_is_missing(tmp_path):
    check_rules(written(trace_of([]), tmp_path / "t.json"))
    with pytest.raises(RunError, match="cannot be written: No such file"):
        write_chrome(trace_of([]), tmp_path / "missing" / "t.json")
