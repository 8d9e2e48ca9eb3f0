"""Any object that pickles as one block of bytes, and back; arrays in it keep their layout in memory."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

_ALIGNMENT = 64  # bytes; arrays are unpacked in place, at addresses that suit their numbers


def _padded(length: int) -> int:
    return -(-length // _ALIGNMENT) * _ALIGNMENT


def pack(value: Any) -> np.ndarray:
    """Return an object as bytes: number of blocks, their lengths, the pickle, then its arrays as in memory."""
    arrays: list[pickle.PickleBuffer] = []
    blocks = [pickle.dumps(value, protocol=5, buffer_callback=arrays.append)]
    blocks += [array.raw() for array in arrays]
    head = np.array([len(blocks), *map(len, blocks)], np.int64).tobytes()
    packed = np.empty(sum(_padded(len(block)) for block in (head, *blocks)), np.uint8)
    begin = 0
    for block in (head, *blocks):
        packed[begin : begin + len(block)] = np.frombuffer(block, np.uint8)
        begin += _padded(len(block))
    return packed


def unpack(packed: np.ndarray) -> Any:
    """Return the inverse of `pack`. Arrays in the object are views of ``packed``."""
    count = int(packed[:8].view(np.int64)[0])
    lengths = packed[8 : 8 * (count + 1)].view(np.int64)
    begin, blocks = _padded(8 * (count + 1)), []
    for length in lengths:
        blocks.append(packed[begin : begin + length])
        begin += _padded(int(length))
    return pickle.loads(blocks[0], buffers=blocks[1:])


def unpack_each(packed: np.ndarray, offsets: list[int]) -> list[Any]:
    return [unpack(packed[begin:end]) for begin, end in zip(offsets, offsets[1:])]
