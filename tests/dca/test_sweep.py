"""Sweeps: every combination is the run that it would be alone, on any number of ranks, and none spoils another."""

import csv
import tomllib

import pytest
import test_cli
from test_cli import one_error, plaq  # noqa: F401

from plaq import _core, dca
from plaq.dca.application import Dca
from plaq.errors import InputError, RunError
from plaq.run import driver, sweep

INPUT = test_cli.INPUT + """
[sweep]
"model.U" = [4.0, 6.0]
"dca.density" = [0.9, 0.95, 1.0]
"""
NAMES = [f"U={u},density={n}" for u in (4.0, 6.0) for n in (0.9, 0.95, 1.0)]


def table(folder):
    with open(folder / "run" / "sweep.csv", newline="") as file:
        return list(csv.DictReader(file))


def test_all_combinations_in_the_order_of_the_input(folder):
    runs = sweep.read(Dca, folder / "input.toml", ["solver.seed=5"])
    assert list(runs) == NAMES
    assert runs["U=4.0,density=1.0"].model.U == 4.0 and runs["U=4.0,density=1.0"].dca.density == 1.0
    assert {p.solver.seed for p in runs.values()} == {5}
    (folder / "input.toml").write_text(test_cli.INPUT)
    assert sweep.is_single(sweep.read(Dca, folder / "input.toml"))


@pytest.mark.parametrize("text, message", [
    ('sweep = 3\n[model]\nU = 4.0', "sweep = 3 is not allowed: [sweep] is a section"),
    ('[sweep]\n"model.u" = [1.0]', "unknown key model.u; did you mean model.U?"),
    ('[sweep]\n"model.U" = 4.0', "model.U = 4.0 is not allowed: it must be a list of values, each a number"),
    ('[sweep]\n"model.U" = []', "must be a list of values"),
    ('[sweep]\n"model.U" = [4.0, 4.0]', "has U=4.0 twice"),
    ('[sweep]\n"model.U" = [4.0, -1e4]', "model.U = -10000.0 is not allowed"),
    ('[sweep]\n"run.workers" = [1, 2]', "keys of [run] change no result"),
])
def test_a_wrong_sweep_is_one_clear_error_before_anything_runs(folder, text, message):
    (folder / "input.toml").write_text((text + "\n" + test_cli.INPUT) if text.startswith("sweep") else
                                       test_cli.INPUT + text)
    if text.startswith("sweep"):
        (folder / "input.toml").write_text(text + "\n[dca]\ntemperatures = [1.0]\ndensity = 0.9\n")
    outcome = plaq(folder, "dca", "run", "input.toml")
    one_error(outcome, 2, "input.toml", message)
    assert not (folder / "run").exists()


def test_longest_runs_are_dealt_first_to_the_group_with_least():
    seconds = {"a": 5.0, "b": 3.0, "c": 3.0, "d": 1.0}
    assert sweep.deal(seconds, 2) == [["a", "d"], ["b", "c"]]
    assert sweep.deal(seconds, 4) == [["a"], ["b"], ["c"], ["d"]]


def test_each_run_is_the_one_it_would_be_alone(folder):
    outcome = plaq(folder, "dca", "run", "input.toml")
    assert outcome.returncode == 0, outcome.stderr
    assert [row["run"] for row in table(folder)] == NAMES
    assert all(name in outcome.stdout for name in NAMES)
    (folder / "alone.toml").write_text(test_cli.INPUT)
    alone = plaq(folder, "dca", "run", "alone.toml", "--out", "alone", "--set", "dca.density=0.9")
    assert alone.returncode == 0, alone.stderr
    digest = lambda path: plaq(folder, "dca", "digest", path).stdout
    assert digest("run/U=6.0,density=0.9") == digest("alone")


def test_a_failing_run_leaves_the_others_alone_and_can_resume(folder, monkeypatch):
    real = driver.run_on

    def failing(kind, comm, parameters, *rest, **options):
        if parameters.model.U == 4.0 and parameters.dca.density == 0.95:
            raise RunError("NaN in the determinant")
        return real(kind, comm, parameters, *rest, **options)

    monkeypatch.setattr(driver, "run_on", failing)
    outcome = plaq(folder, "dca", "run", "input.toml")
    one_error(outcome, 1, "1 of 6 runs failed: U=4.0,density=0.95")
    assert "U=4.0,density=0.95: failed: NaN in the determinant" in outcome.stdout
    assert [row["status"] == "failed" for row in table(folder)] == [name == "U=4.0,density=0.95" for name in NAMES]
    monkeypatch.undo()
    assert plaq(folder, "dca", "run", "input.toml").returncode == 0
    assert not any(row["status"] == "failed" for row in table(folder))


@pytest.mark.skipif(not _core.comm.mpiexec(), reason="built without MPI")
@pytest.mark.parametrize("ranks", [2, 4])
def test_groups_of_ranks_make_the_same_runs(folder, ranks):
    digests = lambda: [plaq(folder, "dca", "digest", f"run/{name}").stdout for name in NAMES]
    assert plaq(folder, "dca", "run", "input.toml").returncode == 0
    alone = digests()
    (folder / "run").rename(folder / "alone")
    outcome = test_cli.on_ranks(folder, ranks, "dca", "run", "input.toml")
    assert outcome.returncode == 0, outcome.stderr
    assert digests() == alone and [row["run"] for row in table(folder)] == NAMES


def test_a_stopped_sweep_resumes(folder):
    outcome = plaq(folder, "dca", "run", "input.toml", "--walltime", "0.5", FAKE_SECONDS="0.1")
    assert outcome.returncode == 0, outcome.stderr
    assert "stopped by walltime" in outcome.stdout and "the same command continues" in outcome.stdout
    assert len(table(folder)) < 6
    assert plaq(folder, "dca", "run", "input.toml").returncode == 0
    assert [row["run"] for row in table(folder)] == NAMES


def test_an_input_error_of_one_run_is_found_before_the_first_starts(folder):
    (folder / "input.toml").write_text(INPUT.replace("[0.9, 0.95, 1.0]", "[0.9, 2.5]"))
    with pytest.raises(InputError, match="dca.density = 2.5 is not allowed"):
        sweep.read(Dca, folder / "input.toml")


GENERAL = """
[model]
hopping = { "0,0" = [[0.3, 0.5], [0.5, -0.2]] }
U = 3.0
J = 0.2
kanamori = true
cluster = [[1, 0], [0, 1]]

[dca]
temperatures = [1.0]
mu = 1.3
isolated = true

[solver]
kind = "ed"

[two_particle]
channels = ["magnetic"]
frequencies = 2

[sweep]
"model.J" = [0.2, 0.4]
"""


def test_a_sweep_of_orbitals_has_the_run_that_each_would_be_alone(folder):
    """Exact runs; Hund's coupling makes larger spins. No order is near, and no phase diagram drawn."""
    (folder / "input.toml").write_text(GENERAL)
    outcome = plaq(folder, "dca", "run", "input.toml", fake=False)
    assert outcome.returncode == 0, outcome.stderr
    names = ["J=0.2", "J=0.4"]
    assert [row["run"] for row in table(folder)] == names
    spins = [dca.load(folder / "run" / name).at(1.0)["spin_square"].mean for name in names]
    assert spins[1] > spins[0] + 1e-3
    alone = dca.run(dca.Parameters(**tomllib.loads(GENERAL.partition("[sweep]")[0])).replace(model={"J": 0.4})).at(1.0)
    assert alone["spin_square"].mean == spins[1]
