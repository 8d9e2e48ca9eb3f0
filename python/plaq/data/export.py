"""Findings as CSV, for pandas and spreadsheets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from plaq.data.recorded import Recorded
from plaq.data.results_file import Findings
from plaq.data.tables import PARTS, beside, entries, to_csv, write_files

PROPERTIES = ("tau_int", "tau_int_error", "chi2", "dof", "p", "note", "convention")


def scalars(findings: Findings) -> list[dict[str, Any]]:
    """Return a row for each quantity that is one number: value, error, unit, and what is known about them."""
    return [{"quantity": name, "value": e.mean.item(), "error": e.error.item(), "unit": e.unit,
             **{key: getattr(e, key) for key in PROPERTIES}}
            for name, e in findings.estimates.items() if not e.mean.ndim]


def series(findings: Findings) -> dict[str, list[dict[str, Any]]]:
    """Return tables by the name of their axis, such as configuration: a row for each, a column for each series.

    A series of complex numbers, with an axis ``part``, has two columns. Series of other arrays have none.
    """
    tables: dict[str, dict[str, Recorded]] = {}
    for name, record in findings.recorded.items():
        columns = {name: record}
        if has_parts(record):
            columns = {f"{name}_{part}": Recorded(name, record.values[:, i], record.axes[:1])
                       for i, part in enumerate(PARTS)}
        if all(np.ndim(column.values) == 1 for column in columns.values()):
            tables.setdefault(record.axes[0].name, {}).update(columns)
    return {axis: beside(records) for axis, records in tables.items()}


def has_parts(record: Recorded) -> bool:
    """Return whether the second axis is that of real and imaginary part."""
    return [axis.name for axis in record.axes[1:]] == ["part"]


def export(findings: Findings, out: Path) -> list[Path]:
    """Write averages, and series as they were measured, as CSV files into the folder ``out``; return the paths.

    An average that is an array, as a correlator, is a file with a row for each entry, and so is each series of arrays.
    Names of files have dots for slashes.
    """
    files = {"scalars.csv": to_csv(scalars(findings))}
    files |= {f"by_{axis}.csv": to_csv(rows) for axis, rows in series(findings).items()}
    files |= {f"{name}.csv": to_csv(entries(e)) for name, e in findings.estimates.items() if e.mean.ndim}
    files |= {f"series_{name}.csv": to_csv(entries(record)) for name, record in findings.recorded.items()
              if np.ndim(record.values) > 1 and not has_parts(record)}
    return write_files(out, {name.replace("/", "."): content for name, content in files.items()})
