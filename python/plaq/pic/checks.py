"""What is wrong between the keys of an input of ``plaq pic``, each with its number and what is allowed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from plaq.errors import InputError
from plaq.inputs.schema import nearest, shown
from plaq.pic.formula import Formula
from plaq.pic.table import COURANT, DIRECTIONS, QUIET_STEP
from plaq.pic.units import Units


def check(values: Mapping[str, Any], source: str) -> None:
    """InputError for the first thing that is wrong."""
    for look in (_shapes, _boundaries, _step, _species, _emission, _diagnostics, _formulas):
        look(values, source)


def open_step(values: Mapping[str, Any]) -> float:
    """The step where the input leaves it open, in its unit of time."""
    if values["fields"].solver == "electrostatic":
        return QUIET_STEP / Units(values["units"].system, values["units"].density).of("time")
    return COURANT * courant_limit(values)


def courant_limit(values: Mapping[str, Any]) -> float:
    """The longest stable step, in the input's unit of time: c dt < (Σ 1/Δ²)^(-1/2) [Yee]."""
    units, grid = Units(values["units"].system, values["units"].density), values["grid"]
    shortest = math.sqrt(sum((n / length) ** 2 for n, length in zip(grid.cells, grid.length)))
    return units.of("length") / shortest / units.of("time")


def refuse(source: str, key: str, value: Any, allowed: str) -> InputError:
    return InputError(f"{source}: {key} = {shown(value)} is not allowed: {allowed}")


def _shapes(values: Mapping[str, Any], source: str) -> None:
    units, grid = values["units"], values["grid"]
    if units.system == "SI" and units.density is None:
        raise InputError(f"{source}: units.density is missing: SI needs the reference density n_0 in 1/m³")
    dimension = len(grid.cells)
    for name in ("length", "patches"):
        if getattr(grid, name) != "auto" and len(getattr(grid, name)) != dimension:
            raise refuse(source, f"grid.{name}", list(getattr(grid, name)), f"grid.cells has {dimension} directions")
    if grid.patches != "auto":
        for n, parts in zip(grid.cells, grid.patches):
            if n // parts < 3:
                raise refuse(source, "grid.patches", list(grid.patches), f"a patch has at least 3 cells in each direction, and "
                             f"{n} cells in {parts} patches are fewer")


def _boundaries(values: Mapping[str, Any], source: str) -> None:
    sides_of = values["boundaries"]
    for d in DIRECTIONS:
        for key in (d, f"particles_{d}"):
            pair = getattr(sides_of, key)
            if (pair[0] == "periodic") != (pair[1] == "periodic"):
                raise refuse(source, f"boundaries.{key}", list(pair), "if one side is periodic, so is the other")
        particles = getattr(sides_of, f"particles_{d}")[0]
        if particles != "auto" and (particles == "periodic") != (getattr(sides_of, d)[0] == "periodic"):
            raise refuse(source, f"boundaries.particles_{d}", particles, "particles are periodic where fields are")


def _step(values: Mapping[str, Any], source: str) -> None:
    limit, step = courant_limit(values), values["time"].step
    if values["fields"].solver == "electromagnetic" and step != "auto" and step >= limit:
        raise refuse(source, "time.step", step, f"the Courant limit (Σ 1/Δ²)^(-1/2) of this grid is {limit:.6g}")
    steps = values["time"].end / (open_step(values) if step == "auto" else step)
    if steps > 10**9:
        raise refuse(source, "time.end", values["time"].end, f"that would be {steps:.3g} steps, and at most 10^9 are possible")


def _species(values: Mapping[str, Any], source: str) -> None:
    species = values["species"]
    if not species and values["fields"].e == values["fields"].b == (0.0, 0.0, 0.0):
        raise InputError(f"{source}: [species.NAME] is missing: without particles and fields nothing happens")
    for name, one in species.items():
        key = f"species.{name}"
        if one.like is not None:
            other = _known(source, f"{key}.like", one.like, species)
            if other is one or other.like is not None:
                raise refuse(source, f"{key}.like", one.like, "it must be another species, with places of its own")
            if other.per_cell != one.per_cell:
                raise refuse(source, f"{key}.per_cell", one.per_cell, f"{one.like} has {other.per_cell}, and the places are to be "
                             "the same")
        if one.distribution == "juttner" and len(set(one.temperature)) > 1:
            raise refuse(source, f"{key}.temperature", list(one.temperature), "juttner has one temperature for all directions")
        if one.distribution == "juttner" and one.placed == "quiet":
            raise refuse(source, f"{key}.placed", one.placed, "juttner has random momenta: random or even")
        if one.density != 0.0 and not one.per_cell:
            raise InputError(f"{source}: {key}.per_cell is missing: {key}.density asks for particles")


def _emission(values: Mapping[str, Any], source: str) -> None:
    lengths, electrostatic = values["grid"].length, values["fields"].solver == "electrostatic"
    for d in DIRECTIONS:
        key = f"boundaries.potential_{d}"
        potential, words = getattr(values["boundaries"], f"potential_{d}"), getattr(values["boundaries"], d)
        if any(v and word != "conducting" for v, word in zip(potential, words)):
            raise refuse(source, key, list(potential), f"only conducting sides have one, and boundaries.{d} is {' and '.join(words)}")
        if any(potential) and not electrostatic:
            raise refuse(source, key, list(potential), 'sides have potentials where fields.solver = "electrostatic"')
    for name, plate in values["emission"].items():
        key = f"emission.{name}"
        _known(source, f"{key}.species", plate.species, values["species"])
        for what in ("at", "normal"):
            if len(getattr(plate, what)) != len(lengths):
                raise refuse(source, f"{key}.{what}", list(getattr(plate, what)), f"grid.cells has {len(lengths)} directions")
        if not any(plate.normal):
            raise refuse(source, f"{key}.normal", list(plate.normal), "it needs a direction")
        if not all(0 <= x <= length for x, length in zip(plate.at, lengths)):
            raise refuse(source, f"{key}.at", list(plate.at), f"the box is from 0 to {list(lengths)}")
        if (plate.half_width is None) != (len(lengths) == 1):
            raise InputError(f"{source}: {key}.half_width is {'missing' if len(lengths) > 1 else 'more than a plate in one dimension has'}")
        if (plate.flux is None) != plate.space_charge_limited:
            raise InputError(f"{source}: {key}: a plate has either a flux or space_charge_limited = true")
        if plate.space_charge_limited and not electrostatic:
            raise refuse(source, f"{key}.space_charge_limited", True, 'it needs fields.solver = "electrostatic" and a voltage')


def _known(source: str, key: str, name: str, known: Mapping[str, Any]) -> Any:
    if name not in known:
        raise InputError(f"{source}: {key}: unknown species {name}{nearest(name, known)}")
    return known[name]


def _diagnostics(values: Mapping[str, Any], source: str) -> None:
    dimension = len(values["grid"].cells)
    for name in values["output"].particles:
        _known(source, "output.particles", name, values["species"])
    for name, probe in values["probe"].items():
        if len(probe.at) != dimension:
            raise refuse(source, f"probe.{name}.at", list(probe.at), f"grid.cells has {dimension} directions")
        for d, at, length in zip(DIRECTIONS, probe.at, values["grid"].length):
            if not 0 <= at <= length:
                raise refuse(source, f"probe.{name}.at", list(probe.at), f"the box in {d} is from 0 to {length:g}")
        if probe.along is not None and DIRECTIONS.index(probe.along) >= dimension:
            raise refuse(source, f"probe.{name}.along", probe.along, f"grid.cells has {dimension} directions")
    for name, histogram in values["histogram"].items():
        _known(source, f"histogram.{name}.species", histogram.species, values["species"])
        for key in ("low", "high", "bins"):
            if len(getattr(histogram, key)) != len(histogram.axes):
                raise refuse(source, f"histogram.{name}.{key}", list(getattr(histogram, key)),
                             f"histogram.{name}.axes has {len(histogram.axes)} of them")
        for low, high in zip(histogram.low, histogram.high):
            if not low < high:
                raise refuse(source, f"histogram.{name}.high", list(histogram.high), "it must be above low")
        for axis in histogram.axes:
            if axis in DIRECTIONS[dimension:]:
                raise refuse(source, f"histogram.{name}.axes", list(histogram.axes), f"grid.cells has {dimension} directions")


def _formulas(values: Mapping[str, Any], source: str) -> None:
    """That they can be read."""
    variables = DIRECTIONS[:len(values["grid"].cells)]
    texts = {f"fields.{name}": getattr(values["fields"], name) for name in "eb"}
    for name, one in values["species"].items():
        texts |= {f"species.{name}.{key}": getattr(one, key) for key in ("density", "temperature", "drift")}
    for name, plate in values["emission"].items():
        if plate.flux is not None:
            read_formula(plate.flux, ("t",), values["constants"], f"{source}: emission.{name}.flux")
    for key, content in texts.items():
        for part in content if isinstance(content, tuple) else (content,):
            read_formula(part, variables, values["constants"], f"{source}: {key}")


def read_formula(content: str | float, variables: Sequence[str], constants: Mapping[str, float], place: str) -> Formula:
    """InputError with the place."""
    try:
        return Formula.read(content, variables, constants)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
