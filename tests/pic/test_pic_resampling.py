"""Merging and splitting of macro-particles: conserved sums, temperatures, errors of the input."""

import numpy as np
import pytest

from plaq import pic
from plaq.errors import InputError

SPECIES = {"charge": -1, "mass": 1, "density": 0.1, "per_cell": 64, "temperature": [1e-3, 4e-3, 0],
           "drift": [0.05, 0, 0]}


def box(folder=None, *, species=None, **sections):
    """Return the results of a periodic box of electrons, which feel no fields unless they are others."""
    given = {"grid": {"cells": [24, 20], "length": [24.0, 20.0], "patches": [2, 2]}, "time": {"end": 4, "step": 0.5},
             "species": {"e": SPECIES | {"test": True} | (species or {})}, "output": {"pictures": 0}}
    return pic.run(pic.Parameters(**(given | sections)), folder)


def momenta(results):
    found = results.particles("e", max(results.steps))
    return found["u"], found["w"]


def test_merging_keeps_the_sums_and_the_temperatures(tmp_path):
    """64 to 16 in each of 480 cells: numbers, weights, momenta and energies; temperatures along x and y within 5 %
    (their standard error is 2 %), nothing along z."""
    found = box(tmp_path / "m", merging={"m": {"species": "e", "above": 16, "every": 2}},
                output={"every": 8, "particles": ["e"], "pictures": 0})
    assert found["e.number"].values[0] == 16 * 480 == 64 * 480 - found["m.count"].values[0]
    assert found["m.count"].values[1] == 0
    for name in ("e.weight", "e.kinetic", "e.px", "e.py"):
        values = found[name].values
        assert values == pytest.approx(np.full_like(values, values[0]), rel=1e-12, abs=1e-12 * values.max())
    u, w = momenta(pic.Series(tmp_path / "m"))
    mean = w @ u / w.sum()
    spread = w @ (u - mean) ** 2 / w.sum()
    assert mean == pytest.approx([0.05, 0, 0], abs=2e-3)
    assert spread[:2] == pytest.approx([1e-3, 4e-3], rel=0.05) and spread[2] == 0
    assert abs(w @ (u[:, 0] * u[:, 1]) / w.sum()) < 1e-4


def test_splitting_fills_thin_cells():
    """2 become 8 in each cell within two steps, and no particle is lighter than asked for."""
    found = box(species={"per_cell": 2}, splitting={"s": {"species": "e", "below": 32, "per_cell": 80}})
    assert found["s.count"].values[:3].tolist() == [960, 1920, 0]  # 0.1/2 of a cell, twice halved: 1/80
    assert found["e.weight"].values == pytest.approx(np.full(8, 48.0), rel=1e-12)
    values = found["e.kinetic"].values
    assert values == pytest.approx(np.full_like(values, values[0]), rel=1e-12)


def test_a_plasma_keeps_gauss_s_law_and_its_energy():
    """Maxwell's equations with fields of the particles: the residual is rounding, energy differs by noise."""
    found = box(species={"test": False, "placed": "quiet", "temperature": 1e-3, "drift": [0, 0, 0]},
                merging={"m": {"species": "e", "above": 40}})
    assert found["gauss"].values.max() < 1e-13
    energy = (found.field_energy + found.kinetic_energy)[:-1]
    assert energy == pytest.approx(np.full_like(energy, energy[0]), rel=0.02)


def test_avalanches_stay_small():
    """Electrons that ionise in a strong field: their weight is that of the run without merging within 3 %, their number
    bounded."""
    table = ("IONIZATION\nHe -> He^+\n 24.6\nCOLUMNS: Energy (eV) | Cross section (m2)\n-----\n"
             "0 0\n24.6 0\n30 5e-21\n1e4 5e-21\n-----\n")
    given = {"units": {"system": "SI", "density": 1e12}, "grid": {"cells": [8], "length": [0.01], "patches": [2]},
             "fields": {"solver": "electrostatic"}, "external": {"e": [-2e5, 0, 0]},
             "time": {"end": 4e-9, "step": 1e-11},
             "species": {"e": {"charge": -1, "mass": 1, "density": 1e10, "per_cell": 20},
                         "i": {"charge": 1, "mass": 7e3}},
             "gas": {"he": {"density": 5e22, "mass": 7294}},
             "scattering": {"e": {"species": "e", "gas": "he", "cross_sections": table, "electrons": "e", "ions": "i"}},
             "output": {"pictures": 0, "gauss": False}, "run": {"workers": 1}}
    whole = pic.run(pic.Parameters(**given))
    merged = pic.run(pic.Parameters(**given, merging={name: {"species": name, "above": 60} for name in "ei"}))
    assert whole["e.weight"].values[-1] > 20 * whole["e.weight"].values[0]
    assert merged["e.weight"].values[-1] == pytest.approx(whole["e.weight"].values[-1], rel=0.1)
    assert merged["e.number"].values.max() < 8 * 80 < whole["e.number"].values[-1] / 2


@pytest.mark.parametrize(("sections", "message"), [
    ({"merging": {"m": {"species": "f", "above": 9}}}, "merging.m.species"),
    ({"merging": {"m": {"species": "e", "above": 3}}}, "merging.m.above = 3 is not allowed"),
    ({"splitting": {"m": {"species": "e", "below": 3, "per_cell": 0}}}, "splitting.m.per_cell = 0 is not allowed"),
    ({"splitting": {"m": {"species": "e", "below": 30}}}, "splitting.m.per_cell is missing"),
    ({"merging": {"m": {"species": "e", "above": 20}},
      "splitting": {"s": {"species": "e", "below": 30, "per_cell": 9}}},
     "merging.m.above = 20 is not allowed: at least splitting.s.below = 30"),
    ({"merging": {"m": {"species": "e", "above": 20}},
      "splitting": {"m": {"species": "e", "below": 10, "per_cell": 9}}},
     "merging.m: splitting.m has its name"),
])
def test_a_wrong_section_is_refused(sections, message):
    with pytest.raises(InputError) as error:
        box(**sections)
    assert message in str(error.value) and "\n" not in str(error.value)
