"""Results as tables for other programs: rows of numbers, as CSV and as a DataFrame."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from plaq.data.estimate import Estimate
from plaq.data.optional import package
from plaq.data.recorded import Recorded
from plaq.errors import RunError
from plaq.files.atomic import cannot_write, write_atomically

COORDINATES = "xyz"  # of the values along an axis that are vectors
PARTS = ("re", "im")


def columns(estimates: Mapping[str, Estimate]) -> dict[str, Any]:
    """Return {name: value, name_error: error} of all estimates that are one number, complex ones by parts."""
    row = {}
    for name, e in estimates.items():
        if not e.mean.ndim and np.iscomplexobj(e.mean):
            for part, value, error in zip(PARTS, parts(e.mean.item()), parts(e.error.item())):
                row |= {f"{name}_{part}": value, f"{name}_{part}_error": error}
        elif not e.mean.ndim:
            row |= {name: e.mean.item(), f"{name}_error": e.error.item()}
    return row


def parts(number: complex) -> tuple[float, float]:
    return number.real, number.imag


def entries(thing: Estimate | Recorded) -> Iterator[dict[str, Any]]:
    """Yield a row for every entry of an array: the values along its axes, then ``value`` and, if known, ``error``.

    Complex numbers have the columns re, im, re_error and im_error. An axis of vectors has a column for each component.
    """
    measured = isinstance(thing, Estimate)
    values = thing.mean if measured else thing.values
    for index in np.ndindex(np.shape(values)):
        row = {}
        for axis, i in zip(thing.axes, index):
            if np.ndim(axis.values) == 1:
                row[axis.name] = axis.values[i].item()
            elif measured:
                row |= {f"{axis.name}_{d}": x for d, x in zip(COORDINATES, axis.values[i].tolist())}
            else:  # it moves with the first axis
                row[axis.name] = axis.at(index[0])[i].item()
        value = values[index].item()
        if np.iscomplexobj(values):
            row |= dict(zip(PARTS, parts(value)))
            row |= dict(zip(("re_error", "im_error"), parts(thing.error[index].item()))) if measured else {}
        else:
            row |= {"value": value} | ({"error": thing.error[index].item()} if measured else {})
        yield row


def beside(records: Mapping[str, Recorded]) -> list[dict[str, Any]]:
    """Return a row for each place on the axis that these records of one axis share, with a column for each of them."""
    axis = next(iter(records.values())).axes[0]
    return [{axis.name: place, **{name: record.values[i].item() for name, record in records.items()}}
            for i, place in enumerate(axis.values.tolist())]


def to_csv(rows: Iterable[Mapping[str, Any]], first: Iterable[str] = ()) -> str:
    """Return CSV with the columns of all rows, ``first`` in front; empty where a row has no value."""
    rows = list(rows)
    names = list(dict.fromkeys([*first, *(name for row in rows for name in row)]))
    out = io.StringIO()
    writer = csv.DictWriter(out, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def write_files(folder: Path, files: Mapping[str, bytes | str]) -> list[Path]:
    """Write files by name into a folder, which is made; return their paths. RunError if that cannot be done."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(cannot_write(folder, error)) from error
    for name, content in files.items():
        write_atomically(folder / name, content.encode() if isinstance(content, str) else content)
    return [folder / name for name in files]


def dataframe(rows: Iterable[Mapping[str, Any]]) -> Any:
    """Return the rows as a pandas.DataFrame. ImportError in one line without pandas."""
    return package("pandas").DataFrame(list(rows))
