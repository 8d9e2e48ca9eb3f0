"""Messages between ranks: ends that match, as a table, in the timeline and in the outputs."""

import json
import subprocess
import sys
from collections import Counter as Count

import numpy as np
import pytest
from hand_made import suspended, trace_of

from plaq.comm import library_version
from plaq.comm.launch import launcher_command
from plaq.trace import read
from plaq.trace.chrome import write_chrome
from plaq.trace.messages import match
from plaq.trace.model import END, MESSAGE
from plaq.trace.on_worker import OnWorker
from plaq.trace.timeline import Timeline

# Each rank sends to the next one, r + 1 numbers in the message r; then all add something up.
PROGRAM = """
import sys
import numpy as np
from plaq import trace
from plaq.comm import world

comm = world()
native = comm.collectives
with trace.Session(sys.argv[1], comm):
    with trace.region("round"):
        for turn in range(3):
            if comm.rank % 2 == 0:
                comm.send(np.zeros(1000 * (turn + 1)), (comm.rank + 1) % comm.size)
                comm.receive((comm.rank - 1) % comm.size)
            else:
                comm.receive((comm.rank - 1) % comm.size)
                comm.send(np.zeros(1000 * (turn + 1)), (comm.rank + 1) % comm.size)
        total = comm.allreduce(np.full(50_000, 1.0))
assert total[0] == comm.size
"""


def end(wire, ends, time, sent, rank=0, size=8):
    return wire, ends, time, size, rank, -1, 0, sent


def test_ends_of_one_identity_match_in_the_order_of_time():
    ends = np.array([
        end(5, 1, 2.0, False, rank=1), end(5, 1, 1.0, True), end(5, 1, 9.0, False, rank=1), end(5, 1, 8.0, True),
        end(5, 2, 3.0, True, size=70), end(5, 2, 4.0, False, rank=2, size=70),
        end(6, 1, 5.0, True), end(5, 3, 6.0, False), end(5, 1, 10.0, True),  # the other end is missing
    ], END)
    found = match(ends)
    assert found[["sender", "receiver", "bytes", "sent", "received"]].tolist() == [
        (0, 1, 8, 1.0, 2.0), (0, 2, 70, 3.0, 4.0), (0, 1, 8, 8.0, 9.0)]
    assert len(match(np.zeros(0, END))) == 0 and len(match(ends[:1])) == 0


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    if not library_version():
        pytest.skip("no MPI on this machine")
    folder = tmp_path_factory.mktemp("messages") / "trace"
    done = subprocess.run([*launcher_command(4), sys.executable, "-c", PROGRAM, folder], capture_output=True, text=True,
                          timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    return read(folder)


def test_every_message_is_there_with_its_bytes(traced):
    messages = traced.messages
    long = messages[messages["bytes"] > 8000]
    per_pair = Count(zip(long["sender"].tolist(), long["receiver"].tolist()))
    for turn in range(3):
        size = 8000 * (turn + 1)
        some = messages[(messages["bytes"] >= size) & (messages["bytes"] < size + 500)]
        pairs = Count(zip(some["sender"].tolist(), some["receiver"].tolist()))
        assert all(pairs[rank, (rank + 1) % 4] >= 1 for rank in range(4)), (turn, pairs)
    assert sum(per_pair.values()) >= 12 and (messages["sender"] != messages["receiver"]).all()
    assert (messages["received"] >= messages["sent"]).all()  # of one host, on one clock
    for rank in range(4):  # an end that is matched was counted
        counters = {c.name: c.value[-1] for c in traced.counters if c.rank == rank}
        assert np.sum(messages["sender"] == rank) <= counters["messages sent"]
        assert np.sum(messages["receiver"] == rank) <= counters["messages received"]


def test_an_all_reduce_moves_its_bytes(traced):
    """50 000 numbers on 4 ranks: each rank has to send 2 (p - 1) / p of them at least, by any algorithm."""
    long = traced.messages[traced.messages["bytes"] >= 30_000]
    sent = np.bincount(long["sender"], long["bytes"], 4)
    assert (sent.sum() >= 2 * 3 * 400_000) and (sent > 0).all()


def with_messages():
    trace = trace_of(
        tasks=[("give", 0, -1, [(0, 0.0, 2.0)]), ("take", 1, -1, [(0, 1.0, 4.0)])],
        regions=[("main", 1, -1, -1, -1, 0, 0.0, 5.0)],
    )
    trace.messages = np.array([(0, 1, 700, 1.5, 3.5, 0, 0, 0, 0), (1, 0, 9, 2.0, 2.5, -1, 0, -1, 1)], MESSAGE)
    return trace


def test_ends_have_lanes():
    line = Timeline(trace := with_messages(), OnWorker(trace))
    names = [(lane.rank, lane.name) for lane in line.lanes]
    assert names == [(0, "worker 0"), (0, "helper"), (1, "worker 0"), (1, "main")]
    assert line.sender_lane.tolist() == [0, 3] and line.receiver_lane.tolist() == [2, 1]


def test_chrome_has_a_flow_for_each(tmp_path):
    trace = with_messages()
    trace.links = suspended().links[:0]
    write_chrome(trace, tmp_path / "t.json")
    flows = [e for e in json.loads((tmp_path / "t.json").read_text())["traceEvents"] if e.get("cat") == "message"]
    assert [(e["ph"], e["pid"], e["ts"], e["args"]["bytes"]) for e in flows] == [
        ("s", 1, 1.5e6, 700), ("f", 2, 3.5e6, 700), ("s", 2, 2e6, 9), ("f", 1, 2.5e6, 9)]
    assert flows[0]["id"] == flows[1]["id"] != flows[2]["id"] == flows[3]["id"]
