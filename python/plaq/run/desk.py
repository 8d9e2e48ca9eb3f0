"""Rank 0's place to write at: the claimed folder of a run, its log, its checkpoints."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from plaq.data.words import size
from plaq.files import checkpoint
from plaq.files.number_file import NumberFile
from plaq.inputs.parameters import Parameters
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
def to_the_end(streams: Iterable[Iterator[Any]]) -> Iterator[None]:
    """Goes through what is left of the streams even if the body fails: all ranks have to, since the others send."""
    try:
        yield
    finally:
        for stream in streams:
            for _ in stream:
                pass


class Desk:
    """Of the run of an input in a folder. ``header`` is what log and results say at first; ``every``: seconds
    between two checkpoints. Whatever goes wrong here gives the folder back."""

    def __init__(self, program: str, parameters: Parameters, path: Path, source: str, header: Mapping[str, Any],
                 make_log: Callable[[Path], Log], every: float):
        self.program, self.parameters, self.header, self._every = program, parameters, dict(header), every
        self._numbers: NumberFile | None = None
        self._last = time.monotonic()
        self._written: list[tuple[int, float]] = []  # bytes and seconds of every checkpoint
        with ExitStack() as opened:
            self.folder = opened.enter_context(closing(RunFolder(path, source, parameters)))
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

    def state(self) -> dict[str, Any] | None:
        """That of the last checkpoint, None where the run begins; InputError when it cannot be used."""
        found = checkpoint.load(self.folder.checkpoint, self.program, *self.inputs)
        if found is not None and "spread" in found:
            self._numbers = NumberFile(self.folder.bins(found["spread"]["label"]))
            self._numbers.open(found["spread"]["content"])
        return found

    def numbers(self, count: int) -> np.ndarray:
        """The next of those that `Spread.unsaved` gave before the last checkpoint."""
        return self._numbers.read(count)

    def checkpoint(self, state: Mapping[str, Any], spread: Spread | None = None) -> None:
        """Keep this state. ``state["kept"]`` names what else in the folder it needs: {whatever: label of
        RunFolder.kept}, and ``state["parts"]`` the label of the folder that all ranks have written
        (RunFolder.parts)."""
        started = time.monotonic()
        self.folder.check()
        if spread:
            if not spread.saved:
                self._numbers = NumberFile(self.folder.bins(spread.label))
            blocks = spread.unsaved()
            with to_the_end([blocks]):
                self._numbers.append(blocks)
            content = {"label": spread.label, "places": spread.saved, "content": self._numbers.content}
            state = {**state, "spread": content}
        written = checkpoint.save(self.folder.checkpoint, state, self.program, self.parameters.binding())
        needed = {self.folder.kept(label) for label in state.get("kept", {}).values()}
        needed |= {self._numbers.path} if spread else set()
        needed |= {self.folder.parts(state["parts"])} if "parts" in state else set()
        for name in (self.folder.bins("*").name, self.folder.kept("*").name, self.folder.parts("*").name):
            for old in set(self.folder.path.glob(name)) - needed:
                shutil.rmtree(old) if old.is_dir() else old.unlink()
        self._last = time.monotonic()
        written += self._numbers.content["bytes"] if spread else 0
        self._written.append((written, self._last - started))

    def due(self) -> bool:
        """Whether it is time for the next checkpoint."""
        return time.monotonic() - self._last >= self._every

    def checkpoints(self) -> str:
        """How many were written, the largest of them, and how long that one took, in words."""
        if not self._written:
            return "none written"
        largest, seconds = max(self._written)
        return f"{len(self._written)} written, the largest {size(largest)} in {seconds:.2g} s"
