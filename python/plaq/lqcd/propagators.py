"""Propagators of quarks from a point or from noise on a time slice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from plaq.errors import InputError
from plaq.lqcd.fields import GaugeField, SpinorField
from plaq.lqcd.lattice import Lattice
from plaq.lqcd.wilson import Wilson


@dataclass(frozen=True)
class Smearing:
    """Gaussian smearing of sources and sinks: `SpinorField.smear` with the links of ``gauge``, smeared or not."""

    gauge: GaugeField
    kappa: float
    steps: int

    def __call__(self, psi: SpinorField, theta: Sequence[float]) -> SpinorField:
        return psi.smear(self.gauge, self.kappa, self.steps, theta)


class Propagator:
    r"""S(x, y) from one source y: ``local`` [t, x, y, z, spin, colour, source spin, source colour] is this rank's
    box.

    It is made for contractions of any number of quark lines from one source. In time it is that of a quark that has
    gone forwards from the source, with $e^{i\pi\theta_0}$ on the slices before it, which are behind the boundary;
    so a correlator [t] is rolled by $-y_0$ to count from the source. In space it is periodic, as the fields of `Wilson`
    are, and $e^{-i\pi\theta_j(x_j - y_j)/L_j}$ times the one that jumps there: a sum over space with $e^{-2\pi i k (x -
    y)/L}$ has the momentum $(2\pi k_j + \pi\Theta_j)/L_j$, with $\Theta$ the sum of all quarks' theta, less those of
    antiquarks. `fields` and `jumping` are the same propagator for sources of further solves and as others store it.
    """

    def __init__(self, lattice: Lattice, source: Sequence[int], local: np.ndarray,
                 theta: Sequence[float] = (0, 0, 0, 0)):
        self.lattice, self.source, self.local, self.theta = lattice, tuple(source), local, tuple(theta)

    @classmethod
    def of_fields(cls, lattice: Lattice, source: Sequence[int], fields: np.ndarray, theta: Sequence[float]) -> Self:
        """Make a propagator from columns as `Wilson.solve` gives them; the inverse of `fields`."""
        made = cls(lattice, source, fields, theta)
        made.local = fields * made._forwards()
        return made

    @classmethod
    def of_jumping(cls, lattice: Lattice, source: Sequence[int], jumping: np.ndarray, theta: Sequence[float]) -> Self:
        """Make a propagator from the form that jumps at boundaries; the inverse of `jumping`."""
        made = cls(lattice, source, jumping, theta)
        return cls.of_fields(lattice, source, jumping * made._spread(), theta)

    def fields(self) -> np.ndarray:
        """As ``local``, with phases spread over all directions as in the fields of `Wilson`: each column
        is what `Wilson.solve` finds for a source at y, and may be made the source of another solve."""
        return self.local * self._forwards().conj()

    def jumping(self) -> np.ndarray:
        r"""As ``local``, of quarks on the links themselves that jump by $e^{i\pi\theta}$ where the lattice ends:
        what Chroma, Grid and files in SciDAC's format have."""
        return self.fields() * self._spread().conj()

    def smeared(self, smearing: Smearing) -> Propagator:
        """With its sink smeared. Collective."""
        out = self.fields()
        for spin, colour in np.ndindex(out.shape[-2:]):
            psi = SpinorField(self.lattice).set_local(out[..., spin, colour])
            out[..., spin, colour] = smearing(psi, self.theta).local()
        return Propagator.of_fields(self.lattice, self.source, out, self.theta)

    def _forwards(self) -> np.ndarray:
        """exp(i pi theta d / T) with d slices from the source on, 0 <= d < T, [t, 1, ...]."""
        T, box = self.lattice.extents[0], self.lattice.box[0]
        ahead = (np.arange(box.start, box.stop) - self.source[0]) % T
        return np.exp(1j * np.pi * self.theta[0] * ahead / T).reshape(-1, *[1] * 7)

    def _spread(self) -> np.ndarray:
        """exp(-i pi theta (x - y) / L), [t, x, y, z, 1, 1, 1, 1]."""
        out = np.ones([1] * 8, complex)
        for mu, (box, y, theta, n) in enumerate(zip(self.lattice.box, self.source, self.theta, self.lattice.extents)):
            axis = [1] * 8
            axis[mu] = -1
            out = out * np.exp(-1j * np.pi * theta * (np.arange(box.start, box.stop) - y) / n).reshape(axis)
        return out


def _solved(matrix: Wilson, source: tuple[int, ...], etas: Callable[[int, int], np.ndarray], colours: int,
            residual: float, smearing: Smearing | None, how: dict) -> Propagator:
    """M^-1 eta for ``etas(spin, colour)``, each a rank's part, smeared or not."""
    out = np.empty((*matrix.lattice.local, 4, 3, 4, colours), complex)
    for spin, colour in np.ndindex(4, colours):
        eta = SpinorField(matrix.lattice).set_local(etas(spin, colour))
        if smearing:
            smearing(eta, matrix.theta)
        out[..., spin, colour] = matrix.solve(eta, residual, **how)[0].local()
    return Propagator.of_fields(matrix.lattice, source, out, matrix.theta)


def point_propagator(matrix: Wilson, source: Sequence[int] = (0, 0, 0, 0), residual: float = 1e-10, *,
                     smearing: Smearing | None = None, **how) -> Propagator:
    """M^-1 for the twelve components of the site ``source`` (t, x, y, z), smeared or not; ``how`` is that of
    `Wilson.solve`. Collective."""
    lattice = matrix.lattice
    if len(source) != 4 or not all(0 <= x < n for x, n in zip(source, lattice.extents)):
        raise InputError(f"the source {tuple(source)} is not on a lattice of {' x '.join(map(str, lattice.extents))}")
    inside = all(box.start <= x < box.stop for x, box in zip(source, lattice.box))

    def point(spin: int, colour: int) -> np.ndarray:
        eta = np.zeros((*lattice.local, 4, 3), complex)
        if inside:
            eta[tuple(x - box.start for x, box in zip(source, lattice.box))][spin, colour] = 1
        return eta

    return _solved(matrix, tuple(source), point, 3, residual, smearing, how)


def noise_propagator(matrix: Wilson, time: int, seed: int, number: int = 0, residual: float = 1e-10, *,
                     smearing: Smearing | None = None, **how) -> Propagator:
    r"""M^-1 for the four spins of one noise source on the slice ``time``: numbers $(\pm 1 \pm i)/\sqrt{2}$ for
    each site of it and colour, functions of (seed, number), smeared or not. Mesons of it are, on average over the
    noise, those of a point source summed over the slice (the one-end trick, Foster and Michael, hep-lat/9810021;
    spins apart), and are divided by its sites. Collective."""
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

    return _solved(matrix, (time, 0, 0, 0), slice_of, 1, residual, smearing, how)
