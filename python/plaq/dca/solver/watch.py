"""Watch over running chains: progress, and requests to stop or to save, agreed between ranks."""

from __future__ import annotations

import time

TIMEOUT = 10.0  # seconds that a stopped run waits for bins in progress before it abandons them
STATUS_PERIOD = 0.25  # seconds between two updates of the live view


class Watch:
    """Watch over running chains: reports progress and passes on requests to stop or to save.

    run: plaq.run.driver.Run; left: measurements still to be made at the start; report(**fields): takes
    sweeps_per_second, seconds_left, and measurements and elapsed seconds since the start.
    `reason` is why the run should stop, None if it should continue.
    """

    def __init__(self, run, left, report):
        self._run, self._left, self._report = run, left, report
        self._started = self._shown = time.monotonic()
        self.reason, self._since = None, None

    def __call__(self, measurements, sweeps):
        """Return the instruction for run_chains, from the counts of all ranks so far: None, "finish" or "abandon"."""
        now = time.monotonic()
        if self.reason is None:
            self.reason, self._since = self._run.stop_reason(), now
        if self.reason is not None:
            return "abandon" if now - self._since > TIMEOUT else "finish"
        if now - self._shown > STATUS_PERIOD:
            self._shown = now
            elapsed = now - self._started
            seconds = (self._left - measurements) * elapsed / measurements if measurements else None
            self._report(sweeps_per_second=sweeps / elapsed, seconds_left=seconds, measurements=measurements,
                         elapsed=elapsed)
        return "finish" if self._run.checkpoint_due() else None
