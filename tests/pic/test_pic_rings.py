"""Maxwell's equations of z and r: cavities, plasmas and beams against theory."""

import numpy as np
import pytest
from scipy.optimize import curve_fit
from scipy.special import j0, j1, jn_zeros

from plaq import pic

ELECTRONS = {"charge": -1, "mass": 1}
RADIUS, SIZE = 2.0, 1e-3


def parameters(species, **sections):
    given = {"grid": {"geometry": "cylinder", "cells": [8, 32], "length": [0.5, RADIUS]}, "time": {"end": 20},
             "species": species, "output": {"pictures": 0, "gauss": True}, "run": {"workers": 1}}
    return pic.Parameters(**{key: {**given.get(key, {}), **sections.get(key, {})} for key in {**given, **sections}})


def table(function):
    return [[x, float(function(x))] for x in np.linspace(0, RADIUS, 4001)]


def frequency(values, guess):
    """Return the frequency of a probe's oscillation by a fit of its amplitude, frequency and phase."""
    times = values.axis("time")
    return curve_fit(lambda t, a, w, phase: a * np.cos(w * t + phase), times, values.values,
                     p0=[np.abs(values.values).max(), guess, 0.0])[0][1]


def cavity(kind, cells, plasma=()):
    """Return the frequency of TM_01p or TE_01p, p = 0 or 1, and the exact one, of a cavity of length 2 with a plasma."""
    length, radial = 2.0, jn_zeros(0 if kind[:2] == "TM" else 1, 1)[0] / RADIUS
    along = np.pi / length * (kind[-1] == "1")
    wave = {"TM": [f"{SIZE}*j0(r)*cos({along}*z)", f"{SIZE * along / radial}*j1(r)*sin({along}*z)", 0],
            "TE": [0, 0, f"{SIZE}*j1(r)*sin({along}*z)"]}[kind[:2]]
    found = pic.run(parameters(
        dict(plasma), grid={"cells": [cells, cells], "length": [length, RADIUS]}, time={"end": 30},
        constants={"j0": table(lambda r: j0(radial * r)), "j1": table(lambda r: j1(radial * r))},
        boundaries={"z": "conducting", "particles_z": "reflected", "particles_r": "reflected"}, fields={"e": wave},
        probe={"p": {"field": "ez" if kind[:2] == "TM" else "et",
                     "at": [0, 0] if kind[:2] == "TM" else [1.0, 0.9]}}))
    exact = np.hypot(radial, along)
    return frequency(found["p"], exact), exact, found


@pytest.mark.parametrize("kind", ["TM0", "TM1", "TE1"])
def test_frequencies_of_a_cavity(kind):
    """ω² = (j/R)² + (π p/L)², j the zeros of J_0, or J_1 of TE: errors of the second order in the cells."""
    errors = []
    for cells in (12, 24):
        found, exact, _ = cavity(kind, cells)
        errors.append(found / exact - 1)
    assert abs(errors[1]) < 1e-3
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.15)


@pytest.mark.parametrize("kind", ["TM0", "TE1"])
def test_a_cavity_with_a_plasma(kind):
    """ω² = ω_p² + ω_0² by the currents along z and theta."""
    plasma = {"e": ELECTRONS | {"density": 1.0, "per_cell": 9, "placed": "even"}}
    found, exact, results = cavity(kind, 24, plasma)
    assert found == pytest.approx(np.sqrt(1 + exact**2), rel=2e-3)
    assert results["gauss"].values.max() < 1e-12


def test_a_cold_plasma_oscillates_in_r():
    """Any small radial velocity of electrons swings with ω_p."""
    plasma = {"e": ELECTRONS | {"density": 1.0, "per_cell": 16, "placed": "even",
                                "drift": [0, f"{SIZE}*r*({RADIUS}-r)", 0]}}
    found = pic.run(parameters(plasma, probe={"p": {"field": "er", "at": [0.2, 1.0]}}))
    assert frequency(found["p"], 1.0) == pytest.approx(1, rel=1e-3)
    assert found["gauss"].values.max() < 1e-12


def test_the_field_of_a_beam_moves_with_it():
    """E_r = n r/2, n a²/2r outside, B_theta = β E_r, from the start on, to rounding and then the noise of the particles."""
    n, a, u = 1e-3, 0.5, 5.0
    beta = u / np.hypot(1, u)
    beam = {"beam": {"charge": -1, "mass": 1e6, "density": f"if(r < {a}, {n}, 0)", "per_cell": 16, "placed": "even",
                     "drift": [u, 0, 0]}}
    lines = {name: {"field": name, "at": [0.2, 0], "along": "r", "every": 1} for name in ("er", "bt")}
    found = pic.run(parameters(beam, grid={"cells": [8, 64]}, fields={"of_moving": ["beam"]}, time={"end": 3},
                               probe=lines))
    r = found["er"].axis("r")
    exact = -np.where(r < a, n * r / 2, n * a**2 / (2 * r))
    for index, tolerance in ((0, 2e-2), (-1, 2e-2)):
        assert found["er"].values[index][:-1] == pytest.approx(exact[:-1], abs=tolerance * n * a)
        assert found["bt"].values[index][:-1] == pytest.approx(beta * found["er"].values[index][:-1],
                                                               abs=1e-3 * n * a)


def test_absorbing_sides_of_a_tube():
    """A short pulse of TE_01 leaves through both ends."""
    radial = jn_zeros(1, 1)[0] / RADIUS
    found = pic.run(parameters(
        {}, grid={"cells": [160, 16], "length": [16.0, RADIUS]}, time={"end": 40},
        constants={"j1": table(lambda r: j1(radial * r))}, boundaries={"z": "absorbing", "layer": 10},
        fields={"e": [0, 0, f"{SIZE}*j1(r)*exp(-(z-8)^2/0.5)*cos(8*(z-8))"]}))
    energy = sum(found[f"{kind}_{d}"].values for kind in ("electric", "magnetic") for d in "zrt")
    assert energy[-1] < 1e-5 * energy[0]
