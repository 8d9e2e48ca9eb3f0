"""Two flavours of twisted mass with different masses, such as strange and charm."""

from __future__ import annotations

from collections.abc import Sequence

from plaq import _core
from plaq.lqcd.fields.gauge_field import GaugeField
from plaq.lqcd.fields.linear_operator import LinearOperator
from plaq.lqcd.fields.spinor_field import Flavours


class Doublet(LinearOperator[Flavours]):
    r"""Operator of two flavours, $M = A - \kappa H$ with $A = h + 2 i\kappa\mu\gamma_5\tau_3 + 2\kappa\epsilon\tau_1$.

    Frezzotti and Rossi, hep-lat/0311008. It keeps a copy of the gauge field; H, theta and the rest are those of
    `Wilson`, and h is its A without twisted mass.

    kappa : 1 / (2 m + 8). mu : the mean of the two masses, twisted. epsilon : half their difference. All in lattice
    units. Collective. InputError if $\epsilon^2 \ge \mu^2 + 1/(2\kappa)^2$, so that A has no inverse.
    """

    def __init__(self, gauge: GaugeField, kappa: float, mu: float, epsilon: float,
                 theta: Sequence[float] = (0, 0, 0, 0), csw: float = 0.0, *, exponential: bool = False,
                 open_ends: bool = False, cF: float = 1.0):
        self.mu, self.epsilon, self.theta = mu, epsilon, tuple(theta)
        self.csw, self.exponential, self.open_ends, self.cF = csw, exponential, open_ends, cF
        native = gauge.lattice.call(_core.lqcd.Doublet, gauge.lattice.context, gauge.native, kappa, mu, epsilon,
                                    list(theta), csw, exponential, open_ends, cF)
        super().__init__(gauge.lattice, kappa, native, _core.lqcd.DoubletSolver(native))

    def zeros(self, odd: bool = False) -> Flavours:
        return Flavours(self.lattice, odd=odd)

    def hermitian(self, psi: Flavours) -> Flavours:
        r"""Return $Q\psi = \gamma_5\tau_1\hat M\psi$ on odd sites, with $Q^2 = \hat M^+\hat M$. Collective."""
        M_psi, out = self.apply_odd(psi), self.zeros(odd=True)
        out.up.add(M_psi.down.gamma5())
        out.down.add(M_psi.up.gamma5())
        return out

    def __str__(self) -> str:
        return f"a doublet of kappa = {self.kappa:g}, mu = {self.mu:g}, epsilon = {self.epsilon:g}"
