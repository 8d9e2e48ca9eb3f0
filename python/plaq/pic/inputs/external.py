"""Fields from outside: [external] for the core, checked at points and times of a run."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from plaq import _core
from plaq.pic.inputs.formula import Formula
from plaq.pic.inputs.geometry import CORE
from plaq.pic.inputs.openpmd_input import read_maps
from plaq.pic.inputs.refusals import read_formula
from plaq.pic.inputs.setup import Setup, finite

TIMES = 16  # at which formulas of t are checked before a run


def external_of(setup: Setup, whole: bool) -> _core.pic.ExternalFields:
    """Return the external fields of the core.

    Not ``whole``, before a run: InputError where a formula is not finite at a sample of points and times.
    """
    own = setup.p.external
    out = _core.pic.ExternalFields(setup.length_unit, setup.units.of("time"))
    for number, (name, (key, formula)) in enumerate(formulas(setup).items()):
        if formula.uses or formula():
            if not whole:
                _check(setup, key, formula, name)
            out.set_formula(number, core_formula(formula, setup.directions), setup.units.of(name[0].upper()))
    if own.file is not None:
        for name, (first, spacing, values) in read_maps(own.file, own.checksum, setup).items():
            out.set_map(list(setup.half).index(name), first, spacing, list(values.shape), values.ravel(order="F"))
        out.set_factor(core_formula(factor(setup)))
    return out


def formulas(setup: Setup) -> dict[str, tuple[str, Formula]]:
    """Return (key, formula of the coordinates and t) of ex, … bz."""
    variables = (*setup.directions, "t")
    return {f"{kind}{d}": (f"external.{kind}", read_formula(part, variables, setup.p.constants, f"external.{kind}"))
            for kind in "eb" for d, part in zip(setup.axes, getattr(setup.p.external, kind))}


def factor(setup: Setup) -> Formula:
    """Return the factor of the fields of a file, a formula of t."""
    return read_formula(setup.p.external.factor, ("t",), setup.p.constants, "external.factor")


def core_formula(formula: Formula, directions: str = CORE) -> _core.pic.Formula:
    """Return the formula of the core, which calls the directions x, y, z."""
    names = dict(zip(directions, CORE))
    return _core.pic.Formula([("" if step.number is not None else names.get(step.symbol, step.symbol), step.takes,
                               step.number or 0.0,
                               *(step.table or ([], []))) for step in formula.program])


def sampled(setup: Setup, formula: Formula, name: str) -> Iterator[dict[str, np.ndarray]]:
    """Yield (points by variable, in units of the input) at a sample of cells and times."""
    count = TIMES if "t" in formula.uses else 1
    times = np.linspace(0.0, setup.steps, count) * setup.dt / setup.units.of("time")
    for points in setup.sample_points():
        points = setup.yee_points(name, points[::count])
        for t in times:
            yield {**{d: points[:, i] / setup.length_unit for i, d in enumerate(setup.directions)}, "t": t}


def _check(setup: Setup, key: str, formula: Formula, name: str) -> None:
    for variables in sampled(setup, formula, name):
        finite(key, formula, setup.units.of(name[0].upper()), **variables)


def strongest(setup: Setup, kind: str) -> float:
    """Return the largest amount of the external E ("e") or B ("b") of formulas at a sample of points and times."""
    unit, parts = setup.units.of(kind.upper()), {
        name: formula for name, (_, formula) in formulas(setup).items() if name[0] == kind}
    largest = [max(float(np.max(np.abs(formula(**variables)))) for variables in sampled(setup, formula, name))
               for name, formula in parts.items()]
    return unit * float(np.linalg.norm(largest))

