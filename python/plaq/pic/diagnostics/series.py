"""Reader of the openPMD files of a run: fields and particles at the written times."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import h5py
import numpy as np

from plaq.errors import InputError
from plaq.files.guard import open_file, reading
from plaq.pic.diagnostics.openpmd import PATTERN, file_name, record_of
from plaq.pic.inputs.table import COMPONENTS

NAME = re.compile(r"data_(\d{8})\.h5")


class Series:
    """Files below a run's folder, or in a folder ``openpmd`` itself; InputError where there are none.

    steps : written steps, in order.
    """

    def __init__(self, folder: str | Path):
        folder = Path(folder)
        self.folder = folder / "openpmd" if (folder / "openpmd").is_dir() else folder
        names = (NAME.fullmatch(name) for name in (os.listdir(self.folder) if self.folder.is_dir() else ()))
        self.steps = sorted(int(name[1]) for name in names if name)
        if not self.steps:
            raise InputError(f"{self.folder}: has no files {PATTERN}; output.every is the number of steps between them")

    def time(self, step: int) -> float:
        """Return the time of a step in 1/ω_p."""
        with self._data(step) as data:
            return float(data.attrs["time"])

    def field(self, name: str, step: int, azimuth: float = 0.0) -> np.ndarray:
        """Return ex … bz, jx … jz, rho or phi on the whole grid [x, y, z], in the normalised units of plaq.

        Of a cylinder ez, er, et, …, [z, r], at an azimuth.
        """
        with self._data(step) as data:
            group = data["fields"]
            record = record_of(name)
            path = record if record == name else f"{record}/{name[1:]}"
            if name not in COMPONENTS or path not in group:
                raise InputError(f"{self.folder / file_name(step)}: has no field {name}; output.fields lists "
                                 "the written ones")
            values = np.asarray(group[path][()], float)
            if group[record].attrs["geometry"] != b"thetaMode":
                return values
            parts = np.arange(len(values))  # the mode 0, then the factors of cos θ, sin θ, cos 2θ, ...
            angle = (parts + 1) // 2 * azimuth
            return np.tensordot(np.where(parts % 2, np.cos(angle), np.where(parts, np.sin(angle), 1.0)), values, 1).T

    def particles(self, species: str, step: int) -> dict[str, np.ndarray]:
        """Return ``x`` [n, D], ``u`` [n, 3], ``w`` [n] in W and ``id`` [n] of a species, in the order of the ids.

        Of a cylinder x, y, z at the azimuth 0: y is 0.
        """
        with self._data(step) as data:
            if species not in data["particles"]:
                raise InputError(f"{self.folder / file_name(step)}: has no species {species}; output.particles "
                                 "lists the written ones")
            group = data["particles"][species]
            mass = float(group["mass"].attrs["value"])
            x = np.stack([group["position"][d][()] for d in "xyz" if d in group["position"]], axis=1)
            u = np.stack([group["momentum"][d][()] for d in "xyz"], axis=1) / mass
            w = np.asarray(group["weighting"][()], float) / float(group["weighting"].attrs["plaqUnit"])
            ids = group["id"][()]
            order = np.argsort(ids)
            return {"x": x[order], "u": u[order], "w": w[order], "id": ids[order]}

    @contextmanager
    def _data(self, step: int) -> Iterator[h5py.Group]:
        path = self.folder / file_name(step)
        if step not in self.steps:
            raise InputError(f"{path}: there is no such step; there are {', '.join(map(str, self.steps[:20]))}"
                             f"{', …' if len(self.steps) > 20 else ''}")
        with reading(path, "an openPMD file of plaq"):
            with os.fdopen(open_file(path), "rb") as content, h5py.File(content, "r") as file:
                yield file[f"data/{step}"]
