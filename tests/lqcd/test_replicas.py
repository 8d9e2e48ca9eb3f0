"""Several chains of one ensemble, combined."""

import numpy as np
import pytest
from command_line import run_plaq

from plaq import lqcd
from plaq.errors import InputError

INPUT = {"lattice": {"extents": [4, 2, 2, 2]}, "action": {"beta": 5.5},
         "updates": {"thermalisation": 20, "configurations": 40, "sweeps": 2, "seed": 1},
         "loops": {"plain": {"space": 1, "time": 2}}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("replicas")
    for seed, count in ((1, 40), (2, 60)):
        p = lqcd.Parameters(**INPUT).replace(updates={"seed": seed, "configurations": count})
        lqcd.run(p, folder / f"run{seed}")
    lqcd.run(lqcd.Parameters(**INPUT).replace(updates={"seed": 3}, action={"beta": 5.6}), folder / "other")
    return folder


def test_chains_are_combined_as_replicas(folder):
    parts = [lqcd.load(folder / f"run{seed}") for seed in (1, 2)]
    found = lqcd.combine([folder / "run1", folder / "run2"], folder / "combined")
    for name in ("plaquette", "loops/plain/wilson_loops"):
        joined = np.concatenate([part.recorded[name].values for part in parts])
        assert np.array_equal(found.recorded[name].values, joined) and len(joined) == 100
        e = found[name]
        assert e.mean == pytest.approx(joined.mean(axis=0)) and np.all((e.gamma.replica_p > 1e-4))
        expected = lqcd.analysis.average("x", joined, replicas=[40, 60])
        assert np.array_equal(e.error, expected.error) and np.array_equal(e.gamma.error, expected.gamma.error)
    assert found.sentences[1].startswith("100 configurations of 2 chains, 2 sweeps apart")
    again = lqcd.load(folder / "combined")
    assert again.sentences == found.sentences and (folder / "combined" / "summary.json").exists()


@pytest.mark.parametrize("runs, words", [
    (["run1"], "combine takes two runs or more, not 1"),
    (["run1", "other"], "other: has action.beta = 5.6, and .*run1 has 5.5: chains of one ensemble differ in seed"),
    (["run1", "run2", "run1"], "have 40 configurations in common: take chains with other seeds"),
    (["run1", "nothing"], "nothing: has no results.h5"),
    (["run1", "combined"], "combined: is combined of other runs: name those")])
def test_runs_that_do_not_belong_together(folder, runs, words):
    lqcd.combine([folder / "run1", folder / "run2"], folder / "combined")
    with pytest.raises(InputError, match=words):
        lqcd.combine([folder / run for run in runs])


def test_the_command_writes_a_report_and_spares_runs(folder):
    done = run_plaq("lqcd", "combine", "run1", "run2", "--out", "both", folder=folder)
    assert done.returncode == 0 and "report: both/report.html" in done.stdout
    assert "2 chains" in (folder / "both" / "report.html").read_text()
    done = run_plaq("lqcd", "combine", "run1", "run2", "--out", "run1", folder=folder)
    assert done.returncode == 2 and "run1: holds a run: combined results need another folder" in done.stderr


def test_chains_with_different_averages_say_so(folder):
    """The second chain is shifted by ten of its errors."""
    from plaq.lqcd.measurements.analysis import analyse

    found = lqcd.combine([folder / "run1", folder / "run2"])
    series = dict(found.recorded)
    moved = series["plaquette"].values.copy()
    moved[40:] += 0.4
    series["plaquette"] = type(series["plaquette"])("plaquette", moved, series["plaquette"].axes)
    said = analyse(lqcd.Parameters(**INPUT), series, {}, {name: [40, 60] for name in series}).sentences
    assert any(one.startswith("warning: chains do not agree: averages of plaquette differ") for one in said)


HMC = {"lattice": {"extents": [4, 4, 2, 2]}, "action": {"beta": 4.0}, "quarks": {"light": {"kappa": 0.12, "mu": 0.3}},
       "updates": {"algorithm": "hmc", "sweeps": 1, "save_every": 1}, "hmc": {"steps": [2, 3]},
       "mesons": {"pion": {"kappa": 0.12, "mu": 0.3, "residual": 1e-6}}}
CHAINS = {"one": {"seed": 1, "thermalisation": 15, "configurations": 45},
          "two": {"seed": 2, "thermalisation": 20, "configurations": 60, "start": "cold"},
          "raw": {"seed": 3, "thermalisation": 0, "configurations": 8, "start": "cold"}}


@pytest.fixture(scope="module")
def chains(tmp_path_factory):
    """Chains of hybrid Monte Carlo with two quarks, the last one without thermalisation."""
    folder = tmp_path_factory.mktemp("chains")
    for name, updates in CHAINS.items():
        lqcd.run(lqcd.Parameters(**HMC).replace(updates=updates), folder / name, progress=False)
    return folder


def test_chains_of_hybrid_monte_carlo_are_one_ensemble(chains):
    """Trajectories after thermalisation, errors of both chains together, and the same from stored configurations."""
    found = lqcd.combine([chains / "one", chains / "two"])
    parts = [lqcd.load(chains / name) for name in ("one", "two")]
    after = [part.recorded["delta_h"].values[CHAINS[name]["thermalisation"]:]
             for part, name in zip(parts, ("one", "two"))]
    assert np.array_equal(found.recorded["delta_h"].values, np.concatenate(after))
    assert abs(found["exp_minus_delta_h"].mean - 1) < 4 * found["exp_minus_delta_h"].error < 0.1
    assert 0.6 < found["acceptance"].mean <= 1 and len(found.recorded["plaquette"].values) == 105
    for name in ("plaquette", "mesons/pion/gamma5"):
        both = np.array([part[name].gamma.error**-2 for part in parts]).sum(axis=0)**-0.5
        assert np.all(found[name].gamma.replica_p > 1e-3) and np.all(abs(found[name].gamma.error / both - 1) < 0.5)
    assert not any("do not agree" in one for one in found.sentences)
    for name in ("one", "two"):
        files = {"configurations": [str(chains / name / "conf.*")], "seed": CHAINS[name]["seed"]}
        p = lqcd.Parameters(lattice=HMC["lattice"], mesons=HMC["mesons"], measure=files)
        lqcd.run(p, chains / f"measured_{name}", progress=False)
    stored = lqcd.combine([chains / "measured_one", chains / "measured_two"])
    for name in ("plaquette", "mesons/pion/gamma5"):
        assert np.array_equal(stored[name].mean, found[name].mean)
        assert np.array_equal(stored[name].gamma.error, found[name].gamma.error)


def test_a_chain_that_has_not_thermalised_leaves_the_ensemble_without_errors(chains):
    found = lqcd.combine([chains / "one", chains / "two", chains / "raw"])
    assert not found["plaquette"].supported and found["plaquette"].note
    assert any(one.startswith("warning: chains do not agree") for one in found.sentences)
