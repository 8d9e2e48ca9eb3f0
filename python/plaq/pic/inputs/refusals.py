"""Errors of an input: the value and what is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plaq.errors import InputError
from plaq.inputs.schema import nearest, one_line, shown


def refuse(source: str, key: str, value: Any, allowed: str) -> InputError:
    return InputError(f"{source}: {key} = {shown(value)} is not allowed: {allowed}")


def known(source: str, key: str, name: str, all_species: Mapping[str, Any]) -> Any:
    """Return the species of a name."""
    if name not in all_species:
        raise InputError(f"{source}: {key}: unknown species {one_line(name)}{nearest(name, all_species)}")
    return all_species[name]
