r"""Single flavours by a rational function (RHMC: Clark and Kennedy, hep-lat/0608015).

$|\det \hat M|$ is represented as
$\int d\phi\, e^{-\phi^+ R(\hat M^+ \hat M) \phi}$ with $R(y) \approx y^{-1/2}$ of Zolotarev. Factors of R may be
terms of their own on different time scales, and a correction makes the determinant exact."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from plaq.errors import RunError
from plaq.lqcd.action.terms import Term
from plaq.lqcd.fields.gauge_field import GaugeField
from plaq.lqcd.fields.inverse_root import InverseRoot, partial_fractions
from plaq.lqcd.fields.linear_operator import LinearOperator
from plaq.lqcd.fields.momenta import Momenta
from plaq.lqcd.fields.solvers import solve_shifted
from plaq.lqcd.fields.spinor_field import Flavours, SpinorField


def spectral_range(matrix: LinearOperator, steps: int = 40) -> tuple[float, float]:
    """Estimate the smallest and the largest eigenvalue of M^+ M on odd sites by power iteration, inverse and direct.

    The first is too large by a few percent at most, the second too small. Collective.
    """
    bounds = []
    for inverse in (True, False):
        x = matrix.zeros(odd=True).pseudofermion(1, 0, 0)
        for _ in range(steps // 4 if inverse else steps):
            y = (solve_shifted(matrix, x, [0.0], residual=1e-6)[0] if inverse
                 else matrix.normal(x))
            size = math.sqrt(y.norm2() / x.norm2())
            x = y.scale(1 / math.sqrt(y.norm2()))
        bounds.append(1 / size if inverse else size)
    return bounds[0], bounds[1]


class RationalTerm(Term):
    r"""Term $\phi^+ R(\hat M^+ \hat M)\phi$, which represents $|\det \hat M|$, or the factor of it that R stands for.

    It is for one flavour of a `Wilson` without twisted mass, or for both of a `Doublet`.

    matrix : operator of a gauge field. root : R, whose range holds the eigenvalues of $\hat M^+\hat M$. number : index
    of the pseudofermion in a trajectory; a doublet takes the next one, too. whole : the inverse root that R is a factor
    of (by default R itself), RunError at the beginning of a trajectory if it is none of the operator; None: no check.
    """

    def __init__(self, matrix: Callable[[GaugeField], LinearOperator], root: InverseRoot, *, number: int = 0,
                 residual: float = 1e-11, force_residual: float = 1e-8, whole: InverseRoot | str | None = "root"):
        self.matrix, self.root, self.number = matrix, root, number
        self.residual, self.force_residual = residual, force_residual
        self.whole = root if whole == "root" else whole
        self.phi: SpinorField | Flavours | None = None

    def begin(self, gauge: GaugeField, seed: int, trajectory: int) -> float:
        """Draw phi = prod (Q + i sqrt(b)) / (Q + i sqrt(a)) eta / sqrt(A) with the hermitian Q.

        The factor times its adjoint is 1 / R(Q^2).
        """
        M = gauge.operator(self.matrix)
        eta = M.zeros(odd=True).pseudofermion(seed, trajectory, self.number)
        zeros, poles = np.sqrt(self.root.below), np.sqrt(self.root.above)
        # 1 + i sum_k w_k / (Q + i p_k), and 1 / (Q + i p) = (Q - i p) / (Q^2 + p^2)
        weights = partial_fractions(-zeros, -poles)
        self.phi, rotated = eta.copy(), eta.like()
        for w, p, solution in zip(weights, poles, solve_shifted(M, eta, self.root.above, self.residual)):
            self.phi.add(solution, w * p)
            rotated.add(solution, w)
        self.phi.add(M.hermitian(rotated), 1j).scale(1 / math.sqrt(self.root.factor))
        if self.whole is not None:
            self._check(M, self.whole)
        return eta.norm2()

    def value(self, gauge: GaugeField) -> float:
        return self.phi.dot(apply_root(self.root, gauge.operator(self.matrix), self.phi, self.residual)).real

    def kick(self, momenta: Momenta, gauge: GaugeField, time: float) -> None:
        M = gauge.operator(self.matrix)
        for r, X in zip(self.root.residues(), solve_shifted(M, self.phi, self.root.below, self.force_residual)):
            momenta.kick(M.derivative(gauge, X, M.apply_odd(X)), time * M.kappa * self.root.factor * r)

    def _check(self, M: LinearOperator, root: InverseRoot) -> None:
        off = math.sqrt(deviation(root, M, self.phi, self.residual).norm2() / self.phi.norm2())
        if off > 4 * root.delta + 100 * self.residual:
            raise out_of_range(root, M, off)


class CorrectionTerm(Term):
    r"""Term $\phi^+ (1 + Z)^{-1/2} \phi$ with $Z = \hat M^+\hat M R^2 - 1$, which represents $|\det\hat M| \det R$.

    With the terms of R the determinant is exact, whatever the range of R. Z is small, so the power is its binomial
    series, of few terms but where an eigenvalue has left the range. The term has no force: it takes part in the
    decision to accept alone. RunError where the series does not converge, far outside of the range.
    """

    def __init__(self, matrix: Callable[[GaugeField], LinearOperator], root: InverseRoot, *, number: int = 0,
                 residual: float = 1e-11):
        self.matrix, self.root, self.number, self.residual = matrix, root, number, residual
        self.phi: SpinorField | Flavours | None = None

    def begin(self, gauge: GaugeField, seed: int, trajectory: int) -> float:
        M = gauge.operator(self.matrix)
        eta = M.zeros(odd=True).pseudofermion(seed, trajectory, self.number)
        self.phi = self._power(M, eta, 0.25)
        return eta.norm2()

    def value(self, gauge: GaugeField) -> float:
        return self.phi.dot(self._power(gauge.operator(self.matrix), self.phi, -0.5)).real

    def kick(self, momenta: Momenta, gauge: GaugeField, time: float) -> None:
        """Leave the momenta as they are."""

    def _power(self, M: LinearOperator, psi, exponent: float):
        """Return (1 + Z)^exponent psi."""
        return binomial_series(lambda term: deviation(self.root, M, term, self.residual), psi, exponent,
                               self.residual, lambda share: out_of_range(self.root, M, share))


def binomial_series(apply: Callable, psi, exponent: float, residual: float, error: Callable[[float], RunError],
                    most: int = 200):
    """Return (1 + Z)^exponent psi from ``apply`` = Z; error(|Z^n psi| / |psi|) is raised if it does not converge."""
    out, term, size, factor = psi.copy(), psi, psi.norm2(), 1.0
    for n in range(1, most + 1):
        term = apply(term)
        factor *= (exponent - n + 1) / n
        out.add(term, factor)
        share = math.sqrt(term.norm2() / size)
        if abs(factor) * share < 10 * residual:
            return out
        if not share < 1e3:
            break
    raise error(share)


def apply_root(root: InverseRoot, M: LinearOperator, psi, residual: float):
    """Return R(M^+ M) psi. Collective, as all below."""
    out = psi.copy()
    for r, x in zip(root.residues(), solve_shifted(M, psi, root.below, residual)):
        out.add(x, r)
    return out.scale(root.factor)


def deviation(root: InverseRoot, M: LinearOperator, psi, residual: float):
    """Return (M^+ M R^2 - 1) psi."""
    twice = apply_root(root, M, apply_root(root, M, psi, residual), residual)
    return M.normal(twice).add(psi, -1.0)


def out_of_range(root: InverseRoot, M: LinearOperator, off: float) -> RunError:
    """Return the error of an operator whose eigenvalues are not in the range of R."""
    low, high = spectral_range(M)
    error = RunError(f"the rational function for eigenvalues of M^+ M from {root.low:g} to {root.high:g} "
                     f"is off by {off:.2g}, not {2 * root.delta:.2g}: for {M} they are about from {low:.3g} "
                     f"to {high:.3g}; a run can continue with a wider range, or with correction = true")
    error.ranks = M.lattice.comm.size
    return error
