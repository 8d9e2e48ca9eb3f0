"""``plaq lqcd`` as an application that `plaq.run` drives."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plaq import _core
from plaq.errors import InputError
from plaq.lqcd import planning
from plaq.lqcd.parameters import PROGRAM, Parameters
from plaq.machine import pool_options
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

    def describe(self) -> str:
        grid = self.parameters.run.grid
        ranks = 1 if grid == "auto" else int(np.prod(grid))
        self.check(ranks)
        return planning.describe(self.parameters, ranks)

    def estimate(self, ranks: int, workers: int | None, machine: Path | None) -> str:
        if machine is not None:
            raise InputError(f"--machine {machine}: {self.name} knows the speed of one machine only, "
                             "which is in docs/lqcd.md")
        self.check(ranks)
        p = self.parameters
        return planning.estimate(p, ranks, workers or pool_options(p.run.workers, p.run.bind).workers)

    def expected_seconds(self) -> float:
        return sum(planning.seconds(self.parameters).values())

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
