"""Kinds of values that only `plaq pic` has: formulas, and conditions at the two sides of the box."""

from __future__ import annotations

import math
from typing import Any

from plaq.inputs.kinds import Kind, any_of, array, choice, real, text


def formula() -> Kind:
    """Return the kind of a number or a text that `plaq.pic.inputs.formula` reads; stored as it is."""

    def read(value: Any) -> float | str:
        if isinstance(value, str):
            return text().read(value)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise ValueError
        return float(value)

    return Kind("a number or a formula in quotes", read, {"type": ["number", "string"]})


def constant() -> Kind:
    """Return the kind of a number, or of a table of points with rising x; a table is stored as a tuple of pairs."""
    number = real()

    def read(value: Any) -> float | tuple[tuple[float, float], ...]:
        if not isinstance(value, (list, tuple)):
            return number.read(value)
        points = tuple((number.read(x), number.read(y)) for x, y in value)
        if len(points) < 2 or any(a[0] >= b[0] for a, b in zip(points, points[1:])):
            raise ValueError
        return points

    return Kind("a number, or a list of points [x, y] with rising x, at least two", read,
                any_of(number.json, array(array(number.json, 2, 2), 2, None)),
                lambda value: value if isinstance(value, float) else [list(point) for point in value])


def table_file() -> Kind:
    """Return the kind of a path, or the text of a table, which has several lines; stored as it is."""

    def read(value: Any) -> str:
        if isinstance(value, str) and "\n" in value:
            return value
        return text().read(value)

    return Kind("a path of one line, or the text of a table", read, {"type": "string", "minLength": 1})


def three(kind: Kind, alone: bool = False) -> Kind:
    """Return the kind of a list of three, for x, y and z, stored as a tuple; ``alone``: or one value for all."""

    def read(value: Any) -> tuple:
        if not isinstance(value, (list, tuple)):
            if not alone:
                raise ValueError
            value = [value] * 3
        if len(value) != 3:
            raise ValueError
        return tuple(kind.read(part) for part in value)

    return Kind(f"a list of 3 values{', or one for all' if alone else ''}, each {kind.allowed}", read,
                any_of(array(kind.json, 3, 3), kind.json) if alone else array(kind.json, 3, 3), list)


def sides(*words: str) -> Kind:
    """Return the kind of a word for both sides in a direction, or a list of two, low and high; stored as a tuple."""
    word = choice(*words)

    def read(value: Any) -> tuple[str, str]:
        low, high = value if isinstance(value, (list, tuple)) else (value, value)
        return word.read(low), word.read(high)

    return Kind(f"{word.allowed}, or a list of two of them, low and high", read,
                any_of(word.json, array(word.json, 2, 2)),
                lambda value: value[0] if value[0] == value[1] else list(value))


def sides_at() -> Kind:
    """Return the kind of a number or formula for both sides, or a list of two, low and high; stored as a tuple."""
    one = formula()

    def read(value: Any) -> tuple[float | str, float | str]:
        low, high = value if isinstance(value, (list, tuple)) else (value, value)
        return one.read(low), one.read(high)

    return Kind(f"{one.allowed}, or a list of two of them, low and high", read,
                any_of(one.json, array(one.json, 2, 2)), list)


def outer_side(kind: Kind, axis: Any) -> Kind:
    """Return the kind of a value for the outer side of a cylinder; stored as a tuple with that of the axis."""
    return Kind(kind.allowed, lambda value: (axis, kind.read(value)), kind.json, lambda value: value[1])


def per_direction(kind: Kind) -> Kind:
    """Return the kind of a list of one to three values, for x, y, z, stored as a tuple.

    In one dimension a value without a list is allowed.
    """

    def read(value: Any) -> tuple:
        value = value if isinstance(value, (list, tuple)) else [value]
        if not 1 <= len(value) <= 3:
            raise ValueError
        return tuple(kind.read(part) for part in value)

    return Kind(f"a list of 1, 2 or 3 values, each {kind.allowed}", read,
                any_of(array(kind.json, 1, 3), kind.json))
