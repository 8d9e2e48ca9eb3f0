"""Estimates and records show themselves: a line, a table with numbers, a figure that needs no pyplot."""

import sys
import warnings

import numpy as np
import pytest

from plaq.data.display import DARK
from plaq.data.estimate import Axis, Estimate
from plaq.data.plots import typeset
from plaq.data.recorded import Recorded

T, K = Axis("t", np.arange(5), "a"), Axis("K", np.pi * np.array([[0, 0], [1, 0], [0, 1], [1, 1]]), "1/a")
OMEGA = Axis("omega", np.linspace(1, 9, 12), "t")


def array(name, *axes, kind=float):
    rng = np.random.default_rng(1)
    values = rng.normal(size=(8, *(len(axis.values) for axis in axes))).astype(kind)
    if kind is complex:
        values += 1j * rng.normal(size=values.shape)
    error = 0.1 * np.ones(values.shape[1:]) * (1 + 1j if kind is complex else 1)
    return Estimate(name, values[0], error, values, axes, unit="t", convention="made up")


ESTIMATES = [array("density"), array("G_0", kind=complex), array("meson", T), array("spin", K),
             array("Sigma", K, OMEGA), array("Sigma", K, OMEGA, kind=complex),
             array("plane", OMEGA, Axis("k", np.arange(50.0))), array("G4", K, OMEGA, K, OMEGA, kind=complex),
             array("long", Axis("x", np.arange(99.0))), Estimate("alone", 0.5, 0.1),
             Estimate("unknown", 0.5, np.inf, note="too few bins"),
             Estimate("bare", np.ones((2, 3)), np.ones((2, 3)))]
TIME = Axis("time", np.arange(7.0), "1/ω_p")
MOVING = Axis("x", np.arange(9.0) + np.arange(7.0)[:, None], "c/ω_p")
RECORDS = [Recorded("electric_x", np.arange(7.0), (TIME,), "W m_e c²"),
           Recorded("line", np.ones((7, 9)), (TIME, MOVING), "m_e c ω_p/e"),
           Recorded("polyakov", np.ones((7, 2)), (TIME, Axis("part", np.arange(2)))),
           Recorded("picture", -np.ones((7, 9, 4)), (TIME, MOVING, Axis("y", np.arange(4.0), "c/ω_p"))),
           Recorded("flow", np.ones((7, 3, 4, 2)), (TIME, *(Axis(n, np.arange(k)) for n, k in zip("rtp", (3, 4, 2)))))]


@pytest.mark.parametrize("quantity", [*ESTIMATES, *RECORDS], ids=lambda quantity: quantity.name)
def test_a_quantity_shows_itself_without_a_warning(quantity):
    pyplot = "matplotlib.pyplot" in sys.modules
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "\n" not in repr(quantity) and quantity.name in repr(quantity)
        page, figure = quantity._repr_html_(), quantity.plot()
        picture, size = figure._repr_png_()
    assert "<details>" in page and "<svg" in page and quantity.name in page
    assert picture.startswith(b"\x89PNG") and size["width"] > 300
    assert all(axes.get_xlabel() or not axes.get_xticks().size for axes in figure.axes[:1])
    assert all(axes.get_ylabel() for axes in figure.axes[:1])
    assert ("matplotlib.pyplot" in sys.modules) == pyplot


def test_a_number_has_its_error_and_unit_in_line_and_table():
    e = Estimate("energy", -1.2345, 0.0123, unit="t", tau_int=2.0, tau_int_error=0.25)
    assert repr(e) == "<Estimate energy = -1.234(12) t>"
    page = e._repr_html_()
    assert "<td>-1.234(12)</td><td>t</td><td>2.0 ± 0.2</td>" in page


def test_vectors_of_an_axis_stand_in_table_and_figure():
    e = array("spin", K)
    assert "<td>(π,0)</td>" in e._repr_html_()
    assert [tick.get_text() for tick in e.plot().axes[0].get_xticklabels()] == ["(0,0)", "(π,0)", "(0,π)", "(π,π)"]


def test_names_inside_of_one_drawing_are_not_those_of_another():
    e, ids = array("meson", T), []
    for _ in range(2):
        page = e._repr_html_()
        ids.append({part.partition('"')[0] for part in page.split('id="')[1:]})
        used = {part.partition('"')[0] for part in page.split('href="#')[1:]}
        assert ids[-1] and used <= ids[-1]
    assert not ids[0] & ids[1]


def test_dark_pages_have_colours_of_their_own():
    page = array("meson", T)._repr_html_()
    assert all(f"{mark} .plaq" in page for mark in DARK) and "currentColor" in page and "#1f2328" not in page


def test_names_and_units_are_typeset():
    assert typeset("omega'") == "ω'" and typeset("a^-4") == "a⁻⁴" and typeset("double_occupancy") == "double occupancy"
    assert typeset("lambda_d") == r"$λ_{\rm d}$" and typeset("1/ω_p") == r"1/$ω_{\rm p}$"
