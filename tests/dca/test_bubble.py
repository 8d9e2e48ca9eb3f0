"""Bubbles at any momentum transfer: coarse-grained at the cluster's momenta, exact between them."""

import numpy as np
import pytest

from plaq.dca.lattice.bubble import Bubble, nearest, rule
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.coarse_graining import CoarseGraining
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.polytope import Polytope
from plaq.dca.lattice.symmetry import PointGroup
from plaq.errors import InputError

T, MU = 0.1, 0.3
N = np.arange(-3, 3)
OMEGA = (2 * N + 1) * np.pi * T
TRIANGULAR = Lattice({d: -1.0 for d in [(1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1)]})
CLUSTERS = {
    "1": (Lattice.square(1, 0.0), [[1, 0], [0, 1]]),
    "2x2": (Lattice.square(1, -0.2), [[2, 0], [0, 2]]),
    "8A": (Lattice.square(1, 0.3), [[2, 2], [2, -2]]),
    "10A": (Lattice.square(1, 0.3), [[3, 1], [-1, 3]]),
    "12 oblique": (Lattice.square(1, 0.3), [[2, 2], [-4, 2]]),
    "3 triangular": (TRIANGULAR, [[2, 1], [-1, 1]]),
}


@pytest.fixture(params=CLUSTERS)
def cluster(request):
    return Cluster(*CLUSTERS[request.param])


def with_self_energy(cluster):
    """Return iw + mu - Sigma with another Sigma in each patch."""
    sigma = np.random.default_rng(0).uniform(0, 1, cluster.size)[:, None] - 0.5j * np.sign(OMEGA)
    return 1j * OMEGA + MU - sigma


def test_at_cluster_momenta_it_is_the_coarse_grained_bubble(cluster):
    coarse, z = CoarseGraining(cluster), with_self_energy(cluster)
    coarse.prepare(np.pi * T)
    back = z[:, ::-1]
    for q in range(0, cluster.size, 3):
        particle_hole = Bubble(cluster, cluster.momenta[q], np.pi * T)(z, z)[0]
        assert np.abs(particle_hole - coarse.chi0_ph(z, z, q)).max() < 1e-5
        pairs = Bubble(cluster, cluster.momenta[q], np.pi * T, pairs=True)(z, back)[0]
        assert np.abs(pairs - coarse.chi0_pp(z, back, q)).max() < 1e-5


@pytest.mark.parametrize("q", [(0.3, 0.7), (np.pi / 2, 0.0), (np.pi, 0.2), (2.9, -3.0), (0.01, 0.0)])
def test_without_self_energy_it_is_that_of_free_electrons(cluster, q):
    z = np.repeat(1j * OMEGA[None] + MU, cluster.size, axis=0)
    k = 2 * np.pi * np.stack(np.meshgrid(*[np.arange(240)] * 2), axis=-1).reshape(-1, 2) / 240
    bands, shifted, reversed_k = (cluster.lattice.dispersion(x) for x in (k, k + q, q - k))
    exact = np.mean(1 / ((z[0, :, None] - bands) * (z[0, :, None] - shifted)), axis=1)
    assert np.abs(Bubble(cluster, q, np.pi * T)(z, z)[0].mean(axis=0) - exact).max() < 1e-5
    exact = np.mean(1 / ((z[0, :, None] - bands) * (z[0, ::-1, None] - reversed_k)), axis=1)
    assert np.abs(Bubble(cluster, q, np.pi * T, pairs=True)(z, z[:, ::-1])[0].mean(axis=0) - exact).max() < 1e-5


def test_it_is_continuous_where_a_cluster_momentum_is_left(cluster):
    z, q = with_self_energy(cluster), cluster.momenta[-1]
    near = Bubble(cluster, q + [1e-6, 2e-6], np.pi * T)(z, z)[0]
    assert np.abs(near - Bubble(cluster, q, np.pi * T)(z, z)[0]).max() < 1e-5


def test_a_rotation_of_q_rotates_the_patches(cluster):
    group, z, q = PointGroup(cluster), with_self_energy(cluster), np.array([0.4, 1.1])
    z = group.symmetrised(z)
    whole = [Bubble(cluster, q @ np.linalg.inv(g), np.pi * T)(z, z)[0].sum(axis=0) for g in group.operations]
    assert np.abs(whole - whole[0]).max() < 1e-5


def test_form_factors_are_averaged_with_the_bubble():
    cluster = Cluster(*CLUSTERS["2x2"])
    z, factor = with_self_energy(cluster), lambda k: np.cos(k[..., 0])
    plain, weighted = Bubble(cluster, (0.3, 0.2), np.pi * T, factors=[factor])(z, z)
    assert np.array_equal(plain, Bubble(cluster, (0.3, 0.2), np.pi * T)(z, z)[0])
    two = Bubble(cluster, (0.3, 0.2), np.pi * T, factors=[lambda k: 2 * np.ones(k.shape[:-1])])(z, z)
    assert np.allclose(two[1], 2 * two[0], rtol=1e-13) and not np.allclose(plain, weighted)


def test_an_isolated_cluster_has_its_own_momenta_only():
    cluster, z = Cluster(*CLUSTERS["2x2"]), with_self_energy(Cluster(*CLUSTERS["2x2"]))
    g = 1 / (z - cluster.energies[:, None])
    bubble = Bubble(cluster, (np.pi, 0), np.pi * T, isolated=True)
    assert np.allclose(bubble(z, z)[0], g * g[cluster.momentum_sum[:, 1]])
    with pytest.raises(InputError, match="is not a cluster momentum"):
        Bubble(cluster, (np.pi, 0.1), np.pi * T, isolated=True)


def test_the_nearest_momentum_has_q_in_its_patch(cluster):
    for q in np.random.default_rng(1).uniform(-9, 9, (20, 2)):
        index, offset = nearest(cluster, q)
        turns = (q - offset - cluster.momenta[index]) / (2 * np.pi)
        assert np.allclose(turns, np.rint(turns))
        patch = Polytope.around_zero(cluster)
        assert np.all(patch.normals @ offset <= patch.heights * (1 + 1e-9))


@pytest.mark.parametrize("q", [(1, 0.625), (0.8, 0.7), (0.1, 0.2)])
def test_exchange_of_particles_and_holes_maps_pairs_to_particle_hole_pairs(q):
    """At half filling, where Sigma(Q - K, -iw) - U/2 = -(Sigma(K, iw) - U/2), in each patch by itself."""
    cluster, q = Cluster(Lattice.square(), [[2, 0], [0, 2]]), np.pi * np.array(q)
    real, imag = np.array([0.4, 0.0, 0.0, -0.4]), np.array([0.3, 0.8, 0.8, 0.3])
    z = 1j * OMEGA - real[:, None] / (1 + OMEGA**2) + 1j * np.sign(OMEGA) * imag[:, None]
    particle_hole = -Bubble(cluster, q, np.pi * T)(z, z)[0]
    pairs = Bubble(cluster, q + np.pi, np.pi * T, pairs=True)(z, z[:, ::-1])[0]
    assert np.abs(particle_hole - pairs).max() < 1e-12


CHAIN = Lattice({(d,): t for n, t in ((1, -1.0), (2, 0.3)) for d in (n, -n)})
CUBIC = Lattice({tuple(s * d): -1.0 for d in np.eye(3, dtype=int) for s in (1, -1)})
OTHERS = {"chain": (CHAIN, [[3]]), "cubic": (CUBIC, [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
          "octahedra": (CUBIC, [[1, 1, 0], [1, 0, 1], [0, 1, 1]]),
          "layers": (CUBIC, [[1, 1, 0], [1, -1, 0], [0, 0, 1]])}


@pytest.mark.parametrize("name", OTHERS)
def test_in_one_and_three_dimensions(name):
    """Coarse-grained at a cluster momentum, free electrons at another q, and continuous where a momentum is left."""
    T, cluster = 1.0, Cluster(*OTHERS[name])
    n = np.arange(-1, 1)
    z = np.repeat(1j * (2 * n + 1)[None] * np.pi * T + MU, cluster.size, axis=0)
    q = np.array([0.7, 0.4, -1.1])[:cluster.lattice.dimension]
    steps = 2 * np.pi * np.arange(40) / 40
    k = np.stack(np.meshgrid(*[steps] * len(q)), axis=-1).reshape(-1, len(q))
    bands, shifted = (cluster.lattice.dispersion(x) for x in (k, k + q))
    exact = np.mean(1 / ((z[0, :, None] - bands) * (z[0, :, None] - shifted)), axis=1)
    assert np.abs(Bubble(cluster, q, np.pi * T)(z, z)[0].mean(axis=0) - exact).max() < 1e-6
    z = z - np.random.default_rng(0).uniform(0, 1, cluster.size)[:, None]
    z += 0.5j * np.sign(z.imag)
    last, coarse = cluster.momenta[-1], CoarseGraining(cluster)
    coarse.prepare(np.pi * T)
    found = Bubble(cluster, last, np.pi * T)(z, z)[0]
    assert np.abs(found - coarse.chi0_ph(z, z, cluster.size - 1)).max() < 1e-6
    assert np.abs(found - Bubble(cluster, last + 1e-6, np.pi * T)(z, z)[0]).max() < 1e-5


@pytest.mark.parametrize("name", [*CLUSTERS, *OTHERS])
def test_pieces_tile_the_patch(name):
    """Their volumes add up, whatever the offset, and their rules integrate linear functions."""
    cluster = Cluster(*(CLUSTERS | OTHERS)[name])
    offset = 0.1 * np.array([1.0, 0.7, -0.4])[:cluster.lattice.dimension]
    bubble = Bubble(cluster, cluster.momenta[-1] + offset, np.pi)
    weights, first = 0.0, np.zeros(len(offset))
    for piece, _, _ in bubble._pieces:
        x, w = rule(piece, np.pi, cluster, cluster.lattice.hopping)
        weights, first = weights + w.sum(), first + w @ x
    assert weights == pytest.approx(1, abs=1e-12) and np.abs(first).max() < 1e-12
