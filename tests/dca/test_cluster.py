import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lattices import T_PRIME, TRIANGULAR, superlattices

from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.patch import patch_area, product_rule
from plaq.errors import InputError


def _det(v):
    return v[0][0] * v[1][1] - v[0][1] * v[1][0]


LATTICES, VECTORS = st.sampled_from([T_PRIME, TRIANGULAR]), superlattices(20)


def test_plaquette_in_full():
    c = Cluster(T_PRIME, [[2, 0], [0, 2]])
    assert c.sites.tolist() == [[0, 0], [1, 0], [0, 1], [1, 1]]
    assert c.names == ("(0,0)", "(π,0)", "(0,π)", "(π,π)")
    assert np.allclose(c.momenta, np.pi * np.array([[0, 0], [1, 0], [0, 1], [1, 1]]))
    assert c.momentum_sum[1].tolist() == [1, 0, 3, 2]
    assert np.allclose(c.energies, [-4 + 1.2, -1.2, -1.2, 4 + 1.2])
    # periodic: both images of a neighbour are the same site
    assert np.allclose(c.hopping_matrix()[0], [0, -2, -2, 4 * 0.3])


@pytest.mark.parametrize(
    "vectors, size, corners",
    [([[1, 0], [0, 1]], 1, 4), ([[2, 0], [0, 1]], 2, 4), ([[2, 2], [2, -2]], 8, 4), ([[4, 0], [0, 4]], 16, 4),
     ([[4, 2], [0, 4]], 16, 6), ([[64, 0], [0, 1]], 64, 4), ([[8, 0], [0, 8]], 64, 4)],
)  # fmt: skip
def test_well_known_clusters(vectors, size, corners):
    c = Cluster(T_PRIME, vectors)
    assert c.size == len(c.sites) == len(c.momenta) == size
    assert len(c.patch) == corners
    assert c.names[0] == "(0,0)" and len(set(c.names)) == size


def test_momentum_names_of_longer_clusters():
    names = Cluster(T_PRIME, [[5, 0], [0, 1]]).names
    assert names == ("(0,0)", "(2π/5,0)", "(4π/5,0)", "(-4π/5,0)", "(-2π/5,0)")


@settings(max_examples=40)
@given(LATTICES, VECTORS)
def test_sites_and_momenta_of_any_cluster(lattice, vectors):
    c = Cluster(lattice, vectors)
    n = c.size
    assert n == abs(_det(vectors)) and len(c.sites) == len(c.momenta) == n
    assert np.all(c.sites[0] == 0) and np.all(c.momenta[0] == 0)
    assert np.allclose(np.exp(1j * c.momenta @ c.vectors.T), 1)
    assert np.allclose(c.fourier @ c.fourier.conj().T, n * np.eye(n), atol=1e-12)
    assert np.allclose(c.fourier, np.exp(-1j * c.momenta @ c.sites.T), atol=1e-12)
    # tables against the phases that define them
    i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    assert np.allclose(c.fourier[:, c.site_difference], c.fourier[:, i] * c.fourier[:, j].conj())
    assert np.allclose(c.fourier[c.momentum_sum], c.fourier[i] * c.fourier[j])
    assert np.allclose(c.fourier[c.momentum_difference], c.fourier[i] * c.fourier[j].conj())
    assert np.allclose(c.fourier[c.minus], c.fourier.conj())
    assert [c.momentum_index(k + 2 * np.pi * np.array([3, -1])) for k in c.momenta] == list(range(n))
    assert [c.site_index(r + vectors[0] - 2 * np.array(vectors[1])) for r in c.sites] == list(range(n))


@settings(max_examples=20)
@given(LATTICES, VECTORS)
def test_hopping_matrix_is_diagonal_in_momentum(lattice, vectors):
    c = Cluster(lattice, vectors)
    t = c.hopping_matrix()
    assert np.array_equal(t, t.T)
    in_momenta = c.fourier @ t @ c.fourier.conj().T / c.size
    assert np.allclose(in_momenta, np.diag(lattice.dispersion(c.momenta)), atol=1e-12)
    assert np.allclose(c.to_momenta(t[:, 0]), c.energies)
    f = np.random.default_rng(1).normal(size=(c.size, 3))
    assert np.allclose(c.to_sites(c.to_momenta(f)), f)


def _inside(patch, k):
    """Whether each k [n, 2] is strictly inside the convex polygon."""
    edges = np.roll(patch, -1, axis=0) - patch
    offset = k[:, None, :] - patch
    return np.all(edges[:, 0] * offset[..., 1] - edges[:, 1] * offset[..., 0] > 0, axis=-1)


@settings(max_examples=25)
@given(LATTICES, VECTORS)
def test_patches_tile_the_brillouin_zone(lattice, vectors):
    c = Cluster(lattice, vectors)
    assert np.isclose(c.size * patch_area(c.patch), (2 * np.pi) ** 2, rtol=1e-12)
    assert np.allclose(c.patch.sum(axis=0), 0, atol=1e-12)
    k = np.random.default_rng(5).uniform(-np.pi, np.pi, (50, 2))
    reciprocal = 2 * np.pi * np.linalg.inv(c.vectors).T
    # Far more translations than the patch is long, folded once per image of K.
    metric = np.linalg.inv(np.array(lattice.system.metric))
    reach = range(-12, 13)
    images = np.array([i * reciprocal[0] + j * reciprocal[1] for i in reach for j in reach])
    shifted = k[:, None, :] - images
    nearest = np.einsum("kni,ij,knj->kn", shifted, metric, shifted).argmin(axis=1)
    edge = np.sort(np.einsum("kni,ij,knj->kn", shifted, metric, shifted), axis=1)
    clear = edge[:, 1] - edge[:, 0] > 1e-6
    reached = np.abs(np.linalg.solve(reciprocal.T, k.T)).max(axis=0) < 10
    assert np.all(_inside(c.patch, k - images[nearest])[clear & reached])


@settings(max_examples=15)
@given(LATTICES, VECTORS)
def test_gauss_rule_on_a_patch(lattice, vectors):
    c = Cluster(lattice, vectors)
    points, weights = product_rule(c.patch_cells, 2.0)
    assert np.isclose(weights.sum(), 1) and np.all(weights > 0)
    assert np.all(_inside(c.patch, points))
    # The mean of exp(i k.R) over all patches is 1 for R = 0 and 0 for other lattice vectors.
    points, weights = product_rule(c.patch_cells, 8.0)
    for r in [(1, 0), (0, 1), (1, 1), (2, -1)]:
        phase = np.exp(1j * (c.momenta[:, None, :] + points) @ r) @ weights
        assert abs(phase.mean()) < 1e-10


@pytest.mark.parametrize(
    "vectors, word",
    [
        ([[2, 0], [4, 0]], "parallel"),
        ([[0, 0], [0, 1]], "parallel"),
        ([[1.5, 0], [0, 2]], "integers"),
        ([["a", 0], [0, 2]], "integers"),
        ([[float("nan"), 0], [0, 2]], "integers"),
        ([[2, 0]], "integers"),
        ([[2, 0, 0], [0, 2, 0]], "integers"),
        ([[9, 0], [0, 8]], "72 sites"),
    ],
)
def test_bad_clusters_are_refused(vectors, word):
    with pytest.raises(InputError) as error:
        Cluster(T_PRIME, vectors)
    assert all(w in str(error.value) for w in ("model.cluster", str(vectors), "allowed", word))


def test_momentum_that_the_cluster_lacks_is_refused():
    with pytest.raises(InputError, match="not a cluster momentum"):
        Cluster(T_PRIME, [[2, 0], [0, 2]]).momentum_index((np.pi / 2, 0))
