"""Standard output that may be closed, full, cut off or without a character's shape: a run goes on all the same."""

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
    """A file descriptor to write to, which drops what cannot be written and keeps the reason as ``lost``."""

    def __init__(self, number: int):
        super().__init__(number, "w", closefd=False)
        self.lost: OSError | None = None

    def write(self, data) -> int:
        try:
            while (written := super().write(data)) is None:  # somebody made it non-blocking
                select.select((), (self,), ())
            return written
        except OSError as error:
            self.lost = error
            return memoryview(data).nbytes


class Stream(io.TextIOWrapper):
    """Text on a `Descriptor`. ``like``: the stream whose place it takes, None if it was closed."""

    def __init__(self, number: int, like: TextIO | None, errors: str):
        self.descriptor = Descriptor(number)
        lines = bool(like and like.line_buffering)
        super().__init__(io.BufferedWriter(self.descriptor), like.encoding if like else "utf-8", errors,
                         line_buffering=lines)


@contextmanager
def standard_streams() -> Iterator[None]:
    """The standard streams of a command: closed ones lead nowhere, and no write to them fails.

    Where something printed was lost and was no `say`, the command ends with the RunError of a full disk, or with the
    exit code of a broken pipe. Streams that somebody else has put in their place are left alone.
    """
    while (free := os.open(os.devnull, os.O_RDWR)) <= 2:  # else a file of the run would get the number of a stream
        os.set_inheritable(free, True)
    os.close(free)
    ours = None
    if sys.stdout is sys.__stdout__:
        sys.stdout = ours = Stream(1, sys.stdout, "replace")
    if sys.stderr is sys.__stderr__:
        sys.stderr = Stream(2, sys.stderr, "backslashreplace")
    try:
        yield
    except SystemExit as ended:
        if ours and not ended.code:
            ours.flush()
            lost = ours.descriptor.lost
            if lost and lost.errno == errno.EPIPE:
                sys.exit(128 + signal.SIGPIPE)
            if lost:
                raise RunError(f"standard output cannot be written: {lost.strerror}") from lost
        raise


def printable(text: str) -> str:
    """The text as one line: what would not print, such as an end of line in the name of a file, is in escapes."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def say(text: str, out: TextIO | None = None, end: str = "\n") -> None:
    """Print a line for whoever is watching. What they cannot be shown is lost, and nothing else."""
    out = sys.stdout if out is None else out
    if out is None:
        return
    encoding = getattr(out, "encoding", None) or "utf-8"
    try:
        print(text.encode(encoding, "replace").decode(encoding), file=out, end=end, flush=True)
    except (OSError, ValueError):  # ValueError: it was closed
        pass
    forgive(out)


def forgive(out: TextIO) -> None:
    """What could not be written to ``out`` so far was for whoever is watching."""
    if isinstance(out, Stream):
        out.descriptor.lost = None
