r"""Correlators of quarks from the walls of the Schroedinger functional, as tables [walls.NAME] ask for them.

With H the solution for a source at a wall (Luescher and Weisz, hep-lat/9606016), $f_P(t) = \frac12\langle\mathrm{tr}
H^+H\rangle$ and $f_A(t) = -\frac12\langle\mathrm{tr}H^+\gamma_0H\rangle$, on average over space.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from plaq import _core
from plaq.data.estimate import Axis, Estimate
from plaq.data.recorded import Recorded
from plaq.lqcd.analysis.averages import average
from plaq.lqcd.fields import gamma
from plaq.lqcd.fields.gauge_field import GaugeField
from plaq.lqcd.fields.lattice import Lattice
from plaq.lqcd.fields.schroedinger import distance_of
from plaq.lqcd.fields.solvers import solve
from plaq.lqcd.fields.spinor_field import SpinorField
from plaq.lqcd.fields.wilson import Wilson
from plaq.lqcd.measurements.measurement import Measurement, Quantity
from plaq.lqcd.measurements.workbench import Workbench


class Lines:
    r"""Solutions H from one wall, those of P_+ from t = 0 (``sign`` = 1) or of P_- from t = T (-1).

    $DH = \tilde c_t U_0^{\mp1}P_\pm$ next to the wall, D = M / 2 kappa. Collective.
    """

    def __init__(self, matrix: Wilson, gauge: GaugeField, sign: int, residual: float, **options):
        self.gauge, self.sign, self.matrix = gauge, sign, matrix
        lattice = matrix.lattice
        self.T = lattice.extents[0] - 1 - matrix.spare
        values, vectors = np.linalg.eigh(gamma.GAMMA[0])
        self.basis = vectors[:, values * sign > 0]  # [spin, vector]
        self.fields: list[SpinorField] = []
        for vector in self.basis.T:
            for colour in range(3):
                on_wall = np.zeros((*lattice.local, 4, 3), complex)
                on_wall[self._at(0 if sign > 0 else self.T), ..., colour] = vector
                eta = self._transport(SpinorField(lattice).set_local(on_wall)).scale(2 * matrix.kappa * matrix.cF)
                self.fields.append(solve(matrix, eta, residual, **options)[0])

    def _at(self, t: int) -> np.ndarray:
        """Return [t] of this rank's box: whether a slice is this one."""
        lattice = self.matrix.lattice
        return np.arange(lattice.extents[0])[lattice.box[0]] == t

    def _transport(self, psi: SpinorField) -> SpinorField:
        """Return psi moved by one slice away from the wall. Collective."""
        lattice = self.matrix.lattice
        return SpinorField(lattice, lattice.call(_core.lqcd.transport, lattice.context, psi.native, self.gauge.native,
                                                 0, -self.sign, [0.0] * 4))

    def correlators(self) -> tuple[np.ndarray, np.ndarray]:
        """Return f_A and f_P for 0 < t < T, t from the wall. Collective."""
        axial, density = 0.0, 0.0
        for psi in (field.local() for field in self.fields):
            density = density + np.sum(np.abs(psi) ** 2, axis=(-2, -1)) / 2
            axial = axial - self.sign * np.einsum("...ac,ab,...bc->...", psi.conj(), gamma.GAMMA[0], psi) / 2
        found = []
        for summand in (axial, density):
            sums = mean_over_slices(self.matrix.lattice, summand).real[1:self.T]
            found.append(sums[::self.sign])
        return found[0], found[1]

    def across(self) -> np.ndarray:
        """Return K at the other wall, [(spin, colour), (spin, colour)] of this wall's basis. Collective."""
        lattice, end = self.matrix.lattice, self.T if self.sign > 0 else 0
        rows = []
        for field in self.fields:
            psi = np.einsum("as,...ac->...sc", self.basis.conj(), self._transport(field).local())
            rows.append([mean_over_slices(lattice, psi[..., s, c])[end] for s in range(2) for c in range(3)])
        return self.matrix.cF * np.array(rows).T


def mean_over_slices(lattice: Lattice, summand: np.ndarray) -> np.ndarray:
    """Return [t], the mean over space of numbers [t, x, y, z] of this rank's box. Collective."""
    sums = lattice.call(_core.lqcd.slice_sums, lattice.context, lattice.layout, np.ascontiguousarray(summand, complex))
    return sums / np.prod(lattice.extents[1:])


class WallQuarks(Measurement):
    """Correlators of [walls.NAME]."""

    family = "walls"

    def quantities(self) -> dict[str, Quantity]:
        t = (Axis("t", np.arange(1, distance_of(self.p)), "a"),)
        return {"f_a": Quantity("f_A(t), t from the first wall", t), "f_p": Quantity("f_P(t)", t),
                "g_a": Quantity("f_A(t) from the second wall, t from it, with the sign of f_A", t),
                "g_p": Quantity("f_P(t) from the second wall", t),
                "f_1": Quantity("f_1 from wall to wall")}

    def measure(self, bench: Workbench) -> Mapping[str, Any]:
        table, found = self.table, {}
        matrix = Wilson(bench.gauge, table.kappa, 0.0, (0.0, *table.theta), table.csw, open_ends=True, cF=table.ct,
                        spare=self.p.lattice.extents[0] - 1 - distance_of(self.p))
        for name, sign in (("f", 1), ("g", -1)):
            lines = Lines(matrix, bench.gauge, sign, table.residual, method=table.solver, precision=table.precision)
            found[f"{name}_a"], found[f"{name}_p"] = lines.correlators()
            if sign > 0:
                found["f_1"] = float(np.sum(np.abs(lines.across()) ** 2)) / 2
        return found


def wall_estimates(table: Any, series: Mapping[str, Recorded]) -> tuple[dict[str, Estimate], list[str]]:
    """Return correlators, PCAC masses from both walls and Z_P without its factor of tree level, and sentences."""
    t = series["f_a"].axes[1]
    found = {name: average(name, one.values, axes=one.axes[1:], convention=one.convention)
             for name, one in series.items()}
    said = []
    for name, letter in (("pcac_mass", "f"), ("pcac_mass_second", "g")):
        if t.size > 2:
            both = np.stack([series[f"{letter}_a"].values, series[f"{letter}_p"].values], axis=-1)
            found[name] = average(name, both, lambda c: pcac_mass(c, table.cA), unit="1/a",
                                  axes=[Axis("t", t.values[1:-1], "a")],
                                  convention="[(f_A(t+1) - f_A(t-1)) / 2 + c_A d^2 f_P] / 2 f_P")
            said.append(f"PCAC mass at t = {t.values[t.size // 2]}, {'first' if letter == 'f' else 'second'} wall: "
                        f"{found[name].pick(t=t.size // 2 - 1)} / a")
    middle = t.size // 2
    both = np.stack([series["f_1"].values, series["f_p"].values[:, middle]], axis=-1)
    found["z_p"] = average("z_p", both, lambda c: np.sqrt(3 * c[0]) / c[1],
                           convention="sqrt(3 f_1) / f_P(T/2), without the factor that makes it one at tree level")
    return found, [*said, f"sqrt(3 f_1) / f_P at t = {t.values[middle]}: {found['z_p']}"]


def pcac_mass(correlators: np.ndarray, cA: float) -> np.ndarray:
    """Return m(t) for 1 < t < T - 1 from [t, (f_A, f_P)]."""
    a, p = correlators.T
    return ((a[2:] - a[:-2]) / 2 + cA * (p[2:] + p[:-2] - 2 * p[1:-1])) / (2 * p[1:-1])
