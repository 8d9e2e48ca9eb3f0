"""Irreps of gap functions with orbitals."""

import numpy as np
import pytest
from lattices import (
    BILAYER,
    CUBIC,
    DIAMOND,
    HONEYCOMB,
    KAGOME,
    SSH,
    STAGGERED,
    T_PRIME,
    THREE_BAND,
    TRIANGULAR,
    orbital_lattice,
    square_vectors,
)

from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.crystal import SYSTEMS, operations
from plaq.dca.lattice.harmonics import characters, harmonics_of
from plaq.dca.lattice.pairing import action_matrix, exchanged, pairing_irreps, pairing_projectors
from plaq.dca.lattice.symmetry import PointGroup, irrep_projectors


@pytest.mark.parametrize("system", [s for of_dimension in SYSTEMS.values() for s in of_dimension], ids=lambda s: s.name)
def test_harmonics_are_different_irreps_of_their_maximal_group(system):
    matrices = np.array(operations(system.name, system.dimension))
    found = characters(system, matrices)
    assert list(found) == list(harmonics_of(system))  # none splits, no two are the same
    table = np.array(list(found.values()))
    assert np.allclose(table @ table.T / len(matrices), np.eye(len(table)), atol=1e-9)


CASES = {"square": (T_PRIME, [[4, 0], [0, 4]]), "16B": (T_PRIME, [[4, 2], [0, 4]]),
         "10A": (T_PRIME, [[3, 1], [-1, 3]]), "triangular": (TRIANGULAR, [[3, 0], [0, 3]])} | {
    name: (orbital_lattice(table), square_vectors(orbital_lattice(table))) for name, table in {
        "kagome": KAGOME, "three-band": THREE_BAND, "bilayer": BILAYER, "honeycomb": HONEYCOMB, "cubic": CUBIC,
        "diamond": DIAMOND, "staggered": STAGGERED, "dimerised chain": SSH}.items()}


@pytest.mark.parametrize("lattice, vectors", CASES.values(), ids=CASES)
def test_projectors_are_complete_orthogonal_and_invariant(lattice, vectors):
    group = PointGroup(Cluster(lattice, vectors))
    projectors = pairing_projectors(group)
    n = group.cluster.size * lattice.bands**2
    assert np.allclose(sum(projectors.values()), np.eye(n), atol=1e-9)
    actions = [action_matrix(group, i) for i, op in enumerate(group.action.operations) if not op.flip]
    for p in projectors.values():
        assert np.allclose(p @ p, p, atol=1e-9) and np.allclose(p, p.conj().T)
        for d in actions:
            assert np.allclose(d @ p, p @ d, atol=1e-9)
    assert pairing_irreps(group) == {name: round(np.trace(p).real) for name, p in projectors.items()}


@pytest.mark.parametrize("lattice, vectors", [
    (T_PRIME, [[2, 0], [0, 2]]), (T_PRIME, [[4, 0], [0, 4]]), (T_PRIME, [[2, 2], [2, -2]]),
    (TRIANGULAR, [[3, 0], [0, 3]])])
def test_one_orbital_has_the_irreps_of_functions_of_momentum(lattice, vectors):
    c = Cluster(lattice, vectors)
    known, found = irrep_projectors(c), pairing_projectors(PointGroup(c))
    assert known.keys() == found.keys()
    for name, p in known.items():
        assert np.allclose(found[name], p, atol=1e-9)


def test_gap_functions_of_the_three_band_model_and_of_kagome():
    """By hand: cos kx - cos ky on d, and +1 on p_x with -1 on p_y, which a quarter turn exchanges, are d waves."""
    c = Cluster(orbital_lattice(THREE_BAND), [[2, 0], [0, 2]])
    projectors = pairing_projectors(PointGroup(c))
    on_d, on_p, s = (np.zeros((4, 3, 3)) for _ in range(3))
    on_d[:, 0, 0] = np.cos(c.momenta[:, 0]) - np.cos(c.momenta[:, 1])
    on_p[:, 1, 1], on_p[:, 2, 2] = 1, -1
    s[:, 1, 1] = s[:, 2, 2] = 1
    for gap, name in ((on_d, "d_x2y2"), (on_p, "d_x2y2"), (s, "s"), (on_d + on_p, "d_x2y2")):
        assert np.allclose(projectors[name] @ gap.ravel(), gap.ravel(), atol=1e-12)
    c = Cluster(orbital_lattice(KAGOME), [[1, 0], [0, 1]])
    group = PointGroup(c)
    # three sites: on-site pairs are 1 + 2, as are those on the three bonds; odd ones are 3 more
    assert pairing_irreps(group) == {"s": 2, "d": 6, "i": 1}
    swap = np.eye(9)[exchanged(group)]
    assert [round(np.trace(p @ swap).real) for p in pairing_projectors(group).values()] == [2, 2, -1]


def test_names_tell_the_parity_under_exchange_of_layers():
    c = Cluster(orbital_lattice(BILAYER), [[2, 0], [0, 2]])
    projectors = pairing_projectors(PointGroup(c))
    d = np.cos(c.momenta[:, 0]) - np.cos(c.momenta[:, 1])
    even, odd = (d[:, None, None] * np.diag([1, sign]) for sign in (1, -1))
    assert np.allclose(projectors["d_x2y2"] @ even.ravel(), even.ravel())
    assert np.allclose(projectors["d_x2y2_odd"] @ odd.ravel(), odd.ravel())
