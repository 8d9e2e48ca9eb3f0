"""Configurations in NERSC's format: a header of text lines, then links with a checksum of all words.

Links have two rows or three (lattices.net, "The NERSC Archive Format").
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np

from plaq.files.guard import DamagedFile, open_file
from plaq.inputs.schema import one_line, shown
from plaq.lqcd.fields.fields import GaugeField
from plaq.lqcd.fields.lattice import Lattice
from plaq.lqcd.files.gauge_files import UNVERIFIED, checked_gauge, from_file, on_all_ranks, read_part

LONGEST_HEADER = 1 << 16  # bytes
HEADER = re.compile(rb"(?:\xef\xbb\xbf)?\s*BEGIN_HEADER[ \t]*\r?\n(.*?)^[ \t]*END_HEADER[ \t]*\r?\n", re.S | re.M)
ROWS = {"4D_SU3_GAUGE": 2, "4D_SU3_GAUGE_3x3": 3}
NUMBERS = {"IEEE32": ">f4", "IEEE32BIG": ">f4", "IEEE64BIG": ">f8", "IEEE32LITTLE": "<f4", "IEEE64LITTLE": "<f8"}


def describe(path: Path) -> dict:
    """Return the data of the header, and the offset of the numbers."""
    with open(open_file(path), "rb") as file:
        head = file.read(LONGEST_HEADER)
        size = file.seek(0, 2)
    match = HEADER.match(head)
    if not match:
        raise DamagedFile(f"{path}: not a configuration of NERSC's archive: no BEGIN_HEADER and END_HEADER")
    offset = match.end()
    lines = match[1].decode("utf-8", "replace").splitlines()
    keys = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    for key, allowed in (("DATATYPE", ROWS), ("FLOATING_POINT", NUMBERS)):
        if keys.get(key) not in allowed:
            raise DamagedFile(f"{path}: {key} is {shown(keys.get(key))}; plaq reads {', '.join(allowed)}")
    x, y, z, t = (int(keys[f"DIMENSION_{i}"]) for i in (1, 2, 3, 4))
    dtype, rows = np.dtype(NUMBERS[keys["FLOATING_POINT"]]), ROWS[keys["DATATYPE"]]
    shape = (t, z, y, x, 4, rows, 3, 2)
    if min(shape) < 1 or size - offset != dtype.itemsize * math.prod(shape):
        raise DamagedFile(f"{path}: {size - offset} bytes of links, which are not those of {shown((t, x, y, z))} sites")
    return {"extents": (t, x, y, z), "shape": shape, "dtype": dtype, "offset": offset, "checksum": keys.get("CHECKSUM"),
            "plaquette": keys.get("PLAQUETTE")}


def read_nersc(path: str | Path, lattice: Lattice, *, verify: bool = True, reunitarise: bool = False) -> GaugeField:
    """Read the configuration in a file; every rank reads its part.

    Verified are the length, the checksum and the plaquette in the header, and that links are in SU(3). ``verify`` and
    ``reunitarise`` are those of `read_ildg`. InputError that names file and problem, on all ranks. Collective.
    """
    path, comm = Path(path), lattice.comm
    description, values = read_part(path, lattice, "a configuration of NERSC's archive", describe)
    if verify and description["checksum"] is not None:
        words = np.ascontiguousarray(values).view(description["dtype"].str[0] + "u4")
        sums = comm.allreduce(np.array([words.sum(dtype=np.uint64) & np.uint64(0xFFFFFFFF)]))
        checksum = f"{int(sums[0]) & 0xFFFFFFFF:08x}"
        if checksum != description["checksum"].lower().removeprefix("0x").zfill(8):
            raise on_all_ranks(lattice, DamagedFile(f"{path}: damaged: its checksum is {checksum}, the header says "
                                              f"{one_line(description['checksum'])}{UNVERIFIED}"))
    with np.errstate(invalid="ignore"):  # links with NaN fail the check of SU(3)
        rows = values[..., 0] + 1j * values[..., 1].astype(float)
    if rows.shape[5] == 2:
        rows = np.concatenate([rows, np.cross(rows[..., 0, :], rows[..., 1, :]).conj()[..., None, :]], axis=5)
    gauge = GaugeField(lattice).set_local(from_file(rows))
    plaquette = description["plaquette"] if verify else None
    return checked_gauge(path, gauge, description["dtype"].itemsize == 4, plaquette, reunitarise)
