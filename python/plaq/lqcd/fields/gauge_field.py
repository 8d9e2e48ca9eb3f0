"""Gauge fields: updates, loops, smearing, flow and gauge fixing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from plaq import _core
from plaq.data.recorded import Recorded
from plaq.errors import InputError, RunError
from plaq.lqcd.choices import FLOWS, GAUGES
from plaq.lqcd.fields.field import Field, plane_axes
from plaq.lqcd.fields.lattice import Lattice
from plaq.lqcd.fields.momenta import Momenta


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
        temporal, spatial, _ = self.lattice.call(_core.lqcd.plaquette, self.lattice.context, self.native)
        return temporal, spatial

    def plaquettes_by_plane(self) -> np.ndarray:
        """Return the averages over plaquettes of each plane, tx, ty, tz, xy, xz, yz. Collective."""
        return np.array(self.lattice.call(_core.lqcd.plaquette, self.lattice.context, self.native)[2])

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
