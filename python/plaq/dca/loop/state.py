"""State of the self-consistency loop, passed on from iteration to iteration and from temperature to temperature.

A checkpoint holds a `RunState` as nested dicts of plain arrays (`plain`, `from_plain`). In memory each rank has the
same state, but for its part of the Markov chains and of distributed two-particle functions. An iteration returns a new
`TemperatureState` and leaves the old one as it is. If its analysis is interrupted, the old state is still whole.

Samples are arrays [1 + group, ...]: the value of all data first, then the values of all but one group of chains
(plaq.dca.solver.jackknife_groups). Energies and frequencies are in the unit of the hopping amplitudes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from plaq.dca.loop.convergence import Residual
from plaq.dca.loop.mixing import Output
from plaq.dca.physics.point import Point
from plaq.dca.solver.chains import Chains
from plaq.dca.solver.ctaux import Measured
from plaq.dca.solver.distributed_g4 import DistributedG4
from plaq.dca.solver.iteration_average import with_two_particle_rows

ChainsToPlain = Callable[[Chains], Any]


@dataclass
class TemperatureState:
    """State of the loop at one temperature, before an iteration."""

    phase: str  # convergence.APPROACH or FINAL
    sigma: np.ndarray  # [1 + group, K, w] samples of the input self-energy
    mu: float  # chemical potential, start of the search for it
    order: float  # <k>: expected vertices in a configuration, proposals of a sweep
    tau: float | None  # sweeps: slowest autocorrelation time, None where unknown
    chains: Chains  # this rank's, with the bins of the iteration
    warm_up: int  # sweeps before the first measurement
    needed: int  # iterations of the approach until the step in T has died out
    iteration: int = 1
    settled: bool = True  # whether the approach had converged when it ended
    sigma_0: np.ndarray | float = 0.0  # [K, w] Sigma_0 of `BathData`, the same in all final iterations
    outputs: list[Output] = field(default_factory=list)  # of the last iterations, newest last
    residuals: list[Residual] = field(default_factory=list)  # of the final iterations
    average: Measured | None = None  # of all final iterations
    functions: list[dict[str, np.ndarray]] = field(default_factory=list)  # Sigma_in, Sigma, Sigma_error, G: [K, w]
    history: list[dict[str, Any]] = field(default_factory=list)  # a record of scalars for each iteration
    seconds: dict[str, float] = field(default_factory=dict)  # {part of the work: s}
    distributed: DistributedG4 | None = None  # two-particle sums of this iteration, where ranks share them

    def clock(self, part: str, started: float) -> None:
        """Add the time since ``started`` (time.perf_counter) to the seconds of a part of the work."""
        self.seconds[part] = self.seconds.get(part, 0.0) + time.perf_counter() - started

    def plain(self, chains: ChainsToPlain = Chains.plain) -> dict[str, Any]:
        """Return the state as nested dicts, without distributed functions; ``chains`` converts the chains."""
        average = self.average
        if average is not None and self.distributed:
            average = with_two_particle_rows(average, {})
        return {**vars(self), "chains": chains(self.chains), "outputs": [vars(o) for o in self.outputs],
                "residuals": [vars(r) for r in self.residuals], "average": average and average.plain(),
                "distributed": None}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> TemperatureState:
        """Return the inverse of `plain`, with all chains on this rank."""
        average = plain["average"]
        return cls(**{**plain, "chains": Chains.from_plain(plain["chains"]),
                      "outputs": [Output(**o) for o in plain["outputs"]],
                      "residuals": [Residual(**r) for r in plain["residuals"]],
                      "average": average and Measured.from_plain(average)})


@dataclass
class Predecessor:
    """Result of a temperature from which the next one starts."""

    omega: np.ndarray  # [w] frequencies of sigma
    sigma: np.ndarray  # [K, w]
    beta: float
    mu: float
    order: float  # <k>
    tau: float | None  # sweeps
    chains: Chains | None = None  # this rank's; None where their configurations are not known

    def plain(self, chains: ChainsToPlain = Chains.plain) -> dict[str, Any]:
        """Return it as a dict; ``chains`` converts the chains."""
        return {**vars(self), "chains": self.chains and chains(self.chains)}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Predecessor:
        """Return the inverse of `plain`, with all chains on this rank."""
        return cls(**{**plain, "chains": plain["chains"] and Chains.from_plain(plain["chains"])})


@dataclass
class RunState:
    """State of a run: finished temperatures, and the one in progress."""

    points: list[Point] = field(default_factory=list)  # finished temperatures
    index: int = 0  # of the temperature in progress, in dca.temperatures
    asked: list[int] = field(default_factory=list)  # measurements: without, with two-particle functions
    seconds: dict[str, float] = field(default_factory=lambda: {"start-up": 0.0, "checkpoints": 0.0})
    temperature: TemperatureState | None = None  # in progress
    predecessor: Predecessor | None = None  # the last temperature
    earlier: int = 0  # temperatures of the run that this one started from: their random streams come first
    redo: list[int] = field(default_factory=list)  # indices of temperatures that resume with more measurements
    kept: dict[str, str] = field(default_factory=dict)  # {index: label of the file with its `TemperatureState`}
    grown: list[list[int]] = field(default_factory=list)  # `asked` of the runs before more measurements were asked for
    stored_g4: list[list[int]] = field(default_factory=list)  # bins of `DistributedG4` in the checkpoint's file

    def plain(self, chains: ChainsToPlain = Chains.plain) -> dict[str, Any]:
        """Return the state as nested dicts for a checkpoint; ``chains`` converts the chains."""
        return {**{name: value for name, value in vars(self).items() if name != "stored_g4"},
                "points": [point.state() for point in self.points],
                "temperature": self.temperature and self.temperature.plain(chains),
                "predecessor": self.predecessor and self.predecessor.plain(chains)}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> RunState:
        """Return the state in a checkpoint, with all chains on this rank."""
        names = ("index", "asked", "seconds", "earlier", "redo", "kept", "grown")
        temperature, predecessor = plain["temperature"], plain["predecessor"]
        return cls(points=[Point.from_state(point) for point in plain["points"]],
                   temperature=temperature and TemperatureState.from_plain(temperature),
                   predecessor=predecessor and Predecessor.from_plain(predecessor),
                   stored_g4=plain["spread"]["places"] if "spread" in plain else [],
                   **{name: plain[name] for name in names})


def deal_run(comm: Any, whole: RunState | None) -> RunState:
    """Return rank 0's state on every rank, each with its part of the chains. Collective."""
    state = comm.bcast(whole and replace(whole, temperature=None, predecessor=None))
    state.temperature = deal(comm, whole and whole.temperature)
    state.predecessor = deal(comm, whole and whole.predecessor)
    return state


def deal(comm: Any, whole: TemperatureState | Predecessor | None) -> Any:
    """Return rank 0's state of a temperature on every rank, each with its part of the chains. Collective."""
    chains = whole.chains if whole else None
    state = comm.bcast(whole and replace(whole, chains=None))
    if comm.bcast(chains is not None):
        state.chains = Chains.dealt(comm, chains)
    return state
