"""The core's plasma of an input: made, filled from the profiles or from a checkpoint, and asked for what it holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from plaq import _core
from plaq.comm.communicator import Communicator
from plaq.machine import pool_options
from plaq.pic import quiet
from plaq.pic.loads import Loads
from plaq.pic.setup import HALF, Setup
from plaq.pic.table import DIRECTIONS


def plan_of(setup: Setup) -> _core.pic.Plan:
    """What the core is asked to do."""
    p, plan = setup.p, _core.pic.Plan()
    plan.cells, plan.lengths, plan.patches = list(setup.cells), list(setup.lengths), list(setup.patches)
    plan.dt, plan.order, plan.seed = setup.dt, p.solver.order, p.solver.seed
    plan.low, plan.high = setup.sides("", 0), setup.sides("", 1)
    plan.particles_low, plan.particles_high = setup.sides("particles_", 0), setup.sides("particles_", 1)
    plan.layer = p.boundaries.layer
    plan.wall_temperature = p.boundaries.wall_temperature * setup.units.of("temperature")
    plan.species = [_core.pic.Species(name, one.charge, one.mass, one.pusher) for name, one in p.species.items()]
    plan.electrostatic = p.fields.solver == "electrostatic"
    plan.potentials_low, plan.potentials_high = setup.potentials(0), setup.potentials(1)
    plan.emitters = [emitter_of(setup, name) for name in p.emission]
    return plan


def emitter_of(setup: Setup, name: str) -> _core.pic.Emitter:
    plate = setup.p.emission[name]
    normal = np.array(plate.normal) / np.linalg.norm(plate.normal)
    return _core.pic.Emitter(
        list(setup.p.species).index(plate.species), [x * setup.length_unit for x in plate.at], normal.tolist(),
        (plate.half_width or 0.0) * setup.length_unit, [] if plate.flux is None else setup.flux(name).tolist(),
        setup.cell_volume / plate.per_cell, plate.temperature * setup.units.of("temperature"), plate.drift,
        plate.space_charge_limited)


class Plasma:
    """The patches of this rank, and all of them together. Collective but for what says "local". ``folder``: a checkpoint."""

    def __init__(self, setup: Setup, comm: Communicator, loads: Loads, folder: Path | None = None):
        p = setup.p
        self.setup, self.comm = setup, comm
        self.core = _core.pic.Plasma.make(plan_of(setup), comm.native, p.run.threads, pool_options(p.run.workers, p.run.bind),
                                     precision=p.solver.precision, estimate=loads.work().tolist(),
                                     folder=str(folder or ""))
        self.columns = list(self.core.columns)
        self.names = list(p.species)

    @property
    def step(self) -> int:
        return self.core.step

    def fill(self) -> None:
        """The first state: particles and fields of the profiles."""
        self.comm.together(self._load_all)
        if self.setup.p.fields.of_charges:
            self.core.solve_poisson()
        self.comm.together(self._add_fields)
        self.core.start()

    def _load_all(self) -> None:
        for patch in self.core.local():
            for number, name in enumerate(self.names):
                if self.setup.p.species[name].per_cell:
                    self._load(patch, number, name)

    def _add_fields(self) -> None:
        """Those of the input to what there is."""
        for patch in self.core.local() if self.setup.first_fields else ():
            first, extent = self.core.origin(patch), self.core.extent(patch)
            found = {name: np.array(self.core.array(patch, name)) for name in HALF}
            for name in self.setup.first_fields:
                found[name] += self.setup.first_field(name, first, extent)
            e, b = (np.stack([found[f"{kind}{d}"] for d in DIRECTIONS]) for kind in "eb")
            self.core.set_fields(patch, e, b)

    def _load(self, patch: int, number: int, name: str) -> None:
        one, setup = self.setup.p.species[name], self.setup
        at = self.names.index(one.like or name)
        placed = setup.p.species[one.like or name].placed
        x = np.asarray(self.core.place(patch, number, one.per_cell, placed != "random", at))
        density = setup.density[name].at(x)
        full = density > 0
        which = quiet.numbers(x, one.per_cell, setup.cells, setup.spacing)[full]
        x, weight = x[full], density[full] * (setup.cell_volume / one.per_cell)
        drift, temperature = (np.stack([profile.at(x) for profile in profiles[name]], axis=1)
                              for profiles in (setup.drift, setup.temperature))
        juttner = one.distribution == "juttner"
        thermal = temperature / one.mass if juttner else np.sqrt(temperature / one.mass)
        if one.placed == "quiet":
            drift, thermal = drift + thermal * quiet.normal(which), np.zeros_like(thermal)
        self.core.load(patch, number, x, weight, drift, thermal, juttner)

    # What it holds ---------------------------------------------------------------------------------------------------

    def local_arrays(self, name: str) -> Iterator[tuple[tuple[slice, ...], np.ndarray]]:
        """Local: (where in the box, values) of a field in this rank's patches; of rho after ``core.charge()``."""
        for patch in self.core.local():
            first, extent = self.core.origin(patch), self.core.extent(patch)
            yield tuple(slice(a, a + n) for a, n in zip(first, extent)), np.asarray(self.core.array(patch, name))

    def whole(self, name: str) -> np.ndarray | None:
        """A field of the whole box on rank 0, None on the others."""
        if name == "rho":
            self.core.charge()
        parts = self.comm.gather([([(s.start, s.stop) for s in where], values) for where, values in self.local_arrays(name)])
        if parts is None:
            return None
        found = np.zeros(self.setup.cells)
        for where, values in (part for rank in parts for part in rank):
            found[tuple(slice(a, b) for a, b in where)] = values
        return found

    def particles(self, name: str) -> Iterator[dict[str, np.ndarray]]:
        """Local: places ``x`` [n, D], momenta ``u`` [n, 3], weights ``w`` [n] of a species, patch by patch."""
        number = self.names.index(name)
        for patch in self.core.local():
            yield self.core.particles(patch, number)

    def homes(self) -> np.ndarray:
        """The rank of every patch, [x, y, z]."""
        return np.asarray(self.core.homes()).reshape(self.setup.patches[::-1]).transpose()
