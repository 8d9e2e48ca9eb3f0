"""Damaged traces: one line, or what is complete of one that ends early, which every output says."""

import json
import struct

import numpy as np
import pytest
from consistent import check_consistent
from damage import damaged
from trace_file import blocks_of, file_of
from typer.testing import CliRunner

from plaq import trace
from plaq.cli.trace import app
from plaq.errors import InputError
from plaq.trace.assemble import CREATED, FINISHED, MORE, REGION_BEGIN, REGION_END, STARTED
from plaq.trace.profile import busy, profile
from plaq.trace.rank_file import CLOCKS, EVENTS, NAMES, PROCESS, SAMPLES, SERIES, THREAD

FILES = 300
MS = 1_000_000  # ns, which are the ticks here
WORDS = ["long", "short", "rare", "part"]


def block(kind, body, thread=0):
    return kind, thread, 0, body if isinstance(body, bytes) else json.dumps(body).encode()


def events(thread, *said):
    """(kind, time in ms, subject[, name or 0, number])"""
    out = b""
    for kind, time, subject, *rest in said:
        out += struct.pack("<QQ", kind << 56 | int(time * MS), subject)
        if rest:
            out += struct.pack("<QQ", MORE << 56 | (WORDS.index(rest[0]) if rest[0] else 0), rest[1])
    return block(EVENTS, out, thread)


def clock(time):
    return block(CLOCKS, struct.pack("<QQQ", int(time * MS), int(time * MS), 10))


def flush(number):
    """All blocks of the time from 10 number to 10 number + 10 ms. Worker 0 runs "long", worker 1 "short" and then
    "rare" for 3.5 % of the time of a worker."""
    t, first = 10 * number, 10 * number + 1
    sample = struct.pack("<QQd", int((t + 9.5) * MS), 0, number)
    return [
        block(SAMPLES, sample),
        events(0, (CREATED, t, first, "long", 0), (STARTED, t + 0.1, first),
               (REGION_BEGIN, t + 1, first, "part", 1 << 40 | first),
               (REGION_END, t + 9, 1 << 40 | first), (FINISHED, t + 9.6, first)),
        events(1,
               (CREATED, t + 0.2, first + 1, "short", first), (STARTED, t + 0.3, first + 1 | 1 << 48),
               (FINISHED, t + 9, first + 1),
               (CREATED, t + 9, first + 2, "rare", 0), (STARTED, t + 9.1, first + 2 | 1 << 48),
               (FINISHED, t + 9.45, first + 2)),
        clock(t + 10),
    ]


HEAD = [
    block(PROCESS, {"rank": 0, "pid": 7, "host": "here", "boot": "b", "clock": "steady clock", "period_ms": 10,
                    "notes": {"ranks": "1"}}),
    clock(0),
    block(NAMES, WORDS),
    *(block(THREAD, {"id": 8 + number, "name": ""}, number) for number in range(2)),
    block(SERIES, {"name": "steps", "unit": "1", "worker": -1, "thread": -1, "thread name": ""}),
]
WHOLE = [*HEAD, *(block for number in range(20) for block in flush(number))]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rank-0000.plaqtrace"
    path.write_bytes(file_of(WHOLE))
    return path


def test_what_is_whole_is_read(file):
    t = trace.read(file.parent)
    check_consistent(t)
    assert t.notes == [] and len(t.tasks) == 60 and t.duration == pytest.approx(0.2)
    assert {row.name: round(row.share, 3) for row in profile(t)}["rare"] == 0.019


def test_damaged_files(file):
    whole = file.read_bytes()
    rng = np.random.default_rng(31)
    short = 0
    for _ in range(FILES):
        how, content = damaged(whole, rng)
        file.write_bytes(content)
        try:
            t = trace.read(file.parent)
        except InputError as error:
            assert str(file) in str(error) or str(file.parent) in str(error), how
            assert "\n" not in str(error)
            continue
        assert len(content) < len(whole), f"{how}: anything but a lost end is refused"
        assert [note[:34] for note in t.notes] == ["rank 0: the trace ends early, at 0"] and t.ranks[0].end != "closed"
        check_consistent(t)
        complete = len(t.tasks) // 3  # flushes, of each of which all is there or nothing
        assert t.duration == pytest.approx(0.01 * complete)
        assert {row.name: row.calls for row in profile(t) if row.kind == "task"} == dict.fromkeys(WORDS[:3], complete)
        short += 1
    assert short > 5


@pytest.mark.parametrize("last", range(4))
def test_shares_of_a_cut_trace_are_those_of_its_complete_part(file, last):
    """However far the writer got in its last round: "rare" has begun in some of them, and "short" not ended."""
    file.write_bytes(file_of([*HEAD, *flush(0)], "open"))
    complete = trace.read(file.parent)
    half = events(1, (CREATED, 10, 12, "short", 0), (STARTED, 10.1, 12 | 1 << 48))
    rest = [*flush(1)[:2], half, clock(1000)][:last]
    file.write_bytes(file_of([*HEAD, *flush(0), *rest], "open"))
    t = trace.read(file.parent)
    assert profile(t) == profile(complete) and busy(t) == busy(complete)
    assert t.notes == ["rank 0: the trace ends early, at 0.010 s: no end was written, because the process was "
                       "killed or still runs"]


def test_a_rank_that_ends_early_is_not_idle_afterwards(file):
    alone = busy(trace.read(file.parent)).partition("busy ")[2]
    other = [block(PROCESS, json.loads(WHOLE[0][3]) | {"rank": 1}), *HEAD[1:], *flush(0)]
    (file.parent / "rank-0001.plaqtrace").write_bytes(file_of(other, "cut: No space left on device"))
    t = trace.read(file.parent)
    assert busy(t).partition("busy ")[2] == alone
    assert "rank 1: the trace ends early, at 0.010 s: No space left on device" in t.notes


def refused(file, blocks, why, **how):
    file.write_bytes(file_of(blocks, **how))
    with pytest.raises(InputError, match=f"{file.name}: .*{why}"):
        trace.read(file.parent)


def test_tasks_that_created_each_other_are_refused(file):
    circle = events(0, (CREATED, 1, 1, "long", 3), (CREATED, 2, 2, "short", 1), (CREATED, 3, 3, "rare", 2))
    refused(file, [*HEAD, circle, clock(10)], "tasks created each other in a cycle")
    refused(file, [*HEAD, events(0, (CREATED, 1, 1, "long", 1)), clock(10)], "in a cycle")


def test_blocks_with_right_checksums_and_wrong_content_are_refused(file):
    refused(file, [*HEAD, events(0, (CREATED, 1, 1, "long", 0)), block(NAMES, b"[")], "damaged, or not a trace")
    refused(file, [HEAD[0], *HEAD[1:2], events(0, (CREATED, 1, 1, "part", 0)), clock(10)], "IndexError")
    refused(file, [*HEAD, block(EVENTS, b"0123456789"), clock(10)], "ValueError")
    refused(file, [*HEAD, clock(0)], "its clock does not advance")
    refused(file, [block(PROCESS, {"rank": 5}), *HEAD[1:], clock(10)], "is the file of rank 5")


def test_a_block_that_is_missing_or_came_twice_is_refused(file):
    whole = file.read_bytes()
    at = len(file_of(WHOLE[:30]))
    end = len(file_of(WHOLE[:31]))
    for content in (whole[:at] + whole[end:], whole[:end] + whole[at:end] + whole[end:]):
        open_ = file_of(WHOLE, "open")[:512] + content[512:]  # where the head does not know the length
        file.write_bytes(open_)
        with pytest.raises(InputError, match="is damaged at byte [0-9]+: block 3[01] does not begin there"):
            trace.read(file.parent)
    file.write_bytes(whole + bytes(64))
    with pytest.raises(InputError, match=f"it was closed at byte {len(whole)}, and continues after that"):
        trace.read(file.parent)


def test_ranks_of_two_sessions_are_not_mixed(file):
    said = json.loads(WHOLE[0][3])
    for rank in range(2):
        process = block(PROCESS, said | {"rank": rank, "notes": {"ranks": "2", "session": f"number {rank}"}})
        (file.parent / f"rank-000{rank}.plaqtrace").write_bytes(file_of([process, *WHOLE[1:]]))
    with pytest.raises(InputError, match="rank-0001.plaqtrace: is of another session than rank-0000.plaqtrace"):
        trace.read(file.parent)


def test_older_versions_are_said(file):
    file.write_bytes(b"plaq trace 1\nclosed\n".ljust(512, b"\0"))
    with pytest.raises(InputError, match="is 'plaq trace 1', where this plaq reads a trace of plaq, version 2"):
        trace.read(file.parent)


@pytest.mark.parametrize("command", ["profile", "tree", "graph", "report", "chrome", "otf2"])
def test_every_command_refuses_a_damaged_one_and_says_what_is_missing(file, command):
    pytest.importorskip("plaq._core").__dict__.get("otf2") or command != "otf2" or pytest.skip("built without OTF2")
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    outcome = CliRunner().invoke(app, [command, str(file.parent)])
    assert outcome.exit_code == 0 and "rank 0: the trace ends early, at 0.0" in outcome.stderr
    at = len(file_of(WHOLE[:30])) + 50
    file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    outcome = CliRunner().invoke(app, [command, str(file.parent)])
    assert isinstance(outcome.exception, InputError) and f"{file}: is damaged between bytes" in str(outcome.exception)


def test_blocks_are_taken_apart_as_they_are_put_together():
    assert blocks_of(file_of(WHOLE)) == WHOLE
