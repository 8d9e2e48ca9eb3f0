"""The two errors that plaq raises on purpose; the command line turns them into exit codes 2 and 1."""


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


class Interrupted(Exception):
    """The run was asked to stop and did so after a checkpoint; ``reason`` is "SIGINT", "SIGTERM" or "walltime"."""

    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason
