"""File ``spectra.h5`` in the folder of a run: the spectra of its temperatures. The layout is in docs/run_folder.md."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from plaq.data.results_file import image, read_estimate, read_recorded, write_estimate, write_labels
from plaq.dca.continuation.spectra import SpectralPoint
from plaq.dca.parameters import PROGRAM
from plaq.files.atomic import atomic_file
from plaq.files.sealed import Format, open_sealed, seal
from plaq.files.tree import read_tree, write_tree

FORMAT = Format(f"{PROGRAM} spectra", 1, f"remove it, and `{PROGRAM} spectra` writes it again")


def write(path: Path, points: Iterable[SpectralPoint], header: dict[str, Any]) -> None:
    """Replace the file at ``path`` as a whole; RunError if it cannot be written."""
    def fill(file: h5py.File) -> None:
        group = file.create_group("points", track_order=True)
        for point in points:
            write_point(group.create_group(f"{point.index:03d}", track_order=True), point)

    content = image(FORMAT, "", header, {}, fill)
    with atomic_file(path) as file:
        file.write(content.getbuffer())
        seal(file, FORMAT)


def read(path: Path) -> tuple[list[SpectralPoint], dict[str, Any]]:
    """Return spectra and header. InputError if there is no such file, or a damaged one."""
    with open_sealed(path, FORMAT) as file:
        return [read_point(group) for group in file["points"].values()], read_tree(file["header"])


def write_point(group: h5py.Group, point: SpectralPoint) -> None:
    group["T"] = point.T
    estimates = group.create_group("estimates", track_order=True)
    for name, value in point.estimates.items():
        write_estimate(estimates.create_group(name, track_order=True), value)
    recorded = group.create_group("recorded", track_order=True)
    for name, record in point.recorded.items():
        one = recorded.create_group(name, track_order=True)
        one["values"] = record.values
        write_labels(one, record)
    group["representatives"] = point.representatives
    write_tree(group.create_group("path", track_order=True),
               {"labels": point.labels, "ticks": np.asarray(point.ticks), "positions": np.asarray(point.positions)})
    write_tree(group.create_group("fits", track_order=True), {str(i): row for i, row in enumerate(point.fits)})


def read_point(group: h5py.Group) -> SpectralPoint:
    along: dict[str, Any] = read_tree(group["path"])
    return SpectralPoint(
        int(group.name.rpartition("/")[2]), float(group["T"][()]),
        {name: read_estimate(name, item) for name, item in group["estimates"].items()},
        {name: read_recorded(name, item) for name, item in group["recorded"].items()},
        list(read_tree(group["fits"]).values()), group["representatives"][()], along["labels"], along["ticks"],
        along["positions"])
