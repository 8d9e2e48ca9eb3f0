"""Markov chain of gauge fields with measurements: the simulation of ``plaq lqcd``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from plaq.data.formatting import format_duration
from plaq.lqcd.action.hmc import TimeScale, trajectory
from plaq.lqcd.action.ranges import Ranges
from plaq.lqcd.action.rational import InverseRoot, RationalTerm
from plaq.lqcd.action.terms import CloverTerm, GaugeTerm, doublet
from plaq.lqcd.choices import RECTANGLES
from plaq.lqcd.fields.doublet import Doublet
from plaq.lqcd.fields.fields import GaugeField
from plaq.lqcd.fields.lattice import Lattice
from plaq.lqcd.fields.propagators import Propagator, Smearing, noise_propagator, point_propagator
from plaq.lqcd.fields.wilson import Wilson
from plaq.lqcd.files.ildg import read_ildg, write_ildg
from plaq.lqcd.measurements.analysis import analyse
from plaq.lqcd.measurements.correlators import AXIAL
from plaq.lqcd.measurements.mesons import meson_correlator, spin_tensor
from plaq.lqcd.measurements.potential import Loops
from plaq.lqcd.measurements.scales import flow_times
from plaq.lqcd.parameters import Parameters
from plaq.lqcd.results import Results
from plaq.machine import pool_options
from plaq.run.driver import Run
from plaq.run.folder import parts_of
from plaq.run.timing import timed


def time_scales(p: Parameters) -> list[TimeScale]:
    """Return the time scales of the input's trajectories, one for each term of the action."""
    terms = [(GaugeTerm(p.action.beta, RECTANGLES[p.action.gauge]),)]
    q, strange, heavy = p.quarks, p.strange, p.heavy
    residuals = {"residual": q.residual, "force_residual": q.force_residual}
    if heavy.kappa is not None:
        matrix = partial(Doublet, kappa=heavy.kappa, mu=heavy.mu, epsilon=heavy.epsilon, theta=q.theta)
        root = InverseRoot.zolotarev(heavy.poles, *heavy.range)
        terms = [(RationalTerm(matrix, root, number=1001, **residuals),), *terms]
    if strange.kappa is not None:
        matrix = partial(Wilson, kappa=strange.kappa, mu=0.0, theta=tuple(q.theta), csw=q.csw)
        root = InverseRoot.zolotarev(strange.poles, *strange.range)
        term = RationalTerm(matrix, root, number=1000, **residuals)
        terms = [(term, *([CloverTerm(strange.kappa, 0.0, q.csw, flavours=1, theta=q.theta)] if q.csw else [])), *terms]
    if q.kappa is not None:
        terms = [*doublet(q.kappa, q.mu, q.theta, q.masses, q.csw, **residuals), *terms]
    return [TimeScale(scale, steps, p.hmc.integrator) for scale, steps in zip(terms, p.hmc.steps)]


class Chain:
    """Gauge field, distributed over the ranks, and measurements on its configurations, on all ranks."""

    def __init__(self, p: Parameters, run: Run):
        self.p, self.run = p, run
        self.seconds = {"updates": 0.0, "plaquettes": 0.0, "loops": 0.0, "mesons": 0.0, "flow": 0.0, "files": 0.0,
                        "checkpoints": 0.0}
        grid = None if p.run.grid == "auto" else p.run.grid
        self.lattice = Lattice(p.lattice.extents, grid, comm=run.comm, backend=p.run.threads,
                               pool=pool_options(p.run.workers, p.run.bind))
        self.gauge = GaugeField(self.lattice)
        self.folder = run.comm.on_root(lambda: run.output.folder.path, share=True) if run.has_folder else None
        state = run.resume()
        names = p.mesons.structures if p.mesons.kappa is not None else ()
        if "gamma5" in names:
            names = (*names, AXIAL)
        if state is None:
            if p.updates.start == "hot":
                self.gauge.hot(p.updates.seed)
            self.sweeps, self.plaquettes, self.trajectories = 0, np.zeros((0, 2)), np.zeros((0, 2))
            self.polyakov, self.rectangles = np.zeros((0, 2)), np.zeros(0)
            self.wilson = np.zeros((0, p.loops.space or 0, p.loops.time))
            self.mesons = {name: np.zeros((0, p.lattice.extents[0])) for name in names}
            self.flow = np.zeros((0, len(flow_times(p)), 3))
        else:
            self.gauge = read_ildg(parts_of(self.folder, state["parts"]), self.lattice)
            self.sweeps, self.plaquettes, self.mesons = int(state["sweeps"]), state["plaquettes"], state["mesons"]
            self.flow, self.trajectories, self.polyakov = state["flow"], state["trajectories"], state["polyakov"]
            self.wilson, self.rectangles = state["wilson"], state["rectangles"]
        self.before = self.sweeps, len(self.plaquettes)  # where this process began
        self.ranges = Ranges(p, self.sweeps, state and state["ranges"])
        self.scales = time_scales(p)

    def steps(self) -> Iterator[None]:
        updates = self.p.updates
        while (number := len(self.plaquettes)) < updates.configurations:
            due = updates.thermalisation + number * updates.sweeps
            while self.sweeps < due:
                self.sweep()
                self.show_status()
                yield
            self.measure(number)
            self.show_status()
            self.log_progress(number + 1)
            yield

    def sweep(self) -> None:
        """Update all links once."""
        p, seed = self.p, self.p.updates.seed
        with timed(self.seconds, "updates"):
            if p.updates.algorithm == "hmc":
                result = trajectory(self.gauge, self.scales, p.hmc.length, seed, self.sweeps)
                self.trajectories = np.vstack([self.trajectories, [result.delta_h, result.accepted]])
            else:
                c1 = RECTANGLES[p.action.gauge]
                self.gauge.heat_bath(p.action.beta, seed, self.sweeps, c1=c1)
                for _ in range(p.updates.over_relaxations):
                    self.gauge.over_relax(c1)
        self.sweeps += 1

    def measure(self, number: int) -> None:
        """Measure all observables on configuration ``number``."""
        save, m, loops = self.p.updates.save_every, self.p.mesons, self.p.loops
        smooth = self.smooth() if loops.space or m.kappa is not None and self.p.smearing.gauss_steps else self.gauge
        if loops.space:
            with timed(self.seconds, "loops"):
                loops_of_field = self.gauge.wilson_loops(loops.space, loops.time, smeared=smooth)
                self.wilson = np.concatenate([self.wilson, [loops_of_field]])
                self.rectangles = np.append(self.rectangles, self.gauge.rectangle())
        if self.mesons:
            with timed(self.seconds, "mesons"):
                matrix = Wilson(self.gauge, m.kappa, m.mu, m.theta, m.csw)
                tensor = spin_tensor(self.propagator(matrix, number, smooth))
                for name, series in self.mesons.items():
                    sink, source = name.split(", ") if name == AXIAL else (name, name)
                    self.mesons[name] = np.vstack([series, meson_correlator(tensor, sink, source=source)])
        if (times := flow_times(self.p)).size:
            with timed(self.seconds, "flow"):
                flowed, rows = self.gauge.copy(), []
                for step in np.diff(times, prepend=0.0):
                    flowed.flow(step, self.p.flow.step)
                    rows.append((*flowed.energy_and_charge(), flowed.plaquette_energy()))
                self.flow = np.concatenate([self.flow, [rows]])
        last = number + 1 == self.p.updates.configurations
        if self.folder and (last or save and (number + 1) % save == 0):
            with timed(self.seconds, "files"):
                name = f"conf.{number + 1:06}"
                self.write(self.folder / name, f"lfn://plaq/{self.p.fingerprint()[:16]}/{name}")
        with timed(self.seconds, "plaquettes"):
            self.plaquettes = np.vstack([self.plaquettes, self.gauge.plaquettes()])
            loop = self.gauge.polyakov_loop()
            self.polyakov = np.vstack([self.polyakov, [loop.real, loop.imag]])

    def write(self, path: Path, name: str | None = None) -> None:
        """Write the gauge field, with the notes of tmLQCD and CL2QCD in xlf-info, and its name in a catalogue."""
        action, q = self.p.action, self.p.quarks
        light = f"kappa = {q.kappa!r}, mu = {q.mu!r}, " if q.kappa is not None else ""
        write_ildg(path, self.gauge, lfn=name, notes={
            "trajectory nr": self.sweeps, "beta": f"{action.beta!r}, {light}c2_rec = {RECTANGLES[action.gauge]!r}",
            "action": action.gauge})

    def smooth(self) -> GaugeField:
        """Return the gauge field with smeared links in space."""
        with timed(self.seconds, "loops"):
            s = self.p.smearing
            return self.gauge.copy().ape(s.ape_alpha, s.ape_steps) if s.ape_steps else self.gauge

    def propagator(self, matrix: Wilson, number: int, smooth: GaugeField) -> Propagator:
        """Return the propagator of a configuration from a random site or time slice, smeared as the input says.

        Random numbers are functions of seed and number.
        """
        m, s, seed = self.p.mesons, self.p.smearing, self.p.updates.seed
        smearing = Smearing(smooth, s.gauss_kappa, s.gauss_steps) if s.gauss_steps else None
        random = np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, 1, number]))
        site = tuple(int(x) for x in random.integers(self.p.lattice.extents))
        options = {"smearing": smearing, "method": m.solver, "precision": m.precision}
        if m.source == "noise":
            propagator = noise_propagator(matrix, site[0], seed, number, m.residual, **options)
        else:
            propagator = point_propagator(matrix, site, m.residual, **options)
        return propagator.smear_sink(smearing) if m.sink == "smeared" else propagator

    def show_status(self) -> None:
        if not self.run.is_watched:
            return
        u, values = self.p.updates, self.plaquettes
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
        swept, measured = self.sweeps - self.before[0], len(self.plaquettes) - self.before[1]
        to_go, updates = self.sweeps_to_go(), self.seconds["updates"]
        if not measured or to_go and not swept:
            return None
        each = (sum(self.seconds.values()) - updates) / measured
        return (each * (self.p.updates.configurations - len(self.plaquettes))
                + (updates / swept * to_go if to_go else 0.0))

    def log_progress(self, done: int) -> None:
        """Log a line at every tenth of the configurations."""
        total, values = self.p.updates.configurations, self.plaquettes
        if self.run.output and done * 10 // total > (done - 1) * 10 // total:
            accepted = (f", {self.trajectories[:, 1].mean():.1%} of trajectories accepted" if len(self.trajectories)
                        else "")
            self.run.line(f"configuration {done} of {total}: plaquette {values[-1].mean():.6f}, on average "
                          f"{values.mean():.6f}{accepted}")

    def state(self) -> dict[str, Any] | None:
        label = str(self.sweeps)
        with timed(self.seconds, "checkpoints"):
            self.write(parts_of(self.folder, label))
        return self.run.output and {"parts": label, "sweeps": self.sweeps, "plaquettes": self.plaquettes,
                                  "trajectories": self.trajectories, "polyakov": self.polyakov, "wilson": self.wilson,
                                  "rectangles": self.rectangles, "mesons": self.mesons, "flow": self.flow,
                                  "ranges": self.ranges.rows}

    def distributed_numbers(self):
        return None

    def results(self) -> Results:
        return results_of(self.p, vars(self), self.seconds, self.ranges)


def results_of(p: Parameters, series: Mapping[str, Any], seconds: dict[str, float], ranges: Ranges) -> Results:
    """Return the results of measurements, which have the names of a chain's."""
    loops = Loops(series["polyakov"], series["rectangles"], series["wilson"])
    found = analyse(p, series["plaquettes"], loops, series["mesons"], series["flow"], series["trajectories"], seconds)
    results = Results(**vars(found))
    results.sentences += ranges.sentences()
    results.recorded |= ranges.recorded()
    return results


def results_so_far(p: Parameters, state: Mapping[str, Any]) -> Results | None:
    """Return the results at a checkpoint, None before the first configuration."""
    done = len(state["plaquettes"])
    if not done:
        return None
    results = results_of(p, state, {}, Ranges(p, int(state["sweeps"]), state["ranges"]))
    results.sentences.insert(1, f"not finished: {done} of {p.updates.configurations} configurations")
    return results
