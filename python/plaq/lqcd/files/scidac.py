"""Texts of SciDAC's files (USQCD's QIO, version 2.3) that describe fields and their checksums."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

from plaq.files.guard import DamagedFile
from plaq.inputs.schema import shown

CHECKSUM = "scidac-checksum"
PRIVATE_FILE, FILE = "scidac-private-file-xml", "scidac-file-xml"
PRIVATE_RECORD, RECORD, BINARY = "scidac-private-record-xml", "scidac-record-xml", "scidac-binary-data"
HEAD = '<?xml version="1.0" encoding="UTF-8"?>'


def parse_tags(text: str) -> dict[str, str]:
    """Return {tag: text} of an XML text, without namespaces and white space around texts."""
    return {element.tag.rpartition("}")[2]: (element.text or "").strip()
            for element in ElementTree.fromstring(text).iter()}


def parse_extents(text: str) -> tuple[int, ...]:
    """Return (T, X, Y, Z) in a file's private record, of a lattice in one file."""
    fields = parse_tags(text)
    x, y, z, t = (int(n) for n in fields["dims"].split())
    if fields.get("volfmt", "0") != "0":
        raise ValueError("the lattice is in several files")
    return t, x, y, z


def parse_numbers(path: Path, text: str) -> tuple[int, int]:
    """Return (bits, complex numbers of a site) in a field's private record; DamagedFile if it describes no field."""
    fields = parse_tags(text)
    if fields.get("precision") not in ("F", "D") or fields.get("recordtype", "0") != "0":
        raise DamagedFile(f"{path}: has a record of type {shown(fields.get('recordtype'))} and precision "
                          f"{shown(fields.get('precision'))}; plaq reads fields, type 0, with precision 'F' or 'D'")
    bits = 32 if fields["precision"] == "F" else 64
    size, count = int(fields["typesize"]), int(fields["datacount"])
    numbers, rest = divmod(size * count, bits // 4)
    if rest:
        raise DamagedFile(f"{path}: sites of {shown(size)} times {shown(count)} bytes are not complex numbers")
    return bits, numbers


def parse_checksum(text: str) -> tuple[int, int]:
    """Return (suma, sumb) of a checksum record."""
    fields = parse_tags(text)
    return int(fields["suma"], 16), int(fields["sumb"], 16)


def checksum_xml(sums: tuple[int, int]) -> bytes:
    """Return the content of a checksum record."""
    return (f"{HEAD}<scidacChecksum><version>1.0</version>"
            f"<suma>{sums[0]:x}</suma><sumb>{sums[1]:x}</sumb></scidacChecksum>").encode()


def file_xml(extents: tuple[int, ...]) -> bytes:
    """Return the text of the file's private record, of a lattice (T, X, Y, Z) in one file."""
    t, x, y, z = extents
    return (f"{HEAD}<scidacFile><version>1.1</version><spacetime>4</spacetime><dims>{x} {y} {z} {t} "
            "</dims><volfmt>0</volfmt></scidacFile>".encode())


def record_xml(datatype: str, bits: int, colours: int, spins: int, numbers: int) -> bytes:
    """Return the text of the private record of a field with ``numbers`` complex numbers on each site."""
    now = datetime.now(UTC).strftime("%a %b %d %H:%M:%S %Y UTC")
    return (f"{HEAD}<scidacRecord><version>1.1</version><date>{now}</date>"
            f"<recordtype>0</recordtype><datatype>{datatype}</datatype>"
            f"<precision>{'F' if bits == 32 else 'D'}</precision><colors>{colours}</colors><spins>{spins}</spins>"
            f"<typesize>{numbers * bits // 4}</typesize><datacount>1</datacount></scidacRecord>").encode()
