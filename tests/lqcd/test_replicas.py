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
