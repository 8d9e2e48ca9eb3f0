"""Checks of the species of an input, and of what turns one into another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plaq.errors import InputError
from plaq.pic.inputs.refusals import known, refuse


def check_species(values: Mapping[str, Any], source: str) -> None:
    species = values["species"]
    if not species and not values["laser"] and values["fields"].e == values["fields"].b == (0.0, 0.0, 0.0):
        raise InputError(f"{source}: [species.NAME] is missing: there are neither particles nor fields")
    for name, own in species.items():
        key = f"species.{name}"
        if own.like is not None:
            other = known(source, f"{key}.like", own.like, species)
            if other is own or other.like is not None:
                raise refuse(source, f"{key}.like", own.like, "it must be another species whose own like is not set")
            if other.per_cell != own.per_cell:
                raise refuse(source, f"{key}.per_cell", own.per_cell,
                             f"{own.like} has {other.per_cell}, and the positions have to be the same")
        if own.distribution == "juttner" and len(set(own.temperature)) > 1:
            raise refuse(source, f"{key}.temperature", list(own.temperature),
                         "juttner has one temperature for all directions")
        if own.distribution == "juttner" and own.placed == "quiet":
            raise refuse(source, f"{key}.placed", own.placed, "juttner has random momenta: random or even")
        _given_particles(own, key, source)
        if own.density != 0.0 and not own.per_cell:
            raise InputError(f"{source}: {key}.per_cell is missing: {key}.density needs particles")


def _given_particles(own: Any, key: str, source: str) -> None:
    """Check a species' file, its own momenta, and one that stays where it is."""
    for name, of in (("file_species", "file"), ("checksum", "file")):
        if getattr(own, name) is not None and getattr(own, of) is None:
            raise refuse(source, f"{key}.{name}", getattr(own, name), f"it is of {key}.{of}, which is not set")
    zero = (0.0, 0.0, 0.0)
    if own.momenta is None:
        for name in ("momenta_low", "momenta_high"):
            if getattr(own, name) != zero:
                raise refuse(source, f"{key}.{name}", list(getattr(own, name)), f"{key}.momenta is not set")
    else:
        if own.drift != zero or own.temperature != zero or own.distribution != "maxwell" or own.placed == "quiet":
            raise refuse(source, f"{key}.momenta", own.momenta,
                         "it takes the place of drift, temperature, distribution and of placed = \"quiet\"")
        if any(low > high for low, high in zip(own.momenta_low, own.momenta_high)):
            raise refuse(source, f"{key}.momenta_high", list(own.momenta_high), "it is not below momenta_low")
        if own.momenta_low == own.momenta_high:
            raise refuse(source, f"{key}.momenta_high", list(own.momenta_high), "it is above momenta_low in a "
                                                                                "direction")
    if not own.moves and (own.drift != zero or own.temperature != zero or own.momenta is not None or own.test):
        raise refuse(source, f"{key}.moves", own.moves, "without drift, temperature, momenta and test")


def check_ionisations(values: Mapping[str, Any], source: str) -> None:
    for name, section in values["ionisation"].items():
        key = f"ionisation.{name}"
        before, ions, electrons = (known(source, f"{key}.{role}", getattr(section, role), values["species"])
                                   for role in ("species", "ions", "electrons"))
        if values["units"].density is None:
            raise InputError(f"{source}: units.density is missing: {key} depends on the field in V/m")
        if electrons.charge != -1 or ions.charge != before.charge + 1 or ions.charge < 1:
            raise refuse(source, f"{key}.ions", section.ions, f"charges of {section.species}, {section.ions}, "
                         f"{section.electrons} are Z, Z + 1 and -1 with Z = 0, 1, ..., not {before.charge:g}, "
                         f"{ions.charge:g}, {electrons.charge:g}")
