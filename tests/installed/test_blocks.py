"""Blocks of other pages run, and the inputs on them are accepted."""

import re
from pathlib import Path

import pytest
from walk import BLOCK

ROOT = Path(__file__).parents[2]


def blocks(page, language):
    """The (title, code) of the blocks of a language."""
    return [(title, code) for kind, title, code in BLOCK.findall((ROOT / page).read_text()) if kind == language]


def test_the_page_of_plasmas_has_the_output_of_its_blocks(installed, tmp_path):
    walk = installed.walk(ROOT / "docs/pic.md", tmp_path, {"rate": "rate", "theory": "theory",
                                                           "shape": "series.field('ex', 10).shape"})
    assert abs(walk.values["rate"] / walk.values["theory"] - 1) < 0.05
    assert walk.values["shape"] == [32, 32]
    assert (tmp_path / "laser/report.html").exists()


def test_the_python_of_the_readme(installed, tmp_path):
    (_, block), = blocks("README.md", "python")
    check = "assert list(T) == [0.5, 0.25] and results.at(0.25)['lambda_d'].supported"
    assert re.fullmatch(r"0\.\d+\(\d+\) 0\.\d+\(\d+\)\n", installed.python(f"{block}\n{check}", folder=tmp_path))


def test_python_that_reads_a_run_folder(installed, tmp_path):
    load, of_triqs = [code for _, code in blocks("docs/run_folder.md", "python") if "import" in code]
    assert "h5" in of_triqs
    run = ("from plaq import dca\n"
           "dca.run(dca.Parameters(model={'U': 2}, dca={'temperatures': [0.5, 0.08], 'density': 0.95},\n"
           "                       solver={'measurements': 400}, two_particle={'channels': ['pp']}), 'run')\n")
    installed.python(f"{run}{load}\nassert list(T) == [0.5, 0.08] and len(error) == 2", folder=tmp_path)
    (_, compute), = blocks("docs/statistics.md", "python")
    installed.python(f"{compute}\nassert 0 < change.error < 1 and local.axes[0].name == 'omega'", folder=tmp_path)


def test_python_of_exact_diagonalisation(installed, tmp_path):
    """On a bond: the density that was asked for comes from the same eigenstates."""
    (_, block), = blocks("docs/exact_diagonalisation.md", "python")
    bond = ("import numpy as np\nhopping = np.array([[0.0, -1.0], [-1.0, 0.0]])\n"
            "fourier = np.array([[1.0, 1.0], [1.0, -1.0]])\nomega = np.pi / 5 * np.arange(1, 20, 2)\n")
    installed.python(f"{bond}{block}\nassert abs(cluster.density - 1) < 1e-12  # mu = U/2", folder=tmp_path)


def test_python_that_records_a_trace(installed, tmp_path):
    assert blocks("docs/trace.md", "python")
    for _, block in blocks("docs/trace.md", "python"):
        installed.python(block, folder=tmp_path)


@pytest.mark.parametrize("page, application", [("docs/dca.md", "dca"), ("docs/lqcd.md", "lqcd"), ("docs/pic.md", "pic"),
                                               ("docs/tutorial.md", "dca"), ("docs/lqcd_tutorial.md", "lqcd")])
def test_inputs_of_a_page_are_accepted(installed, tmp_path, page, application):
    assert blocks(page, "toml")
    for _, code in blocks(page, "toml"):
        (tmp_path / "input.toml").write_text(code)
        checked = installed.plaq(application, "check", "input.toml", folder=tmp_path)
        assert checked.returncode == 0, checked.stderr
