"""Configurations in NERSC's format: a header of text lines, then links with a checksum of all words.

Links have two rows or three (lattices.net, "The NERSC Archive Format").
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np

from plaq.errors import InputError
from plaq.files.guard import DamagedFile, open_file
from plaq.inputs.schema import one_line, shown
from plaq.lqcd.fields.gauge_field import GaugeField
from plaq.lqcd.fields.lattice import Lattice
from plaq.lqcd.files.gauge_files import (
    UNVERIFIED,
    as_numbers,
    checked_gauge,
    from_file,
    on_all_ranks,
    read_part,
    to_file,
    write_atomically,
)

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
    return {"extents": (t, x, y, z), "bits": 8 * dtype.itemsize, "shape": shape, "dtype": dtype, "offset": offset,
            "checksum": keys.get("CHECKSUM"), "plaquette": keys.get("PLAQUETTE")}


def read_nersc(path: str | Path, lattice: Lattice, *, verify: bool = True, reunitarise: bool = False) -> GaugeField:
    """Read the configuration in a file; every rank reads its part.

    Verified are the length, the checksum and the plaquette in the header, and that links are in SU(3). ``verify`` and
    ``reunitarise`` are those of `read_ildg`. InputError that names file and problem, on all ranks. Collective.
    """
    path = Path(path)
    description, values = read_part(path, lattice, "a configuration of NERSC's archive", describe)
    if verify and description["checksum"] is not None:
        checksum = checksum_of(lattice, values)
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


def write_nersc(path: str | Path, gauge: GaugeField, bits: int = 64, *, ensemble: str = "plaq",
                number: int = 0) -> None:
    """Write a configuration of three rows with 32 or 64 bits, big endian; the file is complete or absent.

    ensemble, number : ENSEMBLE_ID and SEQUENCE_NUMBER of the header. Every rank writes its part. RunError on all ranks
    if it cannot be written. Collective.
    """
    lattice = gauge.lattice
    if bits not in (32, 64):
        raise ValueError(f"links have 32 or 64 bits, not {bits}")
    if not ensemble.isprintable():
        raise InputError(f"{path}: {shown(ensemble)} is not allowed: the name of an ensemble is a text of one line")
    links = gauge.local()
    part = as_numbers(to_file(links), bits)
    traces = lattice.comm.allreduce(float(np.einsum("...aa->...", links).real.sum()))
    t, x, y, z = lattice.extents
    header = {"HDR_VERSION": "1.0", "DATATYPE": "4D_SU3_GAUGE_3x3", "STORAGE_FORMAT": "1.0",
              **{f"DIMENSION_{i}": n for i, n in enumerate((x, y, z, t), 1)},
              "LINK_TRACE": f"{traces / (12 * lattice.volume):.12g}", "PLAQUETTE": f"{gauge.plaquette():.12g}",
              **{f"BOUNDARY_{i}": "PERIODIC" for i in (1, 2, 3, 4)}, "CHECKSUM": checksum_of(lattice, part),
              "ENSEMBLE_ID": ensemble, "SEQUENCE_NUMBER": number, "FLOATING_POINT": f"IEEE{bits}BIG"}
    lines = ["BEGIN_HEADER", *(f"{key} = {value}" for key, value in header.items()), "END_HEADER", ""]
    write_atomically(Path(path), lattice, "\n".join(lines).encode(), part, b"")


def checksum_of(lattice: Lattice, values: np.ndarray) -> str:
    """Return the sum of all words of 32 bits, eight hexadecimal digits, of numbers of which this is a rank's part."""
    words = np.ascontiguousarray(values).view(values.dtype.str[0] + "u4")
    sums = lattice.comm.allreduce(np.array([words.sum(dtype=np.uint64) & np.uint64(0xFFFFFFFF)]))
    return f"{int(sums[0]) & 0xFFFFFFFF:08x}"
