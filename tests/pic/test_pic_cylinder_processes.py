"""Gases, reactions and emission in z and r, where particles and cells are rings, against theory without a field."""

import math

import numpy as np
import pytest

from plaq import pic

RADIUS, LENGTH = 2.0, 1.0
VOLUME = math.pi * RADIUS**2 * LENGTH
E, M_E, C = 1.602176634e-19, 9.1093837139e-31, 299792458.0


def run(species, time, **sections):
    given = {"grid": {"geometry": "cylinder", "cells": [4, 16], "length": [LENGTH, RADIUS], "patches": [1, 3]},
             "fields": {"solver": "electrostatic"}, "boundaries": {"particles_r": "reflected"},
             "units": {"density": 1e20}, "time": time, "species": species, "output": {"pictures": 0},
             "run": {"workers": 1}}
    return pic.run(pic.Parameters(**{key: {**given.get(key, {}), **sections.get(key, {})}
                                     for key in {**given, **sections}}))


@pytest.mark.parametrize(("profile", "mean"), [("1", 1.0), ("1 + r/2", 5 / 3)])
def test_ionisation_has_the_rate_of_the_gas(profile, mean):
    """dN/dt = n σ v ∫ n_gas dV of electrons with 200 eV that few collisions have reached, also of a gas that is denser
    outside; within four standard errors and the second order in the collisions."""
    units, energy, sigma, gas = pic.Units("normalised", 1e20), 200.0, 1e-20, 1e22
    table = ("IONIZATION\nA -> A^+\n 15\nCOLUMNS: Energy (eV) | Cross section (m2)\n-----\n"
             f"15 {sigma}\n1e4 {sigma}\n-----\n")
    gamma = 1 + energy * E / (M_E * C**2)
    velocity, steps, step = math.sqrt(1 - gamma**-2), 20, 0.05
    rate = gas * sigma * units.in_si("length") * velocity  # of an electron where the profile is 1
    scale = 0.02 / (rate * mean * steps * step)  # 2 % of the electrons ionise
    found = run({"e": {"charge": -1, "mass": 1, "density": 1e-3, "per_cell": 600, "test": True,
                       "drift": [gamma * velocity, 0, 0]},
                 "i": {"charge": 1, "mass": 1e4, "test": True}}, {"end": steps * step, "step": step},
                gas={"a": {"density": f"{gas * scale / 1e20}*({profile})", "mass": 1e5}},
                scattering={"e": {"species": "e", "gas": "a", "electrons": "e", "ions": "i", "cross_sections": table}})
    count = found["i.emitted"].values.sum()
    made = found["i.emitted_weight"].values.sum()
    expected = 1e-3 * VOLUME * 0.02
    assert count > 400 and made == pytest.approx(expected, rel=4 / math.sqrt(count) + 0.02)


def test_a_reaction_has_the_rate_of_both_densities():
    """dn/dt = -k n² of two species with one density: n = n_0/(1 + k n_0 t) everywhere, at the axis too."""
    density, rate, end = 0.2, 0.5, 10.0
    neutral = {"charge": 0, "mass": 1, "density": density, "per_cell": 200, "temperature": 0.01}
    found = run({"a": neutral, "b": neutral}, {"end": end, "step": 0.1},
                reaction={"r": {"between": ["a", "b"], "rate": rate}},
                mean={"n": {"quantity": "density", "species": "a", "start": 8, "length": 2}})
    weight = found["a.weight"].values
    time = found.time
    left = density * VOLUME / (1 + rate * density * time)
    error = 1 / math.sqrt(found["r.count"].values.sum())
    assert weight[-1] == pytest.approx(left[-1], rel=4 * error * (1 - left[-1] / left[0]) + 0.005)
    inner, outer = (found["n"].values[0][:, part].mean() for part in (slice(1, 6), slice(8, 15)))
    assert inner == pytest.approx(outer, rel=0.08)


@pytest.mark.parametrize(("plate", "area"), [
    ({"at": [0, RADIUS / 4], "normal": [1, 0], "half_width": RADIUS / 4}, math.pi * (RADIUS / 2) ** 2),
    ({"at": [LENGTH / 2, RADIUS], "normal": [0, -1], "half_width": LENGTH / 2}, 2 * math.pi * RADIUS * LENGTH),
])
def test_heat_emits_its_current_per_area(plate, area):
    """A disc and a mantle without a field emit A T² exp(-W/T) for each area; rings of the disc as much as their area.

    A = 1.2017e6 A/(m² K²).
    """
    units, heat, work = pic.Units("normalised", 1e20), 0.2, 2.5
    flux = 1.20173e6 * (heat * E / 1.380649e-23) ** 2 * math.exp(-work / heat) / E  # 1/(m² s)
    flux /= 1e20 * C
    rest = M_E * C**2 / E
    found = run({"e": {"charge": -1, "mass": 1, "test": True}}, {"end": 20, "step": 0.5},
                boundaries={"z": "conducting", "particles_z": "absorbed", "particles_r": "absorbed"},
                emission={"plate": {"species": "e", "law": "richardson", "work_function": work / rest,
                                    "temperature": heat / rest, "per_cell": 100 / flux} | plate},
                histogram={"r": {"species": "e", "axes": ["r"], "low": [0], "high": [RADIUS], "bins": [8], "every": 1}})
    count = found["e.emitted"].values.sum()
    expected = flux * area * 20
    assert units.density == 1e20 and count > 1000
    assert found["e.emitted_weight"].values.sum() == pytest.approx(expected, rel=4 / math.sqrt(count))
    if plate["normal"] == [1, 0]:
        by_ring = found["r"].values[1]
        assert by_ring[:4] / by_ring.sum() == pytest.approx(np.array([1, 3, 5, 7]) / 16, abs=4 / math.sqrt(count / 40))
