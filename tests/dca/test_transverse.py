"""The transverse function is the magnetic one: one is measured, both are reported, alone or together."""

import numpy as np
import pytest

from plaq import dca
from plaq.dca.solver.choices import measured_functions

SECTIONS = {"model": {"U": 4.0, "hopping": {"1,0": -0.5}, "cluster": [[2, 0], [0, 1]]},
            "dca": {"temperatures": [0.5], "mu": 1.2, "isolated": True}, "run": {"workers": 1},
            "solver": {"measurements": 256, "warmup": 5, "chains": 4}}


def measured(*kinds):
    pairs = {"channels": list(kinds), "frequencies": 2, "transfers": [[1, 0]]}
    return dca.run(dca.Parameters(**SECTIONS, two_particle=pairs)).points[0]


def test_each_is_measured_once():
    wanted = [("transverse", 1, 0), ("pp", 1, 0), ("magnetic", 1, 0), ("transverse", 0, 1)]
    assert measured_functions(wanted) == [("magnetic", 1, 0), ("pp", 1, 0), ("magnetic", 0, 1)]


@pytest.mark.parametrize("kinds", [("transverse",), ("transverse", "charge"), ("magnetic", "transverse")])
def test_it_is_reported_under_its_name(kinds):
    magnetic, found = measured("magnetic"), measured(*kinds)
    for name in ("G4_{}_q1_m0", "lambda_{}_q1_m0_s", "eigenvalues_{}_q1_m0_s"):
        one, other = magnetic[name.format("magnetic")], found[name.format("transverse")]
        np.testing.assert_array_equal(one.mean, other.mean)
        np.testing.assert_array_equal(one.error, other.error)
    assert {name.split("_")[1] for name in found.observables if name.startswith("G4_")} == set(kinds)
