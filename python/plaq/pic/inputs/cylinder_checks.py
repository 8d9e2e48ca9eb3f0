"""Checks of grid.geometry: what a cylinder does not have, and names of another geometry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plaq.errors import InputError
from plaq.pic.inputs.geometry import AXES, axes_of
from plaq.pic.inputs.refusals import refuse

VECTORS = "ebj"  # first letters of fields with components


def check(values: Mapping[str, Any], source: str) -> None:
    """Raise InputError for the first mistake."""
    _names(values, source)
    if values["grid"].geometry == "cylinder":
        _cylinder(values, source)


def _names(values: Mapping[str, Any], source: str) -> None:
    """Refuse components of the other geometry."""
    axes = axes_of(values)
    others = set("".join(AXES.values())) - set(axes)
    for key, name in _component_names(values):
        if name[-1] in others:
            raise refuse(source, key, name, f"with grid.geometry = {values['grid'].geometry} components are "
                                            f"{', '.join(axes)}")


def _component_names(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (key, name) of all names of components in an input."""
    output = values["output"].fields
    fields = [("output.fields", name) for name in output if output != "auto"]
    fields += [(f"probe.{name}.field", probe.field) for name, probe in values["probe"].items()]
    fields += [(f"mean.{name}.quantity", mean.quantity) for name, mean in values["mean"].items()]
    yield from ((key, name) for key, name in fields
                if (len(name) == 2 and name[0] in VECTORS) or name.startswith("flux_"))
    for name, histogram in values["histogram"].items():
        yield from ((f"histogram.{name}.axes", axis) for axis in histogram.axes if axis != "energy")


def _cylinder(values: Mapping[str, Any], source: str) -> None:
    if len(values["grid"].cells) != 2:
        raise refuse(source, "grid.cells", list(values["grid"].cells), "a cylinder has two directions, z and r")
    if values["fields"].stencil != "yee":
        raise refuse(source, "fields.stencil", values["fields"].stencil, "yee in a cylinder")
    for name in values["laser"]:
        raise InputError(f"{source}: laser.{name}: a cylinder has no lasers, which are no waves of its mode m = 0")
    for name in values["fields"].of_moving:
        if name in values["species"] and any(values["species"][name].drift[1:]):
            raise refuse(source, "fields.of_moving", list(values["fields"].of_moving),
                         f"in a cylinder species.{name} has a drift along z only")
    if values["fields"].filter_passes:
        raise refuse(source, "fields.filter_passes", values["fields"].filter_passes, "0 in a cylinder")
    if values["external"].file is not None:
        raise refuse(source, "external.file", values["external"].file, "a cylinder has external fields by formula only")
    for name in values["dielectric"]:
        raise InputError(f"{source}: dielectric.{name}: a cylinder has no dielectrics")
    for name in values["splitting"]:
        raise InputError(f"{source}: splitting.{name}: a cylinder has merging only, its cells differ in volume")
    for name, species in values["species"].items():
        if species.file is not None:
            raise refuse(source, f"species.{name}.file", species.file, "a cylinder has particles by density only")
    for name, circuit in values["circuit"].items():
        if circuit.area != 1:
            raise refuse(source, f"circuit.{name}.area", circuit.area, "the mesh of a cylinder has the whole electrode")
    if values["fields"].solver == "electrostatic":
        _no_current(values, source)


def _no_current(values: Mapping[str, Any], source: str) -> None:
    """Refuse outputs that need J in an electrostatic run."""
    fields = values["output"].fields
    for key, quantity in [*(("output.fields", name) for name in fields if fields != "auto"),
                          *((f"probe.{name}.field", probe.field) for name, probe in values["probe"].items()),
                          *((f"mean.{name}.quantity", mean.quantity) for name, mean in values["mean"].items())]:
        if quantity == "power" or quantity[0] == "j":
            raise InputError(f"{source}: {key} = {quantity} is not allowed: an electrostatic cylinder has no current on the mesh")
