"""Files in the openPMD standard 1.1.0 with the ED-PIC extension, one for each time (`data_00000100.h5`),
written by h5py.

Numbers are normalised as in plaq; ``unitSI`` takes them to SI where the input names the reference density, and is
1 where it does not. Weights are those of the standard: real particles (in 1D and 2D per m² and m) where the
reference density is named; ``plaqUnit`` of theirs is W = n_0 (c/ω_p)^D in that unit. Huebl et al.,
doi:10.5281/zenodo.1167843.

Every array has HDF5's checksum (the filter fletcher32) and so has all that describes it (HDF5's format 1.10), so
that any reader refuses a file with a byte that is another.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from plaq.files.atomic import atomic_file
from plaq.pic.plasma import Plasma
from plaq.pic.setup import HALF, Setup
from plaq.pic.table import DIRECTIONS
from plaq.pic.units import ELECTRON_MASS, ELEMENTARY_CHARGE, SPEED_OF_LIGHT

PATTERN = "data_%08T.h5"
# Powers of length, mass, time, current, temperature, amount, luminous intensity.
DIMENSIONS = {"E": (1, 1, -3, -1, 0, 0, 0), "B": (0, 1, -2, -1, 0, 0, 0), "J": (-2, 0, 0, 1, 0, 0, 0),
              "rho": (-3, 0, 1, 1, 0, 0, 0), "phi": (2, 1, -3, -1, 0, 0, 0),
              "position": (1, 0, 0, 0, 0, 0, 0), "momentum": (1, 1, -1, 0, 0, 0, 0),
              "charge": (0, 0, 1, 1, 0, 0, 0), "mass": (0, 1, 0, 0, 0, 0, 0), "weighting": (0,) * 7, "id": (0,) * 7}
RECORDS = {"e": "E", "b": "B", "j": "J"}


def record_of(field: str) -> str:
    """Name of the openPMD record of which a field is a component, or its own."""
    return RECORDS.get(field[:1], field)


def file_name(step: int) -> str:
    return f"data_{step:08d}.h5"


def write(path: Path, plasma: Plasma, software: str) -> None:
    """The fields and particles that the input asks for, now. Collective; rank 0 writes."""
    setup, output = plasma.setup, plasma.setup.p.output
    fields = {name: plasma.whole(name) for name in output.fields}
    species = {name: gathered(plasma, name) for name in output.particles}
    offset = np.array([plasma.offset, 0.0, 0.0][:setup.dimension])
    plasma.comm.on_root(lambda: _write(path, setup, plasma.step, fields, species, offset, software))


def gathered(plasma: Plasma, name: str) -> dict[str, np.ndarray] | None:
    """Places, momenta, weights and ids of those of a species that `chosen` takes, in the order of the patches, on
    rank 0. A weight is that of all particles that one stands for. Collective."""
    every, patches = plasma.setup.p.output.particles_every, math.prod(plasma.setup.patches)
    mine = []
    for patch, part in zip(plasma.core.local(), plasma.particles(name)):
        some = chosen(np.asarray(part["id"]), every, patches)
        part = {key: np.asarray(values)[some] for key, values in part.items()}
        mine.append((patch, {**part, "w": every * part["w"]}))
    parts = plasma.comm.gather(mine)
    if parts is None:
        return None
    ordered = [part for _, part in sorted((entry for rank in parts for entry in rank), key=lambda entry: entry[0])]
    return {key: np.concatenate([part[key] for part in ordered]) for key in ("x", "u", "w", "id")}


def chosen(ids: np.ndarray, every: int, patches: int) -> np.ndarray:
    """Mask of the particles that are written [n]: of each ``every`` that began in a patch one after the other,
    one by a hash of their ids, the same in all files. Their sums, times ``every``, are those of all."""
    ids = np.asarray(ids, np.uint64)
    number, patch = np.divmod(ids, np.uint64(patches))
    group, place = np.divmod(number, np.uint64(every))
    return place == _mixed(group * np.uint64(patches) + patch) % np.uint64(every)


def _mixed(words: np.ndarray) -> np.ndarray:
    """uint64: the bits of each in disorder (splitmix64, Steele, Lea, Flood, OOPSLA 2014)."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def weight_unit(setup: Setup) -> float:
    """W = n_0 (c/ω_p)^D in real particles, in 1D and 2D per m² and m; 1 where the reference density is not named."""
    units = setup.units
    return 1.0 if units.density is None else units.in_si("length") ** setup.dimension * units.density


def unit_si(setup: Setup, record: str) -> float:
    """Of plaq's number in SI units: E in V/m, J in A/m², rho in C/m³, momentum in kg m/s."""
    units = setup.units
    if units.density is None:
        return 1.0
    charge = ELEMENTARY_CHARGE * units.density
    return {"E": units.in_si("E"), "B": units.in_si("B"), "J": charge * SPEED_OF_LIGHT, "rho": charge,
            "phi": units.in_si("potential"),
            "position": units.in_si("length"), "momentum": ELECTRON_MASS * SPEED_OF_LIGHT,
            "charge": ELEMENTARY_CHARGE, "mass": ELECTRON_MASS, "weighting": 1.0,
            "id": 1.0}[record]


def _write(path: Path, setup: Setup, step: int, fields: Mapping[str, np.ndarray], species: Mapping[str, Any],
           offset: np.ndarray, software: str) -> None:
    content = io.BytesIO()
    with h5py.File(content, "w", libver=("v110", "v110")) as file:
        _texts(file, openPMD="1.1.0", basePath="/data/%T/", meshesPath="fields/", particlesPath="particles/",
               iterationEncoding="fileBased", iterationFormat=PATTERN, software="plaq", softwareVersion=software,
               comment=setup.units.in_words())
        file.attrs["openPMDextension"] = np.uint32(1)
        data = file.create_group(f"data/{step}")
        data.attrs.update(time=step * setup.dt, dt=setup.dt, timeUnitSI=setup.units.in_si("time"))
        _meshes(data.create_group("fields"), setup, fields, offset)
        particles = data.create_group("particles")
        for name, found in species.items():
            _species(particles.create_group(name), setup, setup.p.species[name], found, offset)
    with atomic_file(path) as file:
        file.write(content.getbuffer())


def _texts(group: h5py.Group, **texts: str) -> None:
    for name, text in texts.items():
        group.attrs[name] = np.bytes_(text.encode("ascii", "replace"))


def _array(group: h5py.Group, name: str, values: np.ndarray) -> h5py.Dataset:
    """With a checksum, which only what is not empty can have."""
    return group.create_dataset(name, data=values, fletcher32=values.size > 0)


def _words(words: list[str]) -> np.ndarray:
    return np.array([word.encode() for word in words])


def _meshes(group: h5py.Group, setup: Setup, fields: Mapping[str, np.ndarray], offset: np.ndarray) -> None:
    _texts(group, fieldSolver="CK" if setup.p.fields.stencil == "cowan" else "Yee", currentSmoothing="none",
           chargeCorrection="none")
    outer = [setup.sides("", side)[d] for d in range(setup.dimension) for side in (0, 1)]
    known = {"periodic": "periodic", "conducting": "reflecting", "absorbing": "open"}
    group.attrs["fieldBoundary"] = _words([known[word] for word in outer])
    inner = [setup.sides("particles_", side)[d] for d in range(setup.dimension) for side in (0, 1)]
    known = {"periodic": "periodic", "absorbed": "absorbing", "reflected": "reflecting", "thermal": "reflecting"}
    group.attrs["particleBoundary"] = _words([known[word] for word in inner])
    for name, values in fields.items():
        record = record_of(name)
        mesh = group if record == name else group.require_group(record)
        target = _array(mesh, name if record == name else name[1], values)
        about = target if record == name else mesh
        _texts(about, geometry="cartesian", dataOrder="C", fieldSmoothing="none")
        about.attrs["axisLabels"] = _words(list(setup.directions))
        about.attrs["gridSpacing"] = np.array(setup.spacing)
        about.attrs["gridGlobalOffset"] = offset
        about.attrs["gridUnitSI"] = setup.units.in_si("length")
        about.attrs["unitDimension"] = np.array(DIMENSIONS[record], float)
        about.attrs["timeOffset"] = -0.5 * setup.dt if record == "J" else 0.0
        half = HALF.get(f"e{name[1]}" if record == "J" else name, (0, 0, 0))
        target.attrs["position"] = 0.5 * np.array(half[:setup.dimension], float)
        target.attrs["unitSI"] = unit_si(setup, record)


def _species(group: h5py.Group, setup: Setup, one: Any, found: Mapping[str, np.ndarray], offset: np.ndarray) -> None:
    count = len(found["w"])
    group.attrs["particleShape"] = float(setup.p.solver.order)
    pushers = {"boris": "Boris", "vay": "Vay", "higuera_cary": "other:Higuera-Cary"}
    _texts(group, currentDeposition="Esirkepov", particlePush=pushers[one.pusher],
           particleInterpolation="momentumConserving", particleSmoothing="none")

    def record(name: str, parts: Mapping[str, Any], power: float, kind: str, offset: float = 0.0) -> None:
        holder = group if set(parts) == {""} else group.create_group(name)
        for part, values in parts.items():
            where = part or name
            if np.ndim(values):
                target = _array(holder, where, values)
            else:  # the same for all: a group with the value
                target = holder.create_group(where)
                target.attrs.update(value=float(values), shape=np.array([count], np.uint64))
            target.attrs["unitSI"] = unit_si(setup, kind)
        about = holder if holder is not group else group[name]
        about.attrs.update(unitDimension=np.array(DIMENSIONS[kind], float), timeOffset=offset, weightingPower=power,
                           macroWeighted=np.uint32(kind == "weighting"))

    record("position", {d: found["x"][:, i] for i, d in enumerate(setup.directions)}, 0.0, "position")
    record("positionOffset", dict(zip(setup.directions, offset.tolist())), 0.0, "position")
    momenta = {d: one.mass * found["u"][:, i] for i, d in enumerate(DIRECTIONS)}
    record("momentum", momenta, 1.0, "momentum", offset=-0.5 * setup.dt)
    unit = weight_unit(setup)
    record("weighting", {"": unit * found["w"]}, 1.0, "weighting")
    group["weighting"].attrs["plaqUnit"] = unit
    record("id", {"": found["id"]}, 0.0, "id")
    record("charge", {"": one.charge}, 1.0, "charge")
    record("mass", {"": one.mass}, 1.0, "mass")
