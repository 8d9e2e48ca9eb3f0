"""Measurements on configurations, one after the other: the series of all that an input asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from plaq.lqcd.action.ranges import Ranges
from plaq.lqcd.fields.fields import GaugeField
from plaq.lqcd.fields.propagators import Propagator, Smearing, noise_propagator, point_propagator
from plaq.lqcd.fields.wilson import Wilson
from plaq.lqcd.measurements.analysis import analyse
from plaq.lqcd.measurements.correlators import AXIAL
from plaq.lqcd.measurements.mesons import meson_correlator, spin_tensor
from plaq.lqcd.measurements.potential import Loops
from plaq.lqcd.measurements.scales import flow_times
from plaq.lqcd.parameters import Parameters
from plaq.lqcd.results import Results
from plaq.run.timing import timed

SERIES = ("plaquettes", "polyakov", "rectangles", "wilson", "mesons", "flow")  # as a checkpoint has them
PARTS = ("plaquettes", "loops", "mesons", "flow")  # that are timed


class Measurements:
    """Series of the measurements so far, on all ranks; ``state`` is a checkpoint with them, None at the beginning.

    ``seconds`` takes the times of `PARTS`.
    """

    def __init__(self, p: Parameters, seconds: dict[str, float], state: Mapping[str, Any] | None = None):
        self.p, self.seconds = p, seconds
        if state is not None:
            self.plaquettes, self.polyakov, self.rectangles, self.wilson, self.mesons, self.flow = (
                state[name] for name in SERIES)
            return
        names = p.mesons.structures if p.mesons.kappa is not None else ()
        if "gamma5" in names:
            names = (*names, AXIAL)
        self.plaquettes, self.polyakov, self.rectangles = np.zeros((0, 2)), np.zeros((0, 2)), np.zeros(0)
        self.wilson = np.zeros((0, p.loops.space or 0, p.loops.time))
        self.mesons = {name: np.zeros((0, p.lattice.extents[0])) for name in names}
        self.flow = np.zeros((0, len(flow_times(p)), 3))

    def __len__(self) -> int:
        """Return the number of configurations."""
        return len(self.plaquettes)

    def state(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in SERIES}

    def measure(self, gauge: GaugeField) -> None:
        """Measure everything on the next configuration."""
        p, number = self.p, len(self)
        m, loops = p.mesons, p.loops
        smooth = self._smooth(gauge) if loops.space or m.kappa is not None and p.smearing.gauss_steps else gauge
        if loops.space:
            with timed(self.seconds, "loops"):
                self.wilson = np.concatenate([self.wilson,
                                              [gauge.wilson_loops(loops.space, loops.time, smeared=smooth)]])
                self.rectangles = np.append(self.rectangles, gauge.rectangle())
        if self.mesons:
            with timed(self.seconds, "mesons"):
                matrix = Wilson(gauge, m.kappa, m.mu, m.theta, m.csw)
                tensor = spin_tensor(self._propagator(matrix, number, smooth))
                for name, series in self.mesons.items():
                    sink, source = name.split(", ") if name == AXIAL else (name, name)
                    self.mesons[name] = np.vstack([series, meson_correlator(tensor, sink, source=source)])
        if (times := flow_times(p)).size:
            with timed(self.seconds, "flow"):
                flowed, rows = gauge.copy(), []
                for step in np.diff(times, prepend=0.0):
                    flowed.flow(step, p.flow.step)
                    rows.append((*flowed.energy_and_charge(), flowed.plaquette_energy()))
                self.flow = np.concatenate([self.flow, [rows]])
        with timed(self.seconds, "plaquettes"):
            self.plaquettes = np.vstack([self.plaquettes, gauge.plaquettes()])
            loop = gauge.polyakov_loop()
            self.polyakov = np.vstack([self.polyakov, [loop.real, loop.imag]])

    def _smooth(self, gauge: GaugeField) -> GaugeField:
        """Return the gauge field with smeared links in space."""
        with timed(self.seconds, "loops"):
            s = self.p.smearing
            return gauge.copy().ape(s.ape_alpha, s.ape_steps) if s.ape_steps else gauge

    def _propagator(self, matrix: Wilson, number: int, smooth: GaugeField) -> Propagator:
        """Return the propagator of a configuration from a random site or time slice, smeared as the input says.

        Random numbers are functions of seed and number.
        """
        m, s, seed = self.p.mesons, self.p.smearing, self.p.seed
        smearing = Smearing(smooth, s.gauss_kappa, s.gauss_steps) if s.gauss_steps else None
        random = np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, 1, number]))
        site = tuple(int(x) for x in random.integers(self.p.lattice.extents))
        options = {"smearing": smearing, "method": m.solver, "precision": m.precision}
        if m.source == "noise":
            propagator = noise_propagator(matrix, site[0], seed, number, m.residual, **options)
        else:
            propagator = point_propagator(matrix, site, m.residual, **options)
        return propagator.smear_sink(smearing) if m.sink == "smeared" else propagator

    def results(self, trajectories: np.ndarray, ranges: Ranges) -> Results:
        """Return the results, with trajectories [trajectory, (Delta H, accepted)] of the chain, if there are any."""
        loops = Loops(self.polyakov, self.rectangles, self.wilson)
        found = analyse(self.p, self.plaquettes, loops, self.mesons, self.flow, trajectories, self.seconds)
        results = Results(**vars(found))
        results.sentences += ranges.sentences()
        results.recorded |= ranges.recorded()
        return results


def results_so_far(p: Parameters, state: Mapping[str, Any]) -> Results | None:
    """Return the results at a checkpoint of a chain or of stored configurations, None before the first one."""
    measured = Measurements(p, {}, state)
    if not len(measured):
        return None
    results = measured.results(state.get("trajectories", np.zeros((0, 2))),
                               Ranges(p, int(state.get("sweeps", 0)), state.get("ranges")))
    wanted = len(state["names"]) if "names" in state else p.updates.configurations
    if len(measured) < wanted:
        results.sentences.insert(1, f"not finished: {len(measured)} of {wanted} configurations")
    return results
