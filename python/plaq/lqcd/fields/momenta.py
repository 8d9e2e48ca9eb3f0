"""Momenta of links in hybrid Monte Carlo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from plaq import _core
from plaq.lqcd.fields.field import Field
from plaq.lqcd.fields.lattice import Lattice

if TYPE_CHECKING:
    from plaq.lqcd.fields.gauge_field import GaugeField


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
