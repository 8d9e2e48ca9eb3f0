"""Secondary emission at sides: numbers, resume, multiplication between plates."""

import numpy as np
import pytest

from plaq import pic
from plaq.errors import InputError, RunError

IONS = {"charge": 1, "mass": 100, "density": 1e-6, "per_cell": 50, "drift": [-0.02, 0, 0], "temperature": 1e-6}


def parameters(end=40.0, **sections):
    return pic.Parameters(**{
        "grid": {"cells": [16], "length": [1], "patches": [2]}, "time": {"end": end, "step": 0.5},
        "fields": {"solver": "electrostatic"}, "boundaries": {"x": "conducting"},
        "species": {"e": {"charge": -1, "mass": 1}, "ions": IONS},
        "secondary": {"gamma": {"by": "ions", "emits": "e", "coefficient": 0.3, "temperature": 1e-4}},
        "output": {"pictures": 0}, "run": {"workers": 1}, **sections})


def test_ions_emit_electrons_in_the_number_asked_for(tmp_path):
    """Within four standard errors; a run in two parts is one in a piece; Gauss's law holds."""
    whole = pic.run(parameters(), tmp_path / "whole")
    arrived, emitted = whole["ions.left_xlow"].values.sum(), whole["e.emitted"].values.sum()
    assert arrived > 500 and abs(emitted - 0.3 * arrived) < 4 * np.sqrt(0.21 * arrived)
    assert np.nanmax(whole["gauss"].values) < 1e-15
    pic.run(parameters(20), tmp_path / "parts")
    parts = pic.run(parameters(), tmp_path / "parts")
    for column in ("e.number", "e.kinetic", "ions.kinetic"):
        assert np.array_equal(whole[column].values, parts[column].values)


def test_the_coefficient_depends_on_energy_angle_and_side():
    """Ions of kinetic energy 0.02 emit where the formula is above 0 only."""
    energy = 100 * (np.sqrt(1 + 0.0004) - 1)
    for coefficient, at, expected in ((f"if(energy > {0.9 * energy}, 2, 0)", (), 2),
                                      (f"energy > {1.1 * energy}", (), 0), ("cos(angle)", ["x low"], 1),
                                      (2, ["x high"], 0)):
        found = pic.run(parameters(secondary={"g": {"by": "ions", "emits": "e", "coefficient": coefficient, "at": at}}))
        arrived = found["ions.left_xlow"].values.sum()
        assert found["e.emitted"].values.sum() == pytest.approx(expected * arrived, rel=0.01), coefficient


@pytest.mark.parametrize("changed, message", [
    ({"by": "x"}, "secondary.g.by: unknown species x"),
    ({"coefficient": "q"}, "secondary.g.coefficient: ▸q: unknown name q"),
    ({"at": ["y low"]}, 'secondary.g.at = ["y low"] is not allowed: particles are absorbed at x low, x high'),
    ({"coefficient": "-energy"}, "secondary.g.coefficient: -energy is below 0 at energy = "),
])
def test_a_bad_secondary_emission_is_refused_in_a_line(changed, message):
    with pytest.raises(InputError) as error:
        pic.run(parameters(secondary={"g": {"by": "ions", "emits": "e", "coefficient": 1, **changed}}))
    assert message in str(error.value) and "\n" not in str(error.value)


def test_very_many_particles_of_an_impact_are_an_error():
    with pytest.raises(RunError, match="an impact on a side would emit more than 50 particles"):
        pic.run(parameters(secondary={"g": {"by": "ions", "emits": "e", "coefficient": 51}}))
