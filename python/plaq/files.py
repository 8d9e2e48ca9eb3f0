"""Files that are either the old one or the new one, whole, whatever happens while they are written."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from plaq.errors import RunError


def write_atomically(path: Path, content: bytes) -> None:
    """Write beside ``path``, flush to the disk, rename. RunError when that fails; the previous file is then
    untouched."""
    with atomic_file(path) as file:
        file.write(content)


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """A new file to write bytes to, which takes the place of ``path`` at the end as in `write_atomically`. Nothing
    changes when the body raises."""
    beside = path.with_name(f".{path.name}.partial")
    try:
        with open(beside, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise RunError(cannot_write(path, error)) from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def cannot_write(path: Path, error: OSError) -> str:
    """One line on why a file could not be written and what is left."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        reason = f"no space left for it ({os.strerror(error.errno)})"
    else:
        reason = error.strerror or str(error)
    kept = "; the previous one is kept" if path.exists() else ""
    return f"{path}: cannot be written: {reason}{kept}"
