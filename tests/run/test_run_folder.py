"""A run folder belongs to one input and one process; files in it are whole."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from plaq.errors import InputError, RunError
from plaq.files.atomic import atomic_file, write_atomically
from plaq.run.folder import RunFolder
from plaq.run.live import Log
from plaq.run.stop import Stop


class Input:
    """The least that a run folder asks of parameters: one number, U."""

    def __init__(self, U):
        self.U = U

    @classmethod
    def read(cls, path):
        return cls(float(path.read_text()))

    def to_toml(self):
        return str(self.U)

    def conflict(self, before):
        return None if self.U == before.U else ("model.U", self.U, before.U, "U may not change")


def test_same_input_continues_and_another_is_refused(tmp_path):
    path = tmp_path / "run"
    RunFolder(path, "a.toml", Input(6.0)).close()
    RunFolder(path, "a.toml", Input(6.0)).close()
    with pytest.raises(InputError) as error:
        RunFolder(path, "b.toml", Input(8.0))
    assert str(error.value) == (
        f"{path}: this folder belongs to a different input: model.U = 6.0 in "
        f"{path}/input.resolved.toml, 8.0 in b.toml; U may not change; or choose another folder with --out or remove it"
    )
    assert (path / "input.resolved.toml").read_text() == "6.0"


def test_foreign_folder_and_file_are_refused_and_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(InputError, match="has files but no input.resolved.toml, so it is not a run folder"):
        RunFolder(tmp_path, "a.toml", Input(6.0))
    with pytest.raises(InputError, match="is a file"):
        RunFolder(tmp_path / "thesis.tex", "a.toml", Input(6.0))
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


def test_two_processes_cannot_share_a_folder(tmp_path):
    first = RunFolder(tmp_path / "run", "a.toml", Input(6.0))
    with pytest.raises(InputError, match="another plaq process is writing"):
        RunFolder(tmp_path / "run", "a.toml", Input(6.0))
    first.close()
    RunFolder(tmp_path / "run", "a.toml", Input(6.0)).close()


def test_summary_is_json_without_nan(tmp_path):
    folder = RunFolder(tmp_path / "run", "a.toml", Input(6.0))
    folder.write_summary({"tc": {"value": 0.0763, "error": float("inf")}, "list": [float("nan"), 1]})
    folder.close()
    assert json.loads(folder.summary.read_text()) == {"tc": {"value": 0.0763, "error": None}, "list": [None, 1]}


def test_failed_write_keeps_the_file_and_leaves_nothing_beside(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_atomically(path, b"old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(
        RunError, match="file: cannot be written: no space left for it .*; the previous one is kept"
    ):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old" and len(list(tmp_path.iterdir())) == 1


def test_a_device_or_pipe_is_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(RunError, match="pipe: cannot be written: it is a device or a pipe"):
        write_atomically(pipe, b"new")
    assert pipe.is_fifo() and os.listdir(tmp_path) == ["pipe"]


def test_writers_of_one_file_do_not_disturb_each_other(tmp_path):
    path = tmp_path / "file"
    with atomic_file(path) as slow:
        slow.write(b"slow, ")
        write_atomically(path, b"quick")
        assert path.read_bytes() == b"quick"
        slow.write(b"and whole")
    assert path.read_bytes() == b"slow, and whole" and len(list(tmp_path.iterdir())) == 1


def test_many_writers_of_one_file(tmp_path):
    """Each writer removes files of killed writers, if it can: none loses its own."""
    path, texts = tmp_path / "file", [bytes([65 + number]) * 1000 for number in range(8)]

    def write(text):
        for _ in range(50):
            write_atomically(path, text)
            assert path.read_bytes() in texts

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, texts))
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_files_of_a_killed_writer_are_removed_by_the_next_one(tmp_path):
    script = f"""
import os, signal
from pathlib import Path
from plaq.files.atomic import atomic_file
with atomic_file(Path({str(tmp_path / "file")!r})) as file:
    os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", script], check=False)
    assert [path.name.endswith(".partial") for path in tmp_path.iterdir()] == [True]
    RunFolder(tmp_path, "a.toml", Input(6.0)).close()
    assert [path.name for path in tmp_path.iterdir()] == ["input.resolved.toml"]


def test_a_folder_that_is_removed_meanwhile_is_an_error(tmp_path):
    (tmp_path / "run").mkdir()
    with pytest.raises(RunError, match="run/file: cannot be written: No such file or directory"):
        with atomic_file(tmp_path / "run" / "file") as file:
            file.write(b"some")
            shutil.rmtree(tmp_path / "run")


def test_a_run_notices_that_its_folder_or_log_is_gone(tmp_path):
    folder = RunFolder(tmp_path / "run", "a.toml", Input(6.0))
    log = Log(folder.log, io.StringIO())
    log.line("some")
    folder.check()
    shutil.rmtree(folder.path)
    with pytest.raises(RunError, match="run: the folder was removed or replaced while this run wrote into it"):
        folder.check()
    folder.path.mkdir()
    with pytest.raises(RunError, match="run: the folder was removed or replaced"):
        folder.check()
    with pytest.raises(RunError, match="run/log.txt: was removed while it was written"):
        log.line("more")
    log.close()
    folder.close()


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_is_remembered_and_the_handlers_come_back(name):
    before = signal.getsignal(getattr(signal, name))
    with Stop() as stop:
        assert stop.requested() is None
        signal.raise_signal(getattr(signal, name))
        assert stop.requested() == name
    assert signal.getsignal(getattr(signal, name)) is before


@pytest.fixture
def interruptible():
    """A shell's background jobs, and so perhaps the tests, ignore SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_second_interrupt_acts_at_once(interruptible):
    with pytest.raises(KeyboardInterrupt), Stop() as stop:
        signal.raise_signal(signal.SIGINT)
        assert stop.requested() == "SIGINT"
        signal.raise_signal(signal.SIGINT)
        stop.requested()


def test_wall_time_limit(monkeypatch):
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with Stop(limit=60.0) as stop:
        now = 159.0
        assert stop.requested() is None
        now = 161.0
        assert stop.requested() == "walltime"
