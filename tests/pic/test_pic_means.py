"""Means over windows, and histories with a row for several steps."""

import numpy as np
import pytest

from plaq import pic
from plaq.errors import InputError

MEANS = {"n": {"quantity": "density", "species": "e", "start": 1, "length": 1},
         "flux": {"quantity": "flux_x", "species": "e", "length": 2, "every": 2},
         "energy": {"quantity": "energy", "species": "e", "length": 1},
         "power": {"quantity": "power", "length": 1}, "phi": {"quantity": "phi", "length": 1, "every": 5},
         "spectrum": {"quantity": "spectrum", "species": "e", "length": 1, "bins": 20, "high": 0.2}}


def parameters(end=4.0, history=1, **sections):
    return pic.Parameters(**{
        "grid": {"cells": [32], "length": [4], "patches": [3]}, "time": {"end": end, "step": 0.1},
        "fields": {"solver": "electrostatic"}, "boundaries": {"x": "conducting", "potential_x": [0, "0.1*sin(3*t)"]},
        "species": {"e": {"charge": -1, "mass": 1, "density": 0.01, "per_cell": 40, "temperature": 0.01}},
        "mean": MEANS, "output": {"pictures": 0, "history": history}, "run": {"workers": 1}, **sections})


def test_means_are_those_of_the_particles_and_resume(tmp_path):
    """Sums over the box are those of the history; a run in two parts is one in a piece, in the middle of a window."""
    whole = pic.run(parameters(), tmp_path / "whole")
    pic.run(parameters(1.7), tmp_path / "parts")
    parts = pic.run(parameters(), tmp_path / "parts")
    for name in MEANS:
        assert np.array_equal(whole[name].values, parts[name].values), name
    assert whole["n"].values.shape == (3, 33) and whole["n"].axis("time") == pytest.approx([2, 3, 4])
    cell, half = 4 / 32, np.r_[0.5, np.ones(31), 0.5]
    weight = whole["e.weight"].values.reshape(4, 10).mean(axis=1)
    kinetic = whole["e.kinetic"].values
    assert (whole["n"].values * half).sum(axis=1) * cell == pytest.approx(weight[1:], rel=1e-12)
    assert whole["spectrum"].values.sum(axis=(1, 2)) * cell * 0.01 == pytest.approx(weight, rel=0.01)
    left = [whole["energy"].values[0] @ half * cell, kinetic[:10].mean()]  # of those that left in a step, too
    assert left[0] < left[1] and left[0] == pytest.approx(left[1], rel=0.1)
    assert whole["flux"].values.shape == (2, 33)
    line = whole["phi"].values
    assert line.shape == (4, 32) and np.all(line[:, 0] == 0)
    assert "mean" in (tmp_path / "whole/report.html").read_text()


def test_a_uniform_plasma_has_its_density_and_flux_at_every_node():
    for dimension in (1, 2):
        found = pic.run(pic.Parameters(
            grid={"cells": [8] * dimension, "length": [1] * dimension}, time={"end": 0.1, "step": 0.05},
            species={"e": {"charge": -1, "mass": 1, "density": 1e-6, "per_cell": 4**dimension, "placed": "even",
                           "drift": [0.75, 0, 0]}},
            mean={"n": {"quantity": "density", "species": "e", "length": 0.1},
                  "flux": {"quantity": "flux_x", "species": "e", "length": 0.1}},
            output={"pictures": 0}, run={"workers": 1}))
        assert found["n"].values == pytest.approx(np.full((1, *[8] * dimension), 1e-6), rel=1e-9)
        assert found["flux"].values == pytest.approx(np.full((1, *[8] * dimension), 0.6e-6), rel=1e-4)


def test_moments_and_bins_are_those_of_the_particles_in_files(tmp_path):
    """Linear weights at the nodes, and bins with their lower edge, of the particles of an openPMD file, to rounding."""
    species = {"charge": -1, "mass": 3, "density": 0.5, "per_cell": 9, "temperature": 0.2, "drift": [0.3, 0.1, 0]}
    found = pic.run(pic.Parameters(
        grid={"cells": [8, 6], "length": [4, 3], "patches": [2, 2]}, time={"end": 0.3, "step": 0.1},
        boundaries={"x": "conducting"}, species={"e": species},
        mean={name: {"quantity": name, "species": "e", "length": 0.1} for name in ("density", "flux_y", "energy")},
        histogram={"h": {"species": "e", "axes": ["y", "energy"], "low": [0, 0], "high": [3, 1], "bins": [5, 7],
                         "every": 1}},
        output={"every": 1, "particles": ["e"], "pictures": 0}, run={"workers": 1}), tmp_path)
    some = pic.Series(tmp_path).particles("e", 3)
    x, u, w = some["x"], some["u"], some["w"]
    gamma = np.sqrt(1 + (u**2).sum(axis=1))
    counts = np.histogram2d(x[:, 1], 3 * (gamma - 1), [np.linspace(0, 3, 6), np.linspace(0, 1, 8)], weights=w)[0]
    assert found["h"].values[-1] == pytest.approx(counts, rel=1e-9)
    for name, factor in (("density", 1), ("flux_y", u[:, 1] / gamma), ("energy", 3 * (gamma - 1))):
        nodes = np.zeros((9, 7))
        cell = np.minimum((x / 0.5).astype(int), [7, 5])
        part = x / 0.5 - cell
        for i, j in np.ndindex(2, 2):
            share = np.abs(1 - i - part[:, 0]) * np.abs(1 - j - part[:, 1])
            np.add.at(nodes, (cell[:, 0] + i, cell[:, 1] + j), w * factor * share / 0.25)
        nodes[:, 0] += nodes[:, -1]
        nodes[[0, -1]] *= 2
        assert found[f"mean_{name}"].values[-1] == pytest.approx(nodes[:, :-1], rel=1e-9, abs=1e-12), name


def test_a_history_of_several_steps_counts_all_of_them():
    fine, coarse = pic.run(parameters()), pic.run(parameters(history=7))
    assert len(coarse.time) == 6 and coarse.time[-1] == pytest.approx(4)
    for column in fine.recorded:
        values, few = fine[column].values, coarse[column].values
        if ".left_" in column:
            assert few == pytest.approx(np.add.reduceat(values, np.arange(0, 40, 7))), column
        elif column == "e.number":
            assert np.array_equal(few, values[[6, 13, 20, 27, 34, 39]])
    assert coarse.answers()[0] == fine.answers()[0]
    assert np.array_equal(coarse["n"].values, fine["n"].values)


@pytest.mark.parametrize("mean, message", [
    ({"quantity": "density"}, 'mean.m.species is missing: quantity = "density" is of a species'),
    ({"quantity": "ex", "species": "e"}, 'mean.m.species = "e" is not allowed: quantity = "ex" is of no species'),
    ({"quantity": "density", "species": "f"}, "mean.m.species: unknown species f"),
    ({"quantity": "spectrum", "species": "e", "bins": 3}, "mean.m.high is of a spectrum, which needs it"),
    ({"quantity": "ex", "bins": 3}, "mean.m.bins is of a spectrum, which needs it"),
    ({"quantity": "q"}, 'mean.m.quantity = "q" is not allowed'),
])
def test_a_bad_mean_is_refused_in_a_line(mean, message):
    with pytest.raises(InputError) as error:
        parameters(mean={"m": {"length": 1, **mean}})
    assert message in str(error.value) and "\n" not in str(error.value)


def test_the_power_is_what_the_field_loses():
    """∂E/∂t = −J in one dimension: J E with E before and after a step is the drop of the energy, to rounding."""
    found = pic.run(pic.Parameters(
        grid={"cells": [32], "length": [4]}, time={"end": 2, "step": 0.05},
        species={"e": {"charge": -1, "mass": 1, "density": 1, "per_cell": 20, "temperature": [0.01, 0, 0]}},
        mean={"power": {"quantity": "power", "length": 0.5}}, output={"pictures": 0}, run={"workers": 1}))
    energy = found.field_energy
    given = found["power"].values.sum(axis=1)[1:] * 4 / 32 * 0.5
    assert given == pytest.approx(energy[[9, 19, 29]] - energy[[19, 29, 39]], rel=1e-9, abs=1e-12)
