"""Parameters of a run: read from tables, checked, frozen. Base of those of every application."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any, ClassVar, Self

from plaq.inputs.schema import Option, Schema, read_toml

RUN = "run"  # the section that changes no result


class Parameters:
    """All parameters of one run, checked and frozen: ``p.section.key``.

    An application's class has its table as ``SCHEMA`` and checks several keys together in `check`. Sections are given
    as keyword tables with the names of the TOML file, ``Parameters(model={"U": 6})``. Lists are stored as tuples.
    InputError names source, key, value and what is allowed.
    """

    SCHEMA: ClassVar[Schema]
    # {key: remedy if a folder cannot resume with another value}; keys as in the table, quarks.*.range
    INSTEAD: ClassVar[Mapping[str, str]] = {}
    FREE: ClassVar[frozenset[str]] = frozenset()  # keys that a checkpoint is not bound to: `may_grow` decides on them

    def __init__(self, source: str = "Parameters", **sections: Mapping[str, Any]):
        sections = plain(sections)
        values = self.SCHEMA.read(sections, source)
        self.check(values, source)
        object.__setattr__(self, "_explicit", {section: dict(content) for section, content in sections.items()})
        for section, content in self.SCHEMA.read(self.resolved(sections, values), source).items():
            object.__setattr__(self, section, content)

    @classmethod
    def check(cls, values: Mapping[str, Any], source: str) -> None:
        """Raise InputError for keys that contradict each other; ``values``: {section: frozen object}."""

    @classmethod
    def resolved(cls, sections: Mapping[str, Any], values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the sections with numbers in place of every "auto" that the input alone decides."""
        return sections

    @classmethod
    def read(cls, path: str | Path, settings: Iterable[str | Option] = ()) -> Self:
        """Read a TOML file, with ``section.key=value`` settings and options that override it."""
        return cls.from_tables(read_toml(path), path, settings)

    @classmethod
    def from_tables(cls, sections: Mapping[str, Any], source: str | Path,
                    settings: Iterable[str | Option] = ()) -> Self:
        """Return the parameters of the tables of such a file."""
        for setting in settings:
            sections = with_key(sections, *cls.SCHEMA.read_setting(setting))
        return cls(str(source), **{str(section): content for section, content in sections.items()})

    def __setattr__(self, name: str, value: Any):
        raise AttributeError("parameters are frozen: use replace(section={key: value})")

    def __reduce__(self):
        return _from_sections, (type(self), self._explicit)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.values() == other.values()

    def __hash__(self) -> int:
        return hash(self.fingerprint())

    def __repr__(self) -> str:
        sections = ", ".join(f"{section}={content!r}" for section, content in self._explicit.items())
        return f"{type(self).__name__}({sections})"

    def _repr_html_(self) -> str:
        """Return the table of the keys that the input gives, and all keys behind a click."""
        rows = "".join(f'<tr><td style="text-align:left">{escape(key)}</td><td style="text-align:left">'
                       f"{escape(str(value))}</td></tr>" for key, value in flat(self._explicit))
        head = "".join(f'<th style="text-align:left">{word}</th>' for word in ("key", "value"))
        return (f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
                f"<details><summary>All keys</summary><pre>{escape(self.to_toml())}</pre></details>")

    @property
    def explicit(self) -> dict[str, dict[str, Any]]:
        """Keys of the input, ``{section: {key: value}}``, without defaults."""
        return self._explicit

    def values(self) -> dict[str, Any]:
        """Return ``{section: frozen object}``."""
        return {section.removesuffix(".*"): getattr(self, section.removesuffix(".*"))
                for section in self.SCHEMA.sections}

    def replace(self, **sections: Mapping[str, Any]) -> Self:
        """Return a copy with some keys changed.

        Examples: ``p.replace(solver={"seed": 2})``, ``p.replace(species={"ions": {"mass": 1836}})``.
        """
        explicit = dict(self._explicit)
        for section, content in sections.items():
            if f"{section}.*" in self.SCHEMA.sections:
                content = {name: {**explicit.get(section, {}).get(name, {}), **part} for name, part in content.items()}
            explicit[section] = {**explicit.get(section, {}), **content}
        return type(self)(**explicit)

    def to_toml(self, comments: bool = True) -> str:
        """Return a TOML file that reads back to these parameters."""
        return self.SCHEMA.to_toml(self.values(), comments)

    def fingerprint(self) -> str:
        """Return a hash of everything that determines the results, which is all but ``[run]``."""
        content = self.SCHEMA.to_toml(self.values(), comments=False, skip=[RUN])
        return hashlib.sha256(content.encode()).hexdigest()

    def binding(self) -> str:
        """Return a hash of the keys that bind a checkpoint to its input: all of `fingerprint` except ``FREE``."""
        if not self.FREE:
            return self.fingerprint()
        kept = {key: value for key, value in self.SCHEMA.by_key(self.values()).items()
                if self.binds(key)}
        return hashlib.sha256(repr(kept).encode()).hexdigest()

    def binds(self, key: str) -> bool:
        """Return whether a checkpoint is bound to the value of a key."""
        return key.partition(".")[0] != RUN and self._in_table(key) not in self.FREE

    def fingerprints(self) -> list[str]:
        """Return fingerprints of the checkpoints that a run of this input may resume."""
        return [self.binding()]

    def may_grow(self, key: str, before: Self) -> bool:
        """Return whether a run of this input may resume one of ``before``, in which this key has another value."""
        return False

    def remedy(self, key: str) -> str:
        """Return what to do where a run cannot resume with another value of a key, if there is a remedy."""
        return self.INSTEAD.get(self._in_table(key), "")

    def conflict(self, before: Self) -> tuple[str, Any, Any, str] | None:
        """Return why a run of this input cannot resume in the folder of a run of ``before``; None if it can.

        That is (key, value here, value before, allowed values) of the first parameter that differs. ``[run]`` may
        always differ.
        """
        here, there = (self.SCHEMA.by_key(p.values()) for p in (self, before))
        for key in here | there:
            value, other = here.get(key), there.get(key)
            if key.partition(".")[0] != RUN and value != other and not self.may_grow(key, before):
                return key, value, other, self.remedy(key)
        return None

    @classmethod
    def _in_table(cls, key: str) -> str:
        """Return the key of the table that stands for a key of an input: ``species.*.mass`` for one of many."""
        section, _, name = key.rpartition(".")
        return f"{cls.SCHEMA.pattern(section)}.{name}"


def flat(sections: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (key, value) of nested tables, keys as ``model.U``."""
    for key, value in sections.items():
        if isinstance(value, Mapping) and value:
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


DEEPEST = 50  # levels of lists and tables; no key has as many, so what lies deeper is refused by its kind


def plain(value: Any, depth: int = 0) -> Any:
    """Return numbers and arrays of numpy, and ranges, anywhere in a value as Python's own."""
    if depth > DEEPEST:
        return value
    if isinstance(value, Mapping):
        return {key: plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [plain(item, depth + 1) for item in value]
    return value.tolist() if hasattr(value, "tolist") else value


def with_key(sections: Mapping[str, Any], section: str, name: str, value: Any) -> Mapping[str, Any]:
    """Return a copy of the tables in which one key has this value.

    Entries on the way to it that are no tables stay, to be refused later.
    """
    first, _, rest = section.partition(".")
    inner = sections.get(first, {})
    if not isinstance(inner, Mapping):
        return sections
    return {**sections, first: with_key(inner, rest, name, value) if rest else {**inner, name: value}}


def _from_sections(kind: type[Parameters], sections: Mapping[str, Any]) -> Parameters:
    return kind(**sections)
