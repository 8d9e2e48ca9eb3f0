r"""One flavour by a rational function (RHMC: Clark and Kennedy, hep-lat/0608015): $\det \hat M$ as
$\int d\phi\, e^{-\phi^+ R(\hat M^+ \hat M) \phi}$ with $R(y) \approx y^{-1/2}$ of Zolotarev."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import ellipj, ellipkm1

from plaq.errors import RunError
from plaq.lqcd.fields import GaugeField, Momenta, SpinorField
from plaq.lqcd.terms import Term
from plaq.lqcd.wilson import Wilson


@dataclass(frozen=True)
class InverseRoot:
    r"""$R(y) = A \prod_k (y + a_k) / (y + b_k)$, which is $y^{-1/2} (1 \pm \delta)$ for ``low`` <= y <= ``high``."""

    low: float
    high: float
    factor: float
    above: np.ndarray
    below: np.ndarray
    delta: float

    @classmethod
    def zolotarev(cls, poles: int, low: float, high: float) -> InverseRoot:
        """The best one with so many poles (Achieser, Theory of Approximation, 1956, appendix E)."""
        epsilon = low / high
        step = ellipkm1(epsilon) / (2 * poles + 1)
        sn, cn, *_ = ellipj(step * np.arange(1, 2 * poles + 1), 1 - epsilon)
        above, below = np.split(((cn / sn) ** 2).reshape(poles, 2), 2, axis=1)
        y = np.exp(np.linspace(math.log(epsilon), 0, 20000))
        ratio = np.sqrt(y) * np.prod((y + above) / (y + below), axis=0)
        smallest, largest = ratio.min(), ratio.max()
        factor = 2 / (smallest + largest)
        return cls(low, high, factor / math.sqrt(high), above[:, 0] * high, below[:, 0] * high,
                   float(factor * largest - 1))

    def __call__(self, y):
        return self.factor * np.prod((y + self.above[:, None]) / (y + self.below[:, None]), axis=0)

    def residues(self) -> np.ndarray:
        """r with R(y) = A (1 + sum_k r_k / (y + b_k))."""
        return _residues(-self.above, -self.below)


def _residues(zeros: np.ndarray, poles: np.ndarray) -> np.ndarray:
    """r with prod (x - zeros) / (x - poles) = 1 + sum_k r_k / (x - poles_k)."""
    return np.array([(pole - zeros).prod() / np.delete(pole - poles, k).prod() for k, pole in enumerate(poles)])


def spectral_range(matrix: Wilson, steps: int = 40) -> tuple[float, float]:
    """Estimates of the smallest and the largest eigenvalue of M^+ M on odd sites, by powers of it and of its
    inverse; the first is too large by some parts in a hundred at most, the second too small. Collective."""
    found = []
    for inverse in (True, False):
        x = SpinorField(matrix.lattice, odd=True)
        x.native.pseudofermion(1, 0, 0)
        for _ in range(steps // 4 if inverse else steps):
            y = matrix.solve_normal(x, residual=1e-6) if inverse else matrix.apply_odd(matrix.apply_odd(x), True)
            size = math.sqrt(y.norm2() / x.norm2())
            y.array[:] /= math.sqrt(y.norm2())
            x = y
        found.append(1 / size if inverse else size)
    return found[0], found[1]


class RationalTerm(Term):
    r"""$\phi^+ R(\hat M^+ \hat M)\phi$ for one flavour of Wilson quarks, without a twisted mass: $|\det \hat M|$.

    root : R, whose range holds the eigenvalues of $\hat M^+\hat M$. number : of the pseudofermion among those of a
    trajectory. RunError at the beginning of a trajectory where R is not an inverse root of the matrix there.
    """

    def __init__(self, kappa: float, root: InverseRoot, theta: Sequence[float] = (0, 0, 0, 0), csw: float = 0.0, *,
                 number: int = 0, residual: float = 1e-11, force_residual: float = 1e-8):
        self.kappa, self.root, self.number = kappa, root, number
        self.matrix = partial(Wilson, kappa=kappa, theta=tuple(theta), csw=csw)
        self.residual, self.force_residual = residual, force_residual
        self.phi: SpinorField | None = None

    def begin(self, gauge: GaugeField, seed: int, trajectory: int) -> float:
        """phi = prod (Q + i sqrt(b)) / (Q + i sqrt(a)) eta / sqrt(A) with the hermitian Q = gamma5 M, since the
        product of this and its adjoint is 1 / R(Q^2)."""
        M, eta = self.matrix(gauge), SpinorField(gauge.lattice, odd=True)
        eta.native.pseudofermion(seed, trajectory, self.number)
        zeros, poles = np.sqrt(self.root.below), np.sqrt(self.root.above)
        # 1 + i sum_k w_k / (Q + i p_k), and 1 / (Q + i p) = (Q - i p) / (Q^2 + p^2)
        weights = _residues(-zeros, -poles)
        x = M.solve_shifted(eta, self.root.above, self.residual)
        direct, turned = eta.like(), eta.like()
        for w, p, one in zip(weights, poles, x):
            direct.array[:] += w * p * one.array
            turned.array[:] += w * one.array
        Q = M.apply_odd(turned)
        Q.array[:, 2:] *= -1
        self.phi = eta.like()
        self.phi.array[:] = eta.array + direct.array
        self.phi.array[..., 0, :] -= Q.array[..., 1, :]
        self.phi.array[..., 1, :] += Q.array[..., 0, :]
        self.phi.array[:] /= math.sqrt(self.root.factor)
        self._check(M)
        return eta.norm2()

    def value(self, gauge: GaugeField) -> float:
        return self.phi.dot(self._apply(self.matrix(gauge), self.phi)).real

    def kick(self, momenta: Momenta, gauge: GaugeField, time: float) -> None:
        M = self.matrix(gauge)
        for r, X in zip(self.root.residues(), M.solve_shifted(self.phi, self.root.below, self.force_residual)):
            momenta.kick(M.derivative(gauge, X, M.apply_odd(X)), time * self.kappa * self.root.factor * r)

    def _apply(self, M: Wilson, psi: SpinorField) -> SpinorField:
        """R(M^+ M) psi."""
        out = psi.copy()
        for r, x in zip(self.root.residues(), M.solve_shifted(psi, self.root.below, self.residual)):
            out.array[:] += r * x.array
        out.array[:] *= self.root.factor
        return out

    def _check(self, M: Wilson) -> None:
        back = M.apply_odd(M.apply_odd(self._apply(M, self._apply(M, self.phi))), True)
        np.subtract(back.array, self.phi.array, out=back.array)
        off, root = math.sqrt(back.norm2() / self.phi.norm2()), self.root
        if off > 4 * root.delta + 100 * self.residual:
            low, high = spectral_range(M)
            error = RunError(f"the rational function for eigenvalues of M^+ M from {root.low:g} to {root.high:g} "
                             f"is off by {off:.2g}, not {2 * root.delta:.2g}: they are about from {low:.3g} "
                             f"to {high:.3g}")
            error.ranks = M.lattice.comm.size
            raise error
