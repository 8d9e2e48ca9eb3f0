r"""Single flavours by a rational function (RHMC: Clark and Kennedy, hep-lat/0608015): $|\det \hat M|$ as
$\int d\phi\, e^{-\phi^+ R(\hat M^+ \hat M) \phi}$ with $R(y) \approx y^{-1/2}$ of Zolotarev."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ellipj, ellipkm1

from plaq.errors import RunError
from plaq.lqcd.doublet import Doublet
from plaq.lqcd.fields import Flavours, GaugeField, Momenta, SpinorField
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


def spectral_range(matrix: Wilson | Doublet, steps: int = 40) -> tuple[float, float]:
    """Estimates of the smallest and the largest eigenvalue of M^+ M on odd sites, by powers of it and of its
    inverse; the first is too large by some parts in a hundred at most, the second too small. Collective."""
    found = []
    for inverse in (True, False):
        x = matrix.odd().pseudofermion(1, 0, 0)
        for _ in range(steps // 4 if inverse else steps):
            y = (matrix.solve_shifted(x, [0.0], residual=1e-6)[0] if inverse
                 else matrix.apply_odd(matrix.apply_odd(x), True))
            size = math.sqrt(y.norm2() / x.norm2())
            x = y.scale(1 / math.sqrt(y.norm2()))
        found.append(1 / size if inverse else size)
    return found[0], found[1]


class RationalTerm(Term):
    r"""$\phi^+ R(\hat M^+ \hat M)\phi$, which stands for $|\det \hat M|$: one flavour of a `Wilson` without a twisted
    mass, or both of a `Doublet`.

    matrix : of a gauge field. root : R, whose range holds the eigenvalues of $\hat M^+\hat M$. number : of the
    pseudofermion among those of a trajectory; a doublet takes the next one, too. RunError at the beginning of a
    trajectory where R is not an inverse root of the matrix there.
    """

    def __init__(self, matrix: Callable[[GaugeField], Wilson | Doublet], root: InverseRoot, *, number: int = 0,
                 residual: float = 1e-11, force_residual: float = 1e-8):
        self.matrix, self.root, self.number = matrix, root, number
        self.residual, self.force_residual = residual, force_residual
        self.phi: SpinorField | Flavours | None = None

    def begin(self, gauge: GaugeField, seed: int, trajectory: int) -> float:
        """phi = prod (Q + i sqrt(b)) / (Q + i sqrt(a)) eta / sqrt(A) with the hermitian Q, gamma5 M or gamma5 tau1 M,
        since the product of this and its adjoint is 1 / R(Q^2)."""
        M = self.matrix(gauge)
        eta = M.odd().pseudofermion(seed, trajectory, self.number)
        zeros, poles = np.sqrt(self.root.below), np.sqrt(self.root.above)
        # 1 + i sum_k w_k / (Q + i p_k), and 1 / (Q + i p) = (Q - i p) / (Q^2 + p^2)
        weights = _residues(-zeros, -poles)
        self.phi, turned = eta.copy(), eta.like()
        for w, p, one in zip(weights, poles, M.solve_shifted(eta, self.root.above, self.residual)):
            self.phi.add(one, w * p)
            turned.add(one, w)
        self.phi.add(M.hermitian(turned), 1j).scale(1 / math.sqrt(self.root.factor))
        self._check(M)
        return eta.norm2()

    def value(self, gauge: GaugeField) -> float:
        return self.phi.dot(self._apply(self.matrix(gauge), self.phi)).real

    def kick(self, momenta: Momenta, gauge: GaugeField, time: float) -> None:
        M = self.matrix(gauge)
        for r, X in zip(self.root.residues(), M.solve_shifted(self.phi, self.root.below, self.force_residual)):
            momenta.kick(M.derivative(gauge, X, M.apply_odd(X)), time * M.kappa * self.root.factor * r)

    def _apply(self, M: Wilson | Doublet, psi):
        """R(M^+ M) psi."""
        out = psi.copy()
        for r, x in zip(self.root.residues(), M.solve_shifted(psi, self.root.below, self.residual)):
            out.add(x, r)
        return out.scale(self.root.factor)

    def _check(self, M: Wilson | Doublet) -> None:
        back = M.apply_odd(M.apply_odd(self._apply(M, self._apply(M, self.phi))), True).add(self.phi, -1.0)
        off, root = math.sqrt(back.norm2() / self.phi.norm2()), self.root
        if off > 4 * root.delta + 100 * self.residual:
            low, high = spectral_range(M)
            error = RunError(f"the rational function for eigenvalues of M^+ M from {root.low:g} to {root.high:g} "
                             f"is off by {off:.2g}, not {2 * root.delta:.2g}: for {M} they are about from {low:.3g} "
                             f"to {high:.3g}; a run goes on with a wider range")
            error.ranks = M.lattice.comm.size
            raise error
