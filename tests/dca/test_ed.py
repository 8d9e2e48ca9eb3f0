"""Exact diagonalisation against closed formulas and against itself in another basis."""

import numpy as np
import pytest

from plaq.dca.solver.ed import ExactCluster, fourier_matrix
from plaq.errors import InputError

DIMER = np.array([[0.0, -1.0], [-1.0, 0.0]])
DIMER_FOURIER = fourier_matrix([[0.0], [np.pi]], [[0], [1]])
PLAQUETTE_SITES = [[0, 0], [1, 0], [0, 1], [1, 1]]
PLAQUETTE_FOURIER = fourier_matrix(np.pi * np.array(PLAQUETTE_SITES), PLAQUETTE_SITES)


def plaquette(t=1.0, t_prime=0.0):
    """2x2 with periodic boundaries: each neighbour is reached twice, each diagonal neighbour four times."""
    h = np.zeros((4, 4))
    for i, j in ((0, 1), (0, 2), (1, 3), (2, 3)):
        h[i, j] = h[j, i] = -2 * t
    for i, j in ((0, 3), (1, 2)):
        h[i, j] = h[j, i] = -4 * t_prime
    return h


def fermionic(beta, count):
    return (2 * np.arange(-count, count) + 1) * np.pi / beta


def fermi(e, beta):
    return 1 / (np.exp(beta * e) + 1)


@pytest.mark.parametrize("U, mu, beta", [(4.0, 1.3, 3.0), (6.0, 3.0, 10.0), (0.0, -0.4, 2.0)])
def test_dimer_partition_function(U, mu, beta):
    """Levels by N: 0; +-1 (twice each); triplet 0, charge singlet U, U/2 -+ sqrt(U^2/4 + 4); U +- 1; 2U."""
    root = np.sqrt(U**2 / 4 + 4)
    levels = [(0, 0)] + 2 * [(1, -1), (1, 1)] + 3 * [(2, 0)] + [(2, U), (2, U / 2 - root), (2, U / 2 + root)]
    levels += 2 * [(3, U - 1), (3, U + 1)] + [(4, 2 * U)]
    n, e = np.array(levels, float).T
    boltzmann = np.exp(-beta * (e - mu * n))
    for cluster in (ExactCluster(DIMER, U, mu, beta), ExactCluster(DIMER, U, mu, beta, DIMER_FOURIER)):
        assert cluster.log_z == pytest.approx(np.log(boltzmann.sum()), abs=1e-12)
        assert cluster.density == pytest.approx(n @ boltzmann / boltzmann.sum() / 2, abs=1e-12)
        assert cluster.total_energy == pytest.approx(e @ boltzmann / boltzmann.sum() / 2, abs=1e-12)


def test_atomic_limit():
    """Nc = 1: G = (1 - n/2)/(iw + mu) + (n/2)/(iw + mu - U), chi_s = beta (n/2 - D)/2."""
    U, mu, beta = 5.0, 1.1, 3.0
    atom = ExactCluster([[0.0]], U, mu, beta)
    z = 1 + 2 * np.exp(beta * mu) + np.exp(beta * (2 * mu - U))
    n, double = 2 * (np.exp(beta * mu) + np.exp(beta * (2 * mu - U))) / z, np.exp(beta * (2 * mu - U)) / z
    w = fermionic(beta, 20)
    assert atom.density == pytest.approx(n, abs=1e-13)
    assert atom.double_occupancy == pytest.approx(double, abs=1e-13)
    assert atom.potential_energy == pytest.approx(U * double)
    assert atom.kinetic_energy == pytest.approx(0, abs=1e-13)
    green = (1 - n / 2) / (1j * w + mu) + n / 2 / (1j * w + mu - U)
    np.testing.assert_allclose(atom.green_iw(w)[0, 0], green, atol=1e-13)
    assert atom.spin_correlation()[0, 0] == pytest.approx((n / 2 - double) / 2)
    assert atom.spin_susceptibility()[0, 0] == pytest.approx(beta * (n / 2 - double) / 2)
    assert atom.charge_susceptibility()[0, 0] == pytest.approx(beta * (n + 2 * double - n**2))


def test_free_electrons():
    beta, mu = 4.0, -0.7
    cluster = ExactCluster(plaquette(1.0, 0.1), 0.0, mu, beta, PLAQUETTE_FOURIER)
    energy = np.array([-4 - 0.4, 0.4, 0.4, 4 - 0.4])
    w, tau, f = fermionic(beta, 5), np.linspace(0, beta, 7), fermi(energy - mu, beta)
    g = cluster.to_momentum(cluster.green_iw(w))
    np.testing.assert_allclose(g, 1 / (1j * w + mu - energy[:, None]), atol=1e-12)
    np.testing.assert_allclose(cluster.self_energy(w), 0, atol=1e-10)
    g_tau = -(1 - f)[:, None] * np.exp(-np.outer(energy - mu, tau))
    np.testing.assert_allclose(cluster.to_momentum(cluster.green_tau(tau)), g_tau, atol=1e-12)
    assert cluster.density == pytest.approx(f.mean() * 2)
    assert cluster.kinetic_energy == pytest.approx(2 * (energy * f).mean())
    assert cluster.double_occupancy == pytest.approx(f.mean() ** 2)
    # chi_s(q) = -1/(2 Nc) sum_K (f(K) - f(K+q))/(e(K) - e(K+q)), charge four times that
    chi = cluster.to_momentum(cluster.spin_susceptibility()).real
    slope = beta * f * (1 - f)
    lindhard = [slope.mean() / 2, (f[0] - f[3]) / (energy[3] - energy[0]) / 4 + slope[1] / 4]
    np.testing.assert_allclose(chi[[0, 3]], lindhard, atol=1e-12)
    np.testing.assert_allclose(cluster.charge_susceptibility(), 4 * cluster.spin_susceptibility(), atol=1e-12)


def test_momentum_basis_agrees_with_site_basis():
    args = plaquette(1.0, -0.1), 6.0, 1.7, 4.0
    sites, momenta = ExactCluster(*args), ExactCluster(*args, PLAQUETTE_FOURIER)
    w, tau = fermionic(4.0, 3), np.linspace(0, 4, 5)
    for name in ("log_z", "density", "double_occupancy", "kinetic_energy", "total_energy"):
        assert getattr(sites, name) == pytest.approx(getattr(momenta, name), abs=1e-12)
    np.testing.assert_allclose(sites.self_energy(w), momenta.self_energy(w), atol=1e-10)
    np.testing.assert_allclose(sites.green_tau(tau), momenta.green_tau(tau), atol=1e-12)
    for name in ("spin_correlation", "charge_correlation", "spin_susceptibility", "charge_susceptibility"):
        np.testing.assert_allclose(getattr(sites, name)(), getattr(momenta, name)(), atol=1e-11)


def test_open_chain_of_three_sites():
    """Not translation invariant: equation of motion, sum rules of energy and charge."""
    h = np.array([[0.3, -1, 0], [-1, 0, -0.8], [0, -0.8, -0.2]])
    U, mu, beta = 5.0, 2.1, 3.0
    c = ExactCluster(h, U, mu, beta)
    assert c.site_density.mean() == pytest.approx(c.density)
    assert 2 * np.sum(h * (c.green_tau([0.0])[..., 0] + np.eye(3))) / 3 == pytest.approx(c.kinetic_energy)
    step = 1e-4
    compressibility = (c.at(mu=mu + step).density - c.at(mu=mu - step).density) / (2 * step)
    assert c.charge_susceptibility().sum() / 3 == pytest.approx(compressibility, abs=1e-7)
    force = (ExactCluster(h, U + step, mu, beta).log_z - ExactCluster(h, U - step, mu, beta).log_z) / (2 * step)
    assert -force / beta / 3 == pytest.approx(c.double_occupancy, abs=1e-7)
    w, half = np.array([401.0]), c.site_density / 2  # Sigma = U n_i/2 + U^2 (n_i/2)(1 - n_i/2)/(iw) + O(w^-2)
    sigma = np.diagonal(c.self_energy(w)[..., 0])
    np.testing.assert_allclose(sigma.imag, -(U**2) * half * (1 - half) / w, rtol=1e-3)
    np.testing.assert_allclose(sigma.real, U * half, atol=1e-3)


def test_density_is_found():
    c = ExactCluster(plaquette(), 6.0, 0.0, 10.0, PLAQUETTE_FOURIER).at_density(0.95)
    assert c.density == pytest.approx(0.95, abs=1e-10)
    assert ExactCluster(DIMER, 4.0, 0.0, 5.0).at_density(1.0).mu == pytest.approx(2.0, abs=1e-8)


@pytest.mark.parametrize("change, key", [
    ({"hopping": [[0.0, 1.0], [0.0, 0.0]]}, "hopping"), ({"hopping": np.zeros((9, 9))}, "hopping"),
    ({"beta": 0.0}, "beta"), ({"fourier": np.ones((2, 2))}, "fourier"),
    ({"hopping": [[0.0, 1.0], [1.0, 0.5]]}, "fourier")])
def test_bad_input_is_named(change, key):
    with pytest.raises(InputError, match=key):
        ExactCluster(**{"hopping": DIMER, "interaction": 4.0, "mu": 2.0, "beta": 2.0, "fourier": DIMER_FOURIER,
                        **change})
