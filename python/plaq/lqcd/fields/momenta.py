"""Momenta of links in hybrid Monte Carlo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from plaq import _core
from plaq.lqcd.fields.field import Field
from plaq.lqcd.fields.lattice import Lattice

if TYPE_CHECKING:
    from plaq.lqcd.fields.gauge_field import GaugeField


class Momenta(Field):
    r"""Momenta $P_\mu(x) = p_a T_a$ of links: antihermitian and traceless, $\mathrm{tr} T_a T_b = -\delta_{ab}/2$.

    moving : zero for links that stay where they are, one for others, to be multiplied with `array`; None: all move.
    """

    of_site = (4, 3, 3)

    def __init__(self, lattice: Lattice, native=None, moving: np.ndarray | None = None):
        super().__init__(lattice, native or _core.lqcd.Links(lattice.layout))
        self.moving = moving

    def copy(self) -> Self:
        return type(self)(self.lattice, self.native.copy(), self.moving)

    def _hold(self) -> Self:
        if self.moving is not None:
            self.array[:] *= self.moving
        return self

    def gaussian(self, seed: int, trajectory: int) -> Self:
        """Draw Gaussian components p_a with variance one."""
        _core.lqcd.gaussian_momenta(self.native, seed, trajectory)
        return self._hold()

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
        self._hold()
