"""What the formats of gauge configurations share: the order of sites and links in them, checksums, plaquettes."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from plaq.errors import InputError
from plaq.files.guard import DamagedFile, reading
from plaq.lqcd.fields import GaugeField
from plaq.lqcd.lattice import Lattice

# Files have [t, z, y, x, mu] with mu = x, y, z, t; plaq [t, x, y, z, mu] with mu = t, x, y, z.
ORDER = (0, 3, 2, 1)


def box_of(lattice: Lattice) -> tuple[slice, ...]:
    """This rank's part of an array in the order of files."""
    return tuple(lattice.box[axis] for axis in ORDER)


def from_file(values: np.ndarray) -> np.ndarray:
    """[t, z, y, x, mu, ...] in the order of files to plaq's [t, x, y, z, mu, ...]."""
    return np.roll(np.moveaxis(values, range(4), ORDER), 1, axis=4)


def to_file(values: np.ndarray) -> np.ndarray:
    """The other way about."""
    return np.moveaxis(np.roll(values, -1, axis=4), ORDER, range(4))


def need_extents(path: Path, lattice: Lattice, extents: tuple[int, ...]) -> None:
    """InputError where the file holds another lattice."""
    if lattice.extents != extents:
        shown = lambda e: " x ".join(map(str, e))
        raise InputError(f"{path}: holds a lattice of {shown(extents)} (t, x, y, z), not {shown(lattice.extents)}")


def read_part(path: Path, lattice: Lattice, what: str, describe: Callable[[Path], dict[str, Any]]) -> tuple[dict, np.ndarray]:
    """(``describe(path)``, this rank's part of the numbers) of a file that is to be ``what``. The description has the ``extents``
    of its lattice, and ``kind``, ``offset`` and ``shape`` of its numbers. InputError that names the file, on all ranks.
    Collective."""
    def head():
        with reading(path, what):
            found = describe(path)
            need_extents(path, lattice, found["extents"])
            return found

    found = lattice.comm.on_root(head, share=True)

    def load():
        with reading(path, what):
            return np.array(np.memmap(path, found["kind"], "r", found["offset"], found["shape"])[box_of(lattice)])

    return found, lattice.comm.together(load)


def scidac_checksum(lattice: Lattice, values: np.ndarray) -> tuple[int, int]:
    """(suma, sumb) of `values` [t, z, y, x, ...], this rank's part of a file as it is there: CRC-32 of each site's bytes,
    turned left by the number of the site, x fastest, modulo 29 and 31, and all joined by exclusive or. Collective."""
    extents, box = [lattice.extents[axis] for axis in ORDER], box_of(lattice)
    numbers = np.arange(lattice.volume).reshape(extents)[box].ravel()
    rows = np.ascontiguousarray(values).reshape(numbers.size, -1)
    crc = np.fromiter((zlib.crc32(row) for row in rows), np.uint64, numbers.size)
    mine = []
    for modulus in (29, 31):
        by = (numbers % modulus).astype(np.uint64)
        turned = (crc << by | crc >> (np.uint64(32) - by)) & np.uint64(0xFFFFFFFF)
        mine.append(int(np.bitwise_xor.reduce(turned)))
    sums = [0, 0]
    for a, b in lattice.comm.allgather(mine):
        sums = [sums[0] ^ a, sums[1] ^ b]
    return sums[0], sums[1]


def check_gauge(path: Path, gauge: GaugeField, single: bool, plaquette: str | None) -> None:
    """That links are unitary as far as their precision goes, and the plaquette is the one that the file states, as far as it
    has digits. Collective."""
    off = gauge.unitarity_violation()
    if not off < (1e-4 if single else 1e-8):
        raise DamagedFile(f"{path}: damaged, or not of SU(3): a link is off from unitarity by {off:.2g}")
    if plaquette is None:
        return
    digits = len(plaquette.strip().lower().partition("e")[0].partition(".")[2])
    tolerance = max(2 * 10.0**-digits, 1e-5 if single else 1e-10)
    found = gauge.plaquette()
    if not abs(found - float(plaquette)) < tolerance:
        raise DamagedFile(f"{path}: says that its plaquette is {plaquette.strip()}, and it is {found:.12f}")
