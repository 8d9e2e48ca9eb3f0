"""Configurations in HDF5, of PyQUDA, of QDP++ and Chroma, also in the form of FUEL; propagators of PyQUDA.

PyQUDA has a group with a dataset [t, z, y, x, row, column] for each direction x, y, z, t, and the checksums ``sum29``
and ``sum31`` of each (pyquda_comm/hdf5.py). QDP++ has one dataset [t, z, y, x, direction] of matrices, FUEL a group
with the datasets 0, 1, 2, 3 of matrices (lib/qdp_hdf5.cc); neither has checksums. Propagators of PyQUDA are datasets
[t, z, y, x, spin, source spin, colour, source colour] in the group LatticeSpinColorMatrix.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

from plaq.files.atomic import atomic_file
from plaq.files.guard import DamagedFile, open_file, reading
from plaq.inputs.schema import shown
from plaq.lqcd.fields.gauge_field import GaugeField
from plaq.lqcd.fields.lattice import Lattice
from plaq.lqcd.files.gauge_files import (
    ORDER,
    UNVERIFIED,
    box_of,
    check_extents,
    checked_gauge,
    from_file,
    on_all_ranks,
    to_file,
    writing,
)

CONTENT = "a configuration in HDF5"
MAGIC = b"\x89HDF\r\n\x1a\n"
GROUP, KEYS = "LatticeColorMatrix", ("X", "Y", "Z", "T")  # of PyQUDA
PROPAGATORS = "LatticeSpinColorMatrix"
LABELS = (KEYS, ("0", "1", "2", "3"))  # of the four directions x, y, z, t


@dataclass(frozen=True)
class Links:
    """Place of the links in a file: the name of one dataset, or of one for each direction."""

    names: tuple[str, ...]
    extents: tuple[int, ...]
    bits: int
    sums: tuple[tuple[int, int] | None, ...]


def shape_of(dataset: h5py.Dataset) -> tuple[int, ...]:
    """Return the shape of a dataset with that of its elements, where these are arrays."""
    return dataset.shape + (dataset.dtype.subdtype[1] if dataset.dtype.subdtype else ())


def candidates(group: h5py.Group) -> Iterator[tuple[h5py.Dataset, ...]]:
    """Yield the datasets of each configuration in a group and below."""
    for labels in LABELS:
        parts = [group.get(label) for label in labels]
        if all(isinstance(part, h5py.Dataset) and shape_of(part)[4:] == (3, 3) for part in parts):
            yield tuple(parts)
    for member in group.values():
        if isinstance(member, h5py.Dataset) and shape_of(member)[4:] == (4, 3, 3):
            yield (member,)
        elif isinstance(member, h5py.Group):
            yield from candidates(member)


def describe(path: Path) -> Links:
    """Return the place of the links; DamagedFile where there is no configuration, or more than one."""
    with open(open_file(path), "rb") as raw, h5py.File(raw, "r") as file:
        found = list(candidates(file))
        if len(found) != 1:
            raise DamagedFile(f"{path}: an HDF5 file with {len(found)} configurations of four directions and three "
                              "colours; plaq reads files with one")
        parts = found[0]
        extents = {part.shape[:4] for part in parts}
        if len(extents) != 1:
            raise DamagedFile(f"{path}: its directions have lattices of {shown(sorted(extents))} sites")
        t, z, y, x = extents.pop()
        size = parts[0].dtype.itemsize // (9 if parts[0].dtype.subdtype else 1)
        return Links(tuple(part.name for part in parts), (t, x, y, z), 4 * size, tuple(map(sums_of, parts)))


def describe_propagator(path: Path) -> Links:
    """Return the place of the one propagator in a file; DamagedFile where there is none, or more."""
    with open(open_file(path), "rb") as raw, h5py.File(raw, "r") as file:
        found = list(file[PROPAGATORS].values()) if PROPAGATORS in file else []
        if len(found) != 1 or shape_of(found[0])[4:] != (4, 4, 3, 3):
            raise DamagedFile(f"{path}: an HDF5 file with {len(found)} propagators in the group {PROPAGATORS} of "
                              "PyQUDA; plaq reads files with one, of four spins and three colours")
        t, z, y, x = found[0].shape[:4]
        return Links((found[0].name,), (t, x, y, z), 4 * found[0].dtype.itemsize, (sums_of(found[0]),))


def sums_of(dataset: h5py.Dataset) -> tuple[int, int] | None:
    """Return the checksums that PyQUDA states, if there are any."""
    stated = dataset.attrs
    return (int(stated["sum29"], 16), int(stated["sum31"], 16)) if "sum29" in stated else None


def read_hdf5(path: str | Path, lattice: Lattice, *, verify: bool = True, reunitarise: bool = False) -> GaugeField:
    """Read the configuration in an HDF5 file; every rank reads its part.

    Verified are the checksums, if the file has them, and that links are in SU(3). ``verify`` and ``reunitarise`` are
    those of `read_ildg`. InputError that names file and problem, on all ranks. Collective.
    """
    path = Path(path)

    def head() -> Links:
        with reading(path, CONTENT):
            description = describe(path)
            check_extents(path, lattice.extents, description.extents)
            return description

    description = lattice.comm.on_root(head, share=True)
    parts = read_parts(path, lattice, description, UNVERIFIED if verify else None)
    links = parts[0] if len(parts) == 1 else np.stack(parts, axis=4)
    gauge = GaugeField(lattice).set_local(from_file(links.astype(complex)))
    return checked_gauge(path, gauge, description.bits == 32, None, reunitarise)


def read_parts(path: Path, lattice: Lattice, links: Links, remedy: str | None = "") -> list[np.ndarray]:
    """Return this rank's part [t, z, y, x, ...] of datasets of complex numbers, whose checksums agree.

    ``remedy`` ends the message where they do not; None leaves them out. Collective.
    """
    def read() -> list[np.ndarray]:
        with reading(path, CONTENT), open(open_file(path), "rb") as raw, h5py.File(raw, "r") as file:
            return [as_complex(file[name][box_of(lattice)]) for name in links.names]

    parts = lattice.comm.together(read)
    for name, part, stated in zip(links.names, parts, links.sums):
        if remedy is not None and stated is not None and (sums := checksums(lattice, part)) != stated:
            raise on_all_ranks(lattice, DamagedFile(
                f"{path}: damaged: the checksum of {name} is {sums[0]:08x} {sums[1]:08x}, the file says "
                f"{stated[0]:08x} {stated[1]:08x}{remedy}"))
    return parts


def as_complex(values: np.ndarray) -> np.ndarray:
    """Return complex numbers, of pairs with any names, in the byte order of the machine."""
    if values.dtype.names:
        real, imaginary = (values[name] for name in values.dtype.names)
        values = real + 1j * imaginary
    return np.ascontiguousarray(values, values.dtype.newbyteorder("="))


def checksums(lattice: Lattice, values: np.ndarray) -> tuple[int, int]:
    """Return PyQUDA's checksums of ``values`` [t, z, y, x, ...], this rank's part.

    They are the exclusive or of the words of 32 bits of each site, rotated left by the index of the site, x fastest,
    modulo 29 and 31. Collective.
    """
    extents = [lattice.extents[axis] for axis in ORDER]
    sites = np.ravel_multi_index(np.ix_(*(np.arange(b.start, b.stop) for b in box_of(lattice))), extents).ravel()
    words = np.bitwise_xor.reduce(np.ascontiguousarray(values).reshape(sites.size, -1).view("<u4"), axis=1)
    found = []
    for modulus in (29, 31):
        shift = (sites % modulus).astype(np.uint64)
        rotated = (words.astype(np.uint64) << shift | words.astype(np.uint64) >> (np.uint64(32) - shift))
        found.append(int(np.bitwise_xor.reduce(rotated & np.uint64(0xFFFFFFFF))))
    sums = [0, 0]
    for a, b in lattice.comm.allgather(found):
        sums = [sums[0] ^ a, sums[1] ^ b]
    return sums[0], sums[1]


def write_hdf5(path: str | Path, gauge: GaugeField, bits: int = 64) -> None:
    """Write a configuration with 32 or 64 bits as PyQUDA does, with its checksums; the file is complete or absent.

    Rank 0 writes the links of all, of which it needs the memory. RunError on all ranks if it cannot be written.
    Collective.
    """
    lattice = gauge.lattice
    if bits not in (32, 64):
        raise ValueError(f"links have 32 or 64 bits, not {bits}")
    kind = f"<c{bits // 4}"
    part = to_file(gauge.local()).astype(kind)
    sums = [checksums(lattice, part[..., mu, :, :]) for mu in range(4)]
    whole = gauge.whole()

    def write() -> None:
        links, content = to_file(whole).astype(kind), io.BytesIO()
        t, x, y, z = lattice.extents
        with h5py.File(content, "w", track_order=False) as file:
            group = file.create_group(GROUP)
            group.attrs.update({"Annotation": "", "Lattice": f"{x} {y} {z} {t}", "Color": "3"})
            for mu, key in enumerate(KEYS):
                dataset = group.create_dataset(key, data=links[..., mu, :, :])
                dataset.attrs.update({"sum29": f"{sums[mu][0]:08x}", "sum31": f"{sums[mu][1]:08x}"})
        with writing(Path(path)), atomic_file(Path(path)) as file:
            file.write(content.getbuffer())

    lattice.comm.on_root(write)
