"""What an application is to the rest of plaq: a table of parameters, a simulation that goes on step by step, results.

A new application is a folder with its physics, a class made from `Application`, and a line in the command line
(plaq.main). All that surrounds a run is there already: folder and lock, log and live view, signals and wall time,
checkpoints, ranks and their errors, traces, sweeps, results, report and digest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from plaq.errors import InputError
from plaq.inputs.parameters import Parameters
from plaq.inputs.schema import Schema
from plaq.run import table

if TYPE_CHECKING:  # that these are plain objects for an application is what keeps the arrows one way
    from plaq.run.driver import Run
    from plaq.run.output import RunOutput, Spread


class Results(Protocol):
    """What a run ends with. ``seconds``: where its time went, {part: s}."""

    seconds: dict[str, float]

    def answers(self) -> list[str]:
        """The result in sentences, the first one first; and what is doubtful about it."""
        ...


class Simulation(Protocol):
    """A run on all ranks, which all make the same calls."""

    def steps(self) -> Iterator[bool | None]:
        """Takes the run to its end. Yields wherever `state` is whole, at least every few seconds: there the run
        may be stopped, and its state kept if it is time to; it is in any case where True is yielded."""
        ...

    def state(self) -> dict[str, Any] | None:
        """On rank 0 all that it takes to go on from here to the same bits, as plaq.files.packed takes it; None on the
        others. Without what is in `spread`."""
        ...

    def spread(self) -> Spread | None:
        """Numbers of the state that are too many for one rank (plaq.run.output.Spread), if there are any."""
        ...

    def results(self) -> Results:
        """After the last step."""
        ...


class Application(ABC):
    """A run of one application, as yet to be started: its ``parameters``.

    ``name`` is that of its command, in logs and files. What is static is asked of inputs before ranks are started.
    """

    name: ClassVar[str]
    Parameters: ClassVar[type[Parameters]]

    def __init__(self, parameters: Any):
        self.parameters = parameters

    @classmethod
    def schema(cls) -> Schema:
        """What its parameters may be."""
        return cls.Parameters.SCHEMA

    @classmethod
    def from_other(cls, parameters: Any, folder: Path | None, other: Path | None) -> Application:
        """The run in ``folder`` (None without one) that starts from what the run in the folder ``other`` ended
        with, or from nothing if that is None. On rank 0; the others get its ``parameters``."""
        if other is not None:
            raise InputError(f"--from {other}: {cls.name} cannot start from another run")
        return cls(parameters)

    def check(self, ranks: int, place: float | None = None) -> None:
        """InputError when it cannot be run on that many ranks, each with so many bytes (by default what is here)."""

    def describe(self) -> str:
        """What ``check`` prints: the input in words, and what it will need."""
        return self.parameters.to_toml()

    def estimate(self, ranks: int, workers: int | None, machine: Path | None) -> str:
        """What ``estimate`` prints: time and memory on so many ranks of so many workers each, by default the
        machine's. ``machine`` is a file with speeds. InputError where nothing is known of that."""
        raise InputError(f"{self.name} has no model of its cost")

    def expected_seconds(self) -> float:
        """Of one core, compared with other runs of a sweep."""
        return 1.0

    def header(self) -> Mapping[str, Any]:
        """What log and results say at first, beside what every run says."""
        return {}

    @abstractmethod
    def prepare(self, run: Run, started: float) -> Simulation:
        """The simulation, where it was stopped (``run.resume``) or at the beginning; ``started``
        (time.perf_counter) is when its start-up began. Collective."""

    def save(self, output: RunOutput, results: Any) -> None:
        """Write ``results.h5`` and ``summary.json``: by default those of `plaq.data.results_file.Findings`.
        On rank 0."""
        from plaq.data import results_file

        results_file.write(output.folder.results, results_file.format_of(self.name), results, self.parameters.to_toml(),
                           output.header)
        output.folder.write_summary(results_file.summary(results, output.header))

    @classmethod
    def outcome(cls, results: Any) -> dict[str, Any]:
        """Of a run of a sweep: ``status``, not "failed", ``in_words`` and what else its table is to have."""
        return {"status": "done", "in_words": results.answers()[0]}

    @classmethod
    def record_sweep(cls, base: Path, runs: Mapping[str, Any], outcomes: Mapping[str, Mapping[str, Any]]) -> Path:
        """Write the table of a sweep, {run: parameters} and {run: outcome}; where it is. On rank 0."""
        return table.write(base, runs, outcomes)

    @classmethod
    def report(cls, folder: Path) -> Path:
        """Write the report of a run's folder from its results; where it is."""
        from plaq.data import report

        return report.write(folder, cls.name)

    @classmethod
    def digest(cls, folder: Path) -> list[str]:
        """One hash of all results of a folder and what of a machine it depends on; of a sweep one line for each
        run and one for all."""
        from plaq.data import results_file

        return [results_file.digest_line(folder / "results.h5", results_file.format_of(cls.name))]
