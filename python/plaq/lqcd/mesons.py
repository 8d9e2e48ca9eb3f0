"""Propagators from a point, and mesons made of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plaq.errors import InputError
from plaq.lqcd import gamma
from plaq.lqcd.fields import SpinorField
from plaq.lqcd.lattice import Lattice
from plaq.lqcd.wilson import Wilson


class Propagator:
    """S(x, y) of one source y: ``local`` [t, x, y, z, spin, colour, source spin, source colour] is this rank's box."""

    def __init__(self, lattice: Lattice, source: tuple[int, ...], local: np.ndarray):
        self.lattice, self.source, self.local = lattice, source, local


def point_propagator(matrix: Wilson, source: Sequence[int] = (0, 0, 0, 0), residual: float = 1e-10, **how) -> Propagator:
    """M^-1 for the twelve components of the site ``source`` (t, x, y, z); ``how`` is that of `Wilson.solve`. Collective."""
    lattice = matrix.lattice
    if len(source) != 4 or not all(0 <= x < n for x, n in zip(source, lattice.extents)):
        raise InputError(f"the source {tuple(source)} is not on a lattice of {' x '.join(map(str, lattice.extents))}")
    inside = all(box.start <= x < box.stop for x, box in zip(source, lattice.box))
    out = np.empty((*lattice.local, 4, 3, 4, 3), complex)
    for spin in range(4):
        for colour in range(3):
            eta = np.zeros((*lattice.local, 4, 3), complex)
            if inside:
                eta[tuple(x - box.start for x, box in zip(source, lattice.box))][spin, colour] = 1
            psi, _ = matrix.solve(SpinorField(lattice).set_local(eta), residual, **how)
            out[..., spin, colour] = psi.local()
    return Propagator(lattice, tuple(source), out)


def meson_correlator(propagator: Propagator, structure: str | np.ndarray = "gamma5",
                     second: Propagator | None = None) -> np.ndarray:
    r"""$C(t) = \sum_{\mathbf x} \mathrm{tr}\,[\Gamma S(x, y)\, \Gamma^\times \gamma_5 S'(x, y)^+ \gamma_5]$ with $\Gamma^\times =
    \gamma_0\Gamma^+\gamma_0$ and t counted from the source, [t], real part; up to a sign the propagation of
    $\bar q\,\Gamma q'$. Positive for gamma5, where it is $\sum |S|^2$ (with the sign of $\gamma_0\gamma_5\gamma_0 = -\gamma_5$
    taken out).

    structure : a name in `gamma.STRUCTURES` or a 4 x 4 matrix. second : S', of the antiquark, by default the same. With a
    twisted mass $\gamma_5 S'^+ \gamma_5$ is the propagator for -mu, so the same S gives the charged pion of the doublet. Lattice
    units, not divided by the volume, for $M = 1 - \kappa H + \dots$: times $(2\kappa)^2$ for fields normalised with the mass.
    Collective.
    """
    if isinstance(structure, str):
        if structure not in gamma.STRUCTURES:
            raise InputError(f"the structure {structure!r} is none of {', '.join(gamma.STRUCTURES)}")
        structure = gamma.STRUCTURES[structure]
    lattice, other = propagator.lattice, second or propagator
    if other.source != propagator.source:
        raise InputError("the two propagators of a meson start from the same site")
    left, right = gamma.GAMMA5 @ structure, -gamma.GAMMA[0] @ structure.conj().T @ gamma.GAMMA[0] @ gamma.GAMMA5
    # gamma5 Gamma S Gamma^x gamma5 S'^+, summed over colours and over space by slices of t.
    turned = np.einsum("ab,...bicj,cd->...aidj", left, propagator.local, right, optimize=True)
    density = (turned * other.local.conj()).real.reshape(*lattice.local, -1).sum(axis=-1)
    parts = lattice.comm.gather((lattice.box, density))  # on one rank, so that the order of the sum is that of the sites
    total = None
    if parts is not None:
        whole = np.empty(lattice.extents)
        for box, values in parts:
            whole[box] = values
        total = np.roll(whole.reshape(lattice.extents[0], -1).sum(axis=1), -propagator.source[0])
    return lattice.comm.bcast(total)
