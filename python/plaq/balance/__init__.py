"""Recorded loads of elements, replayed through the balancers of collections on any number of ranks."""

from __future__ import annotations

from pathlib import Path

from plaq.balance.loads import FIRST, Loads, read_own
from plaq.balance.vt import read_vt
from plaq.errors import InputError
from plaq.files.guard import reading


def read(path: Path) -> Loads:
    """Return the loads in a file of plaq, or in that of any rank of vt, whose files lie beside it.

    InputError with the file and the line or the entity that makes no sense.
    """
    with reading(path, "a file of recorded loads"):
        if path.name.endswith(".json.br"):
            raise InputError(f"{path}: is compressed; unpack it first: brotli -d {path.name}")
        with open(path, "rb") as file:  # once: it may be a pipe
            if (begin := file.read(len(FIRST))) == FIRST:
                return read_own(path, begin + file.read())
        return read_vt(path)
