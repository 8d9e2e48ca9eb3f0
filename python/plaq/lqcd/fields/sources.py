"""Sources of quarks: points, walls, and noise whose numbers are functions of its keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from plaq.errors import InputError
from plaq.lqcd.fields.lattice import Lattice

KINDS = ("point", "wall", "z2", "z4")
SITE, NOISE, VOLUME = 1, 3, 5  # purposes of random numbers


@dataclass(frozen=True)
class Source:
    r"""Source at a site, or on its time slice, with a column for each spin and colour that is separate.

    kind : "point"; "wall" has the same number on all sites of the slice; noise is "z2", $\pm 1$, or "z4",
    $(\pm 1 \pm i)/\sqrt{2}$. Walls and noise have the norm 1 in each column. site : (t, x, y, z); of walls and noise
    the time matters. seed, configuration, number : keys of noise. dilution : which of "spin" and "colour" are
    separate in noise (Foley et al., hep-lat/0505023); other sources have both. momentum : integers k (x, y, z); walls
    and noise have the phase $e^{2\pi i k x/L}$.
    """

    kind: str
    site: tuple[int, ...]
    seed: int = 0
    configuration: int = 0
    number: int = 0
    dilution: tuple[str, ...] = ("spin",)
    momentum: tuple[int, ...] = (0, 0, 0)

    @property
    def is_noise(self) -> bool:
        return self.kind in ("z2", "z4")

    @property
    def spins(self) -> int:
        """Number of separate spins."""
        return 4 if not self.is_noise or "spin" in self.dilution else 1

    @property
    def colours(self) -> int:
        """Number of separate colours."""
        return 3 if not self.is_noise or "colour" in self.dilution else 1

    def columns(self, lattice: Lattice) -> Iterator[tuple[tuple[int, int], np.ndarray]]:
        """Yield ((spin, colour), eta [t, x, y, z, spin, colour]) of this rank's box. InputError outside the lattice."""
        if len(self.site) != 4 or not all(0 <= x < n for x, n in zip(self.site, lattice.extents)):
            raise InputError(f"the source {tuple(self.site)} is not on a lattice of "
                             f"{' x '.join(map(str, lattice.extents))}")
        where = [slice(x - box.start, x - box.start + 1) if box.start <= x < box.stop else slice(0, 0)
                 for x, box in zip(self.site, lattice.box)]
        if self.kind != "point":
            where[1:] = [slice(None)] * 3
        values = self._values(lattice)[(slice(None), *(lattice.box if self.kind != "point" else where)[1:])]
        for spin, colour in np.ndindex(self.spins, self.colours):
            eta = np.zeros((*lattice.local, 4, 3), complex)
            spins = slice(None) if self.spins == 1 else slice(spin, spin + 1)
            colours = slice(None) if self.colours == 1 else slice(colour, colour + 1)
            part = eta[tuple(where)]
            part[..., spins, colours] = values[..., spins if self.spins == 1 else slice(0, 1), colours]
            yield (spin, colour), eta

    def _values(self, lattice: Lattice) -> np.ndarray:
        """Return numbers [1, x, y, z, spin, colour] of the slice, of one spin if spins are separate."""
        space = lattice.extents[1:]
        if self.kind == "point":
            return np.ones((1, *lattice.local[1:], 1, 3), complex)
        if self.kind == "wall":
            values = np.ones((*space, 1, 3), complex)
        else:
            values = noise((*space, 4, 3) if self.spins == 1 else (*space, 3), self.kind, self.seed,
                           (NOISE, self.configuration, self.number)).reshape(*space, -1, 3)
        turned = values * phases(space, self.momentum)[..., None, None]
        return turned[None] / np.sqrt(np.prod(space))


def noise(shape: Sequence[int], kind: str, seed: int, keys: tuple[int, int, int]) -> np.ndarray:
    """Return numbers of z2 or z4, functions of seed and keys (purpose, configuration, number)."""
    purpose, configuration, number = keys
    random = np.random.Generator(np.random.Philox(key=seed, counter=[0, number, purpose, configuration]))
    signs = 2.0 * random.integers(0, 2, (*shape, 2)) - 1
    return signs[..., 0].astype(complex) if kind == "z2" else (signs[..., 0] + 1j * signs[..., 1]) / np.sqrt(2)


def random_site(extents: Sequence[int], seed: int, configuration: int, number: int) -> tuple[int, ...]:
    """Return the site (t, x, y, z) of a source, a function of its keys."""
    random = np.random.Generator(np.random.Philox(key=seed, counter=[0, number, SITE, configuration]))
    return tuple(int(x) for x in random.integers(extents))


def phases(space: Sequence[int], momentum: Sequence[int]) -> np.ndarray:
    """Return exp(2 pi i k x / L) of space, [x, y, z]."""
    turns = [np.exp(2j * np.pi * k * np.arange(n) / n) for k, n in zip(momentum, space)]
    return np.einsum("x,y,z->xyz", *turns)
