"""Configurations and propagators in numpy's format, as PyQUDA writes them: an array of complex numbers.

A configuration is [direction x, y, z, t; t, z, y, x, row, column], a propagator [t, z, y, x, spin, source spin, colour,
source colour] (pyquda_io/npy.py). The files have no checksums.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from plaq.files.guard import DamagedFile, open_file
from plaq.inputs.schema import shown
from plaq.lqcd.fields.gauge_field import GaugeField
from plaq.lqcd.fields.lattice import Lattice
from plaq.lqcd.files.gauge_files import ORDER, checked_gauge, from_file, read_box, read_description

CONTENT = "a configuration in numpy's format"
MAGIC = b"\x93NUMPY"
LINK, MATRIX = (3, 3), (4, 4, 3, 3)
HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_head(path: Path) -> tuple[tuple[int, ...], np.dtype, int]:
    """Return (shape, type, offset) of the array in a file; DamagedFile unless it is complete and of complex numbers."""
    with open(open_file(path), "rb") as file:
        version = npy.read_magic(file)
        if version not in HEADERS:
            raise DamagedFile(f"{path}: version {shown(version)} of numpy's format; plaq reads 1.0 and 2.0")
        shape, fortran, kind = HEADERS[version](file)
        offset, size = file.tell(), file.seek(0, 2)
    if kind.kind != "c" or kind.itemsize not in (8, 16) or fortran:
        raise DamagedFile(f"{path}: an array of {kind}{' in the order of Fortran' * fortran}; plaq reads complex "
                          "numbers of 64 or 128 bits in the order of C")
    if size - offset != kind.itemsize * math.prod(shape):
        raise DamagedFile(f"{path}: {size - offset} bytes of numbers, which are not those of {shown(shape)}")
    return shape, kind, offset


def describe(path: Path) -> dict[str, Any]:
    """Return ``extents``, ``bits``, ``dtype`` and ``offset`` of the links; DamagedFile where there are none."""
    shape, kind, offset = read_head(path)
    if len(shape) != 7 or shape[0] != 4 or shape[5:] != LINK or min(shape) < 1:
        raise DamagedFile(f"{path}: an array of {shown(shape)} numbers; a configuration of PyQUDA has (4, T, Z, Y, X, "
                          "3, 3)")
    t, z, y, x = shape[1:5]
    return {"extents": (t, x, y, z), "bits": 4 * kind.itemsize, "dtype": kind.str, "offset": offset}


def describe_propagator(path: Path) -> dict[str, Any]:
    """Return ``extents``, ``bits``, ``dtype`` and ``offset`` of a propagator; DamagedFile where there is none."""
    shape, kind, offset = read_head(path)
    if len(shape) != 8 or shape[4:] != MATRIX or min(shape) < 1:
        raise DamagedFile(f"{path}: an array of {shown(shape)} numbers; a propagator of PyQUDA has (T, Z, Y, X, 4, 4, "
                          "3, 3)")
    t, z, y, x = shape[:4]
    return {"extents": (t, x, y, z), "bits": 4 * kind.itemsize, "dtype": kind.str, "offset": offset}


def read_npy(path: str | Path, lattice: Lattice, *, verify: bool = True, reunitarise: bool = False) -> GaugeField:
    """Read the configuration of PyQUDA in a file of numpy; every rank reads its part.

    Verified are the length and that links are in SU(3): the file states nothing else, so ``verify`` changes nothing.
    ``reunitarise`` is that of `read_ildg`. InputError that names file and problem, on all ranks. Collective.
    """
    del verify
    path = Path(path)
    of = read_description(path, lattice, CONTENT, describe)
    direction = lattice.volume * 9 * np.dtype(of["dtype"]).itemsize
    links = lattice.comm.together(lambda: np.stack([
        read_box(path, lattice, CONTENT, of["dtype"], of["offset"] + mu * direction, LINK) for mu in range(4)], axis=4))
    with np.errstate(invalid="ignore"):  # links with NaN fail the check of SU(3)
        gauge = GaugeField(lattice).set_local(from_file(links.astype(complex)))
    return checked_gauge(path, gauge, of["bits"] == 32, None, reunitarise)


def read_matrix(path: Path, lattice: Lattice, content: str) -> np.ndarray:
    """Return this rank's [t, x, y, z, spin, source spin, colour, source colour] of a propagator. Collective."""
    of = read_description(path, lattice, content, describe_propagator)
    values = lattice.comm.together(lambda: read_box(path, lattice, content, of["dtype"], of["offset"], MATRIX))
    return np.moveaxis(values.astype(complex), range(4), ORDER)
