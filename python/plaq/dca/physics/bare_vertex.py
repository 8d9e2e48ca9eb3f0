"""Bare interaction of a general model in each channel: the vertex Gamma that it makes to first order.

A term v c+_1 c_2 c+_3 c_4, with both legs of a pair of one spin, gives in mean field

    ph, unlike spins    -v <c+_3 c_4> for c+_1 c_2, and the reverse,
    ph, equal spins     the same, +v <c+_1 c_4> for c+_3 c_2 and +v <c+_3 c_2> for c+_1 c_4,
    pp                  -v <c_2 c_4> for c+_3 c+_1,

times 1/(beta N_c), with phases of the cells at momenta that add up. Pairs x = (K, a, b) are those of
`plaq.dca.physics.orbital_channels`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from plaq.dca.lattice.interaction import DN, UP


@dataclass(frozen=True)
class Leg:
    """Operator c+_create c_annihilate of a spin in the cell at the displacement d."""

    spin: int
    create: int
    annihilate: int
    d: np.ndarray


def terms_of(interaction, dimension: int) -> Iterator[tuple[float, Leg, Leg]]:
    """Yield (v, left leg, right leg) of all terms."""
    here = np.zeros(dimension)
    for p in interaction.pairs:
        yield p.value, Leg(p.spin_a, p.a, p.a, here), Leg(p.spin_b, p.b, p.b, np.array(p.d))
    for e in interaction.exchanges:
        yield e.value, Leg(UP, e.a, e.b, here), Leg(DN, e.c, e.d, here)


def bare_vertex(model, kind: str, q: int, beta: float) -> np.ndarray:
    """Return Gamma [x, x'] of a channel at the transfer with index q; mean over the reversal of spins."""
    cluster, bands = model.cluster, len(model.lattice.orbitals)
    terms = list(terms_of(model.interaction, len(cluster.momenta[0])))
    shape = (cluster.size, bands, bands, cluster.size, bands, bands)
    Q = cluster.momenta[q]
    if kind == "pp":
        whole = pairing(terms, cluster.momenta, Q, np.zeros(shape, complex))
    else:
        equal, unlike = particle_hole(terms, cluster.momenta, Q, np.zeros((2, *shape), complex))
        whole = equal - unlike if kind == "magnetic" else equal + unlike
    return whole.reshape(cluster.size * bands**2, -1) / (beta * cluster.size)


def particle_hole(terms, K: np.ndarray, Q: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Add Gamma of equal and of unlike spins to ``out`` [2, K', a', b', K, a, b], means over the reversal of spins."""
    wave = lambda d: np.exp(1j * K @ d)
    for v, left, right in terms:
        for one, other in ((left, right), (right, left)):
            # <c+_{K b} c_{K+Q a}> of other for c+_{K'+Q a'} c_{K' b'} of one: the same at all K and K'
            phase = np.exp(1j * Q @ (other.d - one.d))
            out[int(one.spin != other.spin), :, one.create, one.annihilate, :, other.annihilate,
                other.create] -= v / 2 * phase
            if one.spin == other.spin:
                # <c+_1 c_4>, 1 of one and 4 of other, for c+_3 c_2
                apart = other.d - one.d
                phase = np.conj(wave(apart))[:, None] * wave(apart)
                out[0, :, other.create, one.annihilate, :, other.annihilate, one.create] += v / 2 * phase
    return out


def pairing(terms, K: np.ndarray, Q: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Add Gamma of pairs c_{K a, up} c_{Q-K b, down} to ``out`` [K', a', b', K, a, b]."""
    for v, left, right in terms:
        if left.spin == right.spin:
            continue
        for up, down in ((left, right), (right, left)):
            apart = up.d - down.d
            phase = np.conj(np.exp(1j * K @ apart))[:, None] * np.exp(1j * K @ apart)
            out[:, up.create, down.create, :, up.annihilate, down.annihilate] -= v / 2 * phase
    return out
