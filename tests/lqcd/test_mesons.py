"""Gamma matrices, propagators and mesons."""

import numpy as np
import pytest

from plaq import lqcd
from plaq.errors import InputError
from plaq.lqcd import gamma
from plaq.lqcd.analysis.correlator_fits import fold
from plaq.lqcd.analysis.least_squares import Problem
from plaq.lqcd.analysis.models import correlator_model
from plaq.lqcd.measurements.correlators import pcac_mass

EXTENTS, KAPPA, MU, THETA = (8, 4, 2, 4), 0.115, 0.2, (1, 0, 0.5, 0)


def momenta():
    """[mu, t, x, y, z]: 2 pi (n + theta / 2) / L."""
    axes = [2 * np.pi * (np.arange(n) + theta / 2) / n for n, theta in zip(EXTENTS, THETA)]
    return np.stack(np.meshgrid(*axes, indexing="ij"))


def free_propagator():
    """[t, x, y, z, spin, source spin] from the origin, by M(p) = 1 - 2 kappa sum (cos p - i gamma sin p) + 2 i kappa mu
    gamma5."""
    p = momenta()
    M = ((1 - 2 * KAPPA * np.cos(p).sum(axis=0))[..., None, None] * np.eye(4)
         + 2j * KAPPA * np.einsum("mtxyz,mab->txyzab", np.sin(p), gamma.GAMMA) + 2j * KAPPA * MU * gamma.GAMMA5)
    S = np.fft.ifftn(np.linalg.inv(M), axes=range(4))  # phases of theta: exp(i pi theta x / L)
    turn = [np.exp(1j * np.pi * theta * np.arange(n) / n) for n, theta in zip(EXTENTS, THETA)]
    return S * np.einsum("t,x,y,z->txyz", *turn)[..., None, None]


@pytest.fixture(scope="module")
def propagator():
    matrix = lqcd.Wilson(lqcd.GaugeField(lqcd.Lattice(EXTENTS)), KAPPA, MU, THETA)
    return lqcd.point_propagator(matrix, residual=1e-13)


def test_the_algebra():
    for m in range(4):
        for n in range(4):
            both = gamma.GAMMA[m] @ gamma.GAMMA[n] + gamma.GAMMA[n] @ gamma.GAMMA[m]
            assert np.array_equal(both, 2 * (m == n) * np.eye(4))
    assert np.array_equal(gamma.GAMMA5, np.diag([1, 1, -1, -1]))
    spanned = np.array([matrix.ravel() for matrix in gamma.STRUCTURES.values()])
    assert len(spanned) == 16 == np.linalg.matrix_rank(spanned)


def test_the_way_to_degrand_and_rossi():
    """Their matrices as QDP++ has them: gamma_1 ... gamma_4 = x, y, z, t."""
    theirs = {"x": [[0, 0, 0, 1j], [0, 0, 1j, 0], [0, -1j, 0, 0], [-1j, 0, 0, 0]],
              "y": [[0, 0, 0, -1], [0, 0, 1, 0], [0, 1, 0, 0], [-1, 0, 0, 0]],
              "z": [[0, 0, 1j, 0], [0, 0, 0, -1j], [-1j, 0, 0, 0], [0, 1j, 0, 0]],
              "t": [[0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]]}
    S = gamma.DEGRAND_ROSSI
    for name, matrix in theirs.items():
        assert np.array_equal(S @ gamma.STRUCTURES[f"gamma{name}"] @ S.conj().T, matrix)
    psi = np.random.default_rng(1).normal(size=(5, 4, 3))
    there = gamma.to_basis(S, psi)
    assert np.allclose(there[2], S @ psi[2]) and np.allclose(gamma.to_basis(S.conj().T, there), psi)


def test_a_free_propagator_is_that_of_momentum_space(propagator):
    """From the origin as it jumps at boundaries, and ``local`` periodic in space."""
    free = np.einsum("txyzab,ij->txyzaibj", free_propagator(), np.eye(3))
    assert np.allclose(propagator.jumping(), free, rtol=0, atol=1e-12)
    turn = np.einsum("x,y,z->xyz", *[np.exp(-1j * np.pi * theta * np.arange(n) / n)
                                     for n, theta in zip(EXTENTS[1:], THETA[1:])])
    assert np.allclose(propagator.local, turn[..., None, None, None, None] * free, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", gamma.STRUCTURES)
def test_free_mesons(propagator, name):
    """tr [G S G' g5 S^+ g5], G' = g0 G^+ g0, with numpy's own loops over the free propagator."""
    S, G = free_propagator(), gamma.STRUCTURES[name]
    other = gamma.GAMMA[0] @ G.conj().T @ gamma.GAMMA[0]
    expected = -3 * np.array([[np.trace(G @ s @ other @ gamma.GAMMA5 @ s.conj().T @ gamma.GAMMA5).real for s in slice_]
                              for slice_ in S.reshape(EXTENTS[0], -1, 4, 4)]).sum(axis=1)
    assert np.allclose(lqcd.meson_correlator(propagator, name), expected, rtol=0, atol=1e-10)
    assert name != "gamma5" or (expected > 0).all()


def test_a_source_anywhere_gives_the_same_on_average():
    """Free fields: exactly, for t counted from the source."""
    matrix = lqcd.Wilson(lqcd.GaugeField(lqcd.Lattice(EXTENTS)), KAPPA, MU, THETA)
    here, there = (lqcd.meson_correlator(lqcd.point_propagator(matrix, source, 1e-13))
                   for source in ((0, 0, 0, 0), (3, 1, 1, 2)))
    assert np.allclose(here, there, rtol=1e-10)
    with pytest.raises(InputError, match="not on a lattice"):
        lqcd.point_propagator(matrix, (8, 0, 0, 0))


def test_noise_gives_mesons_of_points_on_average():
    """Free fields, where every site is the same; four standard errors of twenty noises."""
    matrix = lqcd.Wilson(lqcd.GaugeField(lqcd.Lattice(EXTENTS)), KAPPA, MU, THETA)
    point = lqcd.point_propagator(matrix, (0, 0, 0, 0), 1e-8)
    for name in ("gamma5", "gammax"):
        values = np.array([lqcd.meson_correlator(lqcd.noise_propagator(matrix, number % 8, 1, number, 1e-7), name)
                           for number in range(20)])
        exact, error = lqcd.meson_correlator(point, name), values.std(axis=0) / np.sqrt(19)
        assert (np.abs(values.mean(axis=0) - exact) < 4 * error
                + 1e-9).all() and (error[:2] < 0.1 * np.abs(exact[:2])).all()
    with pytest.raises(InputError, match="is not on a lattice"):
        lqcd.noise_propagator(matrix, 8, 1)


def test_the_axial_current_of_free_quarks_has_their_mass():
    """m = 1/(2 kappa) - 4 to first order in a; its correlator with the pseudoscalar is odd under t -> T - t."""
    matrix = lqcd.Wilson(lqcd.GaugeField(lqcd.Lattice((24, 4, 4, 4))), 0.1225, theta=(1, 0, 0, 0))
    propagator = lqcd.point_propagator(matrix, residual=1e-12)
    pp = lqcd.meson_correlator(propagator, "gamma5")
    ap = lqcd.meson_correlator(propagator, "gammatgamma5", source="gamma5")
    assert np.allclose(ap[1:], -ap[:0:-1], rtol=1e-8, atol=1e-12)
    mass = 1 / (2 * 0.1225) - 4
    assert np.allclose(pcac_mass(np.stack([pp, ap], axis=1))[2:7], mass, rtol=0.1)


def cosh_mass(correlator, first):
    """The mass of an unweighted fit from this t on; nan if there is none."""
    T = len(correlator)
    times = np.arange(first, T // 2 + 1)
    best = Problem(correlator_model("cosh", 1, T), times, np.eye(len(times))).minimum(fold(correlator)[first:])
    return np.nan if best is None else best.q[0]


def test_a_cosh_is_fitted_where_there_is_one():
    t = np.arange(16)
    correlator = 3 * np.cosh(0.37 * (t - 8))
    assert np.isclose(cosh_mass(correlator, 2), 0.37, rtol=1e-7)
    excited = correlator + 40 * np.cosh(1.5 * (t - 8)) / np.cosh(1.5 * 8)
    assert cosh_mass(excited, 0) > 0.4 and np.isclose(cosh_mass(excited, 6), 0.37, atol=2e-3)
    assert np.isnan(cosh_mass(8.0 - np.abs(t - 8) ** 2 / 8, 2))


def test_names_that_are_none(propagator):
    with pytest.raises(InputError, match="'gamma6' is not one of 1, gamma5, gammat"):
        lqcd.meson_correlator(propagator, "gamma6")
