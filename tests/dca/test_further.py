"""Finished runs that go on with more measurements."""

import shutil

import numpy as np
import pytest
from test_start import DIMER, digest, needs_mpi, on_two_ranks, parameters, same, stopped, without_figures  # noqa: F401

from plaq.dca import Parameters, commands
from plaq.dca.loop.observer import Observer
from plaq.errors import InputError, RunError

MORE = {"solver": {"measurements": 2560}}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A finished run, and a copy of it that went on with four times the measurements."""
    home = tmp_path_factory.mktemp("runs")
    commands.run(parameters(1.0, 0.5), home / "few")
    shutil.copytree(home / "few", home / "many")
    commands.run(parameters(1.0, 0.5, **MORE), home / "many")
    return home


@pytest.fixture
def few(runs, tmp_path):
    return shutil.copytree(runs / "few", tmp_path / "run")


def counted(point):
    return sum(record["measurements"] for record in point.history if record["phase"] == "final")


def test_all_final_iterations_of_a_temperature_count_together(runs):
    before, after = commands.load(runs / "few"), commands.load(runs / "many")
    for old, new in zip(before.points, after.points):
        assert counted(old) < 1280 and 2560 <= counted(new) < 3200
        assert new.history[:len(old.history)] == old.history  # nothing was done again
        names = ("density", "double_occupancy", "energy", "mu")
        ratios = [new[name].error / old[name].error for name in names]
        assert np.prod(ratios) ** (1 / len(ratios)) < 0.8
        for name in names:
            assert abs(new[name].mean - old[name].mean) < 4 * old[name].error
    assert Parameters.read(runs / "many/input.resolved.toml").solver.measurements == 2560
    assert sorted(path.name for path in (runs / "many").glob("kept.*")) == sorted(
        f"kept.{point.index:03d}.{len(point.history) + 1}.h5" for point in after.points)


def test_it_is_the_mean_of_all_that_was_measured(tmp_path):
    """Exactly so for an isolated cluster, where every iteration has the same bath."""
    p = Parameters(model={"U": 4.0, "hopping": {"1,0": -0.5}, "cluster": DIMER}, two_particle={"channels": []},
                   dca={"temperatures": [0.5], "mu": 1.5, "isolated": True}, run={"workers": 1},
                   solver={"measurements": 6400, "warmup": 50})
    first = commands.run(p, tmp_path / "run").at(0.5)
    both = commands.run(p.replace(solver={"measurements": 25600}), tmp_path / "run").at(0.5)
    exact = commands.run(p.replace(solver={"kind": "ed"})).at(0.5)
    counts = [record["measurements"] for record in both.history]
    assert counts == [6400, 19200]
    for name in ("density", "double_occupancy", "energy_kinetic"):
        assert abs(both[name].mean - exact[name].mean) < 4 * both[name].error, name
        assert 0.3 < both[name].error / first[name].error < 0.8, name


@pytest.mark.parametrize("stops", [[0], [1, 0], [2, 1]])
def test_stops_do_not_change_a_bit(runs, few, monkeypatch, stops):
    p = parameters(1.0, 0.5, **MORE)
    for after in stops:
        stopped(monkeypatch, after, p, few)
    commands.run(p, few)
    assert digest(few) == digest(runs / "many") != digest(runs / "few")


def test_a_failure_between_kept_state_and_checkpoint_does_not_change_a_bit(runs, few, monkeypatch):
    p, keep = parameters(1.0, 0.5, **MORE), Observer.keep

    def then_fail(self, label, state):
        keep(self, label, state)
        raise RunError("no power")

    with monkeypatch.context() as patch:
        patch.setattr(Observer, "keep", then_fail)
        with pytest.raises(RunError, match="no power"):
            commands.run(p, few)
    commands.run(p, few)
    assert digest(few) == digest(runs / "many")


def test_temperatures_that_have_enough_stay_and_new_ones_follow(runs, few):
    more = parameters(1.0, 0.5, 0.4, two_particle={"channels": ["pp"], "below": 0.7})
    shutil.rmtree(few)
    commands.run(more.replace(dca={"temperatures": [1.0, 0.5]}), few)
    before = commands.load(few)
    after = commands.run(more.replace(two_particle={"measurements": 1280}), few)
    assert same(before.points[0], after.points[0]) and not same(before.points[1], after.points[1])
    assert [point.T for point in after.points] == [1.0, 0.5, 0.4]
    assert [counted(point) >= 1280 for point in after.points] == [False, True, True]


@needs_mpi
def test_on_two_ranks_the_bits_are_the_same(runs, few):
    done = on_two_ranks(parameters(1.0, 0.5, **MORE), few)
    assert done.returncode == 0, done.stderr
    assert "resumes with more measurements at T = 1, 0.5" in done.stdout
    assert digest(few) == digest(runs / "many")


def refused(p, folder, words):
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "log.txt"}
    with pytest.raises(InputError, match=words) as error:
        commands.run(p, folder)
    assert "\n" not in str(error.value)
    assert before == {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "log.txt"}


def test_a_run_that_cannot_resume_is_refused_and_left_as_it_is(runs, few, tmp_path, monkeypatch):
    refused(parameters(1.0, 0.5, solver={"measurements": 320}), few,
            "solver.measurements = 640 .*, 320 .*never with fewer")
    kept = next(few.glob("kept.000.*"))
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-1])
    refused(parameters(1.0, 0.5, **MORE), few, "kept.000.*truncated or damaged.*with --from")
    kept.unlink()
    refused(parameters(1.0, 0.5, **MORE), few,
            "T = 1 cannot resume with more measurements: kept.000.* is missing; .*--from")
    stopped(monkeypatch, 2, parameters(1.0, 0.5), tmp_path / "unfinished")
    refused(parameters(1.0, 0.5, **MORE), tmp_path / "unfinished",
            "when it is finished: first run it to its end with solver.measurements = 640")
    isolated = {"dca": {"isolated": True, "density": None, "mu": 1.0}}
    commands.run(parameters(1.0, solver={"kind": "ed"}, **isolated), tmp_path / "exact")
    refused(parameters(1.0, solver={"kind": "ed", "measurements": 2560}, **isolated), tmp_path / "exact",
            "were not kept")
