"""Propagators in SciDAC's format, as Chroma and Grid have them, and those of USQCD and tmLQCD read."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from plaq.errors import InputError
from plaq.files.guard import DamagedFile, open_file, reading
from plaq.inputs.schema import one_line, shown
from plaq.lqcd import gamma, lime
from plaq.lqcd.files import (
    ORDER,
    as_numbers,
    check_sums,
    need_extents,
    on_all,
    read_box,
    scidac_checksum,
    write_whole,
)
from plaq.lqcd.lattice import Lattice
from plaq.lqcd.propagators import Propagator
from plaq.lqcd.scidac import (
    BINARY,
    CHECKSUM,
    FILE,
    HEAD,
    PRIVATE_FILE,
    PRIVATE_RECORD,
    RECORD,
    checksum_of,
    checksum_record,
    extents_in,
    file_text,
    numbers_in,
    record_text,
    tags,
)

WHAT = "a propagator of SciDAC's format"
TMLQCD = "etmc-propagator-format"
FERMION, MATRIX = 12, 144  # complex numbers of a site: [spin, colour]; [spin, source spin, colour, source colour]


@dataclass(frozen=True)
class Field:
    """A field in a file: where its numbers are, how many bits and complex numbers of a site they have,
    their checksum."""

    offset: int
    bits: int
    numbers: int
    sums: tuple[int, int] | None


@dataclass(frozen=True)
class Description:
    """Of a file: fields, and what its texts say of the source (t, x, y, z),
    the basis and the phases at boundaries."""

    extents: tuple[int, ...]
    fields: tuple[Field, ...]
    source: tuple[int, ...] | None
    basis: str | None
    theta: tuple[float, ...] | None
    spread: bool  # these phases are spread over the links (tmLQCD's), and fields do not jump


def _describe(path: Path) -> Description:
    with open(open_file(path), "rb") as file:
        extents, bits, numbers, said, fields, tmlqcd = None, None, None, {}, [], False
        for record in lime.records(file, path):
            if record.kind == PRIVATE_FILE:
                extents = extents_in(record.text(file, path))
            elif record.kind == TMLQCD:
                found = tags(record.text(file, path))
                extents = tuple(int(found[name]) for name in ("lt", "lx", "ly", "lz"))
                bits, numbers, tmlqcd = int(found["precision"]), FERMION, True
                said.setdefault("basis", "tmlqcd")
            elif record.kind == PRIVATE_RECORD:
                bits, numbers = numbers_in(path, record.text(file, path))
            elif record.kind == RECORD:
                found = tags(record.text(file, path))
                said.update({key: found[key] for key in ("source", "basis", "theta") if key in found})
                if "crc32" in found and int(found["crc32"], 16) != _crc(found):
                    raise DamagedFile(f"{path}: damaged: the text of its record {RECORD} has another CRC-32 "
                                      "than it states")
            elif record.kind == BINARY:
                if extents is None or bits not in (32, 64) or min(extents) < 1:
                    raise DamagedFile(f"{path}: numbers with {bits} bits of a lattice {shown(extents)}, which its "
                                      "texts are to say before")
                if record.length != numbers * bits // 4 * np.prod(extents, dtype=object):
                    raise DamagedFile(f"{path}: {record.length} bytes of a field, which are not {shown(numbers)} "
                                      f"numbers with {bits} bits on each of "
                                      f"{one_line(' x '.join(map(str, extents)))} sites (t, x, y, z)")
                fields.append(Field(record.offset, bits, numbers, None))
            elif record.kind == CHECKSUM and fields:
                last = fields.pop()
                fields.append(Field(last.offset, last.bits, last.numbers, checksum_of(record.text(file, path))))
        kept = [f for f in fields if f.numbers == MATRIX] or [f for f in fields if f.numbers == FERMION]
        if not kept or kept[0].numbers == MATRIX and len(kept) != 1 or kept[0].numbers == FERMION and len(kept) != 12:
            raise DamagedFile(f"{path}: holds fields of {shown([f.numbers for f in fields])} complex numbers a site; "
                              f"a propagator is one of {MATRIX}, or twelve of {FERMION}")
        source, theta = said.get("source"), said.get("theta")
        return Description(extents, tuple(kept), source and tuple(int(x) for x in source.split()), said.get("basis"),
                           theta and tuple(float(x) for x in theta.split()), tmlqcd)


def _crc(said: dict[str, str]) -> int:
    """CRC-32 of what a record says of its propagator."""
    return zlib.crc32(" ".join(said.get(key, "") for key in ("source", "basis", "theta")).encode())


def write_propagator(path: str | Path, propagator: Propagator, bits: int = 64, basis: str = "degrand-rossi") -> None:
    """Write the propagator of a point with 32 or 64 bits as one field of matrices, [spin, source spin, colour,
    source colour] on each site, and its checksum: what Chroma and Grid read and write. Spins are in a ``basis`` of
    `gamma.BASES`, and fields jump at boundaries by exp(i pi theta). The file is whole or not there; every rank
    writes its part. RunError on all ranks where it cannot be written. Collective."""
    lattice = propagator.lattice
    if bits not in (32, 64):
        raise ValueError(f"propagators have 32 or 64 bits, not {bits}")
    if propagator.local.shape[-1] != 3:
        raise InputError(f"{path}: a file of a propagator takes one from three colours of a source, not from noise")
    change = gamma.basis(basis)
    turned = np.einsum("ab,...bicj,dc->...adij", change, propagator.jumping(), change.conj(), optimize=True)
    mine = as_numbers(np.moveaxis(turned, ORDER, range(4)), bits)
    size = mine.nbytes // int(np.prod(lattice.local)) * lattice.volume
    texts = {"source": " ".join(map(str, propagator.source)), "basis": basis,
             "theta": " ".join(f"{x!r}" for x in map(float, propagator.theta))}
    said = "".join(f"<{key}>{value}</{key}>" for key, value in {**texts, "crc32": f"{_crc(texts):08x}"}.items())
    of_file = (f"{HEAD}<usqcdPropFile><version>1.0</version><type>LHPC_DiracPropagator</type>"
               "<info>plaq</info></usqcdPropFile>")
    before = [lime.record(PRIVATE_FILE, file_text(lattice.extents), True, False),
              lime.record(FILE, of_file.encode(), False, True),
              lime.record(PRIVATE_RECORD, record_text("Lattice", bits, 3, 4, MATRIX), True, False),
              lime.record(RECORD, f"{HEAD}<propagator>{said}</propagator>".encode(), False, False),
              lime.header(BINARY, size, False, False)]
    after = bytes(-size % 8) + lime.record(CHECKSUM, checksum_record(scidac_checksum(lattice, mine)), False, True)
    write_whole(Path(path), lattice, b"".join(before), mine, after)


def read_propagator(path: str | Path, lattice: Lattice, source: tuple[int, ...] | None = None,
                    basis: str | None = None, theta: tuple[float, ...] | None = None) -> Propagator:
    """The propagator in a file; every rank reads its part. One field of matrices as `write_propagator` makes it,
    or twelve of spinors, source spin by source spin and colour by colour (USQCD's propagators, tmLQCD's). Where
    the file does not say them, ``source`` (t, x, y, z), the spins' ``basis`` ("degrand-rossi", in tmLQCD's files
    "tmlqcd") and the phases ``theta`` at boundaries are those given, by default none; tmLQCD's files have them spread
    over the links. Verified: lengths and checksums.
    InputError that names the file and what is wrong, on all ranks. Collective."""
    path = Path(path)

    def head() -> Description:
        with reading(path, WHAT):
            found = _describe(path)
            need_extents(path, lattice, found.extents)
            gamma.basis(found.basis or basis or "degrand-rossi")
            of, phases = found.source or source, found.theta or theta or (0, 0, 0, 0)
            if of is None:
                raise InputError(f"{path}: does not say where its source is; give source = (t, x, y, z)")
            if len(of) != 4 or not all(0 <= x < n for x, n in zip(of, lattice.extents)):
                raise InputError(f"{path}: its source {shown(of)} is not on a lattice of "
                                 f"{' x '.join(map(str, lattice.extents))}")
            if len(phases) != 4 or not np.isfinite(phases).all():
                raise InputError(f"{path}: the phases theta are four numbers, not {shown(phases)}")
            return found

    found = lattice.comm.on_root(head, share=True)
    parts = []
    for field in found.fields:
        of_site = (4, 4, 3, 3, 2) if field.numbers == MATRIX else (4, 3, 2)
        values = lattice.comm.together(
            lambda field=field, of_site=of_site: read_box(path, lattice, WHAT, f">f{field.bits // 8}",
                                                          field.offset, of_site))
        if field.sums is not None:
            check_sums(path, lattice, values, field.sums)
        with np.errstate(invalid="ignore"):
            parts.append(np.moveaxis(values[..., 0] + 1j * values[..., 1].astype(float), range(4), ORDER))
    matrix = parts[0] if len(parts) == 1 else np.stack(parts,
                                                       axis=-1).reshape(*lattice.local, 4, 3, 4, 3).swapaxes(5, 6)
    finite = lattice.comm.allreduce(bool(np.isfinite(matrix).all()), op="min")
    if not finite:
        raise on_all(lattice, DamagedFile(f"{path}: damaged: some of its numbers are none"))
    change = gamma.basis(found.basis or basis or "degrand-rossi")
    source, theta = found.source or tuple(source), found.theta or theta or (0, 0, 0, 0)
    local = np.einsum("ba,...bdij,dc->...aicj", change.conj(), matrix, change, optimize=True)
    made = Propagator.of_fields if found.spread else Propagator.of_jumping
    return made(lattice, source, local, theta)
