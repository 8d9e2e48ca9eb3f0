"""Propagators in SciDAC's format, as Chroma and Grid write them; those of USQCD, tmLQCD and PyQUDA can be read, too."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from plaq.errors import InputError
from plaq.files.guard import DamagedFile, open_file, reading
from plaq.inputs.schema import one_line, shown
from plaq.lqcd.fields import gamma
from plaq.lqcd.fields.lattice import Lattice
from plaq.lqcd.fields.propagators import Propagator
from plaq.lqcd.files import hdf5, lime, milc, npy
from plaq.lqcd.files.gauge_files import (
    ORDER,
    as_numbers,
    check_extents,
    check_sums,
    on_all_ranks,
    read_box,
    scidac_checksum,
    write_atomically,
)
from plaq.lqcd.files.scidac import (
    BINARY,
    CHECKSUM,
    FILE,
    HEAD,
    PRIVATE_FILE,
    PRIVATE_RECORD,
    RECORD,
    checksum_xml,
    file_xml,
    parse_checksum,
    parse_extents,
    parse_numbers,
    parse_tags,
    record_xml,
)

CONTENT = "a propagator of SciDAC's format"
TMLQCD = "etmc-propagator-format"
FERMION, MATRIX = 12, 144  # complex numbers of a site: [spin, colour]; [spin, source spin, colour, source colour]


@dataclass(frozen=True)
class Field:
    """Field in a file: offset, bits and complex numbers of a site, and checksum."""

    offset: int
    bits: int
    numbers: int
    sums: tuple[int, int] | None
    name: str = ""  # of a dataset in HDF5


@dataclass(frozen=True)
class Description:
    """Content of a file: fields, source (t, x, y, z), basis, and phases at boundaries."""

    extents: tuple[int, ...]
    fields: tuple[Field, ...]
    source: tuple[int, ...] | None
    basis: str | None
    theta: tuple[float, ...] | None
    phases_on_links: bool  # as in tmLQCD; fields do not jump


def describe(path: Path) -> Description:
    """Return the content of a file; DamagedFile where it is no propagator."""
    with open(open_file(path), "rb") as file:
        if file.read(len(hdf5.MAGIC)) == hdf5.MAGIC:
            found = hdf5.describe_propagator(path)
            field = Field(0, found.bits, MATRIX, found.sums[0], found.names[0])
            return Description(found.extents, (field,), None, None, None, False)
    if is_npy(path):
        of = npy.describe_propagator(path)
        return Description(of["extents"], (Field(of["offset"], of["bits"], MATRIX, None),), None, None, None, False)
    with open(open_file(path), "rb") as file:
        extents, bits, numbers, texts, fields, tmlqcd = None, None, None, {}, [], False
        for record in lime.read_records(file, path):
            if record.type == PRIVATE_FILE:
                extents = parse_extents(record.text(file, path))
            elif record.type == TMLQCD:
                values = parse_tags(record.text(file, path))
                extents = tuple(int(values[name]) for name in ("lt", "lx", "ly", "lz"))
                bits, numbers, tmlqcd = int(values["precision"]), FERMION, True
                texts.setdefault("basis", "tmlqcd")
            elif record.type == PRIVATE_RECORD:
                bits, numbers = parse_numbers(path, record.text(file, path))
            elif record.type == RECORD:
                values = parse_tags(record.text(file, path))
                texts.update({key: values[key] for key in ("source", "basis", "theta") if key in values})
                if "crc32" in values and int(values["crc32"], 16) != _crc(values):
                    raise DamagedFile(f"{path}: damaged: the text of its record {RECORD} has another CRC-32 "
                                      "than it states")
            elif record.type == BINARY:
                if extents is None or bits not in (32, 64) or min(extents) < 1:
                    raise DamagedFile(f"{path}: numbers with {bits} bits of a lattice {shown(extents)}, before its "
                                      "texts state both")
                if record.length != numbers * bits // 4 * np.prod(extents, dtype=object):
                    raise DamagedFile(f"{path}: {record.length} bytes of a field, which are not {shown(numbers)} "
                                      f"numbers with {bits} bits on each of "
                                      f"{one_line(' x '.join(map(str, extents)))} sites (t, x, y, z)")
                fields.append(Field(record.offset, bits, numbers, None))
            elif record.type == CHECKSUM and fields:
                last = fields.pop()
                fields.append(Field(last.offset, last.bits, last.numbers, parse_checksum(record.text(file, path))))
        kept = [f for f in fields if f.numbers == MATRIX] or [f for f in fields if f.numbers == FERMION]
        if not kept or kept[0].numbers == MATRIX and len(kept) != 1 or kept[0].numbers == FERMION and len(kept) != 12:
            raise DamagedFile(f"{path}: holds fields of {shown([f.numbers for f in fields])} complex numbers a site; "
                              f"a propagator is one of {MATRIX}, or twelve of {FERMION}")
        source, theta = texts.get("source"), texts.get("theta")
        return Description(extents, tuple(kept), source and tuple(int(x) for x in source.split()), texts.get("basis"),
                           theta and tuple(float(x) for x in theta.split()), tmlqcd)


def is_npy(path: Path) -> bool:
    """Return whether a file has numpy's format; DamagedFile where it is a propagator in MILC's own."""
    with open(open_file(path), "rb") as file:
        head = file.read(len(npy.MAGIC))
    if other := milc.other_content(head):
        raise DamagedFile(f"{path}: {other}")
    return head == npy.MAGIC


def _crc(texts: dict[str, str]) -> int:
    """Return the CRC-32 of a record's texts on its propagator."""
    return zlib.crc32(" ".join(texts.get(key, "") for key in ("source", "basis", "theta")).encode())


def write_propagator(path: str | Path, propagator: Propagator, bits: int = 64, basis: str = "degrand-rossi") -> None:
    """Write the propagator of a point with 32 or 64 bits, as Chroma and Grid do.

    The file has one field of matrices, [spin, source spin, colour, source colour] on each site, and its checksum.
    Spins are in a ``basis`` of `gamma.BASES`, and fields jump at boundaries by exp(i pi theta). The file is complete
    or absent; every rank writes its part. RunError on all ranks if it cannot be written. Collective.
    """
    lattice = propagator.lattice
    if bits not in (32, 64):
        raise ValueError(f"propagators have 32 or 64 bits, not {bits}")
    if propagator.local.shape[-1] != 3:
        raise InputError(f"{path}: a file of a propagator takes one from three colours of a source, not from noise")
    change = gamma.basis(basis)
    turned = np.einsum("ab,...bicj,dc->...adij", change, propagator.jumping(), change.conj(), optimize=True)
    part = as_numbers(np.moveaxis(turned, ORDER, range(4)), bits)
    size = part.nbytes // int(np.prod(lattice.local)) * lattice.volume
    texts = {"source": " ".join(map(str, propagator.source)), "basis": basis,
             "theta": " ".join(f"{x!r}" for x in map(float, propagator.theta))}
    texts = "".join(f"<{key}>{value}</{key}>" for key, value in {**texts, "crc32": f"{_crc(texts):08x}"}.items())
    of_file = (f"{HEAD}<usqcdPropFile><version>1.0</version><type>LHPC_DiracPropagator</type>"
               "<info>plaq</info></usqcdPropFile>")
    before = [lime.make_record(PRIVATE_FILE, file_xml(lattice.extents), True, False),
              lime.make_record(FILE, of_file.encode(), False, True),
              lime.make_record(PRIVATE_RECORD, record_xml("Lattice", bits, 3, 4, MATRIX), True, False),
              lime.make_record(RECORD, f"{HEAD}<propagator>{texts}</propagator>".encode(), False, False),
              lime.make_header(BINARY, size, False, False)]
    after = bytes(-size % 8) + lime.make_record(CHECKSUM, checksum_xml(scidac_checksum(lattice, part)), False, True)
    write_atomically(Path(path), lattice, b"".join(before), part, after)


def read_propagator(path: str | Path, lattice: Lattice, source: tuple[int, ...] | None = None,
                    basis: str | None = None, theta: tuple[float, ...] | None = None) -> Propagator:
    """Read the propagator in a file; every rank reads its part.

    The file has one field of matrices as from `write_propagator`, or twelve of spinors, source spin by source spin and
    colour by colour (USQCD's propagators, tmLQCD's), or is one of PyQUDA in HDF5 or numpy's format. ``source`` (t, x,
    y, z), the spins' ``basis`` ("degrand-rossi", in tmLQCD's files "tmlqcd") and the phases ``theta`` at boundaries, by
    default none, replace missing ones in the file. In tmLQCD's files phases are distributed over the links. Verified
    are lengths and checksums. InputError that names file and problem, on all ranks. Collective.
    """
    path = Path(path)

    def head() -> Description:
        with reading(path, CONTENT):
            description = describe(path)
            check_extents(path, lattice.extents, description.extents)
            gamma.basis(description.basis or basis or "degrand-rossi")
            site, phases = description.source or source, description.theta or theta or (0, 0, 0, 0)
            if site is None:
                raise InputError(f"{path}: does not say where its source is; give source = (t, x, y, z)")
            if len(site) != 4 or not all(0 <= x < n for x, n in zip(site, lattice.extents)):
                raise InputError(f"{path}: its source {shown(site)} is not on a lattice of "
                                 f"{' x '.join(map(str, lattice.extents))}")
            if len(phases) != 4 or not np.isfinite(phases).all():
                raise InputError(f"{path}: the phases theta are four numbers, not {shown(phases)}")
            return description

    description = lattice.comm.on_root(head, share=True)
    matrix = read_matrix(path, lattice, description)
    finite = lattice.comm.allreduce(bool(np.isfinite(matrix).all()), op="min")
    if not finite:
        raise on_all_ranks(lattice, DamagedFile(f"{path}: damaged: some of its numbers are not finite"))
    change = gamma.basis(description.basis or basis or "degrand-rossi")
    source, theta = description.source or tuple(source), description.theta or theta or (0, 0, 0, 0)
    local = np.einsum("ba,...bdij,dc->...aicj", change.conj(), matrix, change, optimize=True)
    make = Propagator.from_fields if description.phases_on_links else Propagator.from_jumping
    return make(lattice, source, local, theta)


def read_matrix(path: Path, lattice: Lattice, description: Description) -> np.ndarray:
    """Return this rank's [t, x, y, z, spin, source spin, colour, source colour] of a file's fields. Collective."""
    if lattice.comm.on_root(lambda: is_npy(path), share=True):
        return npy.read_matrix(path, lattice, CONTENT)
    parts = []
    for field in description.fields:
        if field.name:
            links = hdf5.Links((field.name,), description.extents, field.bits, (field.sums,))
            values = hdf5.read_parts(path, lattice, links)[0].astype(complex)
            return np.moveaxis(values, range(4), ORDER)
        of_site = (4, 4, 3, 3, 2) if field.numbers == MATRIX else (4, 3, 2)
        values = lattice.comm.together(
            lambda field=field, of_site=of_site: read_box(path, lattice, CONTENT, f">f{field.bits // 8}",
                                                          field.offset, of_site))
        if field.sums is not None:
            check_sums(path, lattice, values, field.sums)
        with np.errstate(invalid="ignore"):
            parts.append(np.moveaxis(values[..., 0] + 1j * values[..., 1].astype(float), range(4), ORDER))
    return parts[0] if len(parts) == 1 else np.stack(parts,
                                                     axis=-1).reshape(*lattice.local, 4, 3, 4, 3).swapaxes(5, 6)
