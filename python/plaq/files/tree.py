"""Nested Python data in HDF5 and back, bit for bit: the storage of results."""

from __future__ import annotations

import hashlib
from typing import Any

import h5py
import numpy as np

PIECE = 1 << 26  # bytes of an array that are hashed at a time


def write_tree(group: h5py.Group, tree: dict[str, Any]) -> None:
    """Store a dict with text keys; see `write_value` for its values."""
    for key, value in tree.items():
        if not isinstance(key, str) or not key or "/" in key or key == ".":
            raise TypeError(f"{group.name}: {key!r} cannot be a key: it must be a text without '/'")
        write_value(group, key, value)


def write_value(group: h5py.Group, key: str, value: Any) -> None:
    """Store a dict, list, tuple, numpy array or scalar, int, float, complex, str, bytes, bool or None.

    The attribute ``type`` is the name of the type. Arrays keep values, shape and dtype; they come back C-contiguous.
    TypeError for anything else, OverflowError for an int beyond 64 bits.
    """
    kind = type(value).__name__
    if isinstance(value, dict):
        item = group.create_group(key, track_order=True)
        write_tree(item, value)
    elif isinstance(value, (list, tuple)):
        item = group.create_group(key, track_order=True)
        write_tree(item, {str(i): entry for i, entry in enumerate(value)})
        kind = "tuple" if isinstance(value, tuple) else "list"
    elif isinstance(value, (np.ndarray, np.generic)):
        if value.dtype.kind not in "biufc":
            raise TypeError(f"{group.name}/{key}: arrays of dtype {value.dtype} cannot be stored")
        item = group.create_dataset(key, data=value)
        kind = "array" if isinstance(value, np.ndarray) else "scalar"
    elif value is None:
        item = group.create_dataset(key, data=h5py.Empty("u1"))
    elif isinstance(value, bytes):
        item = group.create_dataset(key, data=np.frombuffer(value, np.uint8))
    elif isinstance(value, (bool, float, complex, str)):
        item = group.create_dataset(key, data=value)
    elif isinstance(value, int):
        item = group.create_dataset(key, data=np.uint64(value) if value >= 2**63 else np.int64(value))
    else:
        raise TypeError(f"{group.name}/{key}: a {kind} cannot be stored")
    item.attrs["type"] = kind


def read_tree(group: h5py.Group) -> dict[str, Any]:
    """Return the dict that `write_tree` stored."""
    return {key: read_value(item) for key, item in group.items()}


def read_value(item: h5py.Group | h5py.Dataset) -> Any:
    """Return the value that `write_value` stored."""
    kind = item.attrs["type"]
    if isinstance(item, h5py.Group):
        tree = read_tree(item)
        if kind == "dict":
            return tree
        entries = [tree[str(i)] for i in range(len(tree))]
        return tuple(entries) if kind == "tuple" else entries
    if kind == "NoneType":
        return None
    if kind == "str":
        return item.asstr()[()]
    value = item[()]
    if kind == "array":
        return np.asarray(value)
    if kind == "scalar":
        return value
    return {"bool": bool, "int": int, "float": float, "complex": complex, "bytes": lambda v: v.tobytes()}[kind](
        value
    )


def digest(group: h5py.Group, skip: frozenset[str] = frozenset()) -> str:
    """Return the sha256 over path, type, shape and bytes of every dataset below ``group``, in sorted order.

    Members whose name is in ``skip`` do not count, nor do attributes. Little endian whatever the machine.
    """
    summary = hashlib.sha256()

    def add(item: h5py.Group | h5py.Dataset, path: str):
        if isinstance(item, h5py.Group):
            summary.update(f"{path}/\n".encode())
            for name in sorted(set(item) - skip):
                add(item[name], f"{path}/{name}")
            return
        if h5py.check_string_dtype(item.dtype):
            texts = item.asstr()[()]
            content = np.frombuffer("\0".join(np.atleast_1d(texts)).encode(), np.uint8)
        elif item.shape is None:
            content = np.zeros(0)
        else:
            content = item if item.shape else np.atleast_1d(item[()])
        summary.update(f"{path} {content.dtype.name} {content.shape}\n".encode())
        step = max(1, PIECE * len(content) // max(1, content.nbytes))
        for begin in range(0, len(content), step):
            piece = np.ascontiguousarray(content[begin : begin + step])
            summary.update(piece.astype(piece.dtype.newbyteorder("<"), copy=False).tobytes())

    add(group, "")
    return summary.hexdigest()
