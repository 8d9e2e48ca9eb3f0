"""Simulation of ``plaq pic``: a plasma in time, its diagnostics and checkpoints."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping
from typing import Any

from plaq.data.formatting import format_duration
from plaq.machine import build
from plaq.pic.diagnostics import openpmd
from plaq.pic.diagnostics.histogram import Histogram
from plaq.pic.diagnostics.history import History
from plaq.pic.diagnostics.mean import Mean
from plaq.pic.diagnostics.pictures import pictures
from plaq.pic.diagnostics.probe import Probe
from plaq.pic.diagnostics.recorder import Recorder
from plaq.pic.inputs import loads
from plaq.pic.inputs.parameters import Parameters
from plaq.pic.inputs.setup import Setup
from plaq.pic.planning.warnings import input_warnings
from plaq.pic.plasma import Plasma
from plaq.pic.results.assemble import assemble_results
from plaq.pic.results.results import Results
from plaq.run.driver import Run
from plaq.run.folder import parts_of
from plaq.run.timing import timed
from plaq.trace.session import region

STOP_CHECK = 2.0  # about, seconds between two checks whether the run is to stop


class Simulation:
    """Plasma on all ranks and, on each of them, everything recorded so far.

    ``rows`` are those of the core, of every few steps.
    """

    def __init__(self, p: Parameters, run: Run):
        self.p, self.run, self.setup = p, run, Setup(p)
        self.seconds = {"start-up": 0.0, "steps": 0.0, "window": 0.0, "balance": 0.0, "diagnostics": 0.0,
                        "files": 0.0, "checkpoints": 0.0}
        self.folder = run.comm.on_root(lambda: run.output.folder.path, share=True) if run.has_folder else None
        self.recorders = make_recorders(self.setup)
        self.moves: list[dict[str, Any]] = []
        self.batch = 1  # steps at once
        with timed(self.seconds, "start-up"):
            state = run.resume()
            expected = loads.expected_loads(self.setup)
            if state is None:
                self.plasma = Plasma(self.setup, run.comm, expected)
                self.rows = History(self.plasma.columns, self.p.output.history)
                self.plasma.fill()
                self.log_warnings(expected)
            else:
                self.plasma = Plasma(self.setup, run.comm, expected, parts_of(self.folder, state["parts"]))
                self.restore(state)
        self.recording = p.run.record_loads and self.folder is not None
        if self.recording:
            self.plasma.record_loads(self.folder / f"loads_{self.plasma.step:08}.jsonl")
        if state is None:
            self.run_diagnostics()

    def log_warnings(self, expected: loads.Loads) -> None:
        if self.run.output:
            for sentence in input_warnings(self.setup, expected):
                self.run.line(f"warning: {sentence}")

    # Steps -------------------------------------------------------------------------------------------------------

    def steps(self) -> Iterator[bool]:
        while (step := self.plasma.step) < self.setup.steps:
            if self.plasma.window_moves(step):
                with timed(self.seconds, "window"), region("window"):
                    self.plasma.shift_window()
            count = min(self.batch, self.next_stop(step) - step)
            started = time.perf_counter()
            with timed(self.seconds, "steps"), region("steps"):
                self.rows.add(self.plasma.advance(count))
            self.set_batch(count, time.perf_counter() - started)
            self.balance()
            self.run_diagnostics()
            self.report_progress()
            yield self.plasma.step == self.setup.steps

    def next_stop(self, step: int) -> int:
        """Return the next step after which there is more to do than the next step."""
        stops = [self.setup.steps, *(recorder.next_step(step) for recorder in self.recorders)]
        stops += [(step // every + 1) * every for every in (self.p.output.every, self.p.run.balance_every) if every]
        if self.p.window.speed:
            stops.append(next(later for later in itertools.count(max(step + 1, self.plasma.window_start))
                              if self.plasma.window_moves(later)))
        return min(stops)

    def set_batch(self, count: int, seconds: float) -> None:
        """Set the number of steps between two checks, the same on all ranks. No result depends on it."""
        wanted = (2 * self.batch if seconds < STOP_CHECK / 4
                  else self.batch // 2 if seconds > STOP_CHECK and count > 1 else self.batch)
        self.batch = max(1, min(int(self.run.comm.bcast(wanted)), 1 << 20))

    def balance(self) -> None:
        every, step = self.p.run.balance_every, self.plasma.step
        if every and step % every == 0 and step < self.setup.steps and (self.run.comm.size > 1 or self.recording):
            with timed(self.seconds, "balance"), region("balance"):
                outcome = self.plasma.call("balance", by=self.p.run.balance_by, only_if_it_pays=True)
            self.moves.append({"step": step, **{key: float(value) for key, value in outcome.items()}})

    def run_diagnostics(self) -> None:
        """Record and write what is due at this step."""
        step, every = self.plasma.step, self.p.output.every
        with timed(self.seconds, "diagnostics"), region("diagnostics"):
            for recorder in self.recorders:
                if recorder.due(step):
                    recorder.record(self.plasma)
        if every and step % every == 0 and self.folder:
            with timed(self.seconds, "files"), region("files"):
                files = self.folder / "openpmd"
                self.run.comm.on_root(lambda: files.mkdir(exist_ok=True))
                openpmd.write(files / openpmd.file_name(step), self.plasma, str(build()["version"]))

    def report_progress(self) -> None:
        if not self.run.is_watched:
            return
        step, steps, row = self.plasma.step, self.setup.steps, self.rows.last
        value = dict(zip(self.plasma.columns, row.tolist()))
        number = sum(value[f"{name}.number"] for name in self.p.species)
        kinetic = sum(value[f"{name}.kinetic"] for name in self.p.species)
        fields = sum(value[f"{kind}_{d}"] for kind in ("electric", "magnetic") for d in self.setup.axes)
        running = sum(self.seconds.values()) - self.seconds["start-up"]
        self.run.status(f"plaq pic · step {step} of {steps}", [
            ("time", f"{step * self.setup.dt:.4g} /ω_p"), ("particles", f"{number:.4g}"),
            ("kinetic energy", f"{kinetic:.4g} W m_e c²"), ("field energy", f"{fields:.4g} W m_e c²"),
            ("run left", format_duration(running / step * (steps - step)))],
            step / steps)
        before = step - self.rows.added
        if step * 10 // steps > before * 10 // steps:
            spent = self.seconds["steps"]
            self.run.line(f"step {step} of {steps}: {number:.4g} particles, energy of particles "
                                     f"{kinetic:.5g}, of fields {fields:.5g} W m_e c²; {format_duration(spent)}")

    # State -------------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any] | None:
        label = str(self.plasma.step)
        with timed(self.seconds, "checkpoints"):
            self.plasma.call("save", str(parts_of(self.folder, label)))
        homes = self.plasma.homes()
        if not self.run.output:
            return None
        return {"parts": label, **self.rows.state(), "columns": list(self.plasma.columns), "homes": homes,
                "moves": self.moves, "seconds": self.seconds,
                "recorders": {recorder.name: recorder.state() for recorder in self.recorders}}

    def restore(self, state: dict[str, Any]) -> None:
        self.rows, self.moves = History(self.plasma.columns, self.p.output.history), list(state["moves"])
        self.rows.restore(state)
        self.seconds = {**self.seconds, **state["seconds"],
                        "start-up": self.seconds["start-up"] + state["seconds"]["start-up"]}
        for recorder in self.recorders:
            recorder.restore(state["recorders"][recorder.name])

    def distributed_numbers(self) -> None:
        return None

    def results(self) -> Results:
        return assemble_results(self.setup, self.plasma.columns, self.rows.all(), self.recorders,
                                self.seconds, {"homes": self.plasma.homes(), "moves": self.moves})


def make_recorders(setup: Setup) -> list[Recorder]:
    """Return the recorders of the probes, histograms, means and pictures of an input."""
    return [*(Probe(setup, name, probe) for name, probe in setup.p.probe.items()),
            *(Histogram(setup, name, section) for name, section in setup.p.histogram.items()),
            *(Mean(setup, name, section) for name, section in setup.p.mean.items()), *pictures(setup)]


def results_so_far(p: Parameters, state: Mapping[str, Any]) -> Results | None:
    """Return the results at a checkpoint, None before the first step."""
    if not len(state["rows"]):
        return None
    setup = Setup(p)
    recorders = make_recorders(setup)
    for recorder in recorders:
        recorder.restore(state["recorders"][recorder.name])
    history = {"homes": state["homes"], "moves": list(state["moves"])}
    results = assemble_results(setup, state["columns"], state["rows"], recorders, state["seconds"], history)
    results.sentences.insert(1, f"not finished: step {len(state['rows']) * p.output.history} of {setup.steps}")
    return results
