"""Progress of a run without a folder: a function of the caller, a bar on a terminal or in a notebook, else nothing."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from plaq import lqcd
from plaq.errors import InputError
from plaq.run import progress
from plaq.run.progress import NotebookBar, TerminalBar, bar_here, time_left, watching

SMALL = lqcd.Parameters(lattice={"extents": [4, 4, 4, 4]}, action={"beta": 5.7},
                        updates={"configurations": 4, "sweeps": 2, "thermalisation": 3})


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(progress, "stdout_is_terminal", lambda: True)


def test_a_function_gets_rising_parts_and_words_with_the_same_results_as_in_silence(capsys):
    seen = []
    told = lqcd.run(SMALL, progress=lambda done, text: seen.append((done, text)))
    silent = lqcd.run(SMALL, progress=False)
    parts = [done for done, _ in seen]
    assert parts == sorted(parts) and parts[0] < 0.2 and seen[-1] == (1.0, "done")
    assert seen[0][1] == "configuration 1 of 4"
    assert np.array_equal(told["plaquette"].jackknife, silent["plaquette"].jackknife)
    assert capsys.readouterr().out == ""


def test_a_function_also_follows_a_run_with_a_folder_and_false_silences_its_lines(tmp_path, capsys):
    seen = []
    lqcd.run(SMALL, tmp_path / "told", progress=lambda done, text: seen.append(done))
    assert seen[-1] == 1.0 and "plaquette = " in capsys.readouterr().out
    lqcd.run(SMALL, tmp_path / "silent", progress=False)
    assert capsys.readouterr().out == "" and "plaquette = " in (tmp_path / "silent" / "log.txt").read_text()


def test_output_that_is_no_terminal_gets_no_bar(capsys):
    assert bar_here() is None
    lqcd.run(SMALL)
    assert capsys.readouterr().out == ""


def test_a_terminal_gets_a_bar(terminal, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    lqcd.run(SMALL)
    assert "100%" in capsys.readouterr().out


def test_other_ranks_and_runs_with_a_folder_have_no_bar(terminal):
    for options in ((False, False), (True, True)):
        with watching(None, *options) as tell:
            assert tell is None


def test_a_bar_ends_with_a_run_that_fails(terminal, monkeypatch):
    closed = []
    monkeypatch.setattr(TerminalBar, "close", lambda bar: closed.append(bar))
    with pytest.raises(ZeroDivisionError), watching(None, True, False) as tell:
        tell(0.5, "half")
        raise ZeroDivisionError
    assert len(closed) == 1


def test_a_notebook_gets_a_bar_that_stays(monkeypatch):
    shown = []
    handle = SimpleNamespace(update=shown.append)
    page = SimpleNamespace(HTML=lambda text: text, display=lambda html, display_id: shown.append(html) or handle)
    shell = SimpleNamespace(kernel=None)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", page)
    assert bar_here() is NotebookBar
    with watching(None, True, False) as tell:
        tell(0.5, "a < b")
    assert 'value="0.5000"' in shown[-1] and "50 %" in shown[-1] and "a &lt; b" in shown[-1]


def test_anything_else_is_refused():
    with pytest.raises(InputError, match="progress = 3 is not allowed: it must be None, False, or a function"):
        lqcd.run(SMALL, progress=3)


def test_time_left_follows_the_part_that_is_done(monkeypatch):
    monkeypatch.setattr(progress.time, "monotonic", lambda: 130.0)
    assert time_left(100.0, 0.25) == "1 min 30 s left" and time_left(100.0, 1.0) == "30 s" and time_left(100.0, 0) == ""
