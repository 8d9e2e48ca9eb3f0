"""Recording from Python: the session, regions and counters; src/plaq/trace does the work."""

from __future__ import annotations

import os
import secrets
import shlex
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import ContextDecorator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import plaq
from plaq import _core
from plaq.errors import InputError


class Session:
    """Recording of all tasks, regions and counters of this process while it is open.

    It goes into `folder`/rank-0000.plaqtrace. Under MPI every rank makes one with the world's `comm` (a
    `plaq.comm.Communicator`) and closes it; the clocks of the ranks are compared at both ends. `period` in seconds lies
    between two samples of the counters and two writes; `ring_bytes` per thread hold the events meanwhile. `notes` are
    kept as the trace's metadata. `counters` are read in every thread at the ends of tasks and regions: at most four of
    "instructions", "cycles", "cache misses", "branch misses", "processor time" (ns) and "page faults", in user mode.
    Only the ranks in `ranks`, or all of them, record.

    Raises InputError if the folder holds a trace already, another session records, the kernel does not permit a
    counter, or there is no such rank; RunError if the folder cannot be written. A disk that becomes full later does not
    stop the program: see `problem`.
    """

    def __init__(
        self,
        folder: str | Path,
        comm: Any = None,
        period: float = 0.1,
        notes: Mapping[str, Any] | None = None,
        ring_bytes: int = 4 << 20,
        counters: Sequence[str] = (),
        ranks: Collection[int] | None = None,
    ):
        folder = Path(folder)
        self._comm = comm if comm is not None and comm.size > 1 else None
        rank, size = (self._comm.rank, self._comm.size) if self._comm else (0, 1)
        chosen = recorded_ranks(ranks, size)
        occupied = lambda: any(folder.glob("rank-*.plaqtrace"))
        if self._comm.on_root(occupied, share=True) if self._comm else occupied():
            raise InputError(f"{folder}: holds a trace already; a new one needs a folder of its own")
        metadata = {
            "command": shlex.join(sys.argv),
            "version": plaq.__version__,
            "ranks": len(chosen),
            "session": self._comm.bcast(secrets.token_hex(8)) if self._comm else secrets.token_hex(8),
            **(notes or {}),
        }
        metadata = {name: str(value) for name, value in metadata.items()}

        def begin() -> _core.trace.Session | None:
            if rank not in chosen:
                return None
            return _core.trace.Session(folder, rank, max(1, round(1000 * period)), ring_bytes, metadata, list(counters))

        self._native = self._comm.together(begin) if self._comm else begin()
        self._compare_clocks()

    @property
    def path(self) -> Path | None:
        """File of this rank; None if it does not record."""
        return self._native.path if self._native else None

    @property
    def problem(self) -> str:
        """Reason for an early end of the trace (a full disk); empty if there was no error."""
        return self._native.problem if self._native else ""

    def close(self) -> None:
        """Write the remaining events. Collective under MPI."""
        self._compare_clocks()
        self._close()

    def _compare_clocks(self) -> None:
        if self._comm:
            offset = self._comm.clock_offset()
            if self._native:
                self._native.set_clock_offset(*offset)

    def _close(self) -> None:
        if self._native:
            self._native.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind, error, trace) -> None:
        if kind is not None:  # the other ranks may be elsewhere
            self._close()
        else:
            self.close()


@dataclass(frozen=True)
class Recording:
    """Choice of what a run records: `counters` and `ranks` of its `Session`."""

    counters: tuple[str, ...] = ()
    ranks: tuple[int, ...] | None = None

    def demand(self, size: int) -> None:
        """Raise InputError unless this machine has the counters, and a job of ``size`` ranks these ranks."""
        _core.trace.demand_counters(list(self.counters))
        recorded_ranks(self.ranks, size)


def recorded_ranks(ranks: Collection[int] | None, size: int) -> set[int]:
    """Return the ranks that record, by default all; InputError if there are no such ranks."""
    chosen = set(range(size) if ranks is None else ranks)
    if not chosen or not chosen <= set(range(size)):
        wrong = ", ".join(map(str, sorted(chosen - set(range(size))))) or "none"
        raise InputError(f"trace: ranks = {wrong}: allowed are ranks 0 to {size - 1}")
    return chosen


def next_folder(parent: Path) -> Path:
    """Return ``parent``/000, or the first number after those that exist.

    Each part of a run that was stopped and resumed has a trace of its own.
    """
    return parent / f"{max((number for number, _ in recorded(parent)), default=-1) + 1:03d}"


def recorded(parent: Path) -> list[tuple[int, Path]]:
    """Return number and folder of all traces in the folder ``parent``; none if there is no such folder."""
    try:
        names = os.listdir(parent)
    except (OSError, ValueError):
        return []
    return [(int(name), parent / name) for name in names if name.isascii() and name.isdigit() and len(name) < 20]


class region(ContextDecorator):
    """A named part of the program: ``with trace.region("report"):``, or ``@trace.region("report")`` on a function.

    Costs some 0.5 us, and 0.35 us while no session records: for phases, not for inner loops.
    """

    def __init__(self, name: str):
        self._name = name
        self._number = 0

    def _recreate_cm(self) -> region:  # a function that calls itself has a region per call
        return region(self._name)

    def __enter__(self) -> Self:
        self._number = _core.trace.begin_region(self._name)
        return self

    def __exit__(self, *error) -> None:
        if self._number:
            _core.trace.end_region(self._number)


def counter(name: str, unit: str = "1") -> _core.trace.Counter:
    """Return a quantity of the program that sessions sample: ``.set(value)``, ``.add(value)``, ``.value``.

    It is sampled as long as the object lives; values of counters with one name are added.
    """
    return _core.trace.Counter(name, unit)


def read_counter(name: str) -> float:
    """Return the value of a counter now, added over workers and threads. InputError lists the known names."""
    return _core.trace.read_counter(name)
