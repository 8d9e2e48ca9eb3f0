"""Interface of an application: a table of parameters, a simulation that advances step by step, results.

A new application is a folder with its physics, a subclass of `Application`, and a line in the command line (plaq.main).
All that surrounds a run exists already: folder and lock, log and live view, signals and wall time, checkpoints, ranks
and their errors, traces, sweeps, results, report and digest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from plaq.errors import InputError
from plaq.inputs.parameters import Parameters
from plaq.inputs.schema import Schema
from plaq.run.forecast import Forecast

if TYPE_CHECKING:  # that these are plain objects for an application is what keeps the arrows one way
    from plaq.data.display import Drawing
    from plaq.files.sealed import Format
    from plaq.run.driver import Run
    from plaq.run.output import DistributedNumbers, RunOutput


class Results(Protocol):
    """Results of a run. ``seconds``: times of its parts, {part: s}."""

    seconds: dict[str, float]

    def answers(self) -> list[str]:
        """Return the result in sentences, the main one first, then those on what is doubtful about it."""
        ...


class Simulation(Protocol):
    """A run on all ranks, which all make the same calls."""

    def steps(self) -> Iterator[bool | None]:
        """Take the run to its end, and yield wherever `state` is complete, at least every few seconds.

        There the run may be stopped, and its state saved if a checkpoint is due. Where True is yielded it is saved in
        any case.
        """
        ...

    def state(self) -> dict[str, Any] | None:
        """Return all that it takes to resume from here to the same bits, as plaq.files.packed takes it.

        On rank 0; None on the others. Without the numbers of `distributed_numbers`.
        """
        ...

    def distributed_numbers(self) -> DistributedNumbers | None:
        """Return the numbers of the state that are too many for one rank, if there are any."""
        ...

    def results(self) -> Results:
        """Return the results, after the last step."""
        ...


class Application(ABC):
    """A run of one application before it is started: its ``parameters``.

    ``name`` is that of its command, in logs and files. Class methods answer questions about inputs before ranks are
    started.
    """

    name: ClassVar[str]
    Parameters: ClassVar[type[Parameters]]

    def __init__(self, parameters: Any):
        self.parameters = parameters

    @classmethod
    def schema(cls) -> Schema:
        """Return the table of its parameters."""
        return cls.Parameters.SCHEMA

    @classmethod
    def from_other(cls, parameters: Any, folder: Path | None, other: Path | None) -> Application:
        """Return the run in ``folder`` (None without one) that starts from the end of the run in the folder ``other``.

        If ``other`` is None it starts from nothing. Called on rank 0; the others get its ``parameters``. InputError
        where the application cannot start from another run.
        """
        if other is not None:
            raise InputError(f"--from {other}: {cls.name} cannot start from another run")
        return cls(parameters)

    def check(self, ranks: int, place: float | None = None) -> None:
        """Raise InputError if it cannot be run on that many ranks.

        ``place`` is the memory of a rank in bytes, by default that of this machine.
        """

    def describe(self) -> str:
        """Return the text that ``check`` prints: the input in words, and its needs."""
        return self.parameters.to_toml()

    def drawing(self) -> Drawing:
        """Return the picture of the input that ``check --picture`` draws, for an application that has it."""
        raise NotImplementedError

    def estimate(self, ranks: int, workers: int | None, machine: Path | None) -> Forecast:
        """Return time and memory on ``ranks`` ranks of ``workers`` workers each, as ``estimate`` prints them.

        ``workers`` is by default the machine's, ``machine`` a file with speeds. InputError if the application has no
        model of its cost.
        """
        raise InputError(f"{self.name} has no model of its cost")

    def expected_seconds(self) -> float:
        """Return core seconds of the run, to compare it with other runs of a sweep."""
        return 1.0

    def header(self) -> Mapping[str, Any]:
        """Return what log and results begin with, beside the lines of every run."""
        return {}

    @classmethod
    def derived_files(cls) -> dict[str, Format]:
        """Return the sealed files by name that other commands than ``run`` add to a run's folder."""
        return {}

    @abstractmethod
    def prepare(self, run: Run, started: float) -> Simulation:
        """Return the simulation, at the last checkpoint (``run.resume``) or at the beginning. Collective.

        ``started`` (time.perf_counter) is when its start-up began.
        """

    def save(self, output: RunOutput, results: Any) -> None:
        """Write ``results.h5`` and ``summary.json``, on rank 0.

        By default ``results`` are `plaq.data.results_file.Findings`.
        """
        from plaq.data import results_file

        results_file.write(output.folder.results, results_file.format_of(self.name), results, self.parameters.to_toml(),
                           output.header)
        output.folder.write_summary(results_file.summary(results, output.header))

    @classmethod
    def load(cls, folder: Path) -> Any:
        """Return the results in a run's folder; of a run that is not finished those at its last checkpoint."""
        from plaq.run.folder import RESULTS
        from plaq.run.output import last_state

        if (folder / RESULTS).exists() or (last := last_state(cls, folder)) is None:
            return cls.read_results(folder)
        results = cls.results_so_far(*last)
        if results is None:
            raise InputError(f"{folder}: the run is not finished and has no results so far")
        return results

    @classmethod
    def results_so_far(cls, parameters: Any, state: Mapping[str, Any]) -> Any:
        """Return the results at a checkpoint, None where there are none before the run writes ``results.h5``."""
        return None

    @classmethod
    def read_results(cls, folder: Path) -> Any:
        """Return the results in ``results.h5``."""
        from plaq.data import results_file

        return results_file.read(folder / "results.h5", results_file.format_of(cls.name))[0]

    @classmethod
    def plot(cls, folder: Path) -> list[Path]:
        """Draw the figures of a run into ``figures/`` in its folder; return the paths."""
        from plaq.data.display import save

        return save(cls.load(folder).drawings(), folder)

    @classmethod
    def export(cls, folder: Path, out: Path) -> list[Path]:
        """Write the results in a run's folder for other programs into the folder ``out``; return the paths."""
        from plaq.data.export import export

        return export(cls.load(folder), out)

    @classmethod
    def scalars(cls, results: Any) -> list[dict[str, Any]]:
        """Return rows of all single numbers of a run, each with a column for its error."""
        from plaq.data.tables import columns

        return [columns(results.estimates)]

    @classmethod
    def outcome(cls, results: Any) -> dict[str, Any]:
        """Return the row of a run in the table of its sweep.

        ``status`` is not "failed", ``in_words`` is one sentence; other keys become columns, by default all `scalars`.
        """
        rows = cls.scalars(results)
        return {"status": "done", "in_words": results.answers()[0], **(rows[0] if len(rows) == 1 else {})}

    @classmethod
    def record_sweep(cls, base: Path, runs: Mapping[str, Any], outcomes: Mapping[str, Mapping[str, Any]]) -> Path:
        """Write table and page of a sweep, {run: parameters} and {run: outcome}, on rank 0; return the page's path."""
        from plaq.run import table

        table.write(base, runs, outcomes)
        return cls.sweep_page(base)

    @classmethod
    def sweep_page(cls, base: Path) -> Path:
        """Write the page of a sweep from its table; return its path."""
        from plaq.run import sweep_page

        return sweep_page.write(base, cls.name, cls.digests(base))

    @classmethod
    def page(cls, folder: Path) -> Path:
        """Write the report of a run's folder, or the page of a sweep's; return its path."""
        from plaq.run.table import is_sweep

        return cls.sweep_page(folder) if is_sweep(folder) else cls.report(folder)

    @classmethod
    def report(cls, folder: Path) -> Path:
        """Write the report of a run's folder from its results; return its path."""
        from plaq.data import report

        return report.write(folder, cls.name)

    @classmethod
    def report_with_digest(cls, folder: Path) -> tuple[Path, str]:
        """Write the report of a finished run; return its path and the digest of the results."""
        return cls.report(folder), cls.digest(folder)[-1]

    @classmethod
    def digests(cls, base: Path) -> list[str]:
        """Return a line of `digest` for each run of a sweep and one for all."""
        from plaq.data import results_file
        from plaq.run import table

        status = {row["run"]: row[table.STATUS] for row in table.read(base)[1]}
        return table.digests(base, status, results_file.format_of(cls.name),
                             {run for run in status if status[run] == "damaged"})

    @classmethod
    def digest(cls, folder: Path) -> list[str]:
        """Return one hash of all results of a folder, with what of a machine it depends on.

        Of a sweep a line for each run and one for all.
        """
        from plaq.data import results_file
        from plaq.run.table import is_sweep

        if is_sweep(folder):
            return cls.digests(folder)
        return [results_file.digest_line(folder / "results.h5", results_file.format_of(cls.name))]
