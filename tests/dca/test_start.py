"""Runs that start from another one, and runs that go on with more temperatures."""

import shutil
import subprocess
import sys

import no_figures
import numpy as np
import pytest
from whole_runs import needs_mpi

from plaq.comm.launch import launcher_command
from plaq.data.results_file import digest_of
from plaq.dca import Parameters, commands
from plaq.dca.loop import iteration, loop, start
from plaq.dca.parameters import PROGRAM
from plaq.dca.results.file import FORMAT
from plaq.dca.solver.chains import out_of_columns, run_chains
from plaq.errors import InputError, Interrupted
from plaq.files import checkpoint
from plaq.run.driver import Run

DIMER = [[2, 0], [0, 1]]


def parameters(*temperatures, **sections):
    p = Parameters(model={"U": 4.0, "cluster": DIMER},
                   dca={"temperatures": temperatures, "density": 0.9, "iterations": 4},
                   solver={"measurements": 640, "measurements_first": 64, "chains": 8, "warmup": 10},
                   two_particle={"channels": []}, run={"workers": 1})
    return p.replace(**sections)


@pytest.fixture(scope="module", autouse=True)
def without_figures():
    with pytest.MonkeyPatch.context() as patch:
        no_figures.leave_out(patch.setattr)
        yield


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A folder with the run of T = 1 and that of T = 1, 0.5, which nobody changes."""
    home = tmp_path_factory.mktemp("runs")
    commands.run(parameters(1.0), home / "short")
    commands.run(parameters(1.0, 0.5), home / "long")
    return home


@pytest.fixture
def short(runs, tmp_path):
    """A copy of the run of T = 1."""
    return shutil.copytree(runs / "short", tmp_path / "short")


def digest(folder):
    return digest_of(folder / "results.h5", FORMAT)


def same(a, b):
    return list(a.observables) == list(b.observables) and all(
        np.array_equal(getattr(a[name], part), getattr(b[name], part), equal_nan=True)
        for name in a.observables for part in ("mean", "error"))


def stopped(monkeypatch, after, *arguments, **options):
    """Run so many iterations, and stop in the next one."""
    calls = iter(range(after))

    def until_then(problem, chains, run, comm, watch, g4):
        if next(calls, None) is not None:
            return run_chains(problem, chains, run, comm, watch, g4)
        patch.setattr(Run, "stop_reason", lambda self: "SIGTERM")
        return False

    with monkeypatch.context() as patch:
        patch.setattr(iteration, "run_chains", until_then)
        with pytest.raises(Interrupted):
            commands.run(*arguments, **options)


def on_two_ranks(p, folder, *arguments):
    """The command on two ranks; without figures, which take the longest."""
    path = folder.with_suffix(".toml")
    path.write_text(p.to_toml())
    return subprocess.run([*launcher_command(2), sys.executable, no_figures.__file__, "dca", "run", path, "--out",
                           folder, *arguments], capture_output=True, text=True, timeout=300)


# More temperatures ------------------------------------------------------------------------------------------------


def test_a_run_with_temperatures_added_is_the_run_that_had_them_at_once(runs, short):
    before = commands.load(short)
    after = commands.run(parameters(1.0, 0.5), short)
    assert digest(short) == digest(runs / "long") and same(before.points[0], after.points[0])
    assert Parameters.read(short / "input.resolved.toml").dca.temperatures == (1.0, 0.5)


@needs_mpi
def test_temperatures_are_added_to_a_distributed_run(tmp_path):
    """The finished temperature has functions that are in results.h5 only."""
    p = parameters(1.0, two_particle={"channels": ["magnetic"], "frequencies": 2}, solver={"measurements": 64})
    longer = p.replace(dca={"temperatures": [1.0, 0.5]})
    for here in (p, longer):
        done = on_two_ranks(here, tmp_path / "run", "--set", "run.two_particle=distributed")
        assert done.returncode == 0, done.stderr
    commands.run(longer, tmp_path / "alone")
    assert digest(tmp_path / "run") == digest(tmp_path / "alone")


def test_temperatures_can_be_added_to_a_run_that_was_stopped_and_again_after_a_stop(runs, tmp_path, monkeypatch):
    stopped(monkeypatch, 2, parameters(1.0), tmp_path / "run")
    stopped(monkeypatch, 3, parameters(1.0, 0.5), tmp_path / "run")
    commands.run(parameters(1.0, 0.5), tmp_path / "run")
    assert digest(tmp_path / "run") == digest(runs / "long")


def test_a_finished_run_stays_as_it_is(short, monkeypatch):
    before = digest(short)
    monkeypatch.setattr(loop.Loop, "_iterate", lambda *_: pytest.fail("it measures"))
    commands.run(parameters(1.0), short)
    assert digest(short) == before


@pytest.mark.parametrize("here, words", [
    (parameters(1.0),
     "dca.temperatures = [1.0, 0.5] in .*, [1.0] in .*; a run resumes with temperatures that are added"),
    (parameters(1.0, 0.7, 0.5),
     "dca.temperatures = [1.0, 0.5] in .*, [1.0, 0.7, 0.5] in .*after its last one; or choose"),
    (parameters(1.0, 0.5, solver={"measurements": 320}), "solver.measurements = 640 in .*, 320 in .* never with fewer"),
    (parameters(1.0, 0.5, 0.2, model={"U": 5.0}), "model.U = 4.0 in .*, 5.0 in Parameters; choose another folder"),
])
def test_another_input_is_refused_with_the_allowed_changes(runs, here, words):
    before = digest(runs / "long")
    with pytest.raises(InputError, match=words.replace("[", r"\[")) as error:
        commands.run(here, runs / "long")
    assert "\n" not in str(error.value) and digest(runs / "long") == before


# From another run -------------------------------------------------------------------------------------------------


def test_a_colder_run_from_another_one_equals_the_longer_run(runs, tmp_path):
    alone = commands.run(parameters(0.5), start=runs / "short")
    assert same(alone.at(0.5), commands.load(runs / "long").at(0.5))
    kept = commands.run(parameters(0.5), tmp_path / "run", start=runs / "short")
    assert same(alone.at(0.5), kept.at(0.5))
    assert not same(alone.at(0.5), commands.run(parameters(0.5)).at(0.5))


def test_a_stopped_run_needs_the_other_one_no_more(runs, short, tmp_path, monkeypatch):
    folder = tmp_path / "run"
    stopped(monkeypatch, 0, parameters(0.5), folder, start=short)  # before anything is measured
    shutil.rmtree(short)
    stopped(monkeypatch, 1, parameters(0.5), folder, start=short)
    stopped(monkeypatch, 1, parameters(0.5), folder)
    results = commands.run(parameters(0.5), folder)
    assert same(results.at(0.5), commands.load(runs / "long").at(0.5))
    assert Parameters.read(folder / "input.resolved.toml").dca.start
    commands.run(parameters(0.5, 0.3), folder)  # more temperatures, as for any run


def test_a_changed_other_run_is_noticed(short, tmp_path, monkeypatch):
    folder = tmp_path / "run"
    stopped(monkeypatch, 1, parameters(0.5), folder, start=short)
    wanted = Parameters.read(folder / "input.resolved.toml").dca.start
    commands.run(parameters(1.0, 0.5), short)
    with pytest.raises(InputError, match="dca.start = .* its own copy of its start: leave --from out"):
        commands.run(parameters(0.5), folder, start=short)
    with pytest.raises(InputError, match=f"--from .*: dca.start names the state {wanted}, but this run has"):
        commands.run(Parameters.read(folder / "input.resolved.toml"), tmp_path / "new", start=short)
    with pytest.raises(InputError, match=f"dca.start = {wanted}: .* name the folder of that run with --from"):
        commands.run(Parameters.read(folder / "input.resolved.toml"), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_run_that_began_without_cannot_start_from_another(runs, short):
    with pytest.raises(InputError, match="dca.start = unset in .*leave --from out"):
        commands.run(parameters(1.0), short, start=runs / "long")


def damage(folder):
    path = folder / "checkpoint.h5"
    path.write_bytes(path.read_bytes()[:-1000])


@pytest.mark.parametrize("here, change, words", [
    (parameters(0.5, model={"cluster": [[2, 0], [0, 2]]}), None,
     r"model.cluster = \[\[2, 0\], \[0, 1\]\] there and \[\[2, 0\], \[0, 2\]\] here"),
    (parameters(0.5, solver={"kind": "ed"}, dca={"isolated": True, "density": None, "mu": 1.0}), None, 'kind = "ed"'),
    (parameters(0.5), lambda folder: (folder / "input.resolved.toml").unlink(), "there is no run: .* is missing"),
    (parameters(0.5), lambda folder: (folder / "checkpoint.h5").unlink(),
     "no finished temperature is in its checkpoint"),
    (parameters(0.5), damage, "checkpoint.h5: .*so no run can start from it"),
])
def test_impossible_starts_are_refused_before_anything_is_written(short, tmp_path, here, change, words):
    if change:
        change(short)
    with pytest.raises(InputError, match=words) as error:
        commands.run(here, tmp_path / "run", start=short)
    assert "\n" not in str(error.value) and not (tmp_path / "run").exists()


def test_a_run_that_has_finished_no_temperature_is_no_start(tmp_path, monkeypatch):
    stopped(monkeypatch, 0, parameters(1.0), tmp_path / "other")
    with pytest.raises(InputError, match="no finished temperature is in its checkpoint.h5"):
        commands.run(parameters(1.0), start=tmp_path / "other")


def read(runs, p):
    return start.read(runs / "long", p).state.predecessor


def test_the_nearest_temperature_counts_and_the_last_one_has_configurations(runs):
    cold, warm = read(runs, parameters(0.6)), read(runs, parameters(0.9))
    assert (cold.beta, warm.beta) == (2.0, 1.0) and cold.chains and not warm.chains
    sigma = commands.load(runs / "long").at(1.0)["Sigma"]
    np.testing.assert_array_equal(warm.omega, sigma.axes[1].values)
    shift = warm.sigma - sigma.mean  # the density that was asked for, in place of the one that was measured
    np.testing.assert_allclose(shift, 4.0 / 2 * (0.9 - float(commands.load(runs / "long").at(1.0)["density"].mean)))


def test_sigma_has_the_hartree_term_of_the_new_model(runs):
    same, other = read(runs, parameters(0.5)), read(runs, parameters(0.5, model={"U": 6.0}, dca={"density": 0.8}))
    np.testing.assert_allclose(other.sigma - same.sigma, (6.0 * 0.8 - 4.0 * 0.9) / 2)
    assert other.mu - same.mu == pytest.approx((6.0 * 0.8 - 4.0 * 0.9) / 2) and other.order > same.order
    fixed = read(runs, parameters(0.5, model={"U": 6.0}, dca={"density": None, "mu": 3.0}))
    np.testing.assert_allclose(fixed.sigma - same.sigma, 0.9)
    assert fixed.mu == 3.0


@pytest.mark.parametrize("chains", [2, 8, 16])
def test_configurations_are_dealt_out_to_any_number_of_chains(runs, chains):
    p = parameters(0.5)
    theirs = checkpoint.load(runs / "long/checkpoint.h5", PROGRAM, *parameters(1.0, 0.5).fingerprints())
    theirs = sorted(out_of_columns(theirs["predecessor"]["chains"]["states"]), key=lambda chain: chain["number"])
    dealt = read(runs, p.replace(solver={"chains": chains})).chains.states
    assert list(dealt) == list(range(chains))
    for chain in dealt.values():
        np.testing.assert_array_equal(chain["tau"], theirs[chain["number"] % 8]["tau"])
    commands.run(p.replace(solver={"chains": chains}), start=runs / "long")


def test_an_isolated_cluster_from_another_one_is_exact_within_its_errors(tmp_path):
    p = Parameters(model={"U": 8.0, "hopping": {"1,0": -0.5}, "cluster": DIMER},
                   dca={"temperatures": [1.0], "mu": 4.0, "isolated": True}, two_particle={"channels": []},
                   solver={"measurements": 6400, "warmup": 50, "chains": 4}, run={"workers": 1})
    commands.run(p, tmp_path / "other")
    p = p.replace(model={"U": 4.0}, dca={"mu": 1.5, "temperatures": [0.5]}, solver={"chains": 8})
    qmc = commands.run(p, start=tmp_path / "other").at(0.5)
    exact = commands.run(p.replace(solver={"kind": "ed"})).at(0.5)
    for name in ("density", "double_occupancy", "energy_kinetic", "energy"):
        assert abs(qmc[name].mean - exact[name].mean) < 4 * qmc[name].error, name


def test_the_loop_from_another_run_converges_to_the_same_numbers(runs):
    p = parameters(0.5, model={"U": 6.0}, dca={"density": 0.8, "iterations": 8},
                   solver={"measurements": 6400, "measurements_first": 1280})
    a, b = (commands.run(p, start=other).at(0.5) for other in (None, runs / "long"))
    for name in ("density", "double_occupancy", "energy"):
        assert abs(a[name].mean - b[name].mean) < 4 * np.hypot(a[name].error, b[name].error), name


@needs_mpi
def test_on_two_ranks_it_is_the_same_and_an_error_is_one_line(runs, tmp_path):
    done = on_two_ranks(parameters(0.5), tmp_path / "two", "--from", runs / "short")
    assert done.returncode == 0, done.stderr
    assert f"starts from {runs / 'short'} at T = 1: Σ, μ and the configurations of 8 chains" in done.stdout
    assert same(commands.load(tmp_path / "two").at(0.5), commands.load(runs / "long").at(0.5))
    failed = on_two_ranks(parameters(0.5), tmp_path / "three", "--from", tmp_path / "nowhere")
    said = [line for line in failed.stderr.splitlines() if "plaq: error" in line]
    assert failed.returncode == 2 and len(said) == 1 and "nowhere: there is no run" in said[0]


# From a table of Sigma --------------------------------------------------------------------------------------------


def test_a_table_of_sigma_is_a_start(runs, tmp_path):
    from plaq.dca.results.export import export

    export(runs / "long", tmp_path)
    point = commands.load(runs / "long").at(0.5)
    p = parameters(0.5, dca={"density": None, "mu": 1.0, "iterations": 1, "sigma": str(tmp_path / "Sigma.csv")})
    found = commands.run(p).at(0.5)
    np.testing.assert_allclose(found.functions["Sigma_in"][0], point["Sigma"].mean, rtol=1e-9)


@pytest.mark.parametrize("rows, words", [
    (None, "there is no such file"), ("K_x,K_y,omega,re,im\n", "no rows"),
    ("a,b\n1,2\n", "damaged, or not a table of Sigma"),
    ("K_x,K_y,omega,re,im\n1,0,1,2,-1\n", r"K = \(1, 0\), omega = 1 is no momentum of the cluster"),
    ("K_x,K_y,omega,re,im\n0,0,1,2,-1\n", "every momentum of the cluster needs the same frequencies")])
def test_files_without_a_table_of_sigma_are_refused(tmp_path, rows, words):
    path = tmp_path / "sigma.csv"
    if rows:
        path.write_text(rows)
    with pytest.raises(InputError, match=words):
        commands.run(parameters(1.0, dca={"sigma": str(path)}))
