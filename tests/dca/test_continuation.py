"""Analytic continuation of functions whose spectra are known."""

from dataclasses import replace

import isolated
import numpy as np
import pytest
from mock_spectra import CASES, GRID, MESH, gaussians, moments, noisy

from plaq.dca.continuation import maxent, one_function
from plaq.dca.continuation.data import whitened
from plaq.dca.continuation.kernel import Grid
from plaq.dca.continuation.one_function import Choice, Matsubara, continued


def data_of(function, grid=GRID):
    return whitened(grid, function.numbers(grid), function.norm, function.known(grid))


def test_the_hilbert_transform_is_that_of_a_semicircle():
    x = GRID.omega
    semicircle = 2 / (np.pi * 9) * np.sqrt(np.maximum(9 - x**2, 0.0))
    exact = 2 / 9 * (x - np.sign(x) * np.sqrt(np.maximum(x**2 - 9, 0.0)))
    away = np.abs(np.abs(x) - 3) > 0.3  # the linear pieces cut the edges
    found = GRID.retarded(semicircle)
    assert np.abs(found.real - exact)[away].max() < 5e-3
    assert np.allclose(found.imag, -np.pi * semicircle, atol=1e-12)


def test_the_mean_chi2_of_the_truth_is_the_number_of_data():
    """16 samples, and as many data with strong correlations; 30 of them: the error of the ratio is 8 %."""
    truth = CASES["two peaks"]
    found = [data_of(noisy(truth, 1e-3, seed=seed)) for seed in range(30)]
    ratio = np.mean([data.chi2(truth) / data.size for data in found])
    assert all(data.size >= 12 for data in found)
    assert 0.75 < ratio < 1.25
    with_more = [data_of(noisy(truth, 1e-3, samples=64, seed=seed)) for seed in range(10)]
    assert 0.75 < np.mean([data.chi2(truth) / data.size for data in with_more]) < 1.25
    assert np.mean([data.shrinkage for data in with_more]) < np.mean([data.shrinkage for data in found])


def test_correlations_are_used():
    """Noise that scales all values together leaves their ratios exact, which tells two spectra apart."""
    truth, other = CASES["gap"], gaussians((0.4, -2.5, 0.6), (0.6, 3.0, 0.6))
    function = noisy(truth, 1e-12)
    scales = 1 + 1e-2 * np.random.default_rng(1).normal(size=len(function.samples))
    samples = function.values * scales[:, None]
    errors = np.sqrt(len(scales) - 1) * np.std(scales) * (np.abs(function.values.real)
                                                          + 1j * np.abs(function.values.imag))
    full, diagonal = (data_of(replace(function, errors=errors, samples=known)) for known in (samples, None))
    assert full.chi2(other) > 20 * diagonal.chi2(other)


def test_maximum_entropy_solves_its_equation():
    data = data_of(noisy(CASES["gap"], 1e-3))
    model = GRID.flat()
    scan = maxent.MaxEnt(GRID, data.kernel, model).scan(data.values)
    for alpha, spectrum in zip(scan.alphas, scan.spectra):
        if alpha < 1:
            continue  # no rule goes there: the force is a difference of equal numbers
        force = (data.values - data.kernel @ spectrum) @ (data.kernel / GRID.weights) / alpha
        visible = spectrum > 1e-9 * spectrum.max()
        assert np.abs(np.log(spectrum[visible] / model[visible]) - force[visible]).max() < 0.05
    assert np.all(np.diff(scan.chi2) < 1e-6 * scan.chi2[:-1])
    assert np.abs(GRID.integral(scan.spectra[-1]) - 1) < 1e-3


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("method", one_function.METHODS)
def test_mock_spectra(name, method):
    """Maximum entropy and boxes: gap to 5 %, weights to 2 %. Padé, with the noise of 1e-4: 10 % and 5 %."""
    truth = CASES[name]
    function = noisy(truth, samples=16 if method == "maxent" else 8)
    found = continued(GRID, function, Choice(method), beside=method == "maxent")
    parts = [[moments(GRID, a, side) for side in (-1, 1)] for a in (found.spectrum, truth)]
    (below, above), (true_below, true_above) = parts
    tolerance = 2 if method == "pade" else 1
    assert abs(above[1] - below[1] - (true_above[1] - true_below[1])) < 0.05 * tolerance * (true_above[1]
                                                                                         - true_below[1])
    assert abs(below[0] - true_below[0]) < 0.02 * tolerance
    if method != "pade":
        assert found.fits
    if method == "maxent":
        assert {"stochastic", "pade"} == found.beside.keys() | found.missing.keys()
        assert np.all(found.low <= found.spectrum + 1e-12) and np.all(found.spectrum <= found.high + 1e-12)
    if name == "quasiparticle" and method == "maxent":
        near = np.abs(GRID.omega) < 1
        assert abs(found.spectrum[near] @ GRID.weights[near] - truth[near] @ GRID.weights[near]) < 0.03


@pytest.mark.parametrize("rule", maxent.CHOICES)
@pytest.mark.parametrize("model", ["flat", "gaussian", "hotter"])
def test_default_models_and_rules(rule, model):
    truth = CASES["gap"]
    hotter = gaussians((0.4, -2.2, 1.2), (0.6, 2.7, 1.2))
    found = continued(GRID, noisy(truth), Choice("maxent", model, rule), hotter, beside=False)
    for side in (-1, 1):
        weight, centre = moments(GRID, found.spectrum, side)
        true_weight, true_centre = moments(GRID, truth, side)
        assert abs(weight - true_weight) < 0.01 and abs(centre - true_centre) < 0.05 * abs(true_centre)
    assert found.fits


def test_errors_are_those_of_repeated_data():
    """Jackknife of the continuation against the scatter over 8 data sets, where the spectrum is large."""
    truth = CASES["two peaks"]
    found = [continued(GRID, noisy(truth, 1e-3, seed=seed), Choice(), beside=False) for seed in range(8)]
    scatter = np.std([one.spectrum for one in found], axis=0, ddof=1)
    error = np.sqrt(np.mean([one.error**2 for one in found], axis=0))
    large = truth > 0.1
    assert 0.5 < np.mean(error[large]) / np.mean(scatter[large]) < 2.0


def test_data_of_no_spectrum_do_not_fit():
    """Part of the weight is negative."""
    function = noisy(CASES["gap"] - gaussians((0.2, 0.0, 0.3)) + gaussians((0.2, 6.0, 0.5)))
    assert not continued(GRID, function, Choice(), beside=False).fits


def test_exact_data_have_no_errors():
    function = noisy(CASES["two peaks"])
    exact = GRID.matsubara_kernel(MESH.omega) @ CASES["two peaks"]
    count = len(MESH.omega)
    exact = Matsubara(function.omega, exact[:count] + 1j * exact[count:], np.zeros(count, complex), None, 1.0, 0.5, 3.0)
    found = continued(GRID, exact, Choice())
    assert found.fits and found.samples is None and not found.error.any()
    assert np.abs(found.spectrum - CASES["two peaks"]).max() < 0.05 * CASES["two peaks"].max()


@pytest.mark.parametrize("case", [
    isolated.Isolated(isolated.DIMER, 6.0, 5.0, 3.0, measurements=8192),
    isolated.Isolated(isolated.PLAQUETTE, 6.0, 5.0, 3.0, measurements=8192),
], ids=["2 sites", "4 sites"])
def test_exact_clusters_with_the_bins_of_a_run(case):
    """Half filling: distance of the bands to 5 %, their weights to 2 % of the whole; the exact spectrum fits too."""
    G, grid = case.measure()["G"], Grid.up_to(case.mesh.wmax)
    places, weights = case.exact.poles()
    for k, *_ in case.group.momentum_orbits:
        function = Matsubara(case.mesh.omega, G.mean[k], G.error[k], G.jackknife[:, k], 1.0, 0.0, 9.0)
        found = continued(grid, function, Choice(), beside=False)
        data = data_of(function, grid)
        at_poles = np.array([np.interp(places, grid.omega, row / grid.weights) for row in data.kernel[:-1]])
        exact_chi2 = np.sum((at_poles @ weights[k] - data.values[:-1]) ** 2)
        assert exact_chi2 < data.size + 4 * np.sqrt(2 * data.size)
        centres = []
        for side in (-1, 1):
            on_side = side * places > 0
            weight, centre = moments(grid, found.spectrum, side)
            assert abs(weight - weights[k, on_side].sum()) < 0.02
            centres.append((centre, weights[k, on_side] @ places[on_side] / weights[k, on_side].sum()))
        (below, true_below), (above, true_above) = centres
        assert found.fits and abs(above - below - (true_above - true_below)) < 0.05 * (true_above - true_below)


def test_poles_are_those_of_the_function():
    case = isolated.Isolated(isolated.PLAQUETTE, 6.0, 5.0, 2.0)
    places, weights = case.exact.poles()
    omega = np.array([0.6, 3.0, 20.0])
    exact = case.exact.to_momentum(case.exact.green_iw(omega))
    assert np.allclose((weights[:, None] / (1j * omega[:, None] - places)).sum(axis=-1), exact, atol=1e-12)
    assert np.allclose(weights.sum(axis=1), 1)
