"""Standard output that is full, closed, cut off or ASCII: runs continue, commands that only print report the loss."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from plaq.comm import library_version
from plaq.streams import Descriptor, Stream, print_line

HERE = Path(__file__).parent
RUN = [sys.executable, str(HERE / "dca" / "fake_run.py"), "dca", "run", "input.toml"]
PLAQ = [sys.executable, "-m", "plaq"]
full_disk = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("output")
    (made / "input.toml").write_text("[model]\nU = 4\n[dca]\ntemperatures = [0.5]\ndensity = 0.95\n")
    return made


def onto(kind, command, folder, **environment):
    """(exit code, stdout, stderr) of a command on the given kind of standard output."""
    environment = {**os.environ, "FAKE_FIGURES": "no", **environment}
    how = {"cwd": folder, "env": environment, "stderr": subprocess.PIPE, "timeout": 300}
    if kind == "full":
        with open("/dev/full", "w") as out:
            done = subprocess.run(command, stdout=out, **how)
    elif kind == "broken":
        read_end, write_end = os.pipe()
        os.close(read_end)
        done = subprocess.run(command, stdout=write_end, **how)
        os.close(write_end)
    elif kind == "closed":
        done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *command], **how)
    else:
        done = subprocess.run(command, stdout=subprocess.PIPE, **how)
    return done.returncode, (done.stdout or b"").decode("ascii", "backslashreplace"), done.stderr.decode()


@pytest.mark.parametrize("kind", [pytest.param("full", marks=full_disk), "broken", "closed", "ascii"])
def test_a_run_continues(folder, kind):
    code, out, err = onto(kind, [*RUN, "--out", kind], folder, PYTHONIOENCODING="ascii" if kind == "ascii" else "")
    assert (code, err) == (0, "")
    log = (folder / kind / "log.txt").read_text()
    assert "report:" in log and "1.00 σ" in log
    assert kind != "ascii" or ("report:" in out and "1.00 ?" in out)
    assert not (folder / kind / "results.h5").read_bytes().startswith(b"version")  # nobody printed into a file


@full_disk
def test_a_product_that_is_lost_is_an_error(folder):
    code, _, err = onto("full", [*PLAQ, "check", "input.toml"], folder)
    assert code == 1
    assert err == "plaq: error: standard output cannot be written: No space left on device\n"


def test_a_broken_pipe_ends_quietly_and_a_closed_output_is_no_error(folder):
    assert onto("broken", [*PLAQ, "dca", "parameters"], folder) == (141, "", "")
    assert onto("closed", [*PLAQ, "check", "input.toml"], folder) == (0, "", "")


def test_characters_beyond_ascii_are_replaced(folder):
    for words in (["check", "input.toml"], ["dca", "parameters"]):
        code, out, err = onto("ascii", [*PLAQ, *words], folder, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
        assert (code, err) == (0, "") and out.isascii() and "?" in out and "\\x" not in out


@pytest.mark.skipif(not library_version(), reason="plaq is built without MPI")
def test_a_launcher_outlives_a_broken_pipe(folder):
    rank = ("import time; from plaq.comm import world; w = world(); "
            "[(w.barrier(), print(i, flush=True)) for i in range(99)]")
    program = f"import sys; from plaq.comm.launch import start; sys.exit(start([sys.executable, '-c', {rank!r}], 2))"
    assert onto("broken", [sys.executable, "-c", program], folder)[0] == 0


@full_disk
def test_a_descriptor_remembers_the_error():
    out = os.open("/dev/full", os.O_WRONLY)
    stream = Stream(out, None, "replace")
    print("product", file=stream, flush=True)
    assert isinstance(stream.descriptor, Descriptor) and "No space" in str(stream.descriptor.lost)
    print_line("a notice", stream)
    assert stream.descriptor.lost is None
    os.close(out)


def test_a_notice_to_any_stream():
    print_line("nobody listens", None)
    closed = io.StringIO()
    closed.close()
    print_line("nobody listens", closed)
    ascii_only = io.TextIOWrapper(io.BytesIO(), "ascii")
    print_line("μ = 1", ascii_only)
    assert ascii_only.buffer.getvalue() == b"? = 1\n"
