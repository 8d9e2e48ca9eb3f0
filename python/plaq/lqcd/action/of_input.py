"""Terms of the action and time scales that an input asks for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from plaq.lqcd import sea
from plaq.lqcd.action.hmc import TimeScale
from plaq.lqcd.action.rational import CorrectionTerm, RationalTerm
from plaq.lqcd.action.terms import CloverTerm, GaugeTerm, QuarkTerm, Term, WallTerm, doublet
from plaq.lqcd.choices import rectangle_coefficient
from plaq.lqcd.fields.doublet import Doublet
from plaq.lqcd.fields.inverse_root import InverseRoot
from plaq.lqcd.fields.schroedinger import Walls, distance_of
from plaq.lqcd.fields.wilson import Wilson
from plaq.lqcd.parameters import Parameters

# Numbers of pseudofermions: those of a pair follow each other, as do those of a rational function's terms.
OF_PAIR, OF_SINGLE, OF_DOUBLET, NEXT, NEXT_PART, CORRECTION = 16, 1000, 1001, 3, 4096, 1 << 20


@dataclass(frozen=True)
class Action:
    """Terms by name, and those without force, which take part in the decision to accept."""

    terms: dict[str, tuple[Term, ...]]
    corrections: tuple[Term, ...] = ()

    @property
    def multigrid(self) -> list[QuarkTerm]:
        """Terms that are solved by multigrid."""
        return [term for group in self.terms.values() for term in group
                if isinstance(term, QuarkTerm) and term.solver == "multigrid"]

    def scales(self, p: Parameters) -> list[TimeScale]:
        """Return the time scales of the input, the one with the longest steps first."""
        return [TimeScale(tuple(term for name in scale.terms for term in self.terms[name]), scale.steps,
                          scale.integrator, scale.weight) for scale in sea.scales_of(p.quarks, p.hmc)]


def action_of(p: Parameters) -> Action:
    """Return the action of an input."""
    terms: dict[str, tuple[Term, ...]] = {}
    corrections: list[Term] = []
    count = {"pair": 0, "single": 0, "doublet": 0}
    for name in sea.ordered(p.quarks):
        q = p.quarks[name]
        kind = "pair" if sea.is_pair(q) else "doublet" if sea.is_doublet(q) else "single"
        number = count[kind]
        count[kind] += 1
        if kind == "pair":
            groups = _pair(q, operator_of(p, name), OF_PAIR * number)
        else:
            first = NEXT * number + (OF_DOUBLET if kind == "doublet" else OF_SINGLE)
            groups, correction = _rational(q, operator_of(p, name), first)
            corrections += correction
        terms |= dict(zip(sea.terms_of(p.quarks, name), groups))
    terms[sea.GAUGE] = (_gauge(p),)
    for name, group in terms.items():
        for term in group:
            term.name = f"{name.partition('.')[0]}.clover" if isinstance(term, CloverTerm) else name
    return Action(terms, tuple(corrections))


def _gauge(p: Parameters) -> Term:
    if p.lattice.boundary == "schroedinger":
        return WallTerm(p.action.beta, partial(Walls.of, p=p))
    return GaugeTerm(p.action.beta, rectangle_coefficient(p.action.gauge), is_open=p.lattice.boundary == "open",
                     cG=p.action.cG)


def operator_of(p: Parameters, name: str) -> partial:
    """Return the operator of quarks of the input, as a function of a gauge field."""
    q = p.quarks[name]
    masses = {"mu": q.mu, "epsilon": q.epsilon} if sea.is_doublet(q) else {"mu": q.mu}
    if p.lattice.boundary == "schroedinger":
        masses["spare"] = p.lattice.extents[0] - 1 - distance_of(p)
    return partial(Doublet if sea.is_doublet(q) else Wilson, kappa=q.kappa, **masses, theta=tuple(q.theta), csw=q.csw,
                   exponential=q.clover == "exponential", open_ends=p.lattice.boundary != "periodic", cF=q.cF)


def _pair(q: Any, matrix: partial, first: int) -> list[tuple[Term, ...]]:
    more = {key: matrix.keywords[key] for key in ("exponential", "open_ends", "cF", "spare") if key in matrix.keywords}
    groups = doublet(q.kappa, q.mu, q.theta, q.masses, q.csw, kappas=q.kappas, regulator=q.regulator, more=more,
                     first=first, solver=q.solver, aggregates=q.aggregates, residual=q.residual,
                     force_residual=q.force_residual, precision=q.precision, history=q.history)
    return groups[:-1] if q.ratio else groups  # the clover term of even sites is in both determinants


def _rational(q: Any, matrix: partial, first: int) -> tuple[list[tuple[Term, ...]], list[Term]]:
    root = InverseRoot.zolotarev(q.poles or sea.POLES, *q.range)
    groups: list[tuple[Term, ...]] = []
    for number, part in enumerate(root.parts(sea.parts_of(q))):
        groups.append((RationalTerm(matrix, part, number=first + NEXT_PART * number, residual=q.residual,
                                    force_residual=q.force_residual,
                                    whole=None if number or q.correction else root),))
    if q.csw:
        groups[-1] = (*groups[-1], CloverTerm(matrix, flavours=1))
    correction = CorrectionTerm(matrix, root, number=first + CORRECTION, residual=q.residual)
    return groups, [correction] if q.correction else []
