"""Inputs of examples/ are accepted, and one of each kind runs, with less statistics or a shorter time than it has."""

import shutil
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
FEWER = ["dca.temperatures=[1.0]", "solver.measurements=2000", "two_particle.measurements=auto"]
SHORTER = {
    "coaxial_diode/input.toml": ("pic", ["time.end=5e-10"]),
    "dynamical/input.toml": ("lqcd", ["updates.thermalisation=1", "updates.configurations=2"]),
    "plate/input.toml": ("pic", ["time.end=5"]),
    "quenched/input.toml": ("lqcd", ["lattice.extents=[4,4,4,4]", "updates.thermalisation=1",
                                     "updates.configurations=2"]),
    "strong_scaling/input.toml": ("dca", ["model.cluster=[[2,0],[0,2]]", "dca.temperatures=[1.0]",
                                          "solver.measurements=2000", "solver.chains=64", "solver.bins=64"]),
    "tc_plaquette/demo.toml": ("dca", FEWER),
    "two_stream/input.toml": ("pic", ["time.end=2"]),
    "wakefield/input.toml": ("pic", ["time.end=1"]),
}
ACCEPTED = {"cls/input.toml", "doping_scan/input.toml", "etmc/input.toml", "tc_plaquette/bracket.toml",  # variations,
            "tc_plaquette/input.toml", *(f"turner/case{n}.toml" for n in range(1, 5))}            # or tried elsewhere
OF_A_PAGE = {"ensemble/hadrons.toml", "ensemble/input.toml"}  # test_ensemble_lqcd.py
MACHINES = {"strong_scaling/summit.toml"}


def test_every_input_is_tried():
    found = {str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("*.toml")}
    assert found == SHORTER.keys() | ACCEPTED | OF_A_PAGE | MACHINES


@pytest.mark.parametrize("input", sorted(ACCEPTED))
def test_an_example_is_accepted(installed, tmp_path, input):
    checked = installed.plaq("check", EXAMPLES / input, folder=tmp_path)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("input", SHORTER)
def test_an_example_runs(installed, tmp_path, input):
    name, settings = SHORTER[input]
    shutil.copytree((EXAMPLES / input).parent, tmp_path / "example")
    copy = f"example/{Path(input).name}"
    checked = installed.plaq("check", copy, folder=tmp_path)
    assert checked.returncode == 0, checked.stderr
    done = installed.plaq(name, "run", copy, "--out", "run", *(f"--set={each}" for each in settings), folder=tmp_path)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert (tmp_path / "run/report.html").exists() and "digest:" in done.stdout
