"""Errors of an input of ``plaq pic``: a value that is not allowed, an unknown species, a formula."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plaq.errors import InputError
from plaq.inputs.schema import nearest, one_line, shown
from plaq.pic.inputs.formula import Formula


def refuse(source: str, key: str, value: Any, allowed: str) -> InputError:
    return InputError(f"{source}: {key} = {shown(value)} is not allowed: {allowed}")


def known(source: str, key: str, name: str, all_species: Mapping[str, Any]) -> Any:
    """Return the species of a name."""
    if name not in all_species:
        raise InputError(f"{source}: {key}: unknown species {one_line(name)}{nearest(name, all_species)}")
    return all_species[name]


def read_formula(content: str | float, variables: Sequence[str], constants: Mapping[str, float],
                 key: str) -> Formula:
    """Return the formula. InputError names the key."""
    try:
        return Formula.read(content, variables, constants)
    except InputError as error:
        raise InputError(f"{key}: {error}") from None
