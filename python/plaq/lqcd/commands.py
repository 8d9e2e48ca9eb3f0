"""The commands of ``plaq lqcd``, as functions that Python calls."""

from __future__ import annotations

from pathlib import Path

from plaq.data import results_file
from plaq.data.results_file import Findings
from plaq.lqcd.application import Lqcd
from plaq.lqcd.parameters import Parameters
from plaq.run import driver


def run(parameters: Parameters, folder: str | Path | None = None, trace: bool = False) -> Findings:
    """Carry out a run, in a folder as `plaq lqcd run` does; without a folder nothing is written.

    Arguments are those of `plaq.run.driver.run`.
    """
    return driver.run(Lqcd, parameters, folder, trace=trace)


def load(folder: str | Path) -> Findings:
    """Read the results in a run's folder: averages as ``results["plaquette"]``, series as ``results.recorded``."""
    return results_file.read(Path(folder) / "results.h5", results_file.format_of(Lqcd.name))[0]


def report(folder: str | Path) -> Path:
    """Write ``report.html`` of a run's folder again; return its path."""
    return Lqcd.report(Path(folder))


def digest(folder: str | Path) -> list[str]:
    """Return the hash of a run's results, and the properties of the machine that it depends on."""
    return Lqcd.digest(Path(folder))
