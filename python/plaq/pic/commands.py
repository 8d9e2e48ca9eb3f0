"""Commands of ``plaq pic`` as functions."""

from __future__ import annotations

from pathlib import Path

from plaq.pic.application import Pic
from plaq.pic.inputs.parameters import Parameters
from plaq.pic.results.results import Results, read_results
from plaq.run import driver


def run(parameters: Parameters, folder: str | Path | None = None, trace: bool = False) -> Results:
    """Run a simulation; with a folder as `plaq pic run` does, without one nothing is written.

    Arguments as of `plaq.run.driver.run`.
    """
    return driver.run(Pic, parameters, folder, trace=trace)


def load(folder: str | Path) -> Results:
    """Return the results in a run's folder."""
    return read_results(Path(folder) / "results.h5")[0]


def report(folder: str | Path) -> Path:
    """Write ``report.html`` of a run's folder again and return its path."""
    return Pic.report(Path(folder))


def digest(folder: str | Path) -> list[str]:
    """Return the hash of a run's results, and the properties of a machine that it depends on."""
    return Pic.digest(Path(folder))
