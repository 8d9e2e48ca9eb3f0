"""T_c from lambda(T): published values, known curves, coverage of the error, and answers that are bounds."""

import numpy as np
import pytest

from plaq.dca.physics.transition import EXACT, crossing, falling, transition
from plaq.errors import InputError

# 2x2 cluster, U = 6, n = 0.95, 1e7 measurements: tutorial of DCA++ (Haehner et al., Comput. Phys. Commun. 246,
# 106709)
PUBLISHED_T = np.array([0.07, 0.075, 0.08, 0.085, 0.09, 0.095, 0.1])
PUBLISHED = np.array([1.0199, 1.0040, 0.9891, 0.9742, 0.9584, 0.9443, 0.9297])


def test_published_eigenvalues_give_the_published_temperature():
    found = transition(PUBLISHED_T, PUBLISHED, np.full(7, 0.001))
    assert found.status == "found" and found.method == "fit"
    assert abs(found.value - 0.0763) < 0.0001  # the published error
    assert abs(found.interpolation[0] - 0.0763) < 0.0001
    assert 0.0001 < found.error < 0.0003
    assert found.sentence.startswith("T_c = 0.07637(16) by fit, 0.0763(3) by linear interpolation")
    np.testing.assert_allclose(found.curve(PUBLISHED_T), PUBLISHED, atol=0.001)


def test_the_four_temperatures_of_the_protocol_suffice():
    found = transition(PUBLISHED_T[::2], PUBLISHED[::2], np.full(4, 0.004))
    assert abs(found.value - 0.0763) < 0.0002 and found.error < 0.001


@pytest.mark.parametrize("p1", [-0.2, 0.0, 0.04])
def test_exact_power_laws_are_recovered(p1):
    t = np.linspace(0.06, 0.12, 6)
    p2, tc = 0.7, 0.081
    found = transition(t, ((tc - p1) / (t - p1)) ** p2, np.full(6, 0.002))
    assert found.value == pytest.approx(tc, abs=1e-5)
    assert found.parameters[1] == pytest.approx(p1, abs=0.01)
    assert found.chi2 < 0.01 and found.dof == 3


def test_order_of_the_temperatures_does_not_matter_and_the_answer_repeats():
    mixed = np.random.default_rng(1).permutation(7)
    first = transition(PUBLISHED_T, PUBLISHED, np.full(7, 0.002))
    second = transition(PUBLISHED_T[mixed], PUBLISHED[mixed], np.full(7, 0.002))
    assert (first.value, first.error, first.sentence) == (second.value, second.error, second.sentence)


def test_the_error_covers_the_truth_as_often_as_it_should():
    # 150 replicas of the four temperatures with error 0.005; 3 standard errors of the hit rate. The pull has
    # width 1.
    rng = np.random.default_rng(2)
    t, tc = np.array([0.07, 0.08, 0.09, 0.1]), 0.0763
    exact = ((tc + 0.3) / (t + 0.3)) ** 1.3
    found = [transition(t, exact + 0.005 * rng.normal(size=4), np.full(4, 0.005)) for _ in range(150)]
    assert all(f.status == "found" for f in found)
    for value, error in (np.array([(f.value, f.error) for f in found]).T,
                         np.array([f.interpolation for f in found]).T):
        hits = np.mean(np.abs(value - tc) < error)
        assert abs(hits - 0.683) < 3 * np.sqrt(0.683 * 0.317 / 150)


def test_two_temperatures_are_interpolated():
    found = transition([0.07, 0.08], [1.01, 0.99], [0.002, 0.002])
    assert found.method == "interpolation" and found.parameters is None
    assert found.value == pytest.approx(0.075)
    # d T_c = dT * sigma / drop / sqrt(2) at the middle
    assert found.error == pytest.approx(0.01 * 0.002 / 0.02 / np.sqrt(2), rel=0.1)


def test_below_one_everywhere_is_a_bound_and_a_sentence():
    found = transition([0.08, 0.09, 0.1], [0.989, 0.958, 0.930], np.full(3, 0.004))
    assert (found.status, found.value, found.error) == ("bound", None, None)
    assert found.sentence == ("no transition found above T = 0.08: there the leading eigenvalue is 0.989(4), "
                              "2.8 standard errors below 1")


@pytest.mark.parametrize("value, error, said", [
    (0.62, 0.03, "0.62(3), below 1"), (1e-5, 1e-8, "below 1"), (0.0, EXACT, "is 0, below 1"),
    (0.8, np.inf, "0.8(?), below 1")])
def test_an_eigenvalue_far_from_one_needs_no_count_of_errors(value, error, said):
    found = transition([0.25, 0.5], [value, value / 2], [error, error])
    assert found.status == "bound" and found.sentence.endswith(said) and "standard errors" not in found.sentence


def test_above_one_everywhere_is_a_bound_too():
    found = transition([0.05, 0.06], [1.12, 1.05], [0.01, 0.01])
    assert found.status == "bound" and found.value is None
    assert found.sentence.startswith("the transition is above T = 0.06")


def test_a_crossing_at_the_last_point_has_a_large_error_and_a_remark():
    found = transition([0.07, 0.08, 0.09, 0.1], [1.002, 0.985, 0.958, 0.930], np.full(4, 0.01))
    assert found.status == "found" and found.error > 0.002
    assert "at T = 0.07 the eigenvalue is only 0.2 standard errors above 1" in found.sentence


def test_noise_that_crosses_one_three_times_has_one_answer():
    t = np.array([0.07, 0.075, 0.08, 0.085, 0.09])
    found = transition(t, [1.01, 0.99, 1.005, 0.985, 0.96], np.full(5, 0.01))
    assert 0.073 < found.value < 0.081 and 0.073 < found.interpolation[0] < 0.081
    assert np.isfinite(found.error) and np.isfinite(found.interpolation[1])


def test_eigenvalues_without_errors_give_a_temperature_without_one():
    found = transition(PUBLISHED_T, PUBLISHED, np.full(7, np.inf))
    assert abs(found.value - 0.0763) < 0.0002 and np.isinf(found.error)
    assert "do not support an error bar" in found.sentence
    assert "0.989(?)" in transition([0.08, 0.09], [0.989, 0.95], [np.inf, 0.1]).sentence


def test_a_poor_fit_is_named():
    found = transition(PUBLISHED_T, PUBLISHED + 0.01 * np.array([0, 0, 1, 0, 0, -1, 1]), np.full(7, 0.001))
    assert "the fit is poor" in found.sentence


def test_bad_input_is_refused():
    for arguments in (([0.1], [1.0], [0.1]), ([0.1, 0.1], [1.0, 0.9], [0.1, 0.1]),
                      ([0.1, 0.2], [1, 0.9], [0.1, 0.0]), ([0.1, 0.2], [np.nan, 0.9], [0.1, 0.1])):
        with pytest.raises(InputError, match="T_c needs"):
            transition(*arguments)


def test_monotone_regression():
    np.testing.assert_allclose(falling(np.array([3.0, 1.0, 2.0, 0.0]), np.ones(4)), [3, 1.5, 1.5, 0])
    np.testing.assert_allclose(falling(np.array([1.0, 2.0]), np.array([1.0, 0.5])), [1.8, 1.8])
    assert crossing(np.array([1.0, 2.0]), np.array([1.5, 1.5])) == np.inf
    assert crossing(np.array([1.0, 2.0]), np.array([0.5, 0.5])) == -np.inf
