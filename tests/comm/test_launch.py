"""Starting ranks: exit codes, signals and the errors that a user can meet."""

import os
import signal
import subprocess
import sys
import time
import venv
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import plaq
from plaq import _core
from plaq.comm import launch
from plaq.comm.launch import launcher_command, relaunch, start, stdout_is_terminal
from plaq.errors import InputError, RunError
from plaq.files import checkpoint
from plaq.main import main

needs_mpi = pytest.mark.skipif(not _core.comm.mpiexec(), reason="plaq finds no MPI")


def python(text: str) -> list[str]:
    return [sys.executable, "-c", text]


@needs_mpi
@pytest.mark.parametrize("code", [0, 2])
def test_the_exit_code_comes_back(code):
    assert (
        start(python(f"import sys; from plaq.comm import world; world().barrier(); sys.exit({code})"), 3) == code
    )


@needs_mpi
def test_one_rank_ends_all():
    assert start(python("from plaq.comm import world; w = world(); w.rank and w.abort(3); w.barrier()"), 3) == 3


# A job that does nothing but write checkpoints, until one of its ranks is killed.
DOOMED = """
import os, signal, sys, threading
from pathlib import Path
import numpy as np
from plaq.files import checkpoint
from plaq.comm import world
w = world()
path, victim, delay = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
for i in range(10**9):
    if w.rank == 0:
        checkpoint.save(path, {"i": i, "x": np.full(100_000, i)}, "plaq test", "abc")
    w.barrier()
    if i == 1 and w.rank == victim:
        threading.Timer(delay, os.kill, (os.getpid(), signal.SIGKILL)).start()
"""


@needs_mpi
@pytest.mark.parametrize("seed", range(5))
def test_a_killed_rank_ends_the_job_with_one_message_and_the_checkpoint_is_whole(tmp_path, seed):
    random = np.random.default_rng(seed)
    path, victim, delay = tmp_path / "checkpoint.h5", random.integers(3), 0.3 * random.random()
    who = f"rank {victim} of 3" if _core.comm.library_version().startswith("Open MPI") else "a rank"
    with pytest.raises(RunError, match=f"^{who} was killed by SIGKILL, which ended the job"):
        start([*python(DOOMED), str(path), str(victim), str(delay)], 3)
    state = checkpoint.load(path, "plaq test", "abc")
    assert state["i"] >= 1 and np.all(state["x"] == state["i"])


@needs_mpi
def test_ranks_know_their_number_and_whether_output_is_a_terminal(capfd):
    assert (
        start(
            python(
                "import os; from plaq.comm import world; from plaq.comm.launch import stdout_is_terminal as t;"
                "w = world(); w.rank or print(w.size, os.environ['PLAQ_EXPECTED_RANKS'], t())"
            ),
            3,
        )
        == 0
    )
    assert capfd.readouterr().out.split() == ["3", "3", "False"]
    assert not stdout_is_terminal()


@needs_mpi
def test_threads_of_a_rank_may_use_all_cores(capfd):
    assert start(python("import os; print(len(os.sched_getaffinity(0)))"), 1) == 0
    assert int(capfd.readouterr().out) == len(os.sched_getaffinity(0))


@needs_mpi
def test_ranks_of_a_machine_share_its_cores(capfd):
    words = ("import os; from plaq.machine import pool_options as p; o = p(); "
             "os.write(1, (','.join(map(str, [o.workers, *sorted(o.cpus)])) + chr(10)).encode())")  # in one piece
    assert start(python(words), 2) == 0
    first, second = (list(map(int, line.split(","))) for line in capfd.readouterr().out.split())
    cores = _core.task.physical_cores()
    if cores >= 2:
        assert not set(first[1:]) & set(second[1:]) and first[0] + second[0] == cores
    else:
        assert first[0] == second[0] == 1


# A rank that says where it is, waits for a signal, and takes longer over its last words than launchers allow.
RANK = """
import os, pathlib, signal, sys, time
from plaq.comm import world
here = pathlib.Path(sys.argv[1]) / str(world().rank)
def stop(*_):
    if sys.argv[2] == "polite":
        time.sleep(2)
        here.with_suffix(".stopped").touch()
        sys.exit(143)
signal.signal(signal.SIGTERM, stop)
here.with_suffix(".new").write_text(str(os.getpid()))
here.with_suffix(".new").rename(here.with_suffix(".running"))
while True:
    time.sleep(0.05)
"""
STARTER = "import sys; from plaq.comm.launch import start; sys.exit(start([sys.executable, *sys.argv[1:]], 2))"


def wait_until(condition, what: str):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.05)


class Job:
    """Two ranks and the process that started them."""

    def __init__(self, folder: Path, manner: str):
        (folder / "rank.py").write_text(RANK)
        self.folder = folder
        self.starter = subprocess.Popen([*python(STARTER), str(folder / "rank.py"), str(folder), manner])
        running = [folder / f"{rank}.running" for rank in range(2)]
        wait_until(lambda: all(map(Path.exists, running)), "ranks start")
        self.pids = [int(path.read_text()) for path in running]

    def ranks_alive(self) -> bool:
        return any(Path(f"/proc/{pid}").exists() for pid in self.pids)


@needs_mpi
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_lets_the_ranks_finish(tmp_path, number):
    job = Job(tmp_path, "polite")
    job.starter.send_signal(number)
    assert job.starter.wait(60) == 128 + number
    assert all((tmp_path / f"{rank}.stopped").exists() for rank in range(2))
    wait_until(lambda: not job.ranks_alive(), "ranks end")


@needs_mpi
def test_the_second_signal_does_not(tmp_path):
    job = Job(tmp_path, "deaf")
    job.starter.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert job.ranks_alive()
    job.starter.send_signal(signal.SIGTERM)
    assert job.starter.wait(60) == 128 + signal.SIGINT
    wait_until(lambda: not job.ranks_alive(), "ranks end")


@needs_mpi
def test_no_rank_outlives_a_killed_starter(tmp_path):
    job = Job(tmp_path, "deaf")
    job.starter.kill()
    job.starter.wait(60)
    wait_until(lambda: not job.ranks_alive(), "ranks end")


@needs_mpi
def test_relaunch_runs_this_python_with_this_package(monkeypatch):
    seen = []
    monkeypatch.setattr(launch, "start", lambda program, ranks: seen.append((program, ranks)) or 5)
    assert relaunch(["dca", "run", "a.toml"], 2) == 5
    assert seen == [([sys.executable, "-P", "-m", "plaq", "dca", "run", "a.toml"], 2)]


def test_ranks_keep_the_module_search_flags_of_this_python(monkeypatch):
    monkeypatch.setattr(sys, "flags", SimpleNamespace(ignore_environment=1, no_user_site=1))
    assert launch.module_command("plaq.comm.tuning") == [sys.executable, "-P", "-E", "-s", "-m", "plaq.comm.tuning"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """(Python, the command `plaq`) of an environment that has this plaq as a wheel would lay it, not by the finder of
    an editable install, which comes before every folder."""
    place = tmp_path_factory.mktemp("environment")
    venv.create(place, symlinks=True)
    (site,) = place.glob("lib/python*/site-packages")
    (site / "plaq").mkdir()
    for path in Path(plaq.__file__).parent.iterdir():
        (site / "plaq" / path.name).symlink_to(path)
    places = Path(_core.__file__).parents[3], Path(np.__file__).parents[1]  # of the compiled files, and of others
    (site / "others.pth").write_text("".join(f"{path}\n" for path in places))
    script = place / "bin/plaq"
    script.write_text("from plaq.__main__ import main\nmain()\n")
    (place / "bin/random.py").write_text("raise SystemExit('a random.py beside the command')\n")
    return place / "bin/python", script


@needs_mpi
def test_files_of_the_user_do_not_take_the_place_of_modules(installed, tmp_path):
    python, script = installed
    for name in ("random", "plaq", "numpy", "json"):
        (tmp_path / f"{name}.py").write_text(f"import sys\nprint('the {name}.py of the user')\nsys.exit(0)\n")
    (tmp_path / "input.toml").write_text("[lattice]\nextents = [4, 2, 2, 2]\n[action]\nbeta = 5.7\n[updates]\n"
                                         "thermalisation = 1\nconfigurations = 2\n")
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run(*command):
        done = subprocess.run([python, *command], cwd=tmp_path, env=clean, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0 and "of the user" not in done.stdout, done.stdout + done.stderr
        return done.stdout

    alone = run(script, "lqcd", "run", "input.toml", "--out", "alone")
    ranks = run(script, "lqcd", "run", "input.toml", "--out", "ranks", "-n", "2", "--trace")
    assert [line for line in alone.splitlines() if "digest:" in line] == [
        line for line in ranks.splitlines() if "digest:" in line]
    run(script, "trace", "profile", "ranks")
    (tmp_path / "plaq.py").unlink()
    run("-m", "plaq", "verify", "ranks")


@needs_mpi
def test_no_rank_starts_for_what_cannot_run(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(launch, "start", lambda *_: pytest.fail("ranks were started"))
    (tmp_path / "input.toml").write_text("[model]\nU = 6\ncluster = [[8, 0], [0, 8]]\n[dca]\ntemperatures = [0.002]\n"
                                         "density = 1.0\n[solver]\nchains = 2\n")
    for ranks, words in ("1000", "every rank needs a chain"), ("2", "of memory on each of 2 rank(s)"):
        monkeypatch.setattr(sys, "argv", ["plaq", "dca", "run", str(tmp_path / "input.toml"), "-n", ranks])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2 and words in capsys.readouterr().err


@needs_mpi
def test_there_is_at_least_one_rank():
    with pytest.raises(InputError, match="-n 0: .* at least 1"):
        launcher_command(0)


@needs_mpi
def test_a_rank_does_not_start_ranks(monkeypatch):
    monkeypatch.setenv("PMI_RANK", "0")
    with pytest.raises(InputError, match="already one"):
        start(python(""), 2)


def test_without_mpi_there_is_one_rank(monkeypatch):
    monkeypatch.setattr(_core.comm, "library_version", lambda: "")
    with pytest.raises(InputError, match="-n 2 starts ranks of MPI, and this plaq finds no MPI: .*PLAQ_MPI"):
        start(python(""), 2)


@needs_mpi
def test_a_missing_launcher_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(_core.comm, "mpiexec", lambda: "")
    with pytest.raises(RunError, match=r"\(libmpi.* of /.*\) has no mpiexec beside it; .*PLAQ_MPI"):
        start(python(""), 2)
    (tmp_path / "mpiexec").touch()
    monkeypatch.setattr(_core.comm, "mpiexec", lambda: str(tmp_path / "mpiexec"))
    with pytest.raises(RunError, match="cannot start .*mpiexec: Permission denied"):
        start(python(""), 2)
