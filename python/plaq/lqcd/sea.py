"""Quarks in the sea as an input has them: terms of the action by name, and the time scales that hold them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from plaq.errors import InputError
from plaq.inputs.schema import shown
from plaq.lqcd.integrators import LAMBDA, TUNABLE

GAUGE = "gauge"  # name of the gauge action among the terms
POLES = 12  # of a rational function, if the input has no number
MASSES = ("kappa", "mu", "epsilon")
MOST_TABLES = 32
LAMBDAS = (LAMBDA,)


class Determinant(NamedTuple):
    """Operator of Hasenbusch's chain: kappa, and a twisted mass on odd sites."""

    kappa: float
    mass: float


def is_pair(q: Any) -> bool:
    """Return whether the quarks of a table are two of one mass, whose determinant needs no root."""
    return q.flavours == 2 and q.epsilon is None


def is_doublet(q: Any) -> bool:
    """Return whether they are two of different masses."""
    return q.epsilon is not None


def chain_of(q: Any) -> list[Determinant]:
    """Return the operators of a pair from the lightest, which is physical, to the heaviest."""
    count = max(len(q.masses), len(q.kappas))
    masses, kappas = q.masses or (0.0,) * count, q.kappas or (q.kappa,) * count
    return [Determinant(q.kappa, q.regulator), *map(Determinant, kappas, masses)]


def parts_of(q: Any) -> list[int]:
    """Return the numbers of poles of the terms of a rational function, the smallest poles first."""
    return list(q.split or (q.poles or POLES,))


def ordered(quarks: Mapping[str, Any]) -> list[str]:
    """Return the names of the tables: pairs, single quarks, doublets, each in the order of the input."""
    rank = lambda name: 0 if is_pair(quarks[name]) else 2 if is_doublet(quarks[name]) else 1
    return sorted(quarks, key=rank)


def terms_of(quarks: Mapping[str, Any], name: str) -> list[str]:
    """Return the names of the terms of a table, those that cost most first: NAME, or NAME.1, NAME.2 ..."""
    q = quarks[name]
    count = len(chain_of(q)) - q.ratio if is_pair(q) else len(parts_of(q))
    return [name] if count == 1 else [f"{name}.{number}" for number in range(1, count + 1)]


def all_terms(quarks: Mapping[str, Any]) -> list[str]:
    """Return the names of all terms in the order of time scales that an input without `hmc.scales` has."""
    return [*(term for name in ordered(quarks) for term in terms_of(quarks, name)), GAUGE]


class Scale(NamedTuple):
    """Time scale: names of its terms, steps, integrator and its weight lambda."""

    terms: tuple[str, ...]
    steps: int
    integrator: str
    weight: float


def scales_of(quarks: Mapping[str, Any], hmc: Any) -> list[Scale]:
    """Return the time scales, the one with the longest steps first."""
    names = hmc.scales or all_terms(quarks)
    each = lambda values: values * len(names) if len(values) == 1 else values
    return [Scale(tuple(terms.split()), *more) for terms, *more in
            zip(names, hmc.steps, each(hmc.integrator), each(hmc.lambdas))]


def check_scales(quarks: Mapping[str, Any], hmc: Any, source: str) -> None:
    """Raise InputError unless each term is on one scale, and each scale has its steps, integrator and weight."""
    known = all_terms(quarks)
    if hmc.scales:
        placed = [term for scale in hmc.scales for term in scale.split()]
        for term in placed:
            if term not in known or placed.count(term) > 1:
                raise InputError(f"{source}: hmc.scales = {shown(hmc.scales)} is not allowed: {shown(term)} "
                                 + ("is there twice" if term in known else
                                    f"is no term of the action, whose terms are {', '.join(known)}"))
        if missing := [term for term in known if term not in placed]:
            raise InputError(f"{source}: hmc.scales = {shown(hmc.scales)} is not allowed: {', '.join(missing)} "
                             "is missing")
    names = hmc.scales or known
    if len(hmc.steps) != len(names):
        what = "scale of hmc.scales" if hmc.scales else "term of the action"
        raise InputError(f"{source}: hmc.steps = {shown(hmc.steps)} is not allowed: one number for each {what}, "
                         f"{len(names)} ({', '.join(names)})")
    for key in ("integrator", "lambdas"):
        values: Sequence[Any] = getattr(hmc, key)
        if len(values) not in (1, len(names)):
            raise InputError(f"{source}: hmc.{key} = {shown(values)} is not allowed: it has one value, or one for each "
                             f"of {len(names)} scales")
    if hmc.lambdas != LAMBDAS and not any(name in TUNABLE for name in hmc.integrator):
        raise InputError(f"{source}: hmc.lambdas = {shown(hmc.lambdas)} is not allowed with hmc.integrator = "
                         f"{shown(hmc.integrator)}: it is of {' and '.join(TUNABLE)}")


def check_quarks(quarks: Mapping[str, Any], boundary: str, source: str) -> None:
    """Raise InputError for a table whose keys contradict each other."""
    if len(quarks) > MOST_TABLES:
        raise InputError(f"{source}: {len(quarks)} tables of quarks are not allowed: at most {MOST_TABLES}")
    if GAUGE in quarks:
        raise InputError(f"{source}: [quarks.{GAUGE}] is not allowed: hmc.scales has this name for the gauge action")
    for name, q in quarks.items():
        refuse = lambda key, why: InputError(f"{source}: quarks.{name}.{key} = {shown(getattr(q, key))} is not "
                                             f"allowed{why}")
        if is_pair(q):
            _check_pair(q, refuse)
        else:
            _check_rational(q, refuse)
        if is_doublet(q) and boundary == "schroedinger":
            raise refuse("epsilon", ' with lattice.boundary = "schroedinger"')
        check_clover(q, boundary, refuse)


def check_clover(q: Any, boundary: str, refuse: Callable[[str, str], InputError]) -> None:
    """Raise InputError, which ``refuse`` makes of a key, for clover terms and boundaries that contradict each other."""
    if q.cF != 1 and boundary == "periodic":
        raise refuse("cF", ' with lattice.boundary = "periodic"')
    if q.cF != 1 and q.clover == "exponential":
        raise refuse("cF", ' with clover = "exponential"')
    if q.clover == "exponential" and q.csw == 0:
        raise refuse("clover", " with csw = 0")


def other_masses(q: Any, table: Any) -> dict[str, float]:
    """Return the masses of a table of reweighting that its quarks do not have."""
    wanted = {key: getattr(table, key) for key in MASSES}
    return {key: value for key, value in wanted.items() if value is not None and value != getattr(q, key)}


def check_reweighting(quarks: Mapping[str, Any], tables: Mapping[str, Any], source: str) -> None:
    """Raise InputError for a table of reweighting that does not fit to the quarks that it names."""
    for name, table in tables.items():
        key = f"{source}: reweighting.{name}"
        if table.quarks not in quarks:
            raise InputError(f"{key}.quarks = {shown(table.quarks)} is not allowed: known are "
                             + (", ".join(quarks) or "none: there is no table [quarks.NAME]"))
        q = quarks[table.quarks]
        masses = other_masses(q, table)
        for other, has, why in (("mu", is_pair(q) or is_doublet(q), "one quark, which has no twisted mass"),
                                ("epsilon", is_doublet(q), "of one mass")):
            if getattr(table, other) is not None and not has:
                raise InputError(f"{key}.{other} = {shown(getattr(table, other))} is not allowed with quarks = "
                                 f"{shown(table.quarks)}: they are {why}")
        if is_doublet(q):
            kappa, mu, epsilon = (masses.get(name, getattr(q, name)) for name in MASSES)
            if epsilon**2 >= mu**2 + 1 / (2 * kappa)**2:
                raise InputError(f"{key}.epsilon = {shown(epsilon)} is not allowed: it is less than "
                                 "sqrt(mu^2 + 1 / (2 kappa)^2)")
        if not masses and (not q.regulator if is_pair(q) else q.correction):
            raise InputError(f"{key}.quarks = {shown(table.quarks)} is not allowed: the factor is one")


def _check_pair(q: Any, refuse) -> None:
    for key in ("range", "poles"):
        if getattr(q, key) is not None:
            raise refuse(key, ": two quarks of one mass need no rational function")
    if q.split:
        raise refuse("split", ": two quarks of one mass need no rational function")
    if q.correction:
        raise refuse("correction", ": two quarks of one mass need no rational function")
    if any(a >= b for a, b in zip(q.masses, q.masses[1:])):
        raise refuse("masses", ": masses ascend")
    if q.masses and q.regulator >= q.masses[0]:
        raise refuse("regulator", f": it is below masses = {shown(q.masses)}")
    if q.solver == "multigrid" and q.regulator:
        raise refuse("solver", " with a regulator: multigrid is for operators without one")
    if q.kappas and q.masses and len(q.kappas) != len(q.masses):
        raise refuse("kappas", f": one for each of masses = {shown(q.masses)}, or none")
    if q.ratio and (q.kappas or not q.masses):
        raise refuse("ratio", " without masses" if not q.masses else " with kappas")
    if q.solver == "multigrid" and q.precision != "single":
        raise refuse("precision", ' with solver = "multigrid": its steps are in single precision')


def _check_rational(q: Any, refuse) -> None:
    kind = "two quarks of different masses" if is_doublet(q) else "one quark"
    if is_doublet(q):
        if q.flavours != 2:
            raise refuse("flavours", " with epsilon, which is of two quarks")
        if q.epsilon**2 >= q.mu**2 + 1 / (2 * q.kappa)**2:
            raise refuse("epsilon", ": it is less than sqrt(mu^2 + 1 / (2 kappa)^2)")
    elif q.mu:
        raise refuse("mu", " with flavours = 1: one quark has no twisted mass")
    if q.range is None or q.range[0] >= q.range[1]:
        raise refuse("range", f" of {kind}: it has the smallest and the largest eigenvalue of M^+ M")
    if q.split and sum(q.split) != (q.poles or POLES):
        raise refuse("split", f": its numbers add up to poles = {q.poles or POLES}")
    for key in ("masses", "kappas"):
        if getattr(q, key):
            raise refuse(key, f" of {kind}: it is for two of one mass")
    for key, default in (("regulator", 0.0), ("ratio", False), ("solver", "cg"), ("precision", "single"),
                         ("history", 0)):
        if getattr(q, key) != default:
            raise refuse(key, f" of {kind}: it is for two of one mass")
