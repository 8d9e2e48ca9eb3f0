"""``plaq new`` writes inputs that run as they are, in little time, with a sensible first answer."""

import json

import pytest
from command_line import run_plaq

from plaq import dca, lqcd, pic

CHECKS = {
    "dca": lambda results: results.at(0.2)["lambda_d"].mean > results.at(0.5)["lambda_d"].mean > 0,
    "lqcd": lambda results: 0.54 < results["plaquette"].mean < 0.56 and results["plaquette"].error < 0.003,
    "pic": lambda results: results.field_energy[-1] > 1e3 * results.field_energy[5],
}
APPLICATIONS = {"dca": dca, "lqcd": lqcd, "pic": pic}


@pytest.mark.slow
@pytest.mark.parametrize("name", CHECKS)
def test_a_first_input_runs_as_it_is(name, tmp_path):
    made = run_plaq("new", name, "my first", folder=tmp_path)
    assert made.returncode == 0 and f"cd 'my first' && plaq {name} run input.toml" in made.stdout
    folder = tmp_path / "my first"
    assert {path.name for path in folder.iterdir()} == {"input.toml", f"{name}.schema.json"}
    assert (folder / "input.toml").read_text().startswith(f"#:schema {name}.schema.json\n")
    assert json.loads((folder / f"{name}.schema.json").read_text())["title"] == f"Input of plaq {name}"
    done = run_plaq(name, "run", "input.toml", folder=folder)
    assert done.returncode == 0 and (folder / "run/report.html").exists(), done.stderr
    results = APPLICATIONS[name].load(folder / "run")
    assert CHECKS[name](results) and not any("warning" in line for line in results.answers())


def test_new_replaces_no_file(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/input.toml").write_text("mine")
    told = run_plaq("new", "pic", "mine", folder=tmp_path)
    assert told.returncode == 2 and "mine/input.toml: exists" in told.stderr and told.stderr.count("\n") == 1
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["input.toml"]
    assert (tmp_path / "mine/input.toml").read_text() == "mine"
    unknown = run_plaq("new", "qed", "other", folder=tmp_path)
    assert unknown.returncode == 2 and unknown.stderr.count("\n") == 1 and not (tmp_path / "other").exists()
