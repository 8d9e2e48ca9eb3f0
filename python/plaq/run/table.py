"""Table of a sweep, ``sweep.csv``: a row for each run, with its swept keys, its outcome and its numbers."""

from __future__ import annotations

import csv
import hashlib
import io
import os
from collections.abc import Container, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from plaq.data.results_file import digest_line
from plaq.data.tables import to_csv
from plaq.errors import InputError
from plaq.files.atomic import write_atomically
from plaq.files.sealed import Format
from plaq.inputs.parameters import Parameters
from plaq.inputs.schema import to_toml

TABLE, STATUS = "sweep.csv", "status"


def axes(runs: Mapping[str, Parameters]) -> dict[str, dict[str, str]]:
    """Return {run: {key: value}} of the keys that differ between the runs of an input."""
    texts = {name: {f"{section}.{key}": to_toml(value) for section, content in p.SCHEMA.flat(p.explicit, "").items()
                    for key, value in content.items()} for name, p in runs.items()}
    keys = dict.fromkeys(key for content in texts.values() for key in content)
    differ = [key for key in keys if len({content.get(key) for content in texts.values()}) > 1]
    return {name: {key: content.get(key, "") for key in differ} for name, content in texts.items()}


def write(base: Path, runs: Mapping[str, Parameters], outcomes: Mapping[str, Mapping[str, Any]]) -> Path:
    """Write the table of {run: parameters} and {run: outcome}, of runs that ended; return its path."""
    with suppress(FileExistsError):
        base.mkdir(parents=True)
    values = axes(runs)
    records = [{"run": name, **values[name], **outcomes[name]} for name in runs if name in outcomes]
    write_atomically(base / TABLE, to_csv(records, ("run", *next(iter(values.values())), STATUS)).encode())
    return base / TABLE


def is_sweep(folder: Path) -> bool:
    """Return whether a folder is that of a sweep."""
    return os.path.isfile(folder / TABLE)  # False for a name that no file can have


def read(base: Path) -> tuple[list[str], list[dict[str, str]]]:
    """Return the swept keys and the rows of ``sweep.csv``. InputError where it is not such a table."""
    path = base / TABLE
    try:
        lines = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    head = lines[0] if lines else ["run", STATUS]
    if head[:1] != ["run"] or STATUS not in head or any(len(line) != len(head) for line in lines):
        raise InputError(f"{path}: not the table of a sweep: it needs the columns run and {STATUS}, "
                         "and a cell for each column in every row")
    return head[1:head.index(STATUS)], [dict(zip(head, line)) for line in lines[1:]]


def digests(base: Path, names: Iterable[str], format: Format, damaged: Container[str] = ()) -> list[str]:
    """Return ``<hash>  <run>  (<properties of the machine>)`` for each run, and the hash of hashes and runs for all.

    InputError where results are damaged, unless their run is among the ``damaged``.
    """
    lines, machines = [], []
    for name in names:
        path = base / name / "results.h5"
        missing = "damaged" if name in damaged else "" if path.exists() else "no results"
        digest, _, machine = (missing or digest_line(path, format)).partition("  ")
        lines.append(f"{digest:64}  {name}")
        machines.append(f"  {machine}" if machine else "")
    whole = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    return [*(line + machine for line, machine in zip(lines, machines)), f"{whole}  all {len(lines)} runs"]
