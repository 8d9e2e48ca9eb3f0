"""A file of double-precision numbers that only grows: what a checkpoint is too large for."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from plaq.errors import InputError, RunError
from plaq.files.atomic import cannot_write
from plaq.files.guard import reading

PIECE = 1 << 24  # bytes read at a time


class NumberFile:
    """Numbers at ``path``, of which those count that `content` tells of: its length in bytes and their sha256.

    What was added after the last `content` that somebody kept is written over, so that a process may die at any
    moment. A new object has nothing: without `open`, the first `append` begins anew.
    """

    def __init__(self, path: Path):
        self.path = path
        self._bytes, self._hash, self._read = 0, hashlib.sha256(), 0

    @property
    def content(self) -> dict[str, Any]:
        """What `open` needs."""
        return {"bytes": self._bytes, "sha256": self._hash.hexdigest()}

    def open(self, content: dict[str, Any]) -> None:
        """Go on with numbers that are there; InputError if they are not those of ``content``."""
        try:
            with open(self.path, "rb") as file:
                while piece := file.read(min(PIECE, content["bytes"] - self._bytes)):
                    self._hash.update(piece)
                    self._bytes += len(piece)
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {error.strerror}; the checkpoint beside it "
                             "needs it: remove both to start this run from the beginning") from None
        if self.content != content:
            raise InputError(f"{self.path}: truncated or damaged, or not of the checkpoint beside it; remove both to "
                             "start this run from the beginning")

    def append(self, blocks: Iterable[np.ndarray]) -> None:
        """Write numbers after those there are, to the disk. RunError if that fails; those there were are kept."""
        try:
            with open(self.path, "r+b" if self.path.exists() else "wb") as file:
                file.truncate(self._bytes)
                file.seek(self._bytes)
                for block in blocks:
                    piece = memoryview(np.ascontiguousarray(block)).cast("B")
                    file.write(piece)
                    self._hash.update(piece)
                    self._bytes += len(piece)
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
