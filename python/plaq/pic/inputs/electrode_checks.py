"""Checks of plates, conductors, dielectrics, circuits and secondary emission in an input of ``plaq pic``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plaq.errors import InputError
from plaq.pic.inputs.geometry import directions_of
from plaq.pic.inputs.refusals import known, refuse


def check(values: Mapping[str, Any], source: str) -> None:
    """Raise InputError for the first mistake."""
    for check_part in (_emission, _conductors, _dielectrics, _circuits, _secondaries):
        check_part(values, source)


def _emission(values: Mapping[str, Any], source: str) -> None:
    lengths, electrostatic = values["grid"].length, values["fields"].solver == "electrostatic"
    for d in directions_of(values):
        key = f"boundaries.potential_{d}"
        potential, words = getattr(values["boundaries"], f"potential_{d}"), getattr(values["boundaries"], d)
        if any(v and word != "conducting" for v, word in zip(potential, words)):
            raise refuse(source, key, list(potential),
                         f"only conducting sides have one, and boundaries.{d} is {' and '.join(words)}")
        if any(potential) and not electrostatic:
            raise refuse(source, key, list(potential), 'sides have potentials where fields.solver = "electrostatic"')
    for name, plate in values["emission"].items():
        key = f"emission.{name}"
        known(source, f"{key}.species", plate.species, values["species"])
        for vector in ("at", "normal"):
            if len(getattr(plate, vector)) != len(lengths):
                raise refuse(source, f"{key}.{vector}", list(getattr(plate, vector)),
                             f"grid.cells has {len(lengths)} directions")
        if not any(plate.normal):
            raise refuse(source, f"{key}.normal", list(plate.normal), "it needs a direction")
        if not all(0 <= x <= length for x, length in zip(plate.at, lengths)):
            raise refuse(source, f"{key}.at", list(plate.at), f"the box is from 0 to {list(lengths)}")
        if (plate.half_width is None) != (len(lengths) == 1):
            raise InputError(f"{source}: {key}.half_width is "
                             f"{'missing' if len(lengths) > 1 else 'more than a plate in one dimension has'}")
        if (plate.flux is not None) + plate.space_charge_limited + (plate.law is not None) != 1:
            raise InputError(f"{source}: {key}: a plate has either a flux or space_charge_limited = true or a law")
        if plate.space_charge_limited and not electrostatic:
            raise refuse(source, f"{key}.space_charge_limited", True,
                         'it needs fields.solver = "electrostatic" and a voltage')
        if plate.profile != 1.0 and len(lengths) == 1:
            raise refuse(source, f"{key}.profile", plate.profile, "a plate in one dimension is a point")
        _law(values, source, key, plate)


def _law(values: Mapping[str, Any], source: str, key: str, plate: Any) -> None:
    for name, rest, laws in (("work_function", None, ("richardson", "fowler_nordheim")),
                             ("enhancement", 1.0, ("richardson", "fowler_nordheim")),
                             ("richardson_factor", 1.0, ("richardson",))):
        if getattr(plate, name) != rest and plate.law not in laws:
            raise refuse(source, f"{key}.{name}", getattr(plate, name), f"it is of law = {' or '.join(laws)}")
    if plate.law is None:
        return
    if values["fields"].solver != "electrostatic":
        raise refuse(source, f"{key}.law", plate.law, 'it needs fields.solver = "electrostatic"')
    if values["units"].density is None:
        raise InputError(f"{source}: units.density is missing: {key}.law gives a number of real particles")
    if plate.work_function is None:
        raise InputError(f"{source}: {key}.work_function is missing: law = {plate.law} needs it")
    if plate.law == "richardson" and not plate.temperature:
        raise refuse(source, f"{key}.temperature", plate.temperature, "richardson needs one above 0")


def _conductors(values: Mapping[str, Any], source: str) -> None:
    electrostatic = values["fields"].solver == "electrostatic"
    conducting = any("conducting" in getattr(values["boundaries"], d) for d in directions_of(values))
    for name, conductor in values["conductor"].items():
        if conductor.potential and not electrostatic:
            raise refuse(source, f"conductor.{name}.potential", conductor.potential,
                         'conductors have potentials where fields.solver = "electrostatic"')
        if electrostatic and not conducting:
            raise InputError(f"{source}: conductor.{name}: in an electrostatic run a side of the box has "
                             "to conduct, too")


def _dielectrics(values: Mapping[str, Any], source: str) -> None:
    conducting = any("conducting" in getattr(values["boundaries"], d) for d in directions_of(values))
    for name in values["dielectric"]:
        if values["fields"].solver != "electrostatic" or not conducting:
            raise InputError(f'{source}: dielectric.{name}: dielectrics need fields.solver = "electrostatic" and a '
                             "conducting side")


def _circuits(values: Mapping[str, Any], source: str) -> None:
    sides = {f"{d} {end}": (f"boundaries.potential_{d}", getattr(values["boundaries"], f"potential_{d}")[i])
             for d in directions_of(values) for i, end in enumerate(("low", "high"))
             if getattr(values["boundaries"], d)[i] == "conducting"}
    electrodes = sides | {name: (f"conductor.{name}.potential", conductor.potential)
                          for name, conductor in values["conductor"].items()}
    owner: dict[str, str] = {}
    for name, circuit in values["circuit"].items():
        key = f"circuit.{name}"
        if values["fields"].solver != "electrostatic":
            raise InputError(f'{source}: {key}: circuits need fields.solver = "electrostatic"')
        if values["fields"].filter_passes:
            raise refuse(source, "fields.filter_passes", values["fields"].filter_passes, f"0 with {key}")
        if circuit.electrode not in electrodes or (circuit.electrode in sides
                                                   and circuit.electrode in values["conductor"]):
            raise refuse(source, f"{key}.electrode", circuit.electrode,
                         f"conducting sides and conductors are {', '.join(electrodes) or 'missing'}")
        if circuit.electrode in owner:
            raise refuse(source, f"{key}.electrode", circuit.electrode, f"circuit.{owner[circuit.electrode]} has it")
        owner[circuit.electrode] = name
        potential, value = electrodes[circuit.electrode]
        if value:
            raise refuse(source, potential, value, f"{key} gives the potential of {circuit.electrode}")
        parts = (circuit.resistance, circuit.inductance, circuit.capacitance or 0.0)
        if circuit.floating and (any(parts) or circuit.source):
            raise refuse(source, f"{key}.floating", True, "without source, resistance, inductance and capacitance")
        if not circuit.floating and not any(parts):
            raise InputError(f"{source}: {key} is a short circuit: it needs a resistance, inductance or "
                             f"capacitance, or {potential} instead")
    if owner and len(owner) == len(electrodes):
        raise InputError(f"{source}: circuit.{next(iter(values['circuit']))}: one side or conductor at least has a "
                         "potential, not a circuit")


def _secondaries(values: Mapping[str, Any], source: str) -> None:
    sides_of = values["boundaries"]
    absorbing = [f"{d} {end}" for d in directions_of(values) for i, end in enumerate(("low", "high"))
                 if getattr(sides_of, f"particles_{d}")[i] == "absorbed"
                 or (getattr(sides_of, f"particles_{d}")[i] == "auto" and getattr(sides_of, d)[i] != "periodic")]
    for name, section in values["secondary"].items():
        for role in ("by", "emits"):
            known(source, f"secondary.{name}.{role}", getattr(section, role), values["species"])
        if not absorbing or any(side not in absorbing for side in section.at):
            raise refuse(source, f"secondary.{name}.at", list(section.at),
                         f"particles are absorbed at {', '.join(absorbing) or 'no side'}")
        if values["window"].speed:
            raise InputError(f"{source}: secondary.{name}: a window has no sides that emit")
