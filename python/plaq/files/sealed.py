"""HDF5 files whose damage is detected: every byte has a checksum, and none is used before it is compared.

Layout: a head of 512 bytes, HDF5's part (for HDF5 the head is its "user block", so that any of its tools opens the
file), and the checksums: crc32, little endian, of every `PIECE` bytes of HDF5's part. The head has the lines of
`Seal.text`, then zeros.
"""

from __future__ import annotations

import io
import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import h5py

from plaq.files.guard import DamagedFile, open_file, reading

HEAD = 512
PIECE = 1 << 16
FIRST_LINE = "plaq sealed file 1"
HDF5 = b"\x89HDF\r\n\x1a\n"  # first bytes of its files


@dataclass(frozen=True)
class Format:
    """A kind of file: its name, the version that this plaq writes, the remedy for a version that it does not read.

    Versions from ``oldest`` to ``version`` are read, the latter alone if ``oldest`` is 0.
    """

    name: str
    version: int
    remedy: str
    oldest: int = 0

    def reads(self, version: int) -> bool:
        return (self.oldest or self.version) <= version <= self.version

    def __str__(self) -> str:
        versions = f"versions {self.oldest} to {self.version}" if self.oldest else f"version {self.version}"
        return f"'{self.name}', {versions}"


@dataclass(frozen=True)
class Seal:
    """Head of a file: format, version, length of the head and HDF5's part, crc32 of the checksums."""

    format: str
    version: int
    bytes: int
    table: int

    @property
    def pieces(self) -> int:
        return -(-(self.bytes - HEAD) // PIECE)

    @property
    def whole(self) -> int:
        """Length of the file."""
        return self.bytes + 4 * self.pieces

    def text(self) -> bytes:
        lines = (f"{FIRST_LINE}\nformat: {self.format}\nversion: {self.version}\nbytes: {self.bytes}\n"
                 f"checksums: {self.table:08x}\n").encode()
        return (lines + b"head: %08x\n" % zlib.crc32(lines)).ljust(HEAD, b"\0")

    @classmethod
    def read(cls, head: bytes) -> Seal | None:
        """Return the seal of a head; None if the head is not one that `text` writes."""
        try:
            _, *lines = head.rstrip(b"\0").decode("ascii").splitlines()
            format, version, length, table, _ = (line.partition(": ")[2] for line in lines)
            seal = cls(format, int(version), int(length), int(table, 16))
        except ValueError:
            return None
        return seal if seal.text() == head else None


def new_file(file: BinaryIO) -> h5py.File:
    """Return an HDF5 file in ``file``, to fill and then to `seal`."""
    return h5py.File(file, "w", userblock_size=HEAD)


def seal(file: BinaryIO, format: Format) -> None:
    """Write checksums and head of an HDF5 file that is complete; OSError if that fails."""
    length = file.seek(0, os.SEEK_END)
    file.seek(HEAD)
    table = b"".join(struct.pack("<I", zlib.crc32(piece)) for piece in iter(lambda: file.read(PIECE), b""))
    file.write(table)
    file.seek(0)
    file.write(Seal(format.name, format.version, length, zlib.crc32(table)).text())


@contextmanager
def open_sealed(path: Path, format: Format) -> Iterator[h5py.File]:
    """Open a sealed file to read in the body; any error there is an InputError of one line."""
    with reading(path, str(format), format.remedy):
        with SealedFile(path, format) as sealed, h5py.File(sealed, "r") as file:
            yield file


class SealedFile(io.RawIOBase):
    """Bytes of a sealed file, for h5py.File. DamagedFile if they are not those that were written.

    Only bytes that are read are compared: reading a part of a large file does not read all of it.
    """

    def __init__(self, path: Path, format: Format):
        super().__init__()
        self._path, self._format = path, format
        self._at, self._cached, self._piece = 0, -1, b""
        self._descriptor = open_file(path)
        try:
            self._seal = self._read_seal()
            self._table = os.pread(self._descriptor, 4 * self._seal.pieces, self._seal.bytes)
            if zlib.crc32(self._table) != self._seal.table:
                raise self._damaged(f"its checksums (from byte {self._seal.bytes}) are not those that were written")
        except BaseException:
            self.close()
            raise

    def _damaged(self, problem: str) -> DamagedFile:
        return DamagedFile(f"{self._path}: {problem}; {self._format.remedy}")

    def _read_seal(self) -> Seal:
        head, size = os.pread(self._descriptor, HEAD, 0), os.fstat(self._descriptor).st_size
        if head.startswith(HDF5):
            raise self._damaged(f"not {self._format}, but HDF5 of another program, or of a plaq older than "
                                "its checksums")
        if not head.startswith(FIRST_LINE.encode()):
            raise self._damaged(f"not {self._format}, or truncated or damaged in its first line")
        seal = Seal.read(head)
        if seal is None:
            raise self._damaged(f"truncated or damaged in its first {HEAD} bytes")
        if seal.format != self._format.name or not self._format.reads(seal.version):
            problem = f"'{seal.format}', version {seal.version}, where this plaq reads {self._format}"
            if seal.format == self._format.name:
                raise self._damaged(problem)
            raise DamagedFile(f"{self._path}: {problem}")
        if size != seal.whole:
            raise self._damaged(f"truncated or damaged: it ends at byte {size}, and was written up to {seal.whole}")
        return seal

    def verify(self) -> None:
        """Compare all of it."""
        for number in range(self._seal.pieces):
            self._load(number)

    def _load(self, number: int) -> bytes:
        if number != self._cached:
            begin = HEAD + number * PIECE
            end = min(begin + PIECE, self._seal.bytes)
            piece = os.pread(self._descriptor, end - begin, begin)
            if (zlib.crc32(piece),) != struct.unpack_from("<I", self._table, 4 * number):
                raise self._damaged(f"damaged between bytes {begin} and {end}: they do not match their checksum")
            self._cached, self._piece = number, piece
        return self._piece

    def readinto(self, buffer) -> int:
        view = memoryview(buffer).cast("B")
        done, needed = 0, min(len(view), self._seal.bytes - self._at)
        if self._at < HEAD:  # HDF5 searches its part
            needed = min(needed, HEAD - self._at)
            view[:needed] = self._seal.text()[self._at : self._at + needed]
            done = needed
        while done < needed:
            number, offset = divmod(self._at + done - HEAD, PIECE)
            part = memoryview(self._load(number))[offset : offset + needed - done]
            view[done : done + len(part)] = part
            done += len(part)
        self._at += done
        return done

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._seal.bytes}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()
