"""Spinors of one flavour and of two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from plaq import _core
from plaq.data.display import block, head
from plaq.lqcd.fields.field import Field
from plaq.lqcd.fields.gauge_field import GaugeField
from plaq.lqcd.fields.lattice import Lattice


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
        _core.lqcd.add(self.lattice.context, self.native, factor, other.native)
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
