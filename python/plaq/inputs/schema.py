"""One table of parameters: what TOML files, ``--set``, ``--help``, Python keywords and the docs page are made
from."""

from __future__ import annotations

import difflib
import itertools
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, make_dataclass
from pathlib import Path
from typing import Any, NamedTuple

from plaq.errors import InputError
from plaq.files.guard import reading
from plaq.inputs.kinds import Kind, is_plain
from plaq.output import printable

REQUIRED = object()
LARGEST = 1 << 20  # bytes of an input
LONGEST = 240  # characters of what is wrong, in a message
DEEPEST = 8  # levels of it
LONG_KEY = re.compile(r"""(?<![\w"'-])(?:[\w"'-]++[ \t]*+\.[ \t]*+){100}""")


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
        except (ValueError, TypeError, OverflowError):
            raise InputError(f"{source}: {self.key} = {shown(value)} is not allowed: it must be "
                             f"{self.kind.allowed}") from None


class Option(NamedTuple):
    """What an option of the command line says about a parameter: the option's name, the parameter's key, the text."""

    name: str
    key: str
    text: str


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
                raise InputError(f"{source}: unknown section [{name_shown(section)}]{nearest(section, self.sections)}")
            if not isinstance(content, Mapping):
                raise InputError(f"{source}: {section} = {shown(content)} is not allowed: "
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
            raise InputError(f"{source}: unknown key {name_shown(key)}{nearest(key, elsewhere or self.parameters)}")
        return self.parameters[key]

    def read_setting(self, setting: str | Option) -> tuple[str, str, Any]:
        """(section, name, value) of ``section.name=value`` after --set, or of an option for one parameter.

        After --set a value is TOML, or a text if its parameter takes that; an option's is the other way about, so
        that no folder needs quotes. ``none`` unsets a parameter that may be unset.
        """
        if isinstance(setting, Option):
            source, parameter, text = setting.name, self.parameters[setting.key], setting.text
        else:
            source = "--set"
            key, equals, text = setting.partition("=")
            if not equals:
                raise InputError(f"--set {name_shown(setting)}: write it as section.key=value")
            parameter, text = self.find(key.strip(), source), text.strip()
        if text == "none" and parameter.default is None:
            return parameter.section, parameter.name, None
        try:
            parsed = parse_toml(f"value = {text}", source)
            values = [parsed["value"], text] if len(parsed) == 1 else [text]
        except InputError:
            values = [text]
        refused = []
        for value in values if source == "--set" else reversed(values):
            try:
                parameter.read(value, source)
                return parameter.section, parameter.name, value
            except InputError:
                refused.append(value)
        parameter.read(refused[0] if source == "--set" else refused[-1], source)

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
        with open(path, "rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise InputError(f"{path}: longer than {LARGEST} bytes, so it is not an input")
        try:
            return parse_toml(content.decode("utf-8-sig"), path)  # some editors put a mark in front
        except UnicodeDecodeError as error:
            raise InputError(f"{path}: not a TOML file: byte {error.start} is not UTF-8 text") from None


def parse_toml(text: str, source: str | Path) -> dict[str, Any]:
    """The tables of a text of TOML; InputError when it is none."""
    if LONG_KEY.search(text):  # tomllib takes time and memory with the square of its length
        raise InputError(f"{source}: not a TOML file of parameters: a key of a hundred parts")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{source}: not a TOML file: {one_line(str(error))}") from None
    except RecursionError:
        raise InputError(f"{source}: nested too deeply for a TOML file of parameters") from None
    except ValueError:
        raise InputError(f"{source}: not a TOML file: an integer of too many digits") from None


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean …?` for the closest known word, or the list of all when none is close."""
    word, lower = word[:LONGEST], {name.lower(): name for name in known}
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


def shown(value: Any, left: int = DEEPEST) -> str:
    """A value for a message: much as in TOML, in one short line, whatever it is."""
    if isinstance(value, int) and abs(value) >= 10**40:
        return "an integer of more than 40 digits"
    if isinstance(value, (list, tuple, Mapping)):
        rows = value.items() if isinstance(value, Mapping) else value
        few = list(itertools.islice(rows, LONGEST // 4)) if left else []
        if isinstance(value, Mapping):
            parts = [f"{shown(str(key))} = {shown(item, left - 1)}" for key, item in few]
        else:
            parts = [shown(item, left - 1) for item in few]
        inside = ", ".join([*parts, *["…"] * (len(value) > len(few))])
        text = f"{{ {inside} }}" if isinstance(value, Mapping) else f"[{inside}]"
    else:
        text = to_toml(value[: LONGEST + 1] if isinstance(value, str) else value)
    return one_line(text)


def name_shown(name: Any) -> str:
    """The name of a key or section for a message: in quotes if it is not plain."""
    return one_line(str(name)) if is_plain(str(name)) else shown(str(name))


def one_line(text: str) -> str:
    """The text, or as much of it as fits in a message, with all that would not print in escapes."""
    text = text if len(text) <= LONGEST else text[:LONGEST] + "…"
    return printable(text)
