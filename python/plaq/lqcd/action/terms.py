r"""Terms of an action S(U) for hybrid Monte Carlo: their values, and kicks of momenta.

A kick is $P \to P - \tau F$ with $F = T_a\, dS/d\epsilon_a$ for $U \to e^{\epsilon_a T_a} U$."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial

import numpy as np

from plaq import _core
from plaq.lqcd.fields.fields import GaugeField, Momenta, SpinorField
from plaq.lqcd.fields.solvers import solve_normal
from plaq.lqcd.fields.wilson import Wilson


class Term(ABC):
    """Term of an action."""

    def begin(self, gauge: GaugeField, seed: int, trajectory: int) -> float:
        """Draw new fields of the term, and return its initial value in a trajectory. Collective, as all methods."""
        return self.value(gauge)

    @abstractmethod
    def value(self, gauge: GaugeField) -> float:
        """Return the value of the term for a gauge field."""

    @abstractmethod
    def kick(self, momenta: Momenta, gauge: GaugeField, time: float) -> None:
        """Kick momenta: P -= time F."""


class GaugeTerm(Term):
    r"""Term $-\frac{\beta}{3} [c_0 \sum \mathrm{Re\,tr} P + c_1 \sum \mathrm{Re\,tr} R]$ with $c_0 = 1 - 8 c_1$.

    Sums are over all plaquettes P and 2 x 1 rectangles R.
    """

    def __init__(self, beta: float, c1: float = 0.0):
        self.beta, self.c1 = beta, c1

    def value(self, gauge: GaugeField) -> float:
        mean = (1 - 8 * self.c1) * 6 * gauge.plaquette()
        if self.c1:
            mean += self.c1 * 12 * gauge.rectangle()
        return -self.beta * gauge.lattice.volume * mean

    def kick(self, momenta: Momenta, gauge: GaugeField, time: float) -> None:
        derivative = _core.lqcd.Links(gauge.lattice.layout)
        gauge.lattice.call(_core.lqcd.action_derivative, gauge.lattice.context, derivative, gauge.native, self.c1)
        momenta.kick(derivative, -time * self.beta / 6)


class QuarkTerm(Term):
    r"""Term $\phi^+ W (\hat M^+ \hat M)^{-1} W^+ \phi$, which represents $\det \hat M^+\hat M / \det W^+ W$.

    The pseudofermion $\phi$ is on odd sites. The term is for two flavours of even-odd preconditioned Wilson quarks, or
    a twisted doublet. $\hat M$ is that of `Wilson.apply_odd` with a twist $2\kappa\,$``mass``, W has the twist
    $2\kappa\,$``heavier`` (Hasenbusch, hep-lat/0107019); W = 1 if ``heavier`` is None.

    number : index of the pseudofermion in a trajectory. residual, force_residual : of the solutions for values and
    kicks.
    """

    def __init__(self, kappa: float, mu: float = 0.0, theta: Sequence[float] = (0, 0, 0, 0), csw: float = 0.0, *,
                 mass: float = 0.0,
                 heavier: float | None = None, number: int = 0, residual: float = 1e-12,
                 force_residual: float = 1e-8):
        self.kappa, self.number = kappa, number
        self.matrix = partial(Wilson, kappa=kappa, mu=mu, theta=tuple(theta), csw=csw)
        self.twist = 2 * kappa * mass
        self.heavier_twist = None if heavier is None else 2 * kappa * heavier
        self.residual, self.force_residual = residual, force_residual
        self.phi: SpinorField | None = None

    def begin(self, gauge: GaugeField, seed: int, trajectory: int) -> float:
        M = gauge.operator(self.matrix)
        eta = SpinorField(gauge.lattice, odd=True)
        eta.native.pseudofermion(seed, trajectory, self.number)
        self.phi = M.apply_odd(eta, True, self.twist)
        if self.heavier_twist is not None:  # W^+ phi = M^+ eta
            x = solve_normal(M, self.phi, self.heavier_twist, self.residual)
            self.phi = M.apply_odd(x, False, self.heavier_twist)
        return eta.norm2()

    def value(self, gauge: GaugeField) -> float:
        M = gauge.operator(self.matrix)
        chi = self._source(M)
        return chi.dot(solve_normal(M, chi, self.twist, self.residual)).real

    def kick(self, momenta: Momenta, gauge: GaugeField, time: float) -> None:
        M = gauge.operator(self.matrix)
        X = solve_normal(M, self._source(M), self.twist, self.force_residual)
        Y = M.apply_odd(X, False, self.twist)
        if self.heavier_twist is not None:
            np.subtract(Y.array, self.phi.array, out=Y.array)
        momenta.kick(M.derivative(gauge, X, Y), time * self.kappa)

    def _source(self, M: Wilson) -> SpinorField:
        """Return W^+ phi."""
        return self.phi if self.heavier_twist is None else M.apply_odd(self.phi, True, self.heavier_twist)


class CloverTerm(Term):
    r"""Term $-N \sum \log |\det A|$ over even sites of N flavours with clover term.

    It is the factor of the determinant that even-odd preconditioning separates. It does not depend on ``theta``, with
    which it shares the operator of a `QuarkTerm`.
    """

    def __init__(self, kappa: float, mu: float, csw: float, flavours: int = 2,
                 theta: Sequence[float] = (0, 0, 0, 0)):
        self.kappa, self.flavours = kappa, flavours
        self.matrix = partial(Wilson, kappa=kappa, mu=mu, theta=tuple(theta), csw=csw)

    def value(self, gauge: GaugeField) -> float:
        return -self.flavours * gauge.operator(self.matrix).log_det_even

    def kick(self, momenta: Momenta, gauge: GaugeField, time: float) -> None:
        momenta.kick(gauge.operator(self.matrix).log_det_derivative(gauge), time * self.kappa * self.flavours / 2)


def doublet(kappa: float, mu: float, theta: Sequence[float], masses: Sequence[float] = (), csw: float = 0.0,
            **residuals: float) -> list[tuple[Term, ...]]:
    """Return the terms of two flavours for successive time scales, the lightest first.

    ``masses`` precondition the determinant, from light to heavy. The clover term joins the heaviest.
    """
    chain = [0.0, *masses]
    terms: list[tuple[Term, ...]] = [
        (QuarkTerm(kappa, mu, theta, csw, mass=mass, heavier=heavier, number=number, **residuals),)
        for number, (mass, heavier) in enumerate(zip(chain, [*masses, None]))]
    if csw:
        terms[-1] = (*terms[-1], CloverTerm(kappa, mu, csw, theta=theta))
    return terms
