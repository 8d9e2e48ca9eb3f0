"""Ranks that keep others waiting: the one at fault is named, and the job ends."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from plaq.comm import library_version, timeout
from plaq.comm.launch import launcher_command
from plaq.comm.timeout import Status, find_fault, watched_rank


@pytest.mark.parametrize("sign, words", [
    (Status(-1, "works", 0), "does not respond"),
    (Status(11, "works", 0), "does not respond"),
    (Status(0.1, "ended", 50), "has ended"),
    (Status(0.1, "works", 50), "has made no progress for 50 s"),
    (Status(0.1, "works", 0.2), None),
    (Status(0.1, "waits", 50), None),  # it names the rank that it waits for
])
def test_a_fault_of_a_rank_is_named(sign, words):
    assert find_fault(sign, 10.0, 20.0) == words


@pytest.mark.parametrize("members", [range(8), [4, 1, 7], [5, 2]])
def test_each_member_of_a_group_is_watched_by_one_other(members):
    assert sorted(watched_rank(members, rank) for rank in members) == sorted(members)
    assert all(watched_rank(members, rank) != rank for rank in members)


class Heartbeat:
    """Counts queries; all ranks report that they work."""

    def __init__(self, ranks):
        self.size, self.asked = ranks, []

    def set_waiting(self, yes):
        pass

    def poll(self, ranks, period):
        self.asked += ranks

    def report_of(self, rank):
        return 0.0, "works", 0.0


def test_a_rank_that_waits_asks_one_other_however_many_there_are(monkeypatch):
    monkeypatch.setattr(timeout, "POLL", 0.0)
    heartbeat, end = Heartbeat(10_000), time.monotonic() + 0.3
    with timeout.limit_waits(0.1, lambda: None):
        timeout.wait(SimpleNamespace(wait=lambda seconds: time.monotonic() > end), 17, range(10_000), heartbeat)
    assert heartbeat.asked == [16]


# Action of rank 1 of 3 while the others wait for it; their timeout and stop request; exit code and message.
FAULTS = {
    "exits with a code": ("sys.exit(3)", 300, None, 3, "rank 1 of 3 ended with exit code 3, which ended the job"),
    "ends": ("pass", 4, None, 1, "rank 1 of 3 has ended, and others wait for it (run.timeout = 4 s)"),
    "is stopped": ("os.kill(os.getpid(), signal.SIGSTOP)", 4, None, 1, "rank 1 of 3 does not respond"),
    "stands still": ("time.sleep(1000)", 4, None, 1, "rank 1 of 3 has made no progress for"),
    "is stopped before the run": ("os.kill(os.getpid(), signal.SIGSTOP)", 1e6, "SIGTERM", 1,
                                  "it was asked to stop (SIGTERM)"),
    "works": ("work(6); w.barrier()", 4, None, 0, ""),
}
JOB = """
import os, signal, sys, time
from plaq.comm import timeout
from plaq.comm import world
timeout.GRACE = 4.0

def work(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass

w = world()
w.barrier()
if w.rank == 1:
    {action}
else:
    with timeout.limit_waits({seconds}, lambda: {reason!r}):
        w.barrier()
"""


@pytest.fixture(scope="module")
def ended():
    """All jobs at once, because they only wait."""
    def job(fault):
        action, seconds, reason, *_ = fault
        environment = {**os.environ, "PLAQ_EXPECTED_RANKS": "3", "PLAQ_TERMINAL": "0"}
        script = JOB.format(action=action, seconds=seconds, reason=reason)
        return subprocess.run([*launcher_command(3), sys.executable, "-c", script], capture_output=True, text=True,
                              timeout=200, env=environment, stdin=subprocess.DEVNULL)

    with ThreadPoolExecutor() as pool:
        return dict(zip(FAULTS, pool.map(job, FAULTS.values())))


@pytest.mark.skipif(not library_version(), reason="plaq is built without MPI")
@pytest.mark.parametrize("fault", FAULTS)
def test_no_job_waits_for_ever(ended, fault):
    *_, code, words = FAULTS[fault]
    job = ended[fault]
    assert job.returncode == code and words in job.stderr, job.stderr
    assert job.stderr.count("rank 1 of 3") == bool(words)


# Rank 1 stands still, and rank 0 makes every call that there is; none of them waits for ever.
EVERY_CALL = """
import inspect, time
import numpy as np
from plaq import lqcd
from plaq.comm import timeout
from plaq.comm import Communicator, world
from plaq.errors import RunError

w = world()
gauge = lqcd.GaugeField(lqcd.Lattice((4, 4, 4, 4), comm=w))
w.barrier()
if w.rank == 1:
    time.sleep(1000)
long = np.zeros(1 << 21)
calls = {
    "barrier": w.barrier, "bcast": lambda: w.bcast(long, 1), "gather": lambda: w.gather(1),
    "allgather": lambda: w.allgather(1), "table": lambda: w.table(long), "allreduce": lambda: w.allreduce(1),
    "ordered_sum": lambda: w.ordered_sum({0: long}), "on_root": lambda: w.on_root(lambda: long),
    "together": lambda: w.together(int), "each": lambda: w.each(int), "split": lambda: w.split(0),
    "starmap": lambda: list(w.starmap(int, [(), ()])), "split_by_node": w.split_by_node, "messenger": w.messenger,
    "clock_offset": w.clock_offset, "send": lambda: w.send(long, 1), "receive": lambda: w.receive(1),
    "fold": lambda: w.fold(1, int.__add__), "scatter": lambda: w.scatter([long, long], 1),
    "alltoall": lambda: w.alltoall([long, long]), "exchange": lambda: w.exchange({1: long}),
    "reduce_scatter": lambda: w.reduce_scatter(long), "carry_out": gauge.plaquette,
}
alone = {"rank", "size", "share", "abort", "collectives", "native"}
assert {name for name in dir(Communicator) if name[0] != "_"} == {*calls, *alone}
for name, call in calls.items():
    try:
        with timeout.limit_waits(0.6, lambda: None):
            call()
    except RunError as error:
        assert "rank 1 of 2" in str(error), error
    else:
        assert name == "on_root", name  # the root need not wait for the others
print("all of them", flush=True)
w.abort(7)
"""


@pytest.mark.skipif(not library_version(), reason="plaq is built without MPI")
def test_every_call_names_the_rank_that_keeps_it_waiting():
    job = subprocess.run([*launcher_command(2), sys.executable, "-c", EVERY_CALL], capture_output=True, text=True,
                         timeout=200, stdin=subprocess.DEVNULL,
                         env={**os.environ, "PLAQ_EXPECTED_RANKS": "2", "PLAQ_TERMINAL": "0"})
    assert job.returncode == 7 and "all of them" in job.stdout, job.stdout + job.stderr
