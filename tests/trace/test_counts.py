"""Counts of the processor by task and region: by hand, and as a session records them."""

import csv
import mmap
from pathlib import Path

import numpy as np
import pytest

from plaq import _core, trace
from plaq.errors import InputError
from plaq.main import main
from plaq.trace.counts import inclusive_counts
from plaq.trace.profile import profile
from plaq.trace.report import page
from plaq.trace.report_tables import number

INPUT = Path(__file__).parents[2] / "examples/tc_plaquette/demo.toml"


def needs(*names):
    try:
        _core.trace.demand_counters(list(names))
    except InputError as why:
        pytest.skip(str(why))


def test_a_task_that_continues_on_another_thread():
    # Thread 0: task 0 begins at reading 10, its region at 15, waits at 20; thread 1 has it from 100 to 107, and the
    # region ends at 104; meanwhile thread 0 has task 1 from 30 to 60. The thread's own counts belong to neither.
    readings = [10, 15, 20, 30, 60, 61, 90, 100, 104, 107]
    time = [0.0, 1.0, 2.0, 2.5, 4.0, 5.0, 6.0, 3.0, 4.5, 5.5]
    thread = [0, 0, 0, 0, 0, 0, 0, 1, 1, 1]
    switches = [1, 0, 1, 1, 1, 0, 0, 1, 0, 1]
    task = [0, -1, -1, 1, -1, -1, -1, 0, -1, -1]
    regions = np.array([1, 5, 3]), np.array([8, 6, -1])  # the second outside of tasks, the third without an end
    tasks, of_regions = inclusive_counts(
        np.array(readings, np.uint64)[:, None], np.array(time), np.array(thread), np.array(switches, bool),
        np.array(task), regions, 2,
    )
    assert tasks[:, 0].tolist() == [17, 30]
    assert of_regions[:, 0].tolist() == [5 + 4, 29, 0]


def test_no_readings():
    tasks, regions = inclusive_counts(np.zeros((0, 2), np.uint64), np.zeros(0), np.zeros(0, int), np.zeros(0, bool),
                                      np.zeros(0, int), (np.zeros(0, int), np.zeros(0, int)), 3)
    assert tasks.tolist() == 3 * [[0, 0]] and regions.shape == (0, 2)


def fault(pages):
    with mmap.mmap(-1, pages * mmap.PAGESIZE) as memory:
        memory.madvise(mmap.MADV_NOHUGEPAGE)
        for page in range(pages):
            memory[page * mmap.PAGESIZE] = 1


@pytest.fixture
def recorded(tmp_path):
    needs("processor time", "page faults")
    with trace.Session(tmp_path / "t", counters=["processor time", "page faults"]):
        with trace.region("outer"):
            fault(200)
            with trace.region("inner"):
                fault(1000)
            fault(200)
        with trace.region("inner"):
            fault(1000)
    return tmp_path / "t"


def test_page_faults_of_nested_regions(recorded):
    found = trace.read(recorded)
    assert found.counted == ["processor time", "page faults"] and found.notes == []
    rows = {row.name: row for row in profile(found)}
    assert 2000 <= rows["inner"].counts["page faults"] < 2200
    assert 400 <= rows["outer"].counts["page faults"] < 600
    for row in rows.values():  # of one thread: not more than the time that passed, up to the cost of an event
        assert 0 < row.counts["processor time"] * 1e-9 < row.exclusive + 1e-3


def test_the_table_and_the_page(recorded, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["plaq", "trace", "profile", str(recorded), "--csv", str(tmp_path / "p.csv")])
    with pytest.raises(SystemExit) as stopped:
        main()
    lines = capsys.readouterr().out.splitlines()
    assert not stopped.value.code and lines[0].split()[-4:] == ["processor", "time", "page", "faults"]
    shown = next(line for line in lines if line.startswith("inner"))
    table = list(csv.DictReader((tmp_path / "p.csv").open()))
    written = int(next(row for row in table if row["name"] == "inner")["page faults"])
    assert shown.rstrip().endswith(number(written))
    text = page(trace.read(recorded))
    assert "<th>page faults</th>" in text and f"<td>{number(written)}</td>" in text


def test_wrong_counters(tmp_path):
    with pytest.raises(InputError, match="counters = 'flops': allowed are 'instructions', 'cycles'"):
        trace.Session(tmp_path, counters=["flops"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("options, words", [
    (["--trace", "--trace-counters", "flops"], "trace: counters = 'flops': allowed are 'instructions', "),
    (["--trace", "--trace-ranks", "3"], "trace: ranks = 3: allowed are ranks 0 to 0"),
    (["--trace", "--trace-ranks", "x"], "--trace-ranks x: should be different ranks such as 0,5-8"),
    (["--trace-counters", "cycles"], "--trace-counters: is an option of --trace, which is missing"),
])
def test_wrong_choices_of_a_run(options, words, tmp_path, monkeypatch, capsys):
    command = ["plaq", "dca", "run", str(INPUT), "--out", str(tmp_path / "run"), *options]
    monkeypatch.setattr("sys.argv", command)
    with pytest.raises(SystemExit) as stopped:
        main()
    said = capsys.readouterr().err.splitlines()
    assert stopped.value.code == 2 and len(said) == 1 and words in said[0]
    assert not (tmp_path / "run").exists()
