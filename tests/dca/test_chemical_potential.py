import numpy as np
import pytest
import synthetic

from plaq.dca.lattice.chemical_potential import cutoff, density, find_mu, free_mu
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.coarse_graining import CoarseGraining
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.matsubara import frequency_cutoff, mesh
from plaq.errors import RunError

PLAQUETTE = [[2, 0], [0, 2]]


def _setting(lattice, u, temperature, vectors=PLAQUETTE, isolated=False):
    coarse = CoarseGraining(Cluster(lattice, vectors), isolated)
    coarse.prepare(np.pi * temperature)
    return coarse, mesh(1 / temperature, frequency_cutoff(lattice, u))


@pytest.mark.parametrize("temperature", [1.0, 0.1, 0.07])
@pytest.mark.parametrize("mu", [-3.0, -0.6, 0.0, 2.0])
def test_density_of_free_electrons(temperature, mu):
    lattice = Lattice.square(1, -0.3)
    coarse, m = _setting(lattice, 0.0, temperature)
    k = 2 * np.pi * np.arange(400) / 400
    eps = lattice.dispersion(np.stack(np.meshgrid(k, k), axis=-1))
    exact = np.mean(1 - np.tanh((eps - mu) / (2 * temperature)))
    sigma = np.zeros((4, len(m.omega)))
    assert density(mu, coarse, m, sigma) == pytest.approx(exact, abs=5e-8)
    assert find_mu(exact, coarse, m, sigma, guess=0.7) == pytest.approx(mu, abs=3e-6)


@pytest.mark.parametrize("target", [0.05, 0.5, 0.95, 1.9])
@pytest.mark.parametrize("guess", [-5.0, 0.3, 8.0])
def test_the_density_found_is_the_one_asked_for(target, guess):
    u = 6.0
    coarse, m = _setting(Lattice.square(1, 0.1), u, 0.1)
    # a causal self-energy that differs between momenta, of the weight that the density asks for
    strength = np.array([0.8, 1.2, 1.2, 0.5])[:, None]
    sigma = u * target / 2 + strength * u**2 * (target / 2) * (1 - target / 2) / (1j * m.omega + 0.3)
    mu = find_mu(target, coarse, m, sigma, guess)
    assert density(mu, coarse, m, sigma) == pytest.approx(target, abs=1e-10)


@pytest.mark.parametrize("isolated", [False, True])
@pytest.mark.parametrize("temperature", [1.0, 0.1])
def test_half_filling_is_half_of_u(isolated, temperature):
    # Particle-hole symmetry: Sigma - U/2 at K + (pi,pi) is minus the complex conjugate of that at K.
    u = 8.0
    coarse, m = _setting(Lattice.square(), u, temperature, isolated=isolated)
    iw = 1j * m.omega
    x = np.array([1.3, 0.0, 0.0, -1.3])[:, None]
    sigma = u / 2 + u**2 / 4 / (iw - x)
    assert density(u / 2, coarse, m, sigma) == pytest.approx(1, abs=1e-7)
    assert find_mu(1.0, coarse, m, sigma, guess=0.0) == pytest.approx(u / 2, abs=1e-6)


@pytest.mark.parametrize("mu", [4.0, 1.0, -0.3])
def test_atomic_limit(mu):
    u, temperature = 8.0, 0.4
    coarse, m = _setting(Lattice({(0, 0): 0.0}), u, temperature)
    single, double = np.exp(mu / temperature), np.exp((2 * mu - u) / temperature)
    n = 2 * (single + double) / (1 + 2 * single + double)
    holes = 1 - n / 2
    sigma = u * n / 2 + u**2 * (n / 2) * holes / (1j * m.omega + mu - u * holes) + np.zeros((4, 1))
    assert density(mu, coarse, m, sigma) == pytest.approx(n, abs=1e-7)
    assert find_mu(n, coarse, m, sigma, guess=mu) == pytest.approx(mu, abs=1e-4)
    assert np.abs(coarse.eps_gbar(1j * m.omega + mu - sigma)).max() == 0


@pytest.mark.parametrize("target", [2.01, -0.01])
def test_a_density_out_of_reach_is_an_error_with_numbers(target):
    coarse, m = _setting(Lattice.square(), 0.0, 0.1)
    with pytest.raises(RunError, match=f"no mu gives density {target}: .* the lattice has .* at mu = "):
        find_mu(target, coarse, m, np.zeros((4, len(m.omega))))


def exact_density(energies, mu, temperature):
    return np.mean(1 - np.tanh((energies - mu) / (2 * temperature)))


@pytest.mark.parametrize("temperature", [0.02, 0.2, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("target", [0.01, 0.3, 1.0, 1.7, 1.99])
def test_mu_is_found_wherever_the_temperature_puts_it(temperature, target):
    lattice = Lattice.square(1, 0.3)
    p = synthetic.parameters(model={"U": 0.0, "t_prime": 0.3}, dca={"density": target, "temperatures": [temperature]})
    m = mesh(1 / temperature, cutoff(p, lattice, temperature))
    isolated = temperature < 0.2  # there many momenta would be needed to average over
    coarse = CoarseGraining(Cluster(lattice, [[4, 0], [0, 4]] if isolated else PLAQUETTE), isolated)
    coarse.prepare(np.pi * temperature)
    k = 2 * np.pi * np.arange(400) / 400
    energies = coarse.cluster.energies if isolated else lattice.dispersion(np.stack(np.meshgrid(k, k), axis=-1))
    mu = find_mu(target, coarse, m, np.zeros((coarse.cluster.size, len(m.omega))), guess=0.0)
    assert exact_density(energies, mu, temperature) == pytest.approx(target, abs=2e-7)
    if not isolated:
        assert free_mu(lattice, temperature, target) == pytest.approx(mu, abs=1e-4 * max(1.0, temperature))


@pytest.mark.parametrize("temperature, target", [(1.0, 0.95), (0.07, 0.3), (0.25, 1.6), (4.0, 0.8)])
def test_the_mesh_is_that_of_the_band_while_mu_is_inside(temperature, target):
    lattice = Lattice.square()
    p = synthetic.parameters(dca={"density": target, "temperatures": [temperature]})
    assert cutoff(p, lattice, temperature) == frequency_cutoff(lattice, p.model.U)


@pytest.mark.parametrize("temperature, target", [(10.0, 0.3), (100.0, 0.02)])
def test_atomic_limit_far_above_all_energies(temperature, target):
    u, lattice = 8.0, Lattice({(0, 0): 0.0})
    p = synthetic.parameters(model={"U": u, "t": 0.0}, dca={"density": target, "temperatures": [temperature]})
    m = mesh(1 / temperature, cutoff(p, lattice, temperature))
    coarse = CoarseGraining(Cluster(lattice, PLAQUETTE))
    coarse.prepare(np.pi * temperature)
    sigma = lambda mu: u * target / 2 + u**2 * (target / 2) * (1 - target / 2) / (
        1j * m.omega + mu - u * (1 - target / 2)) + np.zeros((4, 1))
    mu = 0.0
    for _ in range(60):  # Sigma depends on mu
        mu = find_mu(target, coarse, m, sigma(mu), mu)
    single, double = np.exp(mu / temperature), np.exp((2 * mu - u) / temperature)
    assert 2 * (single + double) / (1 + 2 * single + double) == pytest.approx(target, abs=1e-6)
