"""A file of double-precision numbers that only grows: what a checkpoint is too large for."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from plaq.errors import RunError
from plaq.files.atomic import cannot_write
from plaq.files.guard import open_file, reading
from plaq.files.hashed import Entry, Hash, need_entry, need_length

PIECE = 1 << 24  # bytes read at a time


class NumberFile:
    """Numbers at ``path``, of which those count that `content` tells of: their length in bytes and hash.

    What was added after the last `content` that somebody kept is written over, so that a process may die at any
    moment. A new object has nothing: without `open`, the first `append` begins anew.
    """

    def __init__(self, path: Path):
        self.path = path
        self._hash, self._read = Hash(), 0

    @property
    def content(self) -> Entry:
        """What `open` needs."""
        return self._hash.entry()

    def open(self, content: Entry, remedy: str) -> None:
        """Go on with numbers that are there; InputError, with the ``remedy``, if they are not those of ``content``."""
        need_length(self.path, content["bytes"], remedy, grows=True)
        with reading(self.path, "numbers of a checkpoint"), open(open_file(self.path), "rb") as file:
            while piece := file.read(min(PIECE, content["bytes"] - self._hash.bytes)):
                self._hash.update(piece)
        need_entry(self.path, self.content, content, remedy)

    def append(self, blocks: Iterable[np.ndarray]) -> None:
        """Write numbers after those there are, to the disk. RunError if that fails; those there were are kept."""
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
        """The next numbers, from the first on."""
        with reading(self.path, "the numbers that the checkpoint beside it has"):
            values = np.fromfile(self.path, float, count, offset=self._read)
            if len(values) != count:
                raise ValueError(f"{count} numbers were at byte {self._read}, {len(values)} are left")
        self._read += 8 * count
        return values
