"""The page that sets plaq beside other codes: plaq's lines run, and lines are counted as its table says."""

import re
from pathlib import Path

import matplotlib
import numpy as np
import pytest

from plaq import dca, lqcd, pic

PAGE = (Path(__file__).parent.parent / "docs" / "side_by_side.md").read_text()
BLOCK = re.compile(r'^```python title="(.*?)"\n(.*?)^```$', re.M | re.S)
TASKS = re.split(r"^## \d+\. ", PAGE, flags=re.M)[1:]


def lines(code):
    return len([line for line in code.splitlines() if line.strip() and not line.startswith(("#", "from ", "import "))])


def test_the_table_counts_the_lines():
    rows = re.findall(r"^\| (\d+) \| \[.*?\]\(.*?\) \| (\d+) \| (\d+) \|", PAGE, re.M)
    assert len(rows) == len(TASKS) == 10
    for (number, plaq, other), task in zip(rows, TASKS, strict=True):
        blocks = dict(BLOCK.findall(task))
        assert (lines(blocks.pop("plaq")), lines(blocks.popitem()[1])) == (int(plaq), int(other)), number


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """A folder with the runs and the configuration that the page begins from; returns the input of the wake."""
    monkeypatch.chdir(tmp_path)
    matplotlib.use("agg")
    dca.run(dca.Parameters(model={"U": 4}, dca={"temperatures": [0.5, 0.25], "density": 0.9},
                           solver={"measurements": 400}, two_particle={"frequencies": 4}), "dca")
    wake = pic.Parameters(
        grid={"cells": [128], "length": [12], "patches": [4]}, boundaries={"x": "absorbing", "layer": 8},
        time={"end": 9}, output={"pictures": 8},
        laser={"pulse": {"at": 1, "wavelength": 1.2, "a0": 0.3, "envelope": "gauss(t - 3, 1)"}},
        species={"electrons": {"charge": -1, "mass": 1, "density": "x > 3", "per_cell": 2, "placed": "even"}})
    pic.run(wake, "wake")
    lqcd.write_ildg("conf.ildg", lqcd.GaugeField(lqcd.Lattice((8, 4, 4, 4))).hot(seed=1))
    return wake


def test_the_lines_of_plaq_run(runs):
    import matplotlib.pyplot as plt

    names = {"parameters": runs, "plt": plt}
    codes = [code for title, code in BLOCK.findall(PAGE) if title == "plaq"]
    assert len(codes) == 11
    for code in codes:
        exec(compile(code, "side_by_side.md", "exec"), names)
    plt.close("all")
    assert names["results"].at(0.25)["density"].mean == pytest.approx(0.9, abs=0.05)
    assert len(names["peaks"]) == 2 and names["pion"].shape == (8,) and np.all(names["pion"] > 0)
    assert 0.5 < names["ensemble"]["mesons/pion/fit_gamma5"].mean < 2
