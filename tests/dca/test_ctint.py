"""The interaction expansion of general models: exact averages of small clusters."""

import itertools

import numpy as np
import pytest
from general_cases import GeneralCase, deviations

from plaq.dca.lattice.interaction import DN, UP, DensityPair, ExchangeTerm, Interaction

HERE, RIGHT, LEFT = (0, 0), (1, 0), (-1, 0)
SPINS = list(itertools.product((UP, DN), repeat=2))


def on_site(U, orbitals=1):
    return [DensityPair(U, a, UP, HERE, a, DN) for a in range(orbitals)]


def dimer(U, V=0.0, field=0.0, **rest):
    """Return two sites in a field with V between all spins: the sum over both cells meets the bond twice."""
    bond = [DensityPair(V / 2, 0, s, RIGHT, 0, t) for s, t in SPINS] if V else []
    zeeman = {HERE: ([[-field / 2]], [[field / 2]])} if field else {}
    return GeneralCase({RIGHT: [[-0.5]], LEFT: [[-0.5]], **zeeman}, ((2, 0), (0, 1)),
                       Interaction((*on_site(U), *bond)), **{"beta": 2.0, **rest})


def atom_of_two_orbitals(J, exchange, **rest):
    """Return one cell with two orbitals that mix, not degenerate, not symmetric under exchange of spins."""
    energies = [[-0.2, 0.5], [0.5, 0.3]], [[0.1, 0.4], [0.4, 0.2]]
    U, other = 3.0, 3.0 - 2 * J
    pairs = [*on_site(U, 2), *(DensityPair(other - J * (s == t), 0, s, HERE, 1, t) for s, t in SPINS)]
    terms = [ExchangeTerm(J, a, b, c, d) for a, b, c, d in ((0, 1, 1, 0), (1, 0, 0, 1), (0, 1, 0, 1), (1, 0, 1, 0))]
    return GeneralCase({HERE: energies}, ((1, 0), (0, 1)), Interaction(tuple(pairs), tuple(terms if exchange else ())),
                       beta=2.0, mu=2.0, **rest)


CASES = {
    "repulsion off half filling": dimer(4.0, mu=1.2, order=8),
    "bond between all spins": dimer(2.0, 1.0, mu=1.5, order=6),
    "bond that attracts": dimer(2.0, -1.0, mu=0.2, order=6),
    "attraction": dimer(-4.0, mu=-2.3, order=8),
    "field": dimer(3.0, 0.5, field=0.8, mu=1.4, order=6),
    "orbitals": atom_of_two_orbitals(0.5, False, order=10),
    "orbitals with exchange": atom_of_two_orbitals(0.5, True, order=10, measurements=40000, chains=16),
}


@pytest.mark.parametrize("name", CASES)
def test_averages_are_exact_within_errors(name):
    case = CASES[name]
    measured, exact = case.measure(), case.exact_values()
    for quantity, expected in exact.items():
        found = deviations(measured[quantity], expected)
        assert np.abs(found).max() < 4.5, quantity
        assert quantity != "G" or np.mean(found**2) < 2
    assert abs(measured["order"][0] - measured["expected_order"][0]) < 4 * measured["order"][1]
