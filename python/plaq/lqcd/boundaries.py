"""Checks of inputs with open boundaries in time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plaq.errors import InputError
from plaq.inputs.schema import shown

OPEN = "open"
FAMILIES = frozenset({"mesons", "baryons", "charges", "form_factors", "reweighting"})  # of measurements that they allow


def check_lattice(values: Mapping[str, Any], source: str) -> None:
    """Raise InputError for extents and gauges that open boundaries do not allow."""
    if values["lattice"].boundary != OPEN:
        return
    if values["lattice"].extents[0] < 6:
        raise InputError(f"{source}: lattice.extents = {shown(values['lattice'].extents)} is not allowed with "
                         'lattice.boundary = "open": T is at least 6')
    if values["fixing"].gauge is not None:
        raise InputError(f'{source}: fixing.gauge = "{values["fixing"].gauge}" is not allowed with '
                         'lattice.boundary = "open": it is for periodic lattices')


def check_table(family: str, name: str, table: Any, source: str, T: int) -> None:
    """Raise InputError for averages over time, sources on two slices, and times beyond the last slice with quarks."""
    if family not in FAMILIES:
        raise InputError(f'{source}: [{family}.{name}] is not allowed with lattice.boundary = "open": it is for '
                         "periodic lattices")
    if family == "reweighting":
        return
    slices = source_slices(table)
    key, value = ("source_time", table.source_time) if isinstance(table.sources, int) else ("sources", table.sources)
    if value is None:
        raise InputError(f'{source}: {family}.{name}.source_time is missing: with lattice.boundary = "open" it is '
                         f"a time slice from 1 to T - 2 = {T - 2}")
    if len(slices) != 1 or not 0 < min(slices) < T - 1:
        raise InputError(f'{source}: {family}.{name}.{key} = {shown(value)} is not allowed with lattice.boundary = '
                         f'"open": all sources are on one time slice, from 1 to T - 2 = {T - 2}')
    last = T - 2 - min(slices)
    most = (last + 1) // 2 - 2
    if family == "mesons" and table.fit_from is not None and table.fit_from > most:
        raise InputError(f"{source}: mesons.{name}.fit_from = {table.fit_from} is not allowed with lattice.boundary = "
                         f'"open": a fit takes half of the {last + 1} slices from t = {min(slices)} on, and begins at '
                         f"most at {most}")
    if max(getattr(table, "sink_times", (0,))) > last:
        raise InputError(f"{source}: {family}.{name}.sink_times = {shown(table.sink_times)} is not allowed with "
                         f'lattice.boundary = "open": from t = {min(slices)} they are at most {last}')


def source_slices(table: Any) -> set[int]:
    """Return the time slices that an input names for the sources of a table; none if they are random."""
    if isinstance(table.sources, int):
        return set() if table.source_time is None else {table.source_time}
    return {site[0] for site in table.sources}
