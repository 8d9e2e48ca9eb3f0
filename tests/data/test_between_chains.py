"""Error bars from bins and from chains, of processes that are known: autoregressive, and two states that rarely
change."""

import numpy as np
import pytest

from plaq.data.statistics import jackknife

CHAINS, BINS, REPLICAS = 16, 64, 2000
STEPS = 16  # of the process in a bin


def autoregressive(rng, tau):
    """[replica, chain, bin] of a process with mean 0 that forgets exponentially in ``tau`` bins."""
    a = np.exp(-1 / (tau * STEPS)) if tau else 0.0
    x, found = rng.normal(size=(REPLICAS, CHAINS)), []
    for _ in range(BINS // CHAINS * STEPS):
        x = a * x + np.sqrt(1 - a * a) * rng.normal(size=x.shape)
        found.append(x)
    return in_bins(found)


def two_states(rng, tau, weight, apart):
    """States at (1 - weight) apart, with this weight, and -weight apart, forgotten in ``tau`` bins; and noise of
    bins."""
    s, found = rng.random((REPLICAS, CHAINS)) < weight, []
    for _ in range(BINS // CHAINS * STEPS):
        u = tau * STEPS * rng.random(s.shape)
        s = np.where(s, u >= 1 - weight, u < weight)
        found.append(apart * (s - weight))
    found = in_bins(found)
    return found + rng.normal(size=found.shape)


def in_bins(steps):
    return np.moveaxis(np.array(steps).reshape(-1, STEPS, REPLICAS, CHAINS).mean(axis=1), 0, -1)


def intervals(values, chains):
    """Share of one-sigma intervals that hold 0, and the mean of z^2."""
    found = jackknife(lambda mean: mean, values.reshape(REPLICAS, BINS).T, weights=np.ones(BINS), chains=chains)
    z = found.mean / found.error
    return np.mean(np.abs(z) < 1), np.mean(z**2)


@pytest.mark.parametrize("process, arguments, share, square, share_of_bins", [
    (autoregressive, (0.0,), 0.69, 0.97, 0.68),
    (autoregressive, (0.2,), 0.68, 1.09, 0.64),
    (autoregressive, (1.0,), 0.67, 1.12, 0.50),
    (autoregressive, (4.0,), 0.68, 1.13, 0.41),
    (two_states, (8.0, 0.5, 5.0), 0.69, 1.24, 0.42),
    (two_states, (2.0, 0.1, 5.0), 0.65, 1.7, 0.50),
])
def test_one_sigma_holds_the_truth_as_often_as_it_should(process, arguments, share, square, share_of_bins):
    """As docs/statistics.md says, within 4 standard errors of 2000 replicas."""
    values = process(np.random.default_rng(3), *arguments)
    found = intervals(values, CHAINS)
    assert found == (pytest.approx(share, abs=0.045), pytest.approx(square, rel=0.2))
    assert intervals(values, 1)[0] == pytest.approx(share_of_bins, abs=0.045)


def test_the_error_is_the_larger_one_in_each_part():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(BINS, 5)) + 1j * (rng.normal(size=(BINS, 5)) + np.repeat(rng.normal(size=(8, 5)), 8, axis=0))
    found = jackknife(lambda m: m, x, weights=np.ones(BINS), chains=8)
    of_bins = x.real.std(axis=0, ddof=1) / 8 + 1j * x.imag.std(axis=0, ddof=1) / 8
    chains = x.reshape(8, 8, 5).mean(axis=1)
    of_chains = chains.real.std(axis=0, ddof=1) / np.sqrt(8) + 1j * chains.imag.std(axis=0, ddof=1) / np.sqrt(8)
    np.testing.assert_allclose(found.error.real, np.maximum(of_bins.real, of_chains.real))
    np.testing.assert_allclose(found.error.imag, np.maximum(of_bins.imag, of_chains.imag))


def test_of_a_ratio_of_unequal_bins_it_is_that_of_the_pseudo_values():
    rng = np.random.default_rng(2)
    weights, x = rng.integers(5, 50, 24), rng.normal(1, 0.1, 24) + np.repeat(rng.normal(0, 1, 6), 4)
    found = jackknife(lambda m: m**2, x, weights=weights, chains=6)
    h = weights.sum() / weights
    deviation = h * (found.mean) - (h - 1) * found.values - (found.mean - found.bias)
    groups = (deviation / h).reshape(6, 4).sum(axis=1)
    assert groups.sum() == pytest.approx(0, abs=1e-12)
    assert found.error == pytest.approx(np.sqrt(6 / 5 * (groups**2).sum()))
    assert found.disagreement > 4


def test_chains_that_agree_disagree_as_rarely_as_chance_has_it():
    rng = np.random.default_rng(4)
    found = [jackknife(lambda m: m, rng.normal(size=(BINS, 3)), weights=np.ones(BINS), chains=CHAINS).disagreement
             for _ in range(1000)]
    assert np.mean(np.array(found) > 2) < 0.0455 + 3 * np.sqrt(0.0455 / 1000)  # as one of six numbers: at most
    assert max(found) < 4.5


@pytest.mark.parametrize("shape", [np.repeat([0, 0, 0, 2.0], 16), np.tile([1.0] * 4 + [0.0] * 4, 8)],
                         ids=["chains", "halves of chains"])
def test_correlated_bins_are_detected(shape):
    x = np.random.default_rng(5).normal(size=BINS) + 2 * shape
    assert jackknife(lambda m: m, x, weights=np.ones(BINS), chains=8).disagreement > 4


def test_one_chain_single_bins_and_rounding_give_no_disagreement():
    x = np.random.default_rng(6).normal(size=BINS)
    for chains in (1, BINS):
        assert jackknife(lambda m: m, x, weights=np.ones(BINS), chains=chains).disagreement is None
    rounding = 1 + 1e-9 * np.repeat(np.arange(8), 8)
    assert jackknife(lambda m: m, rounding, weights=np.ones(BINS), chains=8).disagreement == 0
