"""Checks of the lasers of an input."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from plaq.errors import InputError
from plaq.pic.inputs.geometry import directions_of
from plaq.pic.inputs.refusals import refuse
from plaq.pic.inputs.table import DIRECTIONS, SCHEMA


def check(values: Mapping[str, Any], source: str) -> None:
    """Raise InputError for the first mistake of a laser."""
    grid, dimension = values["grid"], len(values["grid"].cells)
    for name, laser in values["laser"].items():
        key = f"laser.{name}"
        if values["fields"].solver == "electrostatic":
            raise InputError(f"{source}: {key}: an electrostatic solver has no light waves")
        if laser.normal not in directions_of(values):
            raise refuse(source, f"{key}.normal", laser.normal, f"grid.cells has {dimension} directions")
        if laser.centre != "auto" and len(laser.centre) != dimension:
            raise refuse(source, f"{key}.centre", list(laser.centre), f"grid.cells has {dimension} directions")
        if laser.direction != "normal":
            _direction(values, source, key, laser)
        _of_file_or_beam(values, source, key, laser)
        if laser.waist is not None and dimension == 1:
            raise refuse(source, f"{key}.waist", laser.waist, "in one dimension there are plane waves")
        across = directions_of(values).index(laser.normal)
        cell = grid.length[across] / grid.cells[across]
        if not cell <= laser.at <= grid.length[across] - cell:
            raise refuse(source, f"{key}.at", laser.at,
                         f"from {cell:.6g} to {grid.length[across] - cell:.6g}, a cell from the sides of the box")
        if laser.wavelength is not None and laser.wavelength < 4 * cell:
            raise refuse(source, f"{key}.wavelength", laser.wavelength, f"at least 4 cells, {4 * cell:.6g}")


def _of_file_or_beam(values: Mapping[str, Any], source: str, key: str, laser: Any) -> None:
    """Check that a laser is either that of a file or a beam."""
    of_beam = ("wavelength", "a0", "envelope", "phase", "angle", "waist", "focus", "direction")
    defaults = {parameter.name: parameter.default for parameter in SCHEMA.of("laser.*")}
    for part in of_beam if laser.file is not None else ("checksum", "start"):
        if getattr(laser, part) != defaults[part]:
            raise refuse(source, f"{key}.{part}", getattr(laser, part),
                         f"it is of a laser without {key}.file" if laser.file is not None
                         else f"it is of {key}.file, which is not set")
    if laser.file is not None and values["units"].density is None:
        raise InputError(f"{source}: units.density is missing: {key}.file has SI units")
    for part in of_beam[:3] if laser.file is None else ():
        if getattr(laser, part) is None:
            raise InputError(f"{source}: {key}.{part} is missing")


def _direction(values: Mapping[str, Any], source: str, key: str, laser: Any) -> None:
    dimension, given = len(values["grid"].cells), list(laser.direction)
    if len(given) != dimension:
        raise refuse(source, f"{key}.direction", given, f"grid.cells has {dimension} directions")
    length = math.hypot(*given)
    if abs(given[DIRECTIONS.index(laser.normal)]) <= math.cos(math.radians(80)) * length:
        raise refuse(source, f"{key}.direction", given, f"at most 80° from the normal {laser.normal}")
    if values["fields"].stencil != "yee":
        raise refuse(source, f"{key}.direction", given, f'with fields.stencil = "yee", and it is '
                     f'{values["fields"].stencil}')
