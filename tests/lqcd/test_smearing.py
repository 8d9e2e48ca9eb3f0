"""Smeared links, sources and sinks, Wilson loops and the static potential."""

import numpy as np
import pytest
from scipy.special import ive

from plaq import lqcd
from plaq.errors import InputError
from plaq.lqcd import gamma
from plaq.lqcd.measurements.potential import effective_potential, sommer_scale

EXTENTS, KAPPA, MU, THETA = (6, 4, 2, 4), 0.115, 0.2, (1, 0, 0.5, 0)


def free_propagator(factor):
    """[t, x, y, z, spin, source spin] from the origin: ``factor(p)`` times the inverse of M(p) = 1 - 2 kappa sum (cos p
    - i gamma sin p) + 2 i kappa mu gamma5, periodic, as in plaq."""
    axes = [2 * np.pi * (np.arange(n) + theta / 2) / n for n, theta in zip(EXTENTS, THETA)]
    p = np.stack(np.meshgrid(*axes, indexing="ij"))
    M = ((1 - 2 * KAPPA * np.cos(p).sum(axis=0))[..., None, None] * np.eye(4)
         + 2j * KAPPA * np.einsum("mtxyz,mab->txyzab", np.sin(p), gamma.GAMMA) + 2j * KAPPA * MU * gamma.GAMMA5)
    return np.fft.ifftn(factor(p)[..., None, None] * np.linalg.inv(M), axes=range(4))


def test_smeared_free_propagators_are_those_of_momentum_space():
    """Each step is a factor (1 + 2 kappa sum_j cos p_j) / (1 + 6 kappa)."""
    gauge = lqcd.GaugeField(lqcd.Lattice(EXTENTS))
    matrix, smearing = lqcd.Wilson(gauge, KAPPA, MU, THETA), lqcd.Smearing(gauge, 0.4, 3)
    source = lqcd.point_propagator(matrix, residual=1e-13, smearing=smearing)
    both = source.smear_sink(smearing)
    step = lambda p: (1 + 0.8 * np.cos(p[1:]).sum(axis=0)) / 3.4
    for found, times in ((source, 3), (both, 6)):
        expected = np.einsum("txyzab,ij->txyzaibj", free_propagator(lambda p, n=times: step(p) ** n), np.eye(3))
        assert np.allclose(found.fields(), expected, rtol=0, atol=1e-12)
    assert both.theta == THETA and not np.allclose(source.local, both.local, atol=1e-3)


def test_sources_of_noise_are_smeared_too():
    """The solution of the smeared source is what the matrix takes back to it."""
    gauge = lqcd.GaugeField(lqcd.Lattice(EXTENTS)).hot(seed=1)
    matrix, smearing = lqcd.Wilson(gauge, KAPPA, MU, THETA), lqcd.Smearing(gauge.copy().ape(0.5, 2), 0.25, 4)
    plain = lqcd.noise_propagator(matrix, 2, seed=1, residual=1e-12)
    smeared = lqcd.noise_propagator(matrix, 2, seed=1, residual=1e-12, smearing=smearing)
    back = [matrix(lqcd.SpinorField(gauge.lattice).set_local(p.fields()[..., 1, 0])) for p in (plain, smeared)]
    assert np.allclose(smearing(back[0], THETA).local(), back[1].local(), atol=1e-10)


def test_a_gaussian_grows_by_its_radius():
    """Far from boundaries the mean square radius of a point's amplitudes grows by 6 kappa / (1 + 6 kappa) with each
    step."""
    lattice = lqcd.Lattice((2, 14, 14, 14))
    psi = lqcd.SpinorField(lattice)
    eta = np.zeros((2, 14, 14, 14, 4, 3), complex)
    eta[0, 7, 7, 7, 0, 0] = 1
    psi.set_local(eta).smear(lqcd.GaugeField(lattice), 0.5, 6)
    amplitudes = psi.local()[0, ..., 0, 0].real
    x = np.arange(14) - 7
    radius = (amplitudes * (x[:, None, None] ** 2 + x[:, None] ** 2 + x**2)).sum()
    assert np.isclose(amplitudes.sum(), 1, rtol=1e-14) and np.isclose(radius, 6 * 0.75, rtol=1e-13)


def test_ape_smearing_in_python():
    gauge = lqcd.GaugeField(lqcd.Lattice((4, 4, 4, 4))).hot(seed=3)
    smooth = gauge.copy().ape(0.5, 3)
    assert np.array_equal(smooth.local()[..., 0, :, :],
                          gauge.local()[..., 0, :, :]) and smooth.unitarity_violation() < 1e-13
    assert smooth.plaquettes()[1] > gauge.plaquettes()[1] + 0.3
    with pytest.raises(InputError, match="weight alpha from 0 to 1, not 2"):
        gauge.ape(2)


def single_plaquette(beta):
    """<Re tr U> / 3 with the weight exp(beta Re tr U / 3) on SU(3), by Bessel functions: its partition function is
    sum_n det I_(n + i - j)(beta / 3)."""
    def Z(x):
        return sum(np.linalg.det([[ive(n + i - j, x) for j in range(3)] for i in range(3)])
                   for n in range(-12, 13)) * np.exp(3 * x)

    h, x = 1e-4, beta / 3
    return (np.log(Z(x + h)) - np.log(Z(x - h))) / (2 * h) / 3


def test_wilson_loops_at_strong_coupling_fall_with_their_area():
    """W = u^(r t) with the plaquette u of a single one, to 4 u^5, which is 4e-6 here. Four standard errors of
    configurations that are two sweeps apart and next to independent at this coupling."""
    assert np.isclose(single_plaquette(0.1), 0.1 / 18 + 0.01 / 216, rtol=1e-4)
    gauge, u = lqcd.GaugeField(lqcd.Lattice((6, 6, 6, 6))).hot(seed=8), single_plaquette(1.0)
    found = []
    for sweep in range(100):
        gauge.heat_bath(1.0, seed=8, sweep=sweep)
        if sweep >= 10 and sweep % 2:
            found.append([*gauge.wilson_loops(2, 2).ravel(), gauge.rectangle()])
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(len(found) - 1)
    assert error[0] < 0.01 * u and error[4] < 0.1 * u**2
    assert (np.abs(mean - [u, u**2, u**2, u**4, u**2]) < 4 * error).all()


def test_an_effective_potential_is_that_of_exponentials():
    r, t = np.arange(1, 6), np.arange(1, 5)
    V = 0.65 - 0.28 / r + 0.05 * r
    loops = np.exp(-np.outer(V, t))
    found = effective_potential(loops)
    assert np.allclose(found, V[:, None]) and found.shape == (5, 3)
    r0 = sommer_scale(V, np.eye(4))
    assert np.isclose(r0, np.sqrt((1.65 - 0.28) / 0.05)) and np.isclose(r0**2 * (0.28 / r0**2 + 0.05), 1.65)
    assert np.isnan(sommer_scale(V[:3], np.eye(2))) and np.isnan(sommer_scale(-V, np.eye(4)))
    assert np.isnan(effective_potential(-loops * [1, -1, 1, 1])).any()
