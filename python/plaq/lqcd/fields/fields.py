"""Gauge and spinor fields.

Real and imaginary parts are separate in ``array``, a view of this rank's memory. Complex numbers are in ``local()``, a
copy in the order of sites.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from plaq import _core
from plaq.data.display import behind_clicks, block, facts, head, plane_drawing
from plaq.data.estimate import Axis
from plaq.data.formatting import format_size
from plaq.data.recorded import Recorded
from plaq.errors import InputError, RunError
from plaq.lqcd.choices import FLOWS, GAUGES
from plaq.lqcd.fields.lattice import Lattice

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Field:
    """Base of gauge and spinor fields."""

    of_site: tuple[int, ...]

    def __init__(self, lattice: Lattice, native):
        self.lattice, self.native = lattice, native

    @property
    def array(self) -> np.ndarray:
        """Memory of the field, [group, *of_site, re or im, lane], float64, with the sites of `Lattice.sites`."""
        return self.native.array

    def local(self) -> np.ndarray:
        """Return a copy of this rank's box, [t, x, y, z, *of_site], complex128; zero on sites without numbers."""
        values = np.moveaxis(self.array, -1, 1)
        out = np.zeros((*self.lattice.local, *self.of_site), complex)
        out[self._site_indices()] = values[..., 0] + 1j * values[..., 1]
        return out

    def _site_indices(self) -> tuple[np.ndarray, ...]:
        """Return the coordinates of its sites in the order of its memory.

        Fields of one parity have the odd sites, which are last.
        """
        return tuple(np.moveaxis(self.lattice.sites()[-len(self.array):], -1, 0))

    def set_local(self, values: np.ndarray) -> Self:
        """Set this rank's box from [t, x, y, z, *of_site]."""
        values = np.asarray(values)
        if values.shape != (*self.lattice.local, *self.of_site):
            raise ValueError(f"a rank's part of this field is {(*self.lattice.local, *self.of_site)}, "
                             f"not {values.shape}")
        numbers = values[self._site_indices()]
        self.array[:] = np.moveaxis(np.stack([numbers.real, numbers.imag], axis=-1), 1, -1)
        return self

    def whole(self) -> np.ndarray | None:
        """Return [t, x, y, z, *of_site] of the whole lattice on rank 0, None on the others. Collective."""
        parts = self.lattice.comm.gather((self.lattice.box, self.local()))
        if parts is None:
            return None
        out = np.empty((*self.lattice.extents, *self.of_site), complex)
        for box, values in parts:
            out[box] = values
        return out

    def copy(self) -> Self:
        """Return another field with the same numbers."""
        return type(self)(self.lattice, self.native.copy())

    def plane(self) -> np.ndarray | None:
        """Return [t, x, *of_site] at y = z = 0 on rank 0, None on the others. Collective."""
        sites = self.lattice.sites()[-len(self.array):] + np.array([s.start for s in self.lattice.box])
        group, lane = np.nonzero((sites[..., 2] == 0) & (sites[..., 3] == 0))
        numbers = np.moveaxis(self.array, -1, 1)[group, lane]
        parts = self.lattice.comm.gather((sites[group, lane, :2], numbers[..., 0] + 1j * numbers[..., 1]))
        if parts is None:
            return None
        out = np.zeros((*self.lattice.extents[:2], *self.of_site), complex)
        for places, values in parts:
            out[tuple(places.T)] = values
        return out

    def picture(self, plane: np.ndarray) -> Recorded:
        """Return the numbers that a figure shows, from `plane`."""
        sizes = np.sum(np.abs(plane) ** 2, axis=tuple(range(2, plane.ndim)))
        return Recorded("size squared", sizes, plane_axes(plane), "", "sum over components at y = z = 0")

    def plot(self) -> Figure | None:
        """Return a figure of a plane of the field on rank 0, None on the others. Collective."""
        plane = self.plane()
        return None if plane is None else plane_drawing(self.picture(plane)).figure()

    def __repr__(self) -> str:
        return f"<plaq lqcd {type(self).__name__} on {self.lattice.in_words()}>"

    def _repr_html_(self) -> str:
        """Return size and place; with one rank, which needs no others for it, the figure as well."""
        numbers = self.array.size
        drawn = [plane_drawing(self.picture(self.plane()))] if self.lattice.comm.size == 1 else []
        return block(head(repr(self)[1:-1]), facts([
            ("numbers of a site", " x ".join(map(str, self.of_site)) + " complex"),
            ("memory of a rank", format_size(8 * numbers))]), behind_clicks(drawn))


def plane_axes(plane: np.ndarray) -> tuple[Axis, Axis]:
    return Axis("t", np.arange(plane.shape[0]), "a"), Axis("x", np.arange(plane.shape[1]), "a")


def check_rectangles_fit(lattice: Lattice, c1: float) -> None:
    """Raise InputError if rectangles would wind around the lattice."""
    if c1 and min(lattice.extents) < 4:
        raise InputError("rectangles in the action need extents of at least 4, "
                         f"not {' x '.join(map(str, lattice.extents))}")


@dataclass(frozen=True)
class GaugeQuality:
    """Functional F and theta of `GaugeField.fix`, and the sweeps that it took."""

    functional: float
    theta: float
    sweeps: int = 0


def _lowest_direction(gauge: str) -> int:
    """Return the direction from which links count in a gauge of `plaq.lqcd.choices.GAUGES`."""
    if gauge not in GAUGES:
        raise InputError(f"the gauge {gauge!r} is not one of {', '.join(GAUGES)}")
    return GAUGES.index(gauge)


class GaugeField(Field):
    """Links U_mu(x), mu = t, x, y, z: [..., mu, row, column]. They lead from x to x + mu."""

    of_site = (4, 3, 3)

    def __init__(self, lattice: Lattice, native=None):
        super().__init__(lattice, native or _core.lqcd.Links(lattice.layout))
        self._shared: list[Any] | None = None
        if native is None:
            self.cold()

    def picture(self, plane: np.ndarray) -> Recorded:
        """Return 1 - Re tr P / 3 of the plaquettes in the plane, from the links [t, x, mu, row, column]."""
        u_t, u_x = plane[:, :, 0], plane[:, :, 1]
        around = u_t @ np.roll(u_x, -1, 0) @ np.conj(np.swapaxes(u_x @ np.roll(u_t, -1, 1), -1, -2))
        return Recorded("1 - plaquette", 1 - np.trace(around, axis1=-2, axis2=-1).real / 3, plane_axes(plane), "",
                        "1 - Re tr P / 3 of the plaquettes in t and x at y = z = 0")

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Keep the links fixed in a block, in which successive equal calls of `operator` share one operator."""
        self._shared = [None, None]
        try:
            yield
        finally:
            self._shared = None

    @property
    def is_frozen(self) -> bool:
        """Whether the code runs in a block of `frozen`."""
        return self._shared is not None

    def operator(self, make: Callable[[GaugeField], Any]) -> Any:
        """Return ``make(self)``, in a block of `frozen` the last one of an equal ``make``. Collective."""
        if not self.is_frozen:
            return make(self)
        key = (make.func, make.args, make.keywords) if isinstance(make, partial) else make
        if self._shared[0] != key:
            self._shared[:] = None, None  # frees the operator before the next one is made
            self._shared[:] = key, make(self)
        return self._shared[1]

    def cold(self) -> Self:
        """Set all links to one."""
        self.native.cold()
        return self

    def hot(self, seed: int) -> Self:
        """Draw random links with the invariant measure of SU(3)."""
        self.native.hot(seed)
        return self

    def plaquette(self) -> float:
        r"""Return $\langle \mathrm{Re\,tr} P\rangle / 3$ over all plaquettes. Collective."""
        return sum(self.plaquettes()) / 2

    def plaquettes(self) -> tuple[float, float]:
        """Return the averages over plaquettes with direction t and without. Collective."""
        return self.lattice.call(_core.lqcd.plaquette, self.lattice.context, self.native)

    def rectangle(self) -> float:
        r"""Return $\langle \mathrm{Re\,tr} R\rangle / 3$ over all 2 x 1 rectangles. Collective."""
        return self.lattice.call(_core.lqcd.rectangle, self.lattice.context, self.native)

    def polyakov_loop(self, mu: int = 0) -> complex:
        r"""Return $\langle \mathrm{tr} L\rangle / 3$ of products of links in direction mu around the lattice.

        Collective.
        """
        return self.lattice.call(_core.lqcd.polyakov_loop, self.lattice.context, self.native, mu)

    def wilson_loops(self, max_r: int, max_t: int, smeared: GaugeField | None = None) -> np.ndarray:
        r"""Return [r - 1, t - 1]: $\langle \mathrm{Re\,tr} W\rangle / 3$ of planar loops of r x t sites.

        Loops have r sites in space and t in time. Sides in space are links of ``smeared``, by default of this field.
        Collective.
        """
        across = smeared or self
        loops = self.lattice.call(_core.lqcd.wilson_loops, self.lattice.context, across.native,
                                  self.native, max_r, max_t)
        return np.reshape(loops, (max_r, max_t))

    def stout(self, rho: float, times: int = 1) -> Self:
        r"""Smear all links, $U \to \exp(\rho\,[\Omega - \Omega^+]/2 - \mathrm{trace})\,U$.

        $\Omega$ is the sum of staples times $U^+$ (Morningstar and Peardon, hep-lat/0311018). Collective.
        """
        derivative, step = _core.lqcd.Links(self.lattice.layout), Momenta(self.lattice)
        for _ in range(times):
            self.lattice.call(_core.lqcd.action_derivative, self.lattice.context, derivative, self.native, 0.0)
            step.array[:] = 0
            step.kick(derivative, -rho)
            step.move(self, 1.0)
        return self

    def ape(self, alpha: float, times: int = 1) -> Self:
        r"""Smear links in space, $U \to P[(1-\alpha)\,U + \frac{\alpha}{4} \sum \mathrm{staples\ in\ space}]$.

        $P[V] = V(V^+V)^{-1/2}$ without the phase of its determinant (Albanese et al., Phys. Lett. B 192, 163 (1987)).
        Collective.
        """
        if not 0 <= alpha <= 1:
            raise InputError(f"APE smearing has a weight alpha from 0 to 1, not {alpha:g}")
        self.lattice.call(_core.lqcd.ape_smear, self.lattice.context, self.native, alpha, times)
        return self

    def heat_bath(self, beta: float, seed: int, sweep: int, chain: int = 0, c1: float = 0.0) -> None:
        r"""Update all links by heat bath (Cabibbo and Marinari, Phys. Lett. B 119, 387 (1982)).

        The action is $\beta [c_0 \sum (1 - \mathrm{Re\,tr} P/3) + c_1 \sum (1 - \mathrm{Re\,tr} R/3)]$ of plaquettes P
        and rectangles R, $c_0 = 1 - 8 c_1$ (`plaq.lqcd.choices.RECTANGLES`). Random numbers are those of (seed, chain,
        sweep). InputError for rectangles on a lattice with an extent below 4. Collective.
        """
        check_rectangles_fit(self.lattice, c1)
        self.lattice.call(_core.lqcd.heat_bath, self.lattice.context, self.native, beta, c1, seed, chain, sweep)

    def over_relax(self, c1: float = 0.0) -> None:
        """Move all links without a change of the action of `heat_bath`. Collective."""
        check_rectangles_fit(self.lattice, c1)
        self.lattice.call(_core.lqcd.over_relax, self.lattice.context, self.native, c1)

    def flow(self, time: float, step: float = 0.02, kind: str = "wilson") -> None:
        r"""Evolve along the gradient flow of an action, $\dot V = Z(V) V$, by ``time`` in units of a^2.

        Steps are equal and at most ``step``, of third order (Luescher, arXiv:1006.4518). kind : in
        `plaq.lqcd.choices.FLOWS`; all but "wilson" need extents of at least 4. Collective.
        """
        if kind not in FLOWS:
            raise InputError(f"the flow {kind!r} is not one of {', '.join(FLOWS)}")
        check_rectangles_fit(self.lattice, kind != "wilson")
        steps = max(1, math.ceil(time / step - 1e-9))
        for _ in range(steps):
            self.lattice.call(_core.lqcd.flow_step, self.lattice.context, self.native, time / steps, FLOWS.index(kind))

    def fix(self, gauge: str = "landau", tolerance: float = 1e-12, *, relaxation: float = 1.7,
            sweeps: int = 10_000) -> GaugeQuality:
        r"""Transform the links to Landau or Coulomb gauge; return its quality.

        The result is a local maximum of $F = \langle\mathrm{Re\,tr}\,U_\mu\rangle/3$ over all directions ("landau") or
        those of space ("coulomb"), by over-relaxation (Mandula and Ogilvie, Phys. Lett. B 248, 156 (1990)). It ends at
        $\theta = \langle\mathrm{tr}\,\Delta\Delta^+\rangle/3$ below ``tolerance``, where $\Delta = \sum_\mu
        A_\mu(x) - A_\mu(x-\mu)$. Copies with other maxima of F exist (Gribov). Bits do not depend on ranks.

        relaxation : 1 <= omega < 2; large lattices need more, up to about 1.9. RunError on all ranks if theta is above
        the tolerance after that many ``sweeps``; the links are then those of the last one. Collective.
        """
        lowest = _lowest_direction(gauge)
        if not 1 <= relaxation < 2:
            raise InputError(f"over-relaxation has 1 <= omega < 2, not {relaxation:g}")
        quality = GaugeQuality(*self.lattice.call(_core.lqcd.fix_gauge, self.lattice.context, self.native, lowest,
                                                  relaxation, tolerance, sweeps))
        if not quality.theta < tolerance:
            raise RunError(f"{gauge} gauge: theta = {quality.theta:.3g} after {quality.sweeps} sweeps, not below "
                           f"{tolerance:g}: take more sweeps, another relaxation, or a larger tolerance")
        return quality

    def gauge_quality(self, gauge: str = "landau") -> GaugeQuality:
        """Return functional and theta of these links, as `fix` has them. Collective."""
        return GaugeQuality(*self.lattice.call(_core.lqcd.fix_gauge, self.lattice.context, self.native,
                                               _lowest_direction(gauge), 1.0, 0.0, 0))  # no sweeps

    def energy_and_charge(self) -> tuple[float, float]:
        r"""Return (E, Q) of the clover-shaped field strength.

        $E = -\sum_{\mu<\nu} \langle\mathrm{tr} F_{\mu\nu}^2\rangle$ in units of a^-4 and $Q = -\frac{1}{32\pi^2}
        \sum_x \epsilon_{\mu\nu\rho\sigma} \mathrm{tr} F_{\mu\nu}F_{\rho\sigma}$. Collective.
        """
        return self.lattice.call(_core.lqcd.energy_and_charge, self.lattice.context, self.native)

    def plaquette_energy(self) -> float:
        r"""Return $E = 2 \sum_{\mu<\nu} \langle\mathrm{Re\,tr}(1 - P_{\mu\nu})\rangle$ in units of a^-4.

        It is the energy of `energy_and_charge` from plaquettes (Luescher, arXiv:1006.4518, eq. (3.1)). Collective.
        """
        return 36 * (1 - self.plaquette())

    def reunitarise(self) -> Self:
        """Project links onto SU(3), from which they deviate by rounding errors.

        Rows are made orthonormal in turn, the third from the other two. Collective.
        """
        Momenta(self.lattice).move(self, 0.0)  # a move projects links
        return self

    def unitarity_violation(self) -> float:
        r"""Return the largest element of $U U^+ - 1$, or $|\det U - 1|$ if that is larger. Collective."""
        return self.lattice.call(_core.lqcd.unitarity_violation, self.lattice.context, self.native)


class SpinorField(Field):
    """Spinors psi(x): [..., spin, colour], in the basis of `plaq.lqcd.fields.gamma`, on all sites or on odd ones."""

    of_site = (4, 3)

    def __init__(self, lattice: Lattice, native=None, *, odd: bool = False):
        super().__init__(lattice, native or _core.lqcd.Spinors(lattice.layout, odd))

    def like(self) -> SpinorField:
        """Return a field of zeros on the same sites."""
        return SpinorField(self.lattice, odd=self.native.odd)

    def gaussian(self, seed: int, number: int = 0) -> Self:
        """Draw complex Gaussian numbers with <|eta|^2> = 1 for each component."""
        self.native.gaussian(seed, number)
        return self

    def smear(self, gauge: GaugeField, kappa: float, times: int, theta: Sequence[float] = (0, 0, 0, 0)) -> Self:
        r"""Smear towards a Gaussian shape in space, $\psi \to (1 + \kappa H)\psi / (1 + 6\kappa)$.

        $(H\psi)(x) = \sum_j U_j(x)\psi(x+j) + U_j(x-j)^+\psi(x-j)$ over the directions of space (Guesken, Nucl. Phys.
        B Proc. Suppl. 17, 361 (1990)). The mean square radius in free fields grows by $6\kappa/(1+6\kappa)$ each time.
        theta : of the `Wilson` operator for psi. Hermitian; needs all sites. Collective.
        """
        self.lattice.call(_core.lqcd.gaussian_smear, self.lattice.context, self.native, gauge.native, kappa,
                          times, list(theta))
        return self

    def pseudofermion(self, seed: int, trajectory: int, number: int) -> Self:
        """Draw complex Gaussian numbers with <|eta|^2> = 1 for each component, for a term of a trajectory."""
        self.native.pseudofermion(seed, trajectory, number)
        return self

    def add(self, other: SpinorField, factor: complex = 1.0) -> Self:
        """Add ``factor`` times the other field."""
        self.array[:] += factor.real * other.array
        if factor.imag:
            self.array[..., 0, :] -= factor.imag * other.array[..., 1, :]
            self.array[..., 1, :] += factor.imag * other.array[..., 0, :]
        return self

    def scale(self, factor: float) -> Self:
        """Multiply by ``factor``."""
        self.array[:] *= factor
        return self

    def gamma5(self) -> Self:
        """gamma_5 self."""
        self.array[:, 2:] *= -1
        return self

    def dot(self, other: SpinorField) -> complex:
        """Return (self, other), conjugated in self. Collective."""
        return self.lattice.call(_core.lqcd.dot, self.lattice.context, self.native, other.native)

    def norm2(self) -> float:
        """Return (self, self). Collective."""
        return self.lattice.call(_core.lqcd.norm2, self.lattice.context, self.native)


class Flavours:
    """Spinors of two flavours, ``up`` and ``down``, on all sites or on the odd ones alone."""

    def __init__(self, lattice: Lattice, native=None, *, odd: bool = False):
        self.lattice, self.native = lattice, native or _core.lqcd.Flavours(lattice.layout, odd)
        self.up, self.down = SpinorField(lattice, self.native.up), SpinorField(lattice, self.native.down)

    def like(self) -> Flavours:
        """Return a field of zeros on the same sites."""
        return Flavours(self.lattice, odd=self.up.native.odd)

    def copy(self) -> Flavours:
        """Return another field with the same numbers."""
        return Flavours(self.lattice, self.native.copy())

    def pseudofermion(self, seed: int, trajectory: int, number: int) -> Self:
        """Draw both flavours as `SpinorField.pseudofermion`, with the numbers of two terms."""
        self.up.pseudofermion(seed, trajectory, number)
        self.down.pseudofermion(seed, trajectory, number + 1)
        return self

    def add(self, other: Flavours, factor: complex = 1.0) -> Self:
        """Add ``factor`` times the other field."""
        self.up.add(other.up, factor)
        self.down.add(other.down, factor)
        return self

    def scale(self, factor: float) -> Self:
        """Multiply by ``factor``."""
        self.up.scale(factor)
        self.down.scale(factor)
        return self

    def dot(self, other: Flavours) -> complex:
        """Return (self, other), conjugated in self. Collective."""
        return self.up.dot(other.up) + self.down.dot(other.down)

    def norm2(self) -> float:
        """Return (self, self). Collective."""
        return self.up.norm2() + self.down.norm2()

    def __repr__(self) -> str:
        return f"<plaq lqcd Flavours on {self.lattice.in_words()}>"

    def _repr_html_(self) -> str:
        """Return the displays of both flavours."""
        return block(head(repr(self)[1:-1], ["Up, then down:"])) + self.up._repr_html_() + self.down._repr_html_()


class Momenta(Field):
    r"""Momenta $P_\mu(x) = p_a T_a$ of links: antihermitian and traceless, $\mathrm{tr} T_a T_b = -\delta_{ab}/2$."""

    of_site = (4, 3, 3)

    def __init__(self, lattice: Lattice, native=None):
        super().__init__(lattice, native or _core.lqcd.Links(lattice.layout))

    def gaussian(self, seed: int, trajectory: int) -> Self:
        """Draw Gaussian components p_a with variance one."""
        _core.lqcd.gaussian_momenta(self.native, seed, trajectory)
        return self

    def kinetic_energy(self) -> float:
        r"""Return $\sum p_a^2/2$ over all links. Collective."""
        return self.lattice.call(_core.lqcd.kinetic_energy, self.lattice.context, self.native)

    def move(self, gauge: GaugeField, time: float) -> None:
        """Move links, U = exp(time P) U. ValueError in a block of `GaugeField.frozen`. Collective."""
        if gauge.is_frozen:
            raise ValueError("the links of a frozen gauge field cannot be moved")
        self.lattice.call(_core.lqcd.move_links, self.lattice.context, gauge.native, self.native, time)

    def kick(self, derivative, factor: float) -> None:
        """Add ``factor`` times the traceless antihermitian part of ``derivative``, a native field of links.

        Collective."""
        self.lattice.call(_core.lqcd.kick, self.lattice.context, self.native, derivative, factor)
