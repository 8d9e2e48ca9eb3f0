"""The field of charges at rest: Gauss's law at every node, and where it is known."""

import itertools

import numpy as np
import pytest

from plaq.pic.poisson import electrostatic


def divergence(field, spacing, periodic):
    """At the nodes; node 0 of a bounded direction has no meaning."""
    total = 0
    for d, h in enumerate(spacing):
        total = total + (field[d] - np.roll(field[d], 1, axis=d)) / h
    return total[tuple(slice(None) if around else slice(1, None) for around in periodic)]


@pytest.mark.parametrize("periodic", [p for n in (1, 2, 3) for p in itertools.product([True, False], repeat=n)])
def test_gauss_holds_at_every_node_and_the_field_is_a_gradient(periodic):
    shape, spacing = (12, 9, 7)[:len(periodic)], (0.5, 0.3, 0.2)[:len(periodic)]
    rho = np.random.default_rng(1).normal(size=shape)
    field = electrostatic(rho, spacing, periodic)
    inner = rho[tuple(slice(None) if around else slice(1, None) for around in periodic)]
    expected = inner - rho.mean() if all(periodic) else inner
    assert divergence(field, spacing, periodic) == pytest.approx(expected, abs=1e-11)
    if len(periodic) > 1:
        curl = (np.diff(field[1], axis=0)[:, :-1] / spacing[0] - np.diff(field[0], axis=1)[:-1] / spacing[1])
        assert np.abs(curl[:-1, :-1]).max() < 1e-11
    for d, around in enumerate(periodic):  # no voltage around the box, nor between its conductors
        assert np.abs(field[d].sum(axis=d)).max() < 1e-10, around


def test_a_plate_of_charge_between_conductors_has_two_constant_fields():
    rho, h = np.zeros(10), 0.1
    rho[4] = 1 / h
    field = electrostatic(rho, [h], [False])[0]
    assert field[:4] == pytest.approx(-0.6) and field[4:] == pytest.approx(0.4)
