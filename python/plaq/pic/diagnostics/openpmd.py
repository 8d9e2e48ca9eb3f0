"""Writer of openPMD files, standard 1.1.0 with the ED-PIC extension, one for each time (`data_00000100.h5`).

Numbers are normalised as in plaq; ``unitSI`` converts them to SI where the input has the reference density, and is
1 without it, and the attribute ``plaqUnits`` says so. Weights are those of the standard: real particles (in 1D and 2D
per m² and m) with the reference density; their ``plaqUnit`` is W = n_0 (c/ω_p)^D in that unit. Huebl et al.,
doi:10.5281/zenodo.1167843.

Meshes of a cylinder have the geometry thetaMode, [part, r, z], with the mode 0, then the factors of cos θ, sin θ,
cos 2θ and so on. Its particles are at the azimuth 0 where it has the mode 0 only; x is r and y the azimuthal direction.

Every array has HDF5's checksum (the filter fletcher32) and so has its metadata (HDF5's format 1.10), so that any
reader refuses a file with a changed byte.
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
from plaq.pic.inputs.openpmd_input import NORMALISED, UNITS
from plaq.pic.inputs.setup import Setup
from plaq.pic.inputs.units import ELECTRON_MASS, ELEMENTARY_CHARGE, SPEED_OF_LIGHT
from plaq.pic.plasma import Plasma

PATTERN = "data_%08T.h5"
# Powers of length, mass, time, current, temperature, amount, luminous intensity.
DIMENSIONS = {"E": (1, 1, -3, -1, 0, 0, 0), "B": (0, 1, -2, -1, 0, 0, 0), "J": (-2, 0, 0, 1, 0, 0, 0),
              "rho": (-3, 0, 1, 1, 0, 0, 0), "phi": (2, 1, -3, -1, 0, 0, 0),
              "position": (1, 0, 0, 0, 0, 0, 0), "momentum": (1, 1, -1, 0, 0, 0, 0),
              "charge": (0, 0, 1, 1, 0, 0, 0), "mass": (0, 1, 0, 0, 0, 0, 0), "weighting": (0,) * 7, "id": (0,) * 7}
RECORDS = {"e": "E", "b": "B", "j": "J"}


def record_of(field: str) -> str:
    """Return the name of the openPMD record that has a field as component, or the field's own name."""
    return RECORDS.get(field[:1], field)


def file_name(step: int) -> str:
    return f"data_{step:08d}.h5"


def write(path: Path, plasma: Plasma, software: str) -> None:
    """Write the fields and particles of the input's [output]. Collective; rank 0 writes."""
    setup, output = plasma.setup, plasma.setup.p.output
    fields = {name: [plasma.whole(name, part) for part in range(setup.parts)] for name in output.fields}
    species = {name: gather_particles(plasma, name) for name in output.particles}
    offset = np.array([plasma.offset, 0.0, 0.0][:setup.dimension])
    plasma.comm.on_root(lambda: _write(path, setup, plasma.step, fields, species, offset, software))


def gather_particles(plasma: Plasma, name: str) -> dict[str, np.ndarray] | None:
    """Return positions, momenta, weights and ids of the particles that `sample_mask` selects, on rank 0.

    They are in the order of the patches. A weight is that of all particles that the selected one represents.
    Collective.
    """
    every, patches = plasma.setup.p.output.particles_every, math.prod(plasma.setup.patches)
    local = []
    for patch, part in zip(plasma.core.local_patches(), plasma.particles(name)):
        selected = sample_mask(np.asarray(part["id"]), every, patches)
        part = {key: np.asarray(values)[selected] for key, values in part.items()}
        local.append((patch, {**part, "w": every * part["w"]}))
    parts = plasma.comm.gather(local)
    if parts is None:
        return None
    ordered = [part for _, part in sorted((entry for rank in parts for entry in rank), key=lambda entry: entry[0])]
    return {key: np.concatenate([part[key] for part in ordered]) for key in ordered[0]}


def sample_mask(ids: np.ndarray, every: int, patches: int) -> np.ndarray:
    """Return the mask of the particles that are written [n].

    Of each ``every`` particles that begin in a patch one after the other, a hash of their ids selects one, the same in
    all files. Their sums, times ``every``, are those of all particles in the mean.
    """
    ids = np.asarray(ids, np.uint64)
    number, patch = np.divmod(ids, np.uint64(patches))
    group, position = np.divmod(number, np.uint64(every))
    return position == _hash(group * np.uint64(patches) + patch) % np.uint64(every)


def _hash(words: np.ndarray) -> np.ndarray:
    """Return a hash of each word, uint64 (splitmix64, Steele, Lea, Flood, OOPSLA 2014)."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def weight_unit(setup: Setup) -> float:
    """Return W = n_0 (c/ω_p)^D in real particles, in 1D and 2D per m² and m; 1 without the reference density."""
    units = setup.units
    return 1.0 if units.density is None else units.in_si("length") ** setup.weight_dimension * units.density


def unit_si(setup: Setup, record: str) -> float:
    """Return the unit of plaq's numbers in SI units: E in V/m, J in A/m², rho in C/m³, momentum in kg m/s."""
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
               comment=setup.units.describe(), **({UNITS: NORMALISED} if setup.units.density is None else {}))
        file.attrs["openPMDextension"] = np.uint32(1)
        data = file.create_group(f"data/{step}")
        data.attrs.update(time=step * setup.dt, dt=setup.dt, timeUnitSI=setup.units.in_si("time"))
        _meshes(data.create_group("fields"), setup, fields, offset)
        particles = data.create_group("particles")
        for name, values in species.items():
            _species(particles.create_group(name), setup, setup.p.species[name], values, offset)
    with atomic_file(path) as file:
        file.write(content.getbuffer())


def _texts(group: h5py.Group, **texts: str) -> None:
    for name, text in texts.items():
        group.attrs[name] = np.bytes_(text.encode("ascii", "replace"))


def _array(group: h5py.Group, name: str, values: np.ndarray) -> h5py.Dataset:
    """Create a dataset with a checksum, which an empty one cannot have."""
    return group.create_dataset(name, data=values, fletcher32=values.size > 0)


def _words(words: list[str]) -> np.ndarray:
    return np.array([word.encode() for word in words])


def _meshes(group: h5py.Group, setup: Setup, fields: Mapping[str, np.ndarray], offset: np.ndarray) -> None:
    solvers = {"yee": "Yee", "cowan": "CK", "lehe": "Lehe"}
    _texts(group, fieldSolver=solvers[setup.p.fields.stencil], chargeCorrection="none")
    if passes := setup.p.fields.filter_passes:
        compensated = "true" if setup.p.fields.filter_compensation else "false"
        _texts(group, currentSmoothing="Binomial",
               currentSmoothingParameters=f"period=1;numPasses={passes};compensator={compensated}")
    else:
        _texts(group, currentSmoothing="none")
    outer = [setup.sides("", side)[d] for d in range(setup.dimension) for side in (0, 1)]
    known = {"periodic": "periodic", "conducting": "reflecting", "absorbing": "open", "axis": "other"}
    group.attrs["fieldBoundary"] = _words([known[word] for word in outer])
    inner = [setup.sides("particles_", side)[d] for d in range(setup.dimension) for side in (0, 1)]
    known = {"periodic": "periodic", "absorbed": "absorbing", "reflected": "reflecting", "thermal": "reflecting",
             "axis": "other"}
    group.attrs["particleBoundary"] = _words([known[word] for word in inner])
    for name, words in (("fieldBoundary", outer), ("particleBoundary", inner)):
        if setup.cylinder:
            group.attrs[f"{name}Parameters"] = _words([word if word == "axis" else "none" for word in words])
    order = -1 if setup.cylinder else 1  # of the axes: r, z
    for name, values in fields.items():
        record = record_of(name)
        mesh = group if record == name else group.require_group(record)
        values = np.stack(values).transpose(0, 2, 1) if setup.cylinder else values[0]
        target = _array(mesh, name if record == name else name[1], values)
        about = target if record == name else mesh
        _texts(about, geometry="cartesian", dataOrder="C", fieldSmoothing="none")
        if setup.cylinder:
            _texts(about, geometry="thetaMode", geometryParameters=f"m={setup.p.grid.modes};imag=+")
        about.attrs["axisLabels"] = _words(list(setup.directions)[::order])
        about.attrs["gridSpacing"] = np.array(setup.spacing)[::order]
        about.attrs["gridGlobalOffset"] = offset[::order]
        about.attrs["gridUnitSI"] = setup.units.in_si("length")
        about.attrs["unitDimension"] = np.array(DIMENSIONS[record], float)
        about.attrs["timeOffset"] = -0.5 * setup.dt if record == "J" else 0.0
        half = setup.half.get(f"e{name[1]}" if record == "J" else name, (0, 0, 0))
        target.attrs["position"] = 0.5 * np.array(half[:setup.dimension], float)[::order]
        target.attrs["unitSI"] = unit_si(setup, record)


def _species(group: h5py.Group, setup: Setup, species: Any, values: Mapping[str, np.ndarray],
             offset: np.ndarray) -> None:
    count = len(values["w"])
    group.attrs["particleShape"] = float(setup.p.solver.order)
    pushers = {"boris": "Boris", "vay": "Vay", "higuera_cary": "other:Higuera-Cary"}
    _texts(group, currentDeposition="Esirkepov", particlePush=pushers[species.pusher],
           particleInterpolation=f"{setup.p.solver.gather}Conserving", particleSmoothing="none")

    def record(name: str, parts: Mapping[str, Any], power: float, quantity: str, offset: float = 0.0) -> None:
        holder = group if set(parts) == {""} else group.create_group(name)
        for part, content in parts.items():
            target_name = part or name
            if np.ndim(content):
                target = _array(holder, target_name, content)
            else:  # constant: a group with the value
                target = holder.create_group(target_name)
                target.attrs.update(value=float(content), shape=np.array([count], np.uint64))
            target.attrs["unitSI"] = unit_si(setup, quantity)
        about = holder if holder is not group else group[name]
        about.attrs.update(unitDimension=np.array(DIMENSIONS[quantity], float), timeOffset=offset, weightingPower=power,
                           macroWeighted=np.uint32(quantity == "weighting"))

    place, at = {d: values["x"][:, i] for i, d in enumerate(setup.directions)}, dict(zip(setup.directions, offset))
    momenta = {d: species.mass * values["u"][:, i] for i, d in enumerate(setup.axes)}
    if setup.cylinder:
        cosine, sine = values["azimuth"].T if "azimuth" in values else (1.0, 0.0)
        place, at = ({"x": place["r"] * cosine, "y": place["r"] * sine + np.zeros(count), "z": place["z"]},
                     {"x": 0.0, "y": 0.0, "z": at["z"]})
        momenta = {"x": momenta["r"] * cosine - momenta["t"] * sine, "y": momenta["t"] * cosine + momenta["r"] * sine,
                   "z": momenta["z"]}
    record("position", place, 0.0, "position")
    record("positionOffset", at, 0.0, "position")
    record("momentum", momenta, 1.0, "momentum", offset=-0.5 * setup.dt)
    unit = weight_unit(setup)
    record("weighting", {"": unit * values["w"]}, 1.0, "weighting")
    group["weighting"].attrs["plaqUnit"] = unit
    record("id", {"": values["id"]}, 0.0, "id")
    record("charge", {"": species.charge}, 1.0, "charge")
    record("mass", {"": species.mass}, 1.0, "mass")
