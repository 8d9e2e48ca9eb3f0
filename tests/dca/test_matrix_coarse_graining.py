"""Coarse graining with orbitals against sums over dense meshes, and the density that follows from it."""

import itertools

import numpy as np
import pytest
from lattices import (
    BILAYER,
    CHAIN,
    CUBIC,
    DIAMOND,
    HONEYCOMB,
    KAGOME,
    SSH,
    STAGGERED,
    T_PRIME,
    THREE_BAND,
    orbital_lattice,
    square_vectors,
)

from plaq.dca.lattice.chemical_potential import density, find_mu, free_mu
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.coarse_graining import CoarseGraining
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.matrix_coarse_graining import MatrixCoarseGraining, inverse
from plaq.dca.lattice.matsubara import frequency_cutoff, mesh
from plaq.errors import RunError

TABLES = {"honeycomb": HONEYCOMB, "kagome": KAGOME, "three-band": THREE_BAND, "bilayer": BILAYER,
          "dimerised chain": SSH, "chain": CHAIN, "staggered": STAGGERED}
SOLIDS = {"diamond": DIAMOND, "cubic": CUBIC}


def dense(lattice, n):
    """Return momenta [n**D, D] of a mesh: means over the zone converge exponentially on it."""
    k = 2 * np.pi * (np.arange(n) + 0.3) / n
    return np.stack(np.meshgrid(*[k] * lattice.dimension), axis=-1).reshape(-1, lattice.dimension)


def in_patch(lattice, K, offsets, spin=0):
    """Return h(K + k) [M, b, b] with the phases exp(-i k.(r_a - r_b)) of positions."""
    v = np.exp(-1j * offsets @ lattice.positions.T)
    return v[:, :, None] * lattice.hamiltonian(K + offsets, spin) * v[:, None, :].conj()


def causal(coarse, omega, rng, symmetric=True):
    """Return a z with matrices of self-energies and |Im z| >= omega."""
    lattice, size = coarse.cluster.lattice, coarse.cluster.size
    b = lattice.bands
    x = rng.normal(size=(lattice.spins, size, b, b)) + 1j * rng.normal(size=(lattice.spins, size, b, b))
    x = x @ x.conj().swapaxes(-1, -2)  # a positive spectral weight
    y = rng.normal(size=x.shape)
    y = y + y.swapaxes(-1, -2)
    if symmetric:
        x, y = coarse.group.action.average(x), coarse.group.action.average(y)
    sigma = np.stack([0.3 * x / (1j * w + 0.2) + 0.4 * y for w in omega], axis=-1)
    return coarse.shifted(1j * np.asarray(omega) + 0.3, sigma)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("symmetric", [True, False])
def test_patch_means_against_another_rule(name, symmetric):
    lattice = orbital_lattice(TABLES[name])
    coarse = MatrixCoarseGraining(Cluster(lattice, square_vectors(lattice)))
    omega = np.array([0.5, 1.1, 2.7, 9.0, 40.0])
    coarse.prepare(0.5)
    z = causal(coarse, omega, np.random.default_rng(3), symmetric)
    g = coarse.gbar(z)
    offsets, weights = coarse.cluster.k_rule(25.0)
    for spin in range(lattice.spins):
        for K, momentum in enumerate(coarse.cluster.momenta):
            h = in_patch(lattice, momentum, offsets, spin)
            for w in range(len(omega)):
                exact = np.einsum("mab,m->ab", np.linalg.inv(z[spin, K, :, :, w] - h), weights)
                assert np.abs(g[spin, K, :, :, w] - exact).max() < 1e-8
    kinetic = np.einsum("skacw,skcbw->skabw", z, g) - np.eye(lattice.bands)[:, :, None]
    assert np.allclose(coarse.h_gbar(z), kinetic, atol=1e-9)
    # Gbar = 1/z + <h>/z^2 + <hh>/z^3 + ... for numbers z
    far = coarse.gbar(coarse.shifted(np.array([2000j]), np.zeros_like(z[..., :1])))[..., 0]
    one = np.eye(lattice.bands)
    assert np.abs(far - one / 2000j - coarse.h_mean / 2000j**2 - coarse.h_second / 2000j**3).max() < 1e-11


@pytest.mark.parametrize("name", TABLES | SOLIDS)
@pytest.mark.parametrize("isolated", [False, True])
def test_moments_are_patch_means_of_h_and_its_square(name, isolated):
    lattice = orbital_lattice((TABLES | SOLIDS)[name])
    vectors = np.eye(3, dtype=int) + np.eye(3, k=1, dtype=int) if lattice.dimension == 3 else square_vectors(lattice)
    coarse = MatrixCoarseGraining(Cluster(lattice, vectors), isolated)
    offsets, weights = coarse._rule(4.0)
    for spin, (K, momentum) in itertools.product(range(lattice.spins), enumerate(coarse.cluster.momenta)):
        h = in_patch(lattice, momentum, offsets, spin)
        for power, moments in ((h, coarse.h_mean), (h @ h, coarse.h_second)):
            np.testing.assert_allclose(moments[spin, K], np.einsum("mab,m->ab", power, weights), atol=1e-12)


def test_far_hopping_in_three_dimensions_has_moments_at_once():
    """Eight cells and hops over up to nine cells: the square of h has 37^3 displacements; sums over K are known."""
    rng, table = np.random.default_rng(5), {(0, 0, 0): np.diag([0.4, -0.4])}
    for d in rng.integers(-9, 10, size=(40, 3)):
        t = rng.normal(size=(2, 2)) / 40
        table[tuple(d.tolist())], table[tuple((-d).tolist())] = t, t.T
    coarse = MatrixCoarseGraining(Cluster(Lattice(table, ("1", "2")), 2 * np.eye(3, dtype=int)))
    np.testing.assert_allclose(coarse.h_mean.mean(axis=(0, 1)), np.diag([0.4, -0.4]), atol=1e-14)
    np.testing.assert_allclose(coarse.h_second.mean(axis=(0, 1)), sum(t @ t.T for t in table.values()), atol=1e-14)


@pytest.mark.parametrize("name, n", [*((name, 240) for name in TABLES), *((name, 60) for name in SOLIDS)])
def test_electrons_without_interaction(name, n):
    """Sum of Fermi functions over bands: number, mu, kinetic energy, and a sum rule for each."""
    lattice, T, mu = orbital_lattice((TABLES | SOLIDS)[name]), 0.2 if name in TABLES else 0.6, -0.4
    coarse = MatrixCoarseGraining(Cluster(lattice, square_vectors(lattice)))
    coarse.prepare(np.pi * T)
    m = mesh(1 / T, frequency_cutoff(lattice, 0.0, mu))
    k = dense(lattice, n)
    bands = np.array([lattice.energies(k, spin) for spin in range(lattice.spins)])
    fermi = 0.5 * (1 - np.tanh((bands - mu) / (2 * T)))
    exact = 2 * lattice.bands * fermi.mean()
    sigma = np.zeros((lattice.spins, coarse.cluster.size, lattice.bands, lattice.bands, len(m.omega)))
    assert density(mu, coarse, m, sigma) == pytest.approx(exact, abs=2e-7)
    assert find_mu(exact, coarse, m, sigma, guess=0.5) == pytest.approx(mu, abs=5e-6)
    assert free_mu(lattice, T, exact) == pytest.approx(mu, abs=2e-4)
    h = coarse.h_gbar(coarse.shifted(1j * m.omega + mu, sigma))
    kinetic = m.equal_time(coarse.electrons(h))
    assert kinetic == pytest.approx(2 * lattice.bands * (bands * fermi).mean(), abs=1e-6)


@pytest.mark.parametrize("flat", [{}, {(0, 0): [[[0.3, 0.0], [0.0, -0.3]], [[-0.3, 0.0], [0.0, 0.3]]]}])
def test_one_cell_with_its_symmetric_momenta_has_the_mean_of_all(flat):
    """xz and yz orbitals, without and with fields whose signs differ, against the rule of any function."""
    hops = {(1, 0): [[1.0, 0.0], [0.0, -1.3]], (0, 1): [[-1.3, 0.0], [0.0, 1.0]],
            (1, 1): [[0.85, -0.85], [-0.85, 0.85]], (1, -1): [[0.85, 0.85], [0.85, 0.85]]}
    table = {tuple(s * x for x in d): np.array(t) for d, t in hops.items() for s in (1, -1)}
    coarse = MatrixCoarseGraining(Cluster(Lattice(table | flat, ("xz", "yz")), [[1, 0], [0, 1]]))
    z = coarse.group.action.average(causal(coarse, (2 * np.arange(4) + 1) * 0.5, np.random.default_rng(3)))
    coarse.prepare(0.3)
    even = coarse.gbar(z)
    assert len(coarse._even[0][1]) < 0.2 * len(coarse._any_rules()[0][1])
    coarse._even = []
    np.testing.assert_allclose(even, coarse.gbar(z), atol=1e-9)


def test_one_orbital_is_the_same_as_numbers():
    c = Cluster(T_PRIME, [[2, 2], [2, -2]])
    matrices, numbers = MatrixCoarseGraining(c), CoarseGraining(c)
    for coarse in (matrices, numbers):
        coarse.prepare(0.3)
    z = np.random.default_rng(1).normal(size=(8, 4)) + 1j * np.array([0.3, 0.9, 2.0, 5.0])
    assert np.array_equal(matrices.gbar(z[None, :, None, None])[0, :, 0, 0], numbers.gbar(z))
    assert np.array_equal(matrices.h_gbar(z[None, :, None, None])[0, :, 0, 0], numbers.eps_gbar(z))
    assert np.allclose(matrices.h_mean[0, :, 0, 0], numbers.eps_mean)
    for method, q in (("chi0_ph", 0), ("chi0_ph", 3), ("chi0_pp", 0), ("chi0_pp", 5)):
        one = getattr(matrices, method)(z[None, :, None, None], 1.5 * z[None, :, None, None], q)
        assert np.allclose(one[:, 0, 0, 0, 0], getattr(numbers, method)(z, 1.5 * z, q), atol=1e-8)


@pytest.mark.parametrize("name", ["honeycomb", "staggered", "dimerised chain"])
def test_bubbles_against_another_rule(name):
    lattice = orbital_lattice(TABLES[name])
    coarse = MatrixCoarseGraining(Cluster(lattice, square_vectors(lattice, 3 if lattice.dimension == 1 else 2)))
    coarse.prepare(0.5)
    c, rng, omega = coarse.cluster, np.random.default_rng(5), [0.5, 3.0]
    z, partner = causal(coarse, omega, rng), causal(coarse, omega, rng, symmetric=False)
    offsets, weights = c.k_rule(25.0)
    spins = (0, lattice.spins - 1)
    for q in (0, 1):
        ph, pp = coarse.chi0_ph(z, partner, q, spins), coarse.chi0_pp(z, partner.conj().swapaxes(2, 3), q, spins)
        for K, w in ((0, 0), (1, 1), (2, 0)):
            g = np.linalg.inv(z[0, K, :, :, w] - in_patch(lattice, c.momenta[K], offsets))
            forward, back = c.momentum_sum[K, q], c.momentum_difference[q, K]
            moved = in_patch(lattice, c.momenta[forward], offsets, spins[1])
            other = np.linalg.inv(partner[spins[1], forward, :, :, w] - moved)
            assert np.abs(ph[K, ..., w] - np.einsum("mab,mcd,m->abcd", g, other, weights)).max() < 1e-8
            moved = in_patch(lattice, c.momenta[back], -offsets, spins[1])
            other = np.linalg.inv(partner[spins[1], back, :, :, w].conj().T - moved)
            assert np.abs(pp[K, ..., w] - np.einsum("mab,mcd,m->abcd", g, other, weights)).max() < 1e-8


def test_the_choice_of_the_cell_does_not_matter():
    """The same lattice with one orbital counted to another cell: functions get the phases exp(-i K.R) of that cell."""
    moved = {}
    for d, t in KAGOME.items():
        for a, b in np.argwhere(t):
            at = np.array(d) + np.array([1, -2]) * ((a == 2) * 1 - (b == 2) * 1)
            moved.setdefault(tuple(at.tolist()), np.zeros((3, 3)))[a, b] = t[a, b]
    places = [[0, 0], [0.5, 0], [-1, 2.5]]
    first = MatrixCoarseGraining(Cluster(orbital_lattice(KAGOME), [[2, 0], [0, 2]]))
    second = MatrixCoarseGraining(Cluster(Lattice(moved, "ABC", places), [[2, 0], [0, 2]]))
    assert len(first.group.operations) == len(second.group.operations) == 12
    for coarse in (first, second):
        coarse.prepare(0.5)
    z = causal(first, [0.5, 2.0], np.random.default_rng(8))
    phase = np.ones((4, 3), dtype=complex)
    phase[:, 2] = np.exp(-1j * first.cluster.momenta @ [1, -2])
    change = phase[None, :, :, None, None] * phase[None, :, None, :, None].conj()
    assert np.abs(second.gbar(z * change) - first.gbar(z) * change).max() < 1e-8


def test_the_self_energy_of_the_lattice_gives_the_patch_means():
    """Gbar is the mean of v (z(k) - h(k))^-1 v^+ with the z of the lattice, which any operation leaves as it is."""
    lattice = orbital_lattice(KAGOME)
    coarse = MatrixCoarseGraining(Cluster(lattice, [[2, 0], [0, 2]]))
    coarse.prepare(0.5)
    z = causal(coarse, [0.5, 2.0], np.random.default_rng(9))
    offsets, weights = coarse.cluster.k_rule(25.0)
    k = coarse.cluster.momenta[1] + offsets
    g = np.linalg.inv(np.moveaxis(coarse.on_lattice(z, k)[0], -1, 1) - lattice.hamiltonian(k)[:, None])
    v = np.exp(-1j * offsets @ lattice.positions.T)
    mean = np.einsum("ma,mwab,mb,m->abw", v, g, v.conj(), weights)
    assert np.abs(mean - coarse.gbar(z)[0, 1]).max() < 1e-8
    k = np.random.default_rng(2).uniform(-4, 4, (6, 2))
    here = coarse.on_lattice(z, k)[0]
    for op in coarse.group.action.operations:
        there = coarse.on_lattice(z, k @ np.linalg.inv(op.matrix))[0][:, op.orbitals][:, :, op.orbitals]
        factor = op.signs * np.exp(1j * (k @ np.linalg.inv(op.matrix)) @ op.shifts.T)
        assert np.allclose(there * factor[:, :, None, None] * factor[:, None, :, None].conj(), here, atol=1e-11)


def test_means_of_one_cell_have_the_same_bits_in_any_blocks(monkeypatch):
    """A cell with far hopping: h kept or not, of all momenta at once or of a few, against a plain mean of all."""
    shape = {1: [[-1, 0.0], [0.0, -0.4]], 2: [[0.2, 0.05], [0.05, 0.2]], 3: [[0.1, 0.0], [0.0, -0.1]]}
    table = {(n * x, n * y, n * z): np.array(t) for n, t in shape.items() for x, y, z in
             ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))}
    cluster = Cluster(Lattice(table, ("a", "b")), np.eye(3, dtype=int).tolist())
    found = []
    for kept, waves in ((2**21, 2**19), (0, 2**19), (2**21, 999)):
        monkeypatch.setattr("plaq.dca.lattice.matrix_coarse_graining.KEPT", kept)
        monkeypatch.setattr("plaq.dca.lattice.hopping.WAVES", waves)
        coarse = MatrixCoarseGraining(cluster)
        coarse.prepare(2.0)
        z = coarse.group.action.average(causal(coarse, [2.0, 6.0], np.random.default_rng(4)))
        found += [coarse.gbar(z), coarse.gbar(z)]
        assert bool(coarse._kept) == (kept > 0)
    assert all(np.array_equal(g, found[0]) for g in found)
    x = 2 * np.pi * np.arange(40) / 40
    h = cluster.lattice.hamiltonian(np.stack(np.meshgrid(x, x, x), axis=-1).reshape(-1, 3))
    exact = [np.linalg.inv(z[0, 0, :, :, w] - h).mean(axis=0) for w in range(2)]
    assert np.abs(np.moveaxis(found[0][0, 0], -1, 0) - exact).max() < 1e-8


def test_isolated_cells():
    lattice = orbital_lattice(KAGOME)
    coarse = MatrixCoarseGraining(Cluster(lattice, [[2, 0], [0, 2]]), isolated=True)
    coarse.prepare(0.01)
    z = coarse.shifted(np.array([0.2 + 0.01j, 3j]), np.zeros((1, 4, 3, 3, 2)))
    exact = [np.linalg.inv(z[0, K, :, :, 0] - lattice.hamiltonian(k)) for K, k in enumerate(coarse.cluster.momenta)]
    assert np.allclose(coarse.gbar(z)[0, ..., 0], exact, rtol=1e-12)


def test_errors_name_their_numbers():
    coarse = MatrixCoarseGraining(Cluster(orbital_lattice(HONEYCOMB), [[2, 0], [0, 2]]))
    z = lambda x: coarse.shifted(np.array([x]), np.zeros((1, 4, 2, 2, 1)))
    with pytest.raises(RunError, match="prepare"):
        coarse.gbar(z(1j))
    coarse.prepare(1.0)
    with pytest.raises(RunError, match="asked for 0.1.*not causal"):
        coarse.gbar(z(0.1j))
    with pytest.raises(RunError, match="not a number"):
        coarse.gbar(z(np.nan))


@pytest.mark.parametrize("b", [2, 3, 4])
def test_inverse(b):
    rng = np.random.default_rng(b)
    m = rng.normal(size=(b, b, 50)) + 1j * rng.normal(size=(b, b, 50))
    m = m + m.conj().swapaxes(0, 1) + 1j * np.einsum("acm,bcm->abm", m, m.conj())  # Hermitian, i times positive
    assert np.allclose(np.einsum("acm,cbm->abm", inverse(m), m), np.eye(b)[:, :, None], atol=1e-9)
