"""Errors, fits and the verdict on a chain, on synthetic chains whose truth is known."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.signal import lfilter

from plaq.data.estimate import Axis
from plaq.data.gamma_method import gamma_method
from plaq.errors import InputError
from plaq.lqcd.analysis.averages import average, first_order
from plaq.lqcd.analysis.correlator_fits import fit_correlator, fold, weights_of
from plaq.lqcd.analysis.drift import compare, drifting_series
from plaq.lqcd.analysis.fits import quality, weights
from plaq.lqcd.analysis.model_averages import average_models, scan_windows
from plaq.lqcd.analysis.observables import from_observables, to_observables
from plaq.lqcd.analysis.variational import gevp_energies, optimal_correlators, solve_gevp
from plaq.lqcd.measurements.potential import cornell_quality, effective_potential, potential_weights, sommer_scale


def chain(rng, length, tau, *shape):
    """[time, ...] with mean 0, variance 1 and rho(t) = r^t, so that tau_int = (1 + r) / (2 (1 - r))."""
    r = (2 * tau - 1) / (2 * tau + 1)
    noise = rng.normal(size=(length + 300, *shape)) * np.sqrt(1 - r**2)
    return lfilter([1], [1, -r], noise, axis=0)[300:]


def test_each_quantity_has_its_own_autocorrelation_time():
    rng = np.random.default_rng(1)
    fast, slow = chain(rng, 4000, 0.5), chain(rng, 4000, 8)
    for series, tau in ((fast, 0.5), (slow, 8)):
        found = average("x", series)
        assert abs(found.tau_int - tau) < 4 * found.tau_int_error and 0 < found.tau_int_error < 0.25 * tau
        assert found.error == pytest.approx(np.sqrt(2 * tau / 4000), rel=0.4)
        assert len(found.jackknife) == 32
    assert len(average("x", slow[:1000]).jackknife) < 32  # bins of five times 8


def test_of_a_derived_number_it_is_that_of_its_change():
    """f = a / b of a slow b counts as slow; where the fast a has all the noise, as fast."""
    rng = np.random.default_rng(2)
    a, b = 1 + 0.1 * chain(rng, 4000, 0.5), 1 + 0.1 * chain(rng, 4000, 8)
    ratio = lambda mean: mean[0] / mean[1]  # noqa: E731
    both = np.stack([a, b], axis=1)
    moved = first_order(both, ratio)
    mean = both.mean(axis=0)
    assert np.allclose(moved, a / mean[1] - mean[0] * b / mean[1]**2, atol=1e-3)
    quiet = np.stack([a, 1 + 0.01 * (b - 1)], axis=1)
    assert average("f", quiet, ratio).tau_int < 1 < 3 < average("f", both, ratio).tau_int


@pytest.mark.parametrize("length, tau", [(100, 0.5), (400, 2), (2000, 10)])
def test_the_gamma_method_finds_errors_of_known_chains(length, tau):
    """Averages of 800 chains scatter as both errors say, tau and the error scatter as theirs say."""
    x = chain(np.random.default_rng(21), length, tau, 800)
    found, true = gamma_method([x]), np.sqrt(2 * tau / length)
    known = np.isfinite(found.error)
    assert known.mean() > 0.99
    assert np.sqrt(np.mean((x.mean(axis=0) / found.error)[known]**2)) == pytest.approx(1, abs=0.12)
    assert np.mean(found.error[known]) == pytest.approx(true, rel=0.05)
    assert np.std(found.error[known]) == pytest.approx(np.mean(found.error_error[known]), rel=0.2)
    assert 0.6 < np.std((found.tau_int[known] - tau) / found.tau_int_error[known]) < 1.3
    bins = [average("x", x[:, i]) for i in range(60)]
    assert np.sqrt(np.mean([(e.mean / e.error)**2 for e in bins if e.supported])) == pytest.approx(1, abs=0.3)
    assert bins[0].gamma.error == pytest.approx(found.error[0]) and bins[0].tau_int == bins[0].gamma.tau_int


def test_replicas_have_their_own_probability():
    """It is uniform for chains of one process, and small where one of them has another mean."""
    rng = np.random.default_rng(22)
    parts = [chain(rng, length, 2, 400) for length in (300, 500, 400)]
    found = gamma_method(parts)
    assert abs(found.replica_p.mean() - 0.5) < 0.06 and 0.02 < np.mean(found.replica_p < 0.05) < 0.1
    whole = np.concatenate([part[:, 0] for part in parts])
    e = average("x", whole, replicas=[300, 500, 400])
    assert e.gamma.error == pytest.approx(found.error[0]) and e.gamma.replica_p == pytest.approx(found.replica_p[0])
    parts[1][:, 0] += 1.0
    assert gamma_method(parts).replica_p[0] < 1e-6
    assert np.isnan(gamma_method(parts[:1]).replica_p).all()


def test_complex_series_have_errors_of_both_parts():
    z = chain(np.random.default_rng(23), 2000, 2) + 0.1j * chain(np.random.default_rng(24), 2000, 8)
    e, square = average("z", z), average("z2", z, lambda mean: mean**2)
    assert e.gamma.error.real == pytest.approx(average("x", z.real).gamma.error)
    assert e.gamma.error.imag == pytest.approx(average("y", z.imag).gamma.error)
    assert e.gamma.tau_int > 4 and np.iscomplexobj(square.mean)
    assert np.allclose(first_order(z, lambda mean: mean**2), 2 * z.mean() * (z - z.mean()), atol=1e-9)


@pytest.mark.parametrize("length", [2, 10, 15])
def test_short_series_have_no_autocorrelation_time(length):
    e = average("x", np.random.default_rng(25).normal(size=length))
    assert e.tau_int is None and not e.supported and np.isinf(e.gamma.error)


def test_what_does_not_tell_its_time_has_no_error():
    """A start that is remembered, to the end; a constant has the error zero."""
    slope = np.arange(64) + np.random.default_rng(3).normal(size=64)
    assert "too few to tell the autocorrelation time" in average("x", slope).note
    assert not average("x", slope).supported
    assert average("x", np.ones(64)).error == 0 and not average("x", np.ones(64)).note
    assert "only 5 bins" in average("x", np.arange(5.0)).note


def test_good_runs_hardly_ever_drift():
    """At most one of a thousand runs of ten quantities, some of them far from normal; here are 300."""
    rng, runs, fired = np.random.default_rng(4), 0, 0
    for length, tau in ((16, 0.5), (48, 0.5), (100, 1), (200, 2), (400, 2)):
        for _ in range(60):
            x = chain(rng, length, tau, 10)
            fired += bool(drifting_series({str(i): x[:, i] for i in range(5)},
                                   {str(i): np.exp(1.5 * x[:, i]) for i in range(5, 10)}))
            runs += 1
    assert runs == 300 and fired <= 1


@pytest.mark.parametrize("length, tau, start, decay", [(200, 0.5, 10.0, 15), (200, 1, 20.0, 16), (40, 0.5, 8.0, 30),
                                                       (64, 1, 10.0, 25), (1000, 5, 10.0, 120)])
def test_a_start_that_is_remembered_is_seen(length, tau, start, decay):
    """x -> x + start exp(-t / decay), in units of the scatter."""
    rng = np.random.default_rng(5)
    seen = sum(bool(drifting_series({"x": chain(rng, length, tau) + start * np.exp(-np.arange(length) / decay)},
                             {str(i): chain(rng, length, tau) for i in range(5)})) for _ in range(40))
    assert seen >= 36


def test_one_configuration_that_stands_out_is_no_drift():
    x = np.random.default_rng(6).normal(size=200)
    x[40] = 300.0
    assert compare(x, wider=True)[0] > 0.1 and compare(np.ones(50), wider=False)[0] == 1


def correlators(rng, count, points, tau=0.5):
    """[count, T] of A cosh(m (t - T/2)) with m = 0.4, T = 2 (points - 1), and noise that hangs together in t."""
    T = 2 * (points - 1)
    true = np.cosh(0.4 * (np.arange(T) - T / 2))
    noise = lfilter([1], [1, -0.8], chain(rng, count, tau, T), axis=1)
    return true * (1 + 0.05 * noise)


@pytest.mark.parametrize("count, tau, correlated", [(600, 0.5, True), (64, 0.5, False), (800, 8, None)])
def test_p_of_a_fit_is_uniform_where_the_model_is_true(count, tau, correlated):
    """And the mass scatters as its error says; correlated where there are ten independent measurements a point."""
    rng, p, pull = np.random.default_rng(7), [], []
    for _ in range(30):
        series = correlators(rng, count, 9, tau)
        found = fit_correlator("x", series, 2)
        fit, said = found["mass"], str(found)
        assert fit.dof == 5 and "chi^2/dof = " in said and "p = " in said
        assert correlated is None or ("uncorrelated" not in said) == correlated
        p.append(fit.p)
        pull.append((fit.mean - 0.4) / fit.error)
    assert len(p) > 20 and abs(np.mean(p) - 0.5) < 0.2 and 0.6 < np.std(pull) < 1.5
    assert np.mean(np.array(p) < 0.05) < 0.25


def test_a_wrong_model_has_a_small_p():
    rng = np.random.default_rng(8)
    series = correlators(rng, 800, 9) + 60 * np.exp(-1.5 * np.minimum(np.arange(16), 16 - np.arange(16)))
    assert fit_correlator("x", series, 0).quality.p < 1e-3


def brute_force(c, w, t, T):
    """chi^2 of A (exp(-m t) + exp(-m (T - t))) at its minimum over A and m, and m."""
    def squares(m):
        form = np.exp(-m * t) + np.exp(-m * (T - t))
        rest = c - (form @ w @ c) / (form @ w @ form) * form
        return rest @ w @ rest
    found = minimize_scalar(squares, bounds=(0.1, 2), method="bounded", options={"xatol": 1e-12})
    return found.fun, found.x


@pytest.mark.parametrize("kind", ["correlated", "shrunk", "svd", "uncorrelated"])
def test_a_fit_has_the_least_chi_squared_of_its_weights(kind):
    series = correlators(np.random.default_rng(9), 1000, 9)
    points, t = fold(series.T).T[:, 3:], np.arange(3, 9)
    w = weights_of(points, kind)
    found = fit_correlator("x", series, 3, weighting=kind)
    chi2, mass = brute_force(points.mean(axis=0), w.matrix, t, 16)
    assert (found.quality.chi2, found["mass"].mean) == pytest.approx((chi2, mass), rel=1e-6)
    assert found.weighting == kind and 1e-4 < found.quality.p < 1 and found.quality.dof == 4
    error = average("c", points).error
    if kind == "correlated":
        assert np.allclose(w.matrix @ w.covariance, np.eye(6), atol=1e-8) and found.quality.expected == 4
    assert np.sqrt(np.diag(w.covariance)) == pytest.approx(error, rel=0.05)
    assert np.allclose(found.curve(t), points.mean(axis=0), rtol=0.05)


def two_states(rng, count, noise, T=24):
    """[count, T] of states with masses 0.4 and 0.9 and amplitudes 1 and 0.7, and noise that hangs together."""
    t = np.arange(T)
    true = sum(a * (np.exp(-m * t) + np.exp(-m * (T - t))) for a, m in ((1, 0.4), (0.7, 0.9)))
    return true * (1 + noise * lfilter([1], [1, -0.7], rng.normal(size=(count, T)), axis=1))


def test_two_states_are_found_with_their_errors():
    pulls = []
    for seed in range(20):
        found = fit_correlator("x", two_states(np.random.default_rng(seed), 600, 0.02), 1, states=2)
        pulls.append([(found[n].mean - x) / found[n].error for n, x in
                      (("mass", 0.4), ("mass_1", 0.9), ("amplitude", 1), ("amplitude_1", 0.7))])
    assert np.std(pulls, axis=0) == pytest.approx(np.ones(4), abs=0.45) and abs(np.mean(pulls)) < 0.4


def test_averages_over_windows_scatter_as_their_errors_say():
    """Though single windows that begin early are off by many errors."""
    pulls = []
    for seed in range(12):
        series = two_states(np.random.default_rng(seed), 400, 0.02)
        found = average_models(scan_windows("x", series))
        pulls.append((found.value.mean - 0.4) / found.value.error)
        assert found.value.error == pytest.approx(np.hypot(found.statistical, found.systematic))
        assert found.weights.sum() == pytest.approx(1) and found.best.quality.p > 1e-3
    assert np.std(pulls) < 1.3 and abs(np.mean(pulls)) < 0.6
    single = fit_correlator("x", series, 4)
    assert abs(single["mass"].mean - 0.4) > 5 * single["mass"].error


def test_an_average_of_two_fits_is_that_of_jay_and_neil():
    series = two_states(np.random.default_rng(1), 400, 0.02)
    fits = [fit_correlator("x", series, first) for first in (8, 9)]
    found = average_models(fits)
    ln = [-(f.quality.chi2 + 2 * 2 + 2 * (f.x[0] - 8)) / 2 for f in fits]
    w = 1 / (1 + np.exp(ln[1] - ln[0]))
    (a, b), (da, db) = ([float(getattr(f["mass"], part)) for f in fits] for part in ("mean", "error"))
    assert found.weights[0] == pytest.approx(w) and found.value.mean == pytest.approx(w * a + (1 - w) * b)
    assert found.value.error**2 == pytest.approx(w * da**2 + (1 - w) * db**2 + w * (1 - w) * (a - b)**2)
    with pytest.raises(InputError, match="no average of fits: no fit has a minimum"):
        average_models([])


def test_energies_of_a_matrix_of_correlators():
    """Three exact states: the eigenvalues have their energies, from any t0 on; with noise, within errors."""
    T, energies = 24, np.array([0.3, 0.6, 1.0])
    rng, t = np.random.default_rng(3), np.minimum(np.arange(T), T)
    overlaps = rng.normal(size=(3, 3))
    C = np.einsum("in,tn,jn->tij", overlaps, np.exp(-np.multiply.outer(t, energies)), overlaps)
    values, vectors = solve_gevp(C[:13], 2)
    assert np.allclose(np.log(values[3:11] / values[4:12]), energies, atol=1e-6)
    assert np.allclose(vectors[5].T @ C[2] @ vectors[5], np.eye(3), atol=1e-9)
    noise = 1 + 1e-3 * rng.normal(size=(400, T, 1, 1)) + 1e-5 * rng.normal(size=(400, T, 3, 3))
    series = C * noise
    for reference in (None, 4):
        found = gevp_energies("E", series, 2, reference=reference)
        assert found.mean.shape == (9, 3)
        assert np.all(np.abs(found.mean - energies)[1:3] < 5 * found.error[1:3] + 1e-3)
    ground = optimal_correlators(series, 2, 4)
    assert ground.shape == (400, T, 3)
    fit = fit_correlator("E0", ground[..., 0], 3, 10, "exp")
    assert abs(fit["mass"].mean - 0.3) < 4 * fit["mass"].error
    with pytest.raises(InputError, match="not positive definite"):
        solve_gevp(-C, 2)


def test_pyerrors_finds_the_same_errors():
    pytest.importorskip("pyerrors")
    series = 1 + 0.1 * chain(np.random.default_rng(4), 900, 3, 2)
    a, b = to_observables(series, "A")
    ratio = a / b
    ratio.gamma_method(S=1.5)
    found = average("ratio", series, lambda mean: mean[0] / mean[1]).gamma
    assert (ratio.dvalue, ratio.ddvalue) == pytest.approx((float(found.error), float(found.error_error)), rel=0.02)
    again, replicas = from_observables(np.array(to_observables(series, "A", [400, 500])))
    assert np.allclose(again, series) and replicas == [400, 500]
    with pytest.raises(InputError, match="observables of one ensemble"):
        from_observables(a + to_observables(series[:, 0], "B"))


def test_the_quality_of_a_straight_line():
    """Independent points with errors of one: chi^2 and its distribution are the textbook's, correlated or not."""
    rng, x = np.random.default_rng(10), np.arange(8.0)
    J = np.stack([np.ones(8), x], axis=1)
    w = weights(rng.normal(size=(79, 8)), np.ones(8), 0.5)
    assert not w.correlated
    y = rng.normal(size=8)
    residual = y - J @ np.linalg.lstsq(J, y, rcond=None)[0]
    found = quality(residual, J, w)
    assert found.chi2 == pytest.approx(residual @ residual) and found.dof == 6
    assert np.isnan(quality(residual[:2], J[:2], weights(rng.normal(size=(9, 2)), np.ones(2), 0.5)).p)


def test_r0_of_loops_with_noise_has_its_chi_squared():
    rng, r, t = np.random.default_rng(11), np.arange(1, 7), np.arange(1, 4)
    v = 0.7 - 0.3 / r + 0.05 * r
    true = np.exp(-v[:, None] * t)
    loops = true * (1 + 0.01 * chain(rng, 800, 0.5, 6, 3))
    flat = average("potential", loops, effective_potential, axes=[Axis("r", r), Axis("t", t[:-1])]).pick(t=1)
    w = potential_weights(loops[:, :, 1:3], flat)
    found = cornell_quality(flat.mean[1:], w)
    assert w.correlated and found.dof == 2 and 0.001 < found.p < 0.999
    assert sommer_scale(v, w.matrix) == pytest.approx(np.sqrt((1.65 - 0.3) / 0.05))


def test_series_of_fits_have_their_errors_and_correlations():
    """Masses of two correlators with common fluctuations: the difference is far more precise than both."""
    rng, t, T = np.random.default_rng(31), np.arange(16), 16
    shift = 0.02 * chain(rng, 800, 1)
    fits = []
    for mass in (0.4, 0.5):
        m = mass + shift + 0.001 * rng.normal(size=800)
        points = np.exp(-np.outer(m, t)) + np.exp(-np.outer(m, T - t))
        fits.append(fit_correlator("x", points * (1 + 1e-4 * rng.normal(size=points.shape)), 4))
    for one in fits:
        square = average("m^2", one.series("mass", lambda m: m**2))
        mass = one["mass"]
        assert square.mean == pytest.approx(mass.mean**2, rel=1e-9)
        assert square.error == pytest.approx(2 * mass.mean * mass.error, rel=0.02)
    difference = average("d", fits[1].series("mass") - fits[0].series("mass"))
    assert difference.error < 0.2 * fits[0]["mass"].error and abs(difference.mean - 0.1) < 4 * difference.error + 1e-3
