"""One table of parameters: the source of TOML files, ``--set``, ``--help``, Python keywords and the docs page."""

from __future__ import annotations

import difflib
import itertools
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, make_dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from plaq.errors import InputError
from plaq.files.guard import reading
from plaq.inputs.kinds import Kind, is_plain
from plaq.streams import printable

REQUIRED = object()
SWEEP = "sweep"  # a section of any input, from which `plaq.run.sweep` makes many runs
LARGEST = 1 << 20  # bytes of an input
LONGEST = 240  # characters of a value in a message
DEEPEST = 8  # levels of a value in a message
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")  # of a table that the input names
QUOTES = tuple("\"'[{")  # first characters of a text, a list or a table in TOML
LONG_KEY = re.compile(r"""(?<![\w"'-])(?:[\w"'-]++[ \t]*+\.[ \t]*+){100}""")


@dataclass(frozen=True)
class Parameter:
    """One row of the table.

    ``default`` is REQUIRED if the user must give a value, None if it may stay unset. ``elsewhere``: its names in other
    programs, in small letters, for messages.
    """

    section: str
    name: str
    kind: Kind
    default: Any
    unit: str
    doc: str
    elsewhere: tuple[str, ...] = ()

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
    """Value of a parameter from an option of the command line: the option's name, the parameter's key, the text."""

    name: str
    key: str
    text: str


class Schema:
    """The table of one application: sections in order with a line of doc each, and their parameters.

    A section called ``species.*`` stands for any number of tables ``[species.NAME]``, whose names the input chooses;
    they are read to a mapping by name. A parameter called ``*`` stands for any key of its section, which is read to a
    mapping too.
    """

    def __init__(self, sections: Mapping[str, str], parameters: Iterable[Parameter]):
        self.sections = dict(sections)
        self.parameters = {parameter.key: parameter for parameter in parameters}
        self.types = {
            section: None if self.is_free(section) else
            make_dataclass(section.removesuffix(".*"), [parameter.name for parameter in self.of(section)],
                           frozen=True)
            for section in sections
        }

    def of(self, section: str) -> list[Parameter]:
        return [parameter for parameter in self.parameters.values() if parameter.section == section]

    def is_free(self, section: str) -> bool:
        """Return whether the input chooses the names of its keys."""
        return f"{section}.*" in self.parameters

    def read(self, table: Mapping[str, Any], source: str) -> dict[str, Any]:
        """Turn ``{section: {key: value}}`` into one frozen object per section, or a mapping of them by name.

        InputError names source, key, value, allowed values.
        """
        sections: dict[str, Any] = {section: {} for section in self.sections if section.endswith(".*")}
        flat = dict.fromkeys((section for section in self.sections if not section.endswith(".*")), {})
        for section, content in self.flat(table, source).items():
            flat[section] = content
            for name in content:
                self.find(f"{section}.{name}", source)
        for section, content in flat.items():
            pattern = self.pattern(section)
            names = content if self.is_free(pattern) else [parameter.name for parameter in self.of(pattern)]
            values = {name: self._value(f"{section}.{name}", content, name, source) for name in names}
            section_values = MappingProxyType(values) if self.is_free(pattern) else self.types[pattern](**values)
            if pattern == section:
                sections[section] = section_values
            else:
                sections[pattern][section.rpartition(".")[2]] = section_values
        return {section.removesuffix(".*"): MappingProxyType(sections[section]) if section.endswith(".*")
                else sections[section] for section in self.sections}

    def _value(self, key: str, content: Mapping[str, Any], name: str, source: str) -> Any:
        parameter = self.find(key, source)
        value = content.get(name, parameter.default)
        if value is REQUIRED:
            raise InputError(f"{source}: {key} is missing: {parameter.doc} ({parameter.kind.allowed})")
        return None if value is None and parameter.default is None else parameter.read(value, source)

    def flat(self, table: Mapping[str, Any], source: str) -> dict[str, Mapping[str, Any]]:
        """Return the sections of a table by their full names, ``species.electrons`` and so on."""
        parts_by_name = {}
        for section, content in table.items():
            many = f"{section}.*" in self.sections
            if section not in self.sections and not many:
                known = [*(name.removesuffix(".*") for name in self.sections), *([] if section == SWEEP else [SWEEP])]
                raise InputError(f"{source}: unknown section [{name_shown(section)}]{nearest(section, known)}")
            for name, part in content.items() if many and isinstance(content, Mapping) else [(None, content)]:
                whole = section if name is None else f"{section}.{name}"
                if name is not None and not (isinstance(name, str) and NAME.fullmatch(name)):
                    raise InputError(f"{source}: [{name_shown(whole)}]: a name has letters, digits and _, "
                                     "a letter first, at most 64 of them")
                if not isinstance(part, Mapping):
                    raise InputError(f"{source}: {whole} = {shown(part)} is not allowed: "
                                     f"[{whole}{'.NAME' if many and name is None else ''}] is a section")
                parts_by_name[whole] = part
        return parts_by_name

    def pattern(self, section: str) -> str:
        """Return the name in the table of a section of an input: ``species.*`` of ``species.electrons``."""
        family, dot, name = section.rpartition(".")
        return f"{family}.*" if dot and f"{family}.*" in self.sections and NAME.fullmatch(name) else section

    def find(self, key: str, source: str) -> Parameter:
        """Return the parameter called ``section.name``; InputError with the nearest known key if there is none."""
        section, _, name = key.rpartition(".")
        pattern = self.pattern(section)
        if parameter := self.parameters.get(f"{pattern}.{name}"):
            return parameter if pattern == section else replace(parameter, section=section)
        if self.is_free(pattern) and NAME.fullmatch(name):
            return replace(self.parameters[f"{pattern}.*"], section=section, name=name)
        known = [f"{section if p.section == pattern else p.section}.{p.name}" for p in self.parameters.values()]
        elsewhere = [other for other in known if other.endswith(f".{name}")]
        beside = [other for other in known if other.startswith(f"{section}.")]
        if named := [p.name for p in self.of(pattern) if name.lower() in p.elsewhere]:
            raise InputError(f"{source}: unknown key {name_shown(key)}; did you mean {section}.{named[0]}?")
        sections = [name.removesuffix(".*") for name in self.sections]
        hint = nearest(key, elsewhere or known, beside or sections)
        raise InputError(f"{source}: unknown key {name_shown(key)}{hint}")

    def named(self, keys: Iterable[str]) -> list[Parameter]:
        """Return all parameters by their full names. Names that the input chooses are those in ``keys``."""
        found = {key: parameter for key, parameter in self.parameters.items() if "*" not in key}
        for key in sorted(keys):
            section = key.rpartition(".")[0]
            pattern = self.pattern(section)
            if pattern != section:
                found |= {f"{section}.{p.name}": replace(p, section=section) for p in self.of(pattern)}
            elif self.is_free(section) and self._knows(key):
                found[key] = self.find(key, "")
        return list(found.values())

    def misfits(self, table: Mapping[str, Any]) -> int:
        """Return the number of keys of a table that are unknown here, plus those that it misses."""
        keys = keys_of(table, self)
        needed = {key for key, p in self.parameters.items() if p.default is REQUIRED and not p.section.endswith(".*")}
        return sum(not self._knows(key) for key in keys) + len(needed - keys)

    def _knows(self, key: str) -> bool:
        try:
            return bool(self.find(key, ""))
        except InputError:
            return False

    def read_setting(self, setting: str | Option) -> tuple[str, str, Any]:
        """Return (section, name, value) of ``section.name=value`` after --set, or of an option for one parameter.

        After --set a value is TOML, or a text if its parameter takes that; an option's is a text first, so that no
        folder needs quotes. ``none`` unsets a parameter that may be unset.
        """
        if isinstance(setting, Option):
            source, parameter, text = setting.name, self.find(setting.key, setting.name), setting.text
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
        if source == "--set" and text.startswith(QUOTES):  # it is TOML, and no text with its quotes
            if len(values) == 1:
                raise InputError(f"--set {parameter.key} = {one_line(text)}: is not a TOML value: is it complete? It "
                                 f"must be {parameter.kind.allowed}")
            values = values[:1]
        refused = []
        for value in values if source == "--set" else reversed(values):
            try:
                parameter.read(value, source)
                return parameter.section, parameter.name, value
            except InputError:
                refused.append(value)
        parameter.read(refused[0] if source == "--set" else refused[-1], source)

    def to_toml(self, values: Mapping[str, Any], comments: bool = True, skip: Iterable[str] = ()) -> str:
        """Return the values as a TOML file that reads back to the same values; unset ones are left out."""
        blocks = []
        for section, content in self.each(values):
            if section in skip or (self.is_free(section) and not content):
                continue
            lines = [f"[{section}]"]
            for parameter in self.of(self.pattern(section)):
                for name in content if parameter.name == "*" else (parameter.name,):
                    value = content[name] if parameter.name == "*" else getattr(content, name)
                    if value is not None:
                        line = f"{name} = {to_toml(parameter.kind.show(value))}"
                        lines.append(f"{line}  # {parameter.doc}" if comments else line)
            if len(lines) == 1 and section in self.optional:
                continue
            blocks.append("\n".join(lines))
        return "\n\n".join(blocks) + "\n"

    @cached_property
    def optional(self) -> set[str]:
        """Sections without a key that has a value by default; they are left out where no key is given."""
        return {section for section in self.sections if all(row.default is None for row in self.of(section))}

    def each(self, values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """Yield (section, its values), sections with names one by one."""
        for section in self.sections:
            family = section.removesuffix(".*")
            if family == section:
                yield section, values[section]
            else:
                yield from ((f"{family}.{name}", content) for name, content in values[family].items())

    def by_key(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return ``{key: value}`` of all values."""
        return {f"{section}.{name}": value for section, content in self.each(values)
                for name, value in (content if self.is_free(section) else vars(content)).items()}

    def rows(self, section: str) -> list[tuple[str, str, str, str, str]]:
        """Return (key, default, unit, allowed, doc) of every parameter of a section, as text."""
        shown = []
        for p in self.of(section):
            default = "required" if p.default is REQUIRED else "unset" if p.default is None else to_toml(p.default)
            shown.append((p.name, default, p.unit, p.kind.allowed, p.doc))
        return shown

    def markdown(self, title: str) -> str:
        """Return the page of the docs."""
        lines = [f"# {title}", ""]
        for section, doc in self.sections.items():
            lines += [f"## `[{section}]`", "", doc, ""]
            lines += ["| key | default | unit | allowed | meaning |", "|---|---|---|---|---|"]
            for name, default, unit, allowed, meaning in self.rows(section):
                meaning = meaning.replace("][", "]\\[")  # no link
                lines.append(f"| `{name}` | `{default}` | {unit} | {allowed} | {meaning} |")
            lines.append("")
        return "\n".join(lines)


def read_toml(path: str | Path) -> dict[str, Any]:
    """Return the tables of a TOML file; InputError if it cannot be read or is none."""
    with reading(path, "a TOML file"):
        with open(path, "rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise InputError(f"{path}: longer than {LARGEST} bytes, so it is not an input")
        try:
            return parse_toml(content.decode("utf-8-sig"), path)  # some editors write a byte order mark
        except UnicodeDecodeError as error:
            raise InputError(f"{path}: not a TOML file: byte {error.start} is not UTF-8 text") from None


def parse_toml(text: str, source: str | Path) -> dict[str, Any]:
    """Return the tables of a TOML text; InputError if it is none."""
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


def keys_of(table: Mapping[str, Any], schema: Schema) -> set[str]:
    """Return ``section.name`` of all keys of a table, and of those that it sweeps over."""
    keys = set()
    for section, content in table.items():
        parts = {section: content}
        if section == SWEEP and isinstance(content, Mapping):
            keys |= set(content)
            continue
        if f"{section}.*" in schema.sections and isinstance(content, Mapping):
            parts = {f"{section}.{name}": part for name, part in content.items()}
        for whole, part in parts.items():
            keys |= {f"{whole}.{name}" for name in (part if isinstance(part, Mapping) else ("",))}
    return keys


def nearest(word: str, known: Iterable[str], beside: Sequence[str] = ()) -> str:
    """Return `; did you mean …?` for the closest known word, or a list of known ones if none is close.

    The list has the words ``beside`` it, by default all.
    """
    word, lower = word[:LONGEST], {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower(), lower, n=1, cutoff=0.6)
    return f"; did you mean {lower[close[0]]}?" if close else f"; known are {', '.join(beside or lower.values())}"


def to_toml(value: Any) -> str:
    """Return one value as TOML text; None, which TOML lacks, as the word ``unset`` for messages."""
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
    """Return any value for a message: much as in TOML, in one short line."""
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
    """Return the name of a key or section for a message: in quotes if it is not plain."""
    return one_line(str(name)) if is_plain(str(name)) else shown(str(name))


def one_line(text: str) -> str:
    """Return the text, shortened to the length of a message, with escapes for characters that do not print."""
    text = text if len(text) <= LONGEST else text[:LONGEST] + "…"
    return printable(text)
