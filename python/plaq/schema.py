"""One table of parameters: what TOML files, ``--set``, ``--help``, Python keywords and the docs page are made
from."""

from __future__ import annotations

import datetime
import difflib
import json
import math
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, make_dataclass
from pathlib import Path
from typing import Any

from plaq.errors import InputError
from plaq.guard import reading

REQUIRED = object()


@dataclass(frozen=True)
class Kind:
    """A type of value: what is allowed in words, ``read`` from TOML to the stored value (ValueError when refused)
    and ``show``, the way back."""

    allowed: str
    read: Callable[[Any], Any]
    show: Callable[[Any], Any] = lambda value: value


def integer(low: int | None = None, high: int | None = None) -> Kind:
    """A whole number in [low, high]; a missing bound is open."""
    if high is not None:
        allowed = f"an integer from {low} to {high}"
    else:
        allowed = "an integer" if low is None else f"an integer ≥ {low}"

    def read(value):
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError
        if (low is not None and value < low) or (high is not None and value > high):
            raise ValueError
        return value

    return Kind(allowed, read)


def real(interval: str = "(-inf, inf)") -> Kind:
    """A number in an interval such as ``(0, 2)``, ``[0, inf)`` or ``(0, inf]``; nan is never allowed."""
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

    return Kind(allowed, read)


def boolean() -> Kind:
    """true or false."""

    def read(value):
        if not isinstance(value, bool):
            raise ValueError
        return value

    return Kind("true or false", read)


def text() -> Kind:
    """A string that is not empty."""

    def read(value):
        if not isinstance(value, str) or not value:
            raise ValueError
        return value

    return Kind("a text", read)


def choice(*names: str) -> Kind:
    """One of a few words."""

    def read(value):
        if value not in names:
            raise ValueError
        return value

    return Kind(" or ".join(json.dumps(name) for name in names), read)


# What workers may be bound to, and what the task library calls it.
BINDINGS = {"auto": "automatic", "cores": "cores", "threads": "threads", "none": "none"}


def cpu_list(text: str) -> list[int]:
    """[0, 2, 4, 5, 6, 7] for "0,2,4-7"; ValueError for anything else, and for a number that comes twice."""
    cpus = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not (first.isascii() and first.isdigit() and (not dash or last.isascii() and last.isdigit())):
            raise ValueError
        cpus += range(int(first), int(last or first) + 1)
    if not cpus or len(set(cpus)) < len(cpus) or max(cpus) >= 1 << 20:
        raise ValueError
    return cpus


def binding() -> Kind:
    """One of BINDINGS or a list of hardware threads."""

    def read(value):
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str):
            raise ValueError
        if value not in BINDINGS:
            cpu_list(value)
        return value

    return Kind(", ".join(f'"{name}"' for name in BINDINGS) + ' or hardware threads such as "0,2,4-7"', read)


def one_of(word: str, kind: Kind) -> Kind:
    """A word such as "auto", or a value of another kind."""
    return Kind(f'"{word}" or {kind.allowed}', lambda value: value if value == word else kind.read(value))


def list_of(kind: Kind, shortest: int = 0, length: int | None = None) -> Kind:
    """A list of values of one kind, stored as a tuple."""
    if length is not None:
        allowed = f"a list of {length} values, each {kind.allowed}"
    else:
        allowed = f"a list{'' if shortest == 0 else ' that is not empty'}, each value {kind.allowed}"

    def read(value):
        if not isinstance(value, (list, tuple)) or len(value) < shortest:
            raise ValueError
        if length is not None and len(value) != length:
            raise ValueError
        return tuple(kind.read(item) for item in value)

    return Kind(allowed, read)


def displacements() -> Kind:
    """A table ``{"dx,dy" = amplitude}``, stored as ((dx, dy, amplitude), ...) in sorted order."""

    def read(value):
        if not isinstance(value, Mapping) or not value:
            raise ValueError
        rows = {}
        for key, amplitude in value.items():
            dx, dy = (int(part) for part in (key.split(",") if isinstance(key, str) else key))
            rows[dx, dy] = real().read(amplitude)
        return tuple((dx, dy, amplitude) for (dx, dy), amplitude in sorted(rows.items()))

    def show(rows):
        return {f"{dx},{dy}": amplitude for dx, dy, amplitude in rows}

    return Kind('a table such as { "1,0" = -1.0, "0,1" = -1.0 }', read, show)


def duration() -> Kind:
    """Seconds, or a time "HH:MM:SS" or "MM:SS"; stored as seconds. TOML reads HH:MM:SS without quotes as a time
    of day."""

    def read(value):
        if isinstance(value, datetime.time):
            value = value.isoformat()
        if isinstance(value, str):
            parts = [int(part) for part in value.split(":")]
            if not 2 <= len(parts) <= 3 or min(parts) < 0:
                raise ValueError
            value = sum(part * 60**power for power, part in enumerate(reversed(parts)))
        return real("(0, inf)").read(value)

    return Kind('seconds > 0 or "HH:MM:SS"', read)


@dataclass(frozen=True)
class Parameter:
    """One row of the table. ``default`` is REQUIRED when the user must give a value, None when it may stay
    unset."""

    section: str
    name: str
    kind: Kind
    default: Any
    unit: str
    doc: str

    @property
    def key(self) -> str:
        return f"{self.section}.{self.name}"

    def read(self, value: Any, source: str) -> Any:
        try:
            return self.kind.read(value)
        except (ValueError, TypeError):
            raise InputError(f"{source}: {self.key} = {to_toml(value)} is not allowed: it must be "
                             f"{self.kind.allowed}") from None


class Schema:
    """The table of one application: sections in order with a line of doc each, and their parameters."""

    def __init__(self, sections: Mapping[str, str], parameters: Iterable[Parameter]):
        self.sections = dict(sections)
        self.parameters = {parameter.key: parameter for parameter in parameters}
        self.types = {
            section: make_dataclass(section, [parameter.name for parameter in self.of(section)], frozen=True)
            for section in sections
        }

    def of(self, section: str) -> list[Parameter]:
        return [parameter for parameter in self.parameters.values() if parameter.section == section]

    def read(self, table: Mapping[str, Any], source: str) -> dict[str, Any]:
        """``{section: {key: value}}`` to one frozen object per section; InputError names source, key, value,
        allowed."""
        for section, content in table.items():
            if section not in self.sections:
                raise InputError(f"{source}: unknown section [{section}]{nearest(section, self.sections)}")
            if not isinstance(content, Mapping):
                raise InputError(f"{source}: {section} = {to_toml(content)} is not allowed: "
                                 f"[{section}] is a section")
            for name in content:
                self.find(f"{section}.{name}", source)
        values = {section: {} for section in self.sections}
        for parameter in self.parameters.values():
            value = table.get(parameter.section, {}).get(parameter.name, parameter.default)
            if value is REQUIRED:
                raise InputError(f"{source}: {parameter.key} is missing: {parameter.doc} "
                                 f"({parameter.kind.allowed})")
            unset = value is None and parameter.default is None
            values[parameter.section][parameter.name] = None if unset else parameter.read(value, source)
        return {section: self.types[section](**content) for section, content in values.items()}

    def find(self, key: str, source: str) -> Parameter:
        """The parameter called ``section.name``; InputError with the nearest known key when there is none."""
        if key not in self.parameters:
            name = key.rpartition(".")[2]
            elsewhere = [known for known in self.parameters if known.endswith(f".{name}")]
            raise InputError(f"{source}: unknown key {key}{nearest(key, elsewhere or self.parameters)}")
        return self.parameters[key]

    def read_setting(self, setting: str) -> tuple[str, str, Any]:
        """``section.name=value`` of the command line as (section, name, value). The value is TOML, a bare word
        counts as a text, and ``none`` unsets a parameter that may be unset."""
        key, equals, value = setting.partition("=")
        if not equals:
            raise InputError(f"--set {setting}: write it as section.key=value")
        parameter = self.find(key.strip(), "--set")
        if value.strip() == "none" and parameter.default is None:
            return parameter.section, parameter.name, None
        try:
            parsed = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            parsed = value.strip()
        parameter.read(parsed, "--set")
        return parameter.section, parameter.name, parsed

    def to_toml(self, values: Mapping[str, Any], comments: bool = True, skip: Iterable[str] = ()) -> str:
        """The values as a TOML file that reads back to the same values; unset ones are left out."""
        blocks = []
        for section in self.sections:
            if section in skip:
                continue
            lines = [f"[{section}]"]
            for parameter in self.of(section):
                value = getattr(values[section], parameter.name)
                if value is not None:
                    line = f"{parameter.name} = {to_toml(parameter.kind.show(value))}"
                    lines.append(f"{line}  # {parameter.doc}" if comments else line)
            blocks.append("\n".join(lines))
        return "\n\n".join(blocks) + "\n"

    def rows(self, section: str) -> list[tuple[str, str, str, str, str]]:
        """(key, default, unit, allowed, doc) of every parameter of a section, as text."""
        shown = []
        for p in self.of(section):
            default = "required" if p.default is REQUIRED else "unset" if p.default is None else to_toml(p.default)
            shown.append((p.name, default, p.unit, p.kind.allowed, p.doc))
        return shown

    def markdown(self, title: str) -> str:
        """The page of the docs."""
        lines = [f"# {title}", ""]
        for section, doc in self.sections.items():
            lines += [f"## `[{section}]`", "", doc, ""]
            lines += ["| key | default | unit | allowed | meaning |", "|---|---|---|---|---|"]
            for name, default, unit, allowed, meaning in self.rows(section):
                lines.append(f"| `{name}` | `{default}` | {unit} | {allowed} | {meaning} |")
            lines.append("")
        return "\n".join(lines)


def read_toml(path: str | Path) -> dict[str, Any]:
    """The tables of a TOML file; InputError when it cannot be read or is none."""
    with reading(path, "a TOML file"):
        try:
            return tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"{path}: not a TOML file: {error}") from None


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean …?` for the closest known word, or the list of all when none is close."""
    lower = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower(), lower, n=1, cutoff=0.6)
    return f"; did you mean {lower[close[0]]}?" if close else f"; known are {', '.join(lower.values())}"


def to_toml(value: Any) -> str:
    """One value as TOML text; None, which TOML lacks, as the word ``unset`` for messages."""
    if value is None:
        return "unset"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(to_toml(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(str(key))} = {to_toml(item)}" for key, item in value.items()) + " }"
    return repr(value) if isinstance(value, float) else str(value)
