"""Standard output that may be closed, full, cut off or without a character's glyph, without an effect on the run."""

from __future__ import annotations

import errno
import io
import os
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from plaq.errors import RunError


class Descriptor(io.FileIO):
    """File descriptor to write to; it drops data that cannot be written and keeps the reason as ``lost``."""

    def __init__(self, number: int):
        super().__init__(number, "w", closefd=False)
        self.lost: OSError | None = None

    def write(self, data) -> int:
        try:
            while (written := super().write(data)) is None:  # another process made it non-blocking
                select.select((), (self,), ())
            return written
        except OSError as error:
            self.lost = error
            return memoryview(data).nbytes


class Stream(io.TextIOWrapper):
    """Text on a `Descriptor`. ``like``: the stream that it replaces, None if that was closed."""

    def __init__(self, number: int, like: TextIO | None, errors: str):
        self.descriptor = Descriptor(number)
        lines = bool(like and like.line_buffering)
        super().__init__(io.BufferedWriter(self.descriptor), like.encoding if like else "utf-8", errors,
                         line_buffering=lines)


@contextmanager
def standard_streams() -> Iterator[None]:
    """Replace the standard streams of a command: closed ones lead nowhere, and no write to them fails.

    If printed text was lost that `print_line` did not write, the command ends with the RunError of a full disk, or with
    the exit code of a broken pipe. Streams that were replaced before (by a test, for example) are left alone.
    """
    while (free := os.open(os.devnull, os.O_RDWR)) <= 2:  # else a file of the run would get the number of a stream
        os.set_inheritable(free, True)
    os.close(free)
    stream = None
    if sys.stdout is sys.__stdout__:
        sys.stdout = stream = Stream(1, sys.stdout, "replace")
    if sys.stderr is sys.__stderr__:
        sys.stderr = Stream(2, sys.stderr, "backslashreplace")
    try:
        yield
    except SystemExit as ended:
        if stream and not ended.code:
            stream.flush()
            lost = stream.descriptor.lost
            if lost and lost.errno == errno.EPIPE:
                sys.exit(128 + signal.SIGPIPE)
            if lost:
                raise RunError(f"standard output cannot be written: {lost.strerror}") from lost
        raise


def printable(text: str) -> str:
    """Return the text as one line; characters that do not print, such as a newline in a file name, are escaped."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def print_line(text: str, out: TextIO | None = None, end: str = "\n") -> None:
    """Print a line of progress. Text that cannot be written is lost, without an error."""
    out = sys.stdout if out is None else out
    if out is None:
        return
    encoding = getattr(out, "encoding", None) or "utf-8"
    try:
        print(text.encode(encoding, "replace").decode(encoding), file=out, end=end, flush=True)
    except (OSError, ValueError):  # ValueError: it was closed
        pass
    forget_lost(out)


def forget_lost(out: TextIO) -> None:
    """Forget that text for ``out`` was lost so far; call it after text whose loss is no error."""
    if isinstance(out, Stream):
        out.descriptor.lost = None
