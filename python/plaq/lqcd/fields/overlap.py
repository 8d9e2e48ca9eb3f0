r"""Overlap operator (Neuberger, hep-lat/9707022), whose sign function is a rational approximation.

$D = \rho\,[1 + \gamma_5\,\mathrm{sign}(H)]$ with $H = \gamma_5(D_W - \rho)$ has the Ginsparg-Wilson relation
$\gamma_5 D + D\gamma_5 = D\gamma_5 D/\rho$. Its part of small eigenvalues of H is exact; on the other part the sign
function is $H R(H^2)$ with Zolotarev's R (van den Eshof et al., hep-lat/0202025).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plaq.errors import InputError, RunError
from plaq.lqcd.fields.eigenvectors import Eigenvectors, diagonalise, largest_of, orthogonalise, smallest_of
from plaq.lqcd.fields.gauge_field import GaugeField
from plaq.lqcd.fields.inverse_root import InverseRoot
from plaq.lqcd.fields.propagators import Propagator
from plaq.lqcd.fields.solvers import solve_shifted
from plaq.lqcd.fields.sources import Source
from plaq.lqcd.fields.spinor_field import SpinorField
from plaq.lqcd.fields.wilson import Wilson

MOST_POLES = 40
ROUGHEST = 1e-2  # error of the sign function where little is asked of it
INSIDE = 1e-3  # part of an image that is outside of a space if it has no eigenvectors of opposite eigenvalues
PASSES = 4  # of conjugate gradient


@dataclass(frozen=True)
class Root:
    """Approximation of the sign function as ``root``, with the residual of its solves for an error."""

    root: InverseRoot
    residual: float


class Overlap:
    r"""Massive overlap operator $D(m) = \rho + m/2 + (\rho - m/2)\,\gamma_5\,\mathrm{sign}(H)$ on a gauge field.

    $H = \gamma_5(D_W - \rho)$ with Wilson's operator $D_W$, that of `Wilson` over $2\kappa$ at zero mass. D is in units
    of 1/a: its solutions are not multiplied by $2\kappa$. Phases of ``theta`` are those of `Wilson`.

    rho : from 0 to 2. low_modes : eigenvectors of H that are treated exactly, which makes the rest faster. error : of
    the sign function, $|\delta\psi|/|\psi|$. Collective. RunError if the eigenvectors are not found, or no rational
    function of 40 poles has this error.
    """

    def __init__(self, gauge: GaugeField, rho: float = 1.4, theta: Sequence[float] = (0, 0, 0, 0), *,
                 low_modes: int = 16, error: float = 1e-10):
        if not 0 < rho < 2:
            raise InputError(f"an overlap operator has 0 < rho < 2, not {rho:g}")
        self.lattice, self.rho, self.theta, self.error = gauge.lattice, rho, tuple(theta), error
        self.kernel = Wilson(gauge, 1 / (8 - 2 * rho), 0.0, theta)
        start = [SpinorField(self.lattice).gaussian(1, number) for number in (0, 1)]
        largest = 1.05 * largest_of(self._squared, start[0])
        found = smallest_of(self._squared, start[1], low_modes, largest, residual=max(error / 100, 1e-14), restarts=400)
        self.low: Eigenvectors[SpinorField] = diagonalise(self._invariant(found.vectors), self._hermitian)
        self.range = 0.95 * float(found.values[0]), largest
        self._roots: dict[int, Root] = {}

    def _hermitian(self, psi: SpinorField) -> SpinorField:
        r"""Return $2\kappa H\psi$."""
        return self.kernel(psi).gamma5()

    def _invariant(self, vectors: list[SpinorField]) -> list[SpinorField]:
        r"""Return a basis of the vectors and their images under H, eigenvectors of $H^2$.

        One of them may be a sum of eigenvectors of H with opposite eigenvalues, as in free fields.
        """
        basis = list(vectors)
        for v in vectors:
            image = self._hermitian(v)
            size = image.norm2()
            orthogonalise(image, basis)
            left = image.norm2()
            if left > INSIDE**2 * size:
                basis.append(image.scale(1 / math.sqrt(left)))
        return basis

    def _squared(self, psi: SpinorField) -> SpinorField:
        return self.kernel(self.kernel(psi), True)

    @property
    def kernel_eigenvalues(self) -> np.ndarray:
        """Eigenvalues of H that are treated exactly, by size."""
        values = self.low.values / (2 * self.kernel.kappa)
        return values[np.argsort(np.abs(values))]

    def sign(self, psi: SpinorField, error: float | None = None) -> SpinorField:
        r"""Return $\mathrm{sign}(H)\psi$ to ``error`` $|\psi|$, by default the one of the operator. Collective."""
        rest, exact = psi.copy(), psi.like()
        for value, v in zip(self.low.values, self.low.vectors):
            part = v.dot(psi)
            rest.add(v, -part)
            exact.add(v, math.copysign(1.0, value) * part)
        of = self._root(self.error if error is None else error)
        out = rest.copy()
        for r, x in zip(of.root.residues(), solve_shifted(self.kernel, rest, of.root.below, of.residual)):
            out.add(x, r)
        return self._hermitian(out).scale(of.root.factor).add(exact)

    def _root(self, error: float) -> Root:
        """Return the rational function of an error or a smaller one, of which there is one for each power of ten."""
        power = math.floor(math.log10(min(max(error, self.error), ROUGHEST)) + 1e-9)
        if power not in self._roots:
            goal = max(10.0**power, self.error) / 2
            roots = (InverseRoot.zolotarev(poles, *self.range) for poles in range(2, MOST_POLES + 1))
            root = next((one for one in roots if one.delta <= goal), None)
            if root is None:
                low, high = (math.sqrt(x) / (2 * self.kernel.kappa) for x in self.range)
                raise RunError(f"the sign function of H on numbers from {low:.3g} to {high:.3g} has no rational "
                               f"function of {MOST_POLES} poles with an error of {goal:.2g}: allow a larger one")
            # |H / (H^2 + b)| <= 1 / (2 sqrt b)
            amplified = root.factor * float(np.sum(np.abs(root.residues()) / (2 * np.sqrt(root.below))))
            self._roots[power] = Root(root, goal / amplified)
        return self._roots[power]

    def __call__(self, psi: SpinorField, mass: float = 0.0, dagger: bool = False) -> SpinorField:
        r"""Return $D(m)\psi$ or $D(m)^+\psi$. Collective."""
        part = self.sign(psi.copy().gamma5()) if dagger else self.sign(psi).gamma5()
        return part.scale(self.rho - mass / 2).add(psi, self.rho + mass / 2)

    def normal(self, psi: SpinorField, chirality: int, error: float | None = None) -> SpinorField:
        r"""Return $D^+D\psi$ of the massless D for a $\psi$ with $\gamma_5\psi = \pm\psi$. Collective.

        It has the same chirality and takes one sign function: $2\rho^2(1 \pm P_\pm\mathrm{sign}(H))\psi$.
        """
        out = project(self.sign(psi, error), chirality).scale(chirality)
        return out.add(psi).scale(2 * self.rho**2)

    def violation(self, psi: SpinorField) -> float:
        r"""Return $|(1 - \mathrm{sign}^2(H))\psi| / |\psi|$, the violation of the Ginsparg-Wilson relation. Collective.

        It is $|(\gamma_5D + D\gamma_5 - D\gamma_5D/\rho)\psi|$ over $\rho|\psi|$.
        """
        return math.sqrt(self.sign(self.sign(psi)).add(psi, -1.0).norm2() / psi.norm2())

    def __str__(self) -> str:
        return f"an overlap operator of rho = {self.rho:g}"

    def __repr__(self) -> str:
        return f"<plaq lqcd Overlap, rho = {self.rho:g}, on {self.lattice.in_words()}>"


def project(psi: SpinorField, chirality: int) -> SpinorField:
    r"""Set the part of psi with the other chirality to zero, and return psi. chirality : $\gamma_5 = \pm 1$."""
    psi.array[:, slice(2, 4) if chirality > 0 else slice(0, 2)] = 0
    return psi


@dataclass(frozen=True)
class LowModes:
    r"""Eigenvectors of the smallest eigenvalues of $D^+D$ by chirality, with their zero modes.

    ``of`` is {1: ..., -1: ...}. Eigenvalues that are not zero are the same in both.
    """

    of: dict[int, Eigenvectors[SpinorField]]
    zero: dict[int, int]

    @property
    def index(self) -> int:
        r"""$n_- - n_+$, the topological charge of the operator."""
        return self.zero[-1] - self.zero[1]

    def values(self, count: int) -> np.ndarray:
        r"""Return the ``count`` smallest $|\lambda|$ of D that are not zero."""
        chirality = min((1, -1), key=lambda c: self.zero[c])
        values = self.of[chirality].values[self.zero[chirality]:]
        return np.sqrt(values[:count])


def find_low_modes(D: Overlap, count: int, *, residual: float = 1e-7) -> LowModes:
    r"""Return the ``count`` smallest eigenvalues of $D^+D$ in each chirality, beyond zero modes.

    residual : of the eigenvectors, over $4\rho^2$. Collective. RunError if it is not reached.
    """
    of, zero = {}, {}
    for chirality in (1, -1):
        wanted = count
        while True:
            of[chirality] = _of_chirality(D, chirality, wanted, residual)
            zero[chirality] = int(np.sum(of[chirality].values < 100 * D.error * D.rho**2))
            if len(of[chirality].values) - zero[chirality] >= count:
                break
            wanted = count + zero[chirality]
    return LowModes(of, zero)


def _of_chirality(D: Overlap, chirality: int, count: int, residual: float) -> Eigenvectors[SpinorField]:
    """Return the ``count`` smallest eigenvalues, or more of them, with all copies of equal ones.

    One start finds one of them: further ones begin orthogonal to those that are known, until they find no smaller one.
    """
    largest, known = 4.2 * D.rho**2, []
    normal = lambda psi: D.normal(psi, chirality)

    def beyond(psi: SpinorField) -> SpinorField:
        """Return normal(psi) with the known eigenvalues moved up."""
        out = normal(psi)
        for v in known:
            out.add(v, v.dot(psi) * largest / 2)
        return out

    def find(number: int) -> Eigenvectors[SpinorField]:
        start = project(SpinorField(D.lattice).gaussian(2, len(known)), chirality)
        return smallest_of(beyond, start, number, largest, degree=4, size=2 * number + 12, residual=residual,
                           above=largest / 4)

    found = find(count)
    while True:
        known = found.vectors
        more = find(1)
        if more.values[0] >= found.values[count - 1] * (1 - 1e-6):
            return found
        found = diagonalise([*known, *more.vectors], normal)


def solve_overlap(D: Overlap, eta: SpinorField, masses: Sequence[float], residual: float = 1e-8,
                  modes: LowModes | None = None, max_steps: int = 10_000) -> list[SpinorField]:
    r"""Return psi with $D(m)\psi = \eta$ to $|\eta - D(m)\psi| \le$ ``residual`` $|\eta|$ for each of the masses.

    $D^+(m)D(m) = (1 - m^2/4\rho^2)\,[D^+D + m^2/(1 - m^2/4\rho^2)]$ commutes with $\gamma_5$: so all masses take one
    conjugate gradient for each chirality of eta, with one sign function a step. ``modes`` are treated exactly. Sign
    functions are as rough as the residual allows (van den Eshof et al., hep-lat/0405003). 0 < m < 2 rho. Collective.
    RunError if the residual is not reached.
    """
    for mass in masses:
        if not 0 < mass < 2 * D.rho:
            raise InputError(f"masses of an overlap operator are above 0 and below 2 rho = {2 * D.rho:g}, not {mass:g}")
    solutions, goal = [eta.like() for _ in masses], residual * math.sqrt(eta.norm2())

    def improve(which: Sequence[int], source: SpinorField) -> None:
        """Add the solutions of some of the masses for a source."""
        for chirality in (1, -1):
            part = project(source.copy(), chirality)
            if part.norm2() > (goal / 100) ** 2:
                of = [masses[i] for i in which]
                for i, x in zip(which, _normal_solutions(D, part, chirality, of, goal / 2, modes, max_steps)):
                    solutions[i].add(D(x, masses[i], True), 1 / (1 - (masses[i] / (2 * D.rho)) ** 2))

    improve(range(len(masses)), eta)
    for i, mass in enumerate(masses):
        for _ in range(PASSES):
            left = eta.copy().add(D(solutions[i], mass), -1.0)
            if math.sqrt(left.norm2()) <= goal:
                break
            improve([i], left)
        else:
            raise RunError(f"conjugate gradient for {D} stalled at a residual of "
                           f"{residual * math.sqrt(left.norm2()) / goal:.2g} for the mass {mass:g}, not {residual:g}: "
                           f"the sign function's error of {D.error:g} may be too large for it")
    return solutions


def _normal_solutions(D: Overlap, eta: SpinorField, chirality: int, masses: Sequence[float], goal: float,
                      modes: LowModes | None, max_steps: int) -> list[SpinorField]:
    r"""Return x with $(D^+D + \sigma)x = \eta$, $\sigma = m^2/(1 - m^2/4\rho^2)$, for an eta of one chirality.

    goal : size of the residual at which steps end (Jegerlehner, hep-lat/9612014).
    """
    shifts = [mass**2 / (1 - (mass / (2 * D.rho)) ** 2) for mass in masses]
    smallest = min(shifts)
    x, r = [eta.like() for _ in shifts], eta.copy()
    if modes is not None:
        of = modes.of[chirality]
        for value, v in zip(of.values, of.vectors):
            part = v.dot(eta)
            r.add(v, -part)
            for to, shift in zip(x, shifts):
                to.add(v, part / (max(value, 0.0) + shift))
    p, directions = r.copy(), [r.copy() for _ in shifts]
    zeta, zeta_before = [1.0] * len(shifts), [1.0] * len(shifts)
    rr, alpha_before, beta = r.norm2(), 1.0, 0.0
    for _ in range(max_steps):
        if rr <= goal**2:
            return x
        Ap = D.normal(p, chirality, 0.1 * goal / math.sqrt(rr)).add(p, smallest)
        alpha = rr / p.dot(Ap).real
        r.add(Ap, -alpha)
        rr_next = r.norm2()
        beta_next = rr_next / rr
        for i, shift in enumerate(shifts):
            old = zeta_before[i] * alpha_before
            new = zeta[i] * old / (alpha * beta * (zeta_before[i] - zeta[i])
                                   + old * (1 + (shift - smallest) * alpha))
            ratio = new / zeta[i]
            x[i].add(directions[i], alpha * ratio)
            directions[i].scale(beta_next * ratio**2).add(r, new)
            zeta_before[i], zeta[i] = zeta[i], new
        p.scale(beta_next).add(r)
        alpha_before, beta, rr = alpha, beta_next, rr_next
    raise RunError(f"conjugate gradient for {D} has not converged in {max_steps} steps")


def overlap_propagators(D: Overlap, site: Sequence[int], masses: Sequence[float], residual: float = 1e-8,
                        modes: LowModes | None = None) -> list[Propagator]:
    r"""Return the propagators $S = (D_c + m)^{-1}$ from a site (t, x, y, z) for each of the masses.

    $D_c = D/(1 - D/2\rho)$ anticommutes with $\gamma_5$, so S has the chiral symmetry of the continuum. $S = [D^{-1}(m)
    - 1/2\rho]/(1 - m/2\rho)$. Solves as `solve_overlap`. Collective.
    """
    source = Source("point", tuple(site))
    out = np.empty((len(masses), *D.lattice.local, 4, 3, 4, 3), complex)
    for (spin, colour), values in source.columns(D.lattice):
        eta = SpinorField(D.lattice).set_local(values)
        for i, (mass, psi) in enumerate(zip(masses, solve_overlap(D, eta, masses, residual, modes))):
            out[i, ..., spin, colour] = (psi.local() - values / (2 * D.rho)) / (1 - mass / (2 * D.rho))
    return [Propagator.from_fields(D.lattice, source.site, one, D.theta) for one in out]
