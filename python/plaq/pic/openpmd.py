"""Files in the openPMD standard 1.1.0 with the ED-PIC extension, one for each time (`data_00000100.h5`),
written by h5py.

Numbers are normalised as in plaq; ``unitSI`` takes them to SI where the input names the reference density, and is
1 where it does not. Huebl et al., doi:10.5281/zenodo.1167843.
"""

from __future__ import annotations

import io
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
              "rho": (-3, 0, 1, 1, 0, 0, 0), "position": (1, 0, 0, 0, 0, 0, 0), "momentum": (1, 1, -1, 0, 0, 0, 0),
              "charge": (0, 0, 1, 1, 0, 0, 0), "mass": (0, 1, 0, 0, 0, 0, 0), "weighting": (0,) * 7}
RECORDS = {"e": "E", "b": "B", "j": "J"}


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
    """Places, momenta and weights of every n-th particle of a patch, in the order of the patches; on rank 0.
    Collective."""
    every = plasma.setup.p.output.particles_every
    mine = [(patch, {key: np.asarray(values)[::every] for key, values in part.items()})
            for patch, part in zip(plasma.core.local(), plasma.particles(name))]
    parts = plasma.comm.gather(mine)
    if parts is None:
        return None
    ordered = [part for _, part in sorted((entry for rank in parts for entry in rank), key=lambda entry: entry[0])]
    return {key: np.concatenate([part[key] for part in ordered]) for key in ("x", "u", "w")}


def unit_si(setup: Setup, record: str) -> float:
    """Of plaq's number in SI units: E in V/m, J in A/m², rho in C/m³, momentum in kg m/s."""
    units = setup.units
    if units.density is None:
        return 1.0
    charge = ELEMENTARY_CHARGE * units.density
    # of the weights: n_0 (c/ω_p)^D, per m² or m in 1D, 2D
    volume = units.in_si("length") ** setup.dimension * units.density
    return {"E": units.in_si("E"), "B": units.in_si("B"), "J": charge * SPEED_OF_LIGHT, "rho": charge,
            "position": units.in_si("length"), "momentum": ELECTRON_MASS * SPEED_OF_LIGHT,
            "charge": ELEMENTARY_CHARGE, "mass": ELECTRON_MASS, "weighting": volume}[record]


def _write(path: Path, setup: Setup, step: int, fields: Mapping[str, np.ndarray], species: Mapping[str, Any],
           offset: np.ndarray, software: str) -> None:
    content = io.BytesIO()
    with h5py.File(content, "w") as file:
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
        record = RECORDS.get(name[0], name)
        mesh = group if record == name else group.require_group(record)
        target = mesh.create_dataset(name if record == name else name[1], data=values)
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
                target = holder.create_dataset(where, data=values)
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
    record("weighting", {"": found["w"]}, 1.0, "weighting")
    record("charge", {"": one.charge}, 1.0, "charge")
    record("mass", {"": one.mass}, 1.0, "mass")
