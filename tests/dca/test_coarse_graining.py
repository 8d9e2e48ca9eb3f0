import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lattices import T_PRIME, TRIANGULAR

from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.coarse_graining import CoarseGraining
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.matsubara import frequency_cutoff, mesh
from plaq.errors import RunError

SQUARE = Lattice.square()
PLAQUETTE = [[2, 0], [0, 2]]


def _panels(low, high, panels, order=8):
    """Composite Gauss-Legendre rule on [low, high]: brute force that refines by panels, not by order."""
    x, w = np.polynomial.legendre.leggauss(order)
    edges = np.linspace(low, high, panels + 1)
    width = edges[1] - edges[0]
    return (edges[:-1, None] + 0.5 * width * (x + 1)).ravel(), np.tile(0.5 * width * w, panels)


def _plaquette_patch_mean(function, momentum, panels):
    """Mean of function(k [M, 2]) over the square |k - K| <= pi/2, strip by strip."""
    x, w = _panels(-np.pi / 2, np.pi / 2, panels)
    total = 0
    for kx, wx in zip(x, w, strict=True):
        total = total + wx * (function(momentum + np.stack([np.full_like(x, kx), x], axis=-1)) @ w)
    return total / np.pi**2


def _zone(n):
    """Momenta of a periodic n x n grid: sums over it converge exponentially for analytic periodic functions."""
    k = 2 * np.pi * np.arange(n) / n
    return np.stack(np.meshgrid(k, k, indexing="ij"), axis=-1).reshape(-1, 2)


@pytest.mark.parametrize(
    "lattice, temperature, panels",
    [(SQUARE, 1.0, 6), (T_PRIME, 1.0, 6), (SQUARE, 0.1, 40), (T_PRIME, 0.1, 40), (SQUARE, 0.02, 110)],
)
def test_gbar_against_brute_force_at_any_temperature(lattice, temperature, panels):
    c = Cluster(lattice, PLAQUETTE)
    coarse = CoarseGraining(c)
    coarse.prepare(np.pi * temperature)
    # the hardest frequency, at energies inside, at the edges and outside of the patches' bands
    energies = np.array([-4.0, -2.0, -0.01, 1.3])
    z = energies + 1j * np.pi * temperature + np.zeros((4, 1))
    gbar = coarse.gbar(z)
    for k in (0, 1):
        exact = [
            _plaquette_patch_mean(lambda p, z=z: 1 / (z - lattice.dispersion(p)), c.momenta[k], panels)
            for z in z[k]
        ]
        assert np.abs(gbar[k] - exact).max() < 1e-9
    assert np.allclose(coarse.gbar(z.conj()), gbar.conj())


@pytest.mark.parametrize("lattice", [SQUARE, T_PRIME, TRIANGULAR], ids=["t", "t'", "triangular"])
@pytest.mark.parametrize("vectors", [[[1, 0], [0, 1]], [[2, 2], [2, -2]], [[4, 2], [0, 4]], [[3, 1], [0, 4]]])
def test_patches_add_up_to_the_zone(lattice, vectors):
    coarse = CoarseGraining(Cluster(lattice, vectors))
    coarse.prepare(0.3)
    z = np.array([-3 + 0.3j, 0.2 + 0.3j, 1.1 - 0.5j, 2j])
    eps = lattice.dispersion(_zone(300))
    exact = np.array([np.mean(1 / (point - eps)) for point in z])
    gbar = coarse.gbar(np.tile(z, (coarse.cluster.size, 1)))
    assert np.abs(gbar.mean(axis=0) - exact).max() < 1e-8
    assert np.isclose(coarse.eps_mean.mean(), eps.mean(), atol=1e-12)
    assert np.isclose(coarse.eps_second.mean(), np.mean(eps**2), atol=1e-12)


def test_each_patch_of_a_skew_cluster_by_nearest_momentum():
    # 16B has hexagonal patches; by counting, every zone momentum belongs to the nearest K (grid error 1/n).
    c = Cluster(T_PRIME, [[4, 2], [0, 4]])
    coarse = CoarseGraining(c)
    coarse.prepare(1.0)
    zone = _zone(400) + 0.001
    shift = zone[:, None, :] - c.momenta
    distance = ((shift - 2 * np.pi * np.rint(shift / (2 * np.pi))) ** 2).sum(axis=-1)
    owner = distance.argmin(axis=1)
    values = 1 / (0.3 + 1j - T_PRIME.dispersion(zone))
    counted = np.array([values[owner == k].mean() for k in range(c.size)])
    assert np.abs(coarse.gbar(np.full((c.size, 1), 0.3 + 1j))[:, 0] - counted).max() < 5e-3


def test_moments_of_the_plaquette():
    # <-2 cos kx> over |kx| <= pi/2 is -4/pi
    coarse = CoarseGraining(Cluster(SQUARE, PLAQUETTE))
    assert np.allclose(coarse.eps_mean, np.array([-8, 0, 0, 8]) / np.pi)
    second = 2 * 4 * 0.5 + 2 * (4 / np.pi) ** 2
    mixed = 2 * 4 * 0.5 - 2 * (4 / np.pi) ** 2
    assert np.allclose(coarse.eps_second, [second, mixed, mixed, second])


def test_high_frequency_tail():
    coarse = CoarseGraining(Cluster(T_PRIME, [[2, 2], [2, -2]]))
    coarse.prepare(1.0)
    z = np.full((8, 1), 300j)
    tail = 1 / z + coarse.eps_mean[:, None] / z**2 + coarse.eps_second[:, None] / z**3
    assert np.abs(coarse.gbar(z) - tail).max() < 200 / 300**4
    assert np.allclose(coarse.eps_gbar(z), z * coarse.gbar(z) - 1, atol=1e-12)


@functools.lru_cache(maxsize=None)
def _causal_setting(vectors):
    coarse = CoarseGraining(Cluster(T_PRIME, vectors))
    coarse.prepare(0.2)
    return coarse


@settings(max_examples=40)
@given(
    st.sampled_from([((2, 1), (0, 2)), ((3, 1), (-1, 2)), ((5, 0), (0, 1))]),
    st.floats(0.2, 3.0),
    st.floats(-6, 6),
)
def test_gbar_is_causal_and_symmetric(vectors, imaginary, real):
    coarse = _causal_setting(vectors)
    gbar = coarse.gbar(np.full((coarse.cluster.size, 1), real + 1j * imaginary))[:, 0]
    assert np.all(gbar.imag < 0)
    assert np.all(np.abs(gbar) <= 1 / imaginary + 1e-9)
    assert np.abs(gbar - gbar[coarse.cluster.minus]).max() < 1e-9


def test_a_rule_keeps_its_promise_a_little_below_its_limit():
    fine, rough = (CoarseGraining(Cluster(SQUARE, PLAQUETTE)) for _ in range(2))
    fine.prepare(0.1)
    rough.prepare(0.25)
    z = np.linspace(-4.5, 4.5, 40) + 1j * 0.2 + np.zeros((4, 1))
    assert np.abs(fine.gbar(z) - rough.gbar(z)).max() < 1e-8


def test_errors_name_their_numbers():
    coarse = CoarseGraining(Cluster(SQUARE, PLAQUETTE))
    with pytest.raises(RunError, match="prepare"):
        coarse.gbar(np.full((4, 1), 1j))
    coarse.prepare(1.0)
    with pytest.raises(RunError, match="asked for 0.1.*not causal"):
        coarse.gbar(np.full((4, 1), 0.1j))
    with pytest.raises(RunError, match="nan"):
        coarse.gbar(np.full((4, 1), np.nan + 1j * np.nan))


def test_isolated_cluster():
    c = Cluster(T_PRIME, PLAQUETTE)
    coarse = CoarseGraining(c, isolated=True)
    coarse.prepare(0.01)
    z = np.array([[0.3 + 0.01j, 1j, -2j]]) + np.zeros((4, 1))
    g = 1 / (z - c.energies[:, None])
    assert np.allclose(coarse.gbar(z), g, rtol=1e-13)
    assert np.allclose(coarse.eps_gbar(z), c.energies[:, None] * g, rtol=1e-13)
    assert np.allclose(coarse.eps_mean, c.energies) and np.allclose(coarse.eps_second, c.energies**2)
    for q in range(4):
        partner = c.momentum_sum[:, q]
        assert np.allclose(coarse.chi0_ph(z, 2 * z, q), g * (1 / (2 * z - c.energies[:, None]))[partner])
        partner = c.momentum_difference[q]
        assert np.allclose(coarse.chi0_pp(z, z.conj(), q), g * g.conj()[partner])


def _sigma_like(rng, shape):
    return rng.normal(size=shape) + 1j * (0.4 + rng.uniform(size=shape))


@pytest.mark.parametrize("q", [0, 1, 3])
def test_chi0_against_brute_force(q):
    c = Cluster(T_PRIME, PLAQUETTE)
    coarse = CoarseGraining(c)
    coarse.prepare(0.3)
    rng = np.random.default_rng(7)
    z, z_shifted, z_reversed = (_sigma_like(rng, (4, 2)) for _ in range(3))
    z_reversed = z_reversed.conj()
    ph, pp = coarse.chi0_ph(z, z_shifted, q), coarse.chi0_pp(z, z_reversed, q)
    transfer = c.momenta[q]
    for k in range(4):
        forward, back = c.momentum_sum[k, q], c.momentum_difference[q, k]
        for w in range(2):

            def integrand(p, one=z[k, w], two=z_shifted[forward, w], pair=z_reversed[back, w]):
                g = 1 / (one - T_PRIME.dispersion(p))
                ph = g / (two - T_PRIME.dispersion(p + transfer))
                return np.stack([ph, g / (pair - T_PRIME.dispersion(transfer - p))])

            exact = _plaquette_patch_mean(integrand, c.momenta[k], 24)
            assert abs(ph[k, w] - exact[0]) < 1e-8 and abs(pp[k, w] - exact[1]) < 1e-8


def test_chi0_pp_at_zero_transfer_from_gbar():
    c = Cluster(T_PRIME, [[2, 2], [2, -2]])
    coarse = CoarseGraining(c)
    coarse.prepare(0.3)
    z = _sigma_like(np.random.default_rng(3), (8, 3))
    z = 0.5 * (z + z[c.minus])  # z_K = z_-K, as inversion demands
    chi = coarse.chi0_pp(z, z.conj())
    assert np.allclose(chi, (coarse.gbar(z.conj()) - coarse.gbar(z)) / (z - z.conj()), atol=1e-9)
    assert np.all(chi.real > 0) and np.abs(chi.imag).max() < 1e-13


@pytest.mark.parametrize("vectors", [PLAQUETTE, [[4, 2], [0, 4]]])
def test_lindhard_function_without_interaction(vectors):
    # -T sum_n <G(k, iw) G(k+q, iw+inu)> = <(f(eps_k) - f(eps_k+q)) / (eps_k+q - eps_k - i nu)>
    lattice, temperature, mu = T_PRIME, 0.5, -0.6
    c = Cluster(lattice, vectors)
    coarse = CoarseGraining(c)
    coarse.prepare(np.pi * temperature)
    q = c.momentum_index((np.pi, 0))
    n, nu_index = np.arange(-2000, 2000), 1
    iw = 1j * (2 * n + 1) * np.pi * temperature
    nu = 2 * np.pi * temperature * nu_index
    chosen = np.abs(n) < 30
    ones = np.ones((c.size, 1))
    inner = coarse.chi0_ph((iw + mu)[chosen] * ones, (iw + 1j * nu + mu)[chosen] * ones, q).mean(axis=0).sum()
    zone = _zone(120)
    xi, xi_q = (lattice.dispersion(k) - mu for k in (zone, zone + c.momenta[q]))
    outer = sum(np.mean(1 / (w - xi) / (w + 1j * nu - xi_q)) for w in iw[~chosen])
    f, f_q = (0.5 * (1 - np.tanh(x / (2 * temperature))) for x in (xi, xi_q))
    exact = np.mean((f - f_q) / (xi_q - xi - 1j * nu))
    # what |n| >= 2000 would add, sum of 1/w^2, is 1/(2 pi^2 T 2000) at most
    assert abs(-temperature * (inner + outer) - exact) < 2 / (2 * np.pi**2 * temperature * 2000)


@pytest.mark.parametrize("temperature", [1.0, 0.1])
def test_kinetic_energy_without_interaction(temperature):
    mu = -0.4
    coarse = CoarseGraining(Cluster(T_PRIME, PLAQUETTE))
    coarse.prepare(np.pi * temperature)
    m = mesh(1 / temperature, frequency_cutoff(T_PRIME, 0.0, mu))
    z = 1j * m.omega + mu + np.zeros((4, 1))
    eps = T_PRIME.dispersion(_zone(400))
    exact = np.mean(eps * (1 - np.tanh((eps - mu) / (2 * temperature))))
    assert 2 * m.equal_time(coarse.eps_gbar(z).mean(axis=0)) == pytest.approx(exact, abs=1e-7)
