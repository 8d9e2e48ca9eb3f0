"""Errors that plaq raises on purpose, with exit codes 2 and 1, and exceptions that stop a run early."""

from collections.abc import Iterator
from contextlib import contextmanager


class InputError(ValueError):
    """Invalid input: the message names the key, the value and what is allowed (exit code 2)."""

    ranks = 1  # how many raise it together, see Communicator.on_root


@contextmanager
def errors_of(source: str) -> Iterator[None]:
    """Have the message of an InputError begin with ``source``, the file of the input."""
    try:
        yield
    except InputError as error:
        if not str(error).startswith(f"{source}:"):
            error.args = (f"{source}: {error}",)
        raise


class RunError(RuntimeError):
    """Failure of a run with valid input: the message names the place and the numbers (exit code 1)."""

    ranks = 1  # as above


class NotBuilt(ImportError):
    """C++ part missing for this processor and Python (exit code 2)."""


def as_plaq_error(error: Exception) -> InputError | RunError | None:
    """Return the error to report to the user; None for a mistake in the program.

    Errors of the machine, such as a full disk or too little memory, become one of the two above.
    """
    if isinstance(error, (InputError, RunError)):
        return error
    if isinstance(error, NotBuilt):
        return InputError(str(error))
    if isinstance(error, MemoryError):
        return RunError(f"out of memory: {error or 'allocation failed'}; `plaq check` estimates what an input needs")
    if isinstance(error, OSError):
        return RunError(str(error))
    return None


class Interrupted(BaseException):
    """A run stopped on request, after a checkpoint; ``reason`` is "SIGINT", "SIGTERM" or "walltime".

    No subclass of Exception, so that a script which continues after errors ends all the same: a KeyboardInterrupt after
    SIGINT, a SystemExit after the others, with the exit codes 143 and 0. ``ended`` is the exit code of a command.
    """

    reason: str
    ended: int


class InterruptedByUser(Interrupted, KeyboardInterrupt):
    """Interruption by SIGINT, which is Ctrl-C."""

    reason, ended = "SIGINT", 130

    def __init__(self):
        super().__init__(self.reason)


class Ended(Interrupted, SystemExit):
    """Interruption that is no key of the user: a script that does not catch it ends with its exit code."""

    def __init__(self):
        super().__init__(self.ended)

    def __str__(self) -> str:
        return self.reason


class Terminated(Ended):
    """Interruption by SIGTERM."""

    reason, ended = "SIGTERM", 143


class OutOfTime(Ended):
    """Interruption at the limit run.walltime."""

    reason, ended = "walltime", 0


INTERRUPTIONS = {kind.reason: kind for kind in (InterruptedByUser, Terminated, OutOfTime)}
