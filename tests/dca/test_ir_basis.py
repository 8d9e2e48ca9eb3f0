"""Basis of the intermediate representation against its definition, and against sparse-ir where that is installed."""

import numpy as np
import pytest

from plaq.dca.lattice.ir_basis import Basis, quarter_turns
from plaq.dca.lattice.matsubara import Mesh

CUTOFFS = [1.4, 14.0, 280.0, 2e4]
KINDS = [True, False]  # fermions


def points_and_weights():
    """Gauss-Legendre points of [0, 1], dense at both ends."""
    edges = np.concatenate([[0.0], 0.5 ** np.arange(30, 0, -1)])
    t, weights = np.polynomial.legendre.leggauss(24)
    z = (edges[:-1, None] + np.diff(edges)[:, None] * (1 + t) / 2).ravel()
    weights = (np.diff(edges)[:, None] * weights / 2).ravel()
    return np.concatenate([z, 1 - z]), np.tile(weights, 2)


@pytest.mark.parametrize("cutoff", CUTOFFS)
def test_functions_are_orthonormal_and_have_the_parity_of_their_number(cutoff):
    beta = 3.0
    basis, (tau, weights) = Basis(beta, cutoff / beta, 1e-11), points_and_weights()
    U = basis.u(beta * tau)
    np.testing.assert_allclose((beta * weights * U) @ U.T, np.eye(basis.size), atol=1e-9)
    sign = (-1.0) ** np.arange(basis.size)[:, None]
    np.testing.assert_allclose(basis.u(np.array([0.0])), sign * basis.u(np.array([beta])))


@pytest.mark.parametrize("cutoff", CUTOFFS[1:])
def test_a_pole_is_the_sum_over_its_coefficients(cutoff):
    """e^(-tau w)/(1 + e^(-beta w)) is met to eps of the largest U_l, that at the ends."""
    basis, (tau, weights) = Basis(1.0, cutoff, 1e-11), points_and_weights()
    U = basis.u(tau)
    for w in cutoff * np.array([-1, -0.3, 0.0, 1e-3, 0.7]):
        pole = np.exp(-tau * w - np.logaddexp(0, -w))
        assert np.abs((U * weights) @ pole @ U - pole).max() < 10 * 1e-11 * np.abs(U).max() ** 2


@pytest.mark.parametrize("fermions", KINDS)
def test_transforms_are_integrals_over_imaginary_time(fermions):
    basis, (tau, weights) = Basis(2.0, 20.0, 1e-8, fermions), points_and_weights()
    m = np.array([1, 7, 21]) if fermions else np.array([0, 6, 20])
    expected = 2.0 * basis.u(2.0 * tau) * weights @ np.exp(1j * np.pi * np.outer(tau, m))
    np.testing.assert_allclose(basis.uhat(m), expected, atol=1e-10)
    np.testing.assert_allclose(basis.uhat(-m), expected.conj(), atol=1e-10)


def test_transforms_at_high_frequencies_fall_as_the_steps_at_the_ends():
    """U^_l(iw) -> -(U_l(beta) + U_l(0))/(iw) for fermions, up to terms 1/w^2."""
    basis = Basis(5.0, 40.0, 1e-10)
    steps = basis.u(np.array([0.0, 5.0])).sum(axis=1)
    for m in (10**6 + 1, 10**8 + 1):
        omega = m * np.pi / 5
        assert np.abs(basis.uhat([m])[:, 0] * 1j * omega + steps).max() < 1e3 * np.abs(steps).max() * 40 / omega


def test_a_smaller_eps_than_double_precision_has_is_refused():
    with pytest.raises(ValueError, match="eps = 1e-12 is below 1e-11"):
        Basis(1.0, 10.0, 1e-12)


def test_quarter_turns_are_exact_for_large_numbers():
    np.testing.assert_allclose(quarter_turns(np.array([1e15 + 1, 4e15 + 2, -1])), [1j, -1, -1j], atol=1e-15)


@pytest.mark.parametrize("fermions", KINDS)
@pytest.mark.parametrize("eps", [1e-6, 1e-8, 1e-11])
@pytest.mark.parametrize("cutoff", [0.01, 1.4, 14.0, 3e3, 1e6])
def test_there_are_as_many_sampling_points_as_functions_or_one_more(cutoff, eps, fermions):
    basis = Basis(1.0, cutoff, eps, fermions)
    points = basis.sampling_points()
    assert np.all(np.diff(points) > 0) and np.all(points % 2 == fermions)
    assert 2 * len(points) - (not fermions) - basis.size in (0, 1)


@pytest.mark.parametrize("eps", [1e-6, 1e-8, 1e-11])
@pytest.mark.parametrize("temperature", [10.0, 1.0, 0.1, 1e-3, 1e-5])
def test_exact_functions_of_several_poles_are_met_to_eps(temperature, eps):
    """As the docstring of Mesh says: f(iw) to about eps, f(tau) to 10 eps, 30 eps for a pole at the cutoff."""
    beta, wmax = 1 / temperature, 20.0
    m = Mesh(beta, wmax, eps)
    poles = np.array([-13.0, -2.5, -1e-3, 0.0, 0.4, 9.0, 17.0])
    weights = np.array([0.1, 0.2, 0.15, 0.1, 0.2, 0.2, 0.05])
    n, tau = np.concatenate([np.arange(200), [10**4, 10**6]]), np.linspace(0, beta, 101)
    green_tau = lambda poles: -np.exp(-np.multiply.outer(poles, tau) - np.logaddexp(0, -beta * poles)[..., None])
    values = (weights / (1j * m.omega[:, None] - poles)).sum(axis=1)
    exact = (weights / (1j * m.frequency(n)[:, None] - poles)).sum(axis=1)
    assert np.abs(m.at_frequencies(values, n) - exact).max() < 2 * eps * np.abs(exact).max()
    assert np.abs(m.at_tau(values, tau) - weights @ green_tau(poles)).max() < 10 * eps
    edge = np.array([-wmax, wmax])
    assert np.abs(m.at_tau(1 / (1j * m.omega - edge[:, None]), tau) - green_tau(edge)).max() < 30 * eps


@pytest.mark.parametrize("fermions", KINDS)
@pytest.mark.parametrize("cutoff, eps", [(10.0, 1e-8), (280.0, 1e-8), (280.0, 1e-11), (2e4, 1e-8)])
def test_basis_is_that_of_sparse_ir(cutoff, eps, fermions):
    sparse_ir = pytest.importorskip("sparse_ir", reason="sparse-ir has no wheel for this machine")
    known = sparse_ir.SVEResult(sparse_ir.LogisticKernel(cutoff), eps, work_dtype="float64")
    oracle = sparse_ir.FiniteTempBasis("F" if fermions else "B", 1.0, cutoff, eps, sve_result=known)
    basis = Basis(1.0, cutoff, eps, fermions)
    points = basis.sampling_points()
    assert basis.size == oracle.size
    assert len(points) == len(oracle.default_matsubara_sampling_points(positive_only=True))
    s = known.s[: basis.size]
    np.testing.assert_allclose(basis.singular_values / basis.singular_values[0], s / s[0], atol=1e-10)
    half = basis.size // 2  # of later ones, both programs have as many digits as s_l has above rounding
    tau = np.linspace(0, 1, 65)
    U, U_known, transform, transform_known = basis.u(tau), oracle.u(tau), basis.uhat(points), oracle.uhat(points)
    for mine, other in ((U, U_known), (transform, transform_known)):
        scale = np.abs(other).max(axis=1, keepdims=True)
        assert np.abs((mine - other) / scale)[:half].max() < 1e-8
        assert np.abs((mine - other) / scale).max() < 1e-16 / eps * 100
