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


def tags(text: str) -> dict[str, str]:
    """{tag: text} of an XML text, without namespaces and the white space around texts."""
    return {element.tag.rpartition("}")[2]: (element.text or "").strip()
            for element in ElementTree.fromstring(text).iter()}


def extents_in(text: str) -> tuple[int, ...]:
    """(T, X, Y, Z) in a file's private record, of a lattice in one file."""
    found = tags(text)
    x, y, z, t = (int(n) for n in found["dims"].split())
    if found.get("volfmt", "0") != "0":
        raise ValueError("the lattice is in several files")
    return t, x, y, z


def numbers_in(path: Path, text: str) -> tuple[int, int]:
    """(bits, complex numbers of a site) of the field that a private record describes; DamagedFile where it is none."""
    found = tags(text)
    if found.get("precision") not in ("F", "D") or found.get("recordtype", "0") != "0":
        raise DamagedFile(f"{path}: has a record of type {shown(found.get('recordtype'))} and precision "
                          f"{shown(found.get('precision'))}; plaq reads fields, type 0, with precision 'F' or 'D'")
    bits = 32 if found["precision"] == "F" else 64
    size, count = int(found["typesize"]), int(found["datacount"])
    numbers, rest = divmod(size * count, bits // 4)
    if rest:
        raise DamagedFile(f"{path}: sites of {shown(size)} times {shown(count)} bytes are no complex numbers")
    return bits, numbers


def checksum_of(text: str) -> tuple[int, int]:
    """(suma, sumb) that a checksum record states."""
    found = tags(text)
    return int(found["suma"], 16), int(found["sumb"], 16)


def checksum_record(sums: tuple[int, int]) -> bytes:
    """Its content."""
    return (f"{HEAD}<scidacChecksum><version>1.0</version>"
            f"<suma>{sums[0]:x}</suma><sumb>{sums[1]:x}</sumb></scidacChecksum>").encode()


def file_text(extents: tuple[int, ...]) -> bytes:
    """Of the file's private record, of a lattice (T, X, Y, Z) in one file."""
    t, x, y, z = extents
    return (f"{HEAD}<scidacFile><version>1.1</version><spacetime>4</spacetime><dims>{x} {y} {z} {t} "
            "</dims><volfmt>0</volfmt></scidacFile>".encode())


def record_text(datatype: str, bits: int, colours: int, spins: int, numbers: int) -> bytes:
    """Of the private record of a field with ``numbers`` complex numbers on each site."""
    now = datetime.now(UTC).strftime("%a %b %d %H:%M:%S %Y UTC")
    return (f"{HEAD}<scidacRecord><version>1.1</version><date>{now}</date>"
            f"<recordtype>0</recordtype><datatype>{datatype}</datatype>"
            f"<precision>{'F' if bits == 32 else 'D'}</precision><colors>{colours}</colors><spins>{spins}</spins>"
            f"<typesize>{numbers * bits // 4}</typesize><datacount>1</datacount></scidacRecord>").encode()
