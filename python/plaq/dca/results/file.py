"""File ``results.h5`` of `plaq dca`: points, by temperature, and the transition, beside plaq.data.results_file.

Its layout is on the page docs/run_folder.md.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import h5py
import numpy as np

from plaq.data.axes_file import name_dimensions
from plaq.data.results_file import PARTS, digest_line_of, format_of, image, read_estimate, write_estimate, write_labels
from plaq.dca.parameters import PROGRAM, Parameters
from plaq.dca.physics.point import Point
from plaq.dca.physics.transition import Transition
from plaq.dca.results.results import Results, plain
from plaq.dca.solver.distributed_g4 import DistributedEstimate
from plaq.errors import InputError
from plaq.files.atomic import atomic_file
from plaq.files.sealed import SealedFile, open_sealed, seal
from plaq.files.tree import digest, read_tree, write_tree

FORMAT = format_of(PROGRAM)


def write_results(path: Path, results: Results, input_toml: str, header: dict[str, Any],
                  distributed: Mapping[int, Mapping[str, DistributedEstimate]] = {}) -> dict[str, str]:
    """Replace the file at ``path`` as a whole; RunError when it cannot be written, and the previous one is then kept.

    ``distributed`` has estimates by index of the point and name that are gathered from all ranks block by block; other
    names in a point's ``in_file`` are copied from the previous file. Returns the digests of all these, {path in the
    file: digest}, by which a checkpoint knows them.
    """
    def fill(file: h5py.File) -> None:
        points = file.create_group("points", track_order=True)
        for point in results.points:
            _write_point(points.create_group(_name(point.index), track_order=True), point, results.unit)
        if results.transition is not None:
            write_tree(file.create_group("transition", track_order=True), plain(results.transition))

    content = image(FORMAT, input_toml, header, results.seconds, fill)
    with atomic_file(path) as file:
        file.write(content.getbuffer())
        digests = {}
        if any(point.in_file for point in results.points):
            _add_functions(path, file, results, distributed)
            with h5py.File(file.name, "r", locking=False) as large:
                digests = {place: digest(large[place]) for place in places(results.points)}
        seal(file, FORMAT)
    return digests


def places(points: Collection[Point]) -> list[str]:
    """Return the paths in the file of the two-particle functions that the points list."""
    return [f"points/{_name(point.index)}/observables/{name}" for point in points for name in point.in_file]


def _add_functions(path: Path, file: BinaryIO, results: Results,
                   distributed: Mapping[int, Mapping[str, DistributedEstimate]]) -> None:
    """Add two-particle functions that no rank has as a whole, from all ranks or from the previous file."""
    with ExitStack() as stack:
        file.flush()
        fresh = {(point.index, name) for point in results.points for name in point.in_file
                 if name in distributed.get(point.index, {})}
        kept = [f"points/{_name(point.index)}/observables/{name}" for point in results.points
                for name in point.in_file if (point.index, name) not in fresh]
        previous = None
        if kept:
            previous = stack.enter_context(h5py.File(stack.enter_context(SealedFile(path, FORMAT)), "r"))
            _require(kept, previous, path)
        size = file.tell() + sum(previous[f"{place}/{part}"].nbytes for place in kept for part in PARTS)
        size += sum(distributed[index][name].nbytes for index, name in fresh)
        os.posix_fallocate(file.fileno(), 0, size)  # a full disk is an error here, before HDF5 writes
        with h5py.File(file.name, "r+", locking=False) as large:  # atomic_file has locked it
            for place in kept:
                previous.copy(place, large, place)
                name_dimensions(large[place])
            for index, estimates in distributed.items():
                for name, estimate in estimates.items():
                    _write_distributed(large.create_group(f"points/{_name(index)}/observables/{name}"), estimate)


def _require(places: list[str], file: h5py.File, path: Path) -> None:
    for place in places:
        if place not in file:
            raise InputError(f"{path}: {place} is not there")


def check_functions(path: Path, points: list[Point], inputs: Collection[str], digests: Mapping[str, str]) -> None:
    """Raise InputError unless the file at ``path`` is undamaged, belongs to one of ``inputs``, and has all functions.

    inputs : names of inputs in headers; digests : {path in the file: digest} of the functions that the points list.
    """
    required = places(points)
    if not required:
        return
    if not path.exists():
        raise InputError(f"{path}: {required[0]} is not there, as there is no such file")
    with open_sealed(path, FORMAT) as file:
        if read_tree(file["header"]).get("input") not in inputs:
            raise InputError(f"{path}: holds the results of another input")
        _require(required, file, path)
        for place in required:
            if digest(file[place]) != digests[place]:
                raise InputError(f"{path}: {place} is not that of the checkpoint beside it")
    with SealedFile(path, FORMAT) as file:
        file.verify()


@dataclass(frozen=True)
class StoredRun:
    """Content of a run's ``results.h5``, without its two-particle functions; ``digest`` as of `digest_line`."""

    results: Results
    parameters: Parameters
    header: dict[str, Any]
    digest: str


def read_run(folder: Path) -> StoredRun:
    """Read ``results.h5`` of a run folder once, for its figures, report and digest. InputError where it is damaged."""
    with open_sealed(folder / "results.h5", FORMAT) as file:
        results, toml, header = _read(file, functions=False)
        return StoredRun(results, Parameters("input", **tomllib.loads(toml)), header, digest_line_of(file))


def read_results(path: Path, functions: bool = True) -> tuple[Results, str, dict[str, Any]]:
    """Return (results, input as TOML, header of the run). InputError when it is not such a file.

    Without ``functions`` the two-particle functions, which may be large, are left out.
    """
    with open_sealed(path, FORMAT) as file:
        return _read(file, functions)


def _read(file: h5py.File, functions: bool) -> tuple[Results, str, dict[str, Any]]:
    points = [_read_point(group, functions) for group in file["points"].values()]
    transition = Transition(**read_tree(file["transition"])) if "transition" in file else None
    toml = file["input"].asstr()[()]
    return Results(points, transition, read_tree(file["seconds"]), toml), toml, read_tree(file["header"])


def _name(index: int) -> str:
    return f"{index:03d}"


def _write_point(group: h5py.Group, point: Point, unit: str) -> None:
    for name, value, of in [("T", point.T, unit), ("beta", point.beta, unit and f"1/{unit}"), ("mu", point.mu, unit)]:
        group.create_dataset(name, data=float(value)).attrs["unit"] = of
    if point.representatives is not None:
        group["representatives"] = point.representatives
    observables = group.create_group("observables", track_order=True)
    for name, estimate in point.observables.items():
        write_estimate(observables.create_group(name, track_order=True), estimate)
    history = [{key: value for key, value in record.items() if key != "seconds"} for record in point.history]
    _write_columns(group.create_group("history", track_order=True), history)
    _write_columns(
        group.create_group("history/seconds", track_order=True),
        [record.get("seconds", {}) for record in point.history],
    )
    for name, values in point.functions.items():
        group[f"history/functions/{name}"] = values
    write_tree(group.create_group("seconds", track_order=True), {k: float(v) for k, v in point.seconds.items()})


def _read_point(group: h5py.Group, functions: bool) -> Point:
    observables = {name: read_estimate(name, item) for name, item in group["observables"].items()
                   if functions or not name.startswith("G4_")}
    history = _read_columns(group["history"])
    for record, seconds in zip(history, _read_columns(group["history/seconds"])):
        record["seconds"] = seconds
    T, beta, mu = (float(group[name][()]) for name in ("T", "beta", "mu"))
    index = int(group.name.rpartition("/")[2])
    kept = group["history"].get("functions", {})
    return Point(index, T, beta, mu, observables, history, read_tree(group["seconds"]),
                 functions={name: values[()] for name, values in kept.items()},
                 representatives=group["representatives"][()] if "representatives" in group else None)


def _write_distributed(group: h5py.Group, estimate: DistributedEstimate) -> None:
    shape = estimate.function.shape
    values = {part: group.create_dataset(part, shape, getattr(estimate, part).dtype) for part in PARTS}
    for part, first, rows in estimate.blocks():
        estimate.function.place(values[part], first, rows)
    write_labels(group, estimate)


def _write_columns(group: h5py.Group, records: list[dict[str, Any]]) -> None:
    """Write one array per column, of numbers or of texts; a number that is missing or None is nan."""
    for column in dict.fromkeys(key for record in records for key in record):
        values = [record.get(column) for record in records]
        if any(isinstance(value, str) for value in values):
            group.create_dataset(column, data=[str(value) for value in values], dtype=h5py.string_dtype())
        else:
            group.create_dataset(column, data=np.array([np.nan if value is None else value for value in values]))


def _read_columns(group: h5py.Group) -> list[dict[str, Any]]:
    columns = {
        name: (item.asstr()[()] if h5py.check_string_dtype(item.dtype) else item[()]).tolist()
        for name, item in group.items()
        if isinstance(item, h5py.Dataset)
    }
    return [dict(zip(columns, row)) for row in zip(*columns.values())]
