"""Algebra of functions of one band and of matrices of orbitals."""

import numpy as np
import pytest

from plaq.dca.lattice import matsubara
from plaq.dca.lattice.algebra import CAUSAL, SCALARS, Matrices
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.hopping import Lattice

RNG = np.random.default_rng(5)
CHAIN = Cluster(Lattice.square(), [[3, 0], [0, 1]])
ONE, TWO = (Matrices(Cluster(Lattice.square(), [[2, 0], [0, 2]]), orbitals) for orbitals in (1, 2))


def random(*shape):
    return RNG.normal(size=shape) + 1j * RNG.normal(size=shape)


def as_matrix(f):
    """[..., K, w] of one band as [..., S, K, a, b, w]."""
    return f[..., None, :, None, None, :]


def test_matrices_of_one_orbital_are_the_numbers_of_one_band():
    g, m, sigma = random(4, 6), random(4, 6), random(4, 6)
    omega = np.arange(1.0, 7)
    for ours, theirs in [
            (ONE.dyson(as_matrix(g), as_matrix(m), 0.3), SCALARS.dyson(g, m, 0.3)),
            ([ONE.reduced(as_matrix(m), as_matrix(g))], [SCALARS.reduced(m, g)]),
            ([ONE.over(as_matrix(m), as_matrix(g))], [SCALARS.over(m, g)]),
            ([ONE.causal(as_matrix(sigma), omega)], [SCALARS.causal(sigma, omega)]),
            ([ONE.number(RNG.random(3)).sum() * 0], [0])]:
        for a, b in zip(ours, theirs):
            np.testing.assert_allclose(np.squeeze(a), b, atol=1e-12)


def test_the_equation_of_dyson_holds_for_matrices():
    g0, m, shift = random(2, 4, 2, 2, 6), random(2, 4, 2, 2, 6), random(2, 1, 2, 2, 1)
    g, sigma = TWO.dyson(g0, m, shift)
    np.testing.assert_allclose(TWO.inverse(g), TWO.inverse(g0) + shift - sigma, atol=1e-9)
    np.testing.assert_allclose(TWO.reduced(g0 - g, g0), m, atol=1e-9)


def test_the_causal_part_has_no_eigenvalue_above_the_cut():
    omega = np.arange(1.0, 7)
    sigma = random(1, 4, 2, 2, 6)
    cut = TWO.causal(sigma, omega)
    part = np.moveaxis((cut - TWO.adjoint(cut)) / 2j, -1, -3)
    assert np.all(np.linalg.eigvalsh(part) <= CAUSAL * omega[:, None] + 1e-12)
    np.testing.assert_allclose(cut + TWO.adjoint(cut), sigma + TWO.adjoint(sigma), atol=1e-12)
    np.testing.assert_allclose(TWO.causal(cut, omega), cut, atol=1e-12)
    small = 1j * 0.05 * TWO.at_frequencies_of(omega) * np.ones((1, 4, 1, 1, 1))
    np.testing.assert_array_equal(TWO.causal(small, omega), small)


def test_a_function_is_projected_cell_by_cell():
    """G of two orbitals joined by 1 + exp(-iK)/2 is complex in imaginary time at K, and real between cells."""
    algebra, mesh = Matrices(CHAIN, 2), matsubara.mesh(4.0, 6.0)
    h = np.zeros((1, 3, 2, 2, 1), complex)
    h[0, :, 0, 1, 0] = 1 + np.exp(-1j * CHAIN.momenta[:, 0]) / 2
    h += algebra.adjoint(h)
    g = algebra.inverse(algebra.at_frequencies_of(1j * mesh.omega + 0.2) - h)
    np.testing.assert_allclose(algebra.fitted(mesh, g), g, atol=1e-7)
    between = algebra.to_momenta(mesh.at_frequencies(algebra.to_cells(g), [-3, 40]))
    z = algebra.at_frequencies_of(1j * mesh.frequency([-3, 40]) + 0.2)
    np.testing.assert_allclose(between, algebra.inverse(z - h), atol=1e-7)


def test_a_number_times_the_unit_matrix_is_the_neutral_element():
    f = random(3, 1, 4, 2, 2, 5)
    np.testing.assert_allclose(TWO.times(TWO.number(np.ones(3)), f), f)
    np.testing.assert_allclose(TWO.over(f, TWO.number(2.0) + 0 * f), f / 2)
    assert SCALARS.times(2.0, 3.0) == pytest.approx(6.0)
