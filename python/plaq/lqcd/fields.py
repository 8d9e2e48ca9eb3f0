"""Gauge and spinor fields. Complex numbers have real and imaginary parts apart in ``array``, which is a view
without a copy of this rank's memory, and together in ``local()``, which is a copy in the order of sites."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

import numpy as np

from plaq import _core
from plaq.errors import InputError
from plaq.lqcd.lattice import Lattice


class Field:
    """What gauge and spinor fields have in common."""

    of_site: tuple[int, ...]

    def __init__(self, lattice: Lattice, native):
        self.lattice, self.native = lattice, native

    @property
    def array(self) -> np.ndarray:
        """[block, *of_site, re or im, lane], float64: the memory of the field.
        `Lattice.sites` says which sites these are."""
        return self.native.array

    def local(self) -> np.ndarray:
        """[t, x, y, z, *of_site], complex128: a copy of this rank's box; zero where the field has no sites."""
        values = np.moveaxis(self.array, -1, 1)
        out = np.zeros((*self.lattice.local, *self.of_site), complex)
        out[self._places()] = values[..., 0] + 1j * values[..., 1]
        return out

    def _places(self) -> tuple[np.ndarray, ...]:
        """Of the sites that it has, in the order of its memory; those with one parity have the odd sites,
        which come last."""
        return tuple(np.moveaxis(self.lattice.sites()[-len(self.array):], -1, 0))

    def set_local(self, values: np.ndarray) -> Self:
        """The other way about."""
        values = np.asarray(values)
        if values.shape != (*self.lattice.local, *self.of_site):
            raise ValueError(f"a rank's part of this field is {(*self.lattice.local, *self.of_site)}, "
                             f"not {values.shape}")
        here = values[self._places()]
        self.array[:] = np.moveaxis(np.stack([here.real, here.imag], axis=-1), 1, -1)
        return self

    def whole(self) -> np.ndarray | None:
        """[t, x, y, z, *of_site] of the whole lattice on rank 0, None on the others. Collective."""
        parts = self.lattice.comm.gather((self.lattice.box, self.local()))
        if parts is None:
            return None
        out = np.empty((*self.lattice.extents, *self.of_site), complex)
        for box, values in parts:
            out[box] = values
        return out

    def copy(self) -> Self:
        """Another field with the same numbers."""
        return type(self)(self.lattice, self.native.copy())


def need_room(lattice: Lattice, c1: float) -> None:
    """InputError where rectangles would wind around the lattice."""
    if c1 and min(lattice.extents) < 4:
        raise InputError("rectangles in the action need extents of at least 4, "
                         f"not {' x '.join(map(str, lattice.extents))}")


class GaugeField(Field):
    """Links U_mu(x), mu = t, x, y, z: [..., mu, row, column]. They lead from x to x + mu."""

    of_site = (4, 3, 3)

    def __init__(self, lattice: Lattice, native=None):
        super().__init__(lattice, native or _core.lqcd.Links(lattice.layout))
        if native is None:
            self.cold()

    def cold(self) -> Self:
        """All links one."""
        self.native.cold()
        return self

    def hot(self, seed: int) -> Self:
        """Links at random, with the invariant measure of SU(3)."""
        self.native.hot(seed)
        return self

    def plaquette(self) -> float:
        r"""$\langle \mathrm{Re\,tr} P\rangle / 3$ over all plaquettes. Collective."""
        return sum(self.plaquettes()) / 2

    def plaquettes(self) -> tuple[float, float]:
        """The averages over those with direction t and those without. Collective."""
        return self.lattice.call(_core.lqcd.plaquette, self.lattice.engine, self.native)

    def rectangle(self) -> float:
        r"""$\langle \mathrm{Re\,tr} R\rangle / 3$ over all 2 x 1 rectangles. Collective."""
        return self.lattice.call(_core.lqcd.rectangle, self.lattice.engine, self.native)

    def polyakov_loop(self, mu: int = 0) -> complex:
        r"""$\langle \mathrm{tr} L\rangle / 3$ of the products of links in direction mu around the lattice.
        Collective."""
        return self.lattice.call(_core.lqcd.polyakov_loop, self.lattice.engine, self.native, mu)

    def wilson_loops(self, most_r: int, most_t: int, smeared: GaugeField | None = None) -> np.ndarray:
        r"""[r - 1, t - 1]: $\langle \mathrm{Re\,tr} W\rangle / 3$ of planar loops of r sites in space and t in
        time. The sides in space are of ``smeared``, by default as those in time. Collective."""
        across = smeared or self
        loops = self.lattice.call(_core.lqcd.wilson_loops, self.lattice.engine, across.native,
                                  self.native, most_r, most_t)
        return np.reshape(loops, (most_r, most_t))

    def stout(self, rho: float, times: int = 1) -> Self:
        r"""Smear all links, $U \to \exp(\rho\,[\Omega - \Omega^+]/2 - \mathrm{trace})\,U$ with $\Omega$ the sum of
        staples times $U^+$ (Morningstar and Peardon, hep-lat/0311018). Collective."""
        derivative, step = _core.lqcd.Links(self.lattice.layout), Momenta(self.lattice)
        for _ in range(times):
            self.lattice.call(_core.lqcd.action_derivative, self.lattice.engine, derivative, self.native, 0.0)
            step.array[:] = 0
            step.kick(derivative, -rho)
            step.move(self, 1.0)
        return self

    def ape(self, alpha: float, times: int = 1) -> Self:
        r"""Smear links in space, $U \to P[(1-\alpha)\,U + \frac{\alpha}{4} \sum \mathrm{staples\ in\ space}]$ with
        $P[V] = V(V^+V)^{-1/2}$ without the phase of its determinant (Albanese et al., Phys. Lett. B 192,
        163 (1987)). Collective."""
        if not 0 <= alpha <= 1:
            raise InputError(f"APE smearing has a weight alpha from 0 to 1, not {alpha:g}")
        self.lattice.call(_core.lqcd.ape, self.lattice.engine, self.native, alpha, times)
        return self

    def heat_bath(self, beta: float, seed: int, sweep: int, chain: int = 0, c1: float = 0.0) -> None:
        r"""One update of all links with the action $\beta [c_0 \sum (1 - \mathrm{Re\,tr} P/3) + c_1 \sum (1 -
        \mathrm{Re\,tr} R/3)]$ of plaquettes P and rectangles R, $c_0 = 1 - 8 c_1$ (`choices.RECTANGLES`), by random
        numbers of (seed, chain, sweep). Cabibbo and Marinari, Phys. Lett. B 119, 387 (1982). InputError for
        rectangles on a lattice with an extent below 4. Collective."""
        need_room(self.lattice, c1)
        self.lattice.call(_core.lqcd.heat_bath, self.lattice.engine, self.native, beta, c1, seed, chain, sweep)

    def over_relax(self, c1: float = 0.0) -> None:
        """Moves all links without a change of that action. Collective."""
        need_room(self.lattice, c1)
        self.lattice.call(_core.lqcd.over_relax, self.lattice.engine, self.native, c1)

    def flow(self, time: float, step: float = 0.02) -> None:
        r"""The gradient flow of Wilson's action, $\dot V = Z(V) V$, on by ``time`` in units of a^2, in equal steps
        no longer than ``step``, of third order (Luescher, arXiv:1006.4518). Collective."""
        steps = max(1, math.ceil(time / step - 1e-9))
        for _ in range(steps):
            self.lattice.call(_core.lqcd.flow_step, self.lattice.engine, self.native, time / steps)

    def energy_and_charge(self) -> tuple[float, float]:
        r"""$E = -\sum_{\mu<\nu} \langle\mathrm{tr} F_{\mu\nu}^2\rangle$ in units of a^-4 and
        $Q = -\frac{1}{32\pi^2} \sum_x \epsilon_{\mu\nu\rho\sigma} \mathrm{tr} F_{\mu\nu}F_{\rho\sigma}$, of the
        clover-shaped field strength. Collective."""
        return self.lattice.call(_core.lqcd.clover, self.lattice.engine, self.native)

    def plaquette_energy(self) -> float:
        r"""$E = 2 \sum_{\mu<\nu} \langle\mathrm{Re\,tr}(1 - P_{\mu\nu})\rangle$ in units of a^-4: that of
        `energy_and_charge` by plaquettes (Luescher, arXiv:1006.4518, eq. (3.1)). Collective."""
        return 36 * (1 - self.plaquette())

    def reunitarise(self) -> Self:
        """Project links onto SU(3) which are off by rounding: rows made orthonormal one after the other, the third
        from the two others. Collective."""
        Momenta(self.lattice).move(self, 0.0)  # a move is followed by that
        return self

    def unitarity_violation(self) -> float:
        r"""The largest element of $U U^+ - 1$, or $|\det U - 1|$ if that is larger. Collective."""
        return self.lattice.call(_core.lqcd.unitarity_violation, self.lattice.engine, self.native)


class SpinorField(Field):
    """Spinors psi(x): [..., spin, colour], in the basis of `plaq.lqcd.gamma`; on all sites,
    or on the odd ones alone."""

    of_site = (4, 3)

    def __init__(self, lattice: Lattice, native=None, *, odd: bool = False):
        super().__init__(lattice, native or _core.lqcd.Spinors(lattice.layout, odd))

    def like(self) -> SpinorField:
        """A field of zeros on the same sites."""
        return SpinorField(self.lattice, odd=self.native.odd)

    def gaussian(self, seed: int, number: int = 0) -> Self:
        """Complex Gaussian numbers with <|eta|^2> = 1 for each component."""
        self.native.gaussian(seed, number)
        return self

    def smear(self, gauge: GaugeField, kappa: float, times: int, theta: Sequence[float] = (0, 0, 0, 0)) -> Self:
        r"""Towards a Gaussian shape in space, $\psi \to (1 + \kappa H)\psi / (1 + 6\kappa)$ with
        $(H\psi)(x) = \sum_j U_j(x)\psi(x+j) + U_j(x-j)^+\psi(x-j)$ over the directions of space (Guesken, Nucl.
        Phys. B Proc. Suppl. 17, 361 (1990)), its mean square radius in free fields growing by
        $6\kappa/(1+6\kappa)$ each time. theta : that of the `Wilson` that psi is for. Hermitian; needs all sites.
        Collective."""
        self.lattice.call(_core.lqcd.gaussian_smear, self.lattice.engine, self.native, gauge.native, kappa,
                          times, list(theta))
        return self

    def pseudofermion(self, seed: int, trajectory: int, number: int) -> Self:
        """Complex Gaussian numbers with <|eta|^2> = 1 for each component, of a term of a trajectory."""
        self.native.pseudofermion(seed, trajectory, number)
        return self

    def add(self, other: SpinorField, factor: complex = 1.0) -> Self:
        """self + factor other."""
        self.array[:] += factor.real * other.array
        if factor.imag:
            self.array[..., 0, :] -= factor.imag * other.array[..., 1, :]
            self.array[..., 1, :] += factor.imag * other.array[..., 0, :]
        return self

    def scale(self, factor: float) -> Self:
        """factor self."""
        self.array[:] *= factor
        return self

    def gamma5(self) -> Self:
        """gamma_5 self."""
        self.array[:, 2:] *= -1
        return self

    def dot(self, other: SpinorField) -> complex:
        """(self, other), the first one conjugated. Collective."""
        return self.lattice.call(_core.lqcd.dot, self.lattice.engine, self.native, other.native)

    def norm2(self) -> float:
        """(self, self). Collective."""
        return self.lattice.call(_core.lqcd.norm2, self.lattice.engine, self.native)


class Flavours:
    """Spinors of two flavours, ``up`` and ``down``, on all sites or on the odd ones alone."""

    def __init__(self, lattice: Lattice, native=None, *, odd: bool = False):
        self.lattice, self.native = lattice, native or _core.lqcd.Flavours(lattice.layout, odd)
        self.up, self.down = SpinorField(lattice, self.native.up), SpinorField(lattice, self.native.down)

    def like(self) -> Flavours:
        """A field of zeros on the same sites."""
        return Flavours(self.lattice, odd=self.up.native.odd)

    def copy(self) -> Flavours:
        """Another field with the same numbers."""
        return Flavours(self.lattice, self.native.copy())

    def pseudofermion(self, seed: int, trajectory: int, number: int) -> Self:
        """As `SpinorField.pseudofermion`, by the numbers of two terms."""
        self.up.pseudofermion(seed, trajectory, number)
        self.down.pseudofermion(seed, trajectory, number + 1)
        return self

    def add(self, other: Flavours, factor: complex = 1.0) -> Self:
        """self + factor other."""
        self.up.add(other.up, factor)
        self.down.add(other.down, factor)
        return self

    def scale(self, factor: float) -> Self:
        """factor self."""
        self.up.scale(factor)
        self.down.scale(factor)
        return self

    def dot(self, other: Flavours) -> complex:
        """(self, other), the first one conjugated. Collective."""
        return self.up.dot(other.up) + self.down.dot(other.down)

    def norm2(self) -> float:
        """(self, self). Collective."""
        return self.up.norm2() + self.down.norm2()


class Momenta(Field):
    r"""Momenta $P_\mu(x) = p_a T_a$ of links: antihermitian and traceless, $\mathrm{tr} T_a T_b = -\delta_{ab}/2$."""

    of_site = (4, 3, 3)

    def __init__(self, lattice: Lattice, native=None):
        super().__init__(lattice, native or _core.lqcd.Links(lattice.layout))

    def gaussian(self, seed: int, trajectory: int) -> Self:
        """Components p_a with variance one."""
        _core.lqcd.gaussian_momenta(self.native, seed, trajectory)
        return self

    def kinetic_energy(self) -> float:
        r"""$\sum p_a^2/2$ over all links. Collective."""
        return self.lattice.call(_core.lqcd.kinetic_energy, self.lattice.engine, self.native)

    def move(self, gauge: GaugeField, time: float) -> None:
        """U = exp(time P) U on all links. Collective."""
        self.lattice.call(_core.lqcd.move_links, self.lattice.engine, gauge.native, self.native, time)

    def kick(self, derivative, factor: float) -> None:
        """P += ``factor`` times the traceless antihermitian part of ``derivative``, a native field of links.
        Collective."""
        self.lattice.call(_core.lqcd.kick, self.lattice.engine, self.native, derivative, factor)
