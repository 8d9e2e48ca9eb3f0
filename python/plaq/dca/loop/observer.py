"""Observers of the loop: they show its progress, and keep the results in the run folder up to date."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from plaq.data.estimate import with_error
from plaq.data.formatting import format_duration, format_number
from plaq.dca.loop import further
from plaq.dca.loop.start import Start
from plaq.dca.loop.state import RunState, TemperatureState
from plaq.dca.parameters import Parameters
from plaq.dca.physics import checks
from plaq.dca.physics.instabilities import leading_pairing
from plaq.dca.physics.point import Point
from plaq.dca.physics.response import responses
from plaq.dca.planning.progress import Progress
from plaq.dca.results.file import check_functions, write_results
from plaq.dca.results.results import Results, summary
from plaq.dca.solver.distributed_g4 import DistributedEstimate
from plaq.dca.units import measured
from plaq.errors import InputError
from plaq.run.output import RunOutput, drain
from plaq.trace.session import region


class QuietObserver:
    """Observer of runs without a folder: collects distributed estimates, and reports nothing."""

    def show_status(self, **fields: Any) -> None:
        """Show the progress of the run; see `Observer`."""

    def report_resume(self, T: float | None, iteration: int = 1, done: int = 0, whole: int = 0) -> None:
        """Report that a stopped run resumes at T, after ``done`` of ``whole`` measurements of an iteration.

        T is None where all temperatures are done.
        """

    def report_iteration(self, record: dict[str, Any]) -> None:
        """Report a finished iteration of the loop."""

    def record_point(self, point: Point, distributed: Mapping[str, DistributedEstimate] = {}) -> None:
        """Take a finished temperature. Collective where there are ``distributed`` estimates."""
        point.observables |= {name: estimate.collected() for name, estimate in distributed.items()}

    def keep(self, label: str, state: dict[str, Any]) -> None:
        """Keep the plain state of a finished temperature for further measurements. On rank 0."""

    def read_kept(self, label: str, T: float) -> TemperatureState:
        """Return the state that `keep` wrote. On rank 0, and in a run with a folder: others keep nothing."""
        raise NotImplementedError


class Contributor(QuietObserver):
    """Observer of the ranks other than 0 of a run with a folder: sends rank 0 the data that it writes."""

    def record_point(self, point: Point, distributed: Mapping[str, DistributedEstimate] = {}) -> None:
        point.in_file = list(distributed)
        with drain(estimate.blocks() for estimate in distributed.values()):
            pass


class Shower(QuietObserver):
    """Observer that shows the status of the run by ``show(title, rows, done)``, as `plaq.run.driver.Run.status`."""

    def __init__(self, parameters: Parameters, show: Callable[[str, list[tuple[str, str]], float], None]):
        self._parameters, self._show = parameters, show
        self._points: dict[int, Point] = {}
        self._status: dict[str, Any] = {}
        self._continued: str | None = None

    def show_status(self, **fields: Any) -> None:
        """Show the progress of the run in the live view; fields that are not given stay as they were.

        Fields: phase, T, index (from 0), temperatures (their number), iteration (from 1), iterations, mu, density,
        sign, sign_error, order, change, change_error, sweeps_per_second, seconds_left (of this iteration), seconds
        and part_done (of this temperature).
        """
        self._status.update(fields)
        s = self._status.get
        sign = "–" if s("sign") is None else with_error(s("sign"), s("sign_error") or 0.0)
        rows = [
            ("temperature", measured(format_number(s("T")), self._parameters.unit)),
            ("iteration", f"{format_number(s('iteration'), 'd')} of ≤ {format_number(s('iterations'), 'd')}"),
            ("μ", format_number(s("mu"), ".6f")),
            ("n", format_number(s("density"), ".5f")),
            ("sign", sign),
            ("⟨k⟩", format_number(s("order"), ".1f")),
            ("change of Σ", in_errors(s("change"), s("change_error"))),
            ("sweeps/s", format_number(s("sweeps_per_second"), ",.0f")),
            ("phase", s("phase") or "–"),
            ("iteration left", format_duration(s("seconds_left"))),
        ]
        if s("iteration") is None:  # exact diagonalisation has no iterations
            rows = [rows[0], ("phase", s("phase") or "–")]
        index, count, part = s("index") or 0, s("temperatures") or 1, s("part_done") or 0.0
        spent = [sum(self._points[k].seconds.values()) for k in range(index) if k in self._points]
        left = self._progress.left([*spent, s("seconds") or 0.0], part) if len(spent) == index else None
        rows.append(("run left", format_duration(left)))
        if self._continued:
            rows.append(("resumed at", self._continued))
        title = f"plaq dca · temperature {index + 1} of {count}"
        self._show(title, rows, self._progress.done(index, part))

    @cached_property
    def _progress(self) -> Progress:
        return Progress(self._parameters)

    def record_point(self, point: Point, distributed: Mapping[str, DistributedEstimate] = {}) -> None:
        super().record_point(point, distributed)
        self._points[point.index] = point


class Observer(Shower):
    """Observer of rank 0 of a run with a folder: results and summary after every temperature, log and live view."""

    COLUMNS = {"T": 8, "iter": 5, "mu": 9, "n": 9, "sign": 7, "<k>": 8, "change": 10, "measured": 9, "time": 12}
    NARROW = {"T": 7, "iter": 4, "n": 8, "sign": 7, "change": 8, "time": 11}  # of a terminal of 50 columns

    def __init__(self, parameters: Parameters, output: RunOutput,
                 show: Callable[[str, list[tuple[str, str]], float], None] | None = None):
        super().__init__(parameters, show or output.log.status)
        self._output = output
        self._log, self._header = output.log, output.header
        self._headed = False

    def resume(self, start: Start | None) -> RunState | None:
        """Return the state of the last checkpoint, or of another run to start from; None for a start from nothing.

        InputError when it cannot be used. The folder is that of this input from here on.
        """
        before = self._output.folder.before or self._parameters
        plain = self._output.state()
        state = None if plain is None else self._resumed(RunState.from_plain(plain), before)
        self._output.folder.adopt(self._parameters)
        if state is None and start is not None:
            state = start.state
            self._output.checkpoint(state.plain())
            self._log.line(start.words)
        return state

    def _resumed(self, state: RunState, before: Parameters) -> RunState:
        points, folder = state.points, self._output.folder
        try:
            check_functions(folder.results, points, [name[:16] for name in self._output.inputs],  # as headers say
                            self._output.datasets)
        except InputError as error:
            raise InputError(f"{error}; the checkpoint relies on it: remove {folder.checkpoint} to start "
                             "this run from the beginning") from None
        self._points = {point.index: point for point in points}
        more = tuple(state.asked) != self._parameters.asked()
        if more:
            state = further.begin(state, before, self._parameters, self._output)
            self._output.checkpoint(state.plain())
            shown = ", ".join(f"{points[i].T:g}" for i in state.redo)
            self._log.line(f"resumes with more measurements at {f'T = {shown}' if shown else 'new temperatures'}")
        if state.grown:
            self._header["went on after"] = further.in_words(state.grown)
        if more:
            self.save(Results(points))  # under the header of this input
        return state

    def report_resume(self, T: float | None, iteration: int = 1, done: int = 0, whole: int = 0) -> None:
        if T is None:
            self._log.line("resumes: all temperatures are done")
            return
        self._continued = f"{measured(f'{T:.5g}', self._parameters.unit)}, iteration {iteration}"
        progress = f", iteration {iteration}, with {done:.0f} of {whole:.0f} measurements there" if whole else ""
        self._log.line(f"resumes at T = {T:.5g}{progress}")

    def report_iteration(self, record: dict[str, Any]) -> None:
        """Log a finished iteration, of which the record is one row of a table.

        ``record``: T, iteration, mu, density, sign, order, change, change_error, measurements, seconds {part: s}.
        """
        def row(widths: Mapping[str, int], cells: Mapping[str, str]) -> str:
            return " ".join(f"{cells[name]:>{width}}" for name, width in widths.items())

        def both(cells: Mapping[str, str]) -> None:
            self._log.line(row(self.COLUMNS, cells), row(self.NARROW, cells))

        if not self._headed:
            both({name: name for name in self.COLUMNS})
            self._headed = True
        r = record.get
        both({"T": format_number(r("T"), ".5g"), "iter": format_number(r("iteration"), "d"),
              "mu": format_number(r("mu"), ".5f"), "n": format_number(r("density"), ".5f"),
              "sign": format_number(r("sign"), ".4f"), "<k>": format_number(r("order"), ".2f"),
              "change": in_errors(r("change"), r("change_error")), "measured": format_number(r("measurements"), "d"),
              "time": format_duration(sum((r("seconds") or {}).values()))})

    def record_point(self, point: Point, distributed: Mapping[str, DistributedEstimate] = {}) -> None:
        point.in_file = list(distributed)
        self._points[point.index] = point
        with drain(estimate.blocks() for estimate in distributed.values()):
            self.save(Results([self._points[index] for index in sorted(self._points)]), {point.index: distributed})
        shown = [f"{name} = {point[name]}" for name in ("sign", "energy", leading_pairing([point])) if name in point]
        check = checks.in_words(point)
        self._log.line(f"T = {point.T:.5g} done: {', '.join(shown)}{'; ' if check else ''}{check}")
        if warnings := checks.warnings(point, self._parameters.dca.density):
            self._log.line(f"{'':8}warning: {', '.join(warnings)}")
        for note in dict.fromkeys(e.note for e in point.observables.values() if e.note and e.supported):
            names = [name for name, e in point.observables.items() if e.note == note]
            self._log.record(f"{'':8}{note}: {', '.join(names)}")
        for row in responses(point):
            measured = any(name.startswith("lambda_") for name in row.values)
            (self._log.line if measured else self._log.record)(f"{'':8}{row.in_words()}")

    @region("save results")
    def save(self, results: Results, distributed: Mapping[int, Mapping[str, DistributedEstimate]] = {}) -> None:
        """Replace ``results.h5`` and ``summary.json``; ``distributed`` as in `write_results`."""
        self._output.folder.check()
        self._output.datasets = write_results(self._output.folder.results, results, self._parameters.to_toml(),
                                            self._header, distributed)
        self._output.folder.write_summary(summary(results, self._header, self._parameters.dca.density))

    def keep(self, label: str, state: dict[str, Any]) -> None:
        self._output.keep(label, state, self._parameters.family())

    def read_kept(self, label: str, T: float) -> TemperatureState:
        return further.read(label, T, self._parameters, self._output)


def in_errors(change: float | None, error: float | None) -> str:
    """Return a change in units of its own error."""
    return "–" if change is None or not error else f"{change / error:.2f} σ"
