"""Reader of openPMD files (HDF5) that an input names: fields on a mesh, particles."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from plaq.errors import InputError
from plaq.files.guard import open_file, reading
from plaq.pic.inputs.table import DIRECTIONS
from plaq.pic.inputs.units import ELECTRON_MASS, SPEED_OF_LIGHT

if TYPE_CHECKING:
    from plaq.pic.inputs.setup import Setup

PIECE = 1 << 22  # bytes
UNITS, NORMALISED = "plaqUnits", "normalised"  # attribute of files whose unitSI of 1 is no unit of SI


def checksum(path: str | Path) -> str:
    """Return the SHA-256 of a file's content."""
    with reading(path, "a file"), os.fdopen(open_file(path), "rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def read_maps(path: str, expected: str, setup: Setup) -> dict[str, tuple[list[float], list[float], np.ndarray]]:
    """Return (first point, spacing, values [x, y, z]), normalised, of the components ex, … bz that a file has."""
    maps = {}
    with _iteration(path, expected) as (file, group):
        meshes = _part(path, file, group, "meshesPath")
        for kind in "eb":
            if (record := meshes.get(kind.upper())) is None:
                continue
            first, spacing = _mesh(path, record, setup)
            for d in DIRECTIONS:
                if d in record:
                    values, unit = _values(record[d]), _si_factor(path, record[d], setup, kind.upper())
                    if values.ndim != setup.dimension or not np.isfinite(values).all():
                        raise InputError(f"{path}: {kind.upper()}/{d} has {values.ndim} directions, grid.cells has "
                                         f"{setup.dimension}" if values.ndim != setup.dimension
                                         else f"{path}: {kind.upper()}/{d} has a value that is not finite")
                    at = np.asarray(record[d].attrs.get("position", np.zeros(setup.dimension)), float)
                    maps[f"{kind}{d}"] = ((first + at * spacing).tolist(), spacing.tolist(), unit * values)
        if not maps:
            raise InputError(f"{path}: has no mesh E or B with components x, y, z")
    return maps


def read_particles(path: str, expected: str, name: str | None, setup: Setup,
                   mass: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return x [n, D] in the box, u [n, 3], w [n] of the particles of a species in a file, normalised."""
    with _iteration(path, expected) as (file, group):
        all_species = _part(path, file, group, "particlesPath")
        if name is None and len(all_species) != 1:
            raise InputError(f"{path}: has the species {', '.join(all_species)}: name one")
        name = name if name is not None else next(iter(all_species))
        if name not in all_species:
            raise InputError(f"{path}: has no species {name}, but {', '.join(all_species) or 'none'}")
        part = all_species[name]

        def record(key: str, component: str, quantity: str) -> np.ndarray:
            source = part[key] if not component else part[key][component]
            return _values(source) * _si_factor(path, source, setup, quantity)

        x = np.stack([record("position", d, "length") + (record("positionOffset", d, "length")
                                                        if d in part.get("positionOffset", ()) else 0.0)
                      for d in setup.directions], axis=1)
        w = record("weighting", "", "weight")
        u = np.zeros((len(w), 3))
        for i, d in enumerate(DIRECTIONS):
            if d in part["momentum"]:
                u[:, i] = record("momentum", d, "momentum") / mass
        if not (np.isfinite(x).all() and np.isfinite(u).all() and np.isfinite(w).all() and (w >= 0).all()):
            raise InputError(f"{path}: {name} has a position, momentum or weight that is not finite, or a weight "
                             "below 0")
        return x, u, w


@contextmanager
def open_mesh(path: str, expected: str, name: str) -> Iterator[h5py.Dataset]:
    """Open the scalar mesh of this name in the last iteration of a file, whose checksum is that of the input."""
    with _iteration(path, expected) as (file, group):
        mesh = _part(path, file, group, "meshesPath").get(name)
        if not isinstance(mesh, h5py.Dataset):
            raise InputError(f"{path}: has no mesh {name} of one component")
        yield mesh


@contextmanager
def _iteration(path: str, expected: str) -> Iterator[tuple[h5py.File, h5py.Group]]:
    """Open the last iteration of a file, whose checksum is that of the input."""
    found = checksum(path)
    if found != expected:
        raise InputError(f"{path}: has changed: its SHA-256 is {found[:16]}…, that of the input {expected[:16]}…")
    with reading(path, "an openPMD file in HDF5"), os.fdopen(open_file(path), "rb") as content, \
            h5py.File(content, "r") as file:
        if "data" not in file or not len(file["data"]):
            raise InputError(f"{path}: is not an openPMD file: it has no /data")
        yield file, file["data"][max(file["data"], key=int)]


def _part(path: str, file: h5py.File, group: h5py.Group, attribute: str) -> h5py.Group:
    name = text_of(file.attrs.get(attribute, "")).strip("/")
    if not name or name not in group:
        raise InputError(f"{path}: has no {'fields' if attribute == 'meshesPath' else 'particles'}")
    return group[name]


def text_of(value: Any) -> str:
    """Return the text of an attribute."""
    return value.decode() if isinstance(value, bytes) else str(value)


def _mesh(path: str, record: h5py.Group, setup: Setup) -> tuple[np.ndarray, np.ndarray]:
    """Return the origin and spacing of a mesh, normalised."""
    labels = [text_of(label) for label in record.attrs["axisLabels"]]
    if text_of(record.attrs.get("geometry", "cartesian")) != "cartesian" or labels != list(setup.directions):
        raise InputError(f"{path}: a mesh with the axes {', '.join(labels)}: it must be cartesian with "
                         f"{', '.join(setup.directions)}")
    unit = _si_factor(path, record, setup, "length", "gridUnitSI")
    return (np.asarray(record.attrs["gridGlobalOffset"], float) * unit,
            np.asarray(record.attrs["gridSpacing"], float) * unit)


def _values(source: h5py.Dataset | h5py.Group) -> np.ndarray:
    """Return the values of a component, or of one that is constant."""
    if isinstance(source, h5py.Group):
        return np.full(tuple(np.atleast_1d(source.attrs["shape"]).astype(int)), float(source.attrs["value"]))
    return np.asarray(source[()], float)


def _si_factor(path: str, source: Any, setup: Setup, quantity: str, attribute: str = "unitSI") -> float:
    """Return the unit of a record in normalised units.

    Without units.density a file has to have those, unitSI = 1; files of plaq say so.
    """
    units, unit_si = setup.units, float(source.attrs[attribute])
    if text_of(source.file.attrs.get(UNITS, "")) == NORMALISED:
        return 1.0
    if units.density is None:
        if unit_si != 1.0:
            raise InputError(f"{path}: has SI units: the input needs units.density")
        return 1.0
    normalised = {"momentum": ELECTRON_MASS * SPEED_OF_LIGHT,
                  "weight": units.in_si("length") ** setup.dimension * units.density}
    return unit_si / (normalised[quantity] if quantity in normalised else units.in_si(quantity))
