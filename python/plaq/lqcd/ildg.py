"""Configurations in ILDG's format: LIME records, big endian, with SciDAC's checksum (www2.ccs.tsukuba.ac.jp/ILDG,
"ILDG Binary File Format 1.2")."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from plaq.files.atomic import atomic_file
from plaq.files.guard import DamagedFile, open_file, reading
from plaq.lqcd import lime
from plaq.lqcd.fields import GaugeField
from plaq.lqcd.files import box_of, check_gauge, from_file, read_part, scidac_checksum, to_file
from plaq.lqcd.lattice import Lattice

WHAT = "a configuration of ILDG"
FORMAT, BINARY, CHECKSUM, NOTES = "ildg-format", "ildg-binary-data", "scidac-checksum", "xlf-info"


def _tags(text: str) -> dict[str, str]:
    """{tag: text} of an XML text, without namespaces."""
    return {element.tag.rpartition("}")[2]: (element.text or "").strip() for element in ElementTree.fromstring(text).iter()}


def _describe(path: Path) -> dict:
    """What the texts of a file say, and where its numbers are."""
    with open(open_file(path), "rb") as file:
        found = {record.kind: record for record in lime.records(file, path)}
        for kind in (FORMAT, BINARY):
            if kind not in found:
                raise DamagedFile(f"{path}: a LIME file without the record {kind}, so no configuration of ILDG")
        form = _tags(found[FORMAT].text(file, path))
        if form.get("field") != "su3gauge" or form.get("precision") not in ("32", "64"):
            raise DamagedFile(f"{path}: holds the field {form.get('field')!r} with {form.get('precision')} bits; plaq reads "
                              "'su3gauge' with 32 or 64")
        extents = tuple(int(form[name]) for name in ("lt", "lx", "ly", "lz"))
        bits, data = int(form["precision"]), found[BINARY]
        if min(extents) < 1 or data.length != 72 * bits // 8 * np.prod(extents, dtype=object):
            raise DamagedFile(f"{path}: {data.length} bytes of links, which are not those of {extents} sites with {bits} bits")
        sums = None
        if CHECKSUM in found:
            tags = _tags(found[CHECKSUM].text(file, path))
            sums = int(tags["suma"], 16), int(tags["sumb"], 16)
        plaquette = None
        if NOTES in found:
            stated = re.search(r"plaquette\s*=\s*([-+.\deE]+)", found[NOTES].text(file, path))
            plaquette = stated and stated.group(1)
    t, x, y, z = extents
    return {"extents": extents, "bits": bits, "kind": f">f{bits // 8}", "shape": (t, z, y, x, 4, 3, 3, 2), "offset": data.offset, "checksum": sums, "plaquette": plaquette}


def extents_of(path: str | Path) -> tuple[int, ...]:
    """(T, X, Y, Z) of the configuration in a file."""
    with reading(path, WHAT):
        return _describe(Path(path))["extents"]


def read_ildg(path: str | Path, lattice: Lattice) -> GaugeField:
    """The configuration in a file; every rank reads its part. Verified: the length, SciDAC's checksum and the plaquette, where
    the file has them, and that links are unitary. InputError that names the file and what is wrong, on all ranks. Collective."""
    path, comm = Path(path), lattice.comm
    found, values = read_part(path, lattice, WHAT, _describe)
    if found["checksum"] is not None:
        sums = scidac_checksum(lattice, values)
        if sums != found["checksum"]:
            error = DamagedFile(f"{path}: damaged: its checksum is {sums[0]:08x} {sums[1]:08x}, the file says "
                                f"{found['checksum'][0]:08x} {found['checksum'][1]:08x}")
            error.ranks = comm.size
            raise error
    gauge = GaugeField(lattice).set_local(from_file(values[..., 0] + 1j * values[..., 1]))
    check_gauge(path, gauge, found["bits"] == 32, found["plaquette"])
    return gauge


def write_ildg(path: str | Path, gauge: GaugeField, bits: int = 64) -> None:
    """Write a configuration with 32 or 64 bits, its plaquette and checksum. The file is whole or not there. Rank 0 writes what
    the others send it. RunError on all ranks where it cannot be written. Collective."""
    path, lattice, comm = Path(path), gauge.lattice, gauge.lattice.comm
    if bits not in (32, 64):
        raise ValueError(f"links have 32 or 64 bits, not {bits}")
    local = to_file(gauge.local())
    mine = np.stack([local.real, local.imag], axis=-1).astype(f">f{bits // 8}")
    suma, sumb = scidac_checksum(lattice, mine)
    t, x, y, z = lattice.extents
    form = ('<?xml version="1.0" encoding="UTF-8"?><ildgFormat xmlns="http://www.lqcd.org/ildg"><version>1.0</version>'
            f"<field>su3gauge</field><precision>{bits}</precision><lx>{x}</lx><ly>{y}</ly><lz>{z}</lz><lt>{t}</lt></ildgFormat>")
    checksum = ('<?xml version="1.0" encoding="UTF-8"?><scidacChecksum><version>1.0</version>'
                f"<suma>{suma:x}</suma><sumb>{sumb:x}</sumb></scidacChecksum>")
    notes = f"plaquette = {gauge.plaquette():.14f}\n"
    parts = comm.gather((box_of(lattice), mine))

    def write():
        whole = np.empty((t, z, y, x, 4, 3, 3, 2), mine.dtype)
        for box, values in parts:
            whole[box] = values
        with atomic_file(path) as file:
            file.write(lime.record(NOTES, notes.encode(), True, True))
            file.write(lime.record(FORMAT, form.encode(), True, False))
            file.write(lime.header(BINARY, whole.nbytes, False, True))
            file.write(whole.data)
            file.write(bytes(-whole.nbytes % 8))
            file.write(lime.record(CHECKSUM, checksum.encode(), True, True))

    comm.on_root(write)
