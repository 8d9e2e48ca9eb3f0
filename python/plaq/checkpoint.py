"""Checkpoints: the state of a run in one HDF5 file, written whole or not at all and checked when read.

File: attributes ``format`` ("plaq checkpoint"), ``version``, ``program``, ``fingerprint`` (of the input) and
``checksum`` (sha256 of the state); datasets ``text`` and ``block`` hold the state as `plaq.packed` makes it.
"""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from plaq.errors import InputError
from plaq.files import write_atomically
from plaq.packed import pack, unpack

FORMAT = "plaq checkpoint"
VERSION = 2


def save(path: Path, state: dict[str, Any], program: str, fingerprint: str) -> int:
    """Replace the checkpoint at ``path``; returns its size in bytes.

    ``state`` is a nested dict of arrays, numbers, texts, None and lists of these, and comes back the same bit for
    bit. The file is made in memory first, so that a full disk is an ordinary error: RunError, and the previous
    checkpoint stays whole.
    """
    text, block = pack(state)
    text, block = np.frombuffer(text.encode(), np.uint8), np.frombuffer(block, np.uint8)
    image = io.BytesIO()
    with h5py.File(image, "w") as file:
        file.attrs["format"] = FORMAT
        file.attrs["version"] = VERSION
        file.attrs["program"] = program
        file.attrs["fingerprint"] = fingerprint
        file.attrs["checksum"] = checksum(text, block)
        file["text"], file["block"] = text, block
    write_atomically(path, image.getbuffer())
    return image.getbuffer().nbytes


def load(path: Path, program: str, fingerprint: str) -> dict[str, Any] | None:
    """The state of the checkpoint at ``path``; None when there is no file.

    InputError, naming the file, when it is not a whole checkpoint of this program, version and input.
    """
    if not path.exists():
        return None
    remedy = "remove it to start this run from the beginning"
    try:
        with h5py.File(path, "r") as file:
            attributes = dict(file.attrs)
            if attributes.get("format") != FORMAT:
                raise InputError(f"{path}: not a checkpoint of plaq; {remedy}")
            for name, here in {"program": program, "version": VERSION}.items():
                if attributes.get(name) != here:
                    raise InputError(
                        f"{path}: a checkpoint with {name} {attributes.get(name)!s}, this is {here}; {remedy}"
                    )
            if attributes.get("fingerprint") != fingerprint:
                raise InputError(f"{path}: a checkpoint of a different input; {remedy}")
            text, block = file["text"][()], file["block"][()]
            if attributes.get("checksum") != checksum(text, block):
                raise InputError(f"{path}: damaged: its content does not match its checksum; {remedy}")
            return unpack(text.tobytes().decode(), block.tobytes())
    except (OSError, KeyError, RuntimeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: truncated or damaged: HDF5 cannot read it ({error}); {remedy}") from None


def checksum(text: np.ndarray, block: np.ndarray) -> str:
    """sha256 of both parts."""
    return hashlib.sha256(text.tobytes() + block.tobytes()).hexdigest()
