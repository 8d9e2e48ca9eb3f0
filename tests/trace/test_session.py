"""Sessions, regions and counters from Python."""

import threading
import time

import numpy as np
import pytest
from consistent import check_consistent

from plaq import trace
from plaq.errors import InputError


def test_regions_as_blocks_and_decorators(tmp_path):
    @trace.region("countdown")
    def countdown(n):
        return countdown(n - 1) if n else "end"

    with trace.Session(tmp_path / "t", period=0.02, notes={"input": "some 'text'\n"}) as session:
        with trace.region("outer"):
            assert countdown(3) == "end"
            with pytest.raises(ZeroDivisionError), trace.region("fails"):
                1 / 0
    assert session.problem == "" and session.path == tmp_path / "t/rank-0000.plaqtrace"
    with trace.region("after"):
        pass

    t = trace.read(tmp_path / "t")
    check_consistent(t)
    assert [t.names[r["name"]] for r in t.regions] == ["outer"] + 4 * ["countdown"] + ["fails"]
    assert t.regions["parent"].tolist() == [-1, 0, 1, 2, 3, 0]
    assert (t.regions["worker"] == -1).all() and t.ranks[0].threads[t.regions["thread"][0]] == "main"
    assert t.metadata["input"] == "some 'text'\n" and t.metadata["ranks"] == "1" and t.metadata["version"]
    assert t.notes == [] and t.ranks[0].rank == 0


def test_regions_of_threads_do_not_mix(tmp_path):
    with trace.Session(tmp_path / "t"):
        both = threading.Barrier(2)

        def work(name):
            with trace.region(name):
                both.wait()
                with trace.region(name + " inside"):
                    both.wait()

        threads = [threading.Thread(target=work, args=(name,)) for name in ("a", "b")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    t = trace.read(tmp_path / "t")
    check_consistent(t)
    name = np.array(t.names)[t.regions["name"]]
    for inner in np.flatnonzero(np.char.endswith(name, "inside")):
        assert name[inner] == name[t.regions["parent"][inner]] + " inside"
    assert len(set(t.regions["thread"])) == 2


def test_regions_that_overlap_without_nesting(tmp_path):
    with trace.Session(tmp_path / "t"):
        one, two, three = trace.region("one"), trace.region("two"), trace.region("three")
        one.__enter__(), two.__enter__(), one.__exit__(), three.__enter__(), three.__exit__(), two.__exit__()
    t = trace.read(tmp_path / "t")
    check_consistent(t)
    assert t.regions["parent"].tolist() == [-1, -1, -1]  # never one that ends earlier


def test_counters(tmp_path):
    with pytest.raises(InputError, match="'moves'.*'resident memory'"):
        trace.read_counter("moves")
    moves = trace.counter("moves", "1")
    with trace.Session(tmp_path / "t", period=0.01):
        for _ in range(20):
            moves.add(2)
            time.sleep(0.01)
    assert trace.read_counter("moves") == moves.value == 40
    del moves
    t = trace.read(tmp_path / "t")
    found = {c.name: c for c in t.counters}
    assert found["moves"].value[-1] == 40 and (np.diff(found["moves"].value) >= 0).all()
    assert len(found["moves"].time) >= 5 and found["moves"].unit == "1" and found["moves"].worker == -1
    assert found["resident memory"].value.min() > 1e6
    cores = [c for name, c in found.items() if name.startswith("utilisation of core ")]
    assert cores and all((0 <= c.value).all() and (c.value <= 100).all() for c in cores)
    switches = [c for c in t.counters if c.name == "voluntary context switches"]
    assert {t.ranks[0].threads[c.thread] for c in switches} >= {"main"}


def test_what_is_refused(tmp_path):
    with trace.Session(tmp_path / "t"), pytest.raises(InputError, match="another session"):
        trace.Session(tmp_path / "u")
    with pytest.raises(InputError, match="holds a trace already"):
        trace.Session(tmp_path / "t")
    (tmp_path / "u").mkdir()
    (tmp_path / "u/rank-0003.plaqtrace").touch()
    with pytest.raises(InputError, match="holds a trace already"):
        trace.Session(tmp_path / "u")


def test_each_session_has_its_own_threads_and_regions(tmp_path):
    """What is left of a session does not get into the next one."""
    for number in range(2):
        with trace.Session(tmp_path / str(number)):
            outer = trace.region("never ended")
            outer.__enter__()
            thread = threading.Thread(target=trace.region("in a thread")(lambda: None))
            thread.start()
            thread.join()
        outer.__exit__()
    t = trace.read(tmp_path / "1")
    check_consistent(t)
    name = np.array(t.names)[t.regions["name"]]
    assert sorted(name) == ["in a thread", "never ended"] and (t.regions["task"] == -1).all()
    assert t.regions["end"][name == "never ended"] > t.regions["end"][name == "in a thread"]
    assert len(set(t.regions["thread"])) == 2
