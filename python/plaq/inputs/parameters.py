"""The parameters of a run: read from tables, checked, frozen. What is the same for every application."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

from plaq.inputs.schema import Option, Schema, read_toml

RUN = "run"  # the section that changes no result


class Parameters:
    """All parameters of one run, checked and frozen: ``p.section.key``.

    An application's class has its table as ``SCHEMA`` and says what no single key can in `check`. Sections are
    given as keyword tables with the names of the TOML file, ``Parameters(model={"U": 6})``. Lists are stored as
    tuples. InputError names source, key, value and what is allowed.
    """

    SCHEMA: ClassVar[Schema]
    # {key: what is possible where a folder cannot go on with another value}
    INSTEAD: ClassVar[Mapping[str, str]] = {}
    FREE: ClassVar[frozenset[str]] = frozenset()  # keys that a checkpoint is not bound to: `may_grow` decides on them

    def __init__(self, source: str = "Parameters", **sections: Mapping[str, Any]):
        values = self.SCHEMA.read(sections, source)
        self.check(values, source)
        object.__setattr__(self, "_given", {section: dict(content) for section, content in sections.items()})
        for section, content in self.SCHEMA.read(self.resolved(sections, values), source).items():
            object.__setattr__(self, section, content)

    @classmethod
    def check(cls, values: Mapping[str, Any], source: str) -> None:
        """InputError for what is wrong between keys; ``values``: {section: frozen object}."""

    @classmethod
    def resolved(cls, sections: Mapping[str, Any], values: Mapping[str, Any]) -> Mapping[str, Any]:
        """The sections with numbers in place of every "auto" that the input alone decides."""
        return sections

    @classmethod
    def read(cls, path: str | Path, settings: Iterable[str | Option] = ()) -> Self:
        """From a TOML file, with ``section.key=value`` settings and options on top of it."""
        return cls.from_tables(read_toml(path), path, settings)

    @classmethod
    def from_tables(cls, sections: Mapping[str, Any], source: str | Path,
                    settings: Iterable[str | Option] = ()) -> Self:
        """From the tables of such a file."""
        for setting in settings:
            sections = with_key(sections, *cls.SCHEMA.read_setting(setting))
        return cls(str(source), **{str(section): content for section, content in sections.items()})

    def __setattr__(self, name: str, value: Any):
        raise AttributeError("parameters are frozen: use replace(section={key: value})")

    def __reduce__(self):
        return _from_sections, (type(self), self._given)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.values() == other.values()

    def __hash__(self) -> int:
        return hash(self.fingerprint())

    def __repr__(self) -> str:
        return "\n".join(repr(content) for content in self.values().values())

    @property
    def given(self) -> dict[str, dict[str, Any]]:
        """What the input said, ``{section: {key: value}}``, without defaults."""
        return self._given

    def values(self) -> dict[str, Any]:
        """``{section: frozen object}``."""
        return {section.removesuffix(".*"): getattr(self, section.removesuffix(".*"))
                for section in self.SCHEMA.sections}

    def replace(self, **sections: Mapping[str, Any]) -> Self:
        """A copy with some keys changed: ``p.replace(solver={"seed": 2})``,
        or ``species={"ions": {"mass": 1836}}``."""
        given = dict(self._given)
        for section, content in sections.items():
            if f"{section}.*" in self.SCHEMA.sections:
                content = {name: {**given.get(section, {}).get(name, {}), **part} for name, part in content.items()}
            given[section] = {**given.get(section, {}), **content}
        return type(self)(**given)

    def to_toml(self, comments: bool = True) -> str:
        """A TOML file that reads back to these parameters."""
        return self.SCHEMA.to_toml(self.values(), comments)

    def fingerprint(self) -> str:
        """Hash of everything that determines the results, which is all but ``[run]``."""
        content = self.SCHEMA.to_toml(self.values(), comments=False, skip=[RUN])
        return hashlib.sha256(content.encode()).hexdigest()

    def binding(self) -> str:
        """Hash of what binds a checkpoint to its input: as `fingerprint`, but for the keys in ``FREE``."""
        if not self.FREE:
            return self.fingerprint()
        kept = {key: value for key, value in self.SCHEMA.by_key(self.values()).items()
                if key not in self.FREE and key.partition(".")[0] != RUN}
        return hashlib.sha256(repr(kept).encode()).hexdigest()

    def fingerprints(self) -> list[str]:
        """Fingerprints of the checkpoints that a run of this input may go on from."""
        return [self.binding()]

    def may_grow(self, key: str, before: Self) -> bool:
        """Whether a run of this input may go on from one of ``before``, in which this key has another value."""
        return False

    def conflict(self, before: Self) -> tuple[str, Any, Any, str] | None:
        """(key, value here, value before, what would be allowed) of the first parameter for which a run of this input
        cannot go on in the folder of a run of ``before``; None if it can. ``[run]`` may always differ."""
        here, there = (self.SCHEMA.by_key(p.values()) for p in (self, before))
        for key in here | there:
            one, other = here.get(key), there.get(key)
            if key.partition(".")[0] != RUN and one != other and not self.may_grow(key, before):
                return key, one, other, self.INSTEAD.get(key, "")
        return None


def with_key(sections: Mapping[str, Any], section: str, name: str, value: Any) -> Mapping[str, Any]:
    """A copy of the tables in which one key has this value; what is no table on the way to it stays,
    to be refused as such."""
    first, _, rest = section.partition(".")
    inner = sections.get(first, {})
    if not isinstance(inner, Mapping):
        return sections
    return {**sections, first: with_key(inner, rest, name, value) if rest else {**inner, name: value}}


def _from_sections(kind: type[Parameters], sections: Mapping[str, Any]) -> Parameters:
    return kind(**sections)
