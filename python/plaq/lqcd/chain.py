"""Markov chain of gauge fields with measurements: the simulation of ``plaq lqcd run``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from plaq.data.formatting import format_duration
from plaq.errors import InputError
from plaq.lqcd import sea
from plaq.lqcd.action.hmc import trajectory
from plaq.lqcd.action.monitors import Forces, Monitors
from plaq.lqcd.action.of_input import action_of
from plaq.lqcd.action.ranges import Ranges
from plaq.lqcd.choices import rectangle_coefficient
from plaq.lqcd.fields.gauge_field import GaugeField
from plaq.lqcd.fields.lattice import Lattice
from plaq.lqcd.fields.schroedinger import Walls
from plaq.lqcd.files.gauge_formats import read_gauge
from plaq.lqcd.files.ildg import read_ildg, write_ildg
from plaq.lqcd.files.vector_file import read_vectors, write_vectors
from plaq.lqcd.measuring import PARTS, PROPAGATORS, Measurements
from plaq.lqcd.parameters import STARTS, Parameters
from plaq.lqcd.results import Results
from plaq.machine import pool_options
from plaq.run.driver import Run
from plaq.run.folder import parts_of
from plaq.run.timing import timed

LINKS = "links"  # name of the gauge field in the folder of a checkpoint


class Chain:
    """Gauge field, distributed over the ranks, and measurements on its configurations, on all ranks."""

    def __init__(self, p: Parameters, run: Run):
        self.p, self.run = p, run
        self.seconds = {"updates": 0.0, **dict.fromkeys(PARTS, 0.0), "files": 0.0, "checkpoints": 0.0}
        self.lattice = lattice_of(p, run)
        self.folder = run.comm.on_root(lambda: run.output.folder.path, share=True) if run.has_folder else None
        self.walls = Walls.of(self.lattice, p) if p.lattice.boundary == "schroedinger" else None
        state = run.resume()
        self.measured = Measurements(p, self.seconds, state, self.folder and self.folder / PROPAGATORS)
        if state is None:
            self.gauge = self.first_field()
            self.sweeps, self.trajectories = 0, np.zeros((0, 2))
        else:
            path = parts_of(self.folder, state["parts"])
            is_folder = run.comm.on_root(path.is_dir, share=True)
            self.gauge = read_ildg(path / LINKS if is_folder else path, self.lattice)
            self.sweeps, self.trajectories = int(state["sweeps"]), state["trajectories"]
        self.before = self.sweeps, len(self.measured)  # where this process began
        self.ranges = Ranges(p, self.sweeps, state and state["ranges"])
        self.monitors = Monitors(p, state and state["monitors"])
        self.action = action_of(p) if p.updates.algorithm == "hmc" else None
        if self.action:
            self.scales = self.action.scales(p)
            for term in self.action.multigrid if state and is_folder else ():
                term.vectors = read_vectors(path / term.name, self.lattice)

    def first_field(self) -> GaugeField:
        """Return the field that the chain begins with."""
        updates = self.p.updates
        gauge = (GaugeField(self.lattice) if updates.start in STARTS else read_gauge(updates.start, self.lattice))
        if updates.start == "hot":
            gauge.hot(updates.seed)
        return self.walls.impose(gauge) if self.walls else gauge

    def steps(self) -> Iterator[bool]:
        updates = self.p.updates
        for number in sorted(self.measured.late()):
            self.measured.measure(read_ildg(self.folder / f"conf.{number:06}", self.lattice), number)
            yield False
        while (number := len(self.measured)) < updates.configurations:
            due = updates.thermalisation + number * updates.sweeps
            while self.sweeps < due:
                self.sweep()
                self.show_status()
                yield False
            last = number + 1 == updates.configurations
            self.measured.measure(self.gauge, number + 1)
            self.save_configuration(last)
            self.show_status()
            self.log_progress(number + 1)
            yield last  # the state of a finished chain is kept: more configurations continue from it

    def sweep(self) -> None:
        """Update all links once."""
        p, seed = self.p, self.p.updates.seed
        with timed(self.seconds, "updates"):
            if p.updates.algorithm == "hmc":
                self.move(seed)
            elif self.walls:
                self.walls.heat_bath(self.gauge, p.action.beta, seed, self.sweeps)
                for _ in range(p.updates.over_relaxations):
                    self.walls.over_relax(self.gauge)
            else:
                c1 = rectangle_coefficient(p.action.gauge)
                self.gauge.heat_bath(p.action.beta, seed, self.sweeps, c1=c1)
                for _ in range(p.updates.over_relaxations):
                    self.gauge.over_relax(c1)
        self.sweeps += 1

    def move(self, seed: int) -> None:
        """Run a trajectory, and record what the input asks for."""
        number, monitors = self.sweeps, self.monitors
        forces = Forces() if monitors.due("forces", number) else None
        result = trajectory(self.gauge, self.scales, self.p.hmc.length, seed, number,
                            corrections=self.action.corrections, always=number < self.p.hmc.accept_from,
                            reverse=monitors.due("reversibility", number), watch=forces,
                            moving=self.walls.moving() if self.walls else None)
        if self.walls:
            self.walls.impose(self.gauge)  # moves project all links
        self.trajectories = np.vstack([self.trajectories, [result.delta_h, result.accepted]])
        if forces:
            monitors.add("forces", number, forces.row(monitors.terms))
        if result.returned:
            monitors.add("reversibility", number, result.returned)
        if monitors.due("eigenvalues", number):
            monitors.measure_eigenvalues(number, self.gauge)

    def save_configuration(self, last: bool) -> None:
        """Write the configuration measured last as conf.NNNNNN, if its number is due or it is the ``last`` one."""
        number, every = len(self.measured), self.p.updates.save_every
        if self.folder and (last or every and number % every == 0):
            with timed(self.seconds, "files"):
                name = f"conf.{number:06}"
                self.write(self.folder / name, f"lfn://plaq/{self.p.binding()[:16]}/{name}")

    def write(self, path: Path, name: str | None = None) -> None:
        """Write the gauge field, with the notes of tmLQCD and CL2QCD in xlf-info, and its name in a catalogue."""
        action = self.p.action
        pair = next((q for q in self.p.quarks.values() if sea.is_pair(q)), None)
        light = f"kappa = {pair.kappa!r}, mu = {pair.mu!r}, " if pair else ""
        write_ildg(path, self.gauge, lfn=name, notes={
            "trajectory nr": self.sweeps,
            "beta": f"{action.beta!r}, {light}c2_rec = {rectangle_coefficient(action.gauge)!r}",
            "action": f"{action.gauge}"})

    def show_status(self) -> None:
        if not self.run.is_watched:
            return
        u, values = self.p.updates, self.measured.plaquettes
        to_go, total = self.sweeps_to_go(), u.thermalisation + (u.configurations - 1) * u.sweeps
        word = "trajectories" if u.algorithm == "hmc" else "sweeps"
        rows = [(word, f"{self.sweeps} of {total}"),
                ("plaquette", f"{values.mean():.6f}" if len(values) else "–")]
        if len(self.trajectories):
            rows.append(("accepted",
                         f"{self.trajectories[:, 1].mean():.1%}, last Delta H {self.trajectories[-1, 0]:+.3g}"))
        rows.append(("run left", format_duration(self.seconds_left())))
        done = 1 - (to_go + u.configurations - len(values)) / (total + u.configurations)
        self.run.status(f"plaq lqcd · configuration {min(len(values) + 1, u.configurations)} of {u.configurations}",
                        rows, done)

    def sweeps_to_go(self) -> int:
        u = self.p.updates
        return max(0, u.thermalisation + (u.configurations - 1) * u.sweeps - self.sweeps)

    def seconds_left(self) -> float | None:
        """Return the seconds left at the speed so far; None before a sweep and a measurement have been timed."""
        swept, measured = self.sweeps - self.before[0], len(self.measured) - self.before[1]
        to_go, updates = self.sweeps_to_go(), self.seconds["updates"]
        if not measured or to_go and not swept:
            return None
        each = (sum(self.seconds.values()) - updates) / measured
        return (each * (self.p.updates.configurations - len(self.measured))
                + (updates / swept * to_go if to_go else 0.0))

    def log_progress(self, done: int) -> None:
        """Log a line at every tenth of the configurations."""
        total, values = self.p.updates.configurations, self.measured.plaquettes
        if self.run.output and done * 10 // total > (done - 1) * 10 // total:
            accepted = (f", {self.trajectories[:, 1].mean():.1%} of trajectories accepted" if len(self.trajectories)
                        else "")
            self.run.line(f"configuration {done} of {total}: plaquette {values[-1]:.6f}, on average "
                          f"{values.mean():.6f}{accepted}")

    def state(self) -> dict[str, Any] | None:
        label = str(self.sweeps)
        with timed(self.seconds, "checkpoints"):
            self.write_parts(parts_of(self.folder, label))
        return self.run.output and {"parts": label, "sweeps": self.sweeps, "trajectories": self.trajectories,
                                  "ranges": self.ranges.rows, "monitors": self.monitors.rows, **self.measured.state()}

    def write_parts(self, path: Path) -> None:
        """Write the gauge field, in a folder with the test vectors of multigrid if the action has any."""
        vectors = {term.name: term.test_vectors() for term in self.action.multigrid} if self.action else {}
        if not any(vectors.values()):
            self.write(path)
            return
        self.run.comm.on_root(lambda: path.mkdir(exist_ok=True))
        self.write(path / LINKS)
        for name, fields in vectors.items():
            write_vectors(path / name, self.lattice, fields)

    def distributed_numbers(self):
        return None

    def results(self) -> Results:
        return self.measured.results(self.trajectories, (self.ranges, self.monitors))


def check_late(p: Parameters, folder: Path, before: Parameters, state: Mapping[str, Any]) -> None:
    """Raise InputError where tables that are new in a folder's run need configurations that are not stored there.

    ``before`` and ``state`` are those of its last checkpoint.
    """
    if p.measure.configurations or p.conflict(before) is not None:
        return
    for number, table in sorted(Measurements(p, {}, state).late().items()):
        if not (path := folder / f"conf.{number:06}").exists():
            raise InputError(f"{table}: this run has already passed configuration {number}, and {path} is not there; "
                             f"take {table}.every = a multiple of updates.save_every, or another folder with --out")


def lattice_of(p: Parameters, run: Run) -> Lattice:
    """Return the lattice of the input, cut for the ranks of the run."""
    return Lattice(p.lattice.extents, None if p.run.grid == "auto" else p.run.grid, comm=run.comm,
                   backend=p.run.threads, pool=pool_options(p.run.workers, p.run.bind))
