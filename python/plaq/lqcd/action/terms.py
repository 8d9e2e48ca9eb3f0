r"""Terms of an action S(U) for hybrid Monte Carlo: their values, and kicks of momenta.

A kick is $P \to P - \tau F$ with $F = T_a\, dS/d\epsilon_a$ for $U \to e^{\epsilon_a T_a} U$."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from plaq import _core
from plaq.lqcd.action.guess import ChronologicalGuess
from plaq.lqcd.fields import open_ends
from plaq.lqcd.fields.gauge_field import GaugeField
from plaq.lqcd.fields.lattice import Lattice
from plaq.lqcd.fields.linear_operator import LinearOperator
from plaq.lqcd.fields.momenta import Momenta
from plaq.lqcd.fields.schroedinger import Walls
from plaq.lqcd.fields.solvers import set_up_multigrid, solve_normal
from plaq.lqcd.fields.spinor_field import SpinorField
from plaq.lqcd.fields.wilson import Wilson


class Term(ABC):
    """Term of an action."""

    name = ""  # of the term or the group of terms that an input makes

    def begin(self, gauge: GaugeField, seed: int, trajectory: int) -> float:
        """Draw new fields of the term, and return its initial value in a trajectory. Collective, as all methods."""
        return self.value(gauge)

    @abstractmethod
    def value(self, gauge: GaugeField) -> float:
        """Return the value of the term for a gauge field."""

    def forget(self) -> None:
        """Leave solutions before out of further ones: the direction of time changes."""

    @abstractmethod
    def kick(self, momenta: Momenta, gauge: GaugeField, time: float) -> None:
        """Kick momenta: P -= time F."""


class GaugeTerm(Term):
    r"""Term $-\frac{\beta}{3} [c_0 \sum \mathrm{Re\,tr} P + c_1 \sum \mathrm{Re\,tr} R]$ with $c_0 = 1 - 8 c_1$.

    Sums are over all plaquettes P and 2 x 1 rectangles R. With ``is_open`` those that leave the lattice in time are
    left out, and those in space on the first and the last slice have the weight $c_G/2$ (Luescher and Schaefer,
    arXiv:1206.2809, eq. (2.2)).
    """

    name = "gauge"

    def __init__(self, beta: float, c1: float = 0.0, *, is_open: bool = False, cG: float = 1.0):
        self.beta, self.c1, self.is_open, self.cG = beta, c1, is_open, cG

    def value(self, gauge: GaugeField) -> float:
        return -self.beta * gauge.lattice.volume * sum(weight * self._mean(links)
                                                       for weight, links in self._weighted(gauge))

    def kick(self, momenta: Momenta, gauge: GaugeField, time: float) -> None:
        for weight, links in self._weighted(gauge):
            derivative = _core.lqcd.Links(gauge.lattice.layout)
            gauge.lattice.call(_core.lqcd.action_derivative, gauge.lattice.context, derivative, links.native, self.c1)
            momenta.kick(derivative, -weight * time * self.beta / 6)

    def _mean(self, links: GaugeField) -> float:
        """Return the loops of a site on average."""
        mean = (1 - 8 * self.c1) * 6 * links.plaquette()
        return mean + self.c1 * 12 * links.rectangle() if self.c1 else mean

    def _weighted(self, gauge: GaugeField) -> list[tuple[float, GaugeField]]:
        """Return (weight, field) of all loops of the action: a link that is zero takes its loops away."""
        if not self.is_open:
            return [(1.0, gauge)]
        return [(1.0, open_ends.inside(gauge)), (self.cG / 2 - 1, open_ends.ends(gauge))]


class WallTerm(Term):
    """Term `Walls.action` of the Schroedinger functional; ``walls`` makes them for a lattice."""

    name = "gauge"

    def __init__(self, beta: float, walls: Callable[[Lattice], Walls]):
        self.beta, self.walls = beta, walls

    def value(self, gauge: GaugeField) -> float:
        return self.walls(gauge.lattice).action(gauge, self.beta)

    def kick(self, momenta: Momenta, gauge: GaugeField, time: float) -> None:
        derivative, links = _core.lqcd.Links(gauge.lattice.layout), self.walls(gauge.lattice).weighted(gauge)
        gauge.lattice.call(_core.lqcd.action_derivative, gauge.lattice.context, derivative, links.native, 0.0)
        momenta.kick(derivative, -time * self.beta / 6)


class QuarkTerm(Term):
    r"""Term $\phi^+ W (\hat M^+ \hat M)^{-1} W^+ \phi$, which represents $\det \hat M^+\hat M / \det W^+ W$.

    The pseudofermion $\phi$ is on odd sites. The term is for two flavours of even-odd preconditioned Wilson quarks, or
    a twisted doublet. $\hat M$ is that of `Wilson.apply_odd` with a twist $2\kappa\,$``mass``. W is the same with the
    twist $2\kappa\,$``heavier`` (Hasenbusch, hep-lat/0107019), and with ``heavier_kappa`` in place of ``kappa``;
    W = 1 if both are None.

    more : further arguments of `Wilson`. number : index of the pseudofermion in a trajectory. residual, force_residual,
    precision : of the solutions for values and kicks, and of the steps to them. solver : "cg", or "multigrid" with
    these ``aggregates`` (`set_up_multigrid`). Its test vectors are found in the first trajectory, improved once at the
    beginning of each further one, and kept for the fields along it. history : number of solutions for kicks that the
    next one begins from (`ChronologicalGuess`); from zero if 0.
    """

    def __init__(self, kappa: float, mu: float = 0.0, theta: Sequence[float] = (0, 0, 0, 0), csw: float = 0.0, *,
                 mass: float = 0.0, heavier: float | None = None, heavier_kappa: float | None = None,
                 more: Mapping[str, Any] = MappingProxyType({}), number: int = 0, residual: float = 1e-12,
                 force_residual: float = 1e-8, precision: str = "single", solver: str = "cg",
                 aggregates: Sequence[Sequence[int]] = (), history: int = 0):
        self.kappa, self.number = kappa, number
        self.matrix = partial(Wilson, kappa=kappa, mu=mu, theta=tuple(theta), csw=csw, **more)
        self.heavier_kappa = kappa if heavier_kappa is None else heavier_kappa
        self.heavier_matrix = partial(Wilson, kappa=self.heavier_kappa, mu=mu, theta=tuple(theta), csw=csw, **more)
        self.twist = 2 * kappa * mass
        self.heavier_twist = (None if heavier is None and heavier_kappa is None
                              else 2 * self.heavier_kappa * (heavier or 0.0))
        self.residual, self.force_residual = residual, force_residual
        self.precision, self.solver, self.aggregates = precision, solver, aggregates
        self.guess = ChronologicalGuess(history)
        self.vectors: list[SpinorField] = []  # test vectors that the chain has before its first trajectory here
        self.with_setup: Wilson | None = None  # operator with the newest setup of multigrid
        self.is_new = True  # whether the trajectory has not improved it yet
        self.phi: SpinorField | None = None

    def begin(self, gauge: GaugeField, seed: int, trajectory: int) -> float:
        self.forget()
        self.is_new = True
        eta = SpinorField(gauge.lattice, odd=True)
        eta.native.pseudofermion(seed, trajectory, self.number)
        M = gauge.operator(self.matrix)
        self.phi = M.apply_odd(eta, True, self.twist)
        if self.heavier_twist is not None:  # W^+ phi = M^+ eta
            W = self._heavier(gauge, M)
            x = solve_normal(W, self.phi, self.heavier_twist, self.residual, self.precision)
            self.phi = W.apply_odd(x, False, self.heavier_twist)
        return eta.norm2()

    def value(self, gauge: GaugeField) -> float:
        M, chi = self._source(gauge)
        return chi.dot(self._solve(M, chi, self.residual)).real

    def kick(self, momenta: Momenta, gauge: GaugeField, time: float) -> None:
        M, chi = self._source(gauge)
        X = self.guess.solve(lambda x: M.normal(x, self.twist), chi, self.force_residual,
                             lambda source, residual: self._solve(M, source, residual))
        Y = M.apply_odd(X, False, self.twist)
        if self.heavier_twist is not None and self._is_same:
            np.subtract(Y.array, self.phi.array, out=Y.array)
        momenta.kick(M.derivative(gauge, X, Y), time * self.kappa)
        if self.heavier_twist is not None and not self._is_same:
            W = gauge.operator(self.heavier_matrix)
            momenta.kick(W.derivative(gauge, X, self.phi), -time * self.heavier_kappa)

    @property
    def _is_same(self) -> bool:
        """Whether W differs from M by its twist alone."""
        return self.heavier_kappa == self.kappa

    def _heavier(self, gauge: GaugeField, M: Wilson) -> Wilson:
        """Return the operator of W, without its twist."""
        return M if self._is_same else gauge.operator(self.heavier_matrix)

    def forget(self) -> None:
        self.guess.forget()

    def test_vectors(self) -> list[SpinorField]:
        """Return the test vectors of multigrid, for `vectors` of a term that continues the chain. Collective."""
        if self.with_setup is None:
            return self.vectors
        lattice, solver = self.with_setup.lattice, self.with_setup.solver
        return [SpinorField(lattice, native) for native in lattice.call(solver.test_vectors)]

    def _source(self, gauge: GaugeField) -> tuple[Wilson, SpinorField]:
        """Return the operator of M without its twist, and W^+ phi."""
        if self.heavier_twist is None:
            return gauge.operator(self.matrix), self.phi
        if self._is_same:
            M = gauge.operator(self.matrix)
            return M, M.apply_odd(self.phi, True, self.heavier_twist)
        chi = gauge.operator(self.heavier_matrix).apply_odd(self.phi, True, self.heavier_twist)
        return gauge.operator(self.matrix), chi

    def _solve(self, M: Wilson, chi: SpinorField, residual: float) -> SpinorField:
        if self.solver == "multigrid" and (self.is_new or self.with_setup is not M):
            self._set_up(M)
        return solve_normal(M, chi, self.twist, residual, self.precision, method=self.solver)


    def _set_up(self, M: Wilson) -> None:
        """Set up multigrid of M with the test vectors so far, improved if a trajectory has begun."""
        call, is_first = M.lattice.call, self.with_setup is None and not self.vectors
        if is_first:
            set_up_multigrid(M, self.aggregates)
        elif self.with_setup is None:
            call(M.solver.set_up_with, self.aggregates, [vector.native for vector in self.vectors])
            self.vectors = []
        elif self.with_setup is not M:
            call(M.solver.set_up_from, self.with_setup.solver)
        if self.is_new and not is_first:
            call(M.solver.improve)
        self.with_setup, self.is_new = M, False


class CloverTerm(Term):
    r"""Term $-N \sum \log |\det A|$ over even sites of N flavours with clover term.

    It is the factor of the determinant that even-odd preconditioning separates; ``matrix`` is a `Wilson`, or with N = 1
    a `Doublet`, whose A has both flavours.
    """

    def __init__(self, matrix: Callable[[GaugeField], LinearOperator], flavours: int = 2):
        self.matrix, self.flavours = matrix, flavours

    def value(self, gauge: GaugeField) -> float:
        return -self.flavours * gauge.operator(self.matrix).log_det_even

    def kick(self, momenta: Momenta, gauge: GaugeField, time: float) -> None:
        M = gauge.operator(self.matrix)
        momenta.kick(M.log_det_derivative(gauge), time * M.kappa * self.flavours / 2)


def doublet(kappa: float, mu: float, theta: Sequence[float], masses: Sequence[float] = (), csw: float = 0.0, *,
            kappas: Sequence[float] = (), regulator: float = 0.0, more: Mapping[str, Any] = MappingProxyType({}),
            first: int = 0, solver: str = "cg", **options: Any) -> list[tuple[Term, ...]]:
    """Return the terms of two flavours for successive time scales, the lightest first.

    Twisted ``masses``, ``kappas`` or both precondition the determinant, from light to heavy. The clover term joins the
    heaviest. regulator : twisted mass on odd sites of the lightest. first : number of the first pseudofermion. solver :
    of the lightest; the others take "cg".
    """
    count = max(len(masses), len(kappas))
    chain = [(None, regulator), *zip(kappas or (None,) * count, masses or (0.0,) * count)]
    terms: list[tuple[Term, ...]] = []
    for number, (own_kappa, mass) in enumerate(chain):
        heavier_kappa, heavier = chain[number + 1] if number < count else (None, None)
        heavier_kappa = heavier_kappa or (own_kappa if heavier is not None else None)
        terms.append((QuarkTerm(own_kappa or kappa, mu, theta, csw, mass=mass, heavier=heavier,
                                heavier_kappa=heavier_kappa, more=more, number=first + number,
                                solver="cg" if number else solver, **options),))
    if csw:
        matrix = partial(Wilson, kappa=kappa, mu=mu, theta=tuple(theta), csw=csw, **more)
        terms[-1] = (*terms[-1], CloverTerm(matrix))
    return terms
