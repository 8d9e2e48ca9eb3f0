"""Configurations in ILDG's format: LIME records, big endian, with SciDAC's checksum (www2.ccs.tsukuba.ac.jp/ILDG,
"ILDG Binary File Format 1.2")."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from plaq.files.guard import DamagedFile, open_file, reading
from plaq.lqcd import lime
from plaq.lqcd.fields import GaugeField
from plaq.lqcd.files import (
    as_numbers,
    check_gauge,
    check_sums,
    from_file,
    read_part,
    scidac_checksum,
    to_file,
    write_whole,
)
from plaq.lqcd.lattice import Lattice
from plaq.lqcd.scidac import CHECKSUM, checksum_of, checksum_record, tags

WHAT = "a configuration of ILDG"
FORMAT, BINARY, NOTES = "ildg-format", "ildg-binary-data", "xlf-info"


def _describe(path: Path) -> dict:
    """What the texts of a file say, and where its numbers are."""
    with open(open_file(path), "rb") as file:
        found = {record.kind: record for record in lime.records(file, path)}
        for kind in (FORMAT, BINARY):
            if kind not in found:
                raise DamagedFile(f"{path}: a LIME file without the record {kind}, so no configuration of ILDG")
        form = tags(found[FORMAT].text(file, path))
        if form.get("field") != "su3gauge" or form.get("precision") not in ("32", "64"):
            raise DamagedFile(f"{path}: holds the field {form.get('field')!r} with {form.get('precision')} "
                              "bits; plaq reads 'su3gauge' with 32 or 64")
        extents = tuple(int(form[name]) for name in ("lt", "lx", "ly", "lz"))
        bits, data = int(form["precision"]), found[BINARY]
        if min(extents) < 1 or data.length != 72 * bits // 8 * np.prod(extents, dtype=object):
            raise DamagedFile(f"{path}: {data.length} bytes of links, which are not those of {extents} sites "
                              f"with {bits} bits")
        sums = None
        if CHECKSUM in found:
            sums = checksum_of(found[CHECKSUM].text(file, path))
        plaquette = None
        if NOTES in found:
            stated = re.search(r"plaquette\s*=\s*([-+.\deE]+)", found[NOTES].text(file, path))
            plaquette = stated and stated.group(1)
            if plaquette:
                float(plaquette)  # or the text is no number
    t, x, y, z = extents
    return {"extents": extents, "bits": bits, "kind": f">f{bits // 8}", "shape": (t, z, y, x, 4, 3, 3, 2),
            "offset": data.offset, "checksum": sums, "plaquette": plaquette}


def extents_of(path: str | Path) -> tuple[int, ...]:
    """(T, X, Y, Z) of the configuration in a file."""
    with reading(path, WHAT):
        return _describe(Path(path))["extents"]


def read_ildg(path: str | Path, lattice: Lattice) -> GaugeField:
    """The configuration in a file; every rank reads its part. Verified: the length, SciDAC's checksum and the
    plaquette, where the file has them, and that links are unitary.
    InputError that names the file and what is wrong, on all ranks. Collective."""
    path = Path(path)
    found, values = read_part(path, lattice, WHAT, _describe)
    if found["checksum"] is not None:
        check_sums(path, lattice, values, found["checksum"])
    gauge = GaugeField(lattice).set_local(from_file(values[..., 0] + 1j * values[..., 1]))
    check_gauge(path, gauge, found["bits"] == 32, found["plaquette"])
    return gauge


def write_ildg(path: str | Path, gauge: GaugeField, bits: int = 64) -> None:
    """Write a configuration with 32 or 64 bits, its plaquette and checksum. The file is whole or not there; every
    rank writes its part. RunError on all ranks where it cannot be written. Collective."""
    lattice = gauge.lattice
    if bits not in (32, 64):
        raise ValueError(f"links have 32 or 64 bits, not {bits}")
    mine = as_numbers(to_file(gauge.local()), bits)
    t, x, y, z = lattice.extents
    form = ('<?xml version="1.0" encoding="UTF-8"?>'
            '<ildgFormat xmlns="http://www.lqcd.org/ildg"><version>1.0</version>'
            f"<field>su3gauge</field><precision>{bits}</precision>"
            f"<lx>{x}</lx><ly>{y}</ly><lz>{z}</lz><lt>{t}</lt></ildgFormat>")
    notes, size = f"plaquette = {gauge.plaquette():.14f}\n", 9 * bits * lattice.volume
    before = [lime.record(NOTES, notes.encode(), True, True), lime.record(FORMAT, form.encode(), True, False),
              lime.header(BINARY, size, False, True)]
    after = bytes(-size % 8) + lime.record(CHECKSUM, checksum_record(scidac_checksum(lattice, mine)), True, True)
    write_whole(Path(path), lattice, b"".join(before), mine, after)
