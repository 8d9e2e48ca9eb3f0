"""Results of ``plaq lqcd`` as CSV, for pandas and spreadsheets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from plaq.data.recorded import Recorded
from plaq.data.tables import beside, entries, to_csv, write_files
from plaq.lqcd.results import Results, read_results

PROPERTIES = ("tau_int", "tau_int_error", "chi2", "dof", "p", "note", "convention")


def scalars(results: Results) -> list[dict[str, Any]]:
    """Return a row for each quantity that is one number: value, error, unit, and what is known about them."""
    return [{"quantity": name, "value": e.mean.item(), "error": e.error.item(), "unit": e.unit,
             **{key: getattr(e, key) for key in PROPERTIES}}
            for name, e in results.estimates.items() if not e.mean.ndim]


def series(results: Results) -> dict[str, list[dict[str, Any]]]:
    """Return tables by the name of their axis, configuration or trajectory: a row for each, a column for each series.

    A Polyakov loop has two columns, its real and imaginary part. Series of arrays have no column.
    """
    tables: dict[str, dict[str, Recorded]] = {}
    for name, record in results.recorded.items():
        columns = {name: record}
        if [axis.name for axis in record.axes[1:]] == ["part"]:
            columns = {f"{name}_{part}": Recorded(name, record.values[:, i], record.axes[:1])
                       for i, part in enumerate(("re", "im"))}
        if all(np.ndim(column.values) == 1 for column in columns.values()):
            tables.setdefault(record.axes[0].name, {}).update(columns)
    return {axis: beside(records) for axis, records in tables.items()}


def export(folder: Path, out: Path) -> list[Path]:
    """Write averages, and series of all configurations, of a run's folder as CSV into ``out``; return the paths.

    An average that is an array, as a correlator, is a file with a row for each entry, and so is each series of arrays.
    """
    results = read_results(folder / "results.h5")[0]
    files = {"scalars.csv": to_csv(scalars(results))}
    files |= {f"by_{axis}.csv": to_csv(rows) for axis, rows in series(results).items()}
    files |= {f"{name}.csv": to_csv(entries(e)) for name, e in results.estimates.items() if e.mean.ndim}
    files |= {f"series_{name}.csv": to_csv(entries(record)) for name, record in results.recorded.items()
              if np.ndim(record.values) > 1 and record.axes[1].name != "part"}
    return write_files(out, files)
