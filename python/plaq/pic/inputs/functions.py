"""Functions, constants and operators of formulas, elementwise on numbers and arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np
from scipy.special import erf


@dataclass(frozen=True)
class Function:
    """A function of ``fewest`` to ``most`` arguments; ``doc`` is its formula."""

    call: Callable
    fewest: int
    most: int
    doc: str


def _unary(call: Callable, doc: str) -> Function:
    return Function(call, 1, 1, doc)


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
    "erf": _unary(erf, "2/√π ∫₀ˣ e^(-s²) ds"),
    "step": _unary(lambda x: np.where(np.asarray(x) >= 0, 1.0, 0.0), "1 where x ≥ 0, else 0"),
    "gauss": Function(lambda x, width: np.exp(-0.5 * (x / width) ** 2), 2, 2,
                      "exp(-x²/(2 width²)) of gauss(x, width)"),
    "min": Function(lambda *x: reduce(np.minimum, x), 2, 16, "the smallest of the arguments"),
    "max": Function(lambda *x: reduce(np.maximum, x), 2, 16, "the largest of the arguments"),
    "mod": Function(np.mod, 2, 2, "x - y floor(x/y) of mod(x, y)"),
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
