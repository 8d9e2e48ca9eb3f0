"""Check that the files of a run's folder are undamaged and belong together, as ``plaq verify`` does."""

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
from plaq.files.sealed import SealedFile, open_sealed
from plaq.files.tree import digest, read_tree
from plaq.inputs.schema import parse_toml
from plaq.run import manifest
from plaq.run.application import Application
from plaq.run.folder import CHECKPOINT, INPUT, RESULTS, need_ordinary

KEPT = "kept."  # may be removed if no more measurements are needed


@dataclass(frozen=True)
class Verdict:
    """Result of the check of one file: its path, its bytes if it exists, its purpose, and its error if there is one."""

    path: Path
    bytes: int | None
    purpose: str
    wrong: str | None = None


def runs_of(folder: Path) -> list[Path]:
    """Return the folder of a run, or those of the runs of a sweep. InputError if there is none."""
    if (folder / INPUT).exists():
        return [folder]
    runs = sorted(path.parent for path in folder.glob(f"*/{INPUT}"))
    if not runs:
        raise InputError(f"{folder}: there is no run: {INPUT} is missing")
    return runs


@contextmanager
def shared_lock(folder: Path) -> Iterator[None]:
    """Raise InputError while a run writes into the folder; no run begins to while the body lasts."""
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
    """Check every file of the folder that plaq reads again: input, checkpoint, all that it names, results."""
    input, state, results = (folder / name for name in (INPUT, CHECKPOINT, RESULTS))
    need_ordinary(input)
    parameters = kind.Parameters.read(input)
    verdicts = [Verdict(input, hashed.length(input), f"input of {kind.name}")]
    files: dict[str, Any] = {}
    if state.exists():
        def read() -> None:
            check_sealed(state, replace(checkpoint.FORMAT, remedy=remedy))
            files.update(checkpoint.load(state, kind.name, *parameters.fingerprints(), remedy=remedy)["files"])

        remedy = f"put the right one back, or {checkpoint.FORMAT.remedy}"
        verdicts.append(check_file(state, "state to resume from", read))
    datasets = files.pop(RESULTS, {})
    for name, entry in files.items():
        path = folder / name
        if name.startswith(KEPT) and not path.exists():
            verdicts.append(Verdict(path, None, "removed: its temperature cannot be measured further"))
            continue
        grows = name.startswith("checkpoint.bins.")
        verdicts.append(check_file(path, "named by the state",
                            lambda: hashed.check(path, entry, manifest.remedy(state), grows)))
    if results.exists() or datasets:
        verdicts.append(check_file(results, "results", lambda: check_results(kind, results, parameters, datasets)))
    for name, format in kind.derived_files().items():
        path = folder / name
        if path.exists():
            verdicts.append(check_file(path, "derived from the results", lambda: check_sealed(path, format)))
    return verdicts


def check_file(path: Path, purpose: str, check: Callable[[], None]) -> Verdict:
    """Return the verdict on a file; ``check`` raises InputError for what is wrong with it."""
    size = None
    with suppress(OSError, InputError):
        size = hashed.length(path)
    try:
        check()
    except InputError as error:
        return Verdict(path, size, purpose, str(error))
    return Verdict(path, size, purpose)


def check_sealed(path: Path, format: Any) -> None:
    """Raise InputError if a byte of a sealed file has changed."""
    with open_sealed(path, format):
        pass
    with closing(SealedFile(path, format)) as file:
        file.verify()


def check_results(kind: type[Application], path: Path, parameters: Any, datasets: dict[str, str]) -> None:
    """Raise InputError if the results are damaged, of another input, or without data that the state needs."""
    format = results_file.format_of(kind.name)
    check_sealed(path, format)
    with open_sealed(path, format) as file:
        parameters_there = kind.Parameters.from_tables(parse_toml(file["input"].asstr()[()], path), path)
        fingerprint = read_tree(file["header"]).get("input", "")
        if parameters.conflict(parameters_there) or not parameters_there.fingerprint().startswith(fingerprint):
            raise InputError(f"{path}: holds the results of another input than {INPUT}; {format.remedy}")
        for place, expected in datasets.items():
            if place not in file or digest(file[place]) != expected:
                raise InputError(f"{path}: {place} is not that of the checkpoint beside it; put the right file back")
