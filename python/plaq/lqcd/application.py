"""``plaq lqcd`` as an application that `plaq.run` drives."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from plaq import _core
from plaq.data.formatting import format_size
from plaq.errors import InputError
from plaq.lqcd import planning
from plaq.lqcd.parameters import PROGRAM, STARTS, Parameters
from plaq.lqcd.results import Results, read_results
from plaq.lqcd.start import find_start
from plaq.machine import memory, pool_options
from plaq.run.application import Application
from plaq.run.driver import Run
from plaq.run.forecast import Forecast
from plaq.run.output import last_state

if TYPE_CHECKING:
    from plaq.lqcd.chain import Chain
    from plaq.lqcd.stored import Stored

OF_A_CHAIN = ("action", "quarks", "updates", "hmc")  # sections without use for most stored fields


class Lqcd(Application):
    """Application ``plaq lqcd``."""

    name = PROGRAM
    Parameters = Parameters

    def check(self, ranks: int, place: float | None = None) -> None:
        """Raise InputError if the lattice cannot be cut for the ranks, or its fields are far too large for them."""
        self._check_grid(ranks)
        p, extents = self.parameters, list(self.parameters.lattice.extents)
        needed, place = planning.memory(p, math.prod(extents) // ranks), memory() if place is None else place
        if needed > planning.CERTAIN * place:
            raise InputError(f"lattice.extents = {extents} needs some {format_size(needed)} of memory on each of "
                             f"{ranks} rank(s), and there are {format_size(place)}: take more ranks on more hosts; "
                             "`plaq check` has the estimate")

    def _check_grid(self, ranks: int) -> None:
        """Raise InputError if the lattice cannot be cut for the ranks."""
        extents, grid = list(self.parameters.lattice.extents), self.parameters.run.grid
        try:
            if grid != "auto" and math.prod(grid) != ranks:
                raise InputError(f"it is for {math.prod(grid)} ranks, and there are {ranks}")
            _core.lqcd.choose_layout(extents, _core.lqcd.choose_grid(ranks, extents) if grid == "auto" else list(grid))
        except InputError as error:
            key = f"lattice.extents = {extents}" if grid == "auto" else f"run.grid = {list(grid)}"
            raise InputError(f"{key}: {error}") from None

    def describe(self) -> str:
        grid = self.parameters.run.grid
        ranks = 1 if grid == "auto" else math.prod(grid)
        self._check_grid(ranks)
        return planning.describe(self.parameters, ranks)

    def estimate(self, ranks: int, workers: int | None, machine: Path | None) -> Forecast:
        if machine is not None:
            raise InputError(f"--machine {machine}: {self.name} knows the speed of one machine only, "
                             "which is in benchmarks/lqcd.md")
        self._check_grid(ranks)
        p = self.parameters
        return planning.estimate(p, ranks, workers or pool_options(p.run.workers, p.run.bind).workers)

    def expected_seconds(self) -> float:
        return sum(planning.seconds(self.parameters).values())

    def header(self) -> Mapping[str, Any]:
        p = self.parameters
        if not p.measure.configurations:
            start = {} if p.updates.start in STARTS else {"start": p.updates.start}
            return {"seed": p.updates.seed, **start}
        of_walls = p.lattice.boundary == "schroedinger"
        used = {"action": of_walls, "quarks": of_walls or bool(p.reweighting)}
        unused = ", ".join(f"[{name}]" for name in OF_A_CHAIN if name in p.explicit and not used.get(name))
        return {"seed": p.measure.seed, "configurations": ", ".join(p.measure.configurations),
                **({"not used": f"{unused}: stored configurations are measured"} if unused else {})}

    @classmethod
    def from_other(cls, parameters: Parameters, folder: Path | None, other: Path | None) -> Self:
        """Return the run with the file that it starts from, which is there: that of ``other``, or of the input.

        Stored configurations that new measurements need are there, too.
        """
        from plaq.lqcd.chain import check_late

        parameters = find_start(parameters, folder, other)
        if folder and (last := last_state(cls, folder)):
            check_late(parameters, folder, *last)
        return cls(parameters)

    @classmethod
    def results_so_far(cls, parameters: Parameters, state: Mapping[str, Any]) -> Results | None:
        from plaq.lqcd.measuring import results_so_far

        return results_so_far(parameters, state)

    @classmethod
    def read_results(cls, folder: Path) -> Results:
        return read_results(folder / "results.h5")[0]

    @classmethod
    def report(cls, folder: Path) -> Path:
        from plaq.data import report
        from plaq.lqcd.measurements.figures import drawings

        return report.write(folder, cls.name, drawings)

    def prepare(self, run: Run, started: float) -> Chain | Stored:
        from plaq.lqcd.chain import Chain
        from plaq.lqcd.stored import Stored

        return (Stored if self.parameters.measure.configurations else Chain)(self.parameters, run)
