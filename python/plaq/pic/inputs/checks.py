"""Checks between the keys of an input of ``plaq pic``; an error has the value and what is allowed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from plaq.errors import InputError
from plaq.inputs.schema import nearest, one_line, shown
from plaq.pic.inputs import cylinder_checks, electrode_checks, laser_checks
from plaq.pic.inputs.geometry import axes_of, directions_in_words, directions_of
from plaq.pic.inputs.refusals import known, read_formula, refuse
from plaq.pic.inputs.species_checks import check_ionisations, check_species
from plaq.pic.inputs.table import COURANT, DIRECTIONS, LAYER, MEANS, PATCH, QUIET_STEP, SCHEMA
from plaq.pic.inputs.units import NORMALISED, Units

LEAST, LARGEST = 1e-30, 1e30  # amounts of numbers, normalised
MOST_PATCHES = 10**6
_LIMIT = {"yee": "(Σ 1/Δ²)^(-1/2)", "cowan": "min Δ", "lehe": "min(Δx, (1/Δy² + 1/Δz²)^(-1/2))"}


def check(values: Mapping[str, Any], source: str) -> None:
    """Raise InputError for the first mistake."""
    for check_part in (_shapes, cylinder_checks.check, _sizes, _boundaries, _unused, _step, check_species,
                       electrode_checks.check, laser_checks.check, _window, _collisions, _scattering, _reactions,
                       _resampling, check_ionisations, _diagnostics, _means, _formulas):
        check_part(values, source)


def default_patches(values: Mapping[str, Any]) -> list[int]:
    """Return the patches in each direction where the input has "auto"."""
    cells = values["grid"].cells
    return [max(1, round(n / PATCH[len(cells)])) for n in cells]


def default_step(values: Mapping[str, Any]) -> float:
    """Return the step where the input has "auto", in its unit of time."""
    if values["fields"].solver == "electrostatic":
        return QUIET_STEP / Units(values["units"].system, values["units"].density).of("time")
    return COURANT * courant_limit(values)


def courant_limit(values: Mapping[str, Any]) -> float:
    """Return the longest stable step, in the input's unit of time.

    c dt < (Σ 1/Δ²)^(-1/2) [Yee], or the least Δ [Cowan 2013]; in a cylinder with a factor of 1/Δr².
    """
    units, grid = Units(values["units"].system, values["units"].density), values["grid"]
    over = [n / length for n, length in zip(grid.cells, grid.length)]
    if grid.geometry == "cylinder":
        from plaq import _core  # inputs are read without kernels

        over[1] *= math.sqrt(_core.pic.Plan.radial_factor(grid.modes))
    shortest = {"yee": math.hypot(*over), "cowan": max(over), "lehe": max(over[0], math.hypot(*over[1:]))}[
        values["fields"].stencil]
    return units.of("length") / shortest / units.of("time")


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
                raise refuse(source, "grid.patches", list(grid.patches),
                             f"a patch has at least 3 cells in each direction, and {n} cells in {parts} "
                             "patches are fewer")


def _sizes(values: Mapping[str, Any], source: str) -> None:
    """Check the amounts of all numbers, so that products and quotients of any of them are finite."""
    units, quantity_of = Units(values["units"].system, values["units"].density), {
        unit: quantity for quantity, unit in NORMALISED.items()}
    for section, content in SCHEMA.each(values):
        if section in ("units", "constants", "run"):
            continue
        for parameter in SCHEMA.of(SCHEMA.pattern(section)):
            unit = units.of(quantity_of.get(parameter.unit, ""))
            value = getattr(content, parameter.name)
            for number in value if isinstance(value, tuple) else (value,):
                if isinstance(number, float) and number and not LEAST <= abs(number) * unit <= LARGEST:
                    raise refuse(source, f"{section}.{parameter.name}", number,
                                 f"its amount is from {LEAST / unit:.3g} to {LARGEST / unit:.3g}")
    patches = values["grid"].patches if values["grid"].patches != "auto" else default_patches(values)
    if math.prod(patches) > MOST_PATCHES:
        raise refuse(source, "grid.patches", list(patches), f"at most {MOST_PATCHES} in all")


def _boundaries(values: Mapping[str, Any], source: str) -> None:
    sides_of = values["boundaries"]
    for d in directions_of(values):
        for key in (d, f"particles_{d}"):
            pair = getattr(sides_of, key)
            if (pair[0] == "periodic") != (pair[1] == "periodic"):
                raise refuse(source, f"boundaries.{key}", list(pair), "if one side is periodic, so is the other")
        particles = getattr(sides_of, f"particles_{d}")[0]
        if particles != "auto" and (particles == "periodic") != (getattr(sides_of, d)[0] == "periodic"):
            raise refuse(source, f"boundaries.particles_{d}", particles, "particles are periodic where fields are")
        most = values["grid"].cells[directions_of(values).index(d)] // 2
        if "absorbing" in getattr(sides_of, d) and sides_of.layer > most:
            raise refuse(source, "boundaries.layer", sides_of.layer,
                         f"at most {most}, half of the cells in {d}, which has an absorbing side")
    if any("thermal" in getattr(sides_of, f"particles_{d}") for d in directions_of(values)) \
            and not sides_of.wall_temperature:
        raise InputError(f"{source}: boundaries.wall_temperature is missing: a thermal side has one above 0")


def _unused(values: Mapping[str, Any], source: str) -> None:
    """Refuse keys that have no effect with the other keys of the input."""
    sides_of, used = values["boundaries"], directions_of(values)
    defaults = {parameter.name: parameter.read(parameter.default, source) for parameter in SCHEMA.of("boundaries")}
    for d in (*DIRECTIONS, "r"):
        for key in (d, f"particles_{d}", f"potential_{d}"):
            if d not in used and getattr(sides_of, key) != defaults[key]:
                raise refuse(source, f"boundaries.{key}", list(getattr(sides_of, key)),
                             directions_in_words(values))
    if sides_of.layer != LAYER and not any("absorbing" in getattr(sides_of, d) for d in used):
        raise refuse(source, "boundaries.layer", sides_of.layer, "no side of the box is absorbing")
    if sides_of.wall_temperature and not any("thermal" in getattr(sides_of, f"particles_{d}") for d in used):
        raise refuse(source, "boundaries.wall_temperature", sides_of.wall_temperature,
                     "no side is thermal to particles")
    if values["window"].start and not values["window"].speed:
        raise refuse(source, "window.start", values["window"].start, "window.speed is 0")
    if values["fields"].stencil != "yee" and values["fields"].solver == "electrostatic":
        raise refuse(source, "fields.stencil", values["fields"].stencil,
                     "an electrostatic field has no curl; it is of the electromagnetic solver")
    for name in values["fields"].of_moving:
        species = known(source, "fields.of_moving", name, values["species"])
        if values["fields"].of_charges or values["fields"].solver == "electrostatic":
            raise refuse(source, "fields.of_moving", list(values["fields"].of_moving),
                         "of an electromagnetic solver without of_charges, which is the field of all species")
        if species.test or any(isinstance(u, str) for u in species.drift):
            raise refuse(source, "fields.of_moving", list(values["fields"].of_moving),
                         f"species.{name} has a drift of numbers and is no test species")
    if values["fields"].filter_compensation and not values["fields"].filter_passes:
        raise refuse(source, "fields.filter_compensation", True, "fields.filter_passes is 0")
    if values["fields"].e != (0.0, 0.0, 0.0) and values["fields"].solver == "electrostatic":
        raise refuse(source, "fields.e", list(values["fields"].e),
                     "an electrostatic E is that of charges and potentials; a field from outside is external.e")
    external = values["external"]
    for key, rest in (("factor", 1.0), ("checksum", None)):
        if external.file is None and getattr(external, key) != rest:
            raise refuse(source, f"external.{key}", getattr(external, key), "it is of external.file, which is not set")


def _step(values: Mapping[str, Any], source: str) -> None:
    limit, step = courant_limit(values), values["time"].step
    if values["fields"].solver == "electromagnetic" and step != "auto" and step >= limit:
        raise refuse(source, "time.step", step,
                     f"the Courant limit {_LIMIT[values['fields'].stencil]} of this grid is {limit:.6g}")
    steps = values["time"].end / (default_step(values) if step == "auto" else step)
    if steps > 10**9:
        raise refuse(source, "time.end", values["time"].end,
                     f"that would be {steps:.3g} steps, and at most 10^9 are possible")




def _window(values: Mapping[str, Any], source: str) -> None:
    if not values["window"].speed:
        return
    sides_of = values["boundaries"]
    for key, why in (("emission", "plates"), ("conductor", "conductors in the box")):
        if values[key]:
            raise refuse(source, "window.speed", values["window"].speed, f"a window has no {why}")
    if values["fields"].solver == "electrostatic":
        raise refuse(source, "window.speed", values["window"].speed, 'it needs fields.solver = "electromagnetic"')
    along = directions_of(values)[0]
    if "periodic" in getattr(sides_of, along):
        raise refuse(source, f"boundaries.{along}", list(getattr(sides_of, along)),
                     f"a moving window needs sides of {along} that are not periodic")
    for name, gas in values["gas"].items():
        for key, parts in (("density", [gas.density]), ("temperature", [gas.temperature]), ("drift", gas.drift)):
            if any(isinstance(part, str) for part in parts):
                raise refuse(source, f"gas.{name}.{key}", getattr(gas, key), "with a window, a number")
    for name, species in values["species"].items():
        if species.placed == "quiet":
            raise refuse(source, f"species.{name}.placed", species.placed, "with a window, random or even")


def _collisions(values: Mapping[str, Any], source: str) -> None:
    for name, collision in values["collision"].items():
        for species in collision.between:
            known(source, f"collision.{name}.between", species, values["species"])
        if values["units"].density is None:
            raise InputError(f"{source}: units.density is missing: collision.{name} depends on the number of "
                             "real particles")


def _scattering(values: Mapping[str, Any], source: str) -> None:
    for name, section in values["scattering"].items():
        key = f"scattering.{name}"
        known(source, f"{key}.species", section.species, values["species"])
        for role in ("electrons", "ions", "negative_ions"):
            if getattr(section, role) is not None:
                known(source, f"{key}.{role}", getattr(section, role), values["species"])
        if section.gas not in values["gas"]:
            raise InputError(f"{source}: {key}.gas: unknown gas {one_line(section.gas)}"
                             f"{nearest(section.gas, values['gas'])}")
        if values["units"].density is None:
            raise InputError(f"{source}: units.density is missing: {key} depends on the number of real atoms")
        if (section.sharing == "opal") != (section.opal_energy is not None):
            raise InputError(f"{source}: {key}.opal_energy is of sharing = \"opal\", which needs it")
    for name in values["gas"]:
        if all(section.gas != name for section in values["scattering"].values()):
            raise InputError(f"{source}: gas.{name} scatters no species: no [scattering.NAME] has gas = \"{name}\"")


def _reactions(values: Mapping[str, Any], source: str) -> None:
    for name, section in values["reaction"].items():
        key = f"reaction.{name}"
        for role in ("between", "products"):
            for species in getattr(section, role):
                known(source, f"{key}.{role}", species, values["species"])
        if values["fields"].solver != "electrostatic":
            raise InputError(f'{source}: {key}: reactions need fields.solver = "electrostatic"')
        if section.between[0] == section.between[1]:
            raise refuse(source, f"{key}.between", list(section.between), "two different species")
        charges = [sum(values["species"][species].charge for species in getattr(section, role))
                   for role in ("between", "products")]
        if abs(charges[0] - charges[1]) > 1e-12:
            raise refuse(source, f"{key}.products", list(section.products),
                         f"their charge is {charges[1]:g}, that of {' and '.join(section.between)} {charges[0]:g}")
        if (section.rate is None) == (section.cross_section is None):
            raise InputError(f"{source}: {key} has either a rate or a cross_section")
        if section.released and len(section.products) != 2:
            raise refuse(source, f"{key}.released", section.released, "it is the energy of two products")


def _resampling(values: Mapping[str, Any], source: str) -> None:
    for kind in ("merging", "splitting"):
        for name, section in values[kind].items():
            known(source, f"{kind}.{name}.species", section.species, values["species"])
            for other in ("splitting", "reaction", "ionisation"):
                if other != kind and name in values[other]:
                    raise InputError(f"{source}: {kind}.{name}: {other}.{name} has its name, and counts of both have "
                                     "it in the history")
    for name, section in values["merging"].items():
        for other, split in values["splitting"].items():
            if section.species == split.species and section.above < split.below:
                raise refuse(source, f"merging.{name}.above", section.above,
                             f"at least splitting.{other}.below = {split.below}")


def _diagnostics(values: Mapping[str, Any], source: str) -> None:
    dimension = len(values["grid"].cells)
    for name in values["output"].particles:
        known(source, "output.particles", name, values["species"])
    if values["fields"].solver != "electrostatic":
        allowed = 'phi is a field where fields.solver = "electrostatic"'
        if "phi" in values["output"].fields:
            raise refuse(source, "output.fields", list(values["output"].fields), allowed)
        for name, probe in values["probe"].items():
            if probe.field == "phi":
                raise refuse(source, f"probe.{name}.field", probe.field, allowed)
    for name, probe in values["probe"].items():
        if len(probe.at) != dimension:
            raise refuse(source, f"probe.{name}.at", list(probe.at), f"grid.cells has {dimension} directions")
        for d, at, length in zip(directions_of(values), probe.at, values["grid"].length):
            if not 0 <= at <= length:
                raise refuse(source, f"probe.{name}.at", list(probe.at), f"the box in {d} is from 0 to {length:g}")
        if probe.along is not None and probe.along not in directions_of(values):
            raise refuse(source, f"probe.{name}.along", probe.along,
                         directions_in_words(values))
    for name, histogram in values["histogram"].items():
        known(source, f"histogram.{name}.species", histogram.species, values["species"])
        for key in ("low", "high", "bins"):
            if len(getattr(histogram, key)) != len(histogram.axes):
                raise refuse(source, f"histogram.{name}.{key}", list(getattr(histogram, key)),
                             f"histogram.{name}.axes has {len(histogram.axes)} of them")
        for low, high in zip(histogram.low, histogram.high):
            if not low < high:
                raise refuse(source, f"histogram.{name}.high", list(histogram.high), "it must be above low")
        for axis in histogram.axes:
            if axis in (*DIRECTIONS, "r") and axis not in directions_of(values):
                raise refuse(source, f"histogram.{name}.axes", list(histogram.axes),
                             directions_in_words(values))


def _means(values: Mapping[str, Any], source: str) -> None:
    for name, mean in values["mean"].items():
        key = f"mean.{name}"
        if mean.species is None and mean.quantity in MEANS:
            raise InputError(f"{source}: {key}.species is missing: quantity = {shown(mean.quantity)} is of a species")
        if mean.species is not None and mean.quantity not in MEANS:
            raise refuse(source, f"{key}.species", mean.species, f"quantity = {shown(mean.quantity)} is of no species")
        if mean.species is not None:
            known(source, f"{key}.species", mean.species, values["species"])
        for part in ("bins", "high"):
            if (getattr(mean, part) is None) == (mean.quantity == "spectrum"):
                raise InputError(f"{source}: {key}.{part} is of a spectrum, which needs it")
        if mean.quantity == "phi" and values["fields"].solver != "electrostatic":
            raise refuse(source, f"{key}.quantity", mean.quantity,
                         'phi is a field where fields.solver = "electrostatic"')
        if values["window"].speed:
            raise InputError(f"{source}: {key}: a moving window has no means")


def _formulas(values: Mapping[str, Any], source: str) -> None:
    """Check that all formulas can be read."""
    variables = directions_of(values)
    texts = {f"fields.{name}": getattr(values["fields"], name) for name in "eb"}
    for key, own in (("e", (*variables, "t")), ("b", (*variables, "t")), ("factor", ("t",))):
        content = getattr(values["external"], key)
        for part in content if isinstance(content, tuple) else (content,):
            read_formula(part, own, values["constants"], f"{source}: external.{key}")
    for name, species in values["species"].items():
        texts |= {f"species.{name}.{key}": getattr(species, key) for key in ("density", "temperature", "drift")}
    for name, plate in values["emission"].items():
        texts[f"emission.{name}.profile"] = plate.profile
        if plate.flux is not None:
            read_formula(plate.flux, ("t",), values["constants"], f"{source}: emission.{name}.flux")
    for name, species in values["species"].items():
        if species.momenta is not None:
            read_formula(species.momenta, (*(f"u{d}" for d in axes_of(values)), *variables), values["constants"],
                         f"{source}: species.{name}.momenta")
    for name, section in values["reaction"].items():
        for part in ("rate", "cross_section"):
            if getattr(section, part) is not None:
                read_formula(getattr(section, part), ("energy",), values["constants"],
                             f"{source}: reaction.{name}.{part}")
    for name, section in values["secondary"].items():
        read_formula(section.coefficient, ("energy", "angle"), values["constants"],
                     f"{source}: secondary.{name}.coefficient")
    for name, laser in values["laser"].items():
        if laser.envelope is not None:
            read_formula(laser.envelope, ("t",), values["constants"], f"{source}: laser.{name}.envelope")
    texts |= {f"dielectric.{name}.where": dielectric.where for name, dielectric in values["dielectric"].items()}
    texts |= {f"conductor.{name}.where": conductor.where for name, conductor in values["conductor"].items()}
    for name, gas in values["gas"].items():
        texts |= {f"gas.{name}.{key}": getattr(gas, key) for key in ("density", "temperature", "drift")}
    for d in variables:
        for part in getattr(values["boundaries"], f"potential_{d}"):
            read_formula(part, ("t",), values["constants"], f"{source}: boundaries.potential_{d}")
    for name, conductor in values["conductor"].items():
        read_formula(conductor.potential, ("t",), values["constants"], f"{source}: conductor.{name}.potential")
    for name, circuit in values["circuit"].items():
        read_formula(circuit.source, ("t",), values["constants"], f"{source}: circuit.{name}.source")
    for key, content in texts.items():
        for part in content if isinstance(content, tuple) else (content,):
            read_formula(part, variables, values["constants"], f"{source}: {key}")
