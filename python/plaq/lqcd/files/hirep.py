"""Configurations of HiRep: a header of 28 bytes, then links in plaq's own order, all big endian.

The header has the number of colours, the extents t, x, y, z (32-bit integers) and the average of Re tr P / 3 (64 bits).
Links U_mu(x), mu = t, x, y, z, follow in 64 bits for sites with z fastest (C. Pica, HiRep, LibHR/IO/archive.c).
"""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any

import numpy as np

from plaq.files.atomic import atomic_file
from plaq.files.guard import DamagedFile, open_file, reading
from plaq.inputs.schema import shown
from plaq.lqcd.fields.gauge_field import GaugeField
from plaq.lqcd.fields.lattice import Lattice
from plaq.lqcd.files.gauge_files import LARGEST, checked_gauge, read_description, read_header, writing

CONTENT = "a configuration of HiRep"
HEADER = struct.Struct(">5id")
SITE = 4 * 9 * 16  # bytes


def may_be(head: bytes, size: int) -> bool:
    """Return whether a file with these first bytes and this size can be one of HiRep, whose format has no name."""
    if len(head) < HEADER.size:
        return False
    colours, *extents, _ = HEADER.unpack(head[:HEADER.size])
    return (2 <= colours <= 8 and all(1 <= n <= LARGEST for n in extents)
            and size == HEADER.size + 4 * colours**2 * 16 * math.prod(extents))


def describe(path: Path) -> dict[str, Any]:
    """Return ``extents`` and average ``plaquette`` in the header; DamagedFile if lengths do not fit."""
    (colours, *extents, plaquette), size = read_header(path, HEADER, CONTENT)
    if colours != 3:
        raise DamagedFile(f"{path}: {CONTENT} with {shown(colours)} colours; plaq has three")
    if not all(1 <= n <= LARGEST for n in extents) or size != SITE * math.prod(extents):
        raise DamagedFile(f"{path}: {size} bytes of links, which are not those of {shown(extents)} sites "
                          "(t, x, y, z)")
    return {"extents": tuple(extents), "bits": 64, "plaquette": plaquette}


def read_hirep(path: str | Path, lattice: Lattice, *, verify: bool = True, reunitarise: bool = False) -> GaugeField:
    """Read the configuration in a file of HiRep; every rank reads its part.

    Verified are the length, the plaquette in the header, and that links are in SU(3). ``verify`` and ``reunitarise``
    are those of `read_ildg`. InputError that names file and problem, on all ranks. Collective.
    """
    path = Path(path)

    def links() -> np.ndarray:
        with reading(path, CONTENT), open(open_file(path), "rb") as file:
            stored = np.memmap(file, ">c16", "r", HEADER.size, (*lattice.extents, 4, 3, 3))
            return np.array(stored[lattice.box], complex)

    description = read_description(path, lattice, CONTENT, describe)
    gauge = GaugeField(lattice).set_local(lattice.comm.together(links))
    return checked_gauge(path, gauge, False, f"{description['plaquette']:.12f}" if verify else None, reunitarise)


def write_hirep(path: str | Path, gauge: GaugeField) -> None:
    """Write a configuration as HiRep does; the file is complete or absent.

    Rank 0 writes the links of all, of which it needs the memory. RunError on all ranks if it cannot be written.
    Collective.
    """
    lattice, plaquette, whole = gauge.lattice, gauge.plaquette(), gauge.whole()

    def write() -> None:
        with writing(Path(path)), atomic_file(Path(path)) as file:
            file.write(HEADER.pack(3, *lattice.extents, plaquette))
            file.write(whole.astype(">c16").tobytes())

    lattice.comm.on_root(write)
