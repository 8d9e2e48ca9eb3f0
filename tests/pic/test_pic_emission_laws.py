"""Emission by heat and fields, and profiles of plates, against the laws."""

import math

import numpy as np
import pytest

from plaq import pic
from plaq.errors import InputError

E, K_B, H, M_E, EPSILON_0 = 1.602176634e-19, 1.380649e-23, 6.62607015e-34, 9.1093837139e-31, 8.8541878188e-12


def emitted_current(kind, *, voltage, gap=1e-3, per_cell=1e3, **plate):
    """Return the emitted current per area, A/m², of a cold cathode at x = 0, too dense to be seen by the field."""
    time = {"step": 2e-13, "end": 4e-11}
    sections = {
        "units": {"system": "SI", "density": 1e10}, "grid": {"cells": [8], "length": [gap]},
        "boundaries": {"x": "conducting", "potential_x": [0, voltage]}, "fields": {"solver": "electrostatic"},
        "species": {"e": {"charge": -1, "mass": 1}}, "time": time,
        "emission": {"cathode": {"species": "e", "at": [0], "normal": [1], "per_cell": per_cell, "law": kind} | plate}}
    results = pic.run(pic.Parameters(**sections))
    omega = math.sqrt(1e10 * E**2 / (EPSILON_0 * M_E))
    weight = results["e.emitted_weight"].values.sum() * 1e10 * 299792458.0 / omega
    count = results["e.emitted"].values.sum()
    return E * weight / time["end"], 1 / math.sqrt(count)


def test_richardson_with_schottky():
    """J = A T² exp(-(W - √(e³F/4πε_0))/k_B T)."""
    work, heat, voltage = 2.6, 0.12, 5000.0
    found, error = emitted_current("richardson", voltage=voltage, work_function=work, temperature=heat, per_cell=0.1)
    kelvin, field = heat * E / K_B, voltage / 1e-3
    lowering = math.sqrt(E * field / (4 * math.pi * EPSILON_0))
    exact = 4 * math.pi * E * M_E * K_B**2 / H**3 * kelvin**2 * math.exp(-(work - lowering) / heat)
    assert found == pytest.approx(exact, rel=4 * error + 0.01)
    assert error < 0.01


def test_fowler_and_nordheim():
    """J = a F²/(W t²) exp(-b v W^1.5/F): a = 1.541434e-6 A eV/V², b = 6.830890e9 eV^-1.5 V/m, F = 50 V/d."""
    work, field = 4.5, 50 * 5e4 / 1e-3
    y = (E * field / (4 * math.pi * EPSILON_0)) / work**2
    v, t = 1 - y + y * math.log(y) / 6, 1 + y / 9 - y * math.log(y) / 18
    exact = 1.541434e-6 * field**2 / (work * t**2) * math.exp(-6.830890e9 * v * work**1.5 / field)
    per_cell = 1e3 * (2e-13 / 4e-11) * 1e10 * E * 1e-3 / 8 / (exact * 2e-13)
    found, error = emitted_current("fowler_nordheim", voltage=5e4, work_function=work, enhancement=50,
                                   per_cell=20 * per_cell)
    assert found == pytest.approx(exact, rel=4 * error + 0.01)
    assert error < 0.05


def test_heat_that_is_limited_by_space_charge():
    """At eU = 20 k_B T and ten times Child's current offered, Langmuir's virtual cathode passes 2.155 of it."""
    voltage, gap, heat, density = 2.4, 1e-3, 0.12, 1e14
    limit = 4 / 9 * EPSILON_0 * math.sqrt(2 * E / M_E) * voltage**1.5 / gap**2
    kelvin = heat * E / K_B
    work = heat * math.log(4 * math.pi * E * M_E * K_B**2 / H**3 * kelvin**2 / (10 * limit))
    sections = {
        "units": {"system": "SI", "density": density}, "grid": {"cells": [64], "length": [gap]},
        "boundaries": {"x": "conducting", "potential_x": [0, voltage]}, "fields": {"solver": "electrostatic"},
        "species": {"e": {"charge": -1, "mass": 1}}, "time": {"step": 1e-11, "end": 2e-8},
        "emission": {"cathode": {"species": "e", "at": [0], "normal": [1], "per_cell": 4, "law": "richardson",
                                 "work_function": work, "temperature": heat}}}
    results = pic.run(pic.Parameters(**sections))
    omega = math.sqrt(density * E**2 / (EPSILON_0 * M_E))
    arrived = results["e.left_weight_xhigh"].values[-1000:].sum() * density * 299792458.0 / omega
    assert E * arrived / 1e-8 / limit == pytest.approx(2.1549, rel=0.04)


def test_a_profile_across_a_plate():
    """Particles begin with the profile's share in each part of the plate, from a flux and from a law."""
    density = 1e12
    for by in ({"flux": 1e20}, {"law": "richardson", "work_function": 3.1, "temperature": 0.12}):
        sections = {
            "units": {"system": "SI", "density": density}, "grid": {"cells": [8, 16], "length": [1e-3, 2e-3]},
            "boundaries": {"x": "conducting", "potential_x": [0, 1e4]},
            "fields": {"solver": "electrostatic"}, "species": {"e": {"charge": -1, "mass": 1}},
            "time": {"step": 2e-13, "end": 6e-12}, "output": {"pictures": 0},
            "histogram": {"y": {"species": "e", "axes": ["y"], "low": [0], "high": [2e-3], "bins": [16], "every": 30}},
            "emission": {"p": {"species": "e", "at": [0, 1e-3], "normal": [1, 0], "half_width": 1e-3, "per_cell": 500,
                               "profile": "y/2e-3"} | by}}
        found = pic.run(pic.Parameters(**sections))["histogram_y"].values[-1]
        share, exact = found / found.sum(), (np.arange(16) + 0.5) / 128
        assert np.abs(share - exact).max() < 0.01


@pytest.mark.parametrize(("change", "message"), [
    ({"work_function": None}, "cathode.work_function is missing"),
    ({"temperature": 0}, "richardson needs one above 0"),
    ({"flux": 1.0}, "either a flux or space_charge_limited = true or a law"),
    ({"law": None, "flux": 1.0}, "cathode.work_function = 2.5 is not allowed: it is of law"),
    ({"profile": "x"}, "a plate in one dimension is a point"),
    ({"law": "fowler_nordheim", "richardson_factor": 0.5}, "it is of law = richardson"),
])
def test_a_wrong_law_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        emitted_current("richardson", voltage=1, **({"work_function": 2.5, "temperature": 0.2} | change))
