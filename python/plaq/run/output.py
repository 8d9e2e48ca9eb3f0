"""Output of a run, on rank 0: its claimed folder, its log, its checkpoints."""

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
from plaq.run.folder import CHECKPOINT, INPUT, RunFolder, need_ordinary
from plaq.run.live import Log


class DistributedNumbers(Protocol):
    """Numbers of a state of which each rank has a part.

    ``label`` names one set of them; ``saved`` lists, as plain data, the parts that a file holds already.
    """

    label: str
    saved: list[list[int]]

    def unsaved(self) -> Iterator[np.ndarray | None]:
        """Yield the numbers that are not saved yet, block by block: on rank 0, None on the others, which send theirs.

        All ranks exhaust it; the numbers count as saved then.
        """
        ...


@contextmanager
def drain(streams: Iterable[Iterator[Any]]) -> Iterator[None]:
    """Exhaust the streams even if the body fails: all ranks have to, since the others send."""
    try:
        yield
    finally:
        for stream in streams:
            for _ in stream:
                pass


def last_state(kind: Any, folder: Path) -> tuple[Any, dict[str, Any]] | None:
    """Return input and last checkpoint of an application's run in a folder; None if there is none."""
    if not (folder / INPUT).exists():
        return None
    need_ordinary(folder / INPUT)
    parameters = kind.Parameters.read(folder / INPUT)
    state = checkpoint.load(folder / CHECKPOINT, kind.name, *parameters.fingerprints())
    return None if state is None else (parameters, state)


class RunOutput:
    """Output of one run: folder, log, checkpoints (rank 0). The folder's lock is released on any error.

    ``header`` begins log and results; ``every`` is the time between two checkpoints in seconds.
    """

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
        """Fingerprints of the inputs whose checkpoint and results this run resumes."""
        return self.parameters.fingerprints() + (self.folder.before or self.parameters).fingerprints()

    @property
    def remedy(self) -> str:
        """Remedy where one of these files is not the right one."""
        return manifest.remedy(self.folder.checkpoint)

    def state(self) -> dict[str, Any] | None:
        """Return the state of the last checkpoint, None where the run begins; InputError when it cannot be used.

        Its `parts` are for all ranks to check.
        """
        state = checkpoint.load(self.folder.checkpoint, self.program, *self.inputs)
        if state is None:
            return None
        self._files = state.pop("files")
        if "spread" in state:
            self._numbers = NumberFile(self.folder.bins_path(state["spread"]["label"]))
            self._numbers.open(self._files[self._numbers.path.name], self.remedy)
        return state

    @property
    def parts(self) -> manifest.Manifest:
        """Entries of the files of the last checkpoint that all ranks have written."""
        return {name: entry for name, entry in self._files.items() if name.startswith(self.folder.parts_path("").name)}

    def adopt(self, state: Mapping[str, Any] | None) -> None:
        """Make the folder that of this input.

        Its checkpoint is written first, since that may be of an input that this one extends: the run may die in
        between.
        """
        before = self.folder.before
        if state is not None and before is not None and before.binding() != self.parameters.binding():
            checkpoint.save(self.folder.checkpoint, {**state, "files": self._files}, self.program,
                            self.parameters.binding())
        self.folder.adopt(self.parameters)

    def keep(self, label: str, state: Mapping[str, Any], fingerprint: str) -> None:
        """Write a state that the next checkpoint names in its ``kept``."""
        path = self.folder.kept_path(label)
        checkpoint.save(path, state, self.program, fingerprint)
        self._files[path.name] = entry_of(path)

    def load_kept(self, label: str, fingerprint: str, remedy: str) -> dict[str, Any] | None:
        """Return the state that `keep` wrote, None if there is none; InputError if the checkpoint names another one."""
        path = self.folder.kept_path(label)
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
        """Return the next of the numbers that `DistributedNumbers.unsaved` gave before the last checkpoint."""
        return self._numbers.read(count)

    def checkpoint(self, state: Mapping[str, Any], numbers: DistributedNumbers | None = None,
                   parts: manifest.Manifest = {}) -> None:
        """Save this state, with names and hashes of all other files that it needs.

        ``state["kept"]`` is {key: label of RunFolder.kept_path} of the states that `keep` wrote. ``state["parts"]`` is
        the label of the files that all ranks have written (RunFolder.parts_path), whose entries are the ``parts``.
        """
        started = time.monotonic()
        self.folder.check()
        if numbers:
            if not numbers.saved:
                self._numbers = NumberFile(self.folder.bins_path(numbers.label))
            blocks = numbers.unsaved()
            with drain([blocks]):
                self._numbers.append(blocks)
            state = {**state, "spread": {"label": numbers.label, "places": numbers.saved}}
        needed = {self.folder.kept_path(label) for label in state.get("kept", {}).values()}
        needed |= {self._numbers.path} if numbers else set()
        needed |= {self.folder.parts_path(state["parts"])} if "parts" in state else set()
        names = {path.name for path in needed} | {self.folder.results.name}
        self._files = {name: entry for name, entry in self._files.items() if name in names} | parts
        if numbers:
            self._files[self._numbers.path.name] = self._numbers.content
        written = checkpoint.save(self.folder.checkpoint, {**state, "files": self._files}, self.program,
                                  self.parameters.binding())
        for pattern in (self.folder.bins_path("*"), self.folder.kept_path("*"), self.folder.parts_path("*")):
            for old in set(self.folder.path.glob(pattern.name)) - needed:
                shutil.rmtree(old) if old.is_dir() else old.unlink()
        self._last = time.monotonic()
        written += self._numbers.content["bytes"] if numbers else 0
        written += sum(entry["bytes"] for entry in parts.values())
        self._written.append((written, self._last - started))

    def due(self) -> bool:
        """Return whether the next checkpoint is due."""
        return time.monotonic() - self._last >= self._every

    def checkpoints(self) -> str:
        """Return the number of checkpoints, the size of the largest, and the time that one took, in words."""
        if not self._written:
            return "none written"
        largest, seconds = max(self._written)
        return f"{len(self._written)} written, the largest {format_size(largest)} in {seconds:.2g} s"
