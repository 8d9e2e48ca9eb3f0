"""Wilson and twisted-mass fermions, with and without clover term."""

from __future__ import annotations

from collections.abc import Sequence

from plaq import _core
from plaq.lqcd.fields.gauge_field import GaugeField
from plaq.lqcd.fields.linear_operator import LinearOperator
from plaq.lqcd.fields.spinor_field import SpinorField


class Wilson(LinearOperator[SpinorField]):
    r"""Operator $M = A - \kappa H$ of Wilson and twisted-mass quarks on a gauge field, of which it keeps a copy.

    $A = 1 + 2 i \kappa\mu\gamma_5 + i\kappa c_{sw} \sum_{\mu<\nu} \sigma_{\mu\nu}F_{\mu\nu}$, $(H\psi)(x) = \sum_\mu
    (1-\gamma_\mu) U_\mu(x) \psi(x+\mu) + (1+\gamma_\mu) U_\mu(x-\mu)^+ \psi(x-\mu)$, $\psi(x + L_\mu) =
    e^{i\pi\theta_\mu}\psi(x)$.

    The phases are distributed over the links of its copy, exp(i pi theta_mu / L_mu) on each. Fields are periodic, and
    exp(-i pi theta_mu x_mu / L_mu) times those that jump at the boundary. Contractions take a `Propagator`.

    kappa : 1 / (2 m + 8). mu : twisted mass in lattice units. theta : (t, x, y, z); 1 is antiperiodic. csw : of the
    clover term (Sheikholeslami and Wohlert, Nucl. Phys. B 259, 572 (1985)), $\sigma_{\mu\nu} = i\gamma_\mu\gamma_\nu$
    and F the antihermitian part of a quarter of the four plaquettes of a plane that begin at a site. exponential: 1
    plus this term is replaced by its exponential (Francis et al., arXiv:1911.04533). open_ends: in time, so that quarks
    live on the slices 0 < t < T - 1, and have $2\kappa(c_F - 1)$ more in A at the first and the last of them (Luescher
    and Schaefer, arXiv:1206.2809); A = 1 on slices without. spare : so many slices behind T - 1 are not part of the
    lattice. Collective.
    """

    def __init__(self, gauge: GaugeField, kappa: float, mu: float = 0.0, theta: Sequence[float] = (0, 0, 0, 0),
                 csw: float = 0.0, *, exponential: bool = False, open_ends: bool = False, cF: float = 1.0,
                 spare: int = 0):
        self.mu, self.theta, self.csw, self.exponential = mu, tuple(theta), csw, exponential
        self.open_ends, self.cF, self.spare = open_ends, cF, spare
        native = gauge.lattice.call(_core.lqcd.Wilson, gauge.lattice.context, gauge.native, kappa, mu, list(theta),
                                    csw, exponential, open_ends, cF, spare)
        super().__init__(gauge.lattice, kappa, native, _core.lqcd.WilsonSolver(native))

    def zeros(self, odd: bool = False) -> SpinorField:
        return SpinorField(self.lattice, odd=odd)

    def apply_odd(self, psi: SpinorField, dagger: bool = False, twist: float = 0.0) -> SpinorField:
        r"""Return $\hat M\psi$ or $\hat M^+\psi$ on odd sites, of $\hat M + i\,$``twist``$\,\gamma_5$. Collective."""
        out = psi.like()
        self.lattice.call(self.native.apply_odd, out.native, psi.native, dagger, twist)
        return out

    def normal(self, psi: SpinorField, twist: float = 0.0) -> SpinorField:
        r"""Return $\hat M^+ \hat M\psi$ on odd sites, of $\hat M + i\,$``twist``$\,\gamma_5$. Collective."""
        return self.apply_odd(self.apply_odd(psi, False, twist), True, twist)

    def hermitian(self, psi: SpinorField) -> SpinorField:
        r"""Return $Q\psi = \gamma_5\hat M\psi$ on odd sites. Collective.

        $Q^2 = \hat M^+\hat M$ if there is no twisted mass.
        """
        return self.apply_odd(psi).gamma5()

    def __str__(self) -> str:
        return f"kappa = {self.kappa:g}, mu = {self.mu:g}"
