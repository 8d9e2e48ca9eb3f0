"""Measurements of several iterations taken together."""

from dataclasses import replace

import numpy as np
import pytest
from isolated import OPEN_DIMER, Isolated

from plaq.dca.solver import iteration_average

SEEDS = (1, 2)


@pytest.fixture(scope="module")
def parts():
    """Measure a problem twice, with other random numbers, the second time with twice as many measurements."""
    found = []
    for seed, measurements in zip(SEEDS, (512, 1024)):
        case = Isolated(OPEN_DIMER, U=4.0, beta=2.0, mu=1.2, measurements=measurements, window=2, pairing=True,
                        channels=[("charge", 0, 0)], seed=seed)
        chains = case.fresh_chains()
        case.run(chains)
        found.append(case.collected(chains))
    return case.evaluation, found


def average(evaluation, *parts):
    """Return the average of measurements that were all made in the evaluation's bath, or in (measured, g0)."""
    found = None
    for part in parts:
        measured, g0 = part if isinstance(part, tuple) else (part, evaluation.g0)
        found = iteration_average.add(found, measured.in_bath(g0, evaluation.sigma_0))
    return found


def bath_of(measured):
    """(m, g0) with all data."""
    norm, ratio, inverse_g0 = (a.mean(axis=0) for a in (measured.norm, *vars(measured.bath).values()))
    g0 = norm / inverse_g0
    return (g0 - ratio / inverse_g0) / g0**2, g0


def test_with_one_bath_it_is_the_mean_over_all_measurements(parts):
    evaluation, (a, b) = parts
    together = average(evaluation, a, b)
    m, g0 = bath_of(together)
    np.testing.assert_allclose(g0, evaluation.g0, rtol=1e-14)
    np.testing.assert_array_equal(together.weights, a.weights + b.weights)
    assert (a.parts, together.parts, together.chains) == (1, 2, 4)
    mean = (a.m + 2 * b.m).mean(axis=0) / (a.norm + 2 * b.norm).mean()
    np.testing.assert_allclose(m, mean, rtol=1e-9, atol=1e-10)
    for name in ("sign", "order", "norm", "histogram", "pairing"):
        mean = (getattr(a, name) + 2 * getattr(b, name)) / 3
        np.testing.assert_allclose(getattr(together, name), mean, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(together.channels[0], (a.channels[0] + 2 * b.channels[0]) / 3, atol=1e-14)
    np.testing.assert_allclose(together.correlations["spin"],
                               (a.correlations["spin"] + 2 * b.correlations["spin"]) / 3, atol=1e-14)


def test_each_chain_continues_in_time(parts):
    evaluation, (a, b) = parts
    together = average(evaluation, a, b)
    assert together.series.shape == (4, a.series.shape[1] + b.series.shape[1], a.series.shape[2])
    np.testing.assert_array_equal(together.series[2], np.concatenate([a.series[2], b.series[2]]))


def test_with_two_baths_green_functions_and_fields_are_averaged(parts):
    evaluation, (a, b) = parts
    baths = evaluation.g0, 1 / (1 / evaluation.g0 + 0.3 + 0.2j / evaluation.mesh.omega)
    m, g0 = bath_of(average(evaluation, *zip((a, b), baths)))
    norms = np.array([a.norm.mean(), 2 * b.norm.mean()]) / (a.norm.mean() + 2 * b.norm.mean())

    def green(x, g):
        return g - g**2 * x.m.mean(axis=0) / x.norm.mean()

    np.testing.assert_allclose(1 / g0, norms[0] / baths[0] + norms[1] / baths[1], rtol=1e-13)
    ratio = norms[0] * green(a, baths[0]) / baths[0] + norms[1] * green(b, baths[1]) / baths[1]
    np.testing.assert_allclose(g0 - g0**2 * m, g0 * ratio, rtol=1e-10)


def test_a_self_energy_independent_of_the_bath_is_recovered_from_any_baths(parts):
    """G = 1/(1/g0 - Sigma_0) in each; the mean of G would be another one's."""
    evaluation, (a, b) = parts
    sigma = 0.4 - 2j / evaluation.mesh.omega + 0 * evaluation.g0
    evaluation = replace(evaluation, sigma_0=sigma)
    baths = evaluation.g0, 1 / (1 / evaluation.g0 + 0.5 + 0.3j)
    in_baths = [(replace(x, m=x.norm[:, None, None] * (g0 - 1 / (1 / g0 - sigma)) / g0**2), g0)
                for x, g0 in zip((a, b), baths)]
    together = average(evaluation, *in_baths)
    sums = [x.mean(axis=0) for x in (together.norm, *vars(together.bath).values())]
    here, m = evaluation.sample(*sums)
    np.testing.assert_allclose(-m / (1 - here.g0 * m), sigma, rtol=1e-9)
