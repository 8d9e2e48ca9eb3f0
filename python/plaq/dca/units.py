"""Unit of energy: t where the hopping to nearest neighbours is 1.

Elsewhere it is the unit of the input's numbers, which has no name here: numbers stand without one, and U/t beside U.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

WITHOUT_T = ("three_band", "nickelate", "pnictide")  # ready models whose amplitudes have other names
NEAR = [(1, 0), (-1, 0), (0, 1), (0, -1)]


def unit_of(hopping: Mapping[tuple[int, int], float]) -> str:
    """Return the unit, ``t`` or an empty text.

    hopping : {(dx, dy): amplitude}, -t to nearest neighbours, as far as there are hops to them.
    """
    return "t" if {hopping[d] for d in NEAR if d in hopping} == {-1.0} else ""


def measured(number: Any, unit: str) -> str:
    """Return ``0.07 t``, without a unit ``0.07``."""
    return f"{number} {unit}".rstrip()


def over(name: str, unit: str) -> str:
    """Return the label of an axis or a column: ``T / t``, or ``T`` without a unit."""
    return f"{name} / {unit}" if unit else name


def strength(model: Any, unit: str) -> str:
    """Return U in words: ``8 t``; without a unit ``2.8 (U/t = 8)``, of a table of hops without a t ``2.8``."""
    if not isinstance(model.U, float):
        return ", ".join(f"{measured(f'{value:g}', unit)} on {name}" for name, value in model.U)
    has_t = model.hopping is None and model.t and model.lattice not in WITHOUT_T
    return measured(f"{model.U:g}", unit) + (f" (U/t = {model.U / model.t:g})" if not unit and has_t else "")


def in_units(estimates: Mapping[str, Any], unit: str) -> dict[str, Any]:
    """Return estimates by name with units for an energy ``unit``; given units are t, 1/t and so on."""
    if unit == "t":
        return dict(estimates)
    converted = lambda symbol: "" if "t" in symbol else symbol
    return {name: replace(e, unit=converted(e.unit), axes=tuple(replace(a, unit=converted(a.unit)) for a in e.axes))
            for name, e in estimates.items()}
