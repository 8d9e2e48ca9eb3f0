"""Common parts of the formats of gauge configurations: order of sites and links, checksums, plaquettes."""

from __future__ import annotations

import math
import os
import struct
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
from plaq.lqcd.fields.gauge_field import GaugeField
from plaq.lqcd.fields.lattice import Lattice

# Files have [t, z, y, x, mu] with mu = x, y, z, t; plaq [t, x, y, z, mu] with mu = t, x, y, z.
ORDER = (0, 3, 2, 1)
LARGEST = 1 << 16  # extent that a header may state
DOUBLE, SINGLE = 1e-8, 1e-4  # largest deviation from unitarity of links of 64 and of 32 bits
ROUNDED = "; if its links were converted from 32 to 64 bits, reunitarise=True reads it"
UNVERIFIED = "; verify=False reads its links all the same"


def box_of(lattice: Lattice) -> tuple[slice, ...]:
    """Return this rank's part of an array in the order of files."""
    return tuple(lattice.box[axis] for axis in ORDER)


def from_file(values: np.ndarray) -> np.ndarray:
    """Reorder [t, z, y, x, mu, ...] of files to plaq's [t, x, y, z, mu, ...]."""
    return np.roll(np.moveaxis(values, range(4), ORDER), 1, axis=4)


def to_file(values: np.ndarray) -> np.ndarray:
    """Reorder plaq's [t, x, y, z, mu, ...] to [t, z, y, x, mu, ...] of files."""
    return np.moveaxis(np.roll(values, -1, axis=4), ORDER, range(4))


def as_numbers(values: np.ndarray, bits: int) -> np.ndarray:
    """Return [..., re or im], big endian, of 32 or 64 bits."""
    return np.stack([values.real, values.imag], axis=-1).astype(f">f{bits // 8}")


def on_all_ranks(lattice: Lattice, error: InputError) -> InputError:
    """Return the error, marked as raised on all ranks."""
    error.ranks = lattice.comm.size
    return error


def check_extents(path: Path, wanted: tuple[int, ...], extents: tuple[int, ...]) -> None:
    """Raise InputError if the file holds another lattice, of ``extents``."""
    if wanted != extents:
        in_file, wanted = (one_line(" x ".join(map(str, e))) for e in (extents, wanted))
        raise InputError(f"{path}: holds a lattice of {in_file} (t, x, y, z), not {wanted}")


def read_header(path: Path, header: struct.Struct, content: str) -> tuple[tuple, int]:
    """Return the numbers of a binary header, and the bytes behind it; DamagedFile where the file ends within it."""
    with open(open_file(path), "rb") as file:
        head, size = file.read(header.size), file.seek(0, 2)
    if len(head) < header.size:
        raise DamagedFile(f"{path}: ends within the header of {content}")
    return header.unpack(head), size - header.size


def read_description(path: Path, lattice: Lattice, content: str,
                     describe: Callable[[Path], dict[str, Any]]) -> dict[str, Any]:
    """Return ``describe(path)`` on all ranks; InputError if the ``extents`` in it are not the lattice's. Collective."""
    def head() -> dict[str, Any]:
        with reading(path, content):
            description = describe(path)
            check_extents(path, lattice.extents, description["extents"])
            return description

    return lattice.comm.on_root(head, share=True)


def read_part(path: Path, lattice: Lattice, content: str,
              describe: Callable[[Path], dict[str, Any]]) -> tuple[dict, np.ndarray]:
    """Return (``describe(path)``, this rank's part of the numbers) of a file, whose ``content`` errors name.

    The description has the ``extents`` of its lattice, and ``dtype``, ``offset`` and ``shape`` of its numbers.
    InputError that names the file, on all ranks. Collective.
    """
    description = read_description(path, lattice, content, describe)
    dtype, offset, shape = (description[key] for key in ("dtype", "offset", "shape"))
    return description, lattice.comm.together(lambda: read_box(path, lattice, content, dtype, offset, shape[4:]))


def read_box(path: Path, lattice: Lattice, content: str, dtype: str, offset: int,
             of_site: tuple[int, ...]) -> np.ndarray:
    """Return this rank's part of numbers [t, z, y, x, *of_site] that begin at ``offset``."""
    with reading(path, content), open(open_file(path), "rb", buffering=0) as file:
        out = np.empty((*(lattice.local[axis] for axis in ORDER), *of_site), dtype)
        site = out.dtype.itemsize * int(np.prod(of_site))
        rest = memoryview(out.reshape(-1).view(np.uint8))
        for first, size in contiguous_runs(lattice, site):
            at, stop = offset + first, offset + first + size
            while at < stop:
                count = os.preadv(file.fileno(), [rest[:stop - at]], at)
                if not count:
                    raise DamagedFile(f"{path}: ends at byte {at}, within its numbers")
                at, rest = at + count, rest[count:]
        return out


def contiguous_runs(lattice: Lattice, site: int) -> Iterator[tuple[int, int]]:
    """Yield (first byte, bytes) of contiguous pieces of a rank's part of a file with ``site`` bytes a site."""
    extents, box = [lattice.extents[axis] for axis in ORDER], box_of(lattice)
    outer = 4  # axes from here on are in one piece
    while outer > 0 and (outer == 4 or box[outer] == slice(0, extents[outer])):
        outer -= 1
    size = int(np.prod([b.stop - b.start for b in box[outer:]])) * site
    for index in np.ndindex(*(b.stop - b.start for b in box[:outer])):
        first = [b.start + x for b, x in zip(box, index)] + [b.start for b in box[outer:]]
        yield int(np.ravel_multi_index(first, extents)) * site, size


def write_atomically(path: Path, lattice: Lattice, before: bytes, numbers: np.ndarray, after: bytes) -> None:
    """Write a file of the bytes ``before``, the numbers of all ranks, and ``after``.

    ``numbers`` [t, z, y, x, ...] is this rank's part; every rank writes its own. The file is complete or absent.
    RunError on all ranks if it cannot be written, as on a full disk. Collective.
    """
    numbers, comm = np.ascontiguousarray(numbers), lattice.comm
    site = numbers.nbytes // int(np.prod(lattice.local))

    with ExitStack() as cleanup:
        def begin() -> str:
            file = cleanup.enter_context(atomic_file(path))
            with writing(path):
                os.posix_fallocate(file.fileno(), 0,
                                   len(before) + site * lattice.volume + len(after))  # or there is no room
                write_at(file.fileno(), before, 0)
                write_at(file.fileno(), after, len(before) + site * lattice.volume)
            return file.name

        def write_part(name: str) -> None:
            rest = memoryview(numbers.reshape(-1).view(np.uint8))
            with writing(path), open(name, "r+b", buffering=0) as file:
                for first, size in contiguous_runs(lattice, site):
                    write_at(file.fileno(), rest[:size], len(before) + first)
                    rest = rest[size:]
                os.fsync(file.fileno())

        name = comm.on_root(begin, share=True)
        comm.together(lambda: write_part(name))
        comm.on_root(cleanup.close)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise RunError that names the file in place of an OSError."""
    try:
        yield
    except OSError as error:
        raise RunError(cannot_write(path, error)) from error


def write_at(descriptor: int, content: bytes | memoryview, at: int) -> None:
    """Write ``content`` at an offset."""
    rest = memoryview(content)
    while rest:
        written = os.pwrite(descriptor, rest, at)
        at, rest = at + written, rest[written:]


def scidac_checksum(lattice: Lattice, values: np.ndarray) -> tuple[int, int]:
    """Return (suma, sumb) of ``values`` [t, z, y, x, ...], this rank's part of a file in the file's bytes.

    They are the exclusive or of the CRC-32 of each site's bytes, rotated left by the index of the site, x fastest,
    modulo 29 and 31. Collective.
    """
    extents, box = [lattice.extents[axis] for axis in ORDER], box_of(lattice)
    numbers = np.ravel_multi_index(np.ix_(*(np.arange(b.start, b.stop) for b in box)), extents).ravel()
    rows = np.ascontiguousarray(values).reshape(numbers.size, -1)
    crc = np.fromiter((zlib.crc32(row) for row in rows), np.uint64, numbers.size)
    sums_of_part = []
    for modulus in (29, 31):
        shift = (numbers % modulus).astype(np.uint64)
        rotated = (crc << shift | crc >> (np.uint64(32) - shift)) & np.uint64(0xFFFFFFFF)
        sums_of_part.append(int(np.bitwise_xor.reduce(rotated)))
    sums = [0, 0]
    for a, b in lattice.comm.allgather(sums_of_part):
        sums = [sums[0] ^ a, sums[1] ^ b]
    return sums[0], sums[1]


def check_sums(path: Path, lattice: Lattice, values: np.ndarray, stated: tuple[int, int], remedy: str = "") -> None:
    """Raise DamagedFile if the checksum of ``values``, as in `scidac_checksum`, is not the stated one. Collective."""
    sums = scidac_checksum(lattice, values)
    if sums == stated:
        return
    raise on_all_ranks(lattice, DamagedFile(f"{path}: damaged: its checksum is {sums[0]:08x} {sums[1]:08x}, the file "
                                            f"says {stated[0]:08x} {stated[1]:08x}{remedy}"))


def checked_gauge(path: Path, gauge: GaugeField, single: bool, plaquette: str | None, reunitarise: bool) -> GaugeField:
    """Return the field after checks of unitarity, to the precision of its links, and of the plaquette in the file.

    With ``reunitarise`` links that are unitary to 32 bits are projected. The plaquette is compared to its digits in the
    file. Collective.
    """
    deviation = gauge.unitarity_violation()
    if not deviation < (SINGLE if single or reunitarise else DOUBLE):
        raise on_all_ranks(gauge.lattice,
                     DamagedFile(f"{path}: damaged, or not of SU(3): a link is off from unitarity by {deviation:.2g}"
                                 + ROUNDED * (deviation < SINGLE)))
    if plaquette is not None:
        digits = len(plaquette.strip().lower().partition("e")[0].partition(".")[2])
        tolerance = max(2 * 10.0**-digits, 1e-5 if single or reunitarise else 1e-10)
        plaquette_of_links = gauge.plaquette()
        if not abs(plaquette_of_links - parse_number(plaquette)) < tolerance:
            raise on_all_ranks(gauge.lattice, DamagedFile(f"{path}: states that its plaquette is "
                                                          f"{one_line(plaquette.strip())},"
                                                    f" and it is {plaquette_of_links:.12f}{UNVERIFIED}"))
    return gauge.reunitarise() if reunitarise else gauge


def parse_number(text: str) -> float:
    """Return the number in a text, nan if there is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan
