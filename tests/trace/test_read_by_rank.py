"""Traces of chosen ranks, and of one rank after the other."""

import json

import numpy as np
import pytest

from plaq import _core, trace
from plaq.errors import InputError
from plaq.main import main
from plaq.trace.chrome import write_chrome
from plaq.trace.profile import busy, profile, profile_by_rank
from plaq.trace.read import start_of

RANKS = (0, 5, 6, 10000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Trace of four ranks, one after the other, of which rank r has 1 + r mod 7 regions "step" within "all"."""
    folder = tmp_path_factory.mktemp("trace") / "t"
    for rank in RANKS:
        session = _core.trace.Session(folder, rank, 10, 1 << 16, {"ranks": str(len(RANKS))}, [])
        with trace.region("all"):
            for _ in range(1 + rank % 7):
                with trace.region("step"):
                    np.linalg.norm(np.ones(1000))
        session.close()
        del session
    return folder


def test_chosen_ranks(folder):
    assert [info.rank for info in trace.read(folder).ranks] == list(RANKS)
    found = trace.read(folder, [6, 10000])
    assert [info.rank for info in found.ranks] == [6, 10000] and found.notes == []
    assert (np.array(found.names)[found.regions["name"]] == "step").sum() == 7 + 5
    with pytest.raises(InputError, match="rank 7 has no file here"):
        trace.read(folder, [0, 7])


def test_one_rank_at_a_time_has_the_profile_of_all(folder):
    whole = trace.read(folder)
    traces = list(trace.read_by_rank(folder))
    assert [[info.rank for info in t.ranks] for t in traces] == [[rank] for rank in RANKS]
    rows, use, notes = profile_by_rank(traces)
    assert notes == whole.notes == [] and use == busy(whole)
    for row, same in zip(rows, profile(whole), strict=True):
        assert (row.kind, row.name, row.calls) == (same.kind, same.name, same.calls)
        for value in ("inclusive", "exclusive", "mean", "min", "max", "stddev", "share", "suspended"):
            assert getattr(row, value) == pytest.approx(getattr(same, value), rel=1e-9, abs=1e-12)


def test_one_rank_at_a_time_has_the_events_of_all(folder, tmp_path):
    write_chrome(trace.read(folder), tmp_path / "all.json")
    since = start_of(folder)
    write_chrome(trace.read_by_rank(folder, since=since), tmp_path / "by rank.json")
    whole, by_rank = (json.loads((tmp_path / name).read_text()) for name in ("all.json", "by rank.json"))
    assert by_rank["otherData"] == whole["otherData"]
    in_order = [sorted(json.dumps(event) for event in file["traceEvents"]) for file in (whole, by_rank)]
    assert in_order[0] == in_order[1] and len(in_order[0]) > len(RANKS)


def test_missing_ranks_are_noted_once(folder, tmp_path):
    for rank in (0, 6):
        (tmp_path / f"rank-{rank:04d}.plaqtrace").write_bytes((folder / f"rank-{rank:04d}.plaqtrace").read_bytes())
    notes = [note for t in trace.read_by_rank(tmp_path) for note in t.notes]
    assert notes == trace.read(tmp_path).notes == ["2 ranks have a file here, but 4 took part"]


@pytest.mark.parametrize("command", ["profile", "tree", "report", "chrome", "graph"])
def test_the_option(folder, command, monkeypatch, capsys):
    def call(ranks):
        monkeypatch.setattr("sys.argv", ["plaq", "trace", command, str(folder), "--ranks", ranks])
        with pytest.raises(SystemExit) as stopped:
            main()
        return stopped.value.code or 0, capsys.readouterr()

    code, said = call("0,5-6")
    assert code == 0 and said.err == ""
    if command == "profile":
        assert "of 3 ranks" in said.out
    for wrong, word in (("0-", "should be different ranks such as 0,5-8"), ("1", "rank 1 has no file here")):
        code, said = call(wrong)
        assert code == 2 and word in said.err and said.err.count("\n") == 1


def test_sessions_of_chosen_ranks(tmp_path):
    with trace.Session(tmp_path / "t", ranks=[0]) as session:
        assert session.path == tmp_path / "t/rank-0000.plaqtrace"
    with pytest.raises(InputError, match="trace: ranks = 1, 3: allowed are ranks 0 to 0"):
        trace.Session(tmp_path / "u", ranks=[0, 1, 3])
    with pytest.raises(InputError, match="trace: ranks = none"):
        trace.Session(tmp_path / "u", ranks=[])
