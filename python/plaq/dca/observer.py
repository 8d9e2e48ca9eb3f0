"""What the loop reports to: keeps the run folder up to date, shows progress, and says when to stop."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from plaq.data.estimate import with_error
from plaq.data.words import duration, number, size
from plaq.dca import further
from plaq.dca.parameters import Parameters
from plaq.dca.physics import checks
from plaq.dca.physics.point import Point
from plaq.dca.physics.response import responses
from plaq.dca.planning.progress import Progress
from plaq.dca.results.file import check_functions, write_results
from plaq.dca.results.results import Results, summary
from plaq.dca.solver.shares import Shares, SpreadEstimate, to_the_end
from plaq.errors import InputError
from plaq.files import checkpoint
from plaq.files.number_file import NumberFile
from plaq.run.folder import RunFolder
from plaq.run.live import Log
from plaq.run.stop import Stop
from plaq.trace.session import region

PROGRAM = "plaq dca"


class QuietObserver:
    """Only says when to stop: for runs without a folder."""

    def __init__(self, stop: Stop):
        self._stop = stop

    def status(self, **fields: Any) -> None:
        """Where the run is; see `Observer`."""

    def goes_on(self, T: float | None, iteration: int = 1, measured: int = 0, of: int = 0) -> None:
        """A run that was stopped goes on at this place of iteration ``iteration``; T is None where all is done."""

    def iteration(self, record: dict[str, Any]) -> None:
        """One iteration of the loop is done."""

    def point(self, point: Point, spread: Mapping[str, SpreadEstimate] = {}) -> None:
        """One temperature is done. ``spread``: what each rank has a part of; all make this call."""
        point.observables |= {name: estimate.collected() for name, estimate in spread.items()}

    def checkpoint(self, state: dict[str, Any], shares: Shares | None = None) -> None:
        """Keep this state. All ranks make this call where they share bins."""

    def numbers(self, count: int) -> np.ndarray | None:
        """The next numbers of the shares that the checkpoint has: on rank 0, None on the others."""

    def keep(self, label: str, loop: dict[str, Any] | None) -> None:
        """Keep what it takes to measure a finished temperature further; ``loop`` is None on ranks other than 0."""

    def kept(self, label: str, T: float) -> dict[str, Any] | None:
        """It again: on rank 0, None on the others."""

    def checkpoint_due(self) -> bool:
        return False

    def stop_requested(self) -> str | None:
        """None, or why to stop: "SIGINT", "SIGTERM" or "walltime"."""
        return self._stop.requested()


class Contributor(QuietObserver):
    """Observer of the ranks other than 0 of a run with a folder: hands over what rank 0 writes."""

    def point(self, point: Point, spread: Mapping[str, SpreadEstimate] = {}) -> None:
        point.in_file = list(spread)
        with to_the_end(estimate.blocks() for estimate in spread.values()):
            pass

    def checkpoint(self, state: dict[str, Any], shares: Shares | None = None) -> None:
        with to_the_end([shares.unsaved()] if shares else ()):
            pass


class Observer(QuietObserver):
    """Rank 0's observer: results and summary after every temperature, checkpoints, log and live view."""

    COLUMNS = {"T": 8, "iter": 5, "mu": 9, "n": 9, "sign": 7, "<k>": 8, "change": 10, "measured": 9, "time": 12}
    NARROW = {"T": 7, "iter": 4, "n": 8, "sign": 7, "change": 8, "time": 11}  # of a terminal of 50 columns

    def __init__(self, parameters: Parameters, folder: RunFolder, log: Log, header: dict[str, Any], stop: Stop):
        super().__init__(stop)
        self._parameters = parameters
        self._folder = folder
        self._log = log
        self._header = header
        self._points: dict[int, Point] = {}
        self._bins: NumberFile | None = None
        self._state: dict[str, Any] = {}
        self._last_checkpoint = time.monotonic()
        self._written: list[tuple[int, float]] = []  # bytes and seconds of every checkpoint
        self._headed = False
        self._continued: str | None = None

    def resume(self) -> dict[str, Any] | None:
        """The state of the last checkpoint, None to start from the beginning; InputError when it cannot be
        used. The folder is that of this input from here on."""
        state = self._resumed(self._folder.before or self._parameters)
        self._folder.adopt(self._parameters)
        return state

    def _resumed(self, before: Parameters) -> dict[str, Any] | None:
        inputs = self._parameters.fingerprints() + before.fingerprints()
        state = checkpoint.load(self._folder.checkpoint, PROGRAM, *inputs)
        if state is not None:
            points = [Point.from_state(point) for point in state["points"]]
            try:
                check_functions(self._folder.results, points, [name[:16] for name in inputs])  # as headers say
            except InputError as error:
                raise InputError(f"{error}; the checkpoint relies on it: remove {self._folder.checkpoint} to start this "
                                 "run from the beginning") from None
            if "spread" in state:
                self._bins = NumberFile(self._folder.bins(state["spread"]["label"]))
                self._bins.open(state["spread"]["content"])
            self._points = {point.index: point for point in points}
            more = tuple(state.get("asked", before.asked())) != self._parameters.asked()
            if more:
                state = further.begin(state, before, self._parameters, self._folder, PROGRAM)
                self.checkpoint(state)
                shown = ", ".join(f"{points[i].T:g}" for i in state["redo"])
                self._log.line(f"goes on with more measurements at {f'T = {shown}' if shown else 'new temperatures'}")
            if state.get("grown"):
                self._header["went on after"] = further.in_words(state["grown"])
            if more:
                self.save(Results(points))  # as those of this input
        return state

    def status(self, **fields: Any) -> None:
        """Any of phase, T, index (from 0), temperatures (how many), iteration (from 1), iterations, mu, density,
        sign, sign_error, order, change, change_error, sweeps_per_second, seconds_left (of this iteration), seconds (at
        this temperature), part_done (of this temperature); what is not given stays as it was."""
        self._state.update(fields)
        s = self._state.get
        sign = "–" if s("sign") is None else with_error(s("sign"), s("sign_error") or 0.0)
        rows = [
            ("temperature", f"{number(s('T'))} t"),
            ("iteration", f"{number(s('iteration'), 'd')} of ≤ {number(s('iterations'), 'd')}"),
            ("μ", number(s("mu"), ".6f")),
            ("n", number(s("density"), ".5f")),
            ("sign", sign),
            ("⟨k⟩", number(s("order"), ".1f")),
            ("change of Σ", in_errors(s("change"), s("change_error"))),
            ("sweeps/s", number(s("sweeps_per_second"), ",.0f")),
            ("phase", s("phase") or "–"),
            ("iteration left", duration(s("seconds_left"))),
        ]
        index, count, part = s("index") or 0, s("temperatures") or 1, s("part_done") or 0.0
        spent = [sum(self._points[k].seconds.values()) for k in range(index) if k in self._points]
        left = self._progress.left([*spent, s("seconds") or 0.0], part) if len(spent) == index else None
        rows.append(("run left", duration(left)))
        if self._continued:
            rows.append(("went on at", self._continued))
        title = f"plaq dca · temperature {index + 1} of {count}"
        self._log.status(title, rows, self._progress.done(index, part))

    @cached_property
    def _progress(self) -> Progress:
        return Progress(self._parameters)

    def goes_on(self, T: float | None, iteration: int = 1, measured: int = 0, of: int = 0) -> None:
        if T is None:
            self._log.line("goes on: all temperatures are done")
            return
        self._continued = f"{T:.5g} t, iteration {iteration}"
        there = f", iteration {iteration}, with {measured:.0f} of {of:.0f} measurements there" if of else ""
        self._log.line(f"goes on at T = {T:.5g}{there}")

    def iteration(self, record: dict[str, Any]) -> None:
        """``record``: T, iteration, mu, density, sign, order, change, change_error, measurements, seconds {part:
        s}."""
        def row(widths: Mapping[str, int], cells: Mapping[str, str]) -> str:
            return " ".join(f"{cells[name]:>{width}}" for name, width in widths.items())

        def both(cells: Mapping[str, str]) -> None:
            self._log.line(row(self.COLUMNS, cells), row(self.NARROW, cells))

        if not self._headed:
            both({name: name for name in self.COLUMNS})
            self._headed = True
        r = record.get
        both({"T": number(r("T"), ".5g"), "iter": number(r("iteration"), "d"), "mu": number(r("mu"), ".5f"),
              "n": number(r("density"), ".5f"), "sign": number(r("sign"), ".4f"), "<k>": number(r("order"), ".2f"),
              "change": in_errors(r("change"), r("change_error")), "measured": number(r("measurements"), "d"),
              "time": duration(sum((r("seconds") or {}).values()))})

    def point(self, point: Point, spread: Mapping[str, SpreadEstimate] = {}) -> None:
        point.in_file = list(spread)
        self._points[point.index] = point
        with to_the_end(estimate.blocks() for estimate in spread.values()):
            self.save(Results([self._points[index] for index in sorted(self._points)]), {point.index: spread})
        shown = [f"{name} = {point[name]}" for name in ("sign", "energy", "lambda_d") if name in point]
        check = checks.in_words(point)
        split = self._parameters.run.accumulate == "split"
        places = point.history[-1].get("chains_in_flight") if split and point.history else None
        in_flight = f"; {places} chains in flight" if places else ""
        self._log.line(f"T = {point.T:.5g} done: {', '.join(shown)}{'; ' if check else ''}{check}{in_flight}")
        if doubts := checks.doubts(point, self._parameters.dca.density):
            self._log.line(f"{'':8}in doubt: {', '.join(doubts)}")
        for row in responses(point):
            measured = any(name.startswith("lambda_") for name in row.values)
            (self._log.line if measured else self._log.record)(f"{'':8}{row.in_words()}")

    @region("save results")
    def save(self, results: Results, spread: Mapping[int, Mapping[str, SpreadEstimate]] = {}) -> None:
        """Replace ``results.h5`` and ``summary.json``; ``spread`` as `write_results` takes it."""
        self._folder.check()
        write_results(self._folder.results, results, self._parameters.to_toml(), self._header, spread)
        self._folder.write_summary(summary(results, self._header, self._parameters.dca.density))

    def checkpoint(self, state: dict[str, Any], shares: Shares | None = None) -> None:
        started = time.monotonic()
        self._folder.check()
        if shares:
            if not shares.saved:
                self._bins = NumberFile(self._folder.bins(shares.label))
            blocks = shares.unsaved()
            with to_the_end([blocks]):
                self._bins.append(blocks)
            state = {**state, "spread": {"label": shares.label, "places": shares.saved, "content": self._bins.content}}
        state = {**state, "asked": list(self._parameters.asked())}
        written = checkpoint.save(self._folder.checkpoint, state, PROGRAM, self._parameters.fingerprint())
        needed = {self._folder.kept(label) for label in state.get("kept", {}).values()}
        needed |= {self._bins.path} if shares else set()
        for name in (self._folder.bins("*").name, self._folder.kept("*").name):
            for file in set(self._folder.path.glob(name)) - needed:
                file.unlink()
        self._last_checkpoint = time.monotonic()
        written += self._bins.content["bytes"] if shares else 0
        self._written.append((written, self._last_checkpoint - started))

    def checkpoints(self) -> str:
        """How many were written, the largest of them, and how long that one took, in words."""
        if not self._written:
            return "none written"
        largest, seconds = max(self._written)
        return f"{len(self._written)} written, the largest {size(largest)} in {seconds:.2g} s"

    def numbers(self, count: int) -> np.ndarray | None:
        return self._bins.read(count)

    def keep(self, label: str, loop: dict[str, Any] | None) -> None:
        checkpoint.save(self._folder.kept(label), loop, PROGRAM, self._parameters.family())

    def kept(self, label: str, T: float) -> dict[str, Any] | None:
        return further.read(label, T, self._parameters, self._folder, PROGRAM)

    def checkpoint_due(self) -> bool:
        return time.monotonic() - self._last_checkpoint >= self._parameters.run.checkpoint_every


def in_errors(change: float | None, error: float | None) -> str:
    """A change in units of its own error."""
    return "–" if change is None or not error else f"{change / error:.2f} σ"
