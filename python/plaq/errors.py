"""The two errors that plaq raises on purpose, which the command line turns into exit codes 2 and 1; and how a run
stops early."""


class InputError(ValueError):
    """The input is wrong: the message names the key, the value and what is allowed (exit code 2)."""

    ranks = 1  # how many raise it together, see Communicator.on_root


class RunError(RuntimeError):
    """The input is fine but the run failed: the message names the place and the numbers (exit code 1)."""

    ranks = 1  # as above


class NotBuilt(ImportError):
    """plaq's C++ part is not there for this processor and Python (exit code 2)."""


def as_plaq_error(error: Exception) -> InputError | RunError | None:
    """What the user is told of an error that the machine makes, a full disk or too little memory, or of one of the two
    above; None for a mistake in the program."""
    if isinstance(error, (InputError, RunError)):
        return error
    if isinstance(error, NotBuilt):
        return InputError(str(error))
    if isinstance(error, MemoryError):
        return RunError(f"out of memory: {error or 'no more to be had'}; `plaq check` estimates what an input needs")
    if isinstance(error, OSError):
        return RunError(str(error))
    return None


class Interrupted(BaseException):
    """The run was asked to stop and did so after a checkpoint; ``reason`` is "SIGINT", "SIGTERM" or "walltime".

    No Exception, so that a script which goes on after errors ends all the same: a KeyboardInterrupt after SIGINT, a
    SystemExit after the others, with the exit codes 143 and 0. ``ended`` is the exit code of a command.
    """

    reason: str
    ended: int


class InterruptedByUser(Interrupted, KeyboardInterrupt):
    """By SIGINT, which is Ctrl-C."""

    reason, ended = "SIGINT", 130

    def __init__(self):
        super().__init__(self.reason)


class Ended(Interrupted, SystemExit):
    """By what is no key of the user: a script that does not catch it ends with its exit code."""

    def __init__(self):
        super().__init__(self.ended)

    def __str__(self) -> str:
        return self.reason


class Terminated(Ended):
    """By SIGTERM."""

    reason, ended = "SIGTERM", 143


class OutOfTime(Ended):
    """By the limit run.walltime."""

    reason, ended = "walltime", 0


INTERRUPTIONS = {kind.reason: kind for kind in (InterruptedByUser, Terminated, OutOfTime)}
