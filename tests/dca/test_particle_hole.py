"""Exchange of particles and holes: found where it is a symmetry of the bath, and used there alone."""

import numpy as np
import pytest
from lattices import CHAIN, CUBIC, HONEYCOMB, STRIPES, both_signs, orbital_lattice

from plaq import dca
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.coarse_graining import CoarseGraining
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.model import Model
from plaq.dca.lattice.particle_hole import mirror
from plaq.dca.planning.forecast import describe

SQUARE = Lattice.square()
LATTICES = {
    "square": SQUARE, "t'": Lattice.square(1.0, 1e-3), "stripes": STRIPES,
    "chain": Lattice(both_signs({(1, 0): -1.0})), "far": Lattice(both_signs({(1, 0): -1.0, (3, 0): 0.3, (2, 1): -0.4})),
    "frustrated": Lattice(both_signs({(2, 0): -1.0, (3, 0): 0.2})),
    "triangular": Lattice(both_signs({(1, 0): -1.0, (0, 1): -1.0, (1, 1): -1.0})), "on site": Lattice({(0, 0): 0.3}),
    "atoms": Lattice({(0, 0): 0.0})}
CLUSTERS = ([[1, 0], [0, 1]], [[2, 0], [0, 1]], [[1, 0], [0, 4]], [[3, 0], [0, 1]], [[2, 1], [0, 1]], [[1, 1], [1, -1]],
            [[2, 0], [0, 2]], [[3, 0], [0, 2]], [[2, 1], [-1, 2]], [[3, 1], [-1, 3]], [[2, 2], [-4, 2]],
            [[3, 2], [-2, 3]], [[1, 1], [-1, 2]], [[2, 2], [2, -2]])


@pytest.mark.parametrize("isolated", [False, True])
@pytest.mark.parametrize("lattice", LATTICES.values(), ids=LATTICES)
def test_it_is_found_where_the_bath_has_it(lattice, isolated):
    """Gbar_K+P(z) = -Gbar_K(-z), with z = iw + x to see odd moments of any order."""
    for vectors in CLUSTERS:
        cluster = Cluster(lattice, vectors)
        coarse = CoarseGraining(cluster, isolated)
        coarse.prepare(0.5)
        x = np.array([0.3, -1.1, 2.3, 0.0])
        above, below = (coarse.gbar(np.tile(0.5j + sign * x, (cluster.size, 1))) for sign in (1, -1))
        has_it = [P for P in range(cluster.size)
                  if np.abs(above[cluster.momentum_sum[:, P]] + below.conj()).max() < 1e-8]
        found = mirror(cluster, isolated)
        assert (found is not None) == bool(has_it), vectors
        assert found is None or found[0] in has_it


def half_filled(vectors, filling, U=4.0, T=0.1, seed=11, **model):
    p = dca.Parameters(model={"U": U, "cluster": vectors, **model},
                       dca={"temperatures": [T], **filling, "iterations": 4},
                       solver={"measurements": 640, "chains": 8, "warmup": 10, "seed": seed},
                       two_particle={"channels": []}, run={"workers": 1})
    return p, dca.run(p).points[0]


@pytest.mark.parametrize("vectors", [[[1, 0], [0, 1]], [[2, 0], [0, 1]], [[1, 1], [1, -1]]], ids=["1", "2x1", "2"])
@pytest.mark.parametrize("filling", [{"mu": 2.0}, {"density": 1.0}], ids=["mu", "density"])
def test_half_filling_is_exact(vectors, filling):
    p, point = half_filled(vectors, filling)
    partner = Model.of(p).mirror
    sigma, g = point["Sigma"].mean, point["G"].mean
    assert point.mu == 2.0 and all(record["mu"] == 2.0 and record["mu_error"] == 0 for record in point.history)
    assert abs(point["density"].mean - 1) < 1e-12
    np.testing.assert_allclose(sigma[partner], 4.0 - sigma.conj(), atol=1e-9)
    np.testing.assert_allclose(g[partner], -g.conj(), atol=1e-9)
    G_tau = point["G_tau"].mean
    np.testing.assert_allclose(G_tau[partner], G_tau[:, ::-1], atol=1e-9)
    assert "particle-hole symmetry" in describe(p)


def test_nothing_is_averaged_without_the_symmetry():
    triangular = {"hopping": {"1,0": -1.0, "0,1": -1.0, "1,1": -1.0}}
    for vectors, model in [([[1, 1], [-1, 2]], triangular), ([[1, 0], [0, 1]], {"t_prime": -0.3})]:
        p, point = half_filled(vectors, {"mu": 2.0}, T=0.5, **model)
        assert Model.of(p).mirror is None and "alike" not in describe(p)
        assert abs(point["density"].mean - 1) > 5 * point["density"].error
    away, _ = half_filled([[1, 0], [0, 1]], {"mu": 1.9}, T=0.5)
    assert Model.of(away).mirror is None


@pytest.mark.parametrize("table, vectors, expected", [
    (CUBIC, np.eye(3, dtype=int), 0), (CUBIC, 2 * np.eye(3, dtype=int), -1),
    (CUBIC, [[0, 1, 1], [1, 0, 1], [1, 1, 0]], 1), (CUBIC, [[0, 0, 2], [0, 1, 0], [1, 0, 0]], 1), (CHAIN, [[4]], 2),
    (CHAIN, [[3]], None), (HONEYCOMB, [[1, 0], [0, 1]], None)])
def test_other_dimensions(table, vectors, expected):
    """Gbar_K+P(z) = -Gbar_K(-z) of the bath where P is found, and nowhere else unless the patch allows it."""
    lattice = orbital_lattice(table)
    cluster = Cluster(lattice, np.array(vectors).tolist())
    found = mirror(cluster)
    assert (None if found is None else int(found[0])) == (None if expected is None else expected % cluster.size)
    if found is not None:
        coarse = CoarseGraining(cluster)
        coarse.prepare(0.9)
        above, below = (coarse.gbar(np.full((cluster.size, 1), 0.9j + sign * 0.7)) for sign in (1, -1))
        assert np.allclose(above[found], -below.conj(), atol=1e-8)
