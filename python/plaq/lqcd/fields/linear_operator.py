"""Fermion matrices as linear operators, which solvers take."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

from plaq import _core
from plaq.data.display import block, facts, head
from plaq.lqcd.fields.gauge_field import GaugeField
from plaq.lqcd.fields.lattice import Lattice
from plaq.lqcd.fields.spinor_field import Flavours, SpinorField

Vector = TypeVar("Vector", SpinorField, Flavours)


class LinearOperator(ABC, Generic[Vector]):
    r"""Fermion matrix M on a copy of a gauge field, with its even-odd preconditioned form on odd sites.

    This form is $\hat M = A - \kappa^2 H_{oe} A^{-1} H_{eo}$ for $M = A - \kappa H$. ``native`` is the operator of
    C++, ``solver`` its solver for `plaq.lqcd.fields.solvers`.
    """

    def __init__(self, lattice: Lattice, kappa: float, native: Any, solver: Any):
        self.lattice, self.kappa, self.native, self.solver = lattice, kappa, native, solver

    @abstractmethod
    def zeros(self, odd: bool = False) -> Vector:
        """Return a vector of zeros on all sites, or on odd ones."""

    def __call__(self, psi: Vector, dagger: bool = False) -> Vector:
        """Return M psi, or M^+ psi. Collective."""
        out = self.zeros()
        self.lattice.call(self.native.apply, out.native, psi.native, dagger)
        return out

    def apply_odd(self, psi: Vector, dagger: bool = False) -> Vector:
        r"""Return $\hat M\psi$ or $\hat M^+\psi$ on odd sites. Collective."""
        out = self.zeros(odd=True)
        self.lattice.call(self.native.apply_odd, out.native, psi.native, dagger)
        return out

    def normal(self, psi: Vector) -> Vector:
        r"""Return $\hat M^+ \hat M\psi$ on odd sites. Collective."""
        return self.apply_odd(self.apply_odd(psi), True)

    @abstractmethod
    def hermitian(self, psi: Vector) -> Vector:
        r"""Return $Q\psi$ on odd sites with the hermitian Q, $Q^2 = \hat M^+\hat M$. Collective."""

    def derivative(self, gauge: GaugeField, X: Vector, Y: Vector):
        r"""Return a native field m of links, the derivative of $\mathrm{Re}\,Y^+ \hat M X$.

        With $U \to e^{\epsilon_a T_a} U$ of ``gauge``, the links of this operator, it changes by
        $-\kappa\,\mathrm{Re\,tr}(\epsilon_a T_a m)$. Collective.
        """
        out = _core.lqcd.Links(self.lattice.layout)
        self.lattice.call(self.native.derivative, out, gauge.native, X.native, Y.native)
        return out

    @property
    def log_det_even(self) -> float:
        r"""$\sum \log|\det A|$ over even sites and flavours, zero without clover term."""
        return self.native.log_det_even

    def log_det_derivative(self, gauge: GaugeField):
        """Return the field of links of `derivative` for `log_det_even`. Collective."""
        out = _core.lqcd.Links(self.lattice.layout)
        self.lattice.call(self.native.log_det_derivative, out, gauge.native)
        return out

    def __repr__(self) -> str:
        return f"<plaq lqcd {type(self).__name__} on {self.lattice.in_words()}>"

    def _repr_html_(self) -> str:
        """Return its parameters."""
        own = {name: value for name, value in vars(self).items() if name not in ("lattice", "native", "solver")}
        theta = ", ".join(f"{x:g}" for x in own.pop("theta"))
        return block(head(repr(self)[1:-1]), facts([*own.items(), ("theta (t, x, y, z)", theta)]))
