"""Propagators from a point, and mesons made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from plaq.errors import InputError
from plaq.lqcd import gamma
from plaq.lqcd.fields import GaugeField, SpinorField
from plaq.lqcd.lattice import Lattice
from plaq.lqcd.wilson import Wilson


@dataclass(frozen=True)
class Smearing:
    """Of sources and sinks: `SpinorField.smear` with the links of ``gauge``, which may be smeared themselves."""

    gauge: GaugeField
    kappa: float
    steps: int

    def __call__(self, psi: SpinorField, theta: Sequence[float]) -> SpinorField:
        return psi.smear(self.gauge, self.kappa, self.steps, theta)


class Propagator:
    """S(x, y) of one source y: ``local`` [t, x, y, z, spin, colour, source spin, source colour] is this rank's
    box. Fields are periodic; those that jump at the boundaries are exp(i pi theta (x - y) / L) times them."""

    def __init__(self, lattice: Lattice, source: tuple[int, ...], local: np.ndarray,
                 theta: Sequence[float] = (0, 0, 0, 0)):
        self.lattice, self.source, self.local, self.theta = lattice, source, local, tuple(theta)

    def smeared(self, smearing: Smearing) -> Propagator:
        """With its sink smeared. Collective."""
        out = np.empty_like(self.local)
        for spin, colour in np.ndindex(self.local.shape[-2:]):
            psi = SpinorField(self.lattice).set_local(self.local[..., spin, colour])
            out[..., spin, colour] = smearing(psi, self.theta).local()
        return Propagator(self.lattice, self.source, out, self.theta)


def _solved(matrix: Wilson, source: tuple[int, ...], etas: Callable[[int, int], np.ndarray], colours: int,
            residual: float, smearing: Smearing | None, how: dict) -> Propagator:
    """M^-1 eta for ``etas(spin, colour)``, each a rank's part, smeared or not."""
    out = np.empty((*matrix.lattice.local, 4, 3, 4, colours), complex)
    for spin, colour in np.ndindex(4, colours):
        eta = SpinorField(matrix.lattice).set_local(etas(spin, colour))
        if smearing:
            smearing(eta, matrix.theta)
        out[..., spin, colour] = matrix.solve(eta, residual, **how)[0].local()
    return Propagator(matrix.lattice, source, out, matrix.theta)


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


def meson_correlator(propagator: Propagator, structure: str | np.ndarray = "gamma5", second: Propagator | None = None,
                     source: str | np.ndarray | None = None) -> np.ndarray:
    r"""$C(t) = \sum_{\mathbf x} \mathrm{tr}\,[\Gamma S(x, y)\, \Gamma'^\times \gamma_5 S'(x, y)^+ \gamma_5]$ with
    $\Gamma^\times = \gamma_0\Gamma^+\gamma_0$, by default $\Gamma' = \Gamma$, and t counted from the source, [t],
    real part; up to a sign the propagation of $\bar q\,\Gamma q'$. Positive for gamma5, where it is $\sum |S|^2$
    (with the sign of $\gamma_0\gamma_5\gamma_0 = -\gamma_5$ taken out).

    structure, source : $\Gamma$ and $\Gamma'$, each a name in `gamma.STRUCTURES` or a 4 x 4 matrix. second : S',
    of the antiquark, by default the same. With a twisted mass $\gamma_5 S'^+ \gamma_5$ is the propagator for -mu,
    so the same S gives the charged pion of the doublet. Lattice units, not divided by the volume, for
    $M = 1 - \kappa H + \dots$: times $(2\kappa)^2$ for fields normalised with the mass. Collective.
    """
    at_sink = _matrix(structure)
    at_source = at_sink if source is None else _matrix(source)
    lattice, other = propagator.lattice, second or propagator
    if other.source != propagator.source:
        raise InputError("the two propagators of a meson start from the same site")
    left, right = gamma.GAMMA5 @ at_sink, -gamma.GAMMA[0] @ at_source.conj().T @ gamma.GAMMA[0] @ gamma.GAMMA5
    # gamma5 Gamma S Gamma^x gamma5 S'^+, summed over colours and over space by slices of t.
    turned = np.einsum("ab,...bicj,cd->...aidj", left, propagator.local, right, optimize=True)
    density = (turned * other.local.conj()).real.reshape(*lattice.local, -1).sum(axis=-1)
    # on one rank, so that the order of the sum is that of the sites
    parts = lattice.comm.gather((lattice.box, density))
    total = None
    if parts is not None:
        whole = np.empty(lattice.extents)
        for box, values in parts:
            whole[box] = values
        total = np.roll(whole.reshape(lattice.extents[0], -1).sum(axis=1), -propagator.source[0])
    return lattice.comm.bcast(total)


def _matrix(structure: str | np.ndarray) -> np.ndarray:
    """Of its name; InputError for one that is none."""
    if not isinstance(structure, str):
        return structure
    if structure not in gamma.STRUCTURES:
        raise InputError(f"the structure {structure!r} is none of {', '.join(gamma.STRUCTURES)}")
    return gamma.STRUCTURES[structure]
