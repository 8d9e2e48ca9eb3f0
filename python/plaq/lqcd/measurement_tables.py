"""Tables of the input that ask for measurements, any number of each: their parameters and checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plaq.errors import InputError
from plaq.inputs.kinds import choice, integer, list_of, real
from plaq.inputs.schema import REQUIRED, Parameter, shown
from plaq.lqcd.choices import KAPPA, MASS, METHODS, PRECISIONS, RESIDUAL
from plaq.lqcd.fields.gamma import STRUCTURES

MOST_FLOW = 10_000  # steps of the flow
OF_ANALYSIS = frozenset({"plateau", "fit_from"})  # keys that change no measured number

SECTIONS = {
    "loops.*": "Wilson loops and 2 x 1 rectangles, and the static potential. Every table has its own name, as "
               "[loops.smeared].",
    "mesons.*": "Two-point functions of valence quarks, as [mesons.pion].",
    "flow.*": "The gradient flow, its scales t0 and w0, and the topological charge, as [flow.wilson].",
}
FAMILIES = tuple(section.removesuffix(".*") for section in SECTIONS)


def _every(section: str) -> Parameter:
    return Parameter(section, "every", integer(1, 10**7), 1, "configurations",
                     "distance of configurations that are measured: those whose numbers are its multiples")


def _links(section: str, purpose: str) -> list[Parameter]:
    return [Parameter(section, "ape_alpha", real("[0, 1]"), 0.5, "", "weight of the staples in APE smearing of links"),
            Parameter(section, "ape_steps", integer(0, 1000), 0, "",
                      f"smearing steps of links in space, for {purpose}")]


TABLE = [
    Parameter("loops.*", "space", integer(1, 512), REQUIRED, "a",
              "sides in space from 1 to this, at most half of the lattice's"),
    Parameter("loops.*", "time", integer(2, 512), 4, "a",
              "sides in time from 1 to this, at most half of the lattice's"),
    *_links("loops.*", "the sides in space"),
    Parameter("loops.*", "plateau", integer(1, 511), None, "a",
              "t of ln W(r, t) / W(r, t + 1) that is taken for the potential; half of time if unset"),
    _every("loops.*"),
    Parameter("mesons.*", "kappa", KAPPA, REQUIRED, "", "hopping parameter 1 / (2 m + 8)"),
    Parameter("mesons.*", "mu", MASS, 0.0, "1/a", "twisted mass"),
    Parameter("mesons.*", "csw", MASS, 0.0, "", "coefficient of the clover term"),
    Parameter("mesons.*", "theta", list_of(real("[-1, 1]"), length=4), (1.0, 0.0, 0.0, 0.0), "pi",
              "phases of quarks at the boundaries t, x, y, z; 1 is antiperiodic"),
    Parameter("mesons.*", "structures", list_of(choice(*STRUCTURES), 1), ("gamma5",), "",
              "gamma matrices of the mesons"),
    Parameter("mesons.*", "source", choice("point", "noise"), "point", "",
              "a point at random, or noise on a time slice at random (the one-end trick)"),
    Parameter("mesons.*", "gauss_kappa", real("[1e-6, 1000]"), 0.25, "",
              "weight in (1 + kappa H) / (1 + 6 kappa), which smears sources and sinks"),
    Parameter("mesons.*", "gauss_source", integer(0, 10000), 0, "", "smearing steps of sources; 0: none"),
    Parameter("mesons.*", "gauss_sink", integer(0, 10000), 0, "", "smearing steps of sinks; 0: none"),
    *_links("mesons.*", "the smearing of sources and sinks"),
    Parameter("mesons.*", "fit_from", integer(0, 511), None, "a",
              "masses by a fit of a cosh to correlators from this t to T/2; none if unset"),
    Parameter("mesons.*", "solver", choice(*METHODS), "cg", "", "method for the propagators"),
    Parameter("mesons.*", "precision", choice(*PRECISIONS), "single", "",
              "precision of most of its steps; half is single with links in 16 bits; multigrid has single"),
    Parameter("mesons.*", "residual", RESIDUAL, 1e-9, "", "|eta - M psi| / |eta| of the propagators"),
    _every("mesons.*"),
    Parameter("flow.*", "time", real("[1e-6, 1000]"), REQUIRED, "a^2", "flow time of the last measurement"),
    Parameter("flow.*", "step", real("[1e-6, 0.1]"), 0.05, "a^2",
              "step of the integration, and between two measurements"),
    _every("flow.*"),
]


def each(values: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield (family, name, table) of all tables that ask for measurements."""
    for family in FAMILIES:
        yield from ((family, name, table) for name, table in values[family].items())


def is_of_measurements(key: str) -> bool:
    """Return whether a key of the input, as ``mesons.pion.kappa``, belongs to such a table."""
    return key.partition(".")[0] in FAMILIES


def may_grow(key: str, here: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Return whether a run may continue with another value of such a key: in new tables, or for the analysis alone."""
    family, name, last = key.split(".")
    return name in here[family] and (name not in before[family] or last in OF_ANALYSIS)


def check(values: Mapping[str, Any], source: str) -> None:
    """Raise InputError for keys of these tables that contradict each other, the lattice or the number of fields."""
    extents, configurations = values["lattice"].extents, values["updates"].configurations
    stored = values["measure"].configurations
    for family, name, table in each(values):
        key = f"{family}.{name}"
        if not stored and table.every > configurations:
            raise InputError(f"{source}: {key}.every = {table.every} is not allowed with updates.configurations = "
                             f"{configurations}: no configuration is measured")
        CHECKS[family](table, f"{source}: {key}", extents)


def check_loops(loops: Any, source: str, extents: Sequence[int]) -> None:
    for side, half in {"space": min(extents[1:]) // 2, "time": extents[0] // 2}.items():
        if getattr(loops, side) > half:
            raise InputError(f"{source}.{side} = {getattr(loops, side)} is not allowed with lattice.extents = "
                             f"{shown(extents)}: sides are at most {half}")
    if loops.plateau is not None and loops.plateau >= loops.time:
        raise InputError(f"{source}.plateau = {loops.plateau} is not allowed: it is below time = {loops.time}")


def check_mesons(mesons: Any, source: str, extents: Sequence[int]) -> None:
    if len(set(mesons.structures)) < len(mesons.structures):
        raise InputError(f"{source}.structures = {shown(mesons.structures)} must not repeat a value")
    if mesons.solver == "multigrid" and mesons.precision != "single":
        raise InputError(f'{source}.precision = "{mesons.precision}" is not allowed with solver = "multigrid": its '
                         "steps are in single precision")
    first = mesons.fit_from
    if first is not None and first > extents[0] // 2 - 2:
        raise InputError(f"{source}.fit_from = {first} is not allowed: a fit takes three points up to T/2 = "
                         f"{extents[0] // 2}")


def check_flow(flow: Any, source: str, extents: Sequence[int]) -> None:
    if flow.time / flow.step > MOST_FLOW:
        raise InputError(f"{source}.step = {flow.step:g} is not allowed with time = {flow.time:g}: the flow takes at "
                         f"most {MOST_FLOW} steps")


CHECKS = {"loops": check_loops, "mesons": check_mesons, "flow": check_flow}
