"""Kinds of values that are tables: by name, matrices, and amplitudes by displacement."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping

from plaq.inputs.kinds import Kind, list_of

LABEL = r"^[A-Za-z0-9_]{1,32}$"


def label() -> Kind:
    """Return the kind of names of letters, digits and _."""

    def read(value):
        if not isinstance(value, str) or not re.fullmatch(LABEL, value):
            raise ValueError
        return value

    return Kind("a name of letters, digits and _", read, {"type": "string", "pattern": LABEL})


def by_name(kind: Kind, names: str) -> Kind:
    """Return the kind of tables ``{name = value}``, stored as ((name, value), ...) in sorted order.

    names : what the names are, in words.
    """

    def read(value):
        if not isinstance(value, Mapping) or not value:
            raise ValueError
        return tuple(sorted((label().read(name), kind.read(item)) for name, item in value.items()))

    schema = {"type": "object", "propertyNames": {"pattern": LABEL}, "additionalProperties": kind.json,
              "minProperties": 1}
    return Kind(f"a table by {names}, each {kind.allowed}", read, schema, dict)


def matrix(kind: Kind, largest: int) -> Kind:
    """Return the kind of square matrices, lists of rows, stored as a tuple of tuples."""
    rows = list_of(list_of(kind, 1, longest=largest), 1, longest=largest)

    def read(value):
        value = rows.read(value)
        if any(len(row) != len(value) for row in value):
            raise ValueError
        return value

    return Kind("a square matrix such as [[0, 1], [1, 0]]", read, rows.json)


def displacements(amplitude: Kind, longest: int) -> Kind:
    """Return the kind of tables ``{"dx,dy" = amplitude}``, stored as ((dx, dy, amplitude), ...) in sorted order.

    Displacements have one, two or three components, all of a table as many.
    """

    def read(value):
        if not isinstance(value, Mapping) or not 0 < len(value) <= longest:
            raise ValueError
        rows = {}
        for key, size in value.items():
            d = tuple(map(int, key.split(",")) if isinstance(key, str) else map(operator.index, key))
            if d in rows or not 1 <= len(d) <= 3:  # two spellings
                raise ValueError
            rows[d] = amplitude.read(size)
        if len(set(map(len, rows))) > 1:
            raise ValueError
        return tuple((*d, size) for d, size in sorted(rows.items()))

    def show(rows):
        return {",".join(map(str, d)): amplitude.show(size) for *d, size in rows}

    schema = {"type": "object", "propertyNames": {"pattern": r"^ *[+-]?[0-9]+ *(, *[+-]?[0-9]+ *){0,2}$"},
              "additionalProperties": amplitude.json, "minProperties": 1, "maxProperties": longest}
    return Kind('a table such as { "1,0" = -1.0, "0,1" = -1.0 } with a displacement once, '
                f"at most {longest} of them, each {amplitude.allowed}", read, schema, show)
