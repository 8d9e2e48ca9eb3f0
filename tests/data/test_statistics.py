"""Jackknife, autocorrelation times and error bars against processes whose answers are known exactly."""

import numpy as np
import pytest

from plaq.data.estimate import Axis, Estimate, with_error
from plaq.data.statistics import (
    Resampled,
    autocorrelation_time,
    average,
    blocking,
    by_parts,
    jackknife,
    sign_average,
    unsupported,
)


def ar1(rng, coefficient, chains, length):
    """x_t = a x_{t-1} + noise, stationary, variance 1: rho(t) = a^t, tau = (1 + a) / (2 (1 - a))."""
    noise = rng.normal(size=(chains, length)) * np.sqrt(1 - coefficient**2)
    x = np.empty((chains, length))
    x[:, 0] = rng.normal(size=chains)
    for t in range(1, length):
        x[:, t] = coefficient * x[:, t - 1] + noise[:, t]
    return x


def bins_of(series, bins):
    return series.reshape(bins, -1).mean(axis=1)


# --- jackknife
# ----------------------------------------------------------------------------------------------------


def test_kurtosis_is_that_of_the_bins():
    rng = np.random.default_rng(20)
    normal = [jackknife(lambda m: m, rng.normal(size=(64, 3)) + 1j, weights=np.ones(64)).kurtosis for _ in range(300)]
    assert np.mean(normal) == pytest.approx(3 * 63 / 65, abs=0.06) and max(normal) < 6
    heavy = [jackknife(lambda m: m, rng.pareto(1.5, size=(64, 100)).mean(axis=1), weights=np.ones(64)).kurtosis
             for _ in range(50)]
    assert np.median(heavy) > 10
    single = np.zeros(64)
    single[5] = 1.0
    assert jackknife(lambda m: m, single, weights=np.ones(64)).kurtosis == pytest.approx(62, abs=1)
    assert jackknife(lambda m: m, np.ones(64), weights=np.ones(64)).kurtosis is None


def test_of_a_linear_function_is_the_standard_error():
    x = np.random.default_rng(1).normal(size=(20, 3))
    result = jackknife(lambda m: m, x, weights=np.full(20, 7))
    np.testing.assert_allclose(result.mean, x.mean(axis=0))
    np.testing.assert_allclose(result.error, x.std(axis=0, ddof=1) / np.sqrt(20))
    np.testing.assert_allclose(result.bias, 0, atol=1e-15)
    assert result.values.shape == (20, 3)


def test_leave_one_out_values_and_error_follow_the_textbook_formula_for_a_ratio():
    rng = np.random.default_rng(2)
    sign, signed = rng.normal(0.6, 0.1, 24), rng.normal(1.0, 0.2, 24)
    result = jackknife(sign_average, sign, signed, weights=np.ones(24))
    left_out = np.array([np.delete(signed, b).mean() / np.delete(sign, b).mean() for b in range(24)])
    np.testing.assert_allclose(result.values, left_out)
    np.testing.assert_allclose(result.error, np.sqrt(23 / 24 * ((left_out - left_out.mean()) ** 2).sum()))
    np.testing.assert_allclose(result.bias, 23 * (left_out.mean() - result.mean))


def test_unequal_bins_follow_the_pseudo_values():
    rng = np.random.default_rng(3)
    m, x = rng.integers(5, 50, 30), rng.normal(1, 0.3, 30)
    result = jackknife(lambda a: a**2, x, weights=m)
    n, h = m.sum(), m.sum() / m
    theta = (m @ x / n) ** 2
    left_out = np.array([(np.delete(m, b) @ np.delete(x, b) / np.delete(m, b).sum()) ** 2 for b in range(30)])
    corrected = 30 * theta - ((1 - m / n) * left_out).sum()
    pseudo = h * theta - (h - 1) * left_out
    np.testing.assert_allclose(result.mean - result.bias, corrected)
    np.testing.assert_allclose(result.error**2, ((pseudo - corrected) ** 2 / (h - 1)).mean())


def test_bias_of_a_square_is_its_variance():
    # <m>^2 is biased by var/n exactly, and the jackknife finds it exactly for a quadratic function
    x = np.random.default_rng(4).normal(size=40)
    result = jackknife(np.square, x, weights=np.ones(40))
    np.testing.assert_allclose(result.bias, x.var(ddof=1) / 40)


def test_complex_results_have_an_error_in_each_part_and_streaming_changes_nothing():
    rng = np.random.default_rng(5)
    z = rng.normal(size=(32, 4)) + 3j * rng.normal(size=(32, 4))
    kept = jackknife(lambda m: 1 / (2 + m), z, weights=np.ones(32))
    streamed = jackknife(lambda m: 1 / (2 + m), z, weights=np.ones(32), keep=False)
    assert streamed.values is None
    np.testing.assert_array_equal(kept.error, streamed.error)
    spread = kept.values - kept.values.mean(axis=0)
    np.testing.assert_allclose(kept.error, by_parts(np.sqrt, 31 / 32 * by_parts(np.square, spread).sum(axis=0)))


def test_several_results_from_one_chain_share_the_resamples():
    x = np.random.default_rng(6).normal(size=(20, 2))
    both = jackknife(lambda m: {"sum": m.sum(), "pair": m}, x, weights=np.ones(20))
    np.testing.assert_allclose(both["sum"].values, both["pair"].values.sum(axis=1))


def test_single_precision_bins_are_added_in_double():
    x = np.full(1000, 0.1, dtype=np.float32)
    result = jackknife(lambda m: m, x, weights=np.ones(1000))
    assert result.mean == pytest.approx(float(np.float32(0.1)), rel=1e-13)


def test_empty_bins_are_left_out():
    x = np.array([1.0, 2.0, np.nan, 4.0])
    weights = np.array([1, 1, 0, 1])
    result = jackknife(lambda m: m, x, weights=weights)
    np.testing.assert_allclose(result.mean, 7 / 3)
    assert len(result.values) == 3


def test_one_bin_has_no_error_and_none_is_refused():
    result = jackknife(lambda m: m, np.array([[2.0, 3.0]]), weights=[5])
    assert np.all(np.isinf(result.error))
    with pytest.raises(ValueError, match="no bin"):
        jackknife(lambda m: m, np.zeros(3), weights=np.zeros(3))
    with pytest.raises(ValueError, match="3 bins came with 4 weights"):
        jackknife(lambda m: m, np.zeros(3), weights=np.ones(4))


@pytest.mark.parametrize("bins", [32, 64])
def test_one_sigma_holds_the_truth_as_often_as_it_should(bins):
    # s = +-1 with <s> = 0.4, O correlated with s, known <sO>/<s>; 2000 replicas, Student's coverage, 3
    # standard errors
    from scipy.stats import t

    rng = np.random.default_rng(bins)
    replicas, per_bin = 2000, 25
    hits = 0
    for _ in range(replicas):
        s = np.where(rng.random((bins, per_bin)) < 0.7, 1.0, -1.0)
        o = 2.0 + 0.5 * s + 0.3 * rng.normal(size=s.shape)
        result = jackknife(sign_average, s.mean(axis=1), (s * o).mean(axis=1), weights=np.full(bins, per_bin))
        truth = (2.0 * 0.4 + 0.5) / 0.4
        hits += abs(result.mean - truth) < result.error
    expected = 1 - 2 * t.sf(1, bins - 1)
    assert abs(hits / replicas - expected) < 3 * np.sqrt(expected * (1 - expected) / replicas)


def test_binned_error_of_a_correlated_series_is_the_exact_one():
    # AR(1), tau = 9.5, bins of 100 tau: error^2 = 2 tau / N up to O(tau / bin length) = 1 %
    rng = np.random.default_rng(8)
    a, bins, length = 0.9, 64, 64 * 950
    errors = [jackknife(lambda m: m, bins_of(x, bins), weights=np.full(bins, length // bins)).error
              for x in ar1(rng, a, 100, length)]
    exact = np.sqrt(2 * 9.5 / length)
    mean_square = np.mean(np.square(errors))
    assert abs(mean_square / exact**2 - 1) < 3 * np.sqrt(2 / (63 * 100)) + 0.011


# --- autocorrelation
# ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("a", [0.0, 0.5, 0.9, 0.97])
def test_tau_of_ar1(a):
    # 40 series: the mean within 4 standard errors plus the window's 1 %, the scatter within 40 % of the
    # reported error
    x = ar1(np.random.default_rng(9), a, 40, 40000)
    exact = (1 + a) / (2 * (1 - a))
    tau, error = np.array([autocorrelation_time(series) for series in x]).T
    assert abs(tau.mean() - exact) < 4 * tau.std() / np.sqrt(40) + 0.01 * exact
    assert 0.6 < tau.std() / error.mean() < 1.4
    joined, joined_error = autocorrelation_time(x)
    assert abs(joined - exact) < 4 * joined_error + 0.01 * exact
    assert joined_error == pytest.approx(error.mean() / np.sqrt(40), rel=0.2)


def test_series_without_a_tau():
    assert autocorrelation_time(np.full(100, 0.3)) == (np.inf, np.inf)
    assert autocorrelation_time(np.arange(20.0)) == (np.inf, np.inf)


def test_blocking_rises_to_tau():
    a, exact = 0.8, 4.5
    x = ar1(np.random.default_rng(11), a, 8, 65536)
    lengths, tau, error = blocking(x)
    assert lengths[0] == 1 and lengths[-1] * 32 <= x.size
    assert tau[0] == pytest.approx(0.5, rel=1e-4)
    np.testing.assert_array_less(np.abs(tau - exact_blocked_tau(a, lengths)), 4 * error)
    assert abs(tau[8] - exact) < 4 * error[8] + exact * exact / lengths[8]


def exact_blocked_tau(a, lengths):
    """B var(block mean)/2 for AR(1): 1/2 + sum_{t<B} (1 - t/B) a^t."""
    return np.array([0.5 + sum((1 - t / b) * a**t for t in range(1, b)) for b in lengths])


# --- what the data can support
# ------------------------------------------------------------------------------------


def test_unsupported_errors_are_named():
    ones = np.ones(64)
    noisy = np.random.default_rng(12).normal(0.0, 0.2, 64)
    assert unsupported(100 * ones, ones, tau_int=10.0) == ""
    assert "15 bins" in unsupported(np.ones(15), np.ones(15))
    assert "average sign" in unsupported(100 * ones, noisy)
    assert "shorter than 5 tau_int" in unsupported(100 * ones, ones, tau_int=21.0)
    assert "tau_int = inf" in unsupported(100 * ones, ones, tau_int=np.inf, chains=16)


def test_bins_are_as_long_as_the_stretches_they_are_made_of():
    ones = np.ones(64)
    assert unsupported(100 * ones, ones, tau_int=4.0, parts=4) == ""
    assert "parts of bins of 25 measurements are shorter than 5 tau_int = 30" in unsupported(100 * ones, ones, 6.0,
                                                                                             parts=4)
    assert unsupported(100 * ones, ones, tau_int=6.0, parts=4, chains=8) == ""  # the scatter between chains will do
    # The error that is asked about, of AR(1): bins of 4 stretches, each 2.5 tau long, see sqrt(1 - 1/2.5) of it.
    x = ar1(np.random.default_rng(14), 0.95, 60, 4 * 64 * 49)
    errors = [jackknife(lambda m: m, s.reshape(4, 64, 49).mean(axis=(0, 2)), weights=np.ones(64)).error for s in x]
    assert np.sqrt(np.mean(np.square(errors)) / (2 * 19.5 / x.shape[1])) == pytest.approx(np.sqrt(1 - 1 / 2.5),
                                                                                          rel=0.06)


def test_average_reports_an_error_that_the_data_cannot_support_as_such():
    rng = np.random.default_rng(13)
    good = average("density", np.ones(64), rng.normal(0.95, 0.01, 64), np.full(64, 100), tau_int=2.0)
    assert good.supported and good.note == "" and good.error == pytest.approx(0.00125, rel=0.3)
    bad = average("density", np.ones(8), rng.normal(0.95, 0.01, 8), np.full(8, 100))
    assert not bad.supported and np.isinf(bad.error) and "8 bins" in bad.note
    assert str(bad).endswith("(?)")


# --- estimate
# -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value, error, text",
    [(0.8831, 0.0041, "0.883(4)"), (0.0763, 0.001, "0.0763(10)"), (12.3, 0.19, "12.30(19)"),
     (1234.4, 56, "1234(56)"), (3.0, 0.0967, "3.00(10)"), (3.0, 9.7, "3(10)"), (6, 0, "6"),
     (0.5, np.inf, "0.5(?)"), (-1.25, 0.02, "-1.25(2)")],
)
def test_value_and_error_in_one_number(value, error, text):
    assert with_error(value, error) == text


def test_picking_along_named_axes():
    axes = (Axis("K", np.arange(4)), Axis("w", np.arange(3), "t"))
    g = Resampled(np.arange(12.0).reshape(4, 3), np.ones((4, 3)), np.zeros((4, 3)), np.zeros((20, 4, 3)))
    g = g.estimate("G", axes, convention="G(tau) = -<T c c+>")
    picked = g.pick(K=2)
    assert picked.mean.tolist() == [6, 7, 8] and [axis.name for axis in picked.axes] == ["w"]
    assert picked.jackknife.shape == (20, 3)
    assert str(g.pick(K=2, w=1)) == "7.0(10)"
    assert str(g) == "G [K: 4, w: 3]"
    with pytest.raises(KeyError, match="has axes"):
        g.pick(q=0)


def test_an_estimate_with_shapes_that_disagree_is_refused():
    with pytest.raises(ValueError, match="error has shape"):
        Estimate("n", np.zeros(3), np.zeros(2))
    with pytest.raises(ValueError, match="axes"):
        Estimate("n", np.zeros(3), np.zeros(3), axes=(Axis("K", np.arange(2)),))
