"""Estimates that compute: operators and numpy functions with the errors that follow."""

import numpy as np
import pytest

from plaq.data.estimate import Axis, Estimate, mark_bins
from plaq.data.propagation import MOST_ALONE, UNDEFINED, derive
from plaq.data.statistics import jackknife

K = Axis("K", np.array([[0.0, 0.0], [np.pi, 0.0]]))
OMEGA = Axis("omega", np.array([0.5, 1.5, 2.5]), "t")


def estimate(name, series, weights=None, label="run", chains=1, **labels):
    weights = np.ones(len(series)) if weights is None else weights
    found = jackknife(lambda average: average, series, weights=weights, chains=chains).estimate(name, **labels)
    found.bins = label
    return found


@pytest.fixture
def pair():
    """Two correlated numbers of one run."""
    rng = np.random.default_rng(1)
    x = rng.normal(2, 0.1, 64)
    y = 0.5 * x + rng.normal(1, 0.05, 64)
    return estimate("x", x, unit="t"), estimate("y", y, unit="t"), x, y


@pytest.mark.parametrize("function", [
    lambda x, y: x / y, lambda x, y: x * y - 3, lambda x, y: np.log(x) + 2 * np.exp(-y), lambda x, y: x**2 / np.sqrt(y),
    lambda x, y: (x - y) / (x + y), lambda x, y: abs(-x) ** y,
])
def test_functions_of_one_run_have_the_error_and_bias_of_the_whole_jackknife(pair, function):
    x, y, series_x, series_y = pair
    found = function(x, y)
    expected = jackknife(function, series_x, series_y, weights=np.ones(64))
    for part in ("mean", "error", "bias"):
        np.testing.assert_allclose(getattr(found, part), getattr(expected, part), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.jackknife, expected.values)


def test_bins_of_unequal_weight_and_the_scatter_of_chains_keep_their_errors():
    rng = np.random.default_rng(2)
    weights = rng.integers(1, 9, 48).astype(float)
    series = rng.normal(3, 0.2, 48) + np.repeat(rng.normal(0, 0.3, 8), 6)  # chains that disagree
    for x in (estimate("x", series, weights), estimate("x", series, chains=8)):
        assert (2 * x + 1).error == pytest.approx(2 * x.error, rel=1e-12)
        assert (2 * x + 1).bias == pytest.approx(2 * x.bias, abs=1e-12)
        assert np.log(x).error == pytest.approx(x.error / x.mean, rel=1e-2)
        assert (x - x).error == 0 and (x / x).error < 1e-15
    ratio = jackknife(lambda a, b: a / b, series, series**2, weights=weights)
    found = estimate("x", series, weights) / estimate("y", series**2, weights)
    assert found.error == pytest.approx(ratio.error, rel=0.05) and found.mean == ratio.mean


def test_other_runs_and_temperatures_are_independent(pair):
    x, y, *_ = pair
    other = estimate("x", np.random.default_rng(3).normal(2, 0.1, 48), label="another")
    difference = other - x
    assert difference.error == pytest.approx(np.hypot(other.error, x.error))
    assert set(difference.others) == {"run"} and difference.bins == "another"
    assert (difference + x - other).error < 1e-14  # the sources are not forgotten
    assert (difference / x).error == pytest.approx((other / x - 1).error)
    assert (x - y).error < 0.9 * np.hypot(x.error, y.error) < (x + y).error


def test_numbers_of_one_run_in_other_bins_are_correlated():
    """A series of 960 measurements in 32, 20 and 16 bins: x - y has hardly an error, whatever the bins."""
    rng = np.random.default_rng(4)
    x = rng.normal(1, 1, 960)
    y = x + rng.normal(0, 0.1, 960)
    averages = lambda series, bins: np.array([part.mean() for part in np.array_split(series, bins)])
    fine = estimate("x", averages(x, 32))
    for bins in (32, 20, 16):
        coarse = estimate("y", averages(y, bins))
        assert (2 * coarse + 0 * fine).error == pytest.approx(2 * coarse.error, rel=1e-9)
        assert (fine + coarse).error == pytest.approx(fine.error + coarse.error, rel=0.1)
        assert (fine - coarse).error < (0.15 if bins in (16, 32) else 0.5) * fine.error


def test_errors_without_bins_add_as_in_closed_formulas_and_as_gvar_has_them():
    gvar = pytest.importorskip("gvar")
    a, b = Estimate("a", 1.5, 0.1), Estimate("b", [2.0, 0.7], [0.3, 0.05])
    u, v = gvar.gvar(1.5, 0.1), gvar.gvar([2.0, 0.7], [0.3, 0.05])
    assert (a * b[0]).error == pytest.approx(np.hypot(0.1 * 2, 0.3 * 1.5), rel=1e-6)
    for function in (lambda a, b: a * b[0] / (b[1] + a), lambda a, b: np.log(b[0]) ** a - b[1] * a,
                     lambda a, b: np.sqrt(a + b.sum()) * np.exp(-a / b[1])):
        found, known = function(a, b), function(u, v)
        assert found.error == pytest.approx(gvar.sdev(known), rel=1e-3) and found.mean == pytest.approx(known.mean)
    assert (a - a).error == 0 and (b[0] - b[0]).error == 0
    assert (b - b[::-1]).error[0] == pytest.approx(np.hypot(0.3, 0.05))
    assert (np.array([1.0, 2.0]) * b).error == pytest.approx([0.3, 0.1]) and (b**2).bias is None
    with pytest.raises(ValueError, match=f"G: 2000 numbers have errors without .* at most {MOST_ALONE} such"):
        2 * Estimate("G", np.ones(2000), np.ones(2000))
    assert (2 * Estimate("G", np.ones(2000), np.ones(2000))[:3]).error == pytest.approx([2, 2, 2])


def test_exact_numbers_have_no_error_and_an_unknown_error_stays_unknown(pair):
    x = pair[0]
    exact, unknown = Estimate("n", 0.5, 0.0), Estimate("y", [1.0, 2.0], [np.inf, 0.1], note="too few bins")
    assert (exact**2 + 1).error == 0 and (x * exact).error == pytest.approx(x.error / 2)
    found = unknown * x + 1
    assert np.isinf(found.error[0]) and np.isfinite(found.error[1]) and found.note == "too few bins"
    assert np.isinf(unknown.sum().error) and np.isinf(np.log(found).error[0]) and (unknown[0] - unknown[0]).error == 0
    matrix = np.array([[1.0, 1.0], [0.0, 1.0]])
    assert np.isinf((matrix @ unknown).error).tolist() == [True, False]
    series = np.random.default_rng(5).normal(0, 1, 64)
    near_zero = estimate("z", series - series.mean() + 1e-3)
    assert np.isinf(np.log(near_zero).error) and np.log(near_zero).note == UNDEFINED


def test_complex_numbers_have_errors_of_both_parts():
    rng = np.random.default_rng(6)
    series = rng.normal(1, 0.1, (64, 2, 3)) + 1j * rng.normal(2, 0.2, (64, 2, 3))
    g = estimate("G", series, axes=(K, OMEGA), unit="1/t")
    for found, function in ((1 / g, lambda z: 1 / z), (abs(g), np.abs), (g * g.conj(), lambda z: z * z.conj()),
                            (g.imag, np.imag), (np.real(g), np.real), (np.exp(1j * g), lambda z: np.exp(1j * z))):
        expected = jackknife(function, series, weights=np.ones(64))
        np.testing.assert_allclose(found.error, expected.error, rtol=1e-9, atol=1e-14)
        assert found.axes == g.axes
    alone = Estimate("z", 1 + 1j, 0.1 + 0.3j)
    assert (1j * alone).error == pytest.approx(0.3 + 0.1j) and (alone - alone).error == 0


def test_indices_sums_and_averages_along_named_axes():
    series = np.random.default_rng(7).normal(1, 0.1, (64, 2, 3))
    g = estimate("G", series, axes=(K, OMEGA), unit="1/t")
    expected = lambda function: jackknife(function, series, weights=np.ones(64)).error
    assert g[1, 2].error == pytest.approx(expected(lambda a: a[1, 2])) and g[1, 2].axes == ()
    assert [axis.name for axis in g[1].axes] == ["omega"] and [axis.name for axis in g[..., 0].axes] == ["K"]
    np.testing.assert_array_equal(g[:, 1:].axes[1].values, OMEGA.values[1:])
    np.testing.assert_array_equal(g[:, [0, 2]].axes[1].values, OMEGA.values[[0, 2]])
    np.testing.assert_array_equal(g[:, OMEGA.values > 1].axes[1].values, OMEGA.values[1:])
    assert g[:, None].axes == () and g[:, None].shape == (2, 1, 3) and len(list(g)) == 2
    assert g.sum("K").name == "sum(G, K)" and g.sum("K").axes[0].name == "omega" and g.sum("K").unit == "1/t"
    np.testing.assert_allclose(g.average("omega").error, expected(lambda a: a.mean(axis=1)))
    np.testing.assert_allclose([g.sum().error, np.sum(g).error, g.sum("K", "omega").error], expected(np.sum))
    np.testing.assert_allclose(np.sum(g, axis=0).error, expected(lambda a: a.sum(axis=0)))
    with pytest.raises(KeyError, match="G has axes .*, not 'tau'"):
        g.sum("tau")
    np.testing.assert_array_equal(np.asarray(g), g.mean)
    assert float(g[0, 0]) == g.mean[0, 0]


def test_any_function_of_arrays_carries_its_error():
    series = np.random.default_rng(8).normal(np.diag([2.0, 3.0]) + 0.5, 0.1, (64, 2, 2))
    m = estimate("m", series)
    found = derive(np.linalg.inv, m, name="inverse")
    expected = jackknife(np.linalg.inv, series, weights=np.ones(64))
    np.testing.assert_allclose(found.error, expected.error, rtol=1e-9)
    expected = jackknife(lambda a: a @ np.ones(2), series, weights=np.ones(64))
    np.testing.assert_allclose((m @ np.ones(2)).error, expected.error, rtol=1e-9)


def test_names_units_and_axes_follow_where_they_are_known(pair):
    x, y, *_ = pair
    beta = Estimate("beta", 3.0, 0.0, unit="1/t")
    names = {"x / y": x / y, "(x + y) * 2": (x + y) * 2, "log(x)": np.log(x), "-x": -x, "1 / x": 1 / x,
             "abs(x)": abs(x), "x ** 2": x**2, "-(x + y)": -(x + y)}
    assert {name: found.name for name, found in names.items()} == {name: name for name in names}
    units = [x / y, x * y, x * beta, 1 / x, x**-2, np.sqrt(x * y), np.sqrt(x), x + y, x + beta, x - 1, np.exp(x), 2 * x,
             np.maximum(x, y), x.conj()]
    assert [found.unit for found in units] == ["", "t^2", "", "1/t", "1/t^2", "t", "", "t", "", "t", "", "t", "t", "t"]
    assert len(sum([x] * 40).name) == 80
    series = np.random.default_rng(9).normal(1, 0.1, (64, 3))
    f = estimate("f", series, axes=(OMEGA,))
    moved = estimate("g", series, axes=(Axis("omega", OMEGA.values + 1),))
    assert (f * x).axes == (f * f).axes == (OMEGA,) and (f * moved).axes == ()


def test_what_has_no_error_is_refused(pair):
    x, y, *_ = pair
    with pytest.raises(TypeError, match="not supported between"):
        x < y
    with pytest.raises(TypeError, match="results of type bool have no error; compute with the array .mean"):
        np.less(x, 1.0)
    with pytest.raises(TypeError):
        x + "a"
    with pytest.raises(TypeError):
        np.add(x, y, out=np.zeros(()))
    assert x == x and x != y and x in [y, x]  # the same object


def test_a_label_of_bins_depends_on_their_values_alone():
    made = [[estimate("x", np.random.default_rng(seed).normal(1, 0.1, 16), label="")] for seed in (1, 1, 2)]
    for run in made:
        mark_bins(run, "T = 0.5, ")
    (first,), (again,), (other,) = made
    assert first.bins == again.bins != other.bins and first.bins.startswith("T = 0.5, ")


def test_errors_of_ratios_cover_the_truth():
    """Of 2000 replicas, 68.3 % have log(x/y) within one error, by the scatter of the replicas +- 3 of its errors."""
    rng = np.random.default_rng(10)
    x = rng.normal(2, 0.4, (2000, 32))
    y = 1 + 0.5 * (x - 2) + rng.normal(0, 0.1, (2000, 32))
    inside = 0
    for u, v in zip(x, y):
        found = np.log(estimate("x", u) / estimate("y", v))
        inside += abs(found.mean - np.log(2)) < found.error
    assert abs(inside / 2000 - 0.674) < 3 * np.sqrt(0.683 * 0.317 / 2000)  # Student's distribution of 31 degrees
