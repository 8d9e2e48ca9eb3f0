"""``plaq lqcd`` as an application that `plaq.run` drives."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plaq import _core
from plaq.errors import InputError
from plaq.lqcd.parameters import PROGRAM, Parameters
from plaq.run.application import Application
from plaq.run.driver import Run

if TYPE_CHECKING:
    from plaq.lqcd.chain import Chain


class Lqcd(Application):
    """A run of ``plaq lqcd``."""

    name = PROGRAM
    Parameters = Parameters

    def check(self, ranks: int, place: float | None = None) -> None:
        """InputError where the lattice cannot be cut for so many ranks."""
        extents, grid = list(self.parameters.lattice.extents), self.parameters.run.grid
        try:
            if grid == "auto":
                _core.lqcd.grid_for(ranks, extents)
                return
            if np.prod(grid) != ranks:
                raise InputError(f"it is for {np.prod(grid)} ranks, and there are {ranks}")
            _core.lqcd.Layout(extents, list(grid), 0, 1)
        except InputError as error:
            key = f"lattice.extents = {extents}" if grid == "auto" else f"run.grid = {list(grid)}"
            raise InputError(f"{key}: {error}") from None

    def expected_seconds(self) -> float:
        """Of one core: some microseconds for each link that is updated."""
        p = self.parameters
        sweeps = p.updates.thermalisation + p.updates.configurations * p.updates.sweeps
        return 2e-6 * 4 * float(np.prod(p.lattice.extents)) * sweeps * (1 + p.updates.over_relaxations)

    def header(self) -> Mapping[str, Any]:
        return {"seed": self.parameters.updates.seed}

    @classmethod
    def report(cls, folder: Path) -> Path:
        from plaq.data import report
        from plaq.lqcd.pictures import drawn

        return report.write(folder, cls.name, drawn)

    def prepare(self, run: Run, started: float) -> Chain:
        from plaq.lqcd.chain import Chain

        return Chain(self.parameters, run)
