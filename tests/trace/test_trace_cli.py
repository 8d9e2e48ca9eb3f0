"""``plaq trace``: what it prints, writes and refuses."""

import gzip
import json
import shutil
import subprocess

import pytest
from hand_made import suspended, trace_of
from synthetic_trace import synthetic
from test_record import PROGRAM, command

import plaq.trace
from plaq import _core
from plaq.main import main


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """run(trace, command, ...) gives (exit code, stdout, stderr) of `plaq trace command FOLDER ...`, where the folder
    holds that trace; with None it holds what it holds."""

    def call(trace, command, *arguments):
        if trace:
            monkeypatch.setattr(plaq.trace, "read", lambda folder, ranks=None: trace)
            monkeypatch.setattr(plaq.trace, "read_by_rank", lambda folder, ranks=None, since=None: iter([trace]))
            monkeypatch.setattr(plaq.trace, "start_of", lambda folder, ranks=None: 0.0)
        monkeypatch.setattr("sys.argv", ["plaq", "trace", command, str(tmp_path), *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        return (stopped.value.code or 0, *capsys.readouterr())

    return call


def noted():
    trace = suspended()
    trace.notes += ["rank 0: 3 events [lost]", "rank 0: cut"]
    return trace


def test_the_profile(run, tmp_path):
    code, out, err = run(noted(), "profile", "--csv", tmp_path / "p.csv")
    assert code == 0 and err == "plaq: note: rank 0: 3 events [lost]\nplaq: note: rank 0: cut\n"
    lines = [line.rstrip() for line in out.splitlines()]
    assert lines[1].split("  ")[0] == "loop" and lines[1].endswith("42.1 %")
    assert lines[-1] == "10.0 s on 2 workers of 1 rank, busy 45.0 %."
    assert (
        (tmp_path / "p.csv").read_text().startswith("# rank 0: 3 events [lost]\n# rank 0: cut\nkind,name,calls,")
    )
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 2 + 1 + 7


def test_the_profile_shows_ten_names_or_all(run):
    trace = trace_of([(f"task {k}", 0, -1, [(0, k, k + 1.0)]) for k in range(13)])
    _, few, _ = run(trace, "profile")
    _, every, _ = run(trace, "profile", "--all")
    assert (few.count("\ntask "), every.count("\ntask ")) == (10, 13)
    assert "3 more names: --all." in few and "--all" not in every


def test_the_tree(run, tmp_path):
    code, out, err = run(noted(), "tree")
    assert code == 0 and "rank 0: cut" in err
    assert [line.split() for line in out.splitlines()[1:]] == [
        ["outer", "1", "7.00", "s", "9.00", "s"],
        ["└─", "inner", "1", "2.00", "s", "2.00", "s"],
    ]
    code, out, _ = run(noted(), "tree", "-o", tmp_path / "t.dot")
    assert code == 0 and out.strip() == str(tmp_path / "t.dot")
    assert "n0 -> n1" in (tmp_path / "t.dot").read_text()


def test_the_report(run, tmp_path):
    code, out, err = run(noted(), "report")
    assert code == 0 and out.strip() == str(tmp_path / "report.html") and "rank 0: cut" in err
    assert "<li>rank 0: 3 events [lost]</li>" in (tmp_path / "report.html").read_text()
    code, out, _ = run(noted(), "report", "-o", tmp_path / "page.html")
    assert code == 0 and out.strip() == str(tmp_path / "page.html") and (tmp_path / "page.html").exists()
    code, _, err = run(noted(), "report", "-o", tmp_path / "nowhere" / "page.html")
    assert code == 1 and "cannot be written" in err


def test_the_graph(run, tmp_path):
    code, out, err = run(noted(), "graph")
    assert code == 0 and out.strip() == str(tmp_path / "graph.dot") and "rank 0: cut" in err
    code, out, _ = run(synthetic(400, 2), "graph", "--by", "task", "-o", tmp_path / "t.dot")
    assert code == 0 and "on rank 1" in (tmp_path / "t.dot").read_text()
    code, _, err = run(suspended(), "graph", "--by", "task", "--limit", 1)
    assert code == 2 and err == "plaq: error: the trace has 2 tasks, and --limit allows 1 in a graph by task\n"


def test_chrome(run, tmp_path):
    code, out, err = run(noted(), "chrome")
    assert code == 0 and out.strip() == str(tmp_path / "chrome.json.gz") and "rank 0: cut" in err
    packed = json.loads(gzip.decompress((tmp_path / "chrome.json.gz").read_bytes()))
    run(noted(), "chrome", "-o", tmp_path / "plain.json")
    assert json.loads((tmp_path / "plain.json").read_text()) == packed
    code, _, err = run(noted(), "chrome", "-o", tmp_path / "missing" / "t.json")
    assert code == 1 and "cannot be written: No such file or directory" in err


@pytest.mark.skipif(not hasattr(_core, "otf2"), reason="plaq is built without OTF2")
def test_otf2(run, tmp_path):
    code, out, err = run(noted(), "otf2")
    assert code == 0 and out.strip() == str(tmp_path / "otf2" / "traces.otf2") and "rank 0: cut" in err
    assert (tmp_path / "otf2" / "traces.otf2").exists()
    code, _, err = run(noted(), "otf2")
    assert code == 2 and "otf2 exists already" in err


def test_otf2_without_the_library(run, tmp_path, monkeypatch):
    monkeypatch.delattr(_core, "otf2", raising=False)
    code, _, err = run(suspended(), "otf2")
    assert code == 2 and "apt-get install libotf2-trace-dev" in err and not (tmp_path / "otf2").exists()


def test_the_folder_of_a_run_stands_for_its_newest_trace(run, tmp_path):
    for number in ("000", "999", "1000"):
        (tmp_path / "trace" / number).mkdir(parents=True)
    code, out, _ = run(suspended(), "report")
    assert code == 0 and out == f"{tmp_path}/trace/1000/report.html\n"


def test_so_does_its_folder_of_traces(run, tmp_path):
    (tmp_path / "000").mkdir()
    code, out, _ = run(suspended(), "report")
    assert code == 0 and out == f"{tmp_path}/000/report.html\n"


def test_a_folder_without_a_trace(run):
    for name in ("profile", "tree", "graph", "chrome", "otf2"):
        code, out, err = run(None, name)
        assert code == 2 and out == "" and "holds no trace" in err and err.count("\n") == 1


@pytest.mark.skipif(not PROGRAM.exists(), reason="the C++ tests are not built")
@pytest.mark.parametrize("ring, note", [(4 << 20, ""), (2048, "events did not fit into the buffers")])
def test_a_recorded_trace(run, tmp_path, ring, note):
    """All outputs of a trace as it was recorded, whole or with losses."""
    done = subprocess.run(
        command(tmp_path, batches=20, ring=ring, period=1000),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    made = json.loads(done.stdout)
    for name in ("profile", "tree", "graph", "chrome"):
        code, _, err = run(None, name)
        assert code == 0 and (note in err if note else not err)
    file = json.loads(gzip.decompress((tmp_path / "chrome.json.gz").read_bytes()))
    began = {event["args"]["task"] for event in file["traceEvents"] if event.get("cat") == "task"}
    assert len(began) == made["tasks"] if not note else 0 < len(began) < made["tasks"]
    if hasattr(_core, "otf2") and shutil.which("otf2-print"):
        code, _, err = run(None, "otf2")
        assert code == 0, err
        shown = subprocess.run(
            ["otf2-print", tmp_path / "otf2" / "traces.otf2"],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert not shown.stderr
        assert shown.stdout.count("THREAD_TASK_SWITCH") >= len(began)
