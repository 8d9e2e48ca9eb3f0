"""Requests to stop a run early: SIGINT, SIGTERM, or the wall-time limit."""

from __future__ import annotations

import signal
import threading
import time


class Stop:
    """Within ``with Stop(limit) as stop``, signals are remembered instead of ending the process.

    A run checks `requested` between pieces of work and stops at a checkpoint. A second signal of the same kind acts at
    once, as it would without plaq. Outside the main thread, where Python has no signals, only the limit counts: the
    effect of a signal there is up to the program. ``limit`` is in seconds since the block was entered; None for no
    limit.
    """

    def __init__(self, limit: float | None = None):
        self._limit = limit
        self._signal: str | None = None
        self._before: dict[int, object] = {}

    def __enter__(self) -> Stop:
        self._deadline = None if self._limit is None else time.monotonic() + self._limit
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._remember)
        return self

    def __exit__(self, *exception) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _remember(self, number: int, frame) -> None:
        self._signal = signal.Signals(number).name
        signal.signal(number, self._before[number])

    def requested(self) -> str | None:
        """Return "SIGINT", "SIGTERM" or "walltime" if the run should stop, else None."""
        if self._signal is None and self._deadline is not None and time.monotonic() >= self._deadline:
            return "walltime"
        return self._signal
