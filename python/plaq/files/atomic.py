"""Files that are either the old one or the new one, complete, even if writing them is interrupted."""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from plaq.errors import RunError

PARTIAL = ".plaq-*.partial"  # names of files until they are whole


def write_atomically(path: Path, content: bytes) -> None:
    """Write beside ``path``, flush to the disk, rename.

    RunError if that fails; the previous file is then untouched.
    """
    with atomic_file(path) as file:
        file.write(content)


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a new file to write and read bytes, which replaces ``path`` at the end as in `write_atomically`.

    Nothing changes when the body raises. Until the end the file has a temporary name and is locked, so that writers of
    one file do not disturb each other. The files that killed writers left behind are not locked; the next writer
    removes them.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):  # as root one would lose /dev/null
        raise RunError(f"{path}: cannot be written: it is a device or a pipe, and a file would take its place")
    beside = None
    try:
        _remove_left_over(path.parent)
        with ExitStack() as stack:
            beside = _claim(path.parent, lambda path: path.touch(exist_ok=False), stack)
            file = stack.enter_context(open(beside, "r+b"))
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
    """Yield the path of a folder for the body to make, which becomes ``path``, not there yet, at the end."""
    beside = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_left_over(path.parent)
        with ExitStack() as stack:
            beside = _claim(path.parent, Path.mkdir, stack)
            yield beside / path.name
            os.rename(beside / path.name, path)
    except OSError as error:
        raise RunError(cannot_write(path, error)) from error
    finally:
        if beside:
            shutil.rmtree(beside, ignore_errors=True)


def _claim(folder: Path, make: Callable[[Path], None], stack: ExitStack) -> Path:
    """Return a new path in ``folder`` that `make` makes, locked until the stack is unwound."""
    while True:
        path = folder / PARTIAL.replace("*", secrets.token_hex(8))
        make(path)
        with suppress(FileNotFoundError), ExitStack() as claim:
            descriptor = os.open(path, os.O_RDONLY)
            claim.callback(os.close, descriptor)
            with suppress(OSError):  # a file system without locks: then no writer removes it
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            os.stat(path)  # not there: another writer removed it before it was locked
            stack.push(claim.pop_all())
            return path


def _remove_left_over(folder: Path) -> None:
    for path in folder.glob(PARTIAL):
        with suppress(OSError), ExitStack() as stack:
            kind = os.lstat(path).st_mode
            if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
                continue  # a pipe, a link, a device: plaq makes none
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
            stack.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if stat.S_ISDIR(kind):
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()


def cannot_write(path: Path, error: OSError) -> str:
    """Return one line on why a file could not be written and what is left."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        reason = f"no space left for it ({os.strerror(error.errno)})"
    else:
        reason = error.strerror or str(error)
    kept = "; the previous one is kept" if path.exists() else ""
    return f"{path}: cannot be written: {reason}{kept}"
