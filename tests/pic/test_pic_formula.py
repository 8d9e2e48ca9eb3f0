"""Formulas of an input: values, and errors that point at the mistake."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plaq.errors import InputError
from plaq.pic.inputs.formula import DEEPEST, LONGEST, Formula
from plaq.pic.inputs.functions import FUNCTIONS


def value(text, **variables):
    return float(Formula.read(text, constants={"n0": 3.0})(**{"x": 2.0, "y": -1.0, "z": 0.0, "t": 0.5, **variables}))


@pytest.mark.parametrize("text, expected", [
    ("1 + 2*3", 7), ("(1 + 2)*3", 9), ("-x^2", -4), ("2^3^2", 512), ("2**-1", 0.5), ("x - y - 1", 2), ("8/4/2", 1),
    ("--x", 2), ("+x", 2), ("1e3 + .5 + 2.", 1002.5), ("n0*x", 6), ("2*(x > 1)", 2), ("x < 1 or y < 0", 1),
    ("x > 1 and y > 0", 0), ("x == 2", 1), ("x != 2", 0), ("x <= 2 and x >= 2", 1), ("pi", math.pi), ("log(e)", 1),
    ("if(x > 1, 10, 20)", 10), ("where(x < 1, 10, 20)", 20), ("gauss(2, 2)", math.exp(-0.5)), ("min(3, 1, 2)", 1),
    ("max(x, y)", 2), ("atan2(1, 1)", math.pi / 4), ("mod(7, 4)", 3), ("step(0) + step(-1)", 1), ("sign(y)", -1),
    ("erf(0)", 0), ("sqrt(abs(-16))", 4), ("floor(1.5) + ceil(1.5)", 3), ("2*-3", -6), ("if(x > 1, 1, 1/z)", 1), (7, 7),
])
def test_values(text, expected):
    assert value(text) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("text, message", [
    ("sin(x", "sin(x▸: ) is missing for the ( at character 4, before the end at character 6"),
    ("1 + qqq(x)", "1 + ▸qqq(x): unknown function qqq; known are sin"),
    ("1 + sine(x)", "did you mean sin?"),
    ("2*N0", "2*▸N0: unknown name N0; did you mean n0? at character 3"),
    ("x $ y", "x ▸$ y: '$' is not part of any formula at character 3"),
    ("1 +", "1 +▸: a number, a name or ( is missing before the end at character 4"),
    ("", "▸: a number, a name or ( is missing"),
    ("x y", "x ▸y: y is left over after the formula"),
    ("sin", "sin is a function: it needs ("),
    ("gauss(x)", "gauss takes 2 arguments, not 1"),
    ("min(1)", "min takes 2 to 16 arguments, not 1"),
    ("1 < x < 3", "two comparisons in a row: join them by and at character 7"),
    ("1e999", "1e999 is too large"),
    ("import", "unknown name import"),
    ("__import__(1)", "unknown function __import__"),
    ("x.real", "x▸.real: '.' is not part of any formula"),
    ("(" * 99 + "x" + ")" * 99, f"more than {DEEPEST} nested parts"),
    ("2^" * 99 + "2", f"more than {DEEPEST} nested parts"),
    ("1+" * LONGEST + "1", f"a formula of more than {LONGEST} characters"),
    ("x\n+ §", "x\\n+ ▸§"),
])
def test_mistakes_are_pointed_at(text, message):
    with pytest.raises(InputError) as error:
        Formula.read(text, constants={"n0": 3.0})
    assert message in str(error.value) and "\n" not in str(error.value)


def test_a_formula_knows_its_variables_and_takes_no_others():
    assert Formula.read("x + 0*t").uses == {"x", "t"} and Formula.read("3").uses == frozenset()
    with pytest.raises(InputError, match="unknown name t"):
        Formula.read("x + t", variables=("x",))


def test_arrays_are_broadcast():
    x, y = np.linspace(0, 1, 4)[:, None], np.linspace(2, 3, 5)[None, :]
    found = Formula.read("x*y + 1")(x=x, y=y)
    assert found.shape == (4, 5) and np.array_equal(found, x * y + 1)
    assert np.array_equal(Formula.read("2")(x=x, y=y), np.full((4, 5), 2.0))


def test_values_that_are_not_finite_name_the_place():
    formula = Formula.read("1/(x - 0.5)")
    assert formula.finite(x=np.array([0.0, 1.0])).tolist() == [-2.0, 2.0]
    with pytest.raises(InputError, match=r"1/\(x - 0.5\) is inf at x = 0.5, y = 2"):
        formula.finite(x=np.array([0.25, 0.5, 0.75]), y=2.0)
    with pytest.raises(InputError, match=r"sqrt\(x\) is nan at x = -1"):
        Formula.read("sqrt(x)").finite(x=-1.0)


def test_long_rows_are_no_trouble():
    assert value("1+" * (LONGEST // 2 - 1) + "1") == LONGEST // 2


@settings(max_examples=300)
@given(st.text(alphabet="xyt0123.e+-*/^()<>=,! andorsincogauif", max_size=40) | st.text(max_size=20))
def test_any_text_is_a_formula_or_a_mistake_of_one_line(text):
    try:
        formula = Formula.read(text)
    except InputError as error:
        assert "\n" not in str(error)
    else:
        assert formula(x=np.ones(3), y=1.0, z=0.0, t=2.0).shape == (3,)


NUMBERS = st.floats(-10, 10).map(lambda v: repr(round(v, 3)))
TREES = st.recursive(NUMBERS | st.sampled_from("xy"), lambda inner: st.one_of(
    st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
    inner.map(lambda t: f"cos({t})"), inner.map(lambda t: f"-{t}")), max_leaves=12)


@settings(max_examples=200)
@given(TREES)
def test_values_are_those_of_python(text):
    x, y = 0.7, -1.3
    expected = eval(text, {"cos": math.cos, "x": x, "y": y})  # of our own making
    assert float(Formula.read(text)(x=x, y=y)) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_the_law_of_vaughan():
    """Its maximum at E_max, and at E_max (1 + θ²/2π) obliquely; powers below, its branch above 3.6 E_max; 0 at 0."""
    assert value("vaughan(400, 0, 400, 2.1)") == pytest.approx(2.1)
    growth = 1 + 0.7**2 / (2 * math.pi)
    assert value(f"vaughan({400 * growth!r}, 0.7, 400, 2.1)") == pytest.approx(2.1 * growth)
    assert value("vaughan(100, 0, 400, 2.1)") == pytest.approx(2.1 * (0.25 * math.exp(0.75)) ** 0.56)
    assert value("vaughan(800, 0, 400, 2.1)") == pytest.approx(2.1 * (2 * math.exp(-1)) ** 0.25)
    assert value("vaughan(4000, 0, 400, 2.1)") == pytest.approx(2.1 * 1.125 * 10**-0.35)
    assert value("vaughan(0, 0, 400, 2.1)") == value("vaughan(-1, 0, 400, 2.1)") == 0


@pytest.mark.parametrize(("x", "expected"), [(-5, 1), (0, 1), (1, 2), (2, 3), (3, 1), (4, -1), (9, -1)])
def test_a_line_through_points(x, expected):
    assert value(f"interpolate({x}, 0, 1, 2, 3, 4, -1)") == pytest.approx(expected)


def test_points_that_do_not_rise_have_no_line():
    assert math.isnan(value("interpolate(1, 0, 1, 0, 3)"))
    with pytest.raises(InputError):
        Formula.read("interpolate(1, 0, 1)")


def test_every_function_is_finite_somewhere():
    for name, function in FUNCTIONS.items():
        text = f"{name}({', '.join(f'0.{5 + i}' for i in range(function.fewest))})"
        assert math.isfinite(value(text)), name
