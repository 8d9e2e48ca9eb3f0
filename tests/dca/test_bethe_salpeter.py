"""Bethe-Salpeter eigenvalues on problems whose vertex is given, so that every answer is known."""

import itertools

import numpy as np
import pytest

from plaq.data.statistics import jackknife, sign_average
from plaq.dca.physics.bethe_salpeter import (
    EVEN,
    ODD,
    Modes,
    folded,
    irreducible_vertex,
    irrep_basis,
    ladder,
    narrowed,
    pairing,
    symmetrised,
    unsolved,
)
from plaq.errors import RunError

# D4 as 2x2 integer matrices, with the characters of its irreps
QUARTER = np.array([[0, -1], [1, 0]])
MIRROR = np.array([[1, 0], [0, -1]])
GROUP = [np.linalg.matrix_power(QUARTER, i) @ m for m in (np.eye(2, dtype=int), MIRROR) for i in range(4)]
CHARACTERS = {
    "s": [1, 1, 1, 1, 1, 1, 1, 1],
    "g": [1, 1, 1, 1, -1, -1, -1, -1],
    "d_x2y2": [1, -1, 1, -1, 1, -1, 1, -1],
    "d_xy": [1, -1, 1, -1, -1, 1, -1, 1],
    "p": [2, 0, -2, 0, 0, 0, 0, 0],
}


def square_cluster(length):
    """Momenta n (in units of 2 pi/length), permutations [g, K] and projectors of the length x length cluster."""
    momenta = list(itertools.product(range(length), repeat=2))
    permutations = np.array([[momenta.index(tuple(g @ k % length)) for k in momenta] for g in GROUP])
    matrices = np.zeros((8, len(momenta), len(momenta)))
    for g, permutation in enumerate(permutations):
        matrices[g, permutation, np.arange(len(momenta))] = 1
    projectors = {name: c[0] / 8 * np.einsum("g,gKL->KL", c, matrices) for name, c in CHARACTERS.items()}
    return np.array(momenta), permutations, projectors


def random_problem(length, n, rng, strength=1.0):
    """chi0_cluster, chi0_lattice [K, w > 0], a symmetric vertex [K, w, K', w'] for w of both signs, and its G4."""
    momenta, permutations, projectors = square_cluster(length)
    size = len(momenta)
    w = np.arange(n) + 0.5
    orbits = rng.normal(size=(2, size))[:, permutations].mean(axis=1)  # constant on the orbits of the point group
    cluster = np.exp(0.3 * orbits[0])[:, None] / (0.5 + w) ** 2
    lattice = cluster * np.exp(0.4 * orbits[1])[:, None]
    signed = np.concatenate([-w[::-1], w])
    vertex = np.zeros((size, 2 * n, size, 2 * n))
    for _ in range(6):
        pair = rng.normal(size=(size, size))
        pair = sum(pair[np.ix_(g, g)] for g in permutations) / 8
        even, odd = rng.normal(size=2)
        kernel = even / (1 + (signed[:, None] - signed) ** 2) + odd / (2 + (signed[:, None] + signed) ** 2)
        vertex += strength * (pair + pair.T)[:, None, :, None] * kernel[None, :, None, :] / 4
    both = np.concatenate([cluster[:, ::-1], cluster], axis=1)
    g4 = np.linalg.inv(np.diag(1 / both.ravel()) - vertex.reshape(size * 2 * n, -1)).reshape(vertex.shape)
    return cluster, lattice, vertex, g4, permutations, projectors


def both_signs(chi0):
    return np.concatenate([chi0[:, ::-1], chi0], axis=1)


@pytest.mark.parametrize("length, n", [(2, 5), (4, 3)])
def test_irreps_and_parities_together_are_the_whole_spectrum(length, n):
    cluster, lattice, vertex, g4, _, projectors = random_problem(length, n, np.random.default_rng(1))
    root = np.sqrt(both_signs(lattice).ravel())
    exact = np.linalg.eigvalsh(root[:, None] * vertex.reshape(len(root), -1) * root)
    found = np.concatenate([channel.eigenvalues for parity in (EVEN, ODD)
                            for channel in pairing(g4[:, n:], cluster, lattice, projectors, parity).values()])
    np.testing.assert_allclose(np.sort(found), exact, atol=1e-10)


def test_gap_functions_solve_the_equation_and_carry_their_irrep_and_parity():
    cluster, lattice, vertex, g4, permutations, projectors = random_problem(4, 3, np.random.default_rng(2))
    for parity in (EVEN, ODD):
        for name, channel in pairing(g4[:, 3:], cluster, lattice, projectors, parity).items():
            for value, gap in zip(channel.eigenvalues, channel.gaps):
                phi = np.concatenate([parity * gap[:, ::-1], gap], axis=1)
                applied = np.einsum("KwLv,Lv,Lv->Kw", vertex, both_signs(lattice), phi)
                np.testing.assert_allclose(applied, value * phi, atol=1e-8 * np.abs(phi).max())
                np.testing.assert_allclose(projectors[name] @ gap, gap, atol=1e-10 * np.abs(gap).max())
                assert np.max(gap) == pytest.approx(1)


def test_two_by_two_has_s_and_d_only():
    cluster, lattice, _, g4, _, projectors = random_problem(2, 4, np.random.default_rng(3))
    channels = pairing(g4[:, 4:], cluster, lattice, projectors)
    assert list(channels) == ["s", "d_x2y2"]
    assert len(channels["s"].eigenvalues) == 12 and len(channels["d_x2y2"].eigenvalues) == 4
    gap = channels["d_x2y2"].gap  # momenta (0,0), (0,pi), (pi,0), (pi,pi)
    np.testing.assert_allclose(gap[[0, 3]], 0, atol=1e-14)
    np.testing.assert_allclose(gap[1], -gap[2])


def test_without_a_vertex_nothing_pairs():
    momenta, _, projectors = square_cluster(2)
    cluster = np.random.default_rng(4).uniform(0.1, 1, (4, 3))
    cluster[2] = cluster[1]
    g4 = np.zeros((4, 3, 4, 6))
    for k, w in np.ndindex(4, 3):
        g4[k, w, k, 3 + w] = cluster[k, w]
    for channel in pairing(g4, cluster, 1.2 * cluster, projectors).values():
        np.testing.assert_allclose(channel.eigenvalues, 0, atol=1e-14)


def test_bare_repulsion_suppresses_s_pairing_and_leaves_d_alone():
    # Gamma = -U/(beta N_c): the only eigenvalue is -U T/N_c sum_k chi0(k)
    beta, u, size, n = 5.0, 4.0, 4, 6
    _, _, projectors = square_cluster(2)
    w = (2 * np.arange(n) + 1) * np.pi / beta
    lattice = np.broadcast_to(1 / (1 + w**2), (size, n))
    cluster = lattice / 1.1
    both = both_signs(cluster).ravel()
    g4 = np.linalg.inv(np.diag(1 / both) + u / (beta * size)).reshape(size, 2 * n, size, 2 * n)
    channels = pairing(g4[:, n:], cluster, lattice, projectors)
    assert channels["s"].eigenvalues[-1] == pytest.approx(-u / (beta * size) * both_signs(lattice).sum())
    np.testing.assert_allclose(channels["s"].eigenvalues[:-1], 0, atol=1e-12)
    np.testing.assert_allclose(channels["d_x2y2"].eigenvalues, 0, atol=1e-12)


# --- spurious eigenvalues
# -----------------------------------------------------------------------------------------


def divergent_problem(a, n=6):
    """The d-wave block of a 2x2 cluster whose A has the eigenvalue a beside ordinary ones."""
    _, _, projectors = square_cluster(2)
    rng = np.random.default_rng(5)
    w = np.arange(n) + 0.5
    cluster = np.broadcast_to(1 / (0.4 + w) ** 2, (4, n))
    lattice = cluster * (1 + 0.35 / (1 + w))
    frame, _ = np.linalg.qr(np.column_stack([1 / (1 + w) ** 3, rng.normal(size=(n, n - 1))]))
    values = np.r_[3.4, a, np.linspace(1.9, 1.1, n - 2)]
    block = (frame * values) @ frame.T * np.sqrt(cluster[0][:, None] * cluster[0])
    same = np.zeros((4, n, 4, n))
    for k in (0, 3):
        same[k, np.arange(n), k, np.arange(n)] = cluster[0]
    d = np.array([0, 1, -1, 0]) / np.sqrt(2)
    s = np.array([0, 1, 1, 0]) / np.sqrt(2)
    same += np.einsum("K,L,wv->KwLv", d, d, block) + np.einsum("K,L,wv->KwLv", s, s, np.diag(cluster[0]))
    g4 = np.concatenate([np.zeros_like(same), same], axis=3)
    return pairing(g4, cluster, lattice, projectors)["d_x2y2"]


def test_the_leading_eigenvalue_is_continuous_across_a_divergence_of_the_vertex():
    # a passes through zero: an eigenvalue leaves to -infinity and comes back from +infinity, the physical one
    # stays
    before, after = divergent_problem(1e-3), divergent_problem(-1e-3)
    assert before.spurious == 0 and after.spurious == 1
    assert before.eigenvalues[-1] < -500 and after.eigenvalues[0] > 500
    assert after.leading == pytest.approx(before.leading, abs=2e-3)
    leading = [divergent_problem(a).leading for a in (0.2, 0.1, 0.05, -0.05, -0.1, -0.2)]
    assert np.all(np.abs(np.diff(leading)) < 0.08)
    assert divergent_problem(-0.2).eigenvalues[0] > 4  # naming the largest eigenvalue lambda_d would be wrong


def test_physical_gap_next_to_a_divergence_has_one_sign():
    gap = divergent_problem(-0.02).gap[1] / divergent_problem(-0.02).gap[1, 0]
    assert np.all(gap > 0) and np.all(np.diff(gap) < 0)


def test_numbers_that_cannot_be_inverted_are_refused():
    cluster, lattice, _, g4, _, projectors = random_problem(2, 3, np.random.default_rng(6))
    with pytest.raises(RunError, match="singular or negative in irrep s"):
        pairing(np.zeros((4, 3, 4, 6)), cluster, lattice, projectors)
    g4[1, 3, 2, 4] = np.nan
    with pytest.raises(RunError, match="not finite"):
        pairing(g4[:, 3:], cluster, lattice, projectors)
    with pytest.raises(ValueError, match="both signs"):
        folded(np.zeros((4, 3, 4, 3)))
    with pytest.raises(ValueError, match="eigenvalues 0 and 1"):
        irrep_basis(np.diag([1.0, 0.5]))


# --- symmetrisation
# -----------------------------------------------------------------------------------------------


def test_symmetrising_keeps_what_is_symmetric_and_projects_what_is_not():
    *_, g4, permutations, _ = random_problem(4, 2, np.random.default_rng(7))
    g4 = g4[:, 2:]
    np.testing.assert_allclose(symmetrised(g4, permutations), g4, atol=1e-13)
    noisy = symmetrised(g4 + np.random.default_rng(8).normal(size=g4.shape), permutations)
    np.testing.assert_allclose(symmetrised(noisy, permutations), noisy, atol=1e-13)
    g = permutations[5]
    np.testing.assert_allclose(noisy[g][:, :, g], noisy, atol=1e-13)
    np.testing.assert_allclose(noisy[3, 1, 7, 3], noisy[7, 1, 3, 3])
    np.testing.assert_allclose(noisy[3, 0, 7, 3], noisy[7, 1, 3, 2])  # w' > 0: (w0, w1) against (w1, w0)
    np.testing.assert_allclose(noisy[3, 0, 7, 0], noisy[7, 1, 3, 1])  # w' < 0: (w0, -w1) against (w1, -w0)


# --- frequency window
# ---------------------------------------------------------------------------------------------


def test_half_a_window_bounds_the_error_of_the_window():
    # the full problem has 24 frequencies; smaller windows know only their part of G4
    n = 24
    cluster, lattice, _, g4, _, projectors = random_problem(2, n, np.random.default_rng(9), strength=0.5)
    exact = pairing(g4[:, n:], cluster, lattice, projectors)
    for m in (12, 8):
        small = g4[:, n : n + m, :, n - m : n + m]
        inputs = small, cluster[:, :m], lattice[:, :m]
        window, half = (pairing(*narrowed(*inputs, w), projectors) for w in (m, m // 2))
        for name in window:
            bound = abs(window[name].leading - half[name].leading)
            assert abs(window[name].leading - exact[name].leading) < bound


# --- any channel
# --------------------------------------------------------------------------------------------------


WHOLE = {"all": np.eye(4)}  # one block: no symmetry is used


def complex_problem(rng, n=5):
    """chi0_cluster, chi0_lattice [K, w], a vertex [K, w, K', w'] without any symmetry, and its G4."""
    cluster = rng.normal(size=(4, n)) + 1j * rng.normal(size=(4, n))
    lattice = cluster * (1 + 0.1 * rng.normal(size=(4, n)))
    vertex = 0.2 * (rng.normal(size=(4, n, 4, n)) + 1j * rng.normal(size=(4, n, 4, n)))
    g4 = np.linalg.inv(np.diag(1 / cluster.ravel()) - vertex.reshape(4 * n, 4 * n)).reshape(vertex.shape)
    return cluster, lattice, vertex, g4


def test_ladder_recovers_a_complex_vertex():
    cluster, lattice, vertex, g4 = complex_problem(np.random.default_rng(10))
    flat = irreducible_vertex(g4.reshape(20, 20), cluster.ravel())
    np.testing.assert_allclose(flat, vertex.reshape(20, 20), atol=1e-12)
    modes = ladder(g4, cluster, lattice, WHOLE)["all"]
    assert np.all(np.diff(modes.eigenvalues.real) <= 0)
    applied = np.einsum("KwLv,Lv,iLv->iKw", vertex, lattice, modes.vectors)
    np.testing.assert_allclose(applied, modes.eigenvalues[:, None, None] * modes.vectors, atol=1e-10)
    np.testing.assert_allclose(np.abs(modes.vectors).max(axis=(1, 2)), 1)


def test_a_singular_function_is_an_error_and_following_one_without_a_solution_is_none():
    cluster, lattice, _, g4 = complex_problem(np.random.default_rng(15))
    singular = g4.copy()
    singular[0, 1] = singular[:, :, 0, 1] = 0
    with pytest.raises(RunError, match="singular"):
        ladder(singular, cluster, lattice, WHOLE)
    with pytest.raises(RunError, match="not finite"):
        ladder(g4 * np.inf, cluster, lattice, WHOLE)
    full, none = ladder(g4, cluster, lattice, WHOLE)["all"], unsolved(cluster.shape, WHOLE)["all"]
    for modes in (none.following(full, 3), full.following(none, 3), none.following(none, 3)):
        assert modes.eigenvalues.shape == (3,) and modes.vectors.shape == (3, *cluster.shape)
    assert np.isnan(none.following(full, 3).eigenvalues).all()


def test_ladder_and_pairing_agree_at_zero_transfer():
    cluster, lattice, _, g4, _, projectors = random_problem(2, 4, np.random.default_rng(11))
    modes = ladder(g4, both_signs(cluster), both_signs(lattice), projectors)
    both = [pairing(g4[:, 4:], cluster, lattice, projectors, parity) for parity in (EVEN, ODD)]
    for name in both[0]:
        parts = np.concatenate([channels[name].eigenvalues for channels in both])
        np.testing.assert_allclose(modes[name].eigenvalues, np.sort(parts)[::-1], atol=1e-10)
        outside = (np.eye(4) - projectors[name]) @ modes[name].vectors
        np.testing.assert_allclose(outside, 0, atol=1e-12)


def test_modes_are_followed_through_a_crossing():
    cluster, lattice, _, g4 = complex_problem(np.random.default_rng(14))
    full = ladder(g4, cluster, lattice, WHOLE)["all"]
    swapped = Modes(full.eigenvalues[[2, 0, 1, *range(3, 20)]] + 1e-3, full.vectors[[2, 0, 1, *range(3, 20)]] * 1j)
    followed = swapped.following(full, 3)
    np.testing.assert_allclose(followed.eigenvalues, full.eigenvalues[:3] + 1e-3)
    np.testing.assert_allclose(followed.vectors, full.vectors[:3] * 1j)


def test_stoner_criterion_in_the_magnetic_channel():
    # chi0 = -G(k) G(k+q) summed is the bare susceptibility; Gamma = U T/N_c diverges where U chi0 = 1
    beta, size, n = 4.0, 4, 8
    w = (2 * np.arange(-n, n) + 1) * np.pi / beta
    energies = np.array([-1.0, 0.3, -0.3, 1.0])  # with q: e(k+q) = -e(k)
    chi0 = -1 / (1j * w - energies[:, None]) / (1j * w + energies[:, None])
    u = beta * size / chi0.sum().real
    g4 = np.linalg.inv(np.diag(1 / chi0.ravel()) - u / (beta * size)).reshape(size, 2 * n, size, 2 * n)
    assert ladder(g4, chi0, chi0, WHOLE)["all"].eigenvalues[0] == pytest.approx(1)


# --- errors
# -------------------------------------------------------------------------------------------------------


def test_jackknife_error_of_the_eigenvalue_is_the_scatter_of_independent_runs():
    # 150 replicas of 32 noisy bins with a sign; chi-squared error of a variance: 1/sqrt(2 * 149), 4 standard
    # errors
    rng = np.random.default_rng(12)
    cluster, lattice, _, g4, permutations, projectors = random_problem(2, 4, rng, strength=0.3)
    rng = np.random.default_rng(13)
    g4 = g4[:, 4:]
    exact = pairing(g4, cluster, lattice, projectors)["d_x2y2"].leading

    def chain(sign, signed_g4):
        pairs = symmetrised(sign_average(sign, signed_g4), permutations)
        return pairing(pairs, cluster, lattice, projectors)["d_x2y2"].leading

    scale = 0.05 * np.sqrt(cluster[:, :, None, None] * both_signs(cluster))
    found, errors = [], []
    for _ in range(150):
        sign = 0.7 + 0.1 * rng.normal(size=32)
        bins = sign[:, None, None, None, None] * (g4 + scale * rng.normal(size=(32, *g4.shape)))
        result = jackknife(chain, sign, bins, weights=np.ones(32), keep=False)
        found.append(float(result.mean))
        errors.append(float(result.error))
    ratio = np.mean(np.square(errors)) / np.var(found, ddof=1)
    assert abs(ratio - 1) < 4 * np.sqrt(2 / 149)
    assert abs(np.mean(found) - exact) < 4 * np.std(found) / np.sqrt(150) + np.std(found) ** 2
