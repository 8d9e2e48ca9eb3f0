"""Bethe-Salpeter equation with orbitals: symmetry of pairs, one orbital as one band, bare vertices."""

import numpy as np
import pytest
from lattices import T_PRIME

from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.model import Model
from plaq.dca.lattice.pair_symmetry import PairSymmetry
from plaq.dca.lattice.symmetry import PointGroup, irrep_projectors
from plaq.dca.parameters import Parameters
from plaq.dca.physics import bethe_salpeter
from plaq.dca.physics.orbital_channels import Terms, add_blocks, in_pairs, symmetry_of

T, WINDOW, MU = 2.0, 2, 0.3
N = np.arange(-WINDOW, WINDOW)


def free(lattice, cluster, kind, q, **rest):
    """Return the model and chi0 [K, n, ab, a'b'] of free electrons at nu = 0."""
    p = Parameters(model={"lattice": lattice, "U": 4, "cluster": cluster, **rest}, solver={"kind": "ctint"},
                   dca={"temperatures": [T], "mu": MU}, two_particle={"channels": []})
    model = Model.of(p)
    model.coarse_graining.prepare(np.pi * T)
    one = np.eye(model.lattice.bands)[None, None, :, :, None]
    z = np.broadcast_to(one * (1j * (2 * N + 1) * np.pi * T + MU), (1, model.cluster.size, *one.shape[2:4], len(N)))
    pairs = kind == "pp"
    product = (model.coarse_graining.chi0_pp if pairs else model.coarse_graining.chi0_ph)(
        z, z[..., ::-1] if pairs else z, q)
    return model, in_pairs(product, pairs)


def as_function(model, chi0):
    """Return G4 [K, a, b, n, K', a', b', n'] without correlations."""
    shape = (model.cluster.size, model.lattice.bands, model.lattice.bands, len(N))
    g4 = np.zeros(2 * (int(np.prod(shape)),), complex)
    add_blocks(g4, chi0)
    return g4.reshape(2 * shape)


@pytest.mark.parametrize("lattice, cluster, rest", [
    ("bilayer", [[2, 0], [0, 2]], {}), ("pnictide", [[1, 1], [1, -1]], {"J": 0.5}), ("kagome", [[1, 0], [0, 1]], {}),
    ("honeycomb", [[2, 0], [0, 2]], {})])
@pytest.mark.parametrize("kind, q", [("pp", 0), ("magnetic", 1)])
def test_free_pairs_have_the_symmetry_of_blocks(lattice, cluster, rest, kind, q):
    """Phases of positions and shifts of cells included: averages change nothing, and nothing connects two blocks."""
    q = min(q, abs(round(np.linalg.det(cluster))) - 1)
    model, chi0 = free(lattice, cluster, kind, q, **rest)
    symmetry = symmetry_of(model, kind, q)
    g4 = as_function(model, chi0)
    np.testing.assert_allclose(symmetry.average(g4, static=True), g4, atol=1e-9 * np.abs(g4).max())
    blocks = symmetry.blocks(WINDOW, static=True)
    whole = np.concatenate(list(blocks.values()), axis=1)
    np.testing.assert_allclose(whole.conj().T @ whole, np.eye(len(whole)), atol=1e-9)
    connected = whole.conj().T @ g4.reshape(len(whole), -1) @ whole
    block = np.repeat(np.arange(len(blocks)), [basis.shape[1] for basis in blocks.values()])
    assert np.abs(connected[block[:, None] != block]).max() < 1e-8 * np.abs(g4).max()


def test_one_orbital_has_the_eigenvalues_of_one_band():
    """A symmetric vertex with s and d waves, on the plaquette, against the equation of one band."""
    cluster = Cluster(T_PRIME, [[2, 0], [0, 2]])
    group = PointGroup(cluster)
    w = np.abs(2 * N + 1.0)
    chi0 = 1 / (1 + np.array([0.5, 1.0, 1.0, 2.0])[:, None] + w**2)
    ratio = 1.2 + 0.3 * np.cos(cluster.momenta).sum(axis=1)[:, None] / w
    d = np.array([0.0, 1.0, -1.0, 0.0])
    vertex = np.einsum("k,l,n,m->knlm", d, d, 1 / w, 1 / w) * 0.4 - 0.7
    g4 = np.linalg.inv(np.diag(1 / chi0.ravel()) - vertex.reshape(16, 16)).reshape(4, 4, 4, 4)
    known = bethe_salpeter.pairing(g4[:, WINDOW:], chi0[:, WINDOW:], (ratio * chi0)[:, WINDOW:],
                                   irrep_projectors(cluster))
    terms = Terms(g4.reshape(2 * (4, 1, 1, 4)), chi0[..., None, None], (ratio * chi0)[..., None, None])
    found = terms.modes(PairSymmetry(group, True, 0).blocks(WINDOW, static=True))
    for name, channel in known.items():
        np.testing.assert_allclose(found[name].eigenvalues, channel.eigenvalues, atol=1e-9)
    assert known["d_x2y2"].leading > 0.1 and known["d_x2y2"].spurious == 0 and known["s"].leading < 1


@pytest.mark.parametrize("kind", ["pp", "magnetic"])
def test_a_bare_repulsion_makes_the_eigenvalues_of_the_random_phase_approximation(kind):
    """U_a on each orbital, Gamma = -+U T/N_c: eigenvalues of -+U_a T/N_c sum_(K, n) chi0_(aa)(cc)."""
    q = 0 if kind == "pp" else 3
    model, chi0 = free("bilayer", [[2, 0], [0, 2]], kind, q)
    sign, U = -1 if kind == "pp" else 1, np.array([3.0, 5.0])
    K, n, local = chi0.shape[0], len(N), [0, 3]  # pairs aa
    bare = np.zeros((K, 4, n, K, 4, n))
    for a, u in zip(local, U):
        bare[:, a, :, :, a] = sign * u * T / K
    size = K * 4 * n
    inverse = -bare.reshape(size, size).astype(complex)
    add_blocks(inverse, np.linalg.inv(chi0))
    g4 = np.linalg.inv(inverse).reshape(2 * (K, 2, 2, n))
    # U differs, so that the layers are not equivalent: all functions are in one block
    found = Terms(g4, chi0, 1.3 * chi0).modes({"all": np.eye(size)})["all"].eigenvalues
    bubble = T / K * chi0.sum(axis=(0, 1))[np.ix_(local, local)]
    expected = np.sort(np.linalg.eigvals(1.3 * sign * U[:, None] * bubble).real)[::-1]
    np.testing.assert_allclose(np.sort(found[np.argsort(-np.abs(found))[:2]].real)[::-1], expected, atol=1e-9)

