"""Operators and numpy functions of estimates: name, unit and axes of the result."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from plaq.data.estimate import Axis, Estimate
from plaq.data.propagation import derive

OPERATORS = {np.add: "+", np.subtract: "-", np.multiply: "*", np.true_divide: "/", np.power: "**", np.matmul: "@"}
SHORT = {np.absolute: "abs", np.conjugate: "conj"}
SAME_UNIT = (np.negative, np.positive, np.absolute, np.conjugate, np.real, np.imag, np.maximum, np.minimum)
POWERS = {np.sqrt: Fraction(1, 2), np.cbrt: Fraction(1, 3), np.square: Fraction(2), np.reciprocal: Fraction(-1)}
LONGEST_NAME = 80


def apply(function: Any, *operands: Any) -> Estimate:
    """Return the result of a numpy function that is evaluated element by element, or of ``@``."""
    shape = np.shape(function(*(operand.mean if isinstance(operand, Estimate) else operand for operand in operands)))
    return derive(function, *operands, name=name_of(function, operands), axes=axes_of(operands, shape),
                  unit=unit_of(function, operands))


def name_of(function: Any, operands: Sequence[Any]) -> str:
    """Return ``a / (b + 1)`` or ``log(a)``."""
    if function in OPERATORS:
        first, second = (f"({text})" if " " in text else text for text in map(text_of, operands))
        name = f"{first} {OPERATORS[function]} {second}"
    elif function is np.negative:
        name = f"-({text_of(operands[0])})" if " " in text_of(operands[0]) else f"-{text_of(operands[0])}"
    else:
        name = f"{SHORT.get(function, function.__name__)}({', '.join(map(text_of, operands))})"
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def text_of(operand: Any) -> str:
    if isinstance(operand, Estimate):
        return operand.name
    return "array" if np.ndim(operand) else f"{operand:.6g}"


def axes_of(operands: Sequence[Any], shape: tuple[int, ...]) -> tuple[Axis, ...]:
    """Return the axes of the operands that have the shape of the result; none where they differ."""
    known = [operand.axes for operand in operands
             if isinstance(operand, Estimate) and operand.axes and operand.mean.shape == shape]
    alike = all(a.name == b.name and np.array_equal(a.values, b.values)
                for axes in known for a, b in zip(known[0], axes))
    return known[0] if known and alike else ()


def unit_of(function: Any, operands: Sequence[Any]) -> str:
    """Return the unit of the result, empty where it is none or not known. Numbers have that of the other summand."""
    units = [operand.unit if isinstance(operand, Estimate) else None for operand in operands]
    if function in SAME_UNIT or function in (np.add, np.subtract):
        known = {unit for unit in units if unit is not None}
        return known.pop() if len(known) == 1 else ""
    if function in POWERS:
        return power(units[0], POWERS[function])
    if function is np.power and np.ndim(operands[1]) == 0 and not isinstance(operands[1], Estimate):
        return power(units[0] or "", Fraction(float(operands[1])).limit_denominator(12))
    if function in (np.multiply, np.matmul):
        return product(units[0] or "", units[1] or "")
    return product(units[0] or "", power(units[1] or "", Fraction(-1))) if function is np.true_divide else ""


def parsed(unit: str) -> tuple[str, Fraction] | None:
    """Return (symbol, exponent) of ``t``, ``t^2``, ``1/t`` and ``1/t^2``; None for others."""
    match = re.fullmatch(r"(1/)?([^\W\d]+)(?:\^(\d+))?", unit)
    return (match[2], Fraction(int(match[3] or 1) * (-1 if match[1] else 1))) if match else None


def written(symbol: str, exponent: Fraction) -> str:
    """Return the inverse of `parsed`; empty without an integer exponent."""
    if exponent == 0 or exponent.denominator != 1:
        return ""
    text = symbol if abs(exponent) == 1 else f"{symbol}^{abs(exponent)}"
    return text if exponent > 0 else f"1/{text}"


def power(unit: str, exponent: Fraction) -> str:
    base = parsed(unit)
    return unit if exponent == 1 else written(base[0], base[1] * exponent) if base else ""


def product(first: str, second: str) -> str:
    if not (first and second):
        return first or second
    a, b = parsed(first), parsed(second)
    return written(a[0], a[1] + b[1]) if a and b and a[0] == b[0] else ""
