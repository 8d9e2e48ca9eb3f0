"""Length and hash of files, by which a checkpoint identifies the files beside it.

The hash is the sha256 of the sha256s of a file's pieces of 16 MiB, one after the other: ranks share the pieces of a
large file, and it does not depend on their number.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TypedDict

from plaq.errors import InputError
from plaq.files.guard import open_file

PIECE = 1 << 24  # bytes


class Entry(TypedDict):
    """Length and hash of a file, as a checkpoint names it."""

    bytes: int
    sha256: str


class Hash:
    """Hash of bytes that are added one after the other."""

    def __init__(self):
        self.bytes, self._done, self._piece = 0, hashlib.sha256(), hashlib.sha256()

    def update(self, data: bytes | memoryview) -> None:
        rest = memoryview(data).cast("B")
        while rest:
            part = rest[:PIECE - self.bytes % PIECE]
            rest = rest[len(part):]
            self._piece.update(part)
            self.bytes += len(part)
            if self.bytes % PIECE == 0:
                self._done.update(self._piece.digest())
                self._piece = hashlib.sha256()

    def entry(self) -> Entry:
        """Return the entry of all bytes so far."""
        done = self._done.copy()
        if self.bytes % PIECE:
            done.update(self._piece.digest())
        return Entry(bytes=self.bytes, sha256=done.hexdigest())


def pieces(size: int) -> range:
    """Return the numbers of the pieces of ``size`` bytes."""
    return range(-(-size // PIECE))


def piece(path: Path, number: int, size: int) -> bytes:
    """Return the sha256 of a piece of the first ``size`` bytes of a file; OSError or InputError if unreadable."""
    hash, at, end = hashlib.sha256(), number * PIECE, min(size, (number + 1) * PIECE)
    descriptor = open_file(path)
    try:
        while at < end and (part := os.pread(descriptor, min(1 << 20, end - at), at)):
            hash.update(part)
            at += len(part)
    finally:
        os.close(descriptor)
    return hash.digest()


def combine(size: int, digests: Iterable[bytes]) -> Entry:
    """Return the entry of a file of ``size`` bytes, from the sha256s of its pieces."""
    return Entry(bytes=size, sha256=hashlib.sha256(b"".join(digests)).hexdigest())


def entry_of(path: Path, size: int | None = None) -> Entry:
    """Return the entry of a file, or of its first ``size`` bytes; OSError or InputError if it cannot be read."""
    size = length(path) if size is None else size
    return combine(size, (piece(path, number, size) for number in pieces(size)))


def length(path: Path) -> int:
    """Return the bytes of an ordinary file; OSError or InputError for anything else."""
    descriptor = open_file(path)
    try:
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


def check_length(path: Path, expected: int, remedy: str, grows: bool = False) -> None:
    """Raise InputError if the file is missing or has another length; one that ``grows`` may be longer."""
    try:
        size = length(path)
    except FileNotFoundError:
        raise InputError(f"{path}: is missing, and the checkpoint beside it needs it; {remedy}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; {remedy}") from None
    if size < expected or (size > expected and not grows):
        raise InputError(f"{path}: truncated or damaged, or of another run or step than the checkpoint beside it: it "
                         f"has {size} bytes, not {expected}; {remedy}")


def check_entry(path: Path, entry: Entry, expected: Entry, remedy: str) -> None:
    """Raise InputError if the hash of the file is not that of the checkpoint."""
    if entry["sha256"] != expected["sha256"]:
        raise InputError(f"{path}: damaged, or of another run or step than the checkpoint beside it; {remedy}")


def check(path: Path, expected: Entry, remedy: str, grows: bool = False) -> None:
    """Raise InputError that names the file if it is missing, damaged, or not that of the checkpoint."""
    check_length(path, expected["bytes"], remedy, grows)
    check_entry(path, entry_of(path, expected["bytes"]), expected, remedy)
