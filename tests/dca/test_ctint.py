"""The interaction expansion of general models: exact averages of small clusters, and the same bits on any workers."""

import itertools
import re

import numpy as np
import pytest
from general_cases import GeneralCase, deviations

from plaq.dca.lattice.interaction import DN, UP, DensityPair, ExchangeTerm, Interaction
from plaq.dca.solver import ctint
from plaq.dca.solver.chains import Chains
from plaq.errors import InputError

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


def bits(chains):
    """Return all that may not depend on how the chains were run, as bytes."""
    names = ("sign", "site", "spin", "tau", "drift", "proposed", "accepted")
    state = [[np.asarray(chain[name]).tobytes() for name in names] for _, chain in sorted(chains.states.items())]
    return state, chains.bins.sums().tobytes(), chains.bins.series().tobytes()


def small_case(**changes):
    return atom_of_two_orbitals(0.5, True, **{"measurements": 3200, "bins": 16, "warm_up": 20, **changes})


@pytest.fixture(scope="module")
def reference():
    case = small_case()
    chains = case.fresh_chains()
    assert case.run(chains, threads="os")
    return bits(chains)


@pytest.mark.parametrize("threads, workers", [("os", 3), ("fiber", 2)])
def test_same_bits_with_any_workers(reference, threads, workers):
    case = small_case()
    chains = case.fresh_chains()
    assert case.run(chains, threads=threads, workers=workers)
    assert bits(chains) == reference


@pytest.mark.parametrize("wish", ["finish", "abandon"])
def test_same_bits_after_a_stop_and_a_checkpoint(reference, wish):
    case = small_case()
    chains = case.fresh_chains()
    for _ in range(100):
        if case.run(chains, watch=lambda measurements, sweeps: wish):
            break
        chains = Chains.from_plain(chains.plain())
        wish = "finish"
    assert bits(chains) == reference


def test_groups_of_chains_have_their_own_baths():
    case = dimer(3.0, mu=1.1, measurements=320, bins=16)
    other = dimer(3.0, mu=1.6, measurements=320, bins=16)
    own = {"group_of": np.array([0, 1, 0, 1]), "group_g0": np.array([case.auxiliary, other.auxiliary])}
    mixed = dimer(3.0, mu=1.1, measurements=320, bins=16, extra=own)
    sums = []
    for one in (case, other, mixed):
        one.__dict__["mesh"] = case.mesh
        chains = one.fresh_chains()
        assert one.run(chains)
        sums.append(chains.bins.sums().reshape(4, 4, -1))  # [chain, bin of it]
    np.testing.assert_array_equal(sums[2][0::2], sums[0][0::2])
    np.testing.assert_array_equal(sums[2][1::2], sums[1][1::2])


@pytest.mark.parametrize("setting, message", [
    ({"precision": "float"}, 'solver.precision = "float"'), ({"block_length": 32}, "solver.block_length = 32"),
    ({"K": -20.0}, "solver.K = -20: not possible for this interaction; allowed: -6 or more")])
def test_settings_that_it_does_not_have_are_refused(setting, message):
    case = dimer(6.0, mu=1.0)
    vars(case.solver).update(setting)
    with pytest.raises(InputError, match=re.escape(message)):
        case.problem


def test_one_band_has_the_vertices_of_ctaux():
    """G0 and e^V of CT-AUX: alpha = 1/(1 - e^V), and the same order <k>."""
    case = dimer(4.0, mu=1.2, K=2.0)
    (vertex,) = ctint.vertices(case.model, case.beta, 2.0)
    growth = np.arccosh(1 + case.beta * 4.0 * 2 / (2 * 2.0))
    np.testing.assert_allclose(np.sort(vertex.alpha), np.sort(1 / (1 - np.exp(growth * np.array([1, -1])))))
    np.testing.assert_allclose(vertex.alpha + vertex.alpha_right, 1)
    assert ctint.auxiliary_shift(case.model) == pytest.approx(2.0)

