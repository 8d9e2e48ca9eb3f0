"""Checks of grid.geometry: what a cylinder does not have, and names of another geometry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plaq.errors import InputError
from plaq.pic.inputs.geometry import AXES, axes_of
from plaq.pic.inputs.refusals import refuse

VECTORS = "ebj"  # first letters of fields with components
MODE_0_ONLY = ("emission", "collision", "scattering", "merging", "secondary", "ionisation")  # sections


def check(values: Mapping[str, Any], source: str) -> None:
    """Raise InputError for the first mistake."""
    _names(values, source)
    if values["grid"].geometry == "cylinder":
        _cylinder(values, source)
    elif values["grid"].modes > 1:
        raise refuse(source, "grid.modes", values["grid"].modes, 'above 1 with grid.geometry = "cylinder" only')


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
    for name, laser in values["laser"].items():
        _laser(values, source, f"laser.{name}", laser)
    if values["grid"].modes > 1:
        _modes(values, source)
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


def _laser(values: Mapping[str, Any], source: str, key: str, laser: Any) -> None:
    if laser.normal != "z":
        raise refuse(source, f"{key}.normal", laser.normal, "z in a cylinder")
    if laser.centre != "auto":
        raise refuse(source, f"{key}.centre", list(laser.centre), "the axis in a cylinder")
    if laser.direction != "normal":
        raise refuse(source, f"{key}.direction", list(laser.direction), "the axis in a cylinder")
    if laser.file is not None:
        raise refuse(source, f"{key}.file", laser.file, "a cylinder has lasers without a file")
    if laser.waist is None:
        raise InputError(f"{source}: {key}.waist is missing: a cylinder has no plane waves")
    if values["grid"].modes < 2:
        raise InputError(f"{source}: {key}: a laser is a wave of the mode m = 1, which needs grid.modes = 2 or more")


def _modes(values: Mapping[str, Any], source: str) -> None:
    """Refuse what the modes m >= 1 have not."""
    modes = values["grid"].modes
    if values["fields"].solver == "electrostatic":
        raise refuse(source, "grid.modes", modes, "an electrostatic cylinder has the mode m = 0 only, modes = 1")
    if values["solver"].gather != "energy":
        raise refuse(source, "solver.gather", values["solver"].gather, "energy where grid.modes is above 1")
    for key in MODE_0_ONLY:
        for name in values[key]:
            raise InputError(f"{source}: {key}.{name} is not allowed where grid.modes is above 1")


def _no_current(values: Mapping[str, Any], source: str) -> None:
    """Refuse outputs that need J in an electrostatic run."""
    fields = values["output"].fields
    for key, quantity in [*(("output.fields", name) for name in fields if fields != "auto"),
                          *((f"probe.{name}.field", probe.field) for name, probe in values["probe"].items()),
                          *((f"mean.{name}.quantity", mean.quantity) for name, mean in values["mean"].items())]:
        if quantity == "power" or quantity[0] == "j":
            raise InputError(f"{source}: {key} = {quantity} is not allowed: an electrostatic cylinder has no current "
                             "on the mesh")
