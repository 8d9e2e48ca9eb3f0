"""Configurations in NERSC's format: a header of text lines, then links, of two rows or three, with one checksum of
all words (lattices.net, "The NERSC Archive Format")."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np

from plaq.files.guard import DamagedFile, open_file
from plaq.inputs.schema import one_line, shown
from plaq.lqcd.fields import GaugeField
from plaq.lqcd.files import UNVERIFIED, checked_gauge, from_file, on_all, read_part
from plaq.lqcd.lattice import Lattice

LONGEST_HEADER = 1 << 16  # bytes
HEADER = re.compile(rb"(?:\xef\xbb\xbf)?\s*BEGIN_HEADER[ \t]*\r?\n(.*?)^[ \t]*END_HEADER[ \t]*\r?\n", re.S | re.M)
ROWS = {"4D_SU3_GAUGE": 2, "4D_SU3_GAUGE_3x3": 3}
NUMBERS = {"IEEE32": ">f4", "IEEE32BIG": ">f4", "IEEE64BIG": ">f8", "IEEE32LITTLE": "<f4", "IEEE64LITTLE": "<f8"}


def _describe(path: Path) -> dict:
    """What the header says, and where the numbers begin."""
    with open(open_file(path), "rb") as file:
        head = file.read(LONGEST_HEADER)
        size = file.seek(0, 2)
    found = HEADER.match(head)
    if not found:
        raise DamagedFile(f"{path}: not a configuration of NERSC's archive: no BEGIN_HEADER and END_HEADER")
    offset = found.end()
    lines = found[1].decode("utf-8", "replace").splitlines()
    keys = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    for key, allowed in (("DATATYPE", ROWS), ("FLOATING_POINT", NUMBERS)):
        if keys.get(key) not in allowed:
            raise DamagedFile(f"{path}: {key} is {shown(keys.get(key))}; plaq reads {', '.join(allowed)}")
    x, y, z, t = (int(keys[f"DIMENSION_{i}"]) for i in (1, 2, 3, 4))
    kind, rows = np.dtype(NUMBERS[keys["FLOATING_POINT"]]), ROWS[keys["DATATYPE"]]
    shape = (t, z, y, x, 4, rows, 3, 2)
    if min(shape) < 1 or size - offset != kind.itemsize * math.prod(shape):
        raise DamagedFile(f"{path}: {size - offset} bytes of links, which are not those of {shown((t, x, y, z))} sites")
    return {"extents": (t, x, y, z), "shape": shape, "kind": kind, "offset": offset, "checksum": keys.get("CHECKSUM"),
            "plaquette": keys.get("PLAQUETTE")}


def read_nersc(path: str | Path, lattice: Lattice, *, verify: bool = True, reunitarise: bool = False) -> GaugeField:
    """The configuration in a file; every rank reads its part. Verified: the length, the checksum and the plaquette,
    where the header has them, and that links are of SU(3). ``verify`` and ``reunitarise`` are those of `read_ildg`.
    InputError that names the file and what is wrong, on all ranks. Collective."""
    path, comm = Path(path), lattice.comm
    found, values = read_part(path, lattice, "a configuration of NERSC's archive", _describe)
    if verify and found["checksum"] is not None:
        words = np.ascontiguousarray(values).view(found["kind"].str[0] + "u4")
        sums = comm.allreduce(np.array([words.sum(dtype=np.uint64) & np.uint64(0xFFFFFFFF)]))
        checksum = f"{int(sums[0]) & 0xFFFFFFFF:08x}"
        if checksum != found["checksum"].lower().removeprefix("0x").zfill(8):
            raise on_all(lattice, DamagedFile(f"{path}: damaged: its checksum is {checksum}, the header says "
                                              f"{one_line(found['checksum'])}{UNVERIFIED}"))
    with np.errstate(invalid="ignore"):  # a link that is no number is no element of SU(3) either
        rows = values[..., 0] + 1j * values[..., 1].astype(float)
    if rows.shape[5] == 2:
        rows = np.concatenate([rows, np.cross(rows[..., 0, :], rows[..., 1, :]).conj()[..., None, :]], axis=5)
    gauge = GaugeField(lattice).set_local(from_file(rows))
    return checked_gauge(path, gauge, found["kind"].itemsize == 4, found["plaquette"] if verify else None, reunitarise)
