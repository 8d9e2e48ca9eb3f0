"""Propagators of quarks from points, walls and noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from plaq import _core
from plaq.data.display import Drawing, behind_clicks, block, facts, head
from plaq.data.estimate import Axis
from plaq.data.formatting import format_size
from plaq.data.recorded import Recorded
from plaq.lqcd.fields.gauge_field import GaugeField
from plaq.lqcd.fields.lattice import Lattice
from plaq.lqcd.fields.solvers import solve
from plaq.lqcd.fields.sources import Source
from plaq.lqcd.fields.spinor_field import SpinorField
from plaq.lqcd.fields.wilson import Wilson

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Smearing:
    """Gaussian smearing of sources and sinks: `SpinorField.smear` with the links of ``gauge``."""

    gauge: GaugeField
    kappa: float
    steps: int

    def __call__(self, psi: SpinorField, theta: Sequence[float]) -> SpinorField:
        return psi.smear(self.gauge, self.kappa, self.steps, theta)


class Propagator:
    r"""Propagator S(x, y) from one source y.

    ``local`` [t, x, y, z, spin, colour, source spin, source colour] is this rank's box. It serves contractions of any
    number of quark lines from one source. In time it belongs to a quark that moves forwards from the source, with
    $e^{i\pi\theta_0}$ on the slices before the source, which are behind the boundary. So a correlator [t] is rolled by
    $-y_0$ to count from the source.

    In space it is periodic, as the fields of `Wilson` are, and $e^{-i\pi\theta_j(x_j - y_j)/L_j}$ times the one that
    jumps at the boundary. So a sum over space with $e^{-2\pi i k (x - y)/L}$ has the momentum $(2\pi k_j +
    \pi\Theta_j)/L_j$, with $\Theta$ the sum of all quarks' theta minus those of antiquarks. `fields` is the same
    propagator for sources of further solves, `jumping` in the form of other programs.

    Its columns are four source spins, or one where noise has all spins, and three source colours, or one. ``momentum``
    is that of a source on a whole time slice, None for a point.
    """

    momentum: tuple[int, ...] | None = None

    def __init__(self, lattice: Lattice, source: Sequence[int], local: np.ndarray,
                 theta: Sequence[float] = (0, 0, 0, 0)):
        self.lattice, self.source, self.local, self.theta = lattice, tuple(source), local, tuple(theta)

    def record(self) -> Recorded:
        """Return the sum of |S|^2 over space, spin and colour by distance in time. Collective."""
        sums = np.zeros(self.lattice.extents[0])
        sums[self.lattice.box[0]] += np.sum(np.abs(self.local) ** 2, axis=tuple(range(1, self.local.ndim)))
        sums = np.asarray(self.lattice.comm.allreduce(sums))
        return Recorded("|S|^2", np.roll(sums, -self.source[0]), (Axis("t", np.arange(len(sums)), "a"),), "",
                        "sum over space, spin and colour, t from the source")

    def plot(self) -> Figure:
        """Return a figure of |S|^2 against time on a logarithmic scale. Collective."""
        return self.drawing().figure()

    def drawing(self) -> Drawing:
        """Return the figure of `plot` before it is drawn. Collective."""
        record = self.record()

        def draw(theme):
            from plaq.data import plots

            figure = plots.record(record, theme)
            figure.axes[0].set_yscale("log")
            return figure

        return Drawing(draw, "|S|^2", record.convention)

    def __repr__(self) -> str:
        return f"<plaq lqcd Propagator from {self.source} on {self.lattice.in_words()}>"

    def _repr_html_(self) -> str:
        """Return source and size; with one rank, which needs no others for it, the figure as well."""
        drawn = [self.drawing()] if self.lattice.comm.size == 1 else []
        return block(head(repr(self)[1:-1]), facts([
            ("theta (t, x, y, z)", ", ".join(f"{x:g}" for x in self.theta)),
            ("memory of a rank", format_size(self.local.nbytes))]), behind_clicks(drawn))

    @classmethod
    def from_fields(cls, lattice: Lattice, source: Sequence[int], fields: np.ndarray, theta: Sequence[float]) -> Self:
        """Make a propagator from columns as `solve` returns them; the inverse of `fields`."""
        propagator = cls(lattice, source, fields, theta)
        propagator.local = fields * propagator._time_phases()
        return propagator

    @classmethod
    def from_jumping(cls, lattice: Lattice, source: Sequence[int], jumping: np.ndarray, theta: Sequence[float]) -> Self:
        """Make a propagator from the form that jumps at boundaries; the inverse of `jumping`."""
        propagator = cls(lattice, source, jumping, theta)
        return cls.from_fields(lattice, source, jumping * propagator._boundary_phases(), theta)

    def fields(self) -> np.ndarray:
        """Return ``local`` with phases distributed over all directions, as in the fields of `Wilson`.

        Each column is the solution of `solve` for a source at y, and may be the source of another solve.
        """
        return self.local * self._time_phases().conj()

    def jumping(self) -> np.ndarray:
        r"""Return ``local`` for fields that jump by $e^{i\pi\theta}$ at the boundaries, without phases on the links.

        Chroma, Grid and files in SciDAC's format have this form.
        """
        return self.fields() * self._boundary_phases().conj()

    def smear_sink(self, smearing: Smearing) -> Propagator:
        """Return the propagator with its sink smeared. Collective."""
        out = self.fields()
        for spin, colour in np.ndindex(out.shape[-2:]):
            psi = SpinorField(self.lattice).set_local(out[..., spin, colour])
            out[..., spin, colour] = smearing(psi, self.theta).local()
        smeared = Propagator.from_fields(self.lattice, self.source, out, self.theta)
        smeared.momentum = self.momentum
        return smeared

    def transport(self, gauge: GaugeField, mu: int, step: int = 1) -> np.ndarray:
        r"""Return $U_\mu(x)S(x+\mu, y)$, or $U_\mu(x-\mu)^+S(x-\mu, y)$ for ``step`` = -1, of `fields`.

        Links have the phases of theta. Collective.
        """
        lattice, out = self.lattice, self.fields()
        for spin, colour in np.ndindex(out.shape[-2:]):
            psi = SpinorField(lattice).set_local(out[..., spin, colour])
            moved = lattice.call(_core.lqcd.transport, lattice.context, psi.native, gauge.native, mu, step,
                                 list(self.theta))
            out[..., spin, colour] = SpinorField(lattice, moved).local()
        return out

    def _time_phases(self) -> np.ndarray:
        """Return exp(i pi theta d / T) with d slices from the source on, 0 <= d < T, [t, 1, ...]."""
        T, box = self.lattice.extents[0], self.lattice.box[0]
        ahead = (np.arange(box.start, box.stop) - self.source[0]) % T
        return np.exp(1j * np.pi * self.theta[0] * ahead / T).reshape(-1, *[1] * 7)

    def _boundary_phases(self) -> np.ndarray:
        """Return exp(-i pi theta (x - y) / L), [t, x, y, z, 1, 1, 1, 1]."""
        out = np.ones([1] * 8, complex)
        for mu, (box, y, theta, n) in enumerate(zip(self.lattice.box, self.source, self.theta, self.lattice.extents)):
            axis = [1] * 8
            axis[mu] = -1
            out = out * np.exp(-1j * np.pi * theta * (np.arange(box.start, box.stop) - y) / n).reshape(axis)
        return out


def propagator(matrix: Wilson, source: Source, residual: float = 1e-10, *, smearing: Smearing | None = None,
               **options) -> Propagator:
    """Return M^-1 for all columns of a source, smeared or not.

    ``options`` are those of `solve`. Collective. InputError for a source that is not on the lattice.
    """
    lattice = matrix.lattice
    out = np.empty((*lattice.local, 4, 3, source.spins, source.colours), complex)
    for (spin, colour), eta in source.columns(lattice):
        field = SpinorField(lattice).set_local(eta)
        if smearing:
            smearing(field, matrix.theta)
        out[..., spin, colour] = solve(matrix, field, residual, **options)[0].local()
    made = Propagator.from_fields(lattice, source.site, out, matrix.theta)
    made.momentum = source.momentum if source.kind != "point" else None
    return made


def point_propagator(matrix: Wilson, source: Sequence[int] = (0, 0, 0, 0), residual: float = 1e-10, *,
                     smearing: Smearing | None = None, **options) -> Propagator:
    """Return M^-1 for the twelve components of the site ``source`` (t, x, y, z), smeared or not.

    ``options`` are those of `solve`. Collective.
    """
    return propagator(matrix, Source("point", tuple(source)), residual, smearing=smearing, **options)


def noise_propagator(matrix: Wilson, time: int, seed: int, number: int = 0, residual: float = 1e-10, *,
                     smearing: Smearing | None = None, **options) -> Propagator:
    r"""Return M^-1 for the four spins of one noise source on the slice ``time``, smeared or not.

    The source has numbers $(\pm 1 \pm i)/\sqrt{2}$ for each site and colour, functions of (seed, number). Averaged
    over the noise, mesons of it are those of a point source summed over the slice (the one-end trick, Foster and
    Michael, hep-lat/9810021; separate spins), divided by its sites. Collective.
    """
    return propagator(matrix, Source("z4", (time, 0, 0, 0), seed, number), residual, smearing=smearing, **options)
