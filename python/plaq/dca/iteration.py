"""One iteration of the self-consistency loop: Sigma -> mu, Gbar -> bath -> solver -> Sigma.

Its steps are called one after the other by `plaq.dca.loop`. What they leave in ``at``, the loop's state at this temperature,
is what a checkpoint has of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from plaq.data.estimate import Estimate
from plaq.data.statistics import Resampled
from plaq.dca.lattice.chemical_potential import density as lattice_density
from plaq.dca.lattice.chemical_potential import find_mu
from plaq.dca.lattice.crystal import Crystal
from plaq.dca.lattice.matsubara import Mesh
from plaq.dca.mixing import DEPTH, mixed
from plaq.dca.observer import QuietObserver
from plaq.dca.parameters import Parameters
from plaq.dca.physics import observables
from plaq.dca.planning.distribution import in_shares
from plaq.dca.planning.progress import part_done
from plaq.dca.solver import choices, ctaux, pooling
from plaq.dca.solver.chains import run_chains
from plaq.dca.solver.pooling import PARTS
from plaq.dca.solver.shares import Shares, SpreadEstimate, pair_functions
from plaq.dca.solver.watch import Watch
from plaq.errors import Interrupted, RunError
from plaq.run.driver import Run

APPROACH, SETTLE, FINAL = "approach", "settle", "final"
AGREED = ("phase", "sigma", "error", "density_error", "mu", "guess", "order", "tau", "mixing")


@dataclass
class Mismatch:
    """How far from self-consistency: both are zero there, and each is judged by the noise of this and the last iteration.

    sigma : root mean square of Sigma_out - Sigma_in; density : of the cluster less that of the lattice."""

    sigma: float
    sigma_error: float
    density: float
    density_error: float

    def within(self, tolerance: float) -> bool:
        """Whether both are, in their errors."""
        return self.sigma <= tolerance * self.sigma_error and abs(self.density) <= tolerance * self.density_error


@dataclass
class Iteration:
    """At temperature T, in the run's point ``index``; ``point`` numbers the random streams.

    at : the state that iterations of this temperature hand on: iteration, phase, sigma, error, density_error, mu, guess,
    order, tau, chains, warm_up, mixing, pool, history, seconds. The rest is found step by step.
    """

    parameters: Parameters
    crystal: Crystal
    run: Run
    observer: QuietObserver
    T: float
    mesh: Mesh
    index: int
    point: int
    at: dict[str, Any]
    begun: Callable[[float, float], None]  # told how many measurements there are, of how many, when chains start
    sigma: np.ndarray = field(init=False)  # [K, w], causal
    g0: np.ndarray = field(init=False)  # [K, w], auxiliary bath
    task: ctaux.Task = field(init=False)
    problem: Any = field(init=False)
    shares: Shares | None = field(init=False, default=None)
    setting: observables.Setting = field(init=False)
    measured: ctaux.Measured = field(init=False)
    found: Resampled = field(init=False)  # Sigma for the next iteration
    density: Resampled = field(init=False)
    record: dict[str, Any] = field(init=False)  # of the history
    complete: bool = field(init=False, default=False)  # the temperature is

    # Bath ------------------------------------------------------------------------------------------------------------

    def make_bath(self) -> None:
        """mu, the bath and the solver's problem. Collective."""
        started = time.perf_counter()
        self.sigma = observables.causal(self.at["sigma"])
        self.g0, self.task, self.problem = self.run.comm.together(self._bath)
        self._clock("bath", started)

    def _bath(self):
        p, mesh, at, sigma = self.parameters, self.mesh, self.at, self.sigma
        if p.dca.density is not None:
            at["mu"] = find_mu(p.dca.density, self.crystal.coarse, mesh, sigma, at["guess"])
        gbar = self.crystal.coarse.gbar(1j * mesh.omega + at["mu"] - sigma)
        # An isolated cluster has no bath: there Gbar = 1/(iw + mu - Sigma - eps_K) whatever Sigma is.
        g0 = ctaux.auxiliary_bath(mesh, 1 / (1 / gbar + sigma), p.model.U)
        task = self._task(g0)
        return g0, task, ctaux.make_problem(self.crystal.cluster, mesh, task, p.solver)

    def _task(self, g0: np.ndarray) -> ctaux.Task:
        p, at, mesh = self.parameters, self.at, self.mesh
        few, many = p.measurements(self.T)
        missing = many - (int(at["pool"]["weight"]) if at["pool"] else 0)
        last = p.dca.isolated or at["iteration"] == p.dca.iterations
        measurements = few if at["phase"] == APPROACH else missing if last else min(missing, -(-many // PARTS))
        task = ctaux.Task(beta=mesh.beta, U=p.model.U, K=choices.expansion_constant(p.solver), g0=g0,
                          measurements=measurements, order=max(at["order"], 1.0), warm_up=at["warm_up"],
                          point=self.point, iteration=at["iteration"], tau=at["tau"])
        if at["phase"] != APPROACH and p.measures_two_particle(self.T):
            task.window = choices.window(p, mesh.beta)
            task.orbit = observables.pair_orbits(self.crystal.group)
            wanted = wanted_channels(p, self.crystal)
            task.pairing = ("pp", 0, 0) in wanted
            task.channels = [c for c in wanted if c != ("pp", 0, 0)]
        return task

    # The solver, watched ---------------------------------------------------------------------------------------------

    def place_shares(self, stored: dict[str, Any] | None) -> None:
        """Where two-particle sums are kept, with those there are, of which a checkpoint has ``stored`` some: in `Shares`,
        or in the chains' bins. Either is continued as the other, and on any number of ranks. Collective."""
        comm, task, at = self.run.comm, self.task, self.at
        if not task.window:
            return
        spread = in_shares(self.parameters, self.crystal.cluster, self.T, comm)
        if not stored and not spread:
            return
        orbit = task.orbit if task.pairing else None
        functions = pair_functions(task.window, self.crystal.cluster.size, orbit, len(task.channels))
        solver, bins = self.parameters.solver, at["chains"].bins
        shares = Shares(comm if spread else comm.split(comm.rank), functions, solver.bins, solver.chains,
                        f"{self.index}.{at['iteration']}")
        if stored:
            desk = self.run.desk
            numbers = lambda count: comm.on_root(lambda: desk.numbers(count), share=True)
            shares.restore(stored["places"], numbers)
            if at["pool"]:
                at["pool"] = pooling.with_functions(at["pool"], shares.pool)
        else:
            shares.cut_from(bins, min(a.offset for name, a in self.problem.layout().items() if name in functions))
            if at["pool"]:
                shares.pool = shares.cut(pooling.functions(at["pool"]))
                at["pool"] = pooling.with_functions(at["pool"], shares.pool)
        if spread:
            self.shares = shares
        else:
            shares.join_to(bins)

    def solve(self) -> Iterator[None]:
        """Takes the chains on until all bins are measured; yields wherever they stopped before. An error that all ranks
        have comes after the bins that are complete, if they can be kept. Then ``measured``."""
        comm, chains, problem, seconds = self.run.comm, self.at["chains"], self.problem, self.at["seconds"]
        tally = chains.tally(comm)
        whole = problem.measurements_per_bin * chains.bins.bins * chains.bins.group
        self.begun(problem.measurements_per_bin * tally["bins_done"], whole)
        while True:
            before = problem.measurements_per_bin * tally["bins_done"]
            watch = Watch(self.run, whole - before, partial(self.report, before))
            started, before = time.perf_counter(), tally
            try:
                done = run_chains(problem, chains, self.parameters.run, comm, watch, self.shares)
            except RunError as error:
                if error.ranks == comm.size:
                    chains.gather_bins(comm, False)
                    if not self.shares or self.shares.match(chains.done()):
                        yield
                raise
            tally = chains.tally(comm)
            walking, measuring = (tally[name] - before[name] for name in ("walking_seconds", "measuring_seconds"))
            wall = time.perf_counter() - started
            share = walking / max(walking + measuring, 1e-300)
            seconds["walking"] = seconds.get("walking", 0.0) + wall * share
            seconds["measuring"] = seconds.get("measuring", 0.0) + wall * (1 - share)
            started = time.perf_counter()
            chains.gather_bins(comm, done)
            self._clock("collection", started)
            if done:
                break
            yield
        started = time.perf_counter()
        p, crystal = self.parameters, self.crystal
        self.setting = observables.Setting(crystal.cluster, crystal.group, self.mesh, crystal.coarse, p.model.U, self.task.K,
                                           self.at["mu"], self.g0)
        self.measured, self.found, self.density = comm.together(lambda: self._measured(tally))
        self._clock("analysis", started)

    def _measured(self, tally: dict[str, float]):
        measured = ctaux.collect(self.problem, self.at["chains"].bins, tally, self.crystal.cluster, self.crystal.orbits,
                                 self.shares)
        if measured.sign.mean() == 0:
            raise RunError(f"T = {self.T}: the average sign is 0 in {int(measured.weights.sum())} measurements: nothing can "
                           "be averaged; measure more or stay at higher temperatures")
        return measured, *observables.self_energy(self.setting, measured, self.parameters.dca.density)

    # What follows from it --------------------------------------------------------------------------------------------

    def judge(self) -> None:
        """Which phase this iteration and the next belong to; an iteration that counts goes into the pool with those
        before. Then ``record``, ``complete`` and, of all that count together, ``measured`` and ``setting``."""
        started = time.perf_counter()
        p, at, measured, density = self.parameters, self.at, self.measured, self.density
        off = self._mismatch()
        converged = off.within(p.dca.tolerance) and at["iteration"] > p.dca.minimum_iterations - PARTS
        self._next_phase = next_phase(at["phase"], converged, p.dca.iterations - at["iteration"])
        self._counts = self._next_phase == FINAL  # then it was the first of the final ones, or one of them
        self._order = float(measured.histogram.mean(axis=0) @ np.arange(measured.histogram.shape[1]))
        self.record = {
            "T": self.T, "iteration": at["iteration"], "phase": FINAL if self._counts else at["phase"], "mu": at["mu"],
            "density": float(density.mean), "density_error": float(density.error),
            "density_mismatch": off.density, "density_mismatch_error": off.density_error,
            "sign": float(measured.sign.mean()),
            "sign_error": float(np.std(measured.sign) / np.sqrt(len(measured.sign) - 1)),
            "order": self._order, "converged": None if p.dca.isolated else bool(converged),
            "change": None if p.dca.isolated else off.sigma, "change_error": off.sigma_error,
            "measurements": int(measured.weights.sum()), "drift": measured.drift, "acceptance": measured.acceptance,
            "block_length": self.problem.block_length, "proposals_per_sweep": self.problem.proposals_per_sweep,
            "sweeps_per_measurement": self.problem.sweeps_per_measurement, "chains_in_flight": at["chains"].in_flight}
        self._pool_before = at["pool"]
        if self._counts and (at["pool"] or not p.dca.isolated):
            at["pool"] = pooling.pooled(at["pool"], measured, self.g0, at["mu"])
            self.measured, self.setting.g0, self.setting.mu = pooling.as_one(at["pool"])
        self.complete = self._counts and self.measured.weights.sum() >= p.measurements(self.T)[1]
        self._clock("analysis", started)

    def _mismatch(self) -> Mismatch:
        at, found, density = self.at, self.found, self.density
        change = float(np.sqrt(np.mean(np.abs(found.mean - self.sigma) ** 2)))
        error = float(np.sqrt(np.mean(np.abs(found.error) ** 2 + np.abs(at["error"]) ** 2)))
        lattice = lattice_density(at["mu"], self.crystal.coarse, self.mesh, self.sigma)
        return Mismatch(change, error, float(density.mean) - lattice,
                        float(np.hypot(density.error, at["density_error"])))

    def estimates(self) -> dict[str, Estimate | SpreadEstimate]:
        """All observables of the temperature. Collective. Interrupted when the run is to stop: the state is then that of
        this iteration's bins, which are complete."""
        started = time.perf_counter()
        try:
            found = observables.estimates(self.setting, self.measured, self.task.window, self.task.channels,
                                          self.run.comm.starmap, self.shares, self.run.obey)
        except Interrupted:
            self.at["pool"] = self._pool_before
            raise
        self._clock("analysis", started)
        return found

    def advance(self) -> None:
        """Makes ``at`` that of the next iteration. Collective."""
        p, at, record = self.parameters, self.at, self.record
        record["seconds"] = {part: at["seconds"][part] - sum(r["seconds"].get(part, 0.0) for r in at["history"])
                             for part in at["seconds"]}
        at["history"].append(record)
        self.run.comm.on_root(lambda: self.observer.iteration(record))

        at["phase"] = self._next_phase
        if not self._counts:  # iterations that are taken together measure in the same way
            at["order"] = self._order
            at["tau"] = observables.sweeps_between_independent(self.measured, self.problem.sweeps_per_measurement)
        at["mixing"] = (at["mixing"] + [{"input": self.sigma, "output": self.found.mean}])[-DEPTH:]
        pairs = [(m["input"], m["output"]) for m in at["mixing"]]
        at["sigma"] = mixed(pairs, p.dca.mixing_factor, p.dca.mixing)
        at["error"], at["density_error"] = self.found.error, float(self.density.error)
        at["iteration"] += 1
        at["guess"] = at["mu"]
        at["warm_up"] = p.solver.warmup // 4  # configurations are at hand; only the bath has moved a little
        at["chains"] = at["chains"].renewed(self.mesh.beta)

        # Processors of different makes differ in the last bits: all ranks go on from rank 0's numbers.
        at |= self.run.comm.bcast({name: at[name] for name in AGREED})

    def last(self) -> dict[str, Any]:
        """What the next temperature starts from. Collective."""
        sigma = observables.self_energy(self.setting, self.measured, self.parameters.dca.density)[0].mean
        numbers = {"omega": self.mesh.omega, "sigma": sigma, "beta": self.mesh.beta, "mu": self.setting.mu,
                   "order": self._order, "tau": self.at["tau"]}
        return self.run.comm.bcast(numbers) | {"chains": self.at["chains"]}

    def kept(self) -> dict[str, Any]:
        """What it takes to measure the temperature further (plaq.dca.further)."""
        own = pooling.pooled(None, self.measured, self.g0, self.setting.mu) if self.at["pool"] is None else self.at["pool"]
        return {**self.at, "pool": own}

    # Seen from outside -----------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """``at`` without what is in the shares."""
        if self.shares and self.at["pool"]:
            return {**self.at, "pool": pooling.with_functions(self.at["pool"], {})}
        return self.at

    def report(self, before: int = 0, measurements: float = 0, elapsed: float = 0.0, **fields: Any) -> None:
        """To the live view; of this iteration: measurements until now, in two parts, and seconds since the second one
        began."""
        p, at = self.parameters, self.at
        final = at["phase"] == FINAL
        few, many = p.measurements(self.T)
        complete = sum(r["measurements"] for r in at["history"] if (r["phase"] == FINAL) == final)
        part = part_done(final, complete, before + measurements, 0 if p.dca.isolated else few, many)
        last = at["history"][-1] if at["history"] else {}
        shown = {name: last.get(name) for name in ("density", "sign", "sign_error", "order", "change", "change_error")}
        self.observer.status(**shown, T=self.T, index=self.index, part_done=part,
                             seconds=sum(at["seconds"].values()) + elapsed, temperatures=len(p.dca.temperatures),
                             iterations=max(p.dca.iterations, at["iteration"]), mu=at["mu"], phase=at["phase"],
                             iteration=at["iteration"], **fields)

    def _clock(self, part: str, started: float) -> None:
        self.at["seconds"][part] = self.at["seconds"].get(part, 0.0) + time.perf_counter() - started


def wanted_channels(p: Parameters, crystal: Crystal) -> list[tuple[str, int, int]]:
    """(kind, transfer index, bosonic index) of every two-particle function that is wanted."""
    return [(kind, q, m) for kind in p.two_particle.channels for q in crystal.transfers for m in p.two_particle.bosonic]


def next_phase(phase: str, converged: bool, left: int) -> str:
    """The phase that the next iteration belongs to; ``left`` iterations are allowed after this one.

    After a settling iteration, FINAL says that this one counts already; the last one that is allowed always does.
    """
    if phase == APPROACH:
        return SETTLE if converged or left <= PARTS else APPROACH
    return FINAL if converged or phase == FINAL or left == 0 else SETTLE
