"""Exact two-particle functions: free electrons, brute-force time integration, sum rules and symmetries."""

from itertools import permutations

import numpy as np
import pytest
import test_ed
from test_ed import PLAQUETTE_FOURIER

from plaq.dca.solver.ed import ExactCluster, two_particle
from plaq.dca.solver.ed.two_particle import CHANNELS
from plaq.errors import InputError

ATOM = np.zeros((1, 1)), np.ones((1, 1))
DIMER = test_ed.DIMER, test_ed.DIMER_FOURIER
PLAQUETTE_ENERGY = [-4.4, 0.4, 0.4, 3.6]  # periodic, t = 1, t' = 0.1
PLAQUETTE = np.real(PLAQUETTE_FOURIER.T @ np.diag(PLAQUETTE_ENERGY) @ PLAQUETTE_FOURIER) / 4, PLAQUETTE_FOURIER


def make(system, U, mu, beta):
    h, fourier = system
    return ExactCluster(h, U, mu, beta, fourier)


def disconnected(cluster, channel, q, m, n):
    """delta_kk' G(k) G(q-k), or -delta_kk' G(k) G(k+q), and 2 delta_q0 G(k) G(k') in the charge channel."""
    group, n = cluster.spectrum.group, np.asarray(n)
    g = lambda index: cluster.to_momentum(cluster.green_iw((2 * index + 1) * np.pi / cluster.beta))
    g4 = np.zeros(2 * (cluster.sites, n.size), complex)
    for k in range(cluster.sites):
        partner = g(m - n - 1)[group.add[q, group.minus[k]]] if channel == "pp" else -g(n + m)[group.add[q, k]]
        g4[k, range(n.size), k, range(n.size)] = g(n)[k] * partner
    if channel == "charge" and q == group.zero and m == 0:
        g4 += 2 * np.multiply.outer(g(n), g(n))
    return g4


FREE = [(*case, channel) for channel in CHANNELS for case in (
    (ATOM, 0, 0, 0.0), (ATOM, 0, 1, 0.3), (DIMER, 0, 0, 0.0), (DIMER, 1, -2, 0.0), (DIMER, 1, 0, 0.3))]


@pytest.mark.parametrize("system, q, m, mu, channel", [
    *FREE, (PLAQUETTE, 3, 0, 0.4, "pp"), (PLAQUETTE, 3, 0, 0.4, "magnetic")])
def test_free_electrons(system, q, m, mu, channel):
    """U = 0: Wick's theorem out of 24 permutations full of equal levels (at mu = 0 also of different fillings)."""
    cluster, n = make(system, 0.0, mu, 2.5), [-2, -1, 0, 1] if system is not PLAQUETTE else [0]
    g4 = two_particle(cluster, channel, q, m, n)
    np.testing.assert_allclose(g4, disconnected(cluster, channel, q, m, n), atol=1e-13)


class TimeIntegral:
    """1/beta times the integral of <T O1 O2 O3 O4> over the times: dense matrices in the whole Fock space and
    Gauss-Legendre points in each time-ordered simplex. Shares nothing with the Lehmann sum but the definition."""

    def __init__(self, system, U, mu, beta, points=16):
        h, self.fourier = system
        sites = len(h)
        jordan_wigner = [np.diag([1.0, -1.0]), np.array([[0.0, 1.0], [0.0, 0.0]]), np.eye(2)]
        c = []
        for a in range(2 * sites):
            matrix = np.ones((1, 1))
            for b in range(2 * sites):
                matrix = np.kron(matrix, jordan_wigner[(b == a) + 2 * (b > a)])
            c.append(matrix)
        c = np.array(c).reshape(2, sites, *c[0].shape)
        number = np.einsum("siba,sibc->siac", c, c)
        energy, vectors = np.linalg.eigh(np.einsum("ij,siba,sjbc->ac", h, c, c) - mu * number.sum((0, 1))
                                         + U * np.einsum("iab,ibc->ac", *number))
        self.energy, self.beta = energy - energy[0], beta
        self.c = vectors.T @ c @ vectors
        x, w = np.polynomial.legendre.leggauss(points)
        u = np.stack(np.meshgrid(x, x, x)).reshape(3, -1) / 2 + 0.5
        self.tau = beta * np.cumprod(u, axis=0)  # beta > tau1 > tau2 > tau3 > 0
        self.weight = np.einsum("i,j,k->jik", w, w, w).ravel() / 8 * beta * self.tau[0] * self.tau[1]

    def __call__(self, *operators):
        """Operators are (is c+, spin, K, frequency with its sign)."""
        matrices = []
        for creates, spin, k, _ in operators:
            c = np.einsum("i,iab->ab", self.fourier[k], self.c[spin]) / np.sqrt(len(self.fourier))
            matrices.append(c.conj().T if creates else c)
        t1, t2, t3 = self.tau
        spans = [np.exp(-np.outer(t, self.energy)) for t in (self.beta - t1, t1 - t2, t2 - t3, t3)]
        total = 0
        for order in permutations(range(3)):
            path = np.eye(self.energy.size)[None]
            for span, i in zip(spans, (*order, 3)):
                path = (path * span[:, None, :]) @ matrices[i]
            phase = np.exp(1j * sum(operators[i][3] * t for i, t in zip(order, self.tau)))
            sign = round(np.linalg.det(np.eye(3)[list(order)]))
            total += sign * self.weight @ (phase * np.trace(path, axis1=1, axis2=2))
        return total / np.exp(-self.beta * self.energy).sum() / self.beta


@pytest.mark.parametrize("system", [ATOM, DIMER], ids=["atom", "dimer"])
@pytest.mark.parametrize("shifted", [False, True])
def test_against_time_integration(system, shifted):
    U, mu, beta = 4.0, 1.3, 2.0
    cluster, integral = make(system, U, mu, beta), TimeIntegral(system, U, mu, beta)
    add, minus, last = cluster.spectrum.group.add, cluster.spectrum.group.minus, cluster.sites - 1
    q, m = (last, 1) if shifted else (0, 0)
    nu = 2 * np.pi * m / beta
    for k, p, n in ((0, last, (0, -1)), (last, last, (1, 1)), (last, 0, (-1, 1))):
        w, v = (2 * np.array(n) + 1) * np.pi / beta
        kq, pq, qk, qp = add[k, q], add[p, q], add[q, minus[k]], add[q, minus[p]]
        same, other = (integral((1, 0, k, -w), (0, 0, kq, w + nu), (1, s, pq, -v - nu), (0, s, p, v))
                       for s in (0, 1))
        expected = {
            "pp": integral((0, 0, k, w), (1, 0, p, -v), (0, 1, qk, nu - w), (1, 1, qp, v - nu)),
            "transverse": -integral((0, 0, k, w), (1, 0, p, -v), (0, 1, pq, v + nu), (1, 1, kq, -w - nu)),
            "magnetic": same - other, "charge": same + other}
        for channel, value in expected.items():
            assert two_particle(cluster, channel, q, m, n)[k, 0, p, 1] == pytest.approx(value, abs=1e-10), channel


@pytest.mark.parametrize("q", [0, 1])
def test_sum_over_k_is_the_susceptibility(q):
    """sum_kk' G4 = 2 beta Nc chi_s(q), magnetic; the window's error is a series in 1/N, removed up to N^-2."""
    cluster = make(DIMER, 4.0, 1.3, 2.0)
    whole = two_particle(cluster, "magnetic", q, 0, np.arange(-32, 32))
    s8, s16, s32 = (whole[:, 32 - n:32 + n, :, 32 - n:32 + n].sum().real / (2 * 2.0 * 2) for n in (8, 16, 32))
    first, second = 2 * s16 - s8, 2 * s32 - s16
    chi = cluster.to_momentum(cluster.spin_susceptibility())[q].real
    assert (4 * second - first) / 3 == pytest.approx(chi, rel=3e-4)


@pytest.mark.parametrize("system, q, m", [(DIMER, 0, 0), (DIMER, 1, 1), (PLAQUETTE, 1, 0)])
def test_spin_rotation_and_time_reversal(system, q, m):
    cluster, n = make(system, 6.0, 1.7, 3.0), np.arange(-2, 2) if system is DIMER else [0]
    magnetic, transverse = (two_particle(cluster, channel, q, m, n) for channel in ("magnetic", "transverse"))
    np.testing.assert_allclose(magnetic, transverse, atol=1e-13)
    np.testing.assert_allclose(magnetic, magnetic.transpose(2, 3, 0, 1), atol=1e-13)
    conjugate = two_particle(cluster, "magnetic", q, -m, -1 - np.asarray(n))
    np.testing.assert_allclose(magnetic, conjugate.conj(), atol=1e-13)
    assert np.abs(magnetic - disconnected(cluster, "magnetic", q, m, n)).max() > 1e-3


def test_crossing_symmetry():
    """Exchange of the two c of one spin, and the up-down function seen as particle-particle or particle-hole."""
    cluster = make(DIMER, 4.0, 1.3, 2.0)
    add, minus = cluster.spectrum.group.add, cluster.spectrum.group.minus

    def particle_hole(k, p, q, a, b, m, sign):
        magnetic, charge = (two_particle(cluster, channel, q, m, [a, b])[k, 0, p, 1]
                            for channel in ("magnetic", "charge"))
        return (charge + sign * magnetic) / 2

    for k, p, q, a, b, m in ((0, 1, 1, 0, 2, 1), (0, 1, 0, -1, 0, 1), (0, 0, 1, -1, 0, 1)):
        same, crossed = (particle_hole(*args, +1) for args in (
            (k, p, q, a, b, m), (k, add[k, q], add[p, minus[k]], a, a + m, b - a)))
        assert same == pytest.approx(-crossed, abs=1e-13) and abs(same) > 1e-5
        opposite = particle_hole(k, p, q, a, b, m, -1)
        total, kq = add[add[p, k], q], add[k, q]
        pair = two_particle(cluster, "pp", total, a + b + m + 1, [a + m, a])[kq, 0, k, 1]
        assert opposite == pytest.approx(pair, abs=1e-13) and abs(opposite) > 1e-5


def test_bad_input_is_named():
    cluster = make(DIMER, 4.0, 2.0, 2.0)
    for args, key in ((("singlet", 0, 0, [0]), "channel"), (("pp", 2, 0, [0]), "q = 2")):
        with pytest.raises(InputError, match=key):
            two_particle(cluster, *args)
    with pytest.raises(InputError, match="fourier"):
        two_particle(ExactCluster(DIMER[0], 4.0, 2.0, 2.0), "pp", 0, 0, [0])
