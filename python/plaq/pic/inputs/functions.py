"""Functions, constants and operators of formulas, elementwise on numbers and arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import scipy


@dataclass(frozen=True)
class Function:
    """A function of ``fewest`` to ``most`` arguments; ``doc`` is its formula."""

    call: Callable
    fewest: int
    most: int
    doc: str


def _unary(call: Callable, doc: str) -> Function:
    return Function(call, 1, 1, doc)


def _interpolate(x: Any, *points: Any) -> Any:
    """Return the line through points (x1, y1), (x2, y2), …, constant outside of them."""
    places, values = np.array(points[::2], float), np.array(points[1::2], float)
    return np.interp(x, places, values) if (np.diff(places) > 0).all() else np.full(np.shape(x), np.nan)


def _vaughan(energy: Any, angle: Any, energy_max: Any, yield_max: Any) -> Any:
    """Return the yield of secondary electrons by impact energy and angle, of a smooth surface without threshold.

    δ = δ_m (v e^(1-v))^k, v = E/E_m, k = 0.56 below 1 and 0.25 above; 1.125 δ_m v^-0.35 above 3.6. E_m and δ_m grow
    with 1 + θ²/(2π) [Vaughan 1989, 1993].
    """
    growth = 1 + np.square(angle) / (2 * np.pi)
    v = np.maximum(energy, 0) / (energy_max * growth)
    with np.errstate(divide="ignore"):
        shape = np.where(v > 3.6, 1.125 * np.power(v, -0.35), np.power(v * np.exp(1 - v), np.where(v < 1, 0.56, 0.25)))
    return yield_max * growth * shape


FUNCTIONS = {
    **{name: _unary(getattr(np, name), f"{name} x") for name in
       ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log10", "sqrt", "floor", "ceil")},
    "asin": _unary(np.arcsin, "inverse of sin"),
    "acos": _unary(np.arccos, "inverse of cos"),
    "atan": _unary(np.arctan, "inverse of tan"),
    "atan2": Function(np.arctan2, 2, 2, "angle of the point (x, y) from atan2(y, x)"),
    "log": _unary(np.log, "natural logarithm"),
    "abs": _unary(np.abs, "|x|"),
    "sign": _unary(np.sign, "-1, 0 or 1"),
    "erf": _unary(lambda x: scipy.special.erf(x), "2/√π ∫₀ˣ e^(-s²) ds"),
    "step": _unary(lambda x: np.where(np.asarray(x) >= 0, 1.0, 0.0), "1 where x ≥ 0, else 0"),
    "gauss": Function(lambda x, width: np.exp(-0.5 * (x / width) ** 2), 2, 2,
                      "exp(-x²/(2 width²)) of gauss(x, width)"),
    "min": Function(lambda *x: reduce(np.minimum, x), 2, 16, "the smallest of the arguments"),
    "max": Function(lambda *x: reduce(np.maximum, x), 2, 16, "the largest of the arguments"),
    "mod": Function(np.mod, 2, 2, "x - y floor(x/y) of mod(x, y)"),
    "interpolate": Function(_interpolate, 5, 201, "the line through points of interpolate(x, x1, y1, x2, y2, …)"),
    "vaughan": Function(_vaughan, 4, 4, "secondary electrons of vaughan(energy, angle, E_max, δ_max), E_0 = 0"),
    "if": Function(lambda condition, yes, no: np.where(np.asarray(condition) != 0, yes, no), 3, 3,
                   "the second argument where the first is not 0, else the third; also called where"),
}
FUNCTIONS["where"] = FUNCTIONS["if"]

CONSTANTS = {"pi": float(np.pi), "e": float(np.e)}

OPERATORS: dict[str, Callable] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "^": np.power, "**": np.power,
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal,
    "and": np.logical_and, "or": np.logical_or,
}
