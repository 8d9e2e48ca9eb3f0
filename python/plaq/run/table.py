"""Table of a sweep, ``sweep.csv``: a row for each run, with its swept keys and its outcome."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from plaq.files.atomic import write_atomically
from plaq.inputs.parameters import Parameters
from plaq.inputs.schema import to_toml

TABLE = "sweep.csv"


def axes(runs: Mapping[str, Parameters]) -> dict[str, dict[str, str]]:
    """Return {run: {key: value}} of the keys that differ between the runs of an input."""
    texts = {name: {f"{section}.{key}": to_toml(value) for section, content in p.SCHEMA.flat(p.explicit, "").items()
                    for key, value in content.items()} for name, p in runs.items()}
    keys = dict.fromkeys(key for content in texts.values() for key in content)
    differ = [key for key in keys if len({content.get(key) for content in texts.values()}) > 1]
    return {name: {key: content.get(key, "") for key in differ} for name, content in texts.items()}


def rows(records: Iterable[Mapping[str, Any]]) -> str:
    """Return CSV with the columns of all records; empty where one has no value."""
    records = list(records)
    columns = list(dict.fromkeys(["run", *(key for record in records for key in record)]))
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue()


def write(base: Path, runs: Mapping[str, Parameters], outcomes: Mapping[str, Mapping[str, Any]]) -> Path:
    """Write the table of {run: parameters} and {run: outcome}, of runs that ended; return its path."""
    with suppress(FileExistsError):
        base.mkdir(parents=True)
    values = axes(runs)
    records = [{"run": name, **values[name], **outcomes[name]} for name in runs if name in outcomes]
    write_atomically(base / TABLE, rows(records).encode())
    return base / TABLE
