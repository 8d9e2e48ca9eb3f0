"""LIME files: records with a type and a length, in messages (USQCD). ILDG's configurations are such files."""

from __future__ import annotations

import codecs
import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from plaq.files.guard import DamagedFile
from plaq.streams import printable

MAGIC, VERSION = 0x456789AB, 1
HEADER = struct.Struct(">IHHQ128s")
BEGINS, ENDS = 0x8000, 0x4000  # a message
LARGEST_TEXT = 1 << 20  # bytes of a record that is read as text
AROUND = "\ufeff \t\r\n\0"  # a text


@dataclass(frozen=True)
class Record:
    """Where a record's bytes are in its file."""

    kind: str
    offset: int
    length: int

    def text(self, file: BinaryIO, path: Path) -> str:
        """Its content, which is to be text, without what may stand around it: a mark of byte order, white space,
        zeros. What is not UTF-8 is taken as Latin-1, or as UTF-16 where its mark says so."""
        if self.length > LARGEST_TEXT:
            raise DamagedFile(f"{path}: the record {self.kind} has {self.length} bytes, too many for a text")
        file.seek(self.offset)
        content = file.read(self.length)
        wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        try:
            text = content.decode("utf-16" if wide else "utf-8")
        except UnicodeDecodeError:
            text = content.decode("latin-1")
        return text.strip(AROUND)


def records(file: BinaryIO, path: Path) -> list[Record]:
    """Of the whole file. DamagedFile where it ends early or is none."""
    size = os.fstat(file.fileno()).st_size
    found, at = [], 0
    while at < size:
        file.seek(at)
        head = file.read(HEADER.size)
        if len(head) < HEADER.size:
            raise DamagedFile(f"{path}: ends at byte {size}, within the header of a record")
        magic, version, _, length, kind = HEADER.unpack(head)
        if magic != MAGIC:
            what = "a damaged LIME file" if found else "not a LIME file"
            raise DamagedFile(f"{path}: {what}: no record begins at byte {at}")
        if version != VERSION:
            raise DamagedFile(f"{path}: a LIME file of version {version}; this plaq reads version {VERSION}")
        name = printable(kind.split(b"\0")[0].decode("ascii", "backslashreplace"))
        if at + HEADER.size + length > size:
            raise DamagedFile(f"{path}: truncated: the record {name} should have {length} bytes, "
                              f"and the file ends after {size - at - HEADER.size}")
        found.append(Record(name, at + HEADER.size, length))
        at += HEADER.size + length + -length % 8
    return found


def header(kind: str, length: int, begins: bool, ends: bool) -> bytes:
    """Of a record that begins or ends a message."""
    return HEADER.pack(MAGIC, VERSION, begins * BEGINS | ends * ENDS, length, kind.encode("ascii"))


def record(kind: str, content: bytes, begins: bool, ends: bool) -> bytes:
    """A whole one."""
    return header(kind, len(content), begins, ends) + content + bytes(-len(content) % 8)
