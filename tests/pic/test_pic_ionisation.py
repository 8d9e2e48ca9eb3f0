"""Field ionisation against the integral of its rate; the field of moving charges at the start."""

import math

import numpy as np
import pytest

from plaq import pic
from plaq.errors import InputError
from plaq.pic.inputs.plan import ionisation_of
from plaq.pic.inputs.setup import Setup
from plaq.pic.inputs.units import ATOMIC_FIELD, ATOMIC_TIME, HARTREE

DENSITY = 1e24
FIELD = ATOMIC_FIELD / pic.Units("normalised", DENSITY).in_si("E")  # an atomic unit, normalised
TIME = ATOMIC_TIME / pic.Units("normalised", DENSITY).in_si("time")
EV = 1 / 510998.95069


def atoms(density=1e-6, **section):
    return {"units": {"density": DENSITY}, "grid": {"cells": [20, 8], "length": [2, 0.8], "patches": [2, 2]},
            "fields": {"solver": "electrostatic"}, "output": {"pictures": 0}, "run": {"workers": 1},
            "species": {"h": {"charge": 0, "mass": 1837, "density": density, "per_cell": 100},
                        "p": {"charge": 1, "mass": 1836}, "e": {"charge": -1, "mass": 1}},
            "ionisation": {"h": {"species": "h", "ions": "p", "electrons": "e", "potential": 13.605693 * EV,
                                 **section}}}


def test_the_rate_of_hydrogen_and_of_helium_is_that_of_adk():
    """Of hydrogen 4/F exp(-2/(3F)) in atomic units; of helium's n* = 1/sqrt(2 I) by the whole formula; of a p electron
    three times that of s."""
    def rate(field, **section):
        setup = Setup(pic.Parameters(time={"end": 1}, **atoms(**section)))
        return ionisation_of(setup, "h").rate(field * FIELD) * TIME

    for field in (0.01, 0.05, 0.1):
        assert rate(field) == pytest.approx(4 / field * math.exp(-2 / (3 * field)), rel=1e-6)
    energy = 24.587389 / HARTREE
    n = 1 / math.sqrt(2 * energy)
    strength = 2 * (2 * energy) ** 1.5 / 0.08
    expected = 4**n / (n * math.gamma(2 * n)) * energy * strength ** (2 * n - 1) * math.exp(-strength / 3)
    assert rate(0.08, potential=24.587389 * EV) == pytest.approx(expected, rel=1e-6)
    assert rate(0.08, l=1) == pytest.approx(3 * rate(0.08), rel=1e-12) and rate(0) == 0


def test_atoms_decay_by_the_integral_of_the_rate(tmp_path):
    """In a field that oscillates: N(t) = N exp(-∫W dt) within four standard errors, charge and number are kept; the
    same after a stop and on other patches' ranks."""
    field = f"{0.05 * FIELD!r}*cos(0.7*t)"
    sections = atoms()
    found = pic.run(pic.Parameters(time={"end": 6, "step": 0.02}, external={"e": [0, 0, field]}, **sections),
                    tmp_path / "whole")
    t = (np.arange(300) + 0.0) * 0.02
    f = 0.05 * np.abs(np.cos(0.7 * t))
    rate = np.where(f > 0, 4 / f * np.exp(-2 / (3 * f)), 0) / TIME
    left = np.exp(-np.cumsum(rate) * 0.02)
    number, count = found["h.number"].values, 16000
    spread = np.sqrt(count * left * (1 - left)) + 1
    assert 0.2 < left[-1] < 0.9 and np.abs(number - count * left).max() < 4 * spread.max()
    assert np.abs((number - count * left) / spread)[50::50].max() < 4
    assert np.all(number + found["p.number"].values == count)
    assert np.array_equal(found["p.number"].values, np.cumsum(found["h.count"].values))
    assert np.array_equal(found["p.number"].values, found["e.number"].values)
    assert np.nanmax(found["gauss"].values) < 1e-13
    for end in (2, 6):
        pic.run(pic.Parameters(time={"end": end, "step": 0.02}, external={"e": [0, 0, field]}, **sections),
                tmp_path / "parts")
    assert pic.digest(tmp_path / "parts") == pic.digest(tmp_path / "whole")


@pytest.mark.parametrize("change, message", [
    ({"units": {}}, "units.density is missing: ionisation.h depends on the field in V/m"),
    ({"ionisation": {"h": {"species": "h", "ions": "e", "electrons": "e", "potential": 1}}},
     "charges of h, e, e are Z, Z + 1 and -1"),
    ({"ionisation": {"h": {"species": "q", "ions": "e", "electrons": "e", "potential": 1}}}, "unknown species q"),
])
def test_an_ionisation_is_checked(change, message):
    with pytest.raises(InputError) as error:
        pic.Parameters(time={"end": 1}, **{**atoms(), **change})
    assert message in str(error.value)


def test_a_beam_begins_with_its_field_and_keeps_it():
    """u = 5 along x: B_z = β E_y to rounding at t = 0, E_y moves with the beam, and changes by less than 3 %."""
    u, step = 5.0, 0.04
    beta = u / math.hypot(1, u)

    def fields(**chosen):
        probes = {f"{name}{n}": {"field": name, "at": [0, 2.5 + 0.15], "along": "x"}
                  for n, name in enumerate(("ey", "bz"))}
        return pic.run(pic.Parameters(
            grid={"cells": [64, 50], "length": [6.4, 5], "patches": [2, 2]}, time={"end": 50 * step, "step": step},
            fields={"stencil": "cowan", **chosen}, solver={"order": 2}, probe=probes, output={"pictures": 0},
            run={"workers": 1}, species={"beam": {
                "charge": -1, "mass": 1, "density": "1e-3*gauss(x - 2, 0.4)*gauss(y - 2.5, 0.3)", "per_cell": 9,
                "placed": "even", "drift": [u, 0, 0]}}))

    def changed(found):
        e, moved = found["ey0"].values, beta * 50 * step / 0.1
        k = 2 * np.pi * np.fft.rfftfreq(64)
        expected = np.fft.irfft(np.fft.rfft(e[0]) * np.exp(-1j * k * moved))
        return np.abs(e[50] - expected).max() / np.abs(e[0]).max()

    found = fields(of_moving=["beam"])
    e, b = found["ey0"].values[0], found["bz1"].values[0]
    assert b == pytest.approx(beta * (e + np.roll(e, -1)) / 2, abs=1e-12 * np.abs(e).max())
    assert np.abs(e).max() > 1e-5 and changed(found) < 0.03
    assert np.nanmax(found["gauss"].values) < 1e-13


@pytest.mark.parametrize("fields, message", [
    ({"of_moving": ["beam"], "of_charges": True}, "without of_charges"),
    ({"of_moving": ["q"]}, "unknown species q"),
])
def test_moving_charges_are_checked(fields, message):
    with pytest.raises(InputError) as error:
        pic.Parameters(grid={"cells": [8], "length": [1]}, time={"end": 1}, fields=fields,
                       species={"beam": {"charge": -1, "mass": 1}})
    assert message in str(error.value)
