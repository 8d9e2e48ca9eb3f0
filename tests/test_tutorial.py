"""The tutorial is run as it stands: its files are written, its Python and shell blocks executed in their order."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

TUTORIAL = Path(__file__).parent.parent / "docs" / "tutorial.md"
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', flags=re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    """Runs all blocks in one folder and one namespace; what they left: (namespace, folder, output of the shell)."""
    folder = tmp_path_factory.mktemp("tutorial")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    names, printed = {"__name__": "tutorial"}, ""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MPLBACKEND", "Agg")
        patch.setenv("PATH", path)
        patch.chdir(folder)
        for block in BLOCK.finditer(TUTORIAL.read_text()):
            language, title, code = block.groups()
            if language == "toml":
                Path(title).write_text(code)
            elif language == "python":
                exec(compile(code, f"{TUTORIAL.name}, block at character {block.start()}", "exec"), names)
            elif language == "bash":
                done = subprocess.run(["bash", "-euc", code], capture_output=True, text=True)
                assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr}"
                printed += done.stdout
            else:
                assert language == "text", f"a block of kind {language!r} would not be run"
    return names, folder, printed


def test_the_dimer_agrees_with_its_exact_solution(walk):
    names, _, _ = walk
    assert max(abs(z) for z in names["deviations"].values()) < 4
    assert abs(names["qmc"]["order_identity"].mean) < 4 * names["qmc"]["order_identity"].error


def test_the_scan_gives_what_the_page_says(walk):
    names, folder, printed = walk
    assert list(names["T"]) == [0.5, 0.25]
    assert (0 < names["value"]).all() and (names["value"] < 1).all()
    assert names["results"].tc["status"] == "bound" and "no transition found above T = 0.25" in printed
    assert 0 < names["error"] < 0.1


def test_a_stopped_run_ends_like_a_whole_one(walk):
    names = walk[0]
    whole, parts = names["whole"], names["parts"]
    assert whole.observables.keys() == parts.observables.keys()
    for name, estimate in whole.observables.items():
        assert np.array_equal(estimate.mean, parts[name].mean) and np.array_equal(estimate.error, parts[name].error)


def test_figures_and_files_are_there(walk):
    _, folder, _ = walk
    for name in ("g_tau.png", "sigma.png", "run/report.html", "run/export/triqs.h5", "weak/results.h5"):
        assert (folder / name).stat().st_size > 0


def test_the_example_of_the_readme_runs():
    names = {}
    (code,) = re.findall(r"^```python\n(.*?)^```$", (TUTORIAL.parent.parent / "README.md").read_text(), flags=re.M | re.S)
    exec(code, names)
    assert list(names["T"]) == [0.5, 0.25] and names["results"].at(0.25)["lambda_d"].supported
