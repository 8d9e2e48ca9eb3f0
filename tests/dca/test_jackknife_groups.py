"""Errors from leaving groups of chains out, each of which responds to a bath of its own."""

import numpy as np
import pytest

from plaq.dca.loop.mixing import Output, mixed
from plaq.dca.solver import jackknife_groups


@pytest.mark.parametrize("bins, chains", [(64, 8), (64, 16), (64, 64), (64, 640), (96, 24), (51, 17), (64, 4), (64, 1)])
def test_chains_and_their_bins_are_in_the_same_group(bins, chains):
    of_chain, of_bin = jackknife_groups.group_of_chain(bins, chains), jackknife_groups.group_of_bin(bins, chains)
    assert sorted(set(of_chain)) == sorted(set(of_bin)) == list(range(jackknife_groups.count(bins, chains)))
    for c in range(chains):  # as plaq.data.bins has it
        own = range(c * bins // chains, (c + 1) * bins // chains) if bins >= chains else [c * bins // chains]
        assert all(of_bin[b] == of_chain[c] for b in own)
    assert np.ptp(np.bincount(of_chain)) <= -(-chains // min(bins, chains))


def leave_one_out(values, weights):
    """Samples of a mean over groups."""
    total = weights.sum()
    left = [(weights @ values - w * v) / (total - w) for v, w in zip(values, weights)]
    return np.array([weights @ values / total, *left])


def test_own_values_and_errors_of_a_mean_are_those_of_the_groups():
    values, weights = np.array([1.0, 2.0, 4.0, 7.0]), np.array([1.0, 2.0, 1.0, 1.0])
    samples = leave_one_out(values, weights)
    np.testing.assert_allclose(jackknife_groups.pseudo_values(samples, weights), values)
    same = np.ones(4)
    assert jackknife_groups.error(leave_one_out(values, same), same) == pytest.approx(values.std(ddof=1) / 2)
    assert jackknife_groups.pseudo_values(samples[:1], weights) == samples[:1]
    assert np.isinf(jackknife_groups.error(samples[:1], weights))


@pytest.mark.parametrize("J", [0.0, -0.6, 0.35])
def test_errors_include_the_noise_of_the_bath(J):
    """A linear loop x -> J x + noise, 6 iterations that approach and 4 that count: the mean of the latter scatters as
    the error from groups says, which is not what the noise of the measurements alone would give."""
    size, replicas = 16, 1000
    rng, weights = np.random.default_rng(1), np.ones(size)
    means, bars = [], []
    for _ in range(replicas):
        x, outputs, counted = np.zeros(1 + size), [], []
        for i, m in enumerate([0.05] * 6 + [0.25] * 4):
            deviations = jackknife_groups.pseudo_values(x, weights) - x[0] if i >= 6 else np.zeros(size)
            shifts = jackknife_groups.shifts(deviations[:, None, None] + 0j, np.ones((1, 1)), weights)
            values = J * (x[0] + jackknife_groups.SHIFT_FRACTION * shifts) + rng.normal(size=size) * np.sqrt(size / m)
            y = leave_one_out(jackknife_groups.extrapolate(values, shifts, weights), weights)
            outputs.append(Output(m, y))
            x = mixed(outputs)
            counted += [y] if i >= 6 else []
        final = np.mean(counted, axis=0)
        means.append(final[0])
        bars.append(jackknife_groups.error(final, weights))
    scatter, bar = np.std(means), np.sqrt(np.mean(np.square(bars)))
    assert 0.94 < bar / scatter < 1.14, "one of 15 differences between groups is found from half of its length"
    assert J == 0 or abs(1 / scatter - 1) > 0.08


def test_a_linear_response_to_the_shift_is_extrapolated_exactly():
    weights = np.array([1.0, 2.0, 1.0, 3.0])
    deviations = np.array([0.3, -0.1, 0.2, 0.05])[:, None, None] + np.zeros((4, 2, 3))
    shifts = jackknife_groups.shifts(deviations + 1j, np.array([[1.0, 2.0, 0.5], [0.1j, 1.0, 1.0]]), weights)
    assert weights @ shifts == pytest.approx(0, abs=1e-12) and shifts[0] - shifts[1] == pytest.approx(0.4)
    at = lambda part: [np.array([[1.0, 2.0j], [3.0, 4.0]]) * (1 + part * a) for a in shifts]
    for one in (lambda values: values, np.array):  # rows of two-particle functions in shares are lists
        found = jackknife_groups.extrapolate(one(at(jackknife_groups.SHIFT_FRACTION)), shifts, weights)
        np.testing.assert_allclose(found, at(1.0))
    assert jackknife_groups.extrapolate({"n": np.zeros(4), "none": None}, shifts, weights)["none"] is None
    same = np.arange(4.0)
    none = jackknife_groups.shifts(0 * deviations + 1e-14, np.ones((2, 3)), weights)
    np.testing.assert_array_equal(jackknife_groups.extrapolate(same, none, weights), same)


def test_an_oscillating_loop_comes_to_rest():
    for J in (-1.5, -0.9, 0.4 + 0.69j, 0.9):
        outputs, x = [], 1.0
        for _ in range(60):
            outputs.append(Output(1.0, np.array(J * x)))
            x = mixed(outputs)
        assert abs(x) < 0.05
