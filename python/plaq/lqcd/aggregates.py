"""Aggregates of multigrid in an input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plaq.errors import InputError
from plaq.inputs.kinds import integer, list_of
from plaq.inputs.schema import Parameter, shown

AGGREGATES = list_of(list_of(integer(1, 512), length=4), longest=4)


def parameter(section: str) -> Parameter:
    """Return the key of a table with a solver."""
    return Parameter(section, "aggregates", AGGREGATES, (), "a",
                     "extents T, X, Y, Z of multigrid's aggregates on each level, in sites of the level above, such as "
                     "[[4, 4, 4, 4], [2, 2, 2, 2]] for three levels; two levels, of about 4^4 sites, if empty")


def check_aggregates(table: Any, source: str, extents: Sequence[int]) -> None:
    """Raise InputError for aggregates without multigrid, or that do not fit to the lattice."""
    if table.aggregates and table.solver != "multigrid":
        raise InputError(f'{source}.aggregates = {shown(table.aggregates)} is not allowed with solver = '
                         f'"{table.solver}": it is for multigrid')
    sites = list(extents)
    for box in table.aggregates:
        if any(n % (2 * b) for n, b in zip(sites, box)):
            raise InputError(f"{source}.aggregates = {shown(table.aggregates)} is not allowed with lattice.extents = "
                             f"{shown(extents)}: {shown(box)} does not divide {shown(tuple(sites))} into an even "
                             "number of aggregates in each direction")
        sites = [n // b for n, b in zip(sites, box)]
