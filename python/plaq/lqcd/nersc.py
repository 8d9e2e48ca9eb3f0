"""Configurations in NERSC's format: a header of text lines, then links, of two rows or three, with one checksum of
all words (lattices.net, "The NERSC Archive Format")."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from plaq.files.guard import DamagedFile, open_file
from plaq.lqcd.fields import GaugeField
from plaq.lqcd.files import check_gauge, from_file, on_all, read_part
from plaq.lqcd.lattice import Lattice

LONGEST_HEADER = 1 << 16  # bytes
ROWS = {"4D_SU3_GAUGE": 2, "4D_SU3_GAUGE_3x3": 3}
NUMBERS = {"IEEE32": ">f4", "IEEE32BIG": ">f4", "IEEE64BIG": ">f8", "IEEE32LITTLE": "<f4", "IEEE64LITTLE": "<f8"}


def _describe(path: Path) -> dict:
    """What the header says, and where the numbers begin."""
    with open(open_file(path), "rb") as file:
        head = file.read(LONGEST_HEADER)
        size = file.seek(0, 2)
    first, end = b"BEGIN_HEADER\n", b"END_HEADER\n"
    if not head.startswith(first) or end not in head:
        raise DamagedFile(f"{path}: not a configuration of NERSC's archive: no BEGIN_HEADER and END_HEADER")
    offset = head.index(end) + len(end)
    lines = head[:offset].decode("ascii").splitlines()[1:-1]
    keys = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    for key, allowed in (("DATATYPE", ROWS), ("FLOATING_POINT", NUMBERS)):
        if keys.get(key) not in allowed:
            raise DamagedFile(f"{path}: {key} is {keys.get(key)}; plaq reads {', '.join(allowed)}")
    x, y, z, t = (int(keys[f"DIMENSION_{i}"]) for i in (1, 2, 3, 4))
    kind, rows = np.dtype(NUMBERS[keys["FLOATING_POINT"]]), ROWS[keys["DATATYPE"]]
    shape = (t, z, y, x, 4, rows, 3, 2)
    if min(shape) < 1 or size - offset != kind.itemsize * np.prod(shape, dtype=object):
        raise DamagedFile(f"{path}: {size - offset} bytes of links, which are not those of {(t, x, y, z)} sites")
    if "PLAQUETTE" in keys:
        float(keys["PLAQUETTE"])  # or the text is no number
    return {"extents": (t, x, y, z), "shape": shape, "kind": kind, "offset": offset,
            "checksum": int(keys["CHECKSUM"], 16), "plaquette": keys.get("PLAQUETTE")}


def read_nersc(path: str | Path, lattice: Lattice) -> GaugeField:
    """The configuration in a file; every rank reads its part. Verified: the length, the checksum, the plaquette,
    and that links are unitary. InputError that names the file and what is wrong, on all ranks. Collective."""
    path, comm = Path(path), lattice.comm
    found, values = read_part(path, lattice, "a configuration of NERSC's archive", _describe)
    words = np.ascontiguousarray(values).view(found["kind"].str[0] + "u4")
    checksum = int(comm.allreduce(np.array([words.sum(dtype=np.uint64) & np.uint64(0xFFFFFFFF)]))[0]) & 0xFFFFFFFF
    if checksum != found["checksum"]:
        raise on_all(lattice,
                     DamagedFile(f"{path}: damaged: its checksum is {checksum:08x}, the header says "
                                 f"{found['checksum']:08x}"))
    with np.errstate(invalid="ignore"):  # a link that is no number is no element of SU(3) either
        rows = values[..., 0] + 1j * values[..., 1].astype(float)
    if rows.shape[5] == 2:
        rows = np.concatenate([rows, np.cross(rows[..., 0, :], rows[..., 1, :]).conj()[..., None, :]], axis=5)
    gauge = GaugeField(lattice).set_local(from_file(rows))
    check_gauge(path, gauge, found["kind"].itemsize == 4, found["plaquette"])
    return gauge
