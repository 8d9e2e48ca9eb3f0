"""Conversion of ticks to seconds, and of the clock of one host to that of another."""

from __future__ import annotations

import numpy as np

from plaq.trace.rank_file import RankFile

LOW_BITS = np.uint64((1 << 56) - 1)
TOLERANCE = 1e-4  # of the tick's length between two readings of both clocks
SHORTEST = 20_000_000  # ns: over less the length of a tick is not known that well


class Clock:
    """Clock of one rank. The length of a tick comes from all moments at which both clocks were read."""

    def __init__(self, file: RankFile, reference: RankFile):
        self.notes: list[str] = []
        pairs = file.clocks
        self._first = pairs["ticks"][0]
        self._start = float(pairs["ns"][0]) * 1e-9
        ticks = (pairs["ticks"] - self._first).astype(float)
        seconds = (pairs["ns"] - pairs["ns"][0]).astype(float) * 1e-9
        if not (np.diff(ticks) > 0).all():
            raise ValueError("its clock does not advance")
        self._length = seconds[-1] / ticks[-1]
        self._ticks, self._seconds = ticks, seconds
        steady = np.diff(pairs["ns"].astype(np.int64)) >= SHORTEST
        drift = np.abs(np.diff(seconds)[steady] / np.diff(ticks)[steady] / self._length - 1)
        self._drift = float(drift.max()) if len(drift) else 0.0
        if self._drift > TOLERANCE:
            self.notes.append(
                f"rank {file.process['rank']}: the {file.process['clock']} changed its rate by "
                f"{1e6 * self._drift:.0f} ppm; times between two readings are off by as much"
            )
        self._offset = _offset(file, reference, self.notes)
        self.text = (
            f"{file.process['clock']}, {1e9 * self._length:.6g} ns a tick, rate within {1e6 * self._drift:.1f} ppm"
        )

    def seconds(self, ticks: np.ndarray) -> np.ndarray:
        """Return ticks (their low 56 bits) as seconds on the reference's CLOCK_MONOTONIC."""
        since = ((ticks.astype(np.uint64) - self._first) & LOW_BITS).astype(np.int64)
        since = np.where(since >= 1 << 55, since - (1 << 56), since).astype(float)  # before the first reading
        time = np.interp(since, self._ticks, self._seconds)
        outside = (since < 0) | (since > self._ticks[-1])
        if outside.any():
            end = np.where(since[outside] < 0, 0.0, self._ticks[-1])
            time[outside] += (since[outside] - end) * self._length
        time += self._start
        return time + self._offset(time)

    def since_boot(self, ns: np.ndarray) -> np.ndarray:
        """Return times of this host's CLOCK_MONOTONIC as seconds on the reference's."""
        time = ns.astype(float) * 1e-9
        return time + self._offset(time)


def _offset(file: RankFile, reference: RankFile, notes: list[str]):
    """Return the difference to the host's clock, as a function of its time."""
    if file.process["boot"] == reference.process["boot"]:
        return lambda time: 0.0  # one host: CLOCK_MONOTONIC is the same
    known = np.sort(file.offsets, order="at")
    if not len(known):
        notes.append(
            f"rank {file.process['rank']} ran on another host ({file.process['host']}) and its clock was not "
            "compared: its times do not fit those of the other ranks"
        )
        return lambda time: 0.0
    zero = np.sort(reference.offsets, order="at")  # offsets lead to rank 0, which may be another than the reference
    if not len(zero):
        return lambda time: np.interp(time, known["at"], known["seconds"])
    return lambda time: (np.interp(time, known["at"], known["seconds"])
                         - np.interp(time, zero["at"], zero["seconds"]))
