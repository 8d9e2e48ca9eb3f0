"""Errors from leaving groups of chains out, each of which has a bath of its own."""

import numpy as np
import pytest

from plaq.dca.mixing import mixed
from plaq.dca.solver import groups


@pytest.mark.parametrize("bins, chains", [(64, 8), (64, 16), (64, 64), (64, 640), (96, 24), (51, 17), (64, 4), (64, 1)])
def test_chains_and_their_bins_are_in_the_same_group(bins, chains):
    of_chain, of_bin = groups.of_chains(bins, chains), groups.of_bins(bins, chains)
    assert sorted(set(of_chain)) == sorted(set(of_bin)) == list(range(groups.count(bins, chains)))
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
    np.testing.assert_allclose(groups.own(samples, weights), values)
    same = np.ones(4)
    assert groups.error(leave_one_out(values, same), same) == pytest.approx(values.std(ddof=1) / 2)
    assert groups.own(samples[:1], weights) == samples[:1] and np.isinf(groups.error(samples[:1], weights))


@pytest.mark.parametrize("J, worst", [(0.0, 0.03), (-0.6, 0.05), (0.35, 0.05), (0.3 + 0.5j, 0.06)])
def test_bars_have_the_noise_of_the_bath_in_them(J, worst):
    """A linear loop x -> J x + noise, 6 iterations that approach and 4 that count: the mean of the latter scatters as the
    error from groups says, which is not what the noise of the measurements alone would give."""
    size, replicas = 16, 4000
    rng, weights = np.random.default_rng(1), np.ones(size)
    many = lambda m: (rng.normal(size=(size, replicas)) + 1j * rng.normal(size=(size, replicas))) * np.sqrt(size / m)
    x, outputs, counted = np.zeros((1 + size, replicas), complex), [], []
    for i, m in enumerate([0.05] * 6 + [0.25] * 4):
        baths = groups.own(x, weights) if i >= 6 else np.array([x[0]] * size)
        y = leave_one_out((J * baths + many(m)).reshape(size, -1), weights)
        outputs.append((m, y))
        x = mixed(outputs)
        counted += [y] if i >= 6 else []
    final = np.mean(counted, axis=0)
    scatter = final[0].real.std()
    bar = np.sqrt(np.mean(groups.error(final, weights).real ** 2))
    assert bar / scatter == pytest.approx(1, abs=worst + 0.02)
    assert J == 0 or abs(1 / scatter - 1) > 0.08


def test_an_oscillating_loop_comes_to_rest():
    for J in (-1.5, -0.9, 0.4 + 0.69j, 0.9):
        outputs, x = [], 1.0
        for _ in range(60):
            outputs.append((1.0, np.array(J * x)))
            x = mixed(outputs)
        assert abs(x) < 0.05
