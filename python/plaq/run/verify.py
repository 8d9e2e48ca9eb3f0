"""Whether the files of a run's folder are whole and belong together: what ``plaq verify`` looks at."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from plaq.data import results_file
from plaq.errors import InputError
from plaq.files import checkpoint, hashed
from plaq.files.sealed import SealedFile, opened
from plaq.files.tree import digest, read_tree
from plaq.inputs.schema import parse_toml
from plaq.run import manifest
from plaq.run.application import Application
from plaq.run.folder import CHECKPOINT, INPUT, RESULTS, need_ordinary

KEPT = "kept."  # whoever needs no more measurements may remove these


@dataclass(frozen=True)
class Verdict:
    """On one file: its path, its bytes where it is there, what it is, and what is wrong with it, None if nothing."""

    path: Path
    bytes: int | None
    what: str
    wrong: str | None = None


def runs_of(folder: Path) -> list[Path]:
    """The folder of a run, or those of the runs of a sweep. InputError where there is none."""
    if (folder / INPUT).exists():
        return [folder]
    found = sorted(path.parent for path in folder.glob(f"*/{INPUT}"))
    if not found:
        raise InputError(f"{folder}: there is no run: {INPUT} is missing")
    return found


@contextmanager
def left_alone(folder: Path) -> Iterator[None]:
    """InputError while a run writes into the folder; none begins to as long as the body lasts."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            try:
                fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InputError(f"{folder}: a plaq process is writing into this folder; verify it when that has "
                                 "ended") from None
        yield
    finally:
        os.close(descriptor)


def verify(kind: type[Application], folder: Path) -> list[Verdict]:
    """On every file of the folder that plaq reads again: the input, the checkpoint, all that it names, the results."""
    input, state, results = (folder / name for name in (INPUT, CHECKPOINT, RESULTS))
    need_ordinary(input)
    parameters = kind.Parameters.read(input)
    found = [Verdict(input, hashed.length(input), f"input of {kind.name}")]
    files: dict[str, Any] = {}
    if state.exists():
        def read() -> None:
            whole(state, replace(checkpoint.FORMAT, remedy=remedy))
            files.update(checkpoint.load(state, kind.name, *parameters.fingerprints(), remedy=remedy)["files"])

        remedy = f"put the right one back, or {checkpoint.FORMAT.remedy}"
        found.append(judged(state, "state to go on from", read))
    datasets = files.pop(RESULTS, {})
    for name, entry in files.items():
        path = folder / name
        if name.startswith(KEPT) and not path.exists():
            found.append(Verdict(path, None, "removed: its temperature cannot be measured further"))
            continue
        grows = name.startswith("checkpoint.bins.")
        found.append(judged(path, "named by the state",
                            lambda: hashed.check(path, entry, manifest.remedy(state), grows)))
    if results.exists() or datasets:
        found.append(judged(results, "results", lambda: check_results(kind, results, parameters, datasets)))
    return found


def judged(path: Path, what: str, look: Callable[[], None]) -> Verdict:
    """Verdict on a file; ``look`` raises InputError for what is wrong with it."""
    size = None
    with suppress(OSError, InputError):
        size = hashed.length(path)
    try:
        look()
    except InputError as error:
        return Verdict(path, size, what, str(error))
    return Verdict(path, size, what)


def whole(path: Path, format: Any) -> None:
    """InputError where a byte of a sealed file is another one."""
    with opened(path, format):
        pass
    with closing(SealedFile(path, format)) as file:
        file.verify()


def check_results(kind: type[Application], path: Path, parameters: Any, datasets: dict[str, str]) -> None:
    """InputError where the results are damaged, of another input, or without what the state needs of them."""
    format = results_file.format_of(kind.name)
    whole(path, format)
    with opened(path, format) as file:
        theirs = kind.Parameters.from_tables(parse_toml(file["input"].asstr()[()], path), path)
        said = read_tree(file["header"]).get("input", "")
        if parameters.conflict(theirs) or not theirs.fingerprint().startswith(said):
            raise InputError(f"{path}: holds the results of another input than {INPUT}; {format.remedy}")
        for place, wanted in datasets.items():
            if place not in file or digest(file[place]) != wanted:
                raise InputError(f"{path}: {place} is not that of the checkpoint beside it; put the right file back")
