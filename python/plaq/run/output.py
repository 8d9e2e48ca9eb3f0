"""Rank 0's place to write at: the claimed folder of a run, its log, its checkpoints."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from plaq.data.formatting import format_size
from plaq.files import checkpoint
from plaq.files.hashed import check, entry_of
from plaq.files.number_file import NumberFile
from plaq.inputs.parameters import Parameters
from plaq.run import manifest
from plaq.run.folder import RunFolder
from plaq.run.live import Log


class Spread(Protocol):
    """Numbers of a state of which each rank has a part. ``label`` tells one set of them from the next; ``saved``
    says, as plain data, which parts of it are in a file already."""

    label: str
    saved: list[list[int]]

    def unsaved(self) -> Iterator[np.ndarray | None]:
        """What is not saved yet, block by block: on rank 0, None on the others, which hand over theirs. All ranks go
        through it; it counts as saved then."""
        ...


@contextmanager
def drain(streams: Iterable[Iterator[Any]]) -> Iterator[None]:
    """Goes through what is left of the streams even if the body fails: all ranks have to, since the others send."""
    try:
        yield
    finally:
        for stream in streams:
            for _ in stream:
                pass


class RunOutput:
    """Of the run of an input in a folder. ``header`` is what log and results say at first; ``every``: seconds
    between two checkpoints. Whatever goes wrong here gives the folder back."""

    def __init__(self, program: str, parameters: Parameters, path: Path, source: str, header: Mapping[str, Any],
                 make_log: Callable[[Path], Log], every: float):
        self.program, self.parameters, self.header, self._every = program, parameters, dict(header), every
        self._numbers: NumberFile | None = None
        self._files: dict[str, Any] = {}  # those that the state needs beside the checkpoint, as it names them
        self._last = time.monotonic()
        self._written: list[tuple[int, float]] = []  # bytes and seconds of every checkpoint
        with ExitStack() as opened:
            self.folder = opened.enter_context(closing(RunFolder(path, source, parameters, program)))
            self.log: Log = opened.enter_context(closing(make_log(self.folder.log)))
            for name, value in self.header.items():
                self.log.line(f"{name + ':':<16}{value}")
            self.log.line()
            self._opened = opened.pop_all()

    def close(self) -> None:
        self._opened.close()

    @property
    def inputs(self) -> list[str]:
        """Fingerprints of the inputs whose checkpoint and results this run goes on from."""
        return self.parameters.fingerprints() + (self.folder.before or self.parameters).fingerprints()

    @property
    def remedy(self) -> str:
        """Remedy where one of these files is not the right one."""
        return manifest.remedy(self.folder.checkpoint)

    def state(self) -> dict[str, Any] | None:
        """State of the last checkpoint, None where the run begins; InputError when it cannot be used. Its `parts` are
        for all ranks to check."""
        found = checkpoint.load(self.folder.checkpoint, self.program, *self.inputs)
        if found is None:
            return None
        self._files = found.pop("files")
        if "spread" in found:
            self._numbers = NumberFile(self.folder.bins(found["spread"]["label"]))
            self._numbers.open(self._files[self._numbers.path.name], self.remedy)
        return found

    @property
    def parts(self) -> manifest.Manifest:
        """Entries of the files that all ranks have written of the last checkpoint."""
        return {name: entry for name, entry in self._files.items() if name.startswith(self.folder.parts("").name)}

    def adopt(self, state: Mapping[str, Any] | None) -> None:
        """Make the folder that of this input; before that its checkpoint, which may be of one that this goes on
        from, so that the run may die in between."""
        before = self.folder.before
        if state is not None and before is not None and before.binding() != self.parameters.binding():
            checkpoint.save(self.folder.checkpoint, {**state, "files": self._files}, self.program,
                            self.parameters.binding())
        self.folder.adopt(self.parameters)

    def keep(self, label: str, state: Mapping[str, Any], fingerprint: str) -> None:
        """Write what a checkpoint is to name in its ``kept``."""
        path = self.folder.kept(label)
        checkpoint.save(path, state, self.program, fingerprint)
        self._files[path.name] = entry_of(path)

    def kept(self, label: str, fingerprint: str, remedy: str) -> dict[str, Any] | None:
        """It again, None where it is not there; InputError when it is not what the checkpoint names."""
        path = self.folder.kept(label)
        if not path.exists():
            return None
        check(path, self._files[path.name], remedy)
        return checkpoint.load(path, self.program, fingerprint, remedy=remedy)

    @property
    def datasets(self) -> dict[str, str]:
        """Groups of the results file that the state needs: {path of a group in it: its digest}."""
        return self._files.get(self.folder.results.name, {})

    @datasets.setter
    def datasets(self, digests: dict[str, str]) -> None:
        self._files[self.folder.results.name] = digests

    def numbers(self, count: int) -> np.ndarray:
        """The next of those that `Spread.unsaved` gave before the last checkpoint."""
        return self._numbers.read(count)

    def checkpoint(self, state: Mapping[str, Any], spread: Spread | None = None,
                   parts: manifest.Manifest = {}) -> None:
        """Keep this state, with all that it needs beside itself by name and hash. ``state["kept"]`` names what was
        kept: {whatever: label of RunFolder.kept}, and ``state["parts"]`` is the label of what all ranks have
        written (RunFolder.parts), which are the ``parts``."""
        started = time.monotonic()
        self.folder.check()
        if spread:
            if not spread.saved:
                self._numbers = NumberFile(self.folder.bins(spread.label))
            blocks = spread.unsaved()
            with drain([blocks]):
                self._numbers.append(blocks)
            state = {**state, "spread": {"label": spread.label, "places": spread.saved}}
        needed = {self.folder.kept(label) for label in state.get("kept", {}).values()}
        needed |= {self._numbers.path} if spread else set()
        needed |= {self.folder.parts(state["parts"])} if "parts" in state else set()
        names = {path.name for path in needed} | {self.folder.results.name}
        self._files = {name: entry for name, entry in self._files.items() if name in names} | parts
        if spread:
            self._files[self._numbers.path.name] = self._numbers.content
        written = checkpoint.save(self.folder.checkpoint, {**state, "files": self._files}, self.program,
                                  self.parameters.binding())
        for name in (self.folder.bins("*").name, self.folder.kept("*").name, self.folder.parts("*").name):
            for old in set(self.folder.path.glob(name)) - needed:
                shutil.rmtree(old) if old.is_dir() else old.unlink()
        self._last = time.monotonic()
        written += self._numbers.content["bytes"] if spread else 0
        written += sum(entry["bytes"] for entry in parts.values())
        self._written.append((written, self._last - started))

    def due(self) -> bool:
        """Whether it is time for the next checkpoint."""
        return time.monotonic() - self._last >= self._every

    def checkpoints(self) -> str:
        """How many were written, the largest of them, and how long that one took, in words."""
        if not self._written:
            return "none written"
        largest, seconds = max(self._written)
        return f"{len(self._written)} written, the largest {format_size(largest)} in {seconds:.2g} s"
