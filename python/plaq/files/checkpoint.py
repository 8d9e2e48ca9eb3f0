"""Checkpoints: the state of a run in one HDF5 file, written whole or not at all and checked when read.

File, sealed as `plaq.files.sealed` says: attributes ``program`` and ``fingerprint`` (of the input); datasets
``text`` and ``block`` hold the state as `plaq.files.packed` makes it.
"""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from plaq.errors import InputError
from plaq.files.atomic import write_atomically
from plaq.files.packed import pack, unpack
from plaq.files.sealed import Format, new_file, open_sealed, seal

FORMAT = Format("plaq checkpoint", 12, "remove it to start this run from the beginning")


def save(path: Path, state: dict[str, Any], program: str, fingerprint: str) -> int:
    """Replace the checkpoint at ``path``; return its size in bytes.

    ``state`` is a nested dict of arrays, numbers, texts, None and lists of these, and comes back the same bit for bit.
    The file is made in memory first, so that a full disk is an ordinary error: RunError, and the previous checkpoint is
    kept.
    """
    text, block = pack(state)
    text, block = np.frombuffer(text.encode(), np.uint8), np.frombuffer(block, np.uint8)
    image = io.BytesIO()
    with new_file(image) as file:
        file.attrs["program"] = program
        file.attrs["fingerprint"] = fingerprint
        file["text"], file["block"] = text, block
    seal(image, FORMAT)
    write_atomically(path, image.getbuffer())
    return image.getbuffer().nbytes


def load(path: Path, program: str, *fingerprints: str, remedy: str = FORMAT.remedy) -> dict[str, Any] | None:
    """Return the state of the checkpoint at ``path``; None if there is no file.

    InputError, naming the file, if it is not an undamaged checkpoint of this program, version and one of these inputs.
    """
    if not path.exists():
        return None
    with open_sealed(path, replace(FORMAT, remedy=remedy)) as file:
        if (written := file.attrs["program"]) != program:
            raise InputError(f"{path}: a checkpoint of {written}, this is {program}; {remedy}")
        if file.attrs["fingerprint"] not in fingerprints:
            raise InputError(f"{path}: a checkpoint of a different input; {remedy}")
        return unpack(file["text"][()].tobytes().decode(), file["block"][()].tobytes())
