"""What the formats of gauge configurations share: the order of sites and links in them, checksums, plaquettes."""

from __future__ import annotations

import math
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from plaq.errors import InputError, RunError
from plaq.files.atomic import atomic_file, cannot_write
from plaq.files.guard import DamagedFile, open_file, reading
from plaq.inputs.schema import one_line
from plaq.lqcd.fields import GaugeField
from plaq.lqcd.lattice import Lattice

# Files have [t, z, y, x, mu] with mu = x, y, z, t; plaq [t, x, y, z, mu] with mu = t, x, y, z.
ORDER = (0, 3, 2, 1)
DOUBLE, SINGLE = 1e-8, 1e-4  # how far links of 64 and of 32 bits may be off from unitarity
ROUNDED = "; if its 64 bits were made of 32, reunitarise=True reads it"
UNVERIFIED = "; verify=False reads its links all the same"


def box_of(lattice: Lattice) -> tuple[slice, ...]:
    """This rank's part of an array in the order of files."""
    return tuple(lattice.box[axis] for axis in ORDER)


def from_file(values: np.ndarray) -> np.ndarray:
    """[t, z, y, x, mu, ...] in the order of files to plaq's [t, x, y, z, mu, ...]."""
    return np.roll(np.moveaxis(values, range(4), ORDER), 1, axis=4)


def to_file(values: np.ndarray) -> np.ndarray:
    """The other way about."""
    return np.moveaxis(np.roll(values, -1, axis=4), ORDER, range(4))


def as_numbers(values: np.ndarray, bits: int) -> np.ndarray:
    """[..., re or im], big endian, of 32 or 64 bits."""
    return np.stack([values.real, values.imag], axis=-1).astype(f">f{bits // 8}")


def on_all(lattice: Lattice, error: DamagedFile) -> DamagedFile:
    """The error, which all ranks have found."""
    error.ranks = lattice.comm.size
    return error


def need_extents(path: Path, lattice: Lattice, extents: tuple[int, ...]) -> None:
    """InputError where the file holds another lattice."""
    if lattice.extents != extents:
        there, here = (one_line(" x ".join(map(str, e))) for e in (extents, lattice.extents))
        raise InputError(f"{path}: holds a lattice of {there} (t, x, y, z), not {here}")


def read_part(path: Path, lattice: Lattice, what: str,
              describe: Callable[[Path], dict[str, Any]]) -> tuple[dict, np.ndarray]:
    """(``describe(path)``, this rank's part of the numbers) of a file that is to be ``what``. The description has
    the ``extents`` of its lattice, and ``kind``, ``offset`` and ``shape`` of its numbers. InputError that names
    the file, on all ranks. Collective."""
    def head():
        with reading(path, what):
            found = describe(path)
            need_extents(path, lattice, found["extents"])
            return found

    found = lattice.comm.on_root(head, share=True)
    return found, lattice.comm.together(lambda: read_box(path, lattice, what, found["kind"], found["offset"],
                                                         found["shape"][4:]))


def read_box(path: Path, lattice: Lattice, what: str, kind: str, offset: int, of_site: tuple[int, ...]) -> np.ndarray:
    """This rank's part of numbers [t, z, y, x, *of_site] that begin at ``offset``."""
    with reading(path, what), open(open_file(path), "rb", buffering=0) as file:
        out = np.empty((*(lattice.local[axis] for axis in ORDER), *of_site), kind)
        site = out.dtype.itemsize * int(np.prod(of_site))
        rest = memoryview(out.reshape(-1).view(np.uint8))
        for first, size in runs(lattice, site):
            at, stop = offset + first, offset + first + size
            while at < stop:
                got = os.preadv(file.fileno(), [rest[:stop - at]], at)
                if not got:
                    raise DamagedFile(f"{path}: ends at byte {at}, within its numbers")
                at, rest = at + got, rest[got:]
        return out


def runs(lattice: Lattice, site: int) -> Iterator[tuple[int, int]]:
    """(first byte, bytes) of the pieces that a rank's part has in a file with ``site`` bytes for each site,
    in their order."""
    extents, box = [lattice.extents[axis] for axis in ORDER], box_of(lattice)
    whole = 4  # axes from here on are in one piece
    while whole > 0 and (whole == 4 or box[whole] == slice(0, extents[whole])):
        whole -= 1
    size = int(np.prod([b.stop - b.start for b in box[whole:]])) * site
    for place in np.ndindex(*(b.stop - b.start for b in box[:whole])):
        first = [b.start + x for b, x in zip(box, place)] + [b.start for b in box[whole:]]
        yield int(np.ravel_multi_index(first, extents)) * site, size


def write_whole(path: Path, lattice: Lattice, before: bytes, numbers: np.ndarray, after: bytes) -> None:
    """A file of the bytes ``before``, the numbers of all ranks, of which ``numbers`` [t, z, y, x, ...] is this
    rank's part, and ``after``. Every rank writes its own; the file is whole or not there. RunError on all ranks
    where it cannot be written, as on a full disk. Collective."""
    numbers, comm = np.ascontiguousarray(numbers), lattice.comm
    site = numbers.nbytes // int(np.prod(lattice.local))

    with ExitStack() as unwound:
        def begin() -> str:
            file = unwound.enter_context(atomic_file(path))
            with writing(path):
                os.posix_fallocate(file.fileno(), 0,
                                   len(before) + site * lattice.volume + len(after))  # or there is no room
                write_at(file.fileno(), before, 0)
                write_at(file.fileno(), after, len(before) + site * lattice.volume)
            return file.name

        def write_mine(name: str) -> None:
            rest = memoryview(numbers.reshape(-1).view(np.uint8))
            with writing(path), open(name, "r+b", buffering=0) as file:
                for first, size in runs(lattice, site):
                    write_at(file.fileno(), rest[:size], len(before) + first)
                    rest = rest[size:]
                os.fsync(file.fileno())

        name = comm.on_root(begin, share=True)
        comm.together(lambda: write_mine(name))
        comm.on_root(unwound.close)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """RunError that names the file in place of an OSError."""
    try:
        yield
    except OSError as error:
        raise RunError(cannot_write(path, error)) from error


def write_at(descriptor: int, content: bytes | memoryview, at: int) -> None:
    """All of it."""
    rest = memoryview(content)
    while rest:
        done = os.pwrite(descriptor, rest, at)
        at, rest = at + done, rest[done:]


def scidac_checksum(lattice: Lattice, values: np.ndarray) -> tuple[int, int]:
    """(suma, sumb) of `values` [t, z, y, x, ...], this rank's part of a file as it is there: CRC-32 of each site's
    bytes, turned left by the number of the site, x fastest, modulo 29 and 31, and all joined by exclusive or.
    Collective."""
    extents, box = [lattice.extents[axis] for axis in ORDER], box_of(lattice)
    numbers = np.ravel_multi_index(np.ix_(*(np.arange(b.start, b.stop) for b in box)), extents).ravel()
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


def check_sums(path: Path, lattice: Lattice, values: np.ndarray, stated: tuple[int, int], remedy: str = "") -> None:
    """DamagedFile where the checksum of ``values``, as in `scidac_checksum`, is not the one stated; it names the
    flipped bit where one alone explains that. Collective."""
    sums = scidac_checksum(lattice, values)
    if sums == stated:
        return
    bytes_of_site = values.nbytes // int(np.prod(lattice.local))
    why = flipped_bit(lattice, bytes_of_site, sums[0] ^ stated[0], sums[1] ^ stated[1])
    raise on_all(lattice, DamagedFile(f"{path}: damaged: its checksum is {sums[0]:08x} {sums[1]:08x}, the file says "
                                      f"{stated[0]:08x} {stated[1]:08x}{why}{remedy}"))


def flipped_bit(lattice: Lattice, bytes_of_site: int, a: int, b: int) -> str:
    """Which one bit changes the two sums by ``a`` and ``b``, in words, nothing where there is none. It changes the
    CRC-32 of its site by what depends only on its place there; how far that is turned in the sums gives the number
    of the site modulo 29 and 31."""
    def turned(crc: int, by: int) -> int:
        return (crc << by | crc >> (32 - by)) & 0xFFFFFFFF

    turns = sorted((turned(a, 32 - i), i, j) for i in range(29) for j in range(31)
                   if turned(turned(a, 32 - i), j) == b)
    nothing, places = zlib.crc32(bytes(bytes_of_site)), {}
    for bit in range(8 * bytes_of_site):
        one = bytearray(bytes_of_site)
        one[bit // 8] = 1 << bit % 8
        places[zlib.crc32(one) ^ nothing] = bit
    found = []
    for crc, i, j in turns:
        first = next(n for n in range(29 * 31) if n % 29 == i and n % 31 == j)
        found += [(number, places[crc]) for number in range(first, lattice.volume, 29 * 31) if crc in places]
    if not found:
        return ""
    words = []
    for number, bit in found[:4]:
        t, z, y, x = np.unravel_index(number, [lattice.extents[axis] for axis in ORDER])
        words.append(f"bit {bit % 8} of byte {bit // 8} of the site (t, x, y, z) = ({t}, {x}, {y}, {z})")
    more = f" or one of {len(found) - 4} others" if len(found) > 4 else ""
    return f"; one flipped bit explains it, {' or '.join(words)}{more}"


def checked_gauge(path: Path, gauge: GaugeField, single: bool, plaquette: str | None, reunitarise: bool) -> GaugeField:
    """The field, with links that are unitary as far as their precision goes, if ``reunitarise`` after a projection of
    what is unitary to 32 bits, and with the plaquette that the file states, as far as it has digits. Collective."""
    off = gauge.unitarity_violation()
    if not off < (SINGLE if single or reunitarise else DOUBLE):
        raise on_all(gauge.lattice,
                     DamagedFile(f"{path}: damaged, or not of SU(3): a link is off from unitarity by {off:.2g}"
                                 + ROUNDED * (off < SINGLE)))
    if plaquette is not None:
        digits = len(plaquette.strip().lower().partition("e")[0].partition(".")[2])
        tolerance = max(2 * 10.0**-digits, 1e-5 if single or reunitarise else 1e-10)
        found = gauge.plaquette()
        if not abs(found - number_in(plaquette)) < tolerance:
            raise on_all(gauge.lattice, DamagedFile(f"{path}: says that its plaquette is {one_line(plaquette.strip())},"
                                                    f" and it is {found:.12f}{UNVERIFIED}"))
    return gauge.reunitarise() if reunitarise else gauge


def number_in(text: str) -> float:
    """Number that a text states, nan where it states none."""
    try:
        return float(text)
    except ValueError:
        return math.nan
