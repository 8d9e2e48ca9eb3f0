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
    """Location of a record's bytes in its file."""

    type: str
    offset: int
    length: int

    def text(self, file: BinaryIO, path: Path) -> str:
        """Return its content as text, without a byte order mark, white space and zeros around it.

        The text is decoded as UTF-8, as UTF-16 with such a mark, or else as Latin-1.
        """
        if self.length > LARGEST_TEXT:
            raise DamagedFile(f"{path}: the record {self.type} has {self.length} bytes, too many for a text")
        file.seek(self.offset)
        content = file.read(self.length)
        wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        try:
            text = content.decode("utf-16" if wide else "utf-8")
        except UnicodeDecodeError:
            text = content.decode("latin-1")
        return text.strip(AROUND)


def read_records(file: BinaryIO, path: Path) -> list[Record]:
    """Return the records of a file. DamagedFile if it ends early or is no LIME file."""
    size = os.fstat(file.fileno()).st_size
    records, at = [], 0
    while at < size:
        file.seek(at)
        head = file.read(HEADER.size)
        if len(head) < HEADER.size:
            raise DamagedFile(f"{path}: ends at byte {size}, within the header of a record")
        magic, version, _, length, record_type = HEADER.unpack(head)
        if magic != MAGIC:
            problem = "a damaged LIME file" if records else "not a LIME file"
            raise DamagedFile(f"{path}: {problem}: no record begins at byte {at}")
        if version != VERSION:
            raise DamagedFile(f"{path}: a LIME file of version {version}; this plaq reads version {VERSION}")
        name = printable(record_type.split(b"\0")[0].decode("ascii", "backslashreplace"))
        if at + HEADER.size + length > size:
            raise DamagedFile(f"{path}: truncated: the record {name} should have {length} bytes, "
                              f"and the file ends after {size - at - HEADER.size}")
        records.append(Record(name, at + HEADER.size, length))
        at += HEADER.size + length + -length % 8
    return records


def make_header(record_type: str, length: int, begins: bool, ends: bool) -> bytes:
    """Return the header of a record, which may begin or end a message."""
    return HEADER.pack(MAGIC, VERSION, begins * BEGINS | ends * ENDS, length, record_type.encode("ascii"))


def make_record(record_type: str, content: bytes, begins: bool, ends: bool) -> bytes:
    """Return the bytes of a record."""
    return make_header(record_type, len(content), begins, ends) + content + bytes(-len(content) % 8)
