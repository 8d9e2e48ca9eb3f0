"""The guard of every reader: whatever a damaged or foreign file does to its parser becomes one line."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from plaq.errors import InputError, RunError

LONGEST = 240  # characters of a parser's message, which may quote what it read


class DamagedFile(InputError):
    """A file is damaged, truncated, of another program or of another version; the message names it and the place."""


@contextmanager
def reading(path: str | Path, what: str, remedy: str = "") -> Iterator[None]:
    """The body reads the file at ``path``, which should be ``what`` ("a table of tunings").

    Any error of its own ends as one line that names the file: InputError where the file cannot be opened or read,
    DamagedFile where its content does not make sense. Errors of plaq pass, so that a parser that knows the place says
    it. ``remedy`` ("remove it to ...") ends the line of a DamagedFile.
    """
    try:
        yield
    except (InputError, RunError):
        raise
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except Exception as error:
        if isinstance(error, OSError) and error.errno:
            raise InputError(f"{path}: cannot be read: {error.strerror or os.strerror(error.errno)}") from None
        said = " ".join(str(error)[:LONGEST].split()) + "…" * (len(str(error)) > LONGEST)
        reason = ": ".join([type(error).__name__, *([said] if said else [])])
        raise DamagedFile(f"{path}: damaged, or not {what} ({reason}){f'; {remedy}' if remedy else ''}") from None


def open_file(path: str | Path) -> int:
    """A descriptor to read an ordinary file; OSError or InputError for anything else, such as a pipe, which could
    keep its reader for ever."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    kind = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(kind):
        os.close(descriptor)
        raise InputError(f"{path}: is {'a folder' if stat.S_ISDIR(kind) else 'no ordinary file'}")
    return descriptor
