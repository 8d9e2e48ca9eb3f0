"""Configurations in any format that plaq reads, recognised by their first bytes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from plaq.errors import InputError
from plaq.files.guard import open_file, reading
from plaq.lqcd.fields.gauge_field import GaugeField
from plaq.lqcd.fields.lattice import Lattice
from plaq.lqcd.files import hdf5, hirep, ildg, lime, milc, nersc, npy, openqcd

LIME, NERSC, MILC, OPENQCD, HIREP, HDF5, NPY = "LIME", "NERSC", "MILC", "openQCD", "HiRep", "HDF5", "numpy"


@dataclass(frozen=True)
class Head:
    """Statements of a file on its configuration; extents and bits are None where it does not state them."""

    format: str
    extents: tuple[int, ...] | None
    bits: int | None


def format_of(path: str | Path) -> str:
    """Return the format of a file by its first bytes, or by its length; InputError that names it where none fits."""
    path = Path(path)
    with reading(path, "a configuration"), open(open_file(path), "rb") as file:
        head, size = file.read(256), file.seek(0, 2)
    if head[:4] == lime.MAGIC.to_bytes(4, "big"):
        return LIME
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"BEGIN_HEADER"):
        return NERSC
    if head.startswith(hdf5.MAGIC):
        return HDF5
    if head.startswith(npy.MAGIC):
        return NPY
    if milc.byte_order(head):
        return MILC
    if openqcd.may_be(head, size):
        return OPENQCD
    if hirep.may_be(head, size):
        return HIREP
    if other := milc.other_content(head):
        raise InputError(f"{path}: {other}; plaq reads its configurations of version 5")
    raise InputError(f"{path}: neither a LIME file (ILDG, SciDAC) nor one in the format of NERSC, MILC, openQCD, "
                     "HiRep, HDF5 or numpy")


def head_of(path: str | Path) -> Head:
    """Return what a file says of its configuration; InputError that names the file where it holds none."""
    path, kind = Path(path), format_of(path)
    with reading(path, "a configuration"):
        if kind == LIME:
            description = ildg.describe(path)
            return Head(kind, description.extents, description.bits)
        if kind == HDF5:
            links = hdf5.describe(path)
            return Head(kind, links.extents, links.bits)
        found = {NERSC: nersc, MILC: milc, OPENQCD: openqcd, HIREP: hirep, NPY: npy}[kind].describe(path)
        return Head(kind, found["extents"], found["bits"])


def read_gauge(path: str | Path, lattice: Lattice, *, verify: bool = True, reunitarise: bool = False) -> GaugeField:
    """Read the configuration in a file of any of these formats; ``verify`` and ``reunitarise`` as in `read_ildg`.

    InputError that names file and problem, on all ranks. Collective.
    """
    read = {LIME: ildg.read_ildg, NERSC: nersc.read_nersc, MILC: milc.read_milc, OPENQCD: openqcd.read_openqcd,
            HIREP: hirep.read_hirep, HDF5: hdf5.read_hdf5, NPY: npy.read_npy}
    kind = lattice.comm.on_root(lambda: format_of(path), share=True)
    return read[kind](path, lattice, verify=verify, reunitarise=reunitarise)
