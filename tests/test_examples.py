"""Every input of examples/ is accepted and runs, with less statistics or a shorter time than it has."""

from pathlib import Path

import pytest
from command_line import run_plaq

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
FEWER = ["dca.temperatures=[1.0]", "solver.measurements=2000", "two_particle.measurements=auto"]
SHORTER = {
    "dynamical/input.toml": ("lqcd", ["updates.thermalisation=1", "updates.configurations=2"]),
    "plate/input.toml": ("pic", ["time.end=5"]),
    "quenched/input.toml": ("lqcd", ["lattice.extents=[4,4,4,4]", "updates.thermalisation=1",
                                     "updates.configurations=2"]),
    "strong_scaling/input.toml": ("dca", ["model.cluster=[[2,0],[0,2]]", "dca.temperatures=[1.0]",
                                          "solver.measurements=2000", "solver.chains=64", "solver.bins=64"]),
    "tc_plaquette/bracket.toml": ("dca", FEWER),
    "tc_plaquette/demo.toml": ("dca", FEWER),
    "tc_plaquette/input.toml": ("dca", FEWER),
    "two_stream/input.toml": ("pic", ["time.end=2"]),
    "wakefield/input.toml": ("pic", ["time.end=1"]),
}
MACHINES = {"strong_scaling/summit.toml"}


def plaq(folder, *arguments):
    return run_plaq(*arguments, folder=folder)


def test_every_input_is_run():
    assert {str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("*.toml")} == SHORTER.keys() | MACHINES


@pytest.mark.parametrize("input", SHORTER)
def test_an_example_runs(tmp_path, input):
    name, settings = SHORTER[input]
    checked = plaq(tmp_path, "check", EXAMPLES / input)
    assert checked.returncode == 0, checked.stderr
    done = plaq(tmp_path, name, "run", EXAMPLES / input, "--out", "run", *(f"--set={each}" for each in settings))
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert (tmp_path / "run/report.html").exists() and "digest:" in done.stdout
