"""T*: the maximum of the uniform spin susceptibility, its error and its bounds."""

import numpy as np
import pytest

from plaq.data.estimate import Estimate
from plaq.dca.physics.point import Point
from plaq.dca.physics.spin_maximum import spin_maximum

T = np.array([0.1, 0.15, 0.2, 0.3, 0.45, 0.7, 1.0])


def points(chi, error):
    return [Point(i, t, 1 / t, 0.0, {"spin_susceptibility": Estimate(
        "spin_susceptibility", np.array([c, 9.0]), np.full(2, error))}) for i, (t, c) in enumerate(zip(T, chi))]


def peaked(at, width=1.0):
    return 0.2 - 0.05 * np.log(T / at) ** 2 / width


def test_a_parabola_in_the_logarithm_is_found_exactly():
    found = spin_maximum(points(peaked(0.26), 1e-6))
    assert found.status == "found" and found.value == pytest.approx(0.26, rel=1e-4) and found.error < 1e-3


def test_the_error_is_the_scatter_of_noisy_data():
    rng, error = np.random.default_rng(3), 4e-4
    found = [spin_maximum(points(peaked(0.26) + error * rng.standard_normal(len(T)), error)) for _ in range(60)]
    deviation = np.array([(f.value - 0.26) / f.error for f in found if f.status == "found"])
    assert len(deviation) > 55 and 0.7 < np.sqrt(np.mean(deviation**2)) < 1.4


@pytest.mark.parametrize("at, status, bound", [(0.02, "below", 0.1), (4.0, "above", 1.0)])
def test_a_maximum_outside_is_a_bound(at, status, bound):
    found = spin_maximum(points(peaked(at, 4.0), 1e-4))
    assert (found.status, found.bound, found.value) == (status, bound, None)
    assert f"{status} T = {bound:g}" in found.sentence


def test_a_maximum_that_noise_hides_bounds_from_above():
    found = spin_maximum(points(peaked(0.13), 5e-3))
    assert found.status == "below" and 0.15 <= found.bound <= 0.45


def test_too_little_is_said_so():
    assert "3 temperatures" in spin_maximum(points(peaked(0.2), 1e-3)[:2]).sentence
    assert "constant" in spin_maximum(points(np.full(7, 0.1), 1e-2)[2:5]).sentence
    assert spin_maximum([]).status == "not measured"
