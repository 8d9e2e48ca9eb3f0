import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lattices import STRIPES, T_PRIME, TRIANGULAR, superlattices

from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.symmetry import PointGroup, character, irrep_blocks, irrep_of, irrep_projectors
from plaq.errors import InputError

LATTICES, VECTORS = st.sampled_from([T_PRIME, TRIANGULAR, STRIPES]), superlattices(18)


@settings(max_examples=40)
@given(LATTICES, VECTORS)
def test_the_operations_are_a_group_of_cluster_symmetries(lattice, vectors):
    c = Cluster(lattice, vectors)
    group = PointGroup(c)
    known = {tuple(g.ravel()) for g in group.operations}
    assert {tuple((g @ h).ravel()) for g in group.operations for h in group.operations} == known
    assert tuple(-np.eye(2, dtype=int).ravel()) in known  # t(-d) = t(d)
    t = c.hopping_matrix()
    for sites, momenta in zip(group.site_permutations, group.momentum_permutations, strict=True):
        assert np.array_equal(t[np.ix_(sites, sites)], t)
        assert np.allclose(c.fourier[np.ix_(momenta, sites)], c.fourier)
        assert np.allclose(c.energies[momenta], c.energies)
    assert np.allclose(c.energies[group.representatives], c.energies)


@settings(max_examples=25)
@given(LATTICES, VECTORS)
def test_the_patch_has_the_symmetry_of_the_cluster(lattice, vectors):
    c = Cluster(lattice, vectors)
    for g in PointGroup(c).operations:
        image = c.patch @ np.linalg.inv(g)  # k -> (g^-1)^T k
        distance = np.abs(image[:, None, :] - c.patch).max(axis=-1)
        assert np.all(distance.min(axis=0) < 1e-9)


@settings(max_examples=30)
@given(LATTICES, VECTORS)
def test_projectors_are_complete_orthogonal_and_invariant(lattice, vectors):
    c = Cluster(lattice, vectors)
    projectors, blocks = irrep_projectors(c), irrep_blocks(c)
    group = PointGroup(c)
    assert np.allclose(sum(projectors.values()), np.eye(c.size), atol=1e-9)
    assert np.allclose(sum(blocks.values()), np.eye(c.size), atol=1e-9)
    for p in [*projectors.values(), *blocks.values()]:
        assert np.allclose(p, p.T) and np.allclose(p @ p, p, atol=1e-9)
        for perm in group.momentum_permutations:
            assert np.allclose(p[np.ix_(perm, perm)], p, atol=1e-9)
    # A kernel with the symmetry of the cluster connects no two blocks.
    kernel = np.random.default_rng(3).normal(size=(c.size, c.size))
    kernel = sum(kernel[np.ix_(perm, perm)] for perm in group.momentum_permutations)
    for name, p in blocks.items():
        for other, q in blocks.items():
            assert name == other or np.abs(p @ kernel @ q).max() < 1e-8


@pytest.mark.parametrize("vectors", [[[2, 0], [0, 2]], [[2, 2], [2, -2]], [[4, 0], [0, 4]], [[3, 3], [3, -3]]])
def test_irreps_of_c4v_clusters_by_characters(vectors):
    # P_name = dimension/|G| sum_g chi(g) D(g), the definition, on clusters with the full symmetry of the lattice
    c = Cluster(T_PRIME, vectors)
    group = PointGroup(c)
    assert group.name == "C4v"
    for name in ("s", "d_x2y2", "d_xy", "g", "p"):
        p = np.zeros((c.size, c.size))
        for g, perm in zip(group.operations, group.momentum_permutations, strict=True):
            p[perm, np.arange(c.size)] += character(T_PRIME, name, g) * (2 if name == "p" else 1) / 8
        assert np.allclose(irrep_projectors(c).get(name, 0 * p), p, atol=1e-9)
        assert np.allclose(irrep_blocks(c).get(name, 0 * p), p, atol=1e-9)


def test_the_plaquette_has_one_d_wave():
    projectors = irrep_projectors(Cluster(T_PRIME, [[2, 0], [0, 2]]))
    assert {name: round(np.trace(p)) for name, p in projectors.items()} == {"s": 3, "d_x2y2": 1}
    d = np.array([0, 1, -1, 0]) / np.sqrt(2)
    assert np.allclose(projectors["d_x2y2"], np.outer(d, d))


@pytest.mark.parametrize("q, blocks", [((0, 0), {"s", "d_x2y2", "d_xy", "p"}),
                                       ((np.pi, np.pi), {"s", "d_x2y2", "d_xy", "p"}),
                                       ((np.pi, 0), {"s+d_x2y2", "d_xy", "p"}),
                                       ((np.pi / 2, np.pi / 2), {"s+d_xy+p+d_x2y2"})])
def test_blocks_at_a_transfer_are_those_of_the_operations_that_leave_it(q, blocks):
    c = Cluster(T_PRIME, [[4, 0], [0, 4]])
    index = c.momentum_index(np.array(q))
    found = irrep_blocks(c, index)
    merged = {frozenset(name.split("+")) for name in found}
    assert merged == {frozenset(name.split("+")) for name in blocks}
    group = PointGroup(c)
    for g in group.momentum_permutations[group.leaving(index)]:
        assert g[index] == index
        for projector in found.values():
            assert np.allclose(projector[g][:, g], projector, atol=1e-9)


@pytest.mark.parametrize(
    "vectors, name, blocks",
    [
        ([[2, 2], [2, -2]], "C4v", {"s", "d_x2y2", "d_xy", "p"}),
        ([[4, 2], [0, 4]], "C2v", {"s+d_x2y2", "d_xy", "p"}),
        ([[2, 1], [-1, 2]], "C4", {"s", "d_x2y2", "p"}),
        ([[3, 1], [-1, 3]], "C4", {"s", "d_x2y2+d_xy", "p"}),
        ([[3, 1], [0, 4]], "C2", {"s+d_x2y2+d_xy", "p"}),
        ([[3, 1], [1, 3]], "C2v", {"s+d_xy", "d_x2y2", "p"}),
    ],
)
def test_lower_symmetry_merges_irreps_but_form_factors_keep_their_names(vectors, name, blocks):
    c = Cluster(T_PRIME, vectors)
    assert PointGroup(c).name == name
    assert set(irrep_blocks(c)) == blocks
    projectors = irrep_projectors(c)
    kx, ky = c.momenta.T
    assert irrep_of(np.ones(c.size), projectors) == ("s", pytest.approx(1))
    assert irrep_of(np.cos(kx) - np.cos(ky), projectors) == ("d_x2y2", pytest.approx(1))
    assert irrep_of(np.sin(kx), projectors) == ("p", pytest.approx(1))


def test_irrep_of_adds_weights_over_trailing_axes():
    projectors = irrep_projectors(Cluster(T_PRIME, [[2, 0], [0, 2]]))
    vector = np.outer([0, 1, -1, 0], [3.0, 1.0j]) + np.outer([1, 0, 0, 0], [0.0, 2.0])
    assert irrep_of(vector, projectors) == ("d_x2y2", pytest.approx(20 / 24))
    with pytest.raises(InputError, match="zero vector"):
        irrep_of(np.zeros(4), projectors)


def test_triangular_cluster():
    projectors = irrep_projectors(Cluster(TRIANGULAR, [[2, 0], [0, 2]]))
    assert {name: round(np.trace(p)) for name, p in projectors.items()} == {"s": 2, "d": 2}


def test_symmetrised_is_invariant():
    c = Cluster(T_PRIME, [[4, 2], [0, 4]])
    group = PointGroup(c)
    f = group.symmetrised(np.random.default_rng(1).normal(size=(c.size, 3)))
    assert all(np.allclose(f[perm], f) for perm in group.momentum_permutations)
    assert np.allclose(group.symmetrised(f), f)
