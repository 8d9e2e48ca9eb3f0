"""The live view on a terminal, seen through a pty: its size, a narrow one, one that changes; and plain lines
elsewhere."""

import fcntl
import os
import pty
import re
import struct
import sys
import termios
import threading
import time
import unicodedata
from types import SimpleNamespace

import pytest

from plaq.comm import launch, world
from plaq.dca.loop.loop import Loop
from plaq.dca.loop.observer import Observer, QuietObserver
from plaq.dca.loop.state import RunState
from plaq.dca.parameters import Parameters
from plaq.dca.planning.progress import Progress, part_done
from plaq.errors import Interrupted
from plaq.run import live
from plaq.run.driver import Run
from plaq.run.live import Log
from plaq.streams import Stream

ROWS = [("temperature", "0.08 t"), ("iteration", "12 of ≤ 12"), ("μ", "1.234567"), ("n", "0.95000"),
        ("sign", "0.992(3)"),
        ("⟨k⟩", "1234.5"), ("change of Σ", "1.33 σ"), ("sweeps/s", "10,986"), ("phase", "approach"),
        ("iteration left", "3 min 20 s"), ("run left", "2 h 05 min")]


class Terminal:
    """A terminal of so many columns and lines; `screen` is what it shows, as far as the live view makes use of one."""

    def __init__(self, columns, lines):
        try:
            self._master, self.slave = pty.openpty()
        except OSError as error:  # a container without /dev/pts
            pytest.skip(f"this machine gives no pseudo-terminals: {error}")
        self.resize(columns, lines)
        self._got, self._lock = b"", threading.Lock()
        threading.Thread(target=self._listen, daemon=True).start()

    def resize(self, columns, lines):
        self.size = columns, lines
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def _listen(self):
        while piece := os.read(self._master, 1 << 16):
            with self._lock:
                self._got += piece

    def taken(self):
        """Return the text written since the last call, up to a mark behind it."""
        os.write(self.slave, b"\0")
        while b"\0" not in self._got:
            time.sleep(0.001)
        with self._lock:
            got, _, self._got = self._got.partition(b"\0")
        return got.decode()

    def screen(self, written):
        """The lines after `written`: text, line feeds, and the sequences that move and erase."""
        lines, row, column = [""], 0, 0
        for move, end, text in re.findall(r"\x1b\[(\d*)([A-Za-z])|([^\x1b])", written):
            if end == "F":
                row, column = max(0, row - int(move)), 0
            elif end == "K":
                lines[row] = lines[row][:column]
            elif end == "J":
                lines = [*lines[:row], lines[row][:column]]
            elif end:
                assert end == "m", f"a sequence {end} that no test knows"
            elif text == "\r":
                column = 0
            elif text == "\n":
                row, column = row + 1, 0
                lines += [""] * (row == len(lines))
            else:
                assert column < self.size[0], f"wraps: {lines[row]}"
                lines[row] = lines[row][:column] + text + lines[row][column + 1 :]
                column += 1 + (unicodedata.east_asian_width(text) == "W")
        return lines


@pytest.fixture
def on_terminal(monkeypatch, tmp_path):
    """open(columns, lines) -> (terminal, live log whose output it shows)."""
    opened = []

    def open_one(columns, lines=24):
        terminal = Terminal(columns, lines)
        monkeypatch.setattr(sys, "stdout", Stream(terminal.slave, None, "replace"))
        log = live.open_log(tmp_path / "log.txt")
        opened.append(log)
        return terminal, log

    yield open_one
    for log in opened:
        log.close()


@pytest.mark.parametrize("columns", [50, 80, 200])
def test_the_panel_fits_and_lines_scroll_above_it(on_terminal, columns):
    terminal, log = on_terminal(columns)
    assert isinstance(log, live.LiveLog)
    log.status("plaq dca · temperature 1 of 3", ROWS, 0.3)
    log.line("a line")
    log.status("plaq dca · temperature 2 of 3", ROWS, 0.5)
    lines = terminal.screen(terminal.taken())
    assert lines[0] == "a line" and "temperature 2 of 3" in lines[1] and lines[-2].startswith("╰") and lines[-1] == ""
    assert all(len(line) == columns - 1 for line in lines[1:-1])
    shown = " ".join(lines)
    assert all(name in shown and value in shown for name, value in ROWS)


def test_a_table_for_a_narrow_terminal(on_terminal, tmp_path):
    terminal, log = on_terminal(50)
    log.line("a row of a table that is too long for the terminal it is on", "a row")
    log.line("words that are too long for the terminal that they are on")
    assert terminal.screen(terminal.taken()) == ["a row", "words that are too long for the terminal that they",
                                                 "are on", ""]
    assert "too long for the terminal it is on" in (tmp_path / "log.txt").read_text()


def test_a_low_terminal_gets_one_line(on_terminal):
    terminal, log = on_terminal(50, 8)
    log.status("plaq dca · temperature 2 of 3", ROWS, 0.5)
    assert terminal.screen(terminal.taken()) == ["plaq dca · temperature 2 of 3: 50 %", ""]


def test_a_terminal_that_changes_its_size(on_terminal):
    """The panel is drawn again by itself; lines that the narrower terminal has wrapped are gone."""
    terminal, log = on_terminal(101)
    log.status("plaq dca", ROWS, 0.3)
    wide = terminal.screen(terminal.taken())
    terminal.resize(50, 24)
    written = ""
    for _ in range(200):
        time.sleep(0.05)
        written += terminal.taken()
        if written.endswith("\x1b[J"):  # the whole panel
            break
    rows = 2 * (len(wide) - 1)  # 100 columns are two lines now
    assert written.startswith(f"\x1b[{rows}F")
    lines = terminal.screen(written)
    assert all(len(line) == 49 for line in lines[:-1]) and lines[0].startswith("╭─ plaq dca")
    log.close()
    assert terminal.screen(written + terminal.taken()) == [""]


def test_a_rank_finds_the_terminal_of_the_launcher(monkeypatch):
    terminal = Terminal(77, 33)
    monkeypatch.setattr(launch, "is_rank", lambda: True)
    for path, size, shown in ((os.ttyname(terminal.slave), (77, 33), True),
                              ("a terminal without a name", (80, 24), True),
                              ("", (80, 24), False)):
        monkeypatch.setenv("PLAQ_TERMINAL", path)
        assert launch.terminal_size() == size and launch.stdout_is_terminal() == shown


def test_elsewhere_it_is_lines(tmp_path, capsys):
    log = live.open_log(tmp_path / "log.txt")
    assert type(log) is Log
    log.status("plaq dca", ROWS, 0.3)
    log.line("wide", "narrow")
    log.close()
    assert capsys.readouterr().out == "wide\n"


class Recorded:
    """A log that keeps its lines."""

    def __init__(self):
        self.lines, self.narrow, self.rows = [], [], {}

    def line(self, text="", narrow=None):
        self.lines.append(text)
        self.narrow.append(narrow)

    def status(self, title, rows, done):
        self.title, self.rows, self.done = title, dict(rows), done


def parameters(**solver):
    return Parameters(model={"U": 6}, dca={"temperatures": [1.0, 0.5, 0.25], "density": 0.95}, solver=solver)


def test_both_tables_of_iterations():
    log = Recorded()
    observer = Observer(parameters(), SimpleNamespace(log=log, header={}))
    observer.report_iteration({"T": 0.125, "iteration": 12, "mu": -1.23456, "density": 0.95123, "sign": 0.9912,
                        "order": 1234.56,
                        "change": 0.0133, "change_error": 0.01, "measurements": 123456, "seconds": {"walking": 7322.0}})
    assert log.lines == [
        "       T  iter        mu         n    sign      <k>     change  measured         time",
        "   0.125    12  -1.23456   0.95123  0.9912  1234.56     1.33 σ    123456   2 h 02 min"]
    assert log.narrow == ["      T iter        n    sign   change        time",
                          "  0.125   12  0.95123  0.9912   1.33 σ  2 h 02 min"]


def test_time_left_of_the_whole_run():
    p = parameters()
    progress = Progress(p)
    cost = progress._expected
    assert progress.left([0.0], 0.0) is None
    # Everything takes three times as long as the model says.
    spent = [3 * cost[0], 1.5 * cost[1]]
    assert progress.left(spent, 0.5) == pytest.approx(1.5 * cost[1] + 3 * cost[2])
    assert progress.done(1, 0.5) == pytest.approx((cost[0] + 0.5 * cost[1]) / sum(cost))
    assert progress.done(3, 0.0) == pytest.approx(1) and progress.left([1.0, 1.0, 1.0], 1.0) == pytest.approx(0)
    assert Progress(parameters(kind="ctaux")).done(0, 0) == 0


def test_the_part_of_a_temperature_that_is_done():
    few, many = 50, 1200  # six are expected
    assert part_done(False, 0, 75, few, many) == 0.05 and part_done(False, 500, 50, few, many) == 0.2
    assert part_done(True, 0, 0, few, many) == 0.2 and part_done(True, 1000, 200, few, many) == 1.0
    assert part_done(True, 0, 20, 0, 40) == 0.5  # isolated: no approach


def test_the_view_shows_where_a_run_resumes_and_the_time_left():
    log = Recorded()
    observer = Observer(parameters(), SimpleNamespace(log=log, header={}))
    observer.report_resume(0.5, 3, 1504.0, 3008.0)
    assert log.lines == ["resumes at T = 0.5, iteration 3, with 1504 of 3008 measurements there"]
    observer.show_status(T=1.0, index=0, temperatures=3, iteration=3, iterations=12, part_done=0.5, seconds=100.0)
    assert log.rows["resumed at"] == "0.5 t, iteration 3"
    assert log.rows["run left"] not in ("–", "100 s") and 0 < log.done < 0.5
    observer.report_resume(None)
    assert log.lines[-1] == "resumes: all temperatures are done"


class Kept(Run):
    """Keeps its last state; stops at that look at its running chains, if one is given."""

    def __init__(self, stop_at=0):
        super().__init__(world(), None)
        self.looks, self.stop_at, self.saved = 0, stop_at, None

    def stop_reason(self):
        self.looks += 1
        return "SIGTERM" if self.stop_at and self.looks >= self.stop_at else None

    def save(self, simulation):
        self.saved = simulation.state()


class Places(QuietObserver):
    def __init__(self):
        self.places = []

    def report_resume(self, *place):
        self.places.append(place)


def test_a_resumed_run_reports_where():
    p = Parameters(model={"U": 4, "hopping": {"1,0": -0.5}, "cluster": [[2, 0], [0, 1]]}, two_particle={"channels": []},
                   dca={"temperatures": [0.5], "mu": 1.5, "isolated": True},
                   solver={"measurements": 50_000, "warmup": 20})
    observer, first, second = Places(), Kept(stop_at=2), Kept()
    with pytest.raises(Interrupted):
        first.carry_out(Loop(p, first, observer))
    second.carry_out(Loop(p, second, observer, RunState.from_plain(first.saved)))
    ((T, iteration, measured, of),) = observer.places
    assert (T, iteration) == (0.5, 1) and 0 < measured < of and 50_000 <= of < 60_000
    second.carry_out(Loop(p, second, observer, RunState.from_plain(second.saved)))
    assert observer.places[1:] == [(None,)]
