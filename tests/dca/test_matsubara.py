import functools

import numpy as np
import pytest

from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.matsubara import Mesh, frequency_cutoff, mesh

SQUARE = Lattice.square()


def _fermi(x, beta):
    return 0.5 * (1 - np.tanh(0.5 * beta * x))


def _dimer_green_function(u, t, mu, beta, z):
    """G_K(z) [2, len(z)] of the Hubbard dimer with hopping -t, from all 16 states (Lehmann sum)."""
    parity, lower = np.diag([1.0, -1.0]), np.array([[0.0, 1.0], [0.0, 0.0]])
    # modes: site 0 up, 0 down, 1 up, 1 down
    c = [functools.reduce(np.kron, [parity] * mode + [lower] + [np.eye(2)] * (3 - mode)) for mode in range(4)]
    n = [a.T @ a for a in c]
    h = -t * sum(c[i].T @ c[i + 2] + c[i + 2].T @ c[i] for i in (0, 1))
    h = h + u * (n[0] @ n[1] + n[2] @ n[3]) - mu * sum(n)
    energy, states = np.linalg.eigh(h)
    weight = np.exp(-beta * (energy - energy[0]))
    weight /= weight.sum()
    gap = energy[None, :] - energy[:, None]  # E_n - E_m: states m, n
    green = []
    for sign in (1, -1):
        amplitude = states.T @ ((c[0] + sign * c[2]) / np.sqrt(2)) @ states  # <m| c_K |n>
        residue = amplitude**2 * (weight[:, None] + weight[None, :])
        green.append([np.sum(residue / (point - gap)) for point in z])
    return np.array(green)


@pytest.mark.parametrize("temperature", [1.0, 0.2, 0.07, 0.02])
def test_any_spectrum_below_the_cutoff(temperature):
    beta, wmax = 1 / temperature, 16.0
    m = Mesh(beta, wmax)
    poles = np.linspace(-wmax, wmax, 161)
    g = 1 / (1j * m.omega - poles[:, None])
    n = np.arange(-60, 60)
    assert np.abs(m.at_frequencies(g, n) - 1 / (1j * m.frequency(n) - poles[:, None])).max() < 1e-7
    tau = np.linspace(0, beta, 41)
    exact = -np.exp(-poles[:, None] * tau - np.logaddexp(0, -beta * poles)[:, None])
    assert np.abs(m.at_tau(g, tau) - exact).max() < 1e-6
    assert np.abs(m.equal_time(g) - _fermi(poles, beta)).max() < 1e-6
    assert np.abs(m.evaluate(m.fit(g)) - g).max() < 1e-7


def test_accuracy_follows_eps():
    poles = np.linspace(-16, 16, 81)
    errors = []
    for eps in (1e-6, 1e-8, 1e-11):
        m = Mesh(10.0, 16.0, eps)
        errors.append(np.abs(m.equal_time(1 / (1j * m.omega - poles[:, None])) - _fermi(poles, 10.0)).max())
    assert errors[0] < 1e-4 and errors[1] < 1e-6 and errors[2] < 1e-9


@pytest.mark.parametrize("temperature", [1.0, 0.5, 0.25, 0.125, 0.11, 0.1, 0.09, 0.08, 0.07, 0.06, 0.05])
def test_noise_of_one_frequency_does_not_come_into_others(temperature):
    """The density has little more noise than 2T sum_n Re G(iw_n) over all frequencies, if Sigma has the same at each,
    where the mesh has as many values as coefficients (an even L), and where it has one more."""
    m = mesh(1 / temperature, 14.0)
    response = lambda omega: 1 / (omega**2 + 9)  # dG = |G|^2 dSigma
    each = np.diag(response(m.omega))
    noise = np.sqrt((m.equal_time(each) ** 2).sum() + (m.equal_time(1j * each) ** 2).sum())
    ideal = 2 * temperature * np.sqrt((response(m.frequency(np.arange(20000))) ** 2).sum())
    assert 0.9 * ideal < noise < 1.8 * ideal


@pytest.mark.parametrize("temperature", [1.0, 0.1, 0.05])
def test_ends_that_are_known_are_met(temperature):
    """Right ones change nothing, others what is between by no more than the ends."""
    m = Mesh(1 / temperature, 16.0)
    poles = np.array([-3.0, 0.2, 5.0])
    g = 1 / (1j * m.omega - poles[:, None])
    tau = np.linspace(0, m.beta, 65)
    ends = np.stack([_fermi(poles, m.beta) - 1, -_fermi(poles, m.beta)], axis=-1)
    np.testing.assert_allclose(m.at_tau(g, tau, ends), m.at_tau(g, tau), atol=1e-6)
    shifted = m.at_tau(g, tau, ends + [0.02, -0.01]) - m.at_tau(g, tau)
    np.testing.assert_allclose(shifted[:, [0, -1]], np.tile([0.02, -0.01], (3, 1)), atol=1e-6)
    assert np.abs(shifted).max() < 0.021


def test_frequencies():
    m = Mesh(8.0, 10.0)
    assert np.all(m.n >= 0) and np.all(np.diff(m.n) > 0)
    assert np.allclose(m.omega, (2 * m.n + 1) * np.pi / 8)
    assert np.allclose(m.frequency([-1, 0]), [-np.pi / 8, np.pi / 8])
    b = Mesh(8.0, 10.0, statistics="B")
    assert b.n[0] == 0 and np.allclose(b.omega, 2 * b.n * np.pi / 8)
    assert mesh(8.0, 10.0) is mesh(8.0, 10.0)


def test_leading_axes_are_kept():
    m = Mesh(5.0, 10.0)
    g = 1 / (1j * m.omega - np.linspace(-3, 3, 6).reshape(2, 3, 1))
    assert m.fit(g).shape == (2, 3, m.size)
    assert m.at_tau(g, [0.0, 1.0]).shape == (2, 3, 2)
    assert m.equal_time(g).shape == (2, 3)
    assert np.allclose(m.at_frequencies(g, [-1, 0])[..., 0], m.at_frequencies(g, [-1, 0])[..., 1].conj())


@pytest.mark.parametrize("temperature", [1.0, 0.07])
def test_bosons(temperature):
    # chi(i nu) = int dx A(x) / (x - i nu) with A odd: poles at +-x with weights +-tanh(beta x / 2)
    beta, wmax = 1 / temperature, 16.0
    m = Mesh(beta, wmax, statistics="B")
    x = np.linspace(0.05, wmax, 80)[:, None]

    def chi(nu):
        return 2 * x / (x**2 + nu**2) * np.tanh(0.5 * beta * x)

    n = np.arange(-40, 41)
    assert np.abs(m.at_frequencies(chi(m.omega), n) - chi(m.frequency(n))).max() < 2e-6 * beta
    # T sum_nu 2 x / (x^2 + nu^2) = coth(beta x / 2)
    assert np.abs(m.equal_time(chi(m.omega)) - 1).max() < 2e-6


def test_cutoff_rule():
    assert frequency_cutoff(SQUARE, 6.0) == pytest.approx(14)
    assert frequency_cutoff(SQUARE, -6.0) == pytest.approx(14)
    assert frequency_cutoff(SQUARE, 6.0, mu=-9.0) == pytest.approx(19)


@pytest.mark.parametrize("mu", [4.0, 1.0, -0.5])
def test_cutoff_holds_the_atomic_limit(mu):
    u, beta = 8.0, 10.0
    m = Mesh(beta, frequency_cutoff(Lattice({(0, 0): 0.0}), u, mu))
    z = 1 + 2 * np.exp(beta * mu) + np.exp(beta * (2 * mu - u))
    n = 2 * (np.exp(beta * mu) + np.exp(beta * (2 * mu - u))) / z

    def green(iw):
        return (1 - n / 2) / (iw + mu) + (n / 2) / (iw + mu - u)

    def sigma(iw):
        return u**2 * (n / 2) * (1 - n / 2) / (iw + mu - u * (1 - n / 2))

    for f in (green, sigma):
        values = f(1j * m.omega)
        k = np.arange(-50, 50)
        assert np.abs(m.at_frequencies(values, k) - f(1j * m.frequency(k))).max() < 1e-6
    assert 2 * m.equal_time(green(1j * m.omega)) == pytest.approx(n, abs=1e-7)


@pytest.mark.parametrize("u, mu, beta", [(4.0, 2.0, 2.0), (8.0, 4.0, 10.0), (8.0, 1.5, 10.0), (6.0, 0.0, 5.0)])
def test_cutoff_holds_many_body_spectra(u, mu, beta):
    # Dimer with hopping 2: the two-site chain cluster, where both images of the neighbour are one site.
    chain = Lattice({(1, 0): -1.0, (-1, 0): -1.0})
    eps = Cluster(chain, [[2, 0], [0, 1]]).energies
    m = Mesh(beta, frequency_cutoff(chain, u, mu))

    def green(w):
        return _dimer_green_function(u, 2.0, mu, beta, 1j * w)

    def sigma(w):
        return 1j * w + mu - eps[:, None] - 1 / green(w)

    k = np.concatenate([np.arange(-20, 20), [80, 200]])
    g = green(m.omega)
    assert np.abs(m.at_frequencies(g, k) - green(m.frequency(k))).max() < 1e-7
    hartree = u * m.equal_time(g).mean()
    dynamic = sigma(m.omega) - hartree
    assert np.abs(m.at_frequencies(dynamic, k) + hartree - sigma(m.frequency(k))).max() < 1e-6
    # Tail: U^2 (n/2) (1 - n/2) / (iw); the last sampling point is far out.
    half = hartree / u
    assert np.allclose(dynamic[:, -1].imag * -m.omega[-1], u**2 * half * (1 - half), rtol=2e-2)
