"""Propagators of quarks from a point, or from noise on a time slice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from plaq.data.display import Drawing, behind_clicks, block, facts, head
from plaq.data.estimate import Axis
from plaq.data.formatting import format_size
from plaq.data.recorded import Recorded
from plaq.errors import InputError
from plaq.lqcd.fields.fields import GaugeField, SpinorField
from plaq.lqcd.fields.lattice import Lattice
from plaq.lqcd.fields.solvers import solve
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
    """

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
        return Propagator.from_fields(self.lattice, self.source, out, self.theta)

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


def _solve_columns(matrix: Wilson, source: tuple[int, ...], etas: Callable[[int, int], np.ndarray], colours: int,
            residual: float, smearing: Smearing | None, options: dict) -> Propagator:
    """Return M^-1 eta for ``etas(spin, colour)``, each a rank's part, smeared or not."""
    out = np.empty((*matrix.lattice.local, 4, 3, 4, colours), complex)
    for spin, colour in np.ndindex(4, colours):
        eta = SpinorField(matrix.lattice).set_local(etas(spin, colour))
        if smearing:
            smearing(eta, matrix.theta)
        out[..., spin, colour] = solve(matrix, eta, residual, **options)[0].local()
    return Propagator.from_fields(matrix.lattice, source, out, matrix.theta)


def point_propagator(matrix: Wilson, source: Sequence[int] = (0, 0, 0, 0), residual: float = 1e-10, *,
                     smearing: Smearing | None = None, **options) -> Propagator:
    """Return M^-1 for the twelve components of the site ``source`` (t, x, y, z), smeared or not.

    ``options`` are those of `solve`. Collective.
    """
    lattice = matrix.lattice
    if len(source) != 4 or not all(0 <= x < n for x, n in zip(source, lattice.extents)):
        raise InputError(f"the source {tuple(source)} is not on a lattice of {' x '.join(map(str, lattice.extents))}")
    inside = all(box.start <= x < box.stop for x, box in zip(source, lattice.box))

    def point(spin: int, colour: int) -> np.ndarray:
        eta = np.zeros((*lattice.local, 4, 3), complex)
        if inside:
            eta[tuple(x - box.start for x, box in zip(source, lattice.box))][spin, colour] = 1
        return eta

    return _solve_columns(matrix, tuple(source), point, 3, residual, smearing, options)


def noise_propagator(matrix: Wilson, time: int, seed: int, number: int = 0, residual: float = 1e-10, *,
                     smearing: Smearing | None = None, **options) -> Propagator:
    r"""Return M^-1 for the four spins of one noise source on the slice ``time``, smeared or not.

    The source has numbers $(\pm 1 \pm i)/\sqrt{2}$ for each site and colour, functions of (seed, number). Averaged
    over the noise, mesons of it are those of a point source summed over the slice (the one-end trick, Foster and
    Michael, hep-lat/9810021; separate spins), divided by its sites. Collective.
    """
    lattice, box = matrix.lattice, matrix.lattice.box
    if not 0 <= time < lattice.extents[0]:
        raise InputError(f"the time slice {time} is not on a lattice of {' x '.join(map(str, lattice.extents))}")
    random = np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, 3, number]))
    signs = 2.0 * random.integers(0, 2, (*lattice.extents[1:], 3, 2)) - 1
    noise = (signs[..., 0] + 1j * signs[..., 1])[box[1:]] / np.sqrt(2 * np.prod(lattice.extents[1:]))

    def slice_of(spin: int, _: int) -> np.ndarray:
        eta = np.zeros((*lattice.local, 4, 3), complex)
        if box[0].start <= time < box[0].stop:
            eta[time - box[0].start, ..., spin, :] = noise
        return eta

    return _solve_columns(matrix, (time, 0, 0, 0), slice_of, 1, residual, smearing, options)
