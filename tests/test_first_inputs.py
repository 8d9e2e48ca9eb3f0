"""``plaq new`` writes an input with its schema, and replaces no file. Runs: tests/installed/test_first_runs.py."""

import json

import pytest
from command_line import run_plaq


@pytest.mark.parametrize("name", ["dca", "lqcd", "pic"])
def test_a_first_input_is_written_with_its_schema(name, tmp_path):
    made = run_plaq("new", name, "my first", folder=tmp_path)
    assert made.returncode == 0 and f"cd 'my first' && plaq {name} run input.toml" in made.stdout
    folder = tmp_path / "my first"
    assert {path.name for path in folder.iterdir()} == {"input.toml", f"{name}.schema.json"}
    assert (folder / "input.toml").read_text().startswith(f"#:schema {name}.schema.json\n")
    assert json.loads((folder / f"{name}.schema.json").read_text())["title"] == f"Input of plaq {name}"


def test_new_replaces_no_file(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/input.toml").write_text("mine")
    told = run_plaq("new", "pic", "mine", folder=tmp_path)
    assert told.returncode == 2 and "mine/input.toml: exists" in told.stderr and told.stderr.count("\n") == 1
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["input.toml"]
    assert (tmp_path / "mine/input.toml").read_text() == "mine"
    unknown = run_plaq("new", "qed", "other", folder=tmp_path)
    assert unknown.returncode == 2 and unknown.stderr.count("\n") == 1 and not (tmp_path / "other").exists()
