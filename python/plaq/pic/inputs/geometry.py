"""Geometry of the mesh: names of its directions and of the components of vectors.

The core calls the components of a cylinder x, y, z too: they are z, r and the azimuth t.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

AXES = {"cartesian": "xyz", "cylinder": "zrt"}  # three, of vectors; those of the mesh come first
CORE = "xyz"
SHIFTS = {"e": ((1, 0, 0), (0, 1, 0), (0, 0, 1)), "b": ((0, 1, 1), (1, 0, 1), (1, 1, 0))}


def axes_of(values: Mapping[str, Any]) -> str:
    """Return the names of the three components of vectors of an input."""
    return AXES[values["grid"].geometry]


def directions_of(values: Mapping[str, Any]) -> str:
    """Return the names of the directions of the mesh of an input."""
    return axes_of(values)[:len(values["grid"].cells)]


def directions_in_words(values: Mapping[str, Any]) -> str:
    """Return the directions as the end of an error."""
    if values["grid"].geometry == "cylinder":
        return "the directions of a cylinder are z and r"
    return f"grid.cells has {len(values['grid'].cells)} directions"


def yee_shifts(axes: str) -> dict[str, tuple[int, int, int]]:
    """Return flags of the coordinates of a component of E or B that are half a cell behind the node, on Yee's mesh."""
    return {f"{kind}{d}": shift for kind, shifts in SHIFTS.items() for d, shift in zip(axes, shifts)}


def core_name(axes: str, field: str) -> str:
    """Return the core's name of a field."""
    if field[0] in "ebj" and field[1:] in axes:
        return field[0] + CORE[axes.index(field[1:])]
    return field
