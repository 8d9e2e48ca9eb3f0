"""Files that an input names: their content takes the place of their path, so that results have all of their input."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from plaq.errors import InputError
from plaq.pic.inputs import lxcat, openpmd_input

MASSES = 0.01  # relative difference of m/M of a file and of the input

SECTION, KEY = "scattering", "cross_sections"


def beside(sections: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
    """Return the sections with paths relative to the folder of the input."""

    def path(value: Any) -> Any:
        return str(folder / value) if isinstance(value, str) and value and "\n" not in value else value

    out = _changed(sections, lambda name, value: path(value))
    return _with_files(out, lambda own: {"file": path(own["file"])})


def with_content(sections: Mapping[str, Any], values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the sections with the processes of each [scattering.NAME], as text, in place of its file.

    InputError with file and line for a table that is not valid, and for masses that are not those of the input.
    """

    def content(name: str, value: str) -> str:
        section = values[SECTION][name]
        if "\n" in value:
            key = f"{SECTION}.{name}.{KEY}"
            processes = lxcat.of_target(lxcat.parse(value, key), section.target, key)
        else:
            key = value
            processes = lxcat.read_file(Path(value), section.target)
        ratio = values["species"][section.species].mass / values["gas"][section.gas].mass
        for process in processes:
            if process.type in ("ELASTIC", "EFFECTIVE") and abs(process.parameter / ratio - 1) > MASSES:
                raise InputError(f"{key}: m/M of {process.target} is {process.parameter:g}, and species."
                                 f"{section.species}.mass over gas.{section.gas}.mass is {ratio:.6g}")
        lxcat.with_elastic(processes, key)
        for kind, roles in (("IONIZATION", ("electrons", "ions")), ("ATTACHMENT", ("negative_ions",))):
            for role in roles:
                if any(process.type == kind for process in processes) and getattr(section, role) is None:
                    raise InputError(f"{SECTION}.{name}.{role} is missing: {kind} needs a species")
        return lxcat.write(processes)

    return _with_files(_changed(sections, content),
                       lambda own: {"file": os.path.abspath(own["file"]),
                                    "checksum": own.get("checksum") or openpmd_input.checksum(own["file"])})


def _with_files(sections: Mapping[str, Any],
                change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> dict[str, Any]:
    """Return the sections with the keys of change(section) for each section that has a file in openPMD."""

    def changed(own: Any) -> Any:
        named = isinstance(own, Mapping) and isinstance(own.get("file"), str)
        return {**own, **change(own)} if named else own

    out = dict(sections)
    if "external" in out:
        out["external"] = changed(out["external"])
    for section in ("species", "laser"):
        if isinstance(out.get(section), Mapping):
            out[section] = {name: changed(own) for name, own in out[section].items()}
    return out


def _changed(sections: Mapping[str, Any], change: Any) -> Mapping[str, Any]:
    """Return the sections with change(name, value) for the value of KEY in each [scattering.NAME]."""
    content = sections.get(SECTION)
    if not isinstance(content, Mapping):
        return sections
    return {**sections, SECTION: {name: {**own, KEY: change(name, own[KEY])}
                                  if isinstance(own, Mapping) and isinstance(own.get(KEY), str) else own
                                  for name, own in content.items()}}
