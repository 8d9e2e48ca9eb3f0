"""The commands of ``plaq dca``, as functions that Python can call too."""

from __future__ import annotations

from pathlib import Path

from plaq.dca.application import Dca
from plaq.dca.parameters import Parameters
from plaq.dca.results.file import read_results
from plaq.dca.results.results import Results
from plaq.run import driver


def run(parameters: Parameters, folder: str | Path | None = None, source: str = "Parameters", trace: bool = False,
        started: float | None = None, start: str | Path | None = None) -> Results:
    """Solve the model at all temperatures and look for the transition; arguments as of `plaq.run.driver.run`.

    With ``start``, the folder of another run, the first temperature starts from that one's self-energy and
    configurations (plaq.dca.loop.start).
    """
    return driver.run(Dca, parameters, folder, source, trace, started, start)


def load(folder: str | Path) -> Results:
    """Return the results in a run folder, also of a run that is not finished."""
    return read_results(Path(folder) / "results.h5")[0]


def digest(folder: str | Path) -> list[str]:
    """Return the hash of a run's results, with the properties of the machine that it depends on.

    A sweep has a line for each run and one for all.
    """
    return Dca.digest(Path(folder))


def report(folder: str | Path) -> Path:
    """Draw the figures and write ``report.html`` of a run folder or of a sweep again; return the path of the report."""
    return Dca.report(Path(folder))
