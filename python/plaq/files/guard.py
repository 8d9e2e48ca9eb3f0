"""Guard of every reader: any error of a parser in a damaged or foreign file becomes one line."""

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
def reading(path: str | Path, description: str, remedy: str = "") -> Iterator[None]:
    """Run a body that reads the file at ``path``, which should be a ``description`` ("a table of tunings").

    Any error of the body ends as one line that names the file: InputError if the file cannot be opened or read,
    DamagedFile if its content makes no sense. Errors of plaq pass, since their parsers name the place. ``remedy``
    ("remove it to ...") ends the line of a DamagedFile.
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
        text = " ".join(str(error)[:LONGEST].split()) + "…" * (len(str(error)) > LONGEST)
        reason = ": ".join([type(error).__name__, *([text] if text else [])])
        end = f"; {remedy}" if remedy else ""
        raise DamagedFile(f"{path}: damaged, or not {description} ({reason}){end}") from None


def open_file(path: str | Path) -> int:
    """Return a descriptor to read an ordinary file; OSError or InputError for anything else.

    A pipe, for example, could block its reader for ever.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    kind = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(kind):
        os.close(descriptor)
        raise InputError(f"{path}: is {'a folder' if stat.S_ISDIR(kind) else 'not a regular file'}")
    return descriptor
