"""The folder of one run: the input that it belongs to, and the lock of the one process that writes into it."""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, Self

from plaq.errors import InputError, RunError
from plaq.files.atomic import cannot_write, write_atomically
from plaq.files.guard import open_file
from plaq.files.sealed import HEAD, Seal
from plaq.inputs.schema import to_toml

INPUT, CHECKPOINT, RESULTS = "input.resolved.toml", "checkpoint.h5", "results.h5"
OWNER = "# input of a run of "


class Input(Protocol):
    """Interface of an application's parameters to a run folder."""

    @classmethod
    def read(cls, path: Path) -> Self: ...
    def to_toml(self) -> str: ...
    def conflict(self, before: Self) -> tuple[str, Any, Any, str] | None: ...


class RunFolder:
    """Paths of the files in ``run/``, which is claimed for one input and one process while this object lives.

    ``program`` is the application, which the folder's copy of the input names.

    Raises InputError if this input cannot resume the one that the folder belongs to (naming the first key), if the
    folder holds files but no run, or if another process is writing into it. Nothing is written before these checks
    passed.
    """

    def __init__(self, path: str | Path, source: str, parameters: Input, program: str = ""):
        self.path, self._program = Path(path), program
        self.input = self.path / INPUT
        self.results = self.path / RESULTS
        self.summary = self.path / "summary.json"
        self.log = self.path / "log.txt"
        self.checkpoint = self.path / CHECKPOINT
        self.figures = self.path / "figures"
        self.report = self.path / "report.html"
        self.before = self._owner(source, parameters)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.path, os.O_RDONLY)
        except OSError as error:
            raise RunError(cannot_write(self.path, error)) from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._lock)
            raise InputError(f"{self.path}: another plaq process is writing into this folder") from None
        try:
            if self.before is None:
                self.adopt(parameters)
        except BaseException:
            self.close()
            raise

    def bins_path(self, label: str) -> Path:
        """Return the path of the bins of a checkpoint when the ranks share them; ``label`` numbers their sets."""
        return self.path / f"checkpoint.bins.{label}"

    def parts_path(self, label: str) -> Path:
        return parts_of(self.path, label)

    def check(self) -> None:
        """Raise RunError if the folder was removed meanwhile, or replaced by another one."""
        try:
            there = os.path.samestat(os.stat(self.path), os.fstat(self._lock))
        except OSError:
            there = False
        if not there:
            raise RunError(f"{self.path}: the folder was removed or replaced while this run wrote into it")

    def kept_path(self, label: str) -> Path:
        """Return the path of the state that a finished temperature needs to be measured further."""
        return self.path / f"kept.{label}.h5"

    def adopt(self, parameters: Input) -> None:
        """Make the folder that of this input, which resumes ``before``, its input so far (None if new)."""
        owner = f"{OWNER}{self._program}\n" if self._program else ""
        write_atomically(self.input, (owner + parameters.to_toml()).encode())

    def close(self) -> None:
        """Let other processes write into the folder."""
        os.close(self._lock)

    def _owner(self, source: str, parameters: Input) -> Input | None:
        if not self.path.exists():
            return None
        if not self.path.is_dir():
            raise InputError(f"{self.path}: is a file, so it cannot be the run folder")
        if not self.input.exists():
            if any(not name.endswith(".partial") for name in os.listdir(self.path)):
                raise InputError(
                    f"{self.path}: has files but no {self.input.name}, so it is not a run folder; choose "
                    "another one with --out"
                )
            return None
        need_ordinary(self.input)
        before = type(parameters).read(self.input)
        conflict = parameters.conflict(before)
        if conflict is not None:
            key, here, there, allowed = conflict
            raise InputError(
                f"{self.path}: this folder belongs to a different input: {key} = {to_toml(there)} in "
                f"{self.input}, {to_toml(here)} in {source}; {allowed}{'; or ' if allowed else ''}choose "
                "another folder with --out or remove it"
            )
        return before

    def write_summary(self, summary: dict[str, Any]) -> None:
        """Replace ``summary.json``; numbers that JSON lacks (nan, inf) become null."""
        write_atomically(self.summary, (json.dumps(_finite(summary), indent=2) + "\n").encode())


def parts_of(folder: Path, label: str) -> Path:
    """Return the path, beside the checkpoint in a run's folder, where every rank writes a part."""
    return folder / f"checkpoint.parts.{label}"


def need_ordinary(path: Path) -> None:
    """Raise InputError if a path of a run's folder is a pipe or the like, which could block its reader for ever."""
    with suppress(OSError):  # what is not there, or cannot be read, the reader reports
        os.close(open_file(path))


def program_of(folder: Path) -> str | None:
    """Return the application whose run, or whose sweep, lies in a folder; None if that is not known."""
    for place in (folder, *(path.parent for path in sorted(folder.glob(f"*/{INPUT}")))):
        first = read_head(place / INPUT).partition(b"\n")[0].decode("utf-8", "replace")
        if first.startswith(OWNER):
            return first.removeprefix(OWNER)
        results = Seal.read(read_head(place / RESULTS))  # of a run whose input does not name it
        if results:
            return results.format.removesuffix(" results")
    return None


def read_head(path: Path) -> bytes:
    """Return the beginning of a file; nothing where it cannot be read."""
    with suppress(OSError, InputError), open(open_file(path), "rb") as file:
        return file.read(HEAD)
    return b""


def need_program(folder: Path, program: str, instead: str = "give another folder with --out") -> None:
    """Raise InputError if the folder holds a run of another application; ``instead`` names the remedy."""
    other = program_of(folder)
    if other not in (None, program):
        raise InputError(f"{folder}: holds a run of {other}, and this is {program}; {instead}")


def need_own(folder: Path, program: str) -> None:
    """Raise InputError if the folder, which is to be read, holds a run of another application."""
    with suppress(OSError):  # what cannot be read, the reader reports
        need_program(folder, program, "its commands, or its functions in Python, read it")


def _finite(thing: Any) -> Any:
    if isinstance(thing, dict):
        return {key: _finite(value) for key, value in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [_finite(value) for value in thing]
    if isinstance(thing, float) and not abs(thing) < float("inf"):
        return None
    return thing
