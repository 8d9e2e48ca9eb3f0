"""Kinds of values in tables of parameters: allowed values, and how they are read."""

from __future__ import annotations

import datetime
import json
import math
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Kind:
    """A type of value: allowed values in words, ``read`` and ``show``, and the same as a JSON Schema.

    ``read`` turns TOML into the stored value (ValueError, TypeError or OverflowError if it is refused); ``show`` is the
    inverse. ``json`` may allow more than ``read``, never less.
    """

    allowed: str
    read: Callable[[Any], Any]
    json: Mapping[str, Any]
    show: Callable[[Any], Any] = lambda value: value


def any_of(*schemas: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of a value that one of these allows; those that are such choices themselves are opened."""
    return {"anyOf": [part for schema in schemas for part in schema.get("anyOf", [schema])]}


def array(items: Mapping[str, Any], shortest: int, longest: int | None) -> dict[str, Any]:
    """Return the JSON Schema of a list."""
    return {"type": "array", "items": items} | ({"minItems": shortest} if shortest else {}) | (
        {"maxItems": longest} if longest is not None else {})


def integer(low: int | None = None, high: int | None = None) -> Kind:
    """Return the kind of whole numbers in [low, high], also written as 1e5; a missing bound is open."""
    if high is not None:
        allowed = f"an integer from {low} to {high}"
    else:
        allowed = "an integer" if low is None else f"an integer ≥ {low}"

    def read(value):
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError
        if (low is not None and value < low) or (high is not None and value > high):
            raise ValueError
        return value

    bounds = {"minimum": low, "maximum": high}
    return Kind(allowed, read, {"type": "integer"} | {key: value for key, value in bounds.items() if value is not None})


def real(interval: str = "(-inf, inf)") -> Kind:
    """Return the kind of numbers in an interval such as ``(0, 2)``, ``[0, inf)`` or ``(0, inf]``, without nan."""
    low, high = (float(bound) for bound in interval[1:-1].split(","))
    bounds = {(-math.inf, math.inf): "", (0.0, math.inf): " > 0" if interval[0] == "(" else " ≥ 0"}
    allowed = "a number" + bounds.get((low, high), f" in {interval}")
    allowed += " (inf too)" if interval.endswith("inf]") else ""

    def read(value):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ValueError
        value = float(value)
        above = value > low or (interval[0] == "[" and value == low)
        below = value < high or (interval[-1] == "]" and value == high)
        if not (above and below):
            raise ValueError
        return value

    schema = {"type": "number"}
    if low > -math.inf:
        schema["minimum" if interval[0] == "[" else "exclusiveMinimum"] = low
    if high < math.inf:
        schema["maximum" if interval[-1] == "]" else "exclusiveMaximum"] = high
    if interval.endswith("inf]"):
        schema = any_of(schema, {"type": "null"})  # which taplo makes of inf
    return Kind(allowed, read, schema)


def boolean() -> Kind:
    """Return the kind of true and false."""

    def read(value):
        if not isinstance(value, bool):
            raise ValueError
        return value

    return Kind("true or false", read, {"type": "boolean"})


def text() -> Kind:
    """Return the kind of strings of one line that are not empty."""

    def read(value):
        if not isinstance(value, str) or not value or not is_plain(value):
            raise ValueError
        return value

    return Kind("a text of one line", read, {"type": "string", "minLength": 1})


def is_plain(text: str) -> bool:
    """Return whether a text is free of control characters, line ends and bytes that were not UTF-8 (surrogates)."""
    return not any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in text)


CPU_LIST = r"^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$"
LONGEST_NAME, LONGEST_PATH = 255, 3072  # bytes; Linux has 255 and 4096, and files in the folder need some of them


def folder() -> Kind:
    """Return the kind of paths of folders that every file system accepts."""

    def read(value):
        value = text().read(value)
        names = value.encode().split(b"/")
        if max(map(len, names)) > LONGEST_NAME or len(value.encode()) > LONGEST_PATH:
            raise ValueError
        return value

    return Kind(f"a path of one line, names in it up to {LONGEST_NAME} bytes, {LONGEST_PATH} together", read,
                {"type": "string", "minLength": 1, "maxLength": LONGEST_PATH})


def choice(*names: str) -> Kind:
    """Return the kind of a few words."""

    def read(value):
        if value not in names:
            raise ValueError
        return value

    return Kind(" or ".join(json.dumps(name) for name in names), read, {"enum": list(names)})


# Bindings of workers, and their names in the task library.
BINDINGS = {"auto": "automatic", "cores": "cores", "threads": "threads", "none": "none"}
MOST_THREADS = 1 << 16  # hardware threads of a machine, with room


def cpu_list(text: str) -> list[int]:
    """Return [0, 2, 4, 5, 6, 7] for "0,2,4-7"; ValueError for anything else, and for a repeated number."""
    cpus: dict[int, None] = {}
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not (first.isascii() and first.isdigit() and (not dash or last.isascii() and last.isdigit())):
            raise ValueError
        low, high = int(first), int(last or first)
        if not low <= high < MOST_THREADS:
            raise ValueError
        count = len(cpus) + high + 1 - low
        cpus.update(dict.fromkeys(range(low, high + 1)))
        if len(cpus) < count:
            raise ValueError
    return list(cpus)


def binding() -> Kind:
    """Return the kind of one of BINDINGS or a list of hardware threads."""

    def read(value):
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str):
            raise ValueError
        if value not in BINDINGS:
            cpu_list(value)
        return value

    return Kind(", ".join(f'"{name}"' for name in BINDINGS) + ' or hardware threads such as "0,2,4-7"', read,
                any_of({"enum": list(BINDINGS)}, {"type": "string", "pattern": CPU_LIST},
                       {"type": "integer", "minimum": 0}))


def devices() -> Kind:
    """Return the kind of "auto", "none" or numbers of GPUs."""

    def read(value):
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str):
            raise ValueError
        if value not in ("auto", "none"):
            cpu_list(value)
        return value

    return Kind('"auto", "none" or GPUs such as "0,1"', read,
                any_of({"enum": ["auto", "none"]}, {"type": "string", "pattern": CPU_LIST},
                       {"type": "integer", "minimum": 0}))


def one_of(word: str, kind: Kind) -> Kind:
    """Return the kind of a word such as "auto", or a value of another kind."""
    return Kind(f'"{word}" or {kind.allowed}', lambda value: value if value == word else kind.read(value),
                any_of({"const": word}, kind.json))


def list_of(kind: Kind, shortest: int = 0, length: int | None = None, longest: int | None = None) -> Kind:
    """Return the kind of lists of values of one kind, stored as a tuple."""
    if length is not None:
        shortest = longest = length
        allowed = f"a list of {length} values, each {kind.allowed}"
    else:
        limits = [" that is not empty"] * (shortest > 0) + [f" of at most {longest} values"] * (longest is not None)
        allowed = f"a list{','.join(limits)}, each value {kind.allowed}"

    def read(value):
        if not isinstance(value, (list, tuple)) or len(value) < shortest:
            raise ValueError
        if longest is not None and len(value) > longest:
            raise ValueError
        return tuple(kind.read(item) for item in value)

    return Kind(allowed, read, array(kind.json, shortest, longest))


def either(first: Kind, second: Kind) -> Kind:
    """Return the kind of values of one of two kinds that have no value in common."""

    def read(value):
        try:
            return first.read(value)
        except (ValueError, TypeError):
            return second.read(value)

    # what `second` stores is no value of `first`, which would show it as it is
    def show(value):
        return first.show(value) if _is_value(first, value) else second.show(value)

    return Kind(f"{first.allowed}, or {second.allowed}", read, any_of(first.json, second.json), show)


def _is_value(kind: Kind, value: Any) -> bool:
    try:
        kind.read(value)
    except (ValueError, TypeError, OverflowError):
        return False
    return True


def duration() -> Kind:
    """Return the kind of seconds, or a time "HH:MM:SS" or "MM:SS"; stored as seconds.

    TOML reads HH:MM:SS without quotes as a time of day.
    """

    def read(value):
        if isinstance(value, datetime.time):
            value = value.isoformat()
        if isinstance(value, str):
            parts = [int(part) for part in value.split(":")]
            if not 2 <= len(parts) <= 3 or min(parts) < 0:
                raise ValueError
            value = sum(part * 60**power for power, part in enumerate(reversed(parts)))
        return real("(0, inf)").read(value)

    return Kind('seconds > 0 or "HH:MM:SS"', read,
                any_of({"type": "number", "exclusiveMinimum": 0},
                       {"type": "string", "pattern": "^[0-9]+(:[0-9]+){1,2}$"}))
