"""The parameters of ``plaq pic``, one line each, and what is checked between them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from plaq.errors import InputError
from plaq.inputs import parameters, running
from plaq.inputs.kinds import boolean, choice, integer, list_of, one_of, real, text
from plaq.inputs.parameters import with_key
from plaq.inputs.schema import REQUIRED, Parameter, Schema
from plaq.pic.formula import Formula
from plaq.pic.kinds import formula, per_direction, sides, three

PROGRAM = "plaq pic"
DIRECTIONS = "xyz"
FIELDS = ("periodic", "conducting", "absorbing")
PARTICLES = ("auto", "periodic", "absorbed", "reflected", "thermal")
PUSHERS = ("boris", "vay", "higuera_cary")
COMPONENTS = ("ex", "ey", "ez", "bx", "by", "bz", "jx", "jy", "jz", "rho")
AXES = (*DIRECTIONS, "ux", "uy", "uz", "energy")
PATCH = {1: 64, 2: 16, 3: 8}  # cells in a direction of a patch, about, where the input leaves it open
COURANT = 0.95  # of the limit, where the input leaves the step open

SECTIONS = {
    "units": "What the numbers of the input mean. Charges are in e, masses in m_e in either system, momenta are u = γβ.",
    "constants": "Names that formulas may use, each a number.",
    "grid": "The box from 0 to `length`, its cells, and the patches that it is cut into.",
    "boundaries": "What happens at the sides of the box.",
    "time": "How long, in what steps.",
    "solver": "Order of the particles' shape, arithmetic, random numbers.",
    "fields": "Electric and magnetic field at the beginning, formulas of x, y, z.",
    "species.*": "Particles of one kind. Profiles are formulas of x, y, z.",
    "output": "Files in the openPMD standard, and what the history has at every step.",
    "probe.*": "Field at a place or along a line in the direction of an axis, in time.",
    "histogram.*": "Distribution of a species over one or two of x, y, z, ux, uy, uz, energy: phase space and spectra.",
    "run": running.DOC,
}

_count = integer(1, 10**9)
_every = integer(0, 10**9)

TABLE = [
    Parameter("units", "system", choice("normalised", "SI"), "normalised", "",
              "normalised: to ω_p and c; SI: s, m, 1/m³, V/m, T, and temperatures in eV"),
    Parameter("units", "density", real("(0, inf)"), None, "1/m³",
              "reference density n_0, which ω_p comes from; SI needs it, and files then say what they are in SI"),
    Parameter("constants", "*", real(), None, "", "a number"),
    Parameter("grid", "cells", per_direction(integer(4, 10**6)), REQUIRED, "", "in each direction; how many there are is the "
              "dimension"),
    Parameter("grid", "length", per_direction(real("(0, inf)")), REQUIRED, "c/ω_p", "of the box in each direction"),
    Parameter("grid", "patches", one_of("auto", per_direction(integer(1, 10**5))), "auto", "",
              f"in each direction; auto: of about {PATCH[1]}, {PATCH[2]}², {PATCH[3]}³ cells in 1, 2, 3 dimensions. Results "
              "depend on it, never on the ranks"),
    *(Parameter("boundaries", d, sides(*FIELDS), "periodic", "", f"of the fields in {d}") for d in DIRECTIONS),
    *(Parameter("boundaries", f"particles_{d}", sides(*PARTICLES), "auto", "",
                f"of particles in {d}; auto: periodic where the fields are, absorbed elsewhere") for d in DIRECTIONS),
    Parameter("boundaries", "layer", integer(2, 1000), 8, "cells", "of a side that absorbs waves, inside the box"),
    Parameter("boundaries", "wall_temperature", real("[0, inf)"), 0.0, "m_e c²", "of thermal sides"),
    Parameter("time", "end", real("(0, inf)"), REQUIRED, "1/ω_p", "of the run; a finished run goes on with a later one"),
    Parameter("time", "step", one_of("auto", real("(0, inf)")), "auto", "1/ω_p",
              f"auto: {COURANT} of the Courant limit (Σ 1/Δ²)^(-1/2)"),
    Parameter("solver", "order", integer(1, 3), 1, "", "of the particles' shape: 1 linear, 2 quadratic, 3 cubic"),
    Parameter("solver", "precision", choice("double", "single"), "double", "", "of positions and momenta"),
    Parameter("solver", "seed", integer(0, 2**63 - 1), 1, "", "of all random numbers"),
    Parameter("fields", "e", three(formula()), (0.0, 0.0, 0.0), "m_e c ω_p/e", "E_x, E_y, E_z at t = 0"),
    Parameter("fields", "b", three(formula()), (0.0, 0.0, 0.0), "m_e ω_p/e", "B_x, B_y, B_z at t = 0"),
    Parameter("fields", "of_charges", boolean(), False, "", "whether E has the field of the charges at t = 0 too, in a periodic "
              "box on a uniform background; if not, a background at rest makes up for them"),
    Parameter("species.*", "charge", real(), REQUIRED, "e", "of one particle"),
    Parameter("species.*", "mass", real("(0, inf)"), REQUIRED, "m_e", "of one particle"),
    Parameter("species.*", "density", formula(), 0.0, "n_0", "at the beginning; where it is 0 there are no particles"),
    Parameter("species.*", "per_cell", integer(0, 10**7), 0, "", "macro-particles in a cell at the beginning"),
    Parameter("species.*", "placed", choice("random", "even", "quiet"), "random", "", "in the cell, at the beginning; quiet: even, "
              "with momenta by Hammersley's points, hardly any noise"),
    Parameter("species.*", "like", text(), None, "", "another species: at the same places as its particles, so that nothing is "
              "charged at first"),
    Parameter("species.*", "temperature", three(formula(), alone=True), (0.0, 0.0, 0.0), "m_e c²",
              "k_B T, along x, y and z or one for all"),
    Parameter("species.*", "drift", three(formula()), (0.0, 0.0, 0.0), "γβ", "mean momentum; of juttner: that of the frame at "
              "rest with the particles"),
    Parameter("species.*", "distribution", choice("maxwell", "juttner"), "maxwell", "",
              "of momenta: normal ones of variance k_B T/m c², or relativistic ones"),
    Parameter("species.*", "pusher", choice(*PUSHERS), "boris", "", "how momenta are advanced"),
    Parameter("output", "every", _every, 0, "steps", "between two files; 0: none"),
    Parameter("output", "fields", list_of(choice(*COMPONENTS), longest=len(COMPONENTS)), ("ex", "ey", "ez", "bx", "by", "bz",
              "rho"), "", "that files have"),
    Parameter("output", "particles", list_of(text(), longest=1000), (), "", "species that files have"),
    Parameter("output", "particles_every", integer(1, 10**9), 1, "particles", "that one of is in the files"),
    Parameter("output", "gauss", boolean(), True, "", "whether the residual of Gauss's law is looked at in every step"),
    Parameter("output", "pictures", integer(0, 100), 4, "", "of fields and densities in the report, over the time of the run"),
    Parameter("probe.*", "field", choice(*COMPONENTS), REQUIRED, "", "that is recorded"),
    Parameter("probe.*", "at", per_direction(real()), REQUIRED, "c/ω_p", "the place; the value of the nearest cell"),
    Parameter("probe.*", "along", choice(*DIRECTIONS), None, "", "a line through that place in this direction, at all cells; "
              "of a periodic one the report has ω(k)"),
    Parameter("probe.*", "every", _count, 1, "steps", "between two values"),
    Parameter("histogram.*", "species", text(), REQUIRED, "", "whose particles are counted, by weight"),
    Parameter("histogram.*", "axes", list_of(choice(*AXES), shortest=1, longest=2), REQUIRED, "",
              "energy is (γ - 1) m c²"),
    Parameter("histogram.*", "low", list_of(real(), shortest=1, longest=2), REQUIRED, "", "of the first bin, for each axis"),
    Parameter("histogram.*", "high", list_of(real(), shortest=1, longest=2), REQUIRED, "", "of the last bin, for each axis"),
    Parameter("histogram.*", "bins", list_of(integer(1, 4096), shortest=1, longest=2), REQUIRED, "", "for each axis"),
    Parameter("histogram.*", "every", _count, REQUIRED, "steps", "between two of them"),
    *running.rows([
        Parameter("run", "balance_every", _every, 100, "steps", "after which patches may move between ranks; 0: they stay"),
        Parameter("run", "balance_by", choice("hilbert_refine", "hilbert_cut", "greedy_refine", "diffusion"), "hilbert_refine", "",
                  "the balancer; see the page on collections"),
    ]),
]

SCHEMA = Schema(SECTIONS, TABLE)


class Parameters(parameters.Parameters):
    """All parameters of one run: ``p.grid.cells``, ``p.species["electrons"].mass``, …

    Parameters(grid={"cells": [64], "length": [10]}, time={"end": 20}, species={"electrons": {"charge": -1, "mass": 1,
    "density": "1 + 0.01*cos(2*pi*x/10)", "per_cell": 100}})
    """

    SCHEMA = SCHEMA
    INSTEAD = {"time.end": "a run goes on to a later end, never to an earlier one"}

    @classmethod
    def check(cls, values: Mapping[str, Any], source: str) -> None:
        for look in (_shapes, _boundaries, _step, _species, _diagnostics, _formulas):
            look(values, source)

    @classmethod
    def resolved(cls, sections: Mapping[str, Any], values: Mapping[str, Any]) -> Mapping[str, Any]:
        grid, time = values["grid"], values["time"]
        if grid.patches == "auto":
            size = PATCH[len(grid.cells)]
            sections = with_key(sections, "grid", "patches", [max(1, round(n / size)) for n in grid.cells])
        if time.step == "auto":
            sections = with_key(sections, "time", "step", COURANT * courant_limit(values))
        return sections

    def may_grow(self, key: str, before: Parameters) -> bool:
        return key == "time.end" and self.time.end > before.time.end

    def constants_for_formulas(self) -> dict[str, float]:
        return dict(self.constants)


def courant_limit(values: Mapping[str, Any]) -> float:
    """The longest stable step, in the input's unit of time: c dt < (Σ 1/Δ²)^(-1/2) [Yee]."""
    from plaq.pic.units import Units

    units, grid = Units(values["units"].system, values["units"].density), values["grid"]
    shortest = math.sqrt(sum((n / length) ** 2 for n, length in zip(grid.cells, grid.length)))
    return units.of("length") / shortest / units.of("time")


def refuse(source: str, key: str, value: Any, allowed: str) -> InputError:
    from plaq.inputs.schema import shown

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
    if step != "auto" and step >= limit:
        raise refuse(source, "time.step", step, f"the Courant limit (Σ 1/Δ²)^(-1/2) of this grid is {limit:.6g}")
    steps = values["time"].end / (COURANT * limit if step == "auto" else step)
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


def _known(source: str, key: str, name: str, known: Mapping[str, Any]) -> Any:
    from plaq.inputs.schema import nearest

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
    for key, content in texts.items():
        for part in content if isinstance(content, tuple) else (content,):
            read_formula(part, variables, values["constants"], f"{source}: {key}")


def read_formula(content: str | float, variables: str, constants: Mapping[str, float], place: str) -> Formula:
    """InputError with the place."""
    try:
        return Formula.read(content, variables, constants)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
