"""The functions of an application for Python, which are those of its commands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

from plaq.inputs.running import demand_parts
from plaq.run import driver
from plaq.run.application import Application
from plaq.run.folder import need_own
from plaq.run.forecast import Description, Forecast
from plaq.run.swept import Sweep, load, sweep
from plaq.run.table import is_sweep
from plaq.trace.session import Recording

P = TypeVar("P")  # class of the parameters
R = TypeVar("R")  # class of the results
Progress = bool | Callable[[float, str], Any] | None


class Face(Generic[P, R]):
    """Functions that the package of an application has, on the application's class."""

    def __init__(self, kind: type[Application]):
        self._kind = kind

    def run(self, parameters: P, folder: str | Path | None = None, *, start: str | Path | None = None,
            trace: bool | Recording = False, progress: Progress = None) -> R:
        """Carry out a run and return its results.

        With a ``folder`` as the command ``run`` does: a run that was stopped there resumes from its last checkpoint.
        Without one nothing is written. ``start`` is the folder of another run, from whose end this one starts;
        ``trace`` records where the time goes, and a `plaq.trace.Recording` says what. ``progress``: False for silence,
        or a function of the fraction that is done and a text; by default a bar where there is no folder. Every rank of
        an MPI job calls this with the same arguments and gets the same results. After a signal or at run.walltime
        everything is saved, and it ends with an exception that is no subclass of Exception: KeyboardInterrupt after
        SIGINT, else SystemExit.
        """
        return driver.run(self._kind, parameters, folder, trace=trace, start=start, progress=progress)

    def load(self, folder: str | Path) -> R:
        """Return the results in a run's folder, also of a run that is not finished; of a sweep's folder a `Sweep`."""
        kind = self._of_run(folder)
        return load(kind, Path(folder)) if is_sweep(Path(folder)) else kind.load(Path(folder))

    def check(self, parameters: P) -> Description:
        """Return the input in words, and its needs. InputError if this plaq cannot run it."""
        demand_parts(parameters.run)
        return Description(self._kind(parameters).describe())

    def estimate(self, parameters: P, ranks: int = 1, workers: int | None = None,
                 machine: str | Path | None = None) -> Forecast:
        """Return time and memory of a run on ``ranks`` ranks of ``workers`` threads each, by default the machine's.

        ``machine`` is a TOML file with its speeds. The result is the text of the command ``estimate``, with numbers.
        """
        return self._kind(parameters).estimate(ranks, workers, None if machine is None else Path(machine))

    def sweep(self, parameters: P, axes: Mapping[str, Iterable[Any]], folder: str | Path | None = None, *,
              start: str | Path | None = None, trace: bool | Recording = False,
              progress: Progress = None) -> Sweep[R]:
        """Run every combination of the values of ``axes``, {"model.U": [4, 6]}; return {name: results} with a table.

        With a ``folder`` each run has its own below it, and the same call resumes runs that were stopped, as a section
        [sweep] of an input does. The ranks of an MPI job are dealt to the runs.
        """
        return sweep(self._kind, parameters, axes, folder, trace=trace, start=start, progress=progress)

    def report(self, folder: str | Path) -> Path:
        """Write ``report.html`` and the figures of a run's or sweep's folder again; return the path of the report."""
        return self._of_run(folder).page(Path(folder))

    def digest(self, folder: str | Path) -> list[str]:
        """Return one hash of a run's results, with what of a machine it depends on.

        A sweep has a line for each run and one for all.
        """
        return self._of_run(folder).digest(Path(folder))

    def _of_run(self, folder: str | Path) -> type[Application]:
        need_own(Path(folder), self._kind.name)
        return self._kind
