"""Wilson and twisted-mass fermions, with and without clover term."""

from __future__ import annotations

from collections.abc import Sequence

from plaq import _core
from plaq.lqcd.fields.fields import GaugeField, SpinorField
from plaq.lqcd.fields.linear_operator import LinearOperator


class Wilson(LinearOperator[SpinorField]):
    r"""Operator $M = A - \kappa H$ of Wilson and twisted-mass quarks on a gauge field, of which it keeps a copy.

    $A = 1 + 2 i \kappa\mu\gamma_5 + i\kappa c_{sw} \sum_{\mu<\nu} \sigma_{\mu\nu}F_{\mu\nu}$, $(H\psi)(x) = \sum_\mu
    (1-\gamma_\mu) U_\mu(x) \psi(x+\mu) + (1+\gamma_\mu) U_\mu(x-\mu)^+ \psi(x-\mu)$, $\psi(x + L_\mu) =
    e^{i\pi\theta_\mu}\psi(x)$.

    The phases are distributed over the links of its copy, exp(i pi theta_mu / L_mu) on each. Fields are periodic, and
    exp(-i pi theta_mu x_mu / L_mu) times those that jump at the boundary. Contractions take a `Propagator`.

    kappa : 1 / (2 m + 8). mu : twisted mass in lattice units. theta : (t, x, y, z); 1 is antiperiodic. csw : of the
    clover term (Sheikholeslami and Wohlert, Nucl. Phys. B 259, 572 (1985)), $\sigma_{\mu\nu} = i\gamma_\mu\gamma_\nu$
    and F the antihermitian part of a quarter of the four plaquettes of a plane that begin at a site. Collective.
    """

    def __init__(self, gauge: GaugeField, kappa: float, mu: float = 0.0, theta: Sequence[float] = (0, 0, 0, 0),
                 csw: float = 0.0):
        self.mu, self.theta, self.csw = mu, tuple(theta), csw
        native = gauge.lattice.call(_core.lqcd.Wilson, gauge.lattice.context, gauge.native, kappa, mu, list(theta),
                                    csw)
        super().__init__(gauge.lattice, kappa, native, _core.lqcd.WilsonSolver(native))

    def zeros(self, odd: bool = False) -> SpinorField:
        return SpinorField(self.lattice, odd=odd)

    def apply_odd(self, psi: SpinorField, dagger: bool = False, twist: float = 0.0) -> SpinorField:
        r"""Return $\hat M\psi$ or $\hat M^+\psi$ on odd sites, of $\hat M + i\,$``twist``$\,\gamma_5$. Collective."""
        out = psi.like()
        self.lattice.call(self.native.apply_odd, out.native, psi.native, dagger, twist)
        return out

    def hermitian(self, psi: SpinorField) -> SpinorField:
        r"""Return $Q\psi = \gamma_5\hat M\psi$ on odd sites. Collective.

        $Q^2 = \hat M^+\hat M$ if there is no twisted mass.
        """
        return self.apply_odd(psi).gamma5()

    @property
    def log_det_even(self) -> float:
        r"""$\sum \log|\det A|$ over even sites, zero without clover term."""
        return self.native.log_det_even

    def log_det_derivative(self, gauge: GaugeField):
        """Return the field of links of `derivative` for `log_det_even`. Collective."""
        out = _core.lqcd.Links(self.lattice.layout)
        self.lattice.call(self.native.log_det_derivative, out, gauge.native)
        return out

    def __str__(self) -> str:
        return f"kappa = {self.kappa:g}, mu = {self.mu:g}"
