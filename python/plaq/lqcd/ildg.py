"""Configurations in ILDG's format: LIME records, big endian, with SciDAC's checksum (www2.ccs.tsukuba.ac.jp/ILDG,
"ILDG Binary File Format 1.2")."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from plaq.errors import InputError
from plaq.files.guard import DamagedFile, open_file, reading
from plaq.inputs.schema import shown
from plaq.lqcd import lime
from plaq.lqcd.fields import GaugeField
from plaq.lqcd.files import (
    UNVERIFIED,
    as_numbers,
    check_sums,
    checked_gauge,
    from_file,
    read_part,
    scidac_checksum,
    to_file,
    write_whole,
)
from plaq.lqcd.lattice import Lattice
from plaq.lqcd.scidac import BINARY as SCIDAC_BINARY
from plaq.lqcd.scidac import (
    CHECKSUM,
    PRIVATE_FILE,
    PRIVATE_RECORD,
    checksum_of,
    checksum_record,
    extents_in,
    numbers_in,
    tags,
)

WHAT = "a configuration of ILDG"
FORMAT, BINARY, NAME, NOTES = "ildg-format", "ildg-binary-data", "ildg-data-lfn", "xlf-info"
LINKS = 72  # numbers of a site


@dataclass(frozen=True)
class Description:
    """Content of a file: place and bits of its numbers, and what its texts state. What they do not state of the lattice
    is None."""

    extents: tuple[int, ...] | None
    bits: int | None
    offset: int
    checksum: tuple[int, int] | None
    plaquette: str | None


def _describe(path: Path, given: tuple[int, ...] | None = None) -> Description:
    """Read the description of the file at ``path``. Extents and precision are those of ILDG's record, else of SciDAC's
    texts; where there are neither, the extents are those ``given``, and the precision follows from the length."""
    with open(open_file(path), "rb") as file:
        records = lime.records(file, path)
        texts = {record.kind: record for record in records}
        extents = bits = None
        if FORMAT in texts:
            form = tags(texts[FORMAT].text(file, path))
            if form.get("field") != "su3gauge" or form.get("precision") not in ("32", "64"):
                raise DamagedFile(f"{path}: holds the field {shown(form.get('field'))} with "
                                  f"{shown(form.get('precision'))} bits; plaq reads 'su3gauge' with 32 or 64")
            extents, bits = tuple(int(form[name]) for name in ("lt", "lx", "ly", "lz")), int(form["precision"])
        elif PRIVATE_FILE in texts:
            extents = extents_in(texts[PRIVATE_FILE].text(file, path))
        data = _links(path, file, records)
        extents = extents or given
        if extents is not None:
            _check_length(path, data, extents, bits)
            bits = 8 * data.length // (LINKS * math.prod(extents))
        sums = checksum_of(texts[CHECKSUM].text(file, path)) if CHECKSUM in texts else None
        notes = texts[NOTES].text(file, path) if NOTES in texts else ""
    plaquette = re.search(r"plaquette\s*=\s*([-+.\deE]+)", notes)
    return Description(extents, bits, data.offset, sums, plaquette and plaquette.group(1))


def _links(path: Path, file: BinaryIO, records: list[lime.Record]) -> lime.Record:
    """The record with the numbers of the links: ILDG's, else the only field of 36 complex numbers a site in SciDAC's
    format."""
    found, numbers = [], None
    for record in records:
        if record.kind == BINARY:
            return record
        if record.kind == PRIVATE_RECORD:
            _, numbers = numbers_in(path, record.text(file, path))
        elif record.kind == SCIDAC_BINARY and numbers == LINKS // 2:
            found.append(record)
    if len(found) != 1:
        raise DamagedFile(f"{path}: a LIME file without the record {BINARY} and with {len(found)} fields of "
                          f"{LINKS // 2} complex numbers a site, so no configuration of ILDG or of SciDAC's format")
    return found[0]


def _check_length(path: Path, data: lime.Record, extents: tuple[int, ...], bits: int | None) -> None:
    sites = math.prod(extents)
    if min(extents) < 1 or data.length not in [LINKS * n // 8 * sites for n in ((bits,) if bits else (32, 64))]:
        raise DamagedFile(f"{path}: {data.length} bytes of links, which are not those of {shown(extents)} sites "
                          f"(t, x, y, z) with {bits or '32 or 64'} bits")


def extents_of(path: str | Path) -> tuple[int, ...]:
    """(T, X, Y, Z) of the configuration in a file; InputError where it does not say them."""
    with reading(path, WHAT):
        if (found := _describe(Path(path)).extents) is None:
            raise InputError(f"{path}: does not say the extents of its lattice")
        return found


def read_ildg(path: str | Path, lattice: Lattice, *, verify: bool = True, reunitarise: bool = False) -> GaugeField:
    """The configuration in a file; every rank reads its part. Files of SciDAC's format without ILDG's records are read
    too, and those with links alone, which are taken to be of ``lattice``.

    Verified: the length, SciDAC's checksum and the plaquette, where the file has them, and that links are of SU(3).
    verify : False takes the links whatever the file says of their checksum and plaquette. reunitarise : project links
    that are of SU(3) to 32 bits onto it, as those of 64 bits that were made of 32.
    InputError that names the file and what is wrong, on all ranks. Collective."""
    path = Path(path)

    def describe(path: Path) -> dict[str, Any]:
        said = _describe(path, lattice.extents)
        t, x, y, z = said.extents
        return {**vars(said), "kind": f">f{said.bits // 8}", "shape": (t, z, y, x, 4, 3, 3, 2)}

    found, values = read_part(path, lattice, WHAT, describe)
    if verify and found["checksum"] is not None:
        check_sums(path, lattice, values, found["checksum"], remedy=UNVERIFIED)
    with np.errstate(invalid="ignore"):  # a link that is no number is no element of SU(3) either
        gauge = GaugeField(lattice).set_local(from_file(values[..., 0] + 1j * values[..., 1].astype(float)))
    return checked_gauge(path, gauge, found["bits"] == 32, found["plaquette"] if verify else None, reunitarise)


def write_ildg(path: str | Path, gauge: GaugeField, bits: int = 64, *, notes: Mapping[str, Any] | None = None,
               lfn: str | None = None) -> None:
    """Write a configuration with 32 or 64 bits, its plaquette and checksum. The file is whole or not there; every
    rank writes its part. RunError on all ranks where it cannot be written. Collective.

    notes : {name: value} of more lines in the record xlf-info, after the plaquette, such as "trajectory nr" and
    "beta", which tmLQCD and CL2QCD take from there. lfn : the logical name of the file in a catalogue
    (ildg-data-lfn); by default made of its checksum, so that equal links have one name."""
    lattice = gauge.lattice
    if bits not in (32, 64):
        raise ValueError(f"links have 32 or 64 bits, not {bits}")
    said = {"plaquette": f"{gauge.plaquette():.14f}", **(notes or {})}
    for text in (*said, *said.values(), lfn or ""):
        if not str(text).isprintable():
            raise InputError(f"{path}: {shown(str(text))} is not allowed: a note or name is a text of one line")
    mine = as_numbers(to_file(gauge.local()), bits)
    sums = scidac_checksum(lattice, mine)
    t, x, y, z = lattice.extents
    form = ('<?xml version="1.0" encoding="UTF-8"?>'
            '<ildgFormat xmlns="http://www.lqcd.org/ildg"><version>1.0</version>'
            f"<field>su3gauge</field><precision>{bits}</precision>"
            f"<lx>{x}</lx><ly>{y}</ly><lz>{z}</lz><lt>{t}</lt></ildgFormat>")
    lines, size = "".join(f"{key} = {value}\n" for key, value in said.items()), LINKS * bits // 8 * lattice.volume
    name = lfn or f"lfn://plaq/{sums[0]:08x}{sums[1]:08x}"
    before = [lime.record(NOTES, lines.encode(), True, True), lime.record(FORMAT, form.encode(), True, False),
              lime.header(BINARY, size, False, False)]
    after = [bytes(-size % 8), lime.record(NAME, name.encode(), False, True),
             lime.record(CHECKSUM, checksum_record(sums), True, True)]
    write_whole(Path(path), lattice, b"".join(before), mine, b"".join(after))
