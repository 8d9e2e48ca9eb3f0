"""Whole numbers packed for a page: variable-length bytes, deflated, in base64. `page/unpack.js` reads them."""

from __future__ import annotations

import base64
import zlib

import numpy as np


class Pack:
    """Named columns of whole numbers, one after the other.

    A number v becomes 2v (v >= 0) or -2v - 1 (v < 0) and then groups of 7 bits, low ones first; all but the last
    byte of a number have their high bit set (LEB128 with zigzag signs, as in Protocol Buffers). A column of
    differences holds what each value adds to the one before it.
    """

    def __init__(self):
        self.columns: list[tuple[str, int, bool]] = []  # name, how many numbers, whether they are differences
        self._parts: list[bytes] = []

    def add(self, name: str, values: np.ndarray, differences: bool = False) -> None:
        """Append a column of values below 2^53, the range that the page represents exactly."""
        values = np.asarray(values, np.int64)
        self.columns.append((name, len(values), differences))
        self._parts.append(variable_length(np.diff(values, prepend=0) if differences else values))

    def text(self) -> str:
        """Return all columns, deflated, in base64."""
        return base64.b64encode(zlib.compress(b"".join(self._parts), 6)).decode()


def variable_length(values: np.ndarray) -> bytes:
    """Return the bytes of `Pack` for int64 values."""
    rest = ((values << 1) ^ (values >> 63)).view(np.uint64)
    size = np.ones(len(rest), np.int64)
    for bits in range(7, 64, 7):
        size += rest >= np.uint64(1 << bits)
    place = np.cumsum(size) - size
    out = np.empty(size.sum(), np.uint8)
    row = np.arange(len(rest))
    while len(row):
        last = size[row] == 1
        out[place[row]] = (rest[row] & np.uint64(127)) | np.where(last, np.uint64(0), np.uint64(128))
        row = row[~last]
        rest[row] >>= np.uint64(7)
        place[row] += 1
        size[row] -= 1
    return out.tobytes()
