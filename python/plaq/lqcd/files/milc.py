"""Configurations in MILC's format, version 5: a header of 96 bytes, then links in 32 bits and natural order.

The header has the magic number 20103, the extents x, y, z, t, 64 bytes of a date, the order of sites, and two
checksums; its byte order is that of the file (MILC, io_lat4.c).
"""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any

import numpy as np

from plaq.files.guard import DamagedFile, open_file
from plaq.inputs.schema import shown
from plaq.lqcd.fields.gauge_field import GaugeField
from plaq.lqcd.fields.lattice import Lattice
from plaq.lqcd.files.gauge_files import (
    ORDER,
    UNVERIFIED,
    box_of,
    checked_gauge,
    from_file,
    on_all_ranks,
    read_part,
)

CONTENT = "a configuration of MILC"
MAGIC = 20103
LAYOUT = "5i64si2I"
WORDS = 72  # of a site
PROPAGATOR = "a propagator in MILC's own format (lprop), for which MILC's wprop_to_scidac writes one of SciDAC"
STAGGERED = "a propagator of staggered quarks of MILC"
OTHERS = {12781: PROPAGATOR, 48291: PROPAGATOR, 230201: STAGGERED, 23209: STAGGERED,
          59354: "a configuration of MILC, version 4 or earlier", 53546: "a configuration of MILC of 1996",
          0x71626434: "a field of the Fermilab format of MILC"}  # by magic number (include/file_types.h)


def byte_order(head: bytes) -> str | None:
    """Return "<" or ">" of a file with these first bytes; None if its magic number is another one."""
    return {struct.pack(f"{order}i", MAGIC): order for order in "<>"}.get(head[:4])


def other_content(head: bytes) -> str | None:
    """Return what a file of MILC with these first bytes holds, if that is nothing plaq reads."""
    words = {int.from_bytes(head[:4], order) for order in ("little", "big")}
    return next((OTHERS[word] for word in words if word in OTHERS), None)


def describe(path: Path) -> dict[str, Any]:
    """Return the data of the header, and the offset of the numbers; DamagedFile if lengths do not fit."""
    size = struct.calcsize("<" + LAYOUT)
    with open(open_file(path), "rb") as file:
        head = file.read(size)
        length = file.seek(0, 2) - size
    endian = byte_order(head)
    if endian is None or len(head) < size:
        raise DamagedFile(f"{path}: not {CONTENT}, version 5, whose header of {size} bytes begins with {MAGIC}")
    _, x, y, z, t, _, order, sum29, sum31 = struct.unpack(endian + LAYOUT, head)
    if order != 0:
        raise DamagedFile(f"{path}: sites are in the order {order} of MILC; plaq reads 0, the natural one")
    shape = (t, z, y, x, 4, 3, 3, 2)
    if min(shape) < 1 or length != 4 * math.prod(shape):
        raise DamagedFile(f"{path}: {length} bytes of links, which are not those of {shown((t, x, y, z))} sites "
                          "(t, x, y, z)")
    return {"extents": (t, x, y, z), "bits": 32, "shape": shape, "dtype": f"{endian}f4", "offset": size,
            "sums": (sum29, sum31)}


def read_milc(path: str | Path, lattice: Lattice, *, verify: bool = True, reunitarise: bool = False) -> GaugeField:
    """Read the configuration in a file; every rank reads its part.

    Verified are the length, the checksums, and that links are in SU(3). ``verify`` and ``reunitarise`` are those of
    `read_ildg`. InputError that names file and problem, on all ranks. Collective.
    """
    path = Path(path)
    description, values = read_part(path, lattice, CONTENT, describe)
    if verify and (sums := checksums(lattice, values)) != description["sums"]:
        stated = " ".join(f"{x:08x}" for x in description["sums"])
        raise on_all_ranks(lattice, DamagedFile(f"{path}: damaged: its checksum is {sums[0]:08x} {sums[1]:08x}, the "
                                                f"header says {stated}{UNVERIFIED}"))
    with np.errstate(invalid="ignore"):  # links with NaN fail the check of SU(3)
        gauge = GaugeField(lattice).set_local(from_file(values[..., 0] + 1j * values[..., 1].astype(float)))
    return checked_gauge(path, gauge, True, None, reunitarise)


def checksums(lattice: Lattice, values: np.ndarray) -> tuple[int, int]:
    """Return MILC's checksums of ``values`` [t, z, y, x, ...], this rank's part of a file.

    They are the exclusive or of all words of 32 bits, rotated left by their number in the file modulo 29 and 31.
    Collective.
    """
    extents = [lattice.extents[axis] for axis in ORDER]
    sites = np.ravel_multi_index(np.ix_(*(np.arange(part.start, part.stop) for part in box_of(lattice))), extents)
    numbers = (sites.reshape(-1, 1) * WORDS + np.arange(WORDS)).ravel()
    words = np.ascontiguousarray(values).view(values.dtype.str[0] + "u4").ravel().astype(np.uint64)
    parts = []
    for modulus in (29, 31):
        shift = (numbers % modulus).astype(np.uint64)
        rotated = (words << shift | words >> (np.uint64(32) - shift)) & np.uint64(0xFFFFFFFF)
        parts.append(int(np.bitwise_xor.reduce(rotated)))
    sums = [0, 0]
    for a, b in lattice.comm.allgather(parts):
        sums = [sums[0] ^ a, sums[1] ^ b]
    return sums[0], sums[1]
