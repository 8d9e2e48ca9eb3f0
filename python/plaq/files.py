"""Files that are either the old one or the new one, whole, whatever happens while they are written."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from plaq.errors import RunError


def write_atomically(path: Path, content: bytes) -> None:
    """Write beside ``path``, flush to the disk, rename. RunError when that fails; the previous file is then
    untouched."""
    beside = path.with_name(f".{path.name}.partial")
    try:
        with open(beside, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise RunError(cannot_write(path, error)) from error


def cannot_write(path: Path, error: OSError) -> str:
    """One line on why a file could not be written and what is left."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        reason = f"no space left for it ({os.strerror(error.errno)})"
    else:
        reason = error.strerror or str(error)
    kept = "; the previous one is kept" if path.exists() else ""
    return f"{path}: cannot be written: {reason}{kept}"
