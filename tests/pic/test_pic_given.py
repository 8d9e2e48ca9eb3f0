"""Particles from arrays, files and formulas; test species and immobile ones."""

import math

import numpy as np
import pytest

from plaq import pic
from plaq.errors import InputError

BOX = {"grid": {"cells": [16, 12], "length": [4, 3], "patches": [2, 3]}, "time": {"end": 0.1, "step": 0.1},
       "run": {"workers": 1}, "output": {"every": 1, "particles": ["beam"], "pictures": 0}}
BEAM = {"charge": -1, "mass": 2}


def run(folder, species, **changed):
    pic.run(pic.Parameters(**{**BOX, **changed}, species={"beam": {**BEAM, **species}}), folder)
    return pic.Series(folder).particles("beam", 0)


@pytest.mark.parametrize("units", [{}, {"density": 1e18}, {"density": 1e18, "system": "SI"}])
def test_particles_of_arrays_are_those_of_the_run(tmp_path, units):
    """Positions, momenta and weights to rounding, in every system of units; without fields momenta stay."""
    rng = np.random.default_rng(3)
    x, u, w = rng.random((50, 2)) * [4, 3], rng.normal(size=(50, 3)), 1e-9 * rng.random(50)
    of = pic.Units(units.get("system", "normalised"), units.get("density"))
    length, weight = of.of("length"), 1.0
    if of.system == "SI":
        weight = of.in_si("length") ** 2 * of.density
    pic.write_particles(tmp_path / "beam.h5", "made", x / length, u, w * weight, mass=2, units=of)
    sections = {"units": units, "grid": {**BOX["grid"], "length": [4 / length, 3 / length]},
                "time": {"end": 0.1 / of.of("time"), "step": 0.1 / of.of("time")}}
    found = run(tmp_path / "run", {"file": str(tmp_path / "beam.h5")}, **sections)
    order, expected = np.lexsort(found["x"].T), np.lexsort(x.T)
    assert found["x"][order] == pytest.approx(x[expected], rel=1e-12)
    assert found["w"][order] == pytest.approx(w[expected], rel=1e-12)
    assert found["u"][order] == pytest.approx(u[expected], rel=1e-6)  # of -dt/2, in the beam's own field


def test_arrays_without_units_are_normalised_in_any_input(tmp_path):
    """The same numbers in c/ω_p for an input with a reference density as for one without."""
    pic.write_particles(tmp_path / "beam.h5", "made", [[1, 2]], [[0, 0.5, 0]], [1e-9])
    for units in ({}, {"density": 1e18}, {"density": 1e18, "system": "SI"}):
        of = pic.Units(units.get("system", "normalised"), units.get("density"))
        sections = {"units": units, "grid": {**BOX["grid"], "length": [4 / of.of("length"), 3 / of.of("length")]},
                    "time": {"end": 0.1 / of.of("time"), "step": 0.1 / of.of("time")}}
        found = run(tmp_path / f"run{len(units)}", {"file": str(tmp_path / "beam.h5")}, **sections)
        assert found["x"][0] == pytest.approx([1, 2], rel=1e-12) and found["w"][0] == pytest.approx(1e-9, rel=1e-12)


def test_a_file_of_a_run_begins_another(tmp_path):
    """The particles of a written step, of one species of two; more come from a density."""
    first = run(tmp_path / "first", {"density": 1, "per_cell": 2, "temperature": 0.01})
    file = tmp_path / "first/openpmd/data_00000000.h5"
    again = run(tmp_path / "again", {"file": str(file), "file_species": "beam", "density": 1, "per_cell": 1})
    assert len(again["w"]) == len(first["w"]) + 16 * 12
    for message, species in (("has no species other, but beam", {"file": str(file), "file_species": "other"}),
                             ("particles of species.beam are outside the box, one at x = ",
                              {"file": str(tmp_path / "far.h5")})):
        pic.write_particles(tmp_path / "far.h5", "made", [[1, 1], [9, 1]], np.zeros((2, 3)), [1, 1])
        with pytest.raises(InputError) as error:
            run(tmp_path / "refused", species)
        assert message in str(error.value) and "\n" not in str(error.value)
    with pytest.raises(InputError, match=r"write_particles: x \(2, 1\), u \(2,\), w \(2,\)"):
        pic.write_particles(tmp_path / "bad.h5", "made", [1, 2], [0, 0], [1, 1])


def test_a_run_with_a_file_resumes_and_is_that_of_one_piece(tmp_path, monkeypatch):
    """With a path relative to the input, and after the file has been moved; not with another content."""
    monkeypatch.chdir(tmp_path)
    pic.write_particles("beam.h5", "made", [[1, 1], [2, 2.5]], np.ones((2, 3)), [1e-3, 1e-3])

    def of(end, folder, file="beam.h5"):
        pic.run(pic.Parameters(**{**BOX, "time": {"end": end, "step": 0.1}, "output": {"pictures": 0}},
                               species={"beam": {**BEAM, "file": file}}), folder)

    of(0.3, "parts")
    (tmp_path / "beam.h5").rename("moved.h5")
    of(0.8, "parts", "moved.h5")
    of(0.8, "whole", "moved.h5")
    assert pic.load("parts")["beam.px"].values.tolist() == pic.load("whole")["beam.px"].values.tolist()
    pic.write_particles("moved.h5", "made", [[1, 1]], np.ones((1, 3)), [1e-3])
    with pytest.raises(InputError, match="species.beam.checksum"):
        of(0.9, "parts", "moved.h5")


def test_momenta_have_the_density_of_a_formula(tmp_path):
    """A ring of radius 0.5 whose width grows with x, a table along z: moments within four standard errors; the same
    particles for any patches."""
    momenta = "gauss(sqrt(ux^2 + uy^2) - 0.5, 0.05 + 0.02*x)*f(uz)"
    species = {"density": 1, "per_cell": 100, "momenta": momenta, "momenta_low": [-1.3, -1.3, -1],
               "momenta_high": [1.3, 1.3, 2]}
    changed = {"constants": {"f": [[-1, 0], [0, 1], [2, 0]]}, "time": {"end": 1e-9, "step": 1e-9}}
    found = run(tmp_path / "run", {**species, "charge": 0}, **changed)
    radius, n = np.hypot(*found["u"].T[:2]), len(found["w"])
    for low, high in ((0, 0.25), (3.75, 4)):
        part = radius[(found["x"][:, 0] > low) & (found["x"][:, 0] < high)]
        r, width = np.linspace(0, 1.3, 4001), 0.05 + 0.02 * (low + high) / 2
        weight = r * np.exp(-((r - 0.5) / width) ** 2 / 2)  # the ring's area grows with r
        mean, square = np.average(r, weights=weight), np.average(r * r, weights=weight)
        spread = math.sqrt(square - mean**2)
        assert part.mean() == pytest.approx(mean, abs=4 * spread / math.sqrt(len(part)))
        assert part.std() == pytest.approx(spread, abs=4 * spread / math.sqrt(2 * len(part)) + 2e-3)
    z = found["u"][:, 2]
    assert z.mean() == pytest.approx(1 / 3, abs=4 * math.sqrt(7 / 18 / n))
    assert np.abs(found["u"][:, :2].mean(axis=0)).max() < 4 * 0.36 / math.sqrt(n)
    one = run(tmp_path / "one", {**species, "charge": 0}, **changed, grid={**BOX["grid"], "patches": [1, 1]})
    sort = lambda part: part["u"][np.lexsort(part["x"].T)]
    assert np.array_equal(sort(found), sort(one))


@pytest.mark.parametrize("species, message", [
    ({"momenta": "2*gauss(ux, 1)"}, "species.beam.momenta: 2*gauss(ux, 1) is 1."),
    ({"momenta": "if(ux > 9, 1, 0)"}, "accepts no momentum of"),
    ({"momenta": "1", "drift": [1, 0, 0]}, "it takes the place of drift"),
    ({"momenta": "1", "momenta_high": [-1, 0, 0]}, "species.beam.momenta_high = [-1.0, 0.0, 0.0] is not allowed"),
    ({"momenta_high": [1, 0, 0]}, "species.beam.momenta is not set"),
    ({"momenta": "uq"}, "species.beam.momenta: uq: unknown name"),
    ({"moves": False, "test": True}, "species.beam.moves = false is not allowed"),
    ({"checksum": "0"}, "species.beam.file, which is not set"),
])
def test_given_momenta_are_checked(tmp_path, species, message):
    with pytest.raises(InputError) as error:
        own = {"density": 1, "per_cell": 1, "momenta_low": [0, 0, 0]} | species
        if "momenta" in own:
            own = {"momenta_high": [1, 0, 0]} | own
        run(tmp_path, own)
    assert message in str(error.value).replace("▸", "")


def test_test_particles_feel_fields_and_make_none():
    """A plasma has the same bits with and without them; they oscillate with it. Immobile ions keep their places and
    their charge: the plasma oscillates with ω_p, and Gauss's law holds."""
    def found(**more):
        electrons = {"charge": -1, "mass": 1, "density": "1 + 0.01*cos(2*pi*x/6.4)", "per_cell": 8, "placed": "even"}
        return pic.run(pic.Parameters(
            grid={"cells": [64], "length": [6.4]}, time={"end": 30}, fields={"of_charges": True},
            species={"e": electrons, "i": {"charge": 1, "mass": 1, "density": 1, "per_cell": 1, "placed": "even",
                                           "moves": False}, **more},
            probe={"ex": {"field": "ex", "at": [1.6]}}, output={"pictures": 0}, run={"workers": 1}))

    alone = found()
    probes = found(t={"charge": -5, "mass": 5, "density": "1 + 0.01*cos(2*pi*x/6.4)", "per_cell": 8,
                      "placed": "even", "test": True})
    assert np.array_equal(alone["ex"].values, probes["ex"].values)
    assert np.array_equal(probes["t.kinetic"].values, 5 * probes["e.kinetic"].values)
    assert np.all(alone["i.weight"].values == alone["i.weight"].values[0]) and not alone["i.kinetic"].values.any()
    assert np.nanmax(alone["gauss"].values) < 1e-13
    e, times = alone["ex"].values, alone["ex"].axis("time")
    at = np.flatnonzero(e[1:] * e[:-1] < 0)
    zeros = times[at] - e[at] * (times[at + 1] - times[at]) / (e[at + 1] - e[at])
    assert math.pi / np.diff(zeros).mean() == pytest.approx(1, abs=2e-3)
