"""Effect of noise alone on a loop's mismatch, and of a deviation."""

import numpy as np
import pytest

from plaq.dca.loop import convergence
from plaq.dca.solver import jackknife_groups


def residual(rng, scales, size=16, shift=0.0):
    """Samples of a Sigma_out - Sigma_in whose modes have these standard deviations as a mean over groups, and of a
    density; shifted by so many of them along the first mode."""
    directions = np.linalg.qr(np.random.default_rng(0).normal(size=(60, 60)))[0][:len(scales)]
    mean = rng.normal(size=len(scales)) * scales + shift * scales * (np.arange(len(scales)) == 0)
    own = rng.normal(size=(size, len(scales))) * scales * np.sqrt(size)
    own += mean - own.mean(axis=0)
    density = rng.normal(size=size)
    values, n = np.array([own @ directions]).reshape(size, 60), density + rng.normal() / np.sqrt(size) - density.mean()
    left = lambda x: np.concatenate([x.mean(axis=0, keepdims=True), (x.sum(axis=0) - x) / (size - 1)])
    flat = left(values)
    return [convergence.Residual(1.0, (flat[:, :30] + 1j * flat[:, 30:]).reshape(-1, 3, 10), left(n))]


@pytest.mark.parametrize("scales", [[1.0, 0.05], [1.0, 0.6, 0.3, 0.1], [1.0] * 40], ids=["one mode", "few", "many"])
def test_noise_is_called_rare_as_often_as_it_is(scales):
    rng, replicas = np.random.default_rng(3), 1000
    weights = np.ones(16)
    chances = np.array([convergence.mismatch(residual(rng, np.array(scales)), weights).chance()
                        for _ in range(replicas)])
    for level in (0.1, 0.01):
        found = np.mean(chances < level)
        assert 0.3 * level < found < 1.7 * level + 4 * np.sqrt(level / replicas)
    assert np.mean(chances < convergence.RARE) < 0.005


@pytest.mark.parametrize("scales", [[1.0, 0.05], [1.0, 0.6, 0.3, 0.1]])
def test_a_deviation_beyond_noise_is_detected(scales):
    rng, weights = np.random.default_rng(4), np.ones(16)
    off = [convergence.mismatch(residual(rng, np.array(scales), shift=8.0), weights).is_noise() for _ in range(200)]
    assert np.mean(off) < 0.05


def test_modes_are_counted():
    rng = np.random.default_rng(5)
    one = np.mean([convergence.modes(rng.normal(size=(16, 1)) @ np.ones((1, 50))) for _ in range(50)])
    assert one == pytest.approx(17 / 15)  # (n + 2)/n of n degrees of freedom
    many = np.mean([1 / convergence.modes(rng.normal(size=(16, 40))) for _ in range(400)])
    assert 1 / many == pytest.approx(40, rel=0.35)
    assert convergence.modes(np.ones((1, 4))) == 1.0


def test_without_noise_the_smallest_mismatch_counts_but_rounding():
    exact = convergence.Mismatch(0.0, 0.0, 1e-7, 0.0, 4.0, 16)
    assert exact.chance() == 1.0 and exact.within(1.5)
    assert convergence.Mismatch(1e-3, 0.0, 0.0, 0.0, 4.0, 16).chance() == 0.0
    assert convergence.Mismatch(0.0, 1.0, 1e-3, 1e-5, 4.0, 16).chance() < convergence.RARE
    assert convergence.Mismatch(1.9, 1.0, 0.0, 1.0, 40.0, 16).is_noise(), "rare, but small"
    assert not convergence.Mismatch(2.1, 1.0, 0.0, 1.0, 40.0, 16).is_noise()
    assert convergence.Mismatch(9.0, 1.0, 0.0, 1.0, 1.0, 1).chance() == 1.0, "one group knows no error"
    assert np.isinf(jackknife_groups.error(np.zeros((1, 3)), np.ones(1))).all()


def test_the_approach_continues_until_deviations_of_density_and_self_energy_have_died_out():
    left = lambda sigma, density: convergence.iterations_left(convergence.Mismatch(sigma, 1.0, density, 1e-3), 1 / 16)
    assert left(1.0, 0.0) == left(0.0, 1e-3) == 3, "half of the noise, which is four errors of the temperature"
    assert left(1.0, 8e-3) == left(1.0, -8e-3) == left(8.0, 0.0) == 13
    without_noise = convergence.Mismatch(0.0, 0.0, 1e-7, 0.0)
    assert convergence.iterations_left(without_noise, 1.0) == 0
    assert convergence.iterations_left(convergence.Mismatch(1.0, 1.0, 0.5e-5, 1e-9), 1 / 16) == 3, "rounding"


def test_final_iterations_show_late_that_the_deviation_has_died_out():
    late = lambda sigma, density, noise=1.0: convergence.has_decayed(
        convergence.Mismatch(sigma, noise, density, 1e-3 * noise, 4.0, 16), sigma_error=1.0, density_error=1e-3)
    assert late(1.0, 0.0) and late(1.3, -1.3e-3)
    assert not late(1.6, 0.0) and not late(1.0, 1.6e-3)
    assert not late(1.0, 0.0, noise=2.1), "noise that could hide a deviation of one error"
    assert not convergence.has_decayed(convergence.Mismatch(1.0, np.inf, 0.0, np.inf, 1.0, 1), np.inf, np.inf)
