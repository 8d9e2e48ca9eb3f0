"""Two flavours of twisted mass with different masses, such as strange and charm."""

from __future__ import annotations

from collections.abc import Sequence

from plaq import _core
from plaq.lqcd.fields import Flavours, GaugeField
from plaq.lqcd.wilson import need


class Doublet:
    r"""$M = A - \kappa H$ with $A = 1 + 2 i\kappa\mu\gamma_5\tau_3 + 2\kappa\epsilon\tau_1$ (Frezzotti and Rossi,
    hep-lat/0311008) on a gauge field, of which it keeps a copy; H and theta as for `Wilson`, without clover term.

    kappa : 1 / (2 m + 8). mu : the mean of the two masses, twisted. epsilon : half of what they differ by. All in
    lattice units. Collective. InputError where $\epsilon^2 \ge \mu^2 + 1/(2\kappa)^2$, so that A has no inverse.
    """

    def __init__(self, gauge: GaugeField, kappa: float, mu: float, epsilon: float,
                 theta: Sequence[float] = (0, 0, 0, 0)):
        self.lattice = gauge.lattice
        self.kappa, self.mu, self.epsilon, self.theta = kappa, mu, epsilon, tuple(theta)
        self._native = self.lattice.call(_core.lqcd.Doublet, self.lattice.engine, gauge.native, kappa, mu, epsilon,
                                         list(theta))

    def __call__(self, psi: Flavours, dagger: bool = False) -> Flavours:
        """M psi, or M^+ psi. Collective."""
        out = Flavours(self.lattice)
        self.lattice.call(self._native.apply, out.native, psi.native, dagger)
        return out

    def solve(self, eta: Flavours, residual: float = 1e-10, most_steps: int = 100_000):
        """(psi, how it went) with M psi = eta by conjugate gradient, as `Wilson.solve`. Collective. RunError too."""
        psi = Flavours(self.lattice)
        done = self.lattice.call(self._native.solve, psi.native, eta.native, residual, most_steps)
        need(done, "cg", self, residual)
        return psi, done

    def odd(self) -> Flavours:
        """A field of zeros on odd sites."""
        return Flavours(self.lattice, odd=True)

    def apply_odd(self, psi: Flavours, dagger: bool = False) -> Flavours:
        r"""$\hat M\psi$ or $\hat M^+\psi$ on odd sites, of $\hat M = A - \kappa^2 H_{oe} A^{-1} H_{eo}$. Collective."""
        out = self.odd()
        self.lattice.call(self._native.apply_odd, out.native, psi.native, dagger)
        return out

    def hermitian(self, psi: Flavours) -> Flavours:
        r"""$Q\psi = \gamma_5\tau_1\hat M\psi$ on odd sites, with $Q^2 = \hat M^+\hat M$. Collective."""
        found, out = self.apply_odd(psi), self.odd()
        out.up.add(found.down.gamma5())
        out.down.add(found.up.gamma5())
        return out

    def solve_shifted(self, phi: Flavours, shifts: Sequence[float], residual: float = 1e-10,
                      most_steps: int = 100_000) -> list[Flavours]:
        r"""x on odd sites with $(\hat M^+ \hat M + \sigma) x = \phi$ for each of the ``shifts``, as
        `Wilson.solve_shifted`. Collective. RunError too."""
        x = [self.odd() for _ in shifts]
        natives = [field.native for field in x]
        done = self.lattice.call(self._native.solve_shifted, natives, phi.native, list(shifts), residual, most_steps)
        need(done, "shifted cg", self, residual)
        return x

    def derivative(self, gauge: GaugeField, X: Flavours, Y: Flavours):
        r"""As `Wilson.derivative`, of $\mathrm{Re}\,Y^+ \hat M X$. Collective."""
        out = _core.lqcd.Links(gauge.lattice.layout)
        self.lattice.call(self._native.derivative, out, X.native, Y.native)
        return out

    def __str__(self) -> str:
        return f"a doublet of kappa = {self.kappa:g}, mu = {self.mu:g}, epsilon = {self.epsilon:g}"
