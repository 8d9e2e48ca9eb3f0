"""Wilson and twisted-mass fermions, with and without clover term."""

from __future__ import annotations

from collections.abc import Sequence

from plaq import _core
from plaq.errors import InputError, RunError
from plaq.lqcd.choices import METHODS, PRECISIONS
from plaq.lqcd.fields import GaugeField, SpinorField


class Wilson:
    r"""$M = A - \kappa H$ with $A = 1 + 2 i \kappa\mu\gamma_5 + i\kappa c_{sw} \sum_{\mu<\nu}
    \sigma_{\mu\nu}F_{\mu\nu}$ on a gauge field, of which it keeps a copy:

    $(H\psi)(x) = \sum_\mu (1-\gamma_\mu) U_\mu(x) \psi(x+\mu) + (1+\gamma_\mu) U_\mu(x-\mu)^+ \psi(x-\mu)$,
    $\psi(x + L_\mu) = e^{i\pi\theta_\mu}\psi(x)$.

    The phases are spread over the links of its copy, exp(i pi theta_mu / L_mu) on each: fields are periodic, and
    exp(-i pi theta_mu x_mu / L_mu) times those that jump at the boundary. A `Propagator` is made of them for
    contractions.

    kappa : 1 / (2 m + 8). mu : twisted mass in lattice units. theta : (t, x, y, z); 1 is antiperiodic. csw : of
    the clover term (Sheikholeslami and Wohlert, Nucl. Phys. B 259, 572 (1985)),
    $\sigma_{\mu\nu} = i\gamma_\mu\gamma_\nu$ and F the antihermitian part of a quarter of the four plaquettes of a
    plane that begin at a site. Collective.
    """

    def __init__(self, gauge: GaugeField, kappa: float, mu: float = 0.0, theta: Sequence[float] = (0, 0, 0, 0),
                 csw: float = 0.0):
        self.lattice = gauge.lattice
        self.kappa, self.mu, self.theta, self.csw = kappa, mu, tuple(theta), csw
        self._native = self.lattice.call(_core.lqcd.Wilson, self.lattice.engine, gauge.native, kappa, mu,
                                         list(theta), csw)

    def __call__(self, psi: SpinorField, dagger: bool = False) -> SpinorField:
        """M psi, or M^+ psi. Collective."""
        out = SpinorField(self.lattice)
        self.lattice.call(self._native.apply, out.native, psi.native, dagger)
        return out

    def solve(self, eta: SpinorField, residual: float = 1e-10, method: str = "cg",
              precision: str = "single", most_steps: int = 100_000):
        """(psi, how it went) with M psi = eta to |eta - M psi| <= residual |eta|, computed from psi at the end.

        method : "cg", "bicgstab" or "multigrid", on even-odd preconditioned fields. precision : of most steps,
        "double", "single" or "half", which is single with links in 16 bits; where it brings the residual no further,
        steps go on in the one above. InputError for multigrid if not single.
        The first solve with multigrid sets it up (multigrid.hpp), for all that follow; InputError where aggregates of
        sites do not fit into the boxes of ranks.
        How it went has ``steps``, ``updates``, ``residual`` and is a sentence as a text. Collective. RunError,
        with that sentence, where the method stalls (as for kappa beyond its critical value) or runs out of steps.
        """
        if method not in METHODS:
            raise InputError(f"the method {method!r} is none of {', '.join(METHODS)}")
        steps = steps_in(precision)
        psi = SpinorField(self.lattice)
        done = self.lattice.call(self._native.solve, psi.native, eta.native, method, steps, residual, most_steps)
        need(done, method, self, residual)
        return psi, done

    def odd(self) -> SpinorField:
        """A field of zeros on odd sites."""
        return SpinorField(self.lattice, odd=True)

    def apply_odd(self, psi: SpinorField, dagger: bool = False, twist: float = 0.0) -> SpinorField:
        r"""$\hat M\psi$ or $\hat M^+\psi$ on odd sites, of
        $\hat M = A - \kappa^2 H_{oe} A^{-1} H_{eo} + i\,$``twist``$\,\gamma_5$. Collective."""
        out = psi.like()
        self.lattice.call(self._native.apply_odd, out.native, psi.native, dagger, twist)
        return out

    def hermitian(self, psi: SpinorField) -> SpinorField:
        r"""$Q\psi = \gamma_5\hat M\psi$ on odd sites, with $Q^2 = \hat M^+\hat M$ where there is no twisted mass.
        Collective."""
        return self.apply_odd(psi).gamma5()

    def solve_normal(self, phi: SpinorField, twist: float = 0.0, residual: float = 1e-10,
                     precision: str = "single", most_steps: int = 100_000) -> SpinorField:
        r"""x on odd sites with $\hat M^+ \hat M x = \phi$ to $|\phi - \hat M^+ \hat M x| \le$ ``residual``
        $|\phi|$, by conjugate gradient from zero on. Collective. RunError as `solve`."""
        x = phi.like()
        done = self.lattice.call(self._native.solve_normal, x.native, phi.native, twist, steps_in(precision), residual,
                                 most_steps)
        need(done, "cg", self, residual)
        return x

    def solve_shifted(self, phi: SpinorField, shifts: Sequence[float], residual: float = 1e-10,
                      most_steps: int = 100_000) -> list[SpinorField]:
        r"""x on odd sites with $(\hat M^+ \hat M + \sigma) x = \phi$ for each of the ``shifts`` $\sigma \ge 0$, in
        about the steps that the smallest alone takes (Jegerlehner, hep-lat/9612014). Collective.
        RunError as `solve`."""
        x = [phi.like() for _ in shifts]
        natives = [field.native for field in x]
        done = self.lattice.call(self._native.solve_shifted, natives, phi.native, list(shifts), residual, most_steps)
        need(done, "shifted cg", self, residual)
        return x

    def derivative(self, gauge: GaugeField, X: SpinorField, Y: SpinorField):
        r"""A native field m of links: with $U \to e^{\epsilon_a T_a} U$ of ``gauge``, which the matrix was made
        of, $\mathrm{Re}\,Y^+ \hat M X$ changes by $-\kappa\,\mathrm{Re\,tr}(\epsilon_a T_a m)$. Collective."""
        out = _core.lqcd.Links(self.lattice.layout)
        self.lattice.call(self._native.derivative, out, gauge.native, X.native, Y.native)
        return out

    @property
    def log_det_even(self) -> float:
        r"""$\sum \log|\det A|$ over even sites, zero without clover term."""
        return self._native.log_det_even

    def log_det_derivative(self, gauge: GaugeField):
        """As `derivative`, of `log_det_even`. Collective."""
        out = _core.lqcd.Links(self.lattice.layout)
        self.lattice.call(self._native.log_det_derivative, out, gauge.native)
        return out

    def __str__(self) -> str:
        return f"kappa = {self.kappa:g}, mu = {self.mu:g}"


def steps_in(precision: str):
    """The native name of a precision. InputError for what is none."""
    if precision not in PRECISIONS:
        raise InputError(f"the precision {precision!r} is none of {', '.join(PRECISIONS)}")
    return _core.lqcd.Precision[precision]


def need(done, method: str, matrix, residual: float) -> None:
    """RunError on all ranks for a solver that did not find what it was to."""
    if done.converged:
        return
    error = RunError(f"{method} for {matrix} {done}, not {residual:g}")
    error.ranks = matrix.lattice.comm.size
    raise error
