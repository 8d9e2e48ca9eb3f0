"""Propagators and what is contracted of them: baryons, momenta, sources anywhere, any number of ranks."""

import itertools
import subprocess
import sys

import numpy as np
import pytest

from plaq import _core, lqcd
from plaq.comm.launch import launcher_command
from plaq.errors import InputError
from plaq.lqcd import gamma

EXTENTS, KAPPA = (8, 4, 2, 4), 0.115
EPSILON = {p: round(np.linalg.det(np.eye(3)[list(p)])) for p in itertools.permutations(range(3))}
C_GAMMA5 = gamma.GAMMA[0] @ gamma.GAMMA[2] @ gamma.GAMMA5
FORWARDS = (np.eye(4) + gamma.GAMMA[0]) / 2


def proton(S):
    """[t, x, y, z] of epsilon (u^T C gamma5 d) u with u = d = S, contracted with (1 + gamma_0) / 2, up to a sign."""
    d, total = np.einsum("ab,...bicj,cd->...aidj", C_GAMMA5, S, C_GAMMA5), 0
    for ((a, b, c), s), ((e, f, g), r) in itertools.product(EPSILON.items(), repeat=2):
        u, v, w = S[..., :, a, :, e], d[..., :, b, :, f], S[..., :, c, :, g]
        total = total + s * r * (np.einsum("...ij,...ij,...kl,lk->...", u, v, w, FORWARDS)
                                 + np.einsum("...ij,...kj,...kl,li->...", u, v, w, FORWARDS))
    return total


def by_wick(S):
    """The same at one site, from its definition: all fields u_a u_c against the adjoint ones in both ways, component by
    component."""
    total = 0
    for ((a, b, c), s), ((e, f, g), r) in itertools.product(EPSILON.items(), repeat=2):
        for i, j, k, q, m, n in itertools.product(range(4), repeat=6):
            pair = C_GAMMA5[i, j] * C_GAMMA5[q, m] * FORWARDS[n, k]
            if pair:
                lines = S[i, a, q, e] * S[k, c, n, g] - S[i, a, n, g] * S[k, c, q, e]
                total += s * r * pair * S[j, b, m, f] * lines
    return total


def free_propagator(extents, theta, kappa=KAPPA):
    """[t, x, y, z, spin, source spin] from the origin, forwards in time and periodic in space."""
    axes = [2 * np.pi * (np.arange(n) + angle / 2) / n for n, angle in zip(extents, theta)]
    p = np.stack(np.meshgrid(*axes, indexing="ij"))
    M = ((1 - 2 * kappa * np.cos(p).sum(axis=0))[..., None, None] * np.eye(4)
         + 2j * kappa * np.einsum("mtxyz,mab->txyzab", np.sin(p), gamma.GAMMA))
    turn = np.exp(1j * np.pi * theta[0] * np.arange(extents[0]) / extents[0])
    return np.fft.ifftn(np.linalg.inv(M), axes=range(4)) * turn[:, None, None, None, None, None]


def coloured(S):
    return np.einsum("...ab,ij->...aibj", S, np.eye(3))


def point(extents, theta, source=(0, 0, 0, 0), kappa=KAPPA):
    matrix = lqcd.Wilson(lqcd.GaugeField(lqcd.Lattice(extents)), kappa, theta=theta)
    return lqcd.point_propagator(matrix, source, residual=1e-13, precision="double")


def test_a_proton_is_that_of_wick():
    rng = np.random.default_rng(1)
    S = rng.normal(size=(4, 3, 4, 3)) + 1j * rng.normal(size=(4, 3, 4, 3))
    assert abs(abs(by_wick(S) / proton(S)) - 1) < 1e-13


def test_a_free_proton_has_three_times_the_mass_of_a_quark():
    propagator = point((24, 4, 4, 4), (1, 0, 0, 0), kappa=0.11)
    found = proton(propagator.local).sum(axis=(1, 2, 3))
    mass = np.log(found.real[:-1] / found.real[1:])
    m0 = np.log(1 + 1 / (2 * 0.11) - 4)
    assert np.abs(found.imag).max() < 1e-12 * np.abs(found).max() and np.allclose(mass[5:9], 3 * m0, rtol=5e-3)
    exact = proton(coloured(free_propagator((24, 4, 4, 4), (1, 0, 0, 0), 0.11))).sum(axis=(1, 2, 3))
    assert np.allclose(found, exact, rtol=1e-8)
    assert np.allclose(lqcd.correlator(proton(propagator.local), propagator), found, rtol=1e-13)


@pytest.mark.parametrize("theta", [(1, 0, 0, 0), (1, 0.4, 0, -0.7), (0.3, 0, 0.5, 0)])
@pytest.mark.parametrize("source", [(0, 0, 0, 0), (6, 3, 1, 2)])
def test_baryons_and_mesons_from_anywhere_with_any_momentum(theta, source):
    """In free fields as from the origin in momentum space, at each t from the source, with sums over space there."""
    propagator, S = point(EXTENTS, theta, source), coloured(free_propagator(EXTENTS, theta))
    rolled = np.roll(propagator.local, [-y for y in source], axis=range(4))
    assert np.allclose(rolled, S, rtol=0, atol=1e-12)
    x, z = np.arange(EXTENTS[1])[:, None, None], np.arange(EXTENTS[3])
    for k in ((0, 0, 0), (1, 0, -1)):
        wave = np.exp(-2j * np.pi * (k[0] * x / EXTENTS[1] + k[2] * z / EXTENTS[3]))
        expected = (proton(S) * wave).sum(axis=(1, 2, 3))
        assert np.allclose(lqcd.correlator(proton(propagator.local), propagator, k), expected, rtol=1e-9, atol=1e-14)
        pion = (np.abs(S)**2).sum(axis=(4, 5, 6, 7)) * wave
        assert np.allclose(lqcd.meson_correlator(propagator, momentum=k), pion.sum(axis=(1, 2, 3)).real, rtol=1e-9)


def test_a_moving_proton_has_the_energy_of_its_quarks():
    """Three quarks with theta in space at k = 0 move with 3 pi theta / L; each has the energy of pi theta / L."""
    extents, theta = (40, 6, 2, 2), (1, 0.5, 0, 0)
    propagator = point(extents, theta, (33, 2, 0, 1))
    found, p = lqcd.correlator(proton(propagator.local), propagator).real, np.pi * 0.5 / 6
    A = 1 / (2 * KAPPA) - 2 - np.cos(p)  # the pole of 1 / M: (A - cosh E)^2 + sin^2 p = sinh^2 E
    energy = np.arccosh((A**2 + 1 + np.sin(p)**2) / (2 * A))
    assert np.allclose(np.log(found[8:12] / found[9:13]), 3 * energy, rtol=3e-3)


def rough(extents=(4, 4, 2, 4)):
    gauge = lqcd.GaugeField(lqcd.Lattice(extents)).hot(seed=1)
    for sweep in range(5):
        gauge.heat_bath(beta=5.7, seed=1, sweep=sweep)
    return gauge


def test_no_rotation_of_colours_is_seen():
    gauge, rng = rough(), np.random.default_rng(1)
    g = np.linalg.qr(rng.normal(size=(4, 4, 2, 4, 3, 3)) + 1j * rng.normal(size=(4, 4, 2, 4, 3, 3)))[0]
    g /= np.linalg.det(g)[..., None, None] ** (1 / 3)
    U = gauge.local()
    for mu in range(4):
        U[..., mu, :, :] = g @ U[..., mu, :, :] @ np.roll(g, -1, axis=mu).conj().swapaxes(-1, -2)
    found = []
    for field in (gauge, gauge.copy().set_local(U)):
        matrix = lqcd.Wilson(field, 0.13, theta=(1, 0.3, 0, 0))
        propagator = lqcd.point_propagator(matrix, (3, 1, 0, 2), residual=1e-12)
        found.append([lqcd.correlator(proton(propagator.local), propagator, (1, 0, 0)),
                      lqcd.meson_correlator(propagator, "gammax")])
    assert np.allclose(*found, rtol=1e-9)


def test_a_spin_tensor_makes_all_mesons():
    gauge = rough()
    one, two = (lqcd.point_propagator(lqcd.Wilson(gauge, kappa, theta=(1, 0, 0, 0)), (1, 2, 0, 3), residual=1e-10)
                for kappa in (0.12, 0.13))
    W = lqcd.spin_tensor(one, two)
    S, other = (np.roll(p.local, -1, axis=0) for p in (one, two))
    assert np.allclose(W, np.einsum("txyzaibj,txyzcidj->tabcd", S, other.conj()), rtol=1e-12, atol=1e-15)
    for (sink, G), (source, H) in itertools.product(gamma.STRUCTURES.items(), repeat=2):
        left, right = gamma.GAMMA5 @ G, -gamma.GAMMA[0] @ H.conj().T @ gamma.GAMMA[0] @ gamma.GAMMA5
        expected = np.einsum("ca,bd,tabcd->t", left, right, W).real
        assert np.allclose(lqcd.meson_correlator(W, sink, source=source), expected, rtol=1e-12)
    turned = np.einsum("ab,txyzbicj,cd,txyzaidj->t", gamma.GAMMA5 @ gamma.GAMMA[1], S,
                       -gamma.GAMMA[0] @ gamma.GAMMA[1] @ gamma.GAMMA[0] @ gamma.GAMMA5, other.conj(), optimize=True)
    assert np.allclose(lqcd.meson_correlator(one, "gammax", two), turned.real, rtol=1e-11)
    noise = lqcd.noise_propagator(lqcd.Wilson(gauge, 0.12), 1, 1)
    assert np.allclose(lqcd.meson_correlator(noise), np.roll((np.abs(noise.local)**2).sum(axis=tuple(range(1, 8))), -1))
    with pytest.raises(InputError, match="needs the propagator of a point"):
        lqcd.spin_tensor(noise, momentum=(1, 0, 0))
    with pytest.raises(InputError, match="start from the same site"):
        lqcd.spin_tensor(noise, one)
    with pytest.raises(InputError, match="a momentum has three integers"):
        lqcd.meson_correlator(one, momentum=(1, 0))


def test_fields_of_a_propagator_are_those_of_its_matrix():
    """So that they may be sources of further solves."""
    gauge, source = rough(), (3, 1, 0, 2)
    matrix = lqcd.Wilson(gauge, 0.12, theta=(1, 0.5, 0, 0))
    propagator = lqcd.point_propagator(matrix, source, residual=1e-12)
    eta = matrix(lqcd.SpinorField(gauge.lattice).set_local(propagator.fields()[..., 2, 1])).local()
    assert abs(eta[source][2, 1] - 1) < 1e-10 and np.isclose(np.linalg.norm(eta), 1)
    again = lqcd.Propagator.from_jumping(gauge.lattice, source, propagator.jumping(), propagator.theta)
    assert np.allclose(again.local, propagator.local, rtol=0, atol=1e-14)


ON_RANKS = """
import hashlib, sys
from plaq import lqcd
from plaq.comm import world
lattice = lqcd.Lattice((4, 4, 2, 4), backend="fiber")
matrix = lqcd.Wilson(lqcd.GaugeField(lattice).hot(seed=1), 0.12, theta=(1, 0.2, 0, 0))
S = lqcd.point_propagator(matrix, (3, 1, 0, 2), residual=1e-8)
found = lqcd.spin_tensor(S), lqcd.correlator(S.local[..., 0, 0, 0, 0] ** 3, S, (1, 0, 0))
if world().rank == 0:
    print([hashlib.sha256(one.tobytes()).hexdigest() for one in found])
"""


@pytest.mark.skipif(not _core.comm.mpiexec(), reason="built without MPI")
def test_the_bits_do_not_depend_on_ranks():
    printed = set()
    for ranks in (1, 2, 4):
        launcher = launcher_command(ranks) if ranks > 1 else []
        done = subprocess.run([*launcher, sys.executable, "-c", ON_RANKS], capture_output=True, text=True, timeout=120,
                              check=False)
        assert done.returncode == 0, done.stderr
        printed.add(done.stdout)
    assert len(printed) == 1 and printed.pop()
