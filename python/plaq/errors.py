"""The two errors that plaq raises on purpose; the command line turns them into exit codes 2 and 1."""


class InputError(ValueError):
    """The input is wrong: the message names the key, the value and what is allowed (exit code 2)."""


class RunError(RuntimeError):
    """The input is fine but the run failed: the message names the place and the numbers (exit code 1)."""


class Interrupted(Exception):
    """The run was asked to stop and did so after a checkpoint; ``reason`` is "SIGINT", "SIGTERM" or "walltime"."""

    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason
