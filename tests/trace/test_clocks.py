"""Ranks of several hosts on one clock: a recorded file, changed to look like one from elsewhere."""

import json
import struct

import numpy as np
import pytest
from trace_file import blocks_of, file_of

from plaq import trace
from plaq.trace.rank_file import CLOCKS, OFFSET, PROCESS

HOUR = 3_600_000_000_000  # ns


@pytest.fixture
def folder(tmp_path):
    """Rank 0 as recorded; rank 1 is the same file from a host whose clock is an hour ahead."""
    with trace.Session(tmp_path / "t", period=0.02, notes={"ranks": 2}), trace.region("all"):
        sum(range(2_000_000))
    first = (tmp_path / "t/rank-0000.plaqtrace").read_bytes()
    (tmp_path / "t/rank-0001.plaqtrace").write_bytes(moved(first))
    return tmp_path / "t"


def moved(data):
    out = []
    for kind, thread, lost, body in blocks_of(data):
        if kind == PROCESS:
            body = json.dumps(json.loads(body) | {"rank": 1, "host": "other", "boot": "another"}).encode()
        elif kind == CLOCKS:
            ticks, ns, between = struct.unpack("<QQQ", body)
            body = struct.pack("<QQQ", ticks, ns + HOUR, between)
        out.append((kind, thread, lost, body))
    return file_of(out)


def add(file, kind, *bodies):
    file.write_bytes(file_of([*blocks_of(file.read_bytes()), *((kind, 0, 0, body) for body in bodies)]))


def test_without_a_comparison_the_trace_says_so(folder):
    t = trace.read(folder)
    assert len(t.notes) == 1 and "rank 1" in t.notes[0] and "not compared" in t.notes[0]
    assert t.duration > 3000


def test_offsets_align(folder):
    file = folder / "rank-0001.plaqtrace"
    begin = int.from_bytes(first_clock(file)[8:16], "little") * 1e-9
    drift = 0.001  # the hosts drift apart while the program runs
    compared = ((begin, -3600.0), (begin + 10, -3600.0 + drift))
    add(file, OFFSET, *(struct.pack("<ddd", seconds, 1e-6, at) for at, seconds in compared))
    t = trace.read(folder)
    assert t.notes == [] and [r.rank for r in t.ranks] == [0, 1] and t.ranks[1].host == "other"
    mine, other = (t.regions[t.regions["rank"] == r] for r in (0, 1))
    expected = mine["end"] + drift / 10 * (mine["end"] - mine["begin"])
    assert np.allclose(mine["begin"], other["begin"], atol=1e-4) and np.allclose(expected, other["end"], atol=1e-4)


def first_clock(file):
    return next(body for kind, _, _, body in blocks_of(file.read_bytes()) if kind == CLOCKS)


def test_a_rate_that_changed_is_said(folder):
    file = folder / "rank-0001.plaqtrace"
    ticks, ns, between = struct.unpack("<QQQ", first_clock(file))
    add(file, CLOCKS, *(struct.pack("<QQQ", ticks + step * 10**10, ns + int(step * factor * 4 * 10**9), between)
                        for step, factor in ((1, 1.0), (2, 1.01))))
    assert any("changed its rate" in note for note in trace.read(folder).notes)


def test_a_missing_rank_is_said(folder):
    (folder / "rank-0001.plaqtrace").unlink()
    assert trace.read(folder).notes == ["1 ranks have a file here, but 2 took part"]
