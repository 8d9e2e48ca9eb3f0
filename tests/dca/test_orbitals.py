"""Lattices with orbitals: bands, clusters and patches in one, two and three dimensions, and their symmetry."""

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
    THREE_BAND,
    orbital_lattice,
    square_vectors,
)

from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.interaction import DensityPair, ExchangeTerm, Interaction
from plaq.dca.lattice.matrix_coarse_graining import MatrixCoarseGraining
from plaq.dca.lattice.symmetry import PointGroup
from plaq.dca.solver.ed.cluster import ExactCluster
from plaq.dca.solver.ed.model import exact_cluster
from plaq.errors import InputError

TABLES = {"honeycomb": HONEYCOMB, "kagome": KAGOME, "three-band": THREE_BAND, "bilayer": BILAYER, "chain": CHAIN,
          "dimerised chain": SSH, "diamond": DIAMOND, "cubic": CUBIC, "staggered": STAGGERED}
any_lattice = pytest.mark.parametrize("lattice", [orbital_lattice(t) for t in TABLES.values()], ids=list(TABLES))


def exact_bands(name, k):
    """Return the bands as their textbook formulas."""
    x, y, z = (*np.moveaxis(k, -1, 0), 0, 0)[:3]
    if name == "honeycomb":
        e = np.abs(1 + np.exp(1j * x) + np.exp(1j * y))
        return [-e, e]
    if name == "kagome":  # the flat band at 2 t, the others as of graphene
        e = np.sqrt(3 + 2 * (np.cos(x) + np.cos(y) + np.cos(x - y)))
        return [-1 - e, -1 + e, 2 + 0 * e]
    if name == "bilayer":
        e = -2 * (np.cos(x) + np.cos(y))
        return [e - 0.7, e + 0.7]
    if name == "dimerised chain":
        e = np.sqrt(1.25 + np.cos(x))
        return [-e, e]
    if name == "diamond":
        e = np.abs(1 + np.exp(1j * x) + np.exp(1j * y) + np.exp(1j * z))
        return [-e, e]
    if name == "staggered":
        e = np.sqrt(np.abs(1 + np.exp(1j * x) + np.exp(1j * y)) ** 2 + 0.09)
        return [-e, e]
    return [-2 * (np.cos(x) if name == "chain" else np.cos(x) + np.cos(y) + np.cos(z))]


@pytest.mark.parametrize("name", [name for name in TABLES if name != "three-band"])
def test_bands_are_the_textbook_formulas(name):
    lattice = orbital_lattice(TABLES[name])
    k = np.random.default_rng(1).uniform(-7, 7, (50, lattice.dimension))
    for spin in range(lattice.spins):
        assert np.allclose(lattice.energies(k, spin), np.sort(np.stack(exact_bands(name, k), axis=-1)), atol=1e-12)
    edges = {"honeycomb": (-3, 3), "kagome": (-4, 2), "bilayer": (-4.7, 4.7), "dimerised chain": (-1.5, 1.5),
             "diamond": (-4, 4), "staggered": (-(9.09**0.5), 9.09**0.5), "chain": (-2, 2), "cubic": (-6, 6)}
    assert np.allclose(lattice.extrema, edges[name], rtol=0, atol=1e-10)


def test_bands_of_the_three_band_model():
    # Emery's model: at Gamma d is alone, at M it mixes with one combination of p by 2 sqrt(2) t_pd
    lattice = orbital_lattice(THREE_BAND)
    assert np.allclose(lattice.energies([0.0, 0.0]), [0, 3, 3])
    mixed = np.linalg.eigvalsh([[0, 8**0.5], [8**0.5, 3 + 4 * 0.5]])
    assert np.allclose(lattice.energies([np.pi, np.pi]), np.sort([*mixed, 3 - 4 * 0.5]))


def test_a_band_edge_off_every_grid():
    # as one band of tests of lattices, twice
    table = {(1, 0): -np.eye(2), (-1, 0): -np.eye(2), (2, 0): 0.8 * np.eye(2), (-2, 0): 0.8 * np.eye(2),
             (0, 0): np.diag([0, 0.5])}
    assert np.allclose(Lattice(table, "ab").extrema, (-0.3125 - 1.6, 4.1), rtol=0, atol=1e-10)


@any_lattice
def test_hopping_matrix_is_the_bands_in_momenta(lattice):
    c = Cluster(lattice, square_vectors(lattice, 3))
    for spin in range(lattice.spins):
        t = c.hopping_matrix(spin).reshape(c.size, lattice.bands, c.size, lattice.bands)
        in_momenta = np.einsum("ki,iajb,qj->kqab", c.fourier, t, c.fourier.conj()) / c.size
        for K in range(c.size):
            assert np.allclose(in_momenta[K, K], lattice.hamiltonian(c.momenta[K], spin), atol=1e-12)
            in_momenta[K, K] = 0
        assert np.abs(in_momenta).max() < 1e-12


@pytest.mark.parametrize("table, vectors", [
    (CHAIN, [[1]]), (CHAIN, [[-6]]), (CUBIC, np.eye(3, dtype=int).tolist()), (CUBIC, [[2, 0, 0], [0, 2, 0], [0, 0, 2]]),
    (CUBIC, [[0, 1, 1], [1, 0, 1], [1, 1, 0]]), (CUBIC, [[-1, 1, 1], [1, -1, 1], [1, 1, -1]]),
    (CUBIC, [[1, 2, 0], [-2, 1, 1], [0, 1, 3]]), (DIAMOND, [[2, 0, 0], [0, 2, 0], [0, 0, 2]]),
    (CUBIC, [[4, 0, 0], [0, 4, 0], [0, 0, 4]]), (HONEYCOMB, [[2, 1], [-1, 3]])])
def test_clusters_and_patches_in_any_dimension(table, vectors):
    c = Cluster(orbital_lattice(table), vectors)
    size = round(abs(np.linalg.det(vectors)))
    assert c.size == size == len(c.sites) == len(c.momenta)
    assert not c.sites[0].any() and not c.momenta[0].any()
    assert np.allclose(c.fourier @ c.fourier.conj().T, size * np.eye(size), atol=1e-12)
    assert np.allclose(np.exp(1j * c.momenta @ c.vectors.T), 1)
    # points of the rule are in the patch: nearest to their own momentum; together they fill the zone
    offsets, weights = c.k_rule(1.0)
    assert np.isclose(weights.sum(), 1) and np.all(weights > 0)
    assert np.all(c.patch_index(c.momenta[:, None] + offsets) == np.arange(size)[:, None])
    offsets, weights = c.k_rule(4.0)
    for R in np.random.default_rng(3).integers(-2, 3, (4, c.lattice.dimension)):
        phase = np.exp(1j * (c.momenta[:, None] + offsets) @ R) @ weights
        assert np.isclose(phase.mean(), float(not R.any()), atol=1e-9)
    assert np.allclose(np.sort(c.patch, axis=0), np.sort(-c.patch, axis=0), atol=1e-8)


@pytest.mark.parametrize("vectors, corners", [
    ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], 8), ([[0, 1, 1], [1, 0, 1], [1, 1, 0]], 24),
    ([[-1, 1, 1], [1, -1, 1], [1, 1, -1]], 14)])
def test_patches_of_cubic_superlattices(vectors, corners):
    """A cube; of a face-centred superlattice a truncated octahedron, of a body-centred one a rhombic dodecahedron."""
    assert len(Cluster(orbital_lattice(CUBIC), vectors).patch) == corners


@any_lattice
def test_operations_keep_the_hamiltonian_and_average_to_what_they_keep(lattice):
    c = Cluster(lattice, square_vectors(lattice, 3 if lattice.dimension == 1 else 2))
    group = PointGroup(c)
    h = np.array([lattice.hamiltonian(c.momenta, spin) for spin in range(lattice.spins)])
    for image in group.action.images(h):
        assert np.allclose(image, h, atol=1e-12)
    rng = np.random.default_rng(2)
    f = rng.normal(size=(*h.shape, 2)) + 1j * rng.normal(size=(*h.shape, 2))
    mean = group.action.average(f)
    assert np.allclose(group.action.average(mean), mean, atol=1e-12) and np.abs(mean - f).max() > 0.1
    for K, way in enumerate(group.action.irreducible()):
        assert np.allclose(group.action.from_irreducible(mean, K, way), mean[:, K], atol=1e-12)


@pytest.mark.parametrize("table, order, name, orbits", [
    (HONEYCOMB, 12, "C6v", [[0, 1]]), (KAGOME, 12, "C6v", [[0, 1, 2]]), (THREE_BAND, 8, "C4v", [[0], [1, 2]]),
    (BILAYER, 16, "C4v", [[0, 1]]), (SSH, 2, "Ci", [[0, 1]]), (DIAMOND, 48, "Oh", [[0, 1]]), (CUBIC, 48, "Oh", [[0]]),
    (STAGGERED, 12, "C6v", [[0, 1]])])
def test_point_groups(table, order, name, orbits):
    lattice = orbital_lattice(table)
    group = PointGroup(Cluster(lattice, square_vectors(lattice)))
    assert (len(group.operations), group.name) == (order, name)
    assert [orbit.tolist() for orbit in group.action.orbital_orbits] == orbits


def pairs_of(*terms):
    """Return (value, a, d, b) for all four pairs of spins."""
    return Interaction(tuple(DensityPair(v, a, s, d, b, t) for v, a, d, b in terms for s in (0, 1) for t in (0, 1)))


def test_the_interaction_is_kept_too():
    honeycomb = Cluster(orbital_lattice(HONEYCOMB), [[2, 0], [0, 2]])
    bond = lambda *strengths: pairs_of(*((v, 0, d, 1) for v, d in zip(strengths, ((0, 0), (1, 0), (0, 1)))))
    assert len(PointGroup(honeycomb, bond(1.0, 1.0, 1.0)).operations) == 12
    assert len(PointGroup(honeycomb, bond(1.0, 0.5, 0.5)).operations) == 4
    U = lambda *values: Interaction(tuple(DensityPair(v, a, 0, (0, 0), a, 1) for a, v in enumerate(values)))
    assert len(PointGroup(honeycomb, U(4.0, 4.0)).operations) == 12
    assert PointGroup(honeycomb, U(4.0, 3.0)).name == "C3v"


def test_orbitals_that_only_the_interaction_connects():
    """Two orbitals in one place, but listed in cells that differ by a vector: V between them says which belong."""
    table = {d: -np.eye(2) for d in ((1, 0), (-1, 0), (0, 1), (0, -1))} | {(0, 0): np.diag([0.0, 1.0])}
    cluster = Cluster(Lattice(table, "ab"), [[3, 0], [0, 3]])
    moved = PointGroup(cluster, pairs_of((2.0, 0, (1, 0), 1)))
    assert len(moved.operations) == 8 and not moved.action.mask[0, 1]
    quarter = next(op for op in moved.action.operations if op.matrix.tolist() == [[0, -1], [1, 0]])
    # b at R + (1,0) is on top of a at R: the quarter turn around a takes it to R' + (1,0)
    assert cluster.site_index(quarter.shifts[1] - quarter.shifts[0]) == cluster.site_index((1, -1))
    hopping_pair = Interaction((), (ExchangeTerm(1.0, 0, 1, 0, 1), ExchangeTerm(1.0, 1, 0, 1, 0)))
    assert not PointGroup(cluster, hopping_pair).action.mask[0, 1]  # pairs hop, single electrons do not
    correlated = Interaction((), (ExchangeTerm(1.0, 0, 1, 0, 0), ExchangeTerm(1.0, 1, 0, 0, 0)))
    assert PointGroup(cluster, correlated).action.mask.all()


def test_averages_of_correlations_and_densities():
    """Ring of exact two-body numbers: of random correlations the average is invariant and keeps symmetric ones."""
    lattice = orbital_lattice(KAGOME)
    c = Cluster(lattice, [[2, 0], [0, 2]])
    action = PointGroup(c).action
    random = np.random.default_rng(4).normal(size=(2, 2, c.size, 3, 3))
    mean = action.average_pairs(random)
    assert np.allclose(action.average_pairs(mean), mean) and np.abs(mean - random).max() > 0.1
    g = np.array([lattice.hamiltonian(c.momenta)])
    squared = np.abs(c.to_sites(g, axis=1)) ** 2  # |h_ab(R)|^2 is such a correlation
    squared = np.broadcast_to(squared, (2, 2, *squared.shape[1:]))
    assert np.allclose(action.average_pairs(squared), squared)
    assert np.allclose(action.average_orbitals([[1.0, 2.0, 6.0]] * 2), 3.0)


@pytest.mark.parametrize("table, vectors", [(HONEYCOMB, [[1, 1], [-1, 2]]), (SSH, [[2]]), (KAGOME, [[1, 0], [0, 1]])])
def test_exact_functions_have_the_symmetry_that_is_averaged_over(table, vectors):
    """U = 3 on all sites of an isolated cluster, by exact diagonalisation: three cells of graphene have all of C6v."""
    lattice = orbital_lattice(table)
    c, b = Cluster(lattice, vectors), lattice.bands
    exact = ExactCluster(c.hopping_matrix(), 3.0, 0.7, 1.5)
    group = PointGroup(c, isolated=True)
    assert len(group.operations) == len(lattice.operations)
    by_cells = lambda f: np.moveaxis(f.reshape(c.size, b, c.size, b, -1), 1, 2)  # [cell, cell', a, b, ...]
    from_origin = lambda f: by_cells(f)[:, 0]  # [R, a, b, ...]
    g = c.to_momenta(from_origin(exact.green_iw(np.array([2.1, 6.3]))))[None]
    assert np.allclose(group.action.average(g), g, atol=1e-12) and np.abs(g[..., 0, 1, 0]).max() > 0.01
    for correlation in (exact.spin_correlation(), exact.charge_correlation()):
        pairs = np.broadcast_to(from_origin(correlation)[..., 0], (2, 2, c.size, b, b))
        assert np.allclose(group.action.average_pairs(pairs), pairs, atol=1e-12)
    density = exact.site_density.reshape(c.size, b)[0]
    assert np.allclose(group.action.average_orbitals([density, density]), density, atol=1e-12)


@pytest.mark.parametrize("name", ["kagome with V", "two orbitals", "staggered field", "cell of p and d"])
def test_exact_functions_of_interacting_cells_are_invariant(name):
    """V, Hund's J with spin flip and pair hopping, fields: what the search finds with an interaction holds exactly."""
    U = lambda *values: tuple(DensityPair(v, a, 0, (0, 0), a, 1) for a, v in enumerate(values))
    table, vectors, terms = {
        "kagome with V": (KAGOME, [[1, 0], [0, 1]], (
            *U(3, 3, 3), *pairs_of((0.8, 0, (0, 0), 1), (0.8, 0, (0, 0), 2), (0.8, 1, (0, 0), 2)).pairs)),
        "two orbitals": ({d: np.diag([-1.0, -1.0]) for d in ((1, 0), (-1, 0))} | {(0, 0): np.zeros((2, 2))},
                         [[2, 0], [0, 1]], (*U(4, 4), *pairs_of((1.5, 0, (0, 0), 1)).pairs)),
        "staggered field": (STAGGERED, [[1, 1], [0, 1]], U(4, 4)),
        "cell of p and d": (THREE_BAND, [[1, 0], [0, 1]], (*U(4, 2, 2), *pairs_of((0.5, 0, (0, 0), 1), (0.5, 0, (0, 0),
                                                                                                        2)).pairs)),
    }[name]
    exchanges = tuple(ExchangeTerm(0.7, *legs) for legs in ((0, 1, 1, 0), (1, 0, 0, 1), (0, 1, 0, 1), (1, 0, 1, 0)))
    interaction = Interaction(tuple(terms), exchanges if name == "two orbitals" else ())
    lattice = orbital_lattice(table)
    c = Cluster(lattice, vectors)
    group = PointGroup(c, interaction, isolated=True)
    exact = exact_cluster(c, interaction, 1.1, 1.5)
    g = np.array([exact.to_momentum(exact.green_iw(np.array([2.1, 6.3]), spin)) for spin in range(lattice.spins)])
    assert len(group.operations) >= 4
    assert np.allclose(group.action.average(g), g, atol=1e-12)
    for image in group.action.images(g):
        assert np.allclose(image, g, atol=1e-12)


@any_lattice
def test_sum_rules_of_the_densities_of_states(lattice):
    """Mean of tr h over the zone is tr t(0), that of tr h^2 the sum of all squares of hops."""
    coarse = MatrixCoarseGraining(Cluster(lattice, square_vectors(lattice)))
    for spin in range(lattice.spins):
        traces = [np.einsum("kaa->", moment[spin]) / coarse.cluster.size for moment in (coarse.h_mean, coarse.h_second)]
        first = np.trace(lattice.table[(0,) * lattice.dimension][spin])
        second = sum(np.sum(t[spin] ** 2) for t in lattice.table.values())
        assert np.allclose(traces, [first, second], atol=1e-11)


@pytest.mark.parametrize("table, words", [
    ({(0, 0): [[0, 1], [2, 0]]}, ["transpose", "t(0, 0)[0,1] = 1", "t(0, 0)[1,0] = 2"]),
    ({(1, 0): [[0, 1], [0, 0]]}, ["transpose", "t(-1, 0) is missing"]),
    ({(0, 0): [[0, 1j], [-1j, 0]]}, ["real", "2x2"]), ({(0, 0): [[0, 1]]}, ["2x2"]), ({(0, 0): 1.0}, ["2x2"]),
    ({(0, 0): [[0, np.inf], [np.inf, 0]]}, ["finite"]), ({(0, 0): np.zeros((3, 2, 2))}, ["2x2"])])
def test_bad_tables_of_matrices_are_refused(table, words):
    with pytest.raises(InputError) as error:
        Lattice(table, "ab")
    assert all(word in str(error.value) for word in ["model.hopping", *words])


def test_bad_positions_are_refused():
    with pytest.raises(InputError, match="model.positions.*2 positions of 2 numbers"):
        Lattice(HONEYCOMB, "ab", positions=[[0, 0]])


@pytest.mark.parametrize("table, vectors, words", [
    (CUBIC, [[2, 0], [0, 2]], "3x3"), (CUBIC, [[1, 0, 0], [0, 1, 0], [1, 1, 0]], "plane"), (CHAIN, [[0]], "zero"),
    (CHAIN, [[65]], "65 sites"), (CUBIC, [[5, 0, 0], [0, 5, 0], [0, 0, 3]], "75 sites")])
def test_bad_clusters_in_other_dimensions_are_refused(table, vectors, words):
    with pytest.raises(InputError, match=words):
        Cluster(orbital_lattice(table), vectors)
