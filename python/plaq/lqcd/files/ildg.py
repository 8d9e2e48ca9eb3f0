"""Configurations in ILDG's format: LIME records, big endian, with SciDAC's checksum.

www2.ccs.tsukuba.ac.jp/ILDG, "ILDG Binary File Format 1.2".
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from plaq.errors import InputError
from plaq.files.guard import DamagedFile, open_file
from plaq.inputs.schema import shown
from plaq.lqcd.fields.gauge_field import GaugeField
from plaq.lqcd.fields.lattice import Lattice
from plaq.lqcd.files import lime
from plaq.lqcd.files.gauge_files import (
    UNVERIFIED,
    as_numbers,
    check_sums,
    checked_gauge,
    from_file,
    read_part,
    scidac_checksum,
    to_file,
    write_atomically,
)
from plaq.lqcd.files.scidac import BINARY as SCIDAC_BINARY
from plaq.lqcd.files.scidac import (
    CHECKSUM,
    PRIVATE_FILE,
    PRIVATE_RECORD,
    checksum_xml,
    parse_checksum,
    parse_extents,
    parse_numbers,
    parse_tags,
)

CONTENT = "a configuration of ILDG"
FORMAT, BINARY, NAME, NOTES = "ildg-format", "ildg-binary-data", "ildg-data-lfn", "xlf-info"
LINKS = 72  # numbers of a site


@dataclass(frozen=True)
class Description:
    """Content of a file: offset and bits of its numbers, and the data in its texts; None if they do not state it."""

    extents: tuple[int, ...] | None
    bits: int | None
    offset: int
    checksum: tuple[int, int] | None
    plaquette: str | None


def describe(path: Path, given: tuple[int, ...] | None = None) -> Description:
    """Read the description of the file at ``path``.

    Extents and precision are those of ILDG's record, else of SciDAC's texts. Without either, the extents are those
    ``given``, and the precision follows from the length.
    """
    with open(open_file(path), "rb") as file:
        records = lime.read_records(file, path)
        texts = {record.type: record for record in records}
        extents = bits = None
        if FORMAT in texts:
            form = parse_tags(texts[FORMAT].text(file, path))
            if form.get("field") != "su3gauge" or form.get("precision") not in ("32", "64"):
                raise DamagedFile(f"{path}: holds the field {shown(form.get('field'))} with "
                                  f"{shown(form.get('precision'))} bits; plaq reads 'su3gauge' with 32 or 64")
            extents, bits = tuple(int(form[name]) for name in ("lt", "lx", "ly", "lz")), int(form["precision"])
        elif PRIVATE_FILE in texts:
            extents = parse_extents(texts[PRIVATE_FILE].text(file, path))
        data = _links(path, file, records)
        extents = extents or given
        if extents is not None:
            _check_length(path, data, extents, bits)
            bits = 8 * data.length // (LINKS * math.prod(extents))
        sums = parse_checksum(texts[CHECKSUM].text(file, path)) if CHECKSUM in texts else None
        notes = texts[NOTES].text(file, path) if NOTES in texts else ""
    plaquette = re.search(r"plaquette\s*=\s*([-+.\deE]+)", notes)
    return Description(extents, bits, data.offset, sums, plaquette and plaquette.group(1))


def _links(path: Path, file: BinaryIO, records: list[lime.Record]) -> lime.Record:
    """Return the record with the links: ILDG's, else the only field of 36 complex numbers a site in SciDAC's format."""
    candidates, numbers = [], None
    for record in records:
        if record.type == BINARY:
            return record
        if record.type == PRIVATE_RECORD:
            _, numbers = parse_numbers(path, record.text(file, path))
        elif record.type == SCIDAC_BINARY and numbers == LINKS // 2:
            candidates.append(record)
    if len(candidates) != 1:
        raise DamagedFile(f"{path}: a LIME file without the record {BINARY} and with {len(candidates)} fields of "
                          f"{LINKS // 2} complex numbers a site, so not a configuration of ILDG or of SciDAC's format")
    return candidates[0]


def _check_length(path: Path, data: lime.Record, extents: tuple[int, ...], bits: int | None) -> None:
    sites = math.prod(extents)
    if min(extents) < 1 or data.length not in [LINKS * n // 8 * sites for n in ((bits,) if bits else (32, 64))]:
        raise DamagedFile(f"{path}: {data.length} bytes of links, which are not those of {shown(extents)} sites "
                          f"(t, x, y, z) with {bits or '32 or 64'} bits")


def read_ildg(path: str | Path, lattice: Lattice, *, verify: bool = True, reunitarise: bool = False) -> GaugeField:
    """Read the configuration in a file; every rank reads its part.

    Files of SciDAC's format without ILDG's records can be read, too, and those with links alone, which are assumed to
    be of ``lattice``. Verified are the length, SciDAC's checksum and the plaquette, if the file has them, and that
    links are in SU(3).

    verify : False ignores checksum and plaquette. reunitarise : project links that are in SU(3) to 32 bits, such as 64
    bits made of 32. InputError that names file and problem, on all ranks. Collective.
    """
    path = Path(path)

    def head(path: Path) -> dict[str, Any]:
        description = describe(path, lattice.extents)
        t, x, y, z = description.extents
        return {**vars(description), "dtype": f">f{description.bits // 8}", "shape": (t, z, y, x, 4, 3, 3, 2)}

    description, values = read_part(path, lattice, CONTENT, head)
    if verify and description["checksum"] is not None:
        check_sums(path, lattice, values, description["checksum"], remedy=UNVERIFIED)
    with np.errstate(invalid="ignore"):  # links with NaN fail the check of SU(3)
        gauge = GaugeField(lattice).set_local(from_file(values[..., 0] + 1j * values[..., 1].astype(float)))
    plaquette = description["plaquette"] if verify else None
    return checked_gauge(path, gauge, description["bits"] == 32, plaquette, reunitarise)


def write_ildg(path: str | Path, gauge: GaugeField, bits: int = 64, *, notes: Mapping[str, Any] | None = None,
               lfn: str | None = None) -> None:
    """Write a configuration with 32 or 64 bits, its plaquette and checksum.

    The file is complete or absent; every rank writes its part. RunError on all ranks if it cannot be written.
    Collective.

    notes : {name: value} of more lines in the record xlf-info, after the plaquette, such as "trajectory nr" and
    "beta", which tmLQCD and CL2QCD read. lfn : the logical name of the file in a catalogue (ildg-data-lfn); by default
    made of its checksum, so that equal links have one name.
    """
    lattice = gauge.lattice
    if bits not in (32, 64):
        raise ValueError(f"links have 32 or 64 bits, not {bits}")
    texts = {"plaquette": f"{gauge.plaquette():.14f}", **(notes or {})}
    for text in (*texts, *texts.values(), lfn or ""):
        if not str(text).isprintable():
            raise InputError(f"{path}: {shown(str(text))} is not allowed: a note or name is a text of one line")
    part = as_numbers(to_file(gauge.local()), bits)
    sums = scidac_checksum(lattice, part)
    t, x, y, z = lattice.extents
    form = ('<?xml version="1.0" encoding="UTF-8"?>'
            '<ildgFormat xmlns="http://www.lqcd.org/ildg"><version>1.0</version>'
            f"<field>su3gauge</field><precision>{bits}</precision>"
            f"<lx>{x}</lx><ly>{y}</ly><lz>{z}</lz><lt>{t}</lt></ildgFormat>")
    lines, size = "".join(f"{key} = {value}\n" for key, value in texts.items()), LINKS * bits // 8 * lattice.volume
    name = lfn or f"lfn://plaq/{sums[0]:08x}{sums[1]:08x}"
    before = [lime.make_record(NOTES, lines.encode(), True, True), lime.make_record(FORMAT, form.encode(), True, False),
              lime.make_header(BINARY, size, False, False)]
    after = [bytes(-size % 8), lime.make_record(NAME, name.encode(), False, True),
             lime.make_record(CHECKSUM, checksum_xml(sums), True, True)]
    write_atomically(Path(path), lattice, b"".join(before), part, b"".join(after))
