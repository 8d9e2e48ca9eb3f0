"""A folder of another application, and files in it that are none: one line each, and nothing lost."""

import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import run_plaq

from plaq.files.atomic import write_atomically
from plaq.main import main

INPUTS = {
    "dca": '[model]\nU = 4\ncluster = [[1, 0], [0, 1]]\n[dca]\ntemperatures = [1.0]\nmu = 2.0\nisolated = true\n'
           '[solver]\nkind = "ed"\n',
    "lqcd": "[lattice]\nextents = [2, 2, 2, 2]\n[action]\nbeta = 5.7\n[updates]\nthermalisation = 1\n"
            "configurations = 2\n",
    "pic": "[grid]\ncells = [8, 8]\nlength = [2, 2]\n[time]\nend = 0.5\n[species.e]\ncharge = -1\nmass = 1\n"
           "density = 1\nper_cell = 4\n[output]\npictures = 0\n",
}
SWEPT = {"dca": "model.U", "lqcd": "action.beta", "pic": "solver.seed"}


def plaq(folder, *arguments):
    return run_plaq(*arguments, folder=folder, timeout=120)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A run and a sweep of every application."""
    base = tmp_path_factory.mktemp("runs")
    for name, text in INPUTS.items():
        (base / f"{name}.toml").write_text(text)
        (base / f"{name}_sweep.toml").write_text(f'{text}[sweep]\n"{SWEPT[name]}" = [1]\n')
        for input in (name, f"{name}_sweep"):
            done = plaq(base, name, "run", f"{input}.toml", "--out", input)
            assert done.returncode == 0, done.stderr
    return base


@pytest.fixture
def here(folders, monkeypatch, capsys):
    """Run the command line in the folder of these; return (exit code, stderr)."""
    def command(*arguments):
        monkeypatch.setattr(sys, "argv", ["plaq", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, capsys.readouterr().err

    monkeypatch.chdir(folders)
    return command


@pytest.mark.parametrize("mine, other", list(itertools.permutations(INPUTS, 2)))
def test_a_folder_of_another_application_says_whose_it_is(here, mine, other):
    for input, out in itertools.product((mine, f"{mine}_sweep"), (other, f"{other}_sweep")):
        assert here(mine, "run", f"{input}.toml", "--out", out) == (
            2, f"plaq: error: {out}: holds a run of plaq {other}, and this is plaq {mine}; give another folder with "
               "--out\n")
    code, said = here(mine, "digest", other)
    assert code == 2 and f"holds a run of plaq {other}, and this is plaq {mine}" in said and "remove" not in said


def test_another_run_to_start_from_is_one_of_the_same_application(here):
    changed = [word for key in ('solver.kind="ctaux"', "dca.isolated=false", "dca.mu=none", "dca.density=1.0")
               for word in ("--set", key)]
    assert here("dca", "run", "dca.toml", *changed, "--out", "new", "--from", "lqcd") == (
        2, "plaq: error: lqcd: holds a run of plaq lqcd, and this is plaq dca; give a run of this one with --from\n")


def test_a_folder_that_does_not_name_its_application_is_known_by_its_results(here):
    input = Path("pic/input.resolved.toml")
    input.write_text(input.read_text().partition("\n")[2])
    code, said = here("lqcd", "run", "lqcd.toml", "--out", "pic")
    assert code == 2 and "pic: holds a run of plaq pic, and this is plaq lqcd" in said


PIPES = ["input.resolved.toml", "checkpoint.h5", "log.txt", ".plaq-0123456789abcdef.partial"]


@pytest.mark.parametrize("name", PIPES)
def test_a_pipe_in_a_run_folder_keeps_nobody_waiting(tmp_path, name):
    (tmp_path / "lqcd.toml").write_text(INPUTS["lqcd"])
    assert plaq(tmp_path, "lqcd", "run", "lqcd.toml").returncode == 0
    (tmp_path / "run" / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / "run" / name)
    done = plaq(tmp_path, "lqcd", "run", "lqcd.toml")
    if name.endswith(".partial"):
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode in (1, 2) and f"run/{name}" in done.stderr and done.stderr.count("\n") == 1, done.stderr
        assert "not a regular file" in done.stderr


def test_what_is_left_over_is_removed_and_nothing_else(tmp_path):
    """A pipe or a link with such a name was not made by plaq."""
    (tmp_path / ".plaq-1.partial").touch()
    (tmp_path / ".plaq-2.partial").mkdir()
    os.mkfifo(tmp_path / ".plaq-3.partial")
    (tmp_path / "precious").mkdir()
    (tmp_path / ".plaq-4.partial").symlink_to(tmp_path / "precious")
    write_atomically(tmp_path / "file", b"some")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".plaq-3.partial", ".plaq-4.partial", "file",
                                                                "precious"]


def test_the_first_signal_ends_a_run_beside_a_pipe(tmp_path):
    (tmp_path / "lqcd.toml").write_text(INPUTS["lqcd"].replace("configurations = 2", "configurations = 1000000"))
    (tmp_path / "run").mkdir()
    os.mkfifo(tmp_path / "run/.plaq-0123456789abcdef.partial")
    job = subprocess.Popen([sys.executable, "-m", "plaq", "lqcd", "run", "lqcd.toml"], cwd=tmp_path,
                           stdout=subprocess.PIPE, text=True)
    while "input:" not in job.stdout.readline():
        pass
    job.send_signal(signal.SIGTERM)
    out, _ = job.communicate(timeout=60)
    assert job.returncode == 143 and "stopped by SIGTERM" in out
