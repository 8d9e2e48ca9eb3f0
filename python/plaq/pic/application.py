"""``plaq pic`` as an application that `plaq.run` drives."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plaq.machine import pool_options
from plaq.pic.inputs import loads
from plaq.pic.inputs.parameters import Parameters
from plaq.pic.inputs.setup import Setup
from plaq.pic.inputs.table import PROGRAM
from plaq.pic.planning.describe import describe
from plaq.pic.results.results import Results, read_results
from plaq.run.application import Application
from plaq.run.driver import Run
from plaq.run.forecast import Forecast

if TYPE_CHECKING:
    from plaq.pic.simulation import Simulation


class Pic(Application):
    """A run of ``plaq pic``."""

    name = PROGRAM
    Parameters = Parameters

    def check(self, ranks: int, place: float | None = None) -> None:
        """Check what no table of parameters can.

        InputError where a formula is not finite, the core refuses the plan, or the patches do not fit in memory.
        """
        from plaq.pic.inputs.plan import plan_of

        setup = Setup(self.parameters)
        plan_of(setup, whole=False).check()
        for name, profile in setup.initial_fields.items():
            for points in setup.sample_points() if profile.constant is None else ():
                profile.at(setup.yee_points(name, points))  # InputError where it is not finite
        loads.check_memory(setup, loads.expected_loads(setup), ranks, place)

    def describe(self) -> str:
        self.check(1)
        return describe(Setup(self.parameters))

    def estimate(self, ranks: int, workers: int | None, machine: Path | None) -> Forecast:
        from plaq.pic.planning.estimate import estimate

        run = self.parameters.run
        return estimate(self.parameters, ranks, workers or pool_options(run.workers, run.bind).workers, machine)

    def expected_seconds(self) -> float:
        """Return the time of one core at fifty million pushes a second."""
        setup = Setup(self.parameters)
        return 2e-8 * setup.steps * float(loads.expected_loads(setup).work().sum())

    def header(self) -> Mapping[str, Any]:
        setup = Setup(self.parameters)
        return {"units": setup.units.describe(), "grid": " x ".join(map(str, setup.cells)) + " cells in "
                + " x ".join(map(str, setup.patches)) + " patches", "steps": setup.steps,
                "seed": self.parameters.solver.seed}

    def prepare(self, run: Run, started: float) -> Simulation:
        from plaq.pic.simulation import Simulation

        return Simulation(self.parameters, run)

    @classmethod
    def results_so_far(cls, parameters: Parameters, state: Mapping[str, Any]) -> Results | None:
        from plaq.pic.simulation import results_so_far

        return results_so_far(parameters, state)

    @classmethod
    def read_results(cls, folder: Path) -> Results:
        return read_results(folder / "results.h5")[0]

    @classmethod
    def export(cls, folder: Path, out: Path) -> list[Path]:
        from plaq.pic.results.export import export

        return export(cls.load(folder), out)

    @classmethod
    def scalars(cls, results: Results) -> list[dict[str, Any]]:
        """Return a row of the last values of all histories; what a step counts is added up."""
        from plaq.pic.results.export import final_values

        return [final_values(results)]

    @classmethod
    def report(cls, folder: Path) -> Path:
        from plaq.pic.results.page import write_report

        return write_report(folder)
