r"""Schroedinger functional: gauge fields between two walls in time, whose links in space are fixed.

The abelian fields on the walls are those of Luescher, Sommer, Weisz and Wolff, Nucl. Phys. B 413, 481 (1994). Of N time
slices in memory 0 and T, which is N - 2 or N - 1, are the walls. Links in time from T on, and all behind it, are ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from plaq import _core
from plaq.errors import InputError
from plaq.lqcd.fields.gauge_field import GaugeField
from plaq.lqcd.fields.lattice import Lattice
from plaq.lqcd.fields.momenta import Momenta

FIELDS = ("coupling", "zero")


@dataclass(frozen=True)
class Walls:
    r"""Walls with $W_k = \exp(i\,\mathrm{diag}(\phi)/L)$ at t = 0, and with $\phi'$ at t = T.

    field : "coupling" has $\phi = (\eta - \pi/3,\ \eta(\nu - 1/2),\ -\eta(\nu + 1/2) + \pi/3)$ and
    $\phi' = (-\phi_1 - 4\pi/3,\ -\phi_3 + 2\pi/3,\ -\phi_2 + 2\pi/3)$; "zero" has $\phi = \phi' = 0$. ct : weight of
    plaquettes in time at the walls. distance : T, by default N - 2. InputError unless the lattice has equal extents in
    space and at least 4 in time.
    """

    lattice: Lattice
    field: str = "coupling"
    eta: float = 0.0
    nu: float = 0.0
    ct: float = 1.0
    distance: int | None = None

    @classmethod
    def of(cls, lattice: Lattice, p: Any) -> Walls:
        """Return the walls of an input's [schroedinger]."""
        s = p.schroedinger
        return cls(lattice, s.field, s.eta, s.nu, s.ct, s.T)

    def __post_init__(self) -> None:
        if self.field not in FIELDS:
            raise InputError(f"the field {self.field!r} of walls is not one of {', '.join(FIELDS)}")
        if len(set(self.lattice.extents[1:])) > 1 or self.lattice.extents[0] < 4:
            raise InputError("walls need equal extents in space and at least four time slices, not "
                             f"{' x '.join(map(str, self.lattice.extents))}")

    @property
    def T(self) -> int:
        return self.lattice.extents[0] - 2 if self.distance is None else self.distance

    @property
    def L(self) -> int:
        return self.lattice.extents[1]

    def angles(self) -> np.ndarray:
        """Return phi and phi', [wall, colour]."""
        if self.field == "zero":
            return np.zeros((2, 3))
        third, eta, nu = math.pi / 3, self.eta, self.nu
        first = np.array([eta - third, eta * (nu - 0.5), third - eta * (nu + 0.5)])
        return np.array([first, [-first[0] - 4 * third, 2 * third - first[2], 2 * third - first[1]]])

    def impose(self, gauge: GaugeField) -> GaugeField:
        """Set all links that are fixed, and return the field."""
        t = self._time()
        _set(gauge, t >= self.T, 0, np.zeros(3))
        for mu in (1, 2, 3):
            for wall, slice_ in enumerate((0, self.T)):
                _set(gauge, t == slice_, mu, self.angles()[wall] / self.L)
            _set(gauge, t > self.T, mu, np.zeros(3))
        return gauge

    def background(self) -> GaugeField:
        """Return the field of least action between the walls: constant electric fields."""
        gauge = GaugeField(self.lattice)
        low, high = self.angles()
        for slice_ in range(self.T + 1):
            for mu in (1, 2, 3):
                _set(gauge, self._time() == slice_, mu, (low + (high - low) * slice_ / self.T) / self.L)
        return gauge

    def heat_bath(self, gauge: GaugeField, beta: float, seed: int, sweep: int) -> None:
        """Update the links between the walls as `GaugeField.heat_bath`. Collective."""
        self._update(gauge, _core.lqcd.heat_bath, beta, 0.0, seed, 0, sweep)

    def over_relax(self, gauge: GaugeField) -> None:
        """Move the links between the walls without a change of the action. Collective."""
        self._update(gauge, _core.lqcd.over_relax, 0.0)

    def _update(self, gauge: GaugeField, update, *arguments) -> None:
        links = self.weighted(gauge)
        self.lattice.call(update, self.lattice.context, links.native, *arguments, 1, self.T - 1)
        gauge.array[:] = links.array
        self.impose(gauge)

    def moving(self) -> np.ndarray:
        """Return one for links between the walls, zero for others, in the form of `Momenta.moving`."""
        t = self._time()
        space, time = (t > 0) & (t < self.T), t < self.T
        return np.stack([time, space, space, space], axis=1)[:, :, None, None, None, :].astype(float)

    def weighted(self, gauge: GaugeField) -> GaugeField:
        """Return the field with links on the walls times ct, and without those in time behind the second wall.

        A plaquette in time at a wall has one link of it. So its weight is ct.
        """
        links, t = gauge.copy(), self._time()[:, None, None, None, :]
        links.array[:, 0] *= t < self.T
        links.array[:, 1:] *= np.where((t == 0) | (t == self.T), self.ct, 1.0)[:, None]
        return links

    def plaquettes(self, gauge: GaugeField) -> tuple[float, float]:
        """Return the averages over plaquettes with direction t and, between the walls, without. Collective."""
        N, t = self.lattice.extents[0], self._time()[:, None, None, None, :]
        inner = gauge.copy()
        inner.array[:, 1:] *= ((t > 0) & (t < self.T))[:, None]
        temporal, _ = replace(self, ct=1.0).weighted(gauge).plaquettes()
        return temporal * N / self.T, inner.plaquettes()[1] * N / (self.T - 1)

    def action(self, gauge: GaugeField, beta: float) -> float:
        r"""Return $\beta\sum w(P)(1 - \mathrm{Re\,tr}P/3)$, w = ct for plaquettes in time at the walls. Collective."""
        N, volume = self.lattice.extents[0], self.lattice.volume
        temporal = self.weighted(gauge).plaquettes()[0] * 3 * volume
        weights = 3 * (volume // N) * (self.T - 2 + 2 * self.ct)
        spatial = (1 - self.plaquettes(gauge)[1]) * 3 * (volume // N) * (self.T - 1)
        return beta * (weights - temporal + spatial)

    def derivatives(self, force: Momenta) -> tuple[float, float]:
        r"""Return $\partial S/\partial\eta$ and $\partial^2S/\partial\eta\,\partial\nu$ at $\eta = 0$ of "coupling".

        force : $F = T_a\,\partial S/\partial\epsilon_a$ of all links, those on the walls too, for $U \to e^{\epsilon_a
        T_a}U$. The coupling is $k/\langle\partial S/\partial\eta\rangle$ with k of `background_slope`, and $\bar v =
        -\langle\partial^2S/\partial\eta\,\partial\nu\rangle/k$. At another $\eta$ the first is that of this
        $\eta$. Collective.
        """
        t = np.arange(self.lattice.extents[0])[self.lattice.box[0]]
        fields = np.einsum("...kaa->...a", force.local()[..., 1:, :, :].imag)  # [t, x, y, z, colour]
        found = []
        for low in ((1, self.nu - 0.5, -self.nu - 0.5), (0, 1, -1)):  # d phi / d eta, and d2 phi / d eta d nu
            high = (-low[0], -low[2], -low[1])
            at = np.where(t[:, None] == 0, np.array(low), np.where(t[:, None] == self.T, np.array(high), 0.0))
            summand = np.einsum("txyza,ta->txyz", fields, at)
            sums = self.lattice.call(_core.lqcd.slice_sums, self.lattice.context, self.lattice.layout,
                                     np.ascontiguousarray(summand, complex))
            found.append(2 / self.L * float(sums.real.sum()))
        return found[0], found[1]

    def _time(self) -> np.ndarray:
        """Return t of the numbers of a field's memory, [group, lane]."""
        return self.lattice.sites()[..., 0] + self.lattice.box[0].start


def distance_of(p: Any) -> int:
    """Return T of an input."""
    return p.lattice.extents[0] - 2 if p.schroedinger.T is None else p.schroedinger.T


def background_slope(T: int, L: int) -> float:
    r"""Return $k = g_0^2\,dS/d\eta$ of the background field at $\eta = 0$ with ct = 1.

    $k = 12 L^2(\sin\gamma + \sin 2\gamma)$ with $\gamma = \pi/3TL$.
    """
    gamma = math.pi / (3 * T * L)
    return 12 * L**2 * (math.sin(gamma) + math.sin(2 * gamma))


def _set(gauge: GaugeField, where: np.ndarray, mu: int, angles: np.ndarray) -> None:
    """Set links in direction mu to exp(i diag(angles)) on the sites ``where`` [group, lane]."""
    group, lane = np.nonzero(where)
    gauge.array[group, mu, :, :, :, lane] = 0
    for colour, angle in enumerate(angles):
        gauge.array[group, mu, colour, colour, 0, lane] = math.cos(angle)
        gauge.array[group, mu, colour, colour, 1, lane] = math.sin(angle)
