"""Files that are either the old one or the new one, whole, whatever happens while they are written."""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from plaq.errors import RunError

PARTIAL = ".plaq-*.partial"  # names of files until they are whole


def write_atomically(path: Path, content: bytes) -> None:
    """Write beside ``path``, flush to the disk, rename. RunError when that fails; the previous file is then
    untouched."""
    with atomic_file(path) as file:
        file.write(content)


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """A new file to write bytes to and read them, which takes the place of ``path`` at the end as in
    `write_atomically`. Nothing changes when the body raises.

    Until then it has a name of its own, and is locked, so that writers of one file do not disturb each other; what
    writers left that were killed is not locked, and the next one removes it.
    """
    beside = None
    try:
        _remove_left_over(path.parent)
        beside, file = _new_file(path.parent)
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.replace(beside, path)
            beside = None
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise RunError(cannot_write(path, error)) from error
    finally:
        if beside:
            with suppress(OSError):
                beside.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """The same for a folder, whose path is not there yet: the body makes the one that is yielded."""
    beside = lock = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_left_over(path.parent)
        beside = path.parent / _partial()
        beside.mkdir()
        lock = _locked(os.open(beside, os.O_RDONLY))
        yield beside / path.name
        os.rename(beside / path.name, path)
    except OSError as error:
        raise RunError(cannot_write(path, error)) from error
    finally:
        if lock is not None:
            os.close(lock)
        if beside:
            shutil.rmtree(beside, ignore_errors=True)


def _partial() -> str:
    return PARTIAL.replace("*", secrets.token_hex(8))


def _locked(descriptor: int) -> int:
    with suppress(OSError):  # a file system without locks: then nobody removes what is left over
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def _new_file(folder: Path) -> tuple[Path, BinaryIO]:
    while True:
        path = folder / _partial()
        try:
            file = open(path, "x+b")
        except FileExistsError:
            continue
        _locked(file.fileno())
        with suppress(FileNotFoundError):
            if os.stat(path).st_ino == os.fstat(file.fileno()).st_ino:
                return path, file
        file.close()  # somebody took it for left over before it was locked


def _remove_left_over(folder: Path) -> None:
    for path in folder.glob(PARTIAL):
        with suppress(OSError), ExitStack() as stack:
            descriptor = os.open(path, os.O_RDONLY)
            stack.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()


def cannot_write(path: Path, error: OSError) -> str:
    """One line on why a file could not be written and what is left."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        reason = f"no space left for it ({os.strerror(error.errno)})"
    else:
        reason = error.strerror or str(error)
    kept = "; the previous one is kept" if path.exists() else ""
    return f"{path}: cannot be written: {reason}{kept}"
