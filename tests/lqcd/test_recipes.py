"""Inputs of collaborations run, and record what they are asked for."""

from pathlib import Path

import numpy as np
import pytest

from plaq.lqcd.application import Lqcd
from plaq.lqcd.parameters import Parameters
from plaq.run import driver

EXAMPLES = Path(__file__).parents[2] / "examples"
SHORT = ("updates.thermalisation=0", "updates.configurations=2", "hmc.steps=[1, 1, 1, 1]", "hmc.forces_every=1",
         "hmc.reversibility_every=1", "hmc.eigenvalues_every=1")


@pytest.mark.parametrize("name", ["etmc", "cls"])
def test_a_recipe_runs(name):
    """One trajectory. Forces are there for each term, the range holds the eigenvalues, factors are near one."""
    p = Parameters.read(EXAMPLES / name / "input.toml", SHORT)
    found = driver.run(Lqcd, p)
    series = found.recorded
    terms = {"etmc": ("light_1", "light_2", "light_3", "heavy_1", "heavy_2", "gauge", "light_clover", "heavy_clover"),
             "cls": ("light_1", "light_2", "light_3", "strange_1", "strange_2", "gauge", "strange_clover")}[name]
    for term in terms:
        (mean, largest), = series[f"force_{term}"].values
        assert 0 < mean < largest
    for quarks, q in p.quarks.items():
        (low, high), = series[f"eigenvalues_{quarks}"].values
        assert 0 < low < high < 10 and (q.range is None or q.range[0] < low and high < q.range[1])
    (change, links), = series["reversibility"].values
    assert abs(change) < 1e-2 and links < 1e-4 and np.isfinite(series["delta_h"].values).all()
    assert series["accepted"].values.all()  # without a decision
    if name == "cls":
        assert links < 1e-6
        for quarks, sources in (("light", 4), ("strange", 1)):
            factors = series[f"reweighting/{quarks}/log_factor"].values
            assert factors.shape == (2, sources) and np.abs(factors).max() < 1 and factors.any()
        assert np.allclose(series["reweighting/light/plaquette"].values, series["plaquette"].values, rtol=1e-14)
        assert np.array_equal(series["polyakov"].values, np.zeros((2, 2)))
