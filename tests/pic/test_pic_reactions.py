"""Reactions between species: against rate equations, conservation laws, errors of the input."""

import numpy as np
import pytest

from plaq import pic
from plaq.errors import InputError


def box(reaction, *, species, end=10.0, step=0.1, **more):
    """Return the results of a uniform box of species at rest or warm, whose charges are small."""
    sections = {"grid": {"cells": [16], "length": [16.0], "patches": [2]}, "species": species,
                "fields": {"solver": "electrostatic"}, "reaction": {"r": reaction}, "time": {"end": end, "step": step}}
    return pic.run(pic.Parameters(**(sections | more)))


def kind(charge, density, per_cell, mass=1e6, **more):
    return {"charge": charge, "mass": mass, "density": density, "per_cell": per_cell} | more


@pytest.mark.parametrize(("density", "per_cell"), [(0.5, 100), (0.5, 37), (0.8, 60)])
def test_recombination_follows_its_rate_equation(density, per_cell):
    """dn/dt = -k n_1 n_2 with unequal densities and weights; counts and weights are exact."""
    species = {"p": kind(1, 1.0, 100), "m": kind(-1, density, per_cell), "n": kind(0, 0, 0, mass=2e6)}
    found = box({"between": ["p", "m"], "products": ["n"], "rate": 0.1}, species=species)
    k, t, d = 0.1, 10.0, 1 - density
    left = d / (1 / density * np.exp(k * d * t) - 1)  # of m, for n_p - n_m = d
    assert found["m.weight"].values[-1] / 16 == pytest.approx(left, rel=0.02)
    reacted = found["r.count_weight"].values.sum()
    assert found["n.weight"].values[-1] == pytest.approx(reacted, rel=1e-12)
    assert found["n.number"].values[-1] == found["r.count"].values.sum()
    assert found["p.number"].values[-1] == 1600 - found["r.count_vanished_p"].values.sum()
    assert found["p.weight"].values[-1] - found["m.weight"].values[-1] == pytest.approx(16 * d, rel=1e-12)


def test_two_products_keep_momentum_and_get_the_energy():
    """A + B → C + D with a release of energy: momentum is that of before, kinetic energy grows by it."""
    species = {"a": kind(1, 0.5, 50, mass=3e4, drift=[1e-3, 0, 0]), "b": kind(-1, 0.5, 50, mass=2e4),
               "c": kind(0, 0, 0, mass=1e4), "d": kind(0, 0, 0, mass=4e4)}
    found = box({"between": ["a", "b"], "products": ["c", "d"], "rate": 1.0, "released": 0.01}, species=species,
                end=5.0, step=0.05)
    momentum = sum(found[f"{name}.px"].values for name in "abcd")
    assert momentum[-1] == pytest.approx(0.5 * 16 * 3e4 * 1e-3, rel=1e-3)
    reacted = found["r.count_weight"].values[1:].sum()
    kinetic = sum(found[f"{name}.kinetic"].values for name in "abcd")
    assert kinetic[-1] - kinetic[0] == pytest.approx(0.01 * reacted, rel=0.02)
    assert reacted > 4


def test_a_cross_section_gives_the_rate_of_a_beam():
    """Charge exchange of a beam with a cold species: n = n_0 exp(-n σ v t)."""
    species = {"beam": kind(1, 0.01, 200, 1e3, drift=[0.01, 0, 0]), "cold": kind(0, 1.0, 200, 1e3),
               "fast": kind(0, 0, 0, 1e3), "slow": kind(1, 0, 0, 1e3)}
    found = box({"between": ["beam", "cold"], "products": ["fast", "slow"], "cross_section": 10.0}, species=species)
    assert found["beam.weight"].values[-1] / 0.16 == pytest.approx(np.exp(-1), rel=0.03)


def test_results_do_not_depend_on_how_patches_are_worked_on():
    species = {"p": kind(1, 1.0, 20), "m": kind(-1, 0.5, 30)}
    reaction = {"between": ["p", "m"], "rate": 0.2}
    runs = [box(reaction, species=species, end=3, run={"workers": workers}) for workers in (1, 2)]
    assert (runs[0]["m.weight"].values == runs[1]["m.weight"].values).all()


@pytest.mark.parametrize(("change", "message"), [
    ({"products": ["p"]}, "their charge is 1, that of p and m 0"),
    ({"rate": None}, "has either a rate or a cross_section"),
    ({"rate": "-energy"}, "-energy is below 0"),
    ({"between": ["p", "p"], "products": []}, "two different species"),
    ({"rate": 1e3}, "a particle would react more than once in a step"),
])
def test_a_wrong_reaction_is_refused(change, message):
    species = {"p": kind(1, 1.0, 20), "m": kind(-1, 1.0, 20)}
    with pytest.raises((InputError, RuntimeError), match=message):
        box({"between": ["p", "m"], "rate": 0.1} | change, species=species)
