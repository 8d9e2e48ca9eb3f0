"""Nested Python data as one JSON text and one block of bytes, and back, bit for bit: the content of checkpoints.

A state holds thousands of small objects; as HDF5 objects of their own they would take longer to write than to compute.
"""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np


def pack(state: dict[str, Any]) -> tuple[str, bytes]:
    """Return (text, block) of a nested dict with text keys.

    Values: dict, list, tuple, numpy array or scalar, int, float, complex, str, bytes, bool or None. Arrays keep values,
    shape and dtype; they come back C-contiguous. TypeError for anything else.
    """
    pieces: list[bytes] = []
    length = 0

    def stored(data: bytes) -> list[int]:
        nonlocal length
        pieces.append(data)
        length += len(data)
        return [length - len(data), length]

    def code(value: Any, path: str) -> Any:
        if value is None or isinstance(value, (bool, str)) or type(value) is int:
            return value
        if type(value) is float:
            return value if np.isfinite(value) else {"float": struct.pack("<d", value).hex()}
        if type(value) is complex:
            return {"complex": struct.pack("<dd", value.real, value.imag).hex()}
        if isinstance(value, bytes):
            return {"bytes": stored(value)}
        if isinstance(value, (np.ndarray, np.generic)):
            if value.dtype.kind not in "biufcU":
                raise TypeError(f"{path}: arrays of dtype {value.dtype} cannot be stored")
            kind = "array" if isinstance(value, np.ndarray) else "scalar"
            return {kind: [value.dtype.str, list(value.shape), *stored(np.ascontiguousarray(value).tobytes())]}
        if isinstance(value, tuple):
            return {"tuple": [code(entry, f"{path}/{i}") for i, entry in enumerate(value)]}
        if isinstance(value, list):
            return [code(entry, f"{path}/{i}") for i, entry in enumerate(value)]
        if isinstance(value, dict):
            for key in value:
                if not isinstance(key, str):
                    raise TypeError(f"{path}: {key!r} cannot be a key: it must be a text")
            return {"dict": {key: code(entry, f"{path}/{key}") for key, entry in value.items()}}
        raise TypeError(f"{path}: a {type(value).__name__} cannot be stored")

    return json.dumps(code(state, ""), allow_nan=False), b"".join(pieces)


def unpack(text: str, block: bytes) -> dict[str, Any]:
    """Return the inverse of `pack`."""

    def decode(value: Any) -> Any:
        if isinstance(value, list):
            return [decode(entry) for entry in value]
        if not isinstance(value, dict):
            return value
        ((kind, content),) = value.items()
        if kind == "dict":
            return {key: decode(entry) for key, entry in content.items()}
        if kind == "tuple":
            return tuple(decode(entry) for entry in content)
        if kind == "float":
            return struct.unpack("<d", bytes.fromhex(content))[0]
        if kind == "complex":
            return complex(*struct.unpack("<dd", bytes.fromhex(content)))
        if kind == "bytes":
            return block[content[0] : content[1]]
        dtype, shape, begin, end = content
        array = np.frombuffer(block[begin:end], dtype).reshape(shape).copy()
        return array if kind == "array" else array[()]

    return decode(json.loads(text))
