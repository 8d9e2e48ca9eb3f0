"""A file of double-precision numbers that only grows: data that are too large for a checkpoint."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from plaq.errors import RunError
from plaq.files.atomic import cannot_write
from plaq.files.guard import open_file, reading
from plaq.files.hashed import Entry, Hash, check_entry, check_length

PIECE = 1 << 24  # bytes read at a time


class NumberFile:
    """Numbers at ``path``; those count that `content` covers: their length in bytes and hash.

    Numbers after the last `content` that a checkpoint holds are overwritten, so that a process may die at any moment. A
    new object is empty: without `open`, the first `append` begins anew.
    """

    def __init__(self, path: Path):
        self.path = path
        self._hash, self._read = Hash(), 0

    @property
    def content(self) -> Entry:
        """Length and hash, as `open` needs them."""
        return self._hash.entry()

    def open(self, content: Entry, remedy: str) -> None:
        """Resume with the numbers in the file; InputError, with the ``remedy``, if ``content`` is of others."""
        check_length(self.path, content["bytes"], remedy, grows=True)
        with reading(self.path, "numbers of a checkpoint"), open(open_file(self.path), "rb") as file:
            while piece := file.read(min(PIECE, content["bytes"] - self._hash.bytes)):
                self._hash.update(piece)
        check_entry(self.path, self.content, content, remedy)

    def append(self, blocks: Iterable[np.ndarray]) -> None:
        """Append numbers and flush them to the disk; RunError if that fails, and the earlier ones are kept."""
        try:
            with open(self.path, "r+b" if self.path.exists() else "wb") as file:
                file.truncate(self._hash.bytes)
                file.seek(self._hash.bytes)
                for block in blocks:
                    piece = memoryview(np.ascontiguousarray(block)).cast("B")
                    file.write(piece)
                    self._hash.update(piece)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise RunError(cannot_write(self.path, error)) from error

    def read(self, count: int) -> np.ndarray:
        """Return the next numbers, from the first on."""
        with reading(self.path, "the numbers that the checkpoint beside it has"):
            values = np.fromfile(self.path, float, count, offset=self._read)
            if len(values) != count:
                raise ValueError(f"{count} numbers were at byte {self._read}, {len(values)} are left")
        self._read += 8 * count
        return values
