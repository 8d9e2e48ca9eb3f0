"""Plasma of an input: makes the core's plasma, fills it from profiles or a checkpoint, and reads its content."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial, reduce
from pathlib import Path
from typing import Any

import numpy as np

from plaq import _core
from plaq.comm.communicator import Communicator
from plaq.errors import RunError
from plaq.machine import pool_options
from plaq.pic import quiet_start
from plaq.pic.inputs import loads, momenta, particle_files
from plaq.pic.inputs.plan import plan_of
from plaq.pic.inputs.setup import Setup

FROM_RANK = re.compile(r"rank \d+: ")  # begins an error of one rank that is raised on all


def _stacked(axes: str, fields: dict[str, np.ndarray], extent: list[int] | None = None) -> list[np.ndarray]:
    """Return E and B of fields by name, components first; 0 for components without a field."""
    zero = np.zeros(extent) if extent else None
    return [np.stack([fields.get(f"{field}{d}", zero) for d in axes]) for field in "eb"]


class Plasma:
    """Patches of this rank, and the plasma of all ranks.

    Functions are collective unless they say "local". ``folder`` is that of a checkpoint.
    """

    def __init__(self, setup: Setup, comm: Communicator, expected: loads.Loads, folder: Path | None = None):
        p = setup.p
        self.setup, self.comm = setup, comm
        self.plan = plan_of(setup)
        make = partial(_core.pic.Plasma.make, precision=p.solver.precision, estimate=expected.work().tolist(),
                       folder=str(folder or ""))
        self.core = comm.carry_out(make, self.plan, comm.native, p.run.threads,
                                   pool_options(p.run.workers, p.run.bind))
        self.columns = list(self.core.columns)
        self.names = list(p.species)

    def __repr__(self) -> str:
        cells = " x ".join(map(str, self.setup.cells))
        return f"<plaq pic plasma of {cells} cells: {', '.join(self.names) or 'no species'}; step {self.step}>"

    @property
    def step(self) -> int:
        return self.core.step

    def call(self, name: str, *arguments: Any, **named: Any) -> Any:
        """Call a function of the core on all ranks. RunError where one rank keeps the others waiting."""
        try:
            return self.comm.carry_out(partial(getattr(self.core, name), **named), *arguments)
        except RunError as error:
            if FROM_RANK.match(str(error)):
                error.ranks = self.comm.size
            raise

    def advance(self, count: int) -> np.ndarray:
        """Advance so many steps; return their rows [step, column]."""
        setup = self.setup
        potentials = (setup.potentials_at(self.step + 1 + np.arange(count)).ravel() if setup.varying_potentials
                      else None)
        return np.asarray(self.call("advance", count, setup.p.output.gauss, potentials, setup.records_current))

    def fill(self) -> None:
        """Load the initial state: particles and fields of the profiles."""
        moving = {name: particle_files.mean_velocity(self.setup, name) for name in self.setup.p.fields.of_moving}
        self.comm.together(self._load_all)
        for name, (dimension, beta) in moving.items():
            self.call("add_moving_field", self.names.index(name), dimension, beta)
        if self.setup.p.fields.of_charges:
            self.call("solve_poisson")
        self.comm.together(self._add_fields)
        self.call("start")

    def _load_all(self) -> None:
        for patch in self.core.local_patches():
            self._load_patch(patch)
        for number, name in enumerate(self.names):
            if self.setup.p.species[name].file is not None:
                self._load_file(number, name)
        self.setup.from_files.clear()

    def _load_file(self, number: int, name: str) -> None:
        """Load the particles of a species' file that are in local patches, in the order of the file."""
        x, u, w = particle_files.particles_of(self.setup, name)
        patches = particle_files.patches_of(self.setup, x)
        for patch in self.core.local_patches():
            here = patches == patch
            self.core.load(patch, number, x[here], w[here], u[here], np.zeros_like(u[here]))

    def _load_patch(self, patch: int, from_x: int = 0) -> None:
        for number, name in enumerate(self.names):
            if self.setup.p.species[name].per_cell:
                self._load(patch, number, name, from_x)

    @property
    def window_start(self) -> int:
        """Step before which the window does not move."""
        return int(self.plan.window_start / self.setup.dt)

    def window_moves(self, step: int) -> bool:
        """Return whether the window moves by a cell after so many steps."""
        return step > 0 and self.plan.window_shift(step) > self.plan.window_shift(step - 1)

    @property
    def offset(self) -> float:
        """Shift of the window in the last step, c/ω_p."""
        return self.plan.window_shift(max(0, self.step - 1)) * self.setup.spacing[0]

    def shift_window(self) -> None:
        """Move the window by a cell, and fill the plane of cells that enters from profiles and initial fields."""
        self.comm.together(self._set_incoming_fields)
        self.call("shift_window")
        self.comm.together(self._load_new)

    def _patches_at_high_x(self) -> Iterator[int]:
        """Yield the local patches at the high side of x."""
        for patch in self.core.local_patches():
            if self.core.origin(patch)[0] + self.core.extent(patch)[0] == self.setup.cells[0]:
                yield patch

    def _set_incoming_fields(self) -> None:
        setup = self.setup
        for patch in self._patches_at_high_x() if setup.initial_fields else ():
            first, extent = self.core.origin(patch), self.core.extent(patch)
            first[0], extent[0] = self.plan.window_shift(self.step) + setup.cells[0] - 1, 1
            fields = {name: setup.initial_field(name, first, extent) for name in setup.initial_fields}
            self.core.set_incoming_fields(patch, *_stacked(setup.axes, fields, extent))

    def _load_new(self) -> None:
        for patch in self._patches_at_high_x():
            self._load_patch(patch, self.core.extent(patch)[0] - 1)

    def _add_fields(self) -> None:
        """Add the initial fields of the input to those of the charges."""
        setup = self.setup
        for patch in self.core.local_patches() if setup.initial_fields else ():
            first, extent = self.core.origin(patch), self.core.extent(patch)
            fields = {name: np.array(self.core.array(patch, setup.core_name(name))) for name in setup.half}
            for name in setup.initial_fields:
                fields[name] += setup.initial_field(name, first, extent)
            self.core.set_fields(patch, *_stacked(setup.axes, fields))

    def _load(self, patch: int, number: int, name: str, from_x: int) -> None:
        species, setup = self.setup.p.species[name], self.setup
        stream = self.names.index(species.like or name)
        placed = setup.p.species[species.like or name].placed
        x = np.asarray(self.core.make_positions(patch, number, species.per_cell, placed != "random", stream, from_x))
        density = setup.density[name].at(x)
        if len(x):
            loads.check_positive(f"species.{name}.density", setup.density[name].text, density, x, setup)
        full = density > 0
        if species.placed == "quiet":
            numbers = quiet_start.particle_numbers(x, species.per_cell, setup.cells, setup.spacing)[full]
        x = x[full]
        weight = density[full] * (setup.volume_at(x) / species.per_cell)
        drift, temperature = (np.stack([profile.at(x) for profile in profiles[name]], axis=1)
                              for profiles in (setup.drift, setup.temperature))
        juttner = species.distribution == "juttner"
        thermal = temperature / species.mass if juttner else np.sqrt(temperature / species.mass)
        if species.placed == "quiet":
            drift, thermal = drift + thermal * quiet_start.normal(numbers), np.zeros_like(thermal)
        if species.momenta is not None:
            drift = momenta.draw(setup, name, x, partial(self.core.draw_uniform, patch, number, x))
        self.core.load(patch, number, x, weight, drift, thermal, juttner)

    def record_loads(self, file: Path) -> None:
        """Start to record the input of every balancing in a file."""
        self.comm.together(partial(self.core.record_loads, str(file)))

    # Content -----------------------------------------------------------------------------------------------------

    def local_arrays(self, name: str) -> Iterator[tuple[tuple[slice, ...], np.ndarray]]:
        """Yield (slices of the box, values) of a field in the local patches; for rho call "compute_charge" first.

        Of a cylinder with modes at the azimuth 0.
        """
        cosines = range(1, self.setup.parts, 2)
        for of_patch in zip(*(self._local_part(name, part) for part in (0, *cosines))):
            yield of_patch[0][0], reduce(np.add, (values for _, values in of_patch))

    def _local_part(self, name: str, part: int) -> Iterator[tuple[tuple[slice, ...], np.ndarray]]:
        for patch in self.core.local_patches():
            first, extent = self.core.origin(patch), self.core.extent(patch)
            yield (tuple(slice(a, a + n) for a, n in zip(first, extent)),
                   np.asarray(self.core.array(patch, self.setup.core_name(name), part)))

    def whole(self, name: str, part: int = 0) -> np.ndarray | None:
        """Return a field of the whole box on rank 0, None on the others; ``part``: of the modes of a cylinder.

        0 is the mode m = 0, then follow the factors of cos θ, sin θ, cos 2θ, ...
        """
        if name == "rho":
            self.call("compute_charge")
        parts = self.comm.gather([([(s.start, s.stop) for s in where], values)
                                  for where, values in self._local_part(name, part)])
        if parts is None:
            return None
        field = np.zeros(self.setup.cells)
        for where, values in (part for rank in parts for part in rank):
            field[tuple(slice(a, b) for a, b in where)] = values
        return field

    def particles(self, name: str) -> Iterator[dict[str, np.ndarray]]:
        """Yield the particles of a species in each local patch.

        Positions ``x`` [n, D] in the box, momenta ``u`` [n, 3], weights ``w`` [n], in a cylinder with modes cosine and
        sine of the ``azimuth`` [n, 2], and ``id`` [n] where it is tracked.
        """
        number = self.names.index(name)
        for patch in self.core.local_patches():
            particles = self.core.particles(patch, number)
            if self.offset:
                particles["x"][:, 0] -= self.offset
            yield particles

    def homes(self) -> np.ndarray:
        """Return the rank of every patch, [x, y, z]."""
        return np.asarray(self.call("homes")).reshape(self.setup.patches[::-1]).transpose()
