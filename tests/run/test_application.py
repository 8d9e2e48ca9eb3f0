"""The driver of runs with an application of a test: the Ising model in ising.py."""

import itertools
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from command_line import run_plaq
from ising import Ising, Parameters

from plaq import _core
from plaq.comm import world
from plaq.data import results_file
from plaq.errors import InputError, Interrupted
from plaq.run import driver
from plaq.run.live import Log

HERE = Path(__file__).parent
INPUT = "[model]\nbeta = 0.3\nsize = 4\n[solver]\nsweeps = 512\n"


def ising(folder, *arguments, ranks=None):
    """The command line ``plaq ising``, as a user of another application has it, on so many ranks."""
    return plaq(folder, "ising", *arguments, ranks=ranks)


def plaq(folder, *arguments, ranks=None):
    """The command line with one application more."""
    program = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(HERE)!r}); import plaq.main, ising\n"
               "plaq.main.add(ising.app); plaq.main.main()"]
    return run_plaq(*arguments, folder=folder, ranks=ranks, program=program, timeout=120)


def digest(folder):
    found = ising(folder, "digest")
    assert found.returncode == 0, found.stderr
    return found.stdout.split()[0]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Digest of an undisturbed run."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "input.toml").write_text(INPUT)
    done = ising(folder, "run", "input.toml")
    assert done.returncode == 0, done.stderr
    return digest(folder)


def exact_energy(beta, size):
    """Per site, by all configurations, 65536 of them where size is 4: rows are added one after the other."""
    rows = np.array(list(itertools.product((-1, 1), repeat=size)))
    inside = -(rows * np.roll(rows, 1, axis=1)).sum(axis=1)
    between = -rows @ rows.T
    states = np.array(list(itertools.product(range(len(rows)), repeat=size)))
    energy = inside[states].sum(axis=1) + between[states, np.roll(states, 1, axis=1)].sum(axis=1)
    weights = np.exp(-beta * (energy - energy.min()))
    return (weights @ energy) / weights.sum() / size**2


def test_the_energy_is_that_of_all_configurations(tmp_path):
    """Four standard errors, for a fixed seed."""
    exact = exact_energy(0.3, 4)
    energy = driver.run(Ising, Parameters(model={"beta": 0.3}, solver={"sweeps": 1024}), None)["energy"]
    assert energy.error < 0.02 and abs(energy.mean - exact) < 4 * energy.error


def test_a_run_leaves_results_summary_report_and_digest(folder, whole):
    done = ising(folder, "run", "input.toml")
    assert done.returncode == 0 and "E = -0." in done.stdout, done.stdout + done.stderr
    assert digest(folder) == whole and f"digest: {whole}" in done.stdout
    findings, toml, header = results_file.read(folder / "run/results.h5", results_file.format_of("plaq ising"))
    assert findings["energy"].unit == "J" and "beta = 0.3" in toml and header["ranks"] == 1
    assert json.loads((folder / "run/summary.json").read_text())["estimates"]["energy"]["error"] > 0
    page = (folder / "run/report.html").read_text()
    assert f"<h1>{findings.answers()[0]}</h1>" in page and whole in page
    assert ising(folder, "report").returncode == 0 and (folder / "run/report.html").read_text() == page


def stopped(folder, after):
    """A run of the input in this folder's run/ that is told to stop when it has asked so often."""
    asked = itertools.count(1)
    stop = SimpleNamespace(requested=lambda: "SIGTERM" if next(asked) >= after else None)
    with pytest.raises(Interrupted, match="SIGTERM"):
        driver.run_on(Ising, world(), Parameters.read(folder / "input.toml"), folder / "run", "input.toml", stop, Log)


def test_a_stopped_run_goes_on_to_the_same_bits(folder, whole):
    for after in (1, 100, 200):
        stopped(folder, after)
    done = ising(folder, "run", "input.toml")
    assert done.returncode == 0 and digest(folder) == whole, done.stderr


@pytest.mark.skipif(not _core.comm.mpiexec(), reason="built without MPI")
@pytest.mark.parametrize("ranks", [2, 3])
def test_any_number_of_ranks_goes_on_with_what_one_began(folder, whole, ranks):
    stopped(folder, 300)
    done = ising(folder, "run", "input.toml", ranks=ranks)
    assert done.returncode == 0, done.stderr
    assert digest(folder) == whole


def test_a_sweep_has_a_run_for_each_value_and_a_table(folder):
    with open(folder / "input.toml", "a") as file:
        file.write('[sweep]\n"model.beta" = [0.1, 0.2]\n')
    done = ising(folder, "run", "input.toml", "--set", "solver.sweeps=64")
    assert done.returncode == 0, done.stderr
    head, *rows = (folder / "run/sweep.csv").read_text().splitlines()
    assert head.split(",")[:3] == ["run", "model.beta", "status"]
    assert [row.split(",")[:3] for row in rows] == [["beta=0.1", "0.1", "done"], ["beta=0.2", "0.2", "done"]]


@pytest.mark.parametrize("arguments, words", [
    (("run", "input.toml", "--set", "model.betta=1"), "unknown key model.betta; did you mean model.beta?"),
    (("run", "input.toml", "--set", "model.beta=11"), "model.beta = 11"),
    (("run", "input.toml", "--from", "other"), "plaq ising cannot start from another run"),
    (("digest", "nowhere"), "nowhere/results.h5"),
])
def test_errors_are_one_line(folder, arguments, words):
    done = ising(folder, *arguments)
    assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert [path.name for path in folder.iterdir()] == ["input.toml"]


def test_a_folder_is_that_of_one_input_and_one_application(folder):
    assert ising(folder, "run", "input.toml", "--set", "solver.sweeps=64").returncode == 0
    done = ising(folder, "run", "input.toml")
    assert done.returncode == 2 and "solver.sweeps = 64 in run/input.resolved.toml, 512 in input.toml" in done.stderr
    with pytest.raises(InputError, match="'plaq ising results', version 3, where this plaq reads 'plaq dca results'"):
        results_file.digest_of(folder / "run/results.h5", results_file.format_of("plaq dca"))


def test_check_finds_whose_input_it_is(folder):
    for command in (("check",), ("ising", "check")):
        done = plaq(folder, *command, "input.toml", "--set", "model.size=5")
        assert done.returncode == 0 and "[model]" in done.stdout and "size = 5" in done.stdout, done.stderr
    dca = Path(__file__).parents[2] / "examples/tc_plaquette/input.toml"
    assert "C4v" in plaq(folder, "check", dca).stdout
    with open(folder / "input.toml", "a") as file:
        file.write('chians = 4\n[sweep]\n"model.size" = [4, 5]\n')
    for command in (("check",), ("ising", "check")):
        done = plaq(folder, *command, "input.toml")
        assert done.returncode == 2 and "unknown key solver.chians; did you mean solver.chains?" in done.stderr


@pytest.mark.parametrize("text, words", [
    ("[run]\nworkers = 1\n[model]\nbeta = 1\n[dca]\ntemperatures = [1]\ndensity = 1\n", None),
    ("[solver\n", "input.toml: not a TOML file"),
])
def test_what_may_be_anybodys_is_one_line(folder, text, words):
    (folder / "input.toml").write_text(text)
    done = plaq(folder, "check", "input.toml")
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    either = "input.toml: may be an input of dca or ising; name the application, as in `plaq dca check`"
    assert (words or either) in done.stderr


def test_what_knows_no_cost_says_so(folder):
    done = ising(folder, "estimate", "input.toml", "-n", "8")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "plaq ising has no model of its cost" in done.stderr


def test_its_parameters_are_listed_and_documented(folder):
    assert "inverse temperature" in ising(folder, "parameters").stdout
    assert ising(folder, "parameters", "--markdown").stdout.startswith("# Parameters of `plaq ising`")
