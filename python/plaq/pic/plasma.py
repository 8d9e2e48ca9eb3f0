"""The core's plasma of an input: made, filled from the profiles or from a checkpoint, and asked for what it holds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from plaq import _core
from plaq.comm.communicator import Communicator
from plaq.errors import RunError
from plaq.machine import pool_options
from plaq.pic import loads, quiet
from plaq.pic.plan import plan_of
from plaq.pic.setup import HALF, Setup
from plaq.pic.table import DIRECTIONS

OF_ALL = re.compile(r"rank \d+: ")  # how it begins when what fails on one rank is thrown on all


def _stacked(found: dict[str, np.ndarray], extent: list[int] | None = None) -> list[np.ndarray]:
    """E and B of what there is by name, 0 for the rest, components first."""
    rest = np.zeros(extent) if extent else None
    return [np.stack([found.get(f"{kind}{d}", rest) for d in DIRECTIONS]) for kind in "eb"]


class Plasma:
    """The patches of this rank, and all of them together. Collective but for what says "local". ``folder``:
    a checkpoint."""

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

    @property
    def step(self) -> int:
        return self.core.step

    def call(self, name: str, *arguments: Any, **named: Any) -> Any:
        """A function of the core that all ranks call. RunError where one keeps the others waiting (run.timeout)."""
        try:
            return self.comm.carry_out(partial(getattr(self.core, name), **named), *arguments)
        except RunError as error:
            if OF_ALL.match(str(error)):
                error.ranks = self.comm.size
            raise

    def fill(self) -> None:
        """The first state: particles and fields of the profiles."""
        self.comm.together(self._load_all)
        if self.setup.p.fields.of_charges:
            self.call("solve_poisson")
        self.comm.together(self._add_fields)
        self.call("start")

    def _load_all(self) -> None:
        for patch in self.core.local():
            self._load_patch(patch)

    def _load_patch(self, patch: int, from_x: int = 0) -> None:
        for number, name in enumerate(self.names):
            if self.setup.p.species[name].per_cell:
                self._load(patch, number, name, from_x)

    @property
    def window_begins(self) -> int:
        """The step before which the window does not move."""
        return int(self.plan.window_start / self.setup.dt)

    def window_moves(self, step: int) -> bool:
        """Whether it does so before the step after that many: by one cell."""
        return step > 0 and self.plan.shifted(step) > self.plan.shifted(step - 1)

    @property
    def offset(self) -> float:
        """How far the window had moved in the last step, c/ω_p."""
        return self.plan.shifted(max(0, self.step - 1)) * self.setup.spacing[0]

    def shift(self) -> None:
        """The window moves by a cell, and the profiles and first fields fill the one that comes in."""
        self.comm.together(self._set_ahead)
        self.call("shift")
        self.comm.together(self._load_new)

    def _last(self) -> Iterator[int]:
        """Local: the patches at the high side of x."""
        for patch in self.core.local():
            if self.core.origin(patch)[0] + self.core.extent(patch)[0] == self.setup.cells[0]:
                yield patch

    def _set_ahead(self) -> None:
        setup = self.setup
        for patch in self._last() if setup.first_fields else ():
            first, extent = self.core.origin(patch), self.core.extent(patch)
            first[0], extent[0] = self.plan.shifted(self.step) + setup.cells[0] - 1, 1
            found = {name: setup.first_field(name, first, extent) for name in setup.first_fields}
            self.core.set_ahead(patch, *_stacked(found, extent))

    def _load_new(self) -> None:
        for patch in self._last():
            self._load_patch(patch, self.core.extent(patch)[0] - 1)

    def _add_fields(self) -> None:
        """Those of the input to what there is."""
        setup = self.setup
        for patch in self.core.local() if setup.first_fields else ():
            first, extent = self.core.origin(patch), self.core.extent(patch)
            found = {name: np.array(self.core.array(patch, name)) for name in HALF}
            for name in setup.evolving_fields:
                found[name] += setup.first_field(name, first, extent)
            self.core.set_fields(patch, *_stacked(found))
            if setup.outside_fields:
                guard = self.plan.guard
                found = {name: setup.outside_field(name, first, extent, guard) for name in setup.outside_fields}
                self.core.set_outside(patch, _stacked(found, [n + 2 * guard for n in extent])[0])

    def _load(self, patch: int, number: int, name: str, from_x: int) -> None:
        one, setup = self.setup.p.species[name], self.setup
        at = self.names.index(one.like or name)
        placed = setup.p.species[one.like or name].placed
        x = np.asarray(self.core.place(patch, number, one.per_cell, placed != "random", at, from_x))
        density = setup.density[name].at(x)
        if len(x):
            loads.positive(f"species.{name}.density", setup.density[name].text, density, x, setup)
        full = density > 0
        if one.placed == "quiet":
            which = quiet.numbers(x, one.per_cell, setup.cells, setup.spacing)[full]
        x, weight = x[full], density[full] * (setup.cell_volume / one.per_cell)
        drift, temperature = (np.stack([profile.at(x) for profile in profiles[name]], axis=1)
                              for profiles in (setup.drift, setup.temperature))
        juttner = one.distribution == "juttner"
        thermal = temperature / one.mass if juttner else np.sqrt(temperature / one.mass)
        if one.placed == "quiet":
            drift, thermal = drift + thermal * quiet.normal(which), np.zeros_like(thermal)
        self.core.load(patch, number, x, weight, drift, thermal, juttner)

    def record_loads(self, file: Path) -> None:
        """From now on each balancing writes there what it knew."""
        self.comm.together(partial(self.core.record_loads, str(file)))

    # What it holds -----------------------------------------------------------------------------------------------

    def local_arrays(self, name: str) -> Iterator[tuple[tuple[slice, ...], np.ndarray]]:
        """Local: (where in the box, values) of a field in this rank's patches; of rho after ``call("charge")``."""
        for patch in self.core.local():
            first, extent = self.core.origin(patch), self.core.extent(patch)
            yield tuple(slice(a, a + n) for a, n in zip(first, extent)), np.asarray(self.core.array(patch, name))

    def whole(self, name: str) -> np.ndarray | None:
        """A field of the whole box on rank 0, None on the others."""
        if name == "rho":
            self.call("charge")
        parts = self.comm.gather([([(s.start, s.stop) for s in where], values)
                                  for where, values in self.local_arrays(name)])
        if parts is None:
            return None
        found = np.zeros(self.setup.cells)
        for where, values in (part for rank in parts for part in rank):
            found[tuple(slice(a, b) for a, b in where)] = values
        return found

    def particles(self, name: str) -> Iterator[dict[str, np.ndarray]]:
        """Local: places ``x`` [n, D] in the box, momenta ``u`` [n, 3], weights ``w`` [n] of a species, and ``id`` [n]
        where it is tracked, patch by patch."""
        number = self.names.index(name)
        for patch in self.core.local():
            found = self.core.particles(patch, number)
            if self.offset:
                found["x"][:, 0] -= self.offset
            yield found

    def homes(self) -> np.ndarray:
        """The rank of every patch, [x, y, z]."""
        return np.asarray(self.call("homes")).reshape(self.setup.patches[::-1]).transpose()
