"""Estimates and results as objects of pyerrors, gvar, xarray and pandas."""

import sys

import numpy as np
import pytest
from test_propagation import OMEGA, K, estimate

from plaq.data.estimate import Axis, Estimate
from plaq.data.recorded import Recorded
from plaq.data.results_file import Findings
from plaq.dca.physics.point import Point
from plaq.dca.results.results import Results

T = (0.5, 0.25)


@pytest.fixture
def pair():
    rng = np.random.default_rng(1)
    x = rng.normal(2, 0.1, 64)
    y = 0.5 * x + rng.normal(1, 0.05, 64)
    return estimate("x", x, label="of bridges"), estimate("y", y, label="of bridges")


def functions(log):
    return [lambda x, y: x / y, lambda x, y: log(x * y) - y**2, lambda x, y: (x - y) / (x + y)]


def test_gvar_has_the_same_errors_and_correlations(pair):
    gvar = pytest.importorskip("gvar")
    (x, y), (u, v) = pair, (pair[0].to_gvar(), pair[1].to_gvar())
    assert (u.mean, u.sdev) == pytest.approx((float(x), float(x.error)))
    for mine, other in zip(functions(np.log), functions(gvar.log)):
        assert gvar.sdev(other(u, v)) == pytest.approx(mine(x, y).error, rel=2e-3)  # first order there
    series = np.random.default_rng(2).normal(1, 0.1, (32, 2, 3)) + 1j
    g = estimate("G", series, label="coarser bins")
    assert gvar.sdev(g.to_gvar()[..., 0]) == pytest.approx(g.error.real)
    assert (g.to_gvar().sum() - g.sum().to_gvar().sum()).sdev < 1e-12  # the other is a conversion of its own
    assert ((2 * x - Estimate("z", 1.0, 0.3)).to_gvar().sdev) == pytest.approx(np.hypot(2 * x.error, 0.3))
    assert Estimate("exact", 1.5, 0.0).to_gvar().sdev == 0
    coarse = estimate("y", np.random.default_rng(3).normal(1, 0.1, 20), label="of bridges")
    assert coarse.to_gvar().sdev == pytest.approx(coarse.error)
    with pytest.raises(ValueError, match="n has no error: too few bins"):
        Estimate("n", 1.0, np.inf, note="too few bins").to_gvar()


def test_pyerrors_has_the_same_errors_and_correlations(pair):
    pyerrors = pytest.importorskip("pyerrors")

    def error(observable):
        observable.gamma_method(S=0)
        return observable.dvalue

    (x, y), (u, v) = pair, (pair[0].to_pyerrors(), pair[1].to_pyerrors())
    assert (u.value, error(u)) == pytest.approx((float(x), float(x.error)))
    for mine, other in zip(functions(np.log), functions(np.log)):
        assert error(other(u, v)) == pytest.approx(mine(x, y).error, rel=2e-3)
    z = Estimate("z", 1.0, 0.3)
    assert error((2 * x - z).to_pyerrors()) == pytest.approx(np.hypot(2 * x.error, 0.3))
    assert error(z.to_pyerrors() * x.to_pyerrors()) == pytest.approx((z * x).error, rel=1e-3)
    series = np.random.default_rng(2).normal(1, 0.1, (32, 2)) + 1j
    found = estimate("G", series, label="complex").to_pyerrors()
    assert isinstance(found[0], pyerrors.CObs) and found.shape == (2,) and found[1].imag.value == pytest.approx(1)


@pytest.mark.parametrize("name, call", [
    ("gvar", lambda e: e.to_gvar()), ("pyerrors", lambda e: e.to_pyerrors()),
    ("xarray", lambda e: Findings({"x": e}).to_xarray()), ("pandas", lambda e: Findings({"x": e}).to_dataframe()),
])
def test_a_missing_package_is_one_line(monkeypatch, name, call):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=f"^{name} is not installed: pip install {name}$"):
        call(Estimate("x", 1.0, 0.1))


@pytest.fixture
def results():
    points = []
    for i, t in enumerate(T):
        rng, count = np.random.default_rng(i), 3 + i
        omega = Axis("omega", np.pi * t * (2 * np.arange(count) + 1), "t")
        found = {"mu": estimate("mu", rng.normal(1, 0.1, 16), label="", unit="t"),
                 "G": estimate("G", rng.normal(1, 0.1, (16, 2, count)) + 1j, label="", axes=(K, omega), unit="1/t",
                               convention="of K"),
                 "spin": estimate("spin", rng.normal(1, 0.1, (16, 2)), label="", axes=(K,))}
        if i:
            found["lambda_d"] = estimate("lambda_d", rng.normal(0.5, 0.1, 16), label="")
        points.append(Point(i, t, 1 / t, float(found["mu"].mean), found))
    return Results(points)


def test_temperatures_of_one_run_are_independent_and_its_quantities_are_not(results):
    hot, cold = (results.at(t)["mu"] for t in T)
    assert (hot - cold).error == pytest.approx(np.hypot(hot.error, cold.error))
    assert hot.bins == results.at(0.5)["G"].bins and hot.bins.startswith("T = 0.5, ")


def test_temperatures_are_an_axis_of_the_dataset(results):
    xarray = pytest.importorskip("xarray")
    found = results.to_xarray()
    assert isinstance(found, xarray.Dataset) and found["mu"].dims == ("T",) and found["spin"].dims == ("T", "K")
    assert found["G"].dims == ("T", "K", "omega_index") and found["omega"].dims == ("T", "omega_index")
    assert found["G"].attrs == {"units": "1/t", "long_name": "of K"} and found["T"].attrs["units"] == "t"
    cold = results.at(0.25)
    np.testing.assert_array_equal(found["spin"].sel(T=0.25).values, cold["spin"].mean)
    np.testing.assert_array_equal(found["G_error"].sel(T=0.25), cold["G"].error)
    np.testing.assert_array_equal(found["omega"].sel(T=0.25), cold["G"].axes[1].values)
    assert np.isnan(found["G"].sel(T=0.5)[:, 3]).all() and np.isnan(found["lambda_d"].sel(T=0.5))
    assert found["K"].values.tolist() == ["(0,0)", "(3.142,0)"] and found["K_x"].values.tolist() == [0, np.pi]
    assert found["beta"].values.tolist() == [2, 4]


def test_records_keep_the_names_of_their_axes():
    pytest.importorskip("xarray")
    time, half = (Axis("time", np.arange(3.0) - shift, "1/ω_p") for shift in (0, 0.5))
    x = Axis("x", np.array([[0.0, 1.0], [0.5, 1.5], [1.0, 2.0]]), "c/ω_p")
    findings = Findings({"plaquette": Estimate("plaquette", 0.5, 0.1, note="few")}, [], {}, {
        "electric_x": Recorded("electric_x", np.arange(3.0), (time,), "W", "energy"),
        "kinetic": Recorded("kinetic", np.arange(3.0), (half,)),
        "plaquette": Recorded("plaquette", np.ones(3), (Axis("configuration", np.arange(3)),)),
        "probe": Recorded("probe", np.ones((3, 2)), (time, x)),
        "fixed": Recorded("fixed", np.ones(4), (Axis("x", np.arange(4.0), "c/ω_p"),))})
    found = findings.to_xarray()
    assert {name: variable.dims for name, variable in found.data_vars.items()} == {
        "plaquette": (), "plaquette_error": (), "electric_x": ("time",), "kinetic": ("time_2",),
        "plaquette_series": ("configuration",), "probe": ("time", "x_index"), "fixed": ("x_2",)}
    assert found["x"].dims == ("time", "x_index") and found["x_2"].attrs == {"units": "c/ω_p"}
    assert found["plaquette"].attrs == {"note": "few"}
    assert findings.to_dataframe()["value"].tolist() == [0.5]


def test_numbers_are_a_dataframe(results):
    pytest.importorskip("pandas")
    found = results.to_dataframe()
    assert list(found.columns) == ["T", "beta", "mu", "mu_error", "lambda_d", "lambda_d_error"]
    assert found["T"].tolist() == [0.5, 0.25] and found["lambda_d"].isna().tolist() == [True, False]


def test_omega_is_one_axis_where_it_is_the_same():
    pytest.importorskip("xarray")
    g = estimate("G", np.random.default_rng(1).normal(1, 0.1, (16, 3)), axes=(OMEGA,))
    points = [Point(i, t, 1 / t, 0.0, {"G": g}) for i, t in enumerate(T)]
    assert Results(points).to_xarray()["G"].dims == ("T", "omega")
