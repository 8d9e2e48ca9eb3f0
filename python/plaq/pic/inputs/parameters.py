"""Parameters of ``plaq pic``: checked, frozen, with numbers in place of "auto"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from plaq.inputs import parameters
from plaq.inputs.parameters import with_key
from plaq.inputs.schema import Option
from plaq.pic.inputs import checks, tables
from plaq.pic.inputs.geometry import axes_of
from plaq.pic.inputs.table import SCHEMA


class Parameters(parameters.Parameters):
    """Parameters of a run, such as ``p.grid.cells`` and ``p.species["electrons"].mass``.

    Parameters(grid={"cells": [64], "length": [10]}, time={"end": 20}, species={"electrons": {"charge": -1, "mass": 1,
    "density": "1 + 0.01*cos(2*pi*x/10)", "per_cell": 100}})
    """

    SCHEMA = SCHEMA
    FREE = frozenset(("external.file", "laser.*.file", "species.*.file"))  # their checksums bind
    INSTEAD = {"time.end": "a run resumes to a later end, never to an earlier one"}

    @classmethod
    def check(cls, values: Mapping[str, Any], source: str) -> None:
        checks.check(values, source)

    @classmethod
    def from_tables(cls, sections: Mapping[str, Any], source: str | Path,
                    settings: Iterable[str | Option] = ()) -> Self:
        settings = [cls.SCHEMA.read_setting(setting) for setting in settings]
        for setting in settings:
            sections = with_key(sections, *setting)
        return super().from_tables(tables.beside(sections, Path(source).parent), source)

    @classmethod
    def resolved(cls, sections: Mapping[str, Any], values: Mapping[str, Any]) -> Mapping[str, Any]:
        grid, time = values["grid"], values["time"]
        if grid.patches == "auto":
            sections = with_key(sections, "grid", "patches", checks.default_patches(values))
        if time.step == "auto":
            sections = with_key(sections, "time", "step", checks.default_step(values))
        if values["output"].fields == "auto":
            fields = [*(f"{kind}{d}" for kind in "eb" for d in axes_of(values)), "rho"]
            sections = with_key(sections, "output", "fields", fields)
        sections = tables.with_content(sections, values)
        return sections

    def may_grow(self, key: str, before: Parameters) -> bool:
        return self._in_table(key) in self.FREE or (key == "time.end" and self.time.end > before.time.end)
