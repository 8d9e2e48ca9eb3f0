"""Particles that an input has from openPMD files, and the writer of such files from arrays."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from plaq.errors import InputError
from plaq.files.atomic import atomic_file
from plaq.pic.inputs.openpmd_input import NORMALISED, UNITS, read_particles
from plaq.pic.inputs.units import ELECTRON_MASS, SPEED_OF_LIGHT, Units

if TYPE_CHECKING:
    from plaq.pic.inputs.setup import Setup


def particles_of(setup: Setup, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return x [n, D], u [n, 3], w [n] of the particles of a species' file, normalised.

    They are read once for a setup. InputError for one outside the box.
    """
    if name not in setup.from_files:
        species = setup.p.species[name]
        x, u, w = read_particles(species.file, species.checksum, species.file_species, setup, species.mass)
        for d, (coordinate, length) in enumerate(zip(x.T, setup.lengths)):
            outside = ~((coordinate >= 0) & (coordinate < length))
            if outside.any():
                where = coordinate[np.argmax(outside)] / setup.length_unit
                raise InputError(f"{species.file}: {outside.sum()} of {len(w)} particles of species.{name} are outside "
                                 f"the box, one at {setup.directions[d]} = {where:.6g}")
        setup.from_files[name] = x, u, w
    return setup.from_files[name]


def mean_velocity(setup: Setup, name: str) -> tuple[int, float]:
    """Return the direction and β of the mean momentum of a species, along its largest component."""
    species = setup.p.species[name]
    if species.file is not None:
        _, u, w = particles_of(setup, name)
        mean = w @ u / w.sum()
    else:
        mean = np.array(species.drift, float)
    mean = mean[:setup.dimension]
    dimension = int(np.argmax(np.abs(mean)))
    return dimension, float(mean[dimension] / np.sqrt(1 + mean[dimension] ** 2))


def patches_of(setup: Setup, x: np.ndarray) -> np.ndarray:
    """Return the number of the patch of each position, x fastest."""
    number = np.zeros(len(x), np.int64)
    for d in reversed(range(setup.dimension)):
        cell = np.clip(np.floor(x[:, d] / setup.spacing[d]).astype(np.int64), 0, setup.cells[d] - 1)
        number = number * setup.patches[d] + np.searchsorted(setup.starts[d], cell, side="right") - 1
    return number


def write_particles(path: str | Path, name: str, x: Any, u: Any, w: Any, *, mass: float = 1.0,
                    units: Units | None = None) -> None:
    """Write particles from arrays to an openPMD file, for ``species.NAME.file`` of an input.

    x [n, D] in c/ω_p, u [n, 3] = γβ, w [n] in W = n_0 (c/ω_p)^D of the input that reads the file; ``mass`` is that of
    the species, in m_e. With ``units`` the file has units of SI, which other codes read, too: with
    ``plaq.pic.Units("SI", n_0)`` x is in m, w are real particles, in 1D and 2D per m² and m.
    """
    x, u, w = (np.asarray(values, float) for values in (x, u, w))
    x = x[:, None] if x.ndim == 1 else x
    if w.ndim != 1 or x.shape[0] != len(w) or u.shape != (len(w), 3) or x.ndim != 2 or not 1 <= x.shape[1] <= 3:
        raise InputError(f"write_particles: x {x.shape}, u {u.shape}, w {w.shape}: their shapes are [n, D], [n, 3], "
                         "[n]")
    units = units or Units()
    momentum_unit = 1.0 if units.density is None else ELECTRON_MASS * SPEED_OF_LIGHT
    length = units.in_si("length") if units.system == "normalised" else 1.0
    if units.density is not None and units.system == "normalised":
        w = w * length ** x.shape[1] * units.density
    content = io.BytesIO()
    with h5py.File(content, "w") as out:
        for key, text in (("openPMD", "1.1.0"), ("basePath", "/data/%T/"), ("particlesPath", "particles/"),
                          ("iterationEncoding", "fileBased"), ("iterationFormat", Path(path).name)):
            out.attrs[key] = np.bytes_(text.encode())
        out.attrs["openPMDextension"] = np.uint32(0)
        if units.density is None:
            out.attrs[UNITS] = np.bytes_(NORMALISED.encode())
        step = out.create_group("data/0")
        step.attrs.update(time=0.0, dt=1.0, timeUnitSI=1.0)
        group = step.create_group(f"particles/{name}")

        def record(key: str, values: np.ndarray, unit: float, dimension: tuple[int, ...]) -> None:
            columns = {"xyz"[i]: values[:, i] for i in range(values.shape[1])} if values.ndim == 2 else {"": values}
            for part, column in columns.items():
                target = group.create_dataset(f"{key}/{part}" if part else key, data=column)
                target.attrs["unitSI"] = unit
            group[key].attrs.update(unitDimension=np.array(dimension, float), timeOffset=0.0)

        record("position", x, length, (1, 0, 0, 0, 0, 0, 0))
        record("positionOffset", np.zeros_like(x), length, (1, 0, 0, 0, 0, 0, 0))
        record("momentum", mass * u, momentum_unit, (1, 1, -1, 0, 0, 0, 0))
        record("weighting", w, 1.0, (0,) * 7)
    with atomic_file(Path(path)) as file:
        file.write(content.getbuffer())
