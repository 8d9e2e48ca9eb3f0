"""Terms of the interaction: every pair of spin-orbitals once, beside sums written out site by site."""

import itertools

import numpy as np
import pytest

from plaq.dca.lattice.interaction import DN, UP, DensityPair, ExchangeTerm, Torus, build_interaction, minus

CLUSTERS = {"chain": ((4,),), "2x2": ((2, 0), (0, 2)), "oblique": ((1, 1), (2, -1)), "line": ((4, 0), (0, 1)),
            "cube": ((2, 0, 0), (0, 2, 0), (0, 0, 2))}


def energy(interaction, torus, cells, occupied):
    """Return H_int of a product state; occupied: {(cell key, orbital, spin)}."""
    n = lambda cell, a, s: (torus.key(cell), a, s) in occupied
    return sum(p.value * n(R, p.a, p.spin_a) * n(tuple(np.add(R, p.d)), p.b, p.spin_b)
               for R in cells for p in interaction.pairs)


def cells_of(torus):
    found = {}
    for R in itertools.product(range(6), repeat=len(torus.vectors)):
        found.setdefault(torus.key(R), R)
    return list(found.values())


@pytest.mark.parametrize("name", CLUSTERS)
@pytest.mark.parametrize("every_image", [False, True])
def test_v_against_a_sum_over_pairs_of_sites(name, every_image):
    torus = Torus(CLUSTERS[name])
    cells, dimension = cells_of(torus), len(torus.vectors)
    assert len(cells) == abs(torus.size)
    axes = [tuple(int(i == j) for j in range(dimension)) for i in range(dimension)]
    if name == "line":
        axes = axes[:1]  # the other leads back to the same site
    V = {d: [[0.3]] for axis in axes for d in (axis, minus(axis))}
    interaction = build_interaction(torus, [2.0], V=V, every_image=every_image)
    rng = np.random.default_rng(1)
    for _ in range(10):
        occupied = {(torus.key(R), 0, s) for R in cells for s in (UP, DN) if rng.random() < 0.6}
        n = {torus.key(R): sum((torus.key(R), 0, s) in occupied for s in (UP, DN)) for R in cells}
        expected = 2.0 * sum(count == 2 for count in n.values())
        joined = [frozenset([torus.key(R), torus.key(tuple(np.add(R, axis)))]) for R in cells for axis in axes]
        for pair in joined if every_image else set(joined):
            i, j = pair
            expected += 0.3 * n[i] * n[j]
        assert energy(interaction, torus, cells, occupied) == pytest.approx(expected, abs=1e-12)


def test_v_between_orbitals_counts_both_bonds_of_a_cell_or_one():
    torus = Torus([[1]])
    V = {(0,): [[0, 0.5], [0.5, 0]], (1,): [[0, 0], [0.5, 0]], (-1,): [[0, 0.5], [0, 0]]}  # a chain of two atoms
    once, each = (build_interaction(torus, [0, 0], V=V, every_image=flag) for flag in (False, True))
    assert [p.value for p in once.pairs] == 4 * [0.5]
    assert [p.value for p in each.pairs] == 4 * [1.0]
    V[1,], V[-1,] = [[0, 0], [0.4, 0]], [[0, 0.4], [0, 0]]
    with pytest.raises(ValueError):
        build_interaction(torus, [0, 0], V=V)


def test_kanamori():
    torus = Torus([[2, 0], [0, 2]])
    interaction = build_interaction(torus, [4, 4], atoms=[0, 0], U_prime=2, J=1, kanamori=True)
    pair = lambda value, a, s, b, t: DensityPair(value, a, s, (0, 0), b, t)
    assert set(interaction.pairs) == {pair(4, 0, UP, 0, DN), pair(4, 1, UP, 1, DN), pair(2, 0, UP, 1, DN),
                                      pair(2, 0, DN, 1, UP), pair(1, 0, UP, 1, UP), pair(1, 0, DN, 1, DN)}
    assert set(interaction.exchanges) == {ExchangeTerm(1, 0, 1, 1, 0), ExchangeTerm(1, 1, 0, 0, 1),
                                          ExchangeTerm(1, 0, 1, 0, 1), ExchangeTerm(1, 1, 0, 1, 0)}
    assert not build_interaction(torus, [4, 4], atoms=[0, 1], U_prime=2, J=1, kanamori=True).exchanges
