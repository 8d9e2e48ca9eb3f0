"""One iteration of the self-consistency loop: Sigma -> mu, Gbar -> bath -> solver -> Sigma.

Its steps are called one after the other by `plaq.dca.loop`. What they leave in ``at``, the loop's state at this
temperature, is what a checkpoint has of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from plaq.data.estimate import Estimate, with_error
from plaq.data.statistics import weighted_average
from plaq.dca import convergence
from plaq.dca.convergence import APPROACH, FINAL, Mismatch, iterations_left, next_phase
from plaq.dca.lattice.chemical_potential import NoSuchDensity, compressibility, find_mu
from plaq.dca.lattice.chemical_potential import density as lattice_density
from plaq.dca.lattice.crystal import Crystal
from plaq.dca.lattice.matsubara import Mesh
from plaq.dca.lattice.particle_hole import odd_under_exchange
from plaq.dca.mixing import DEPTH, mixed
from plaq.dca.observer import QuietObserver
from plaq.dca.parameters import Parameters
from plaq.dca.physics import observables
from plaq.dca.planning.distribution import in_shares
from plaq.dca.planning.progress import part_done
from plaq.dca.solver import choices, ctaux, groups, pooling
from plaq.dca.solver.chains import run_chains
from plaq.dca.solver.shares import Shares, SpreadEstimate, pair_functions
from plaq.dca.solver.watch import Watch
from plaq.dca.units import in_units
from plaq.errors import Interrupted, RunError
from plaq.run.driver import Run

PAIRING = "pp", 0, 0  # in its real form
AGREED = ("phase", "sigma", "mu", "order", "tau", "outputs", "residuals", "needed", "settled")

@dataclass
class Iteration:
    """At temperature T, in the run's point ``index``; ``point`` numbers the random streams.

    at : the state that iterations of this temperature hand on: iteration, phase, order, tau, chains, warm_up,
    pool, history, seconds; sigma [1 + group, K, w], samples as in plaq.dca.solver.groups; mu, where it is looked
    for first; outputs, (weight, samples of Sigma) of the last iterations; residuals, of those that count, (weight,
    samples of Sigma_out - Sigma_in and of the densities' difference); reference, Sigma_0 of
    plaq.dca.solver.ctaux.InBath; needed, how many iterations the step in T needs; settled, whether the approach
    had converged; functions, Sigma and G of every iteration. The rest is found step by step.
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
    mu: np.ndarray = field(init=False)  # samples [1 + group]
    inverse_g0: np.ndarray = field(init=False)  # samples [1 + group, K, w] of the auxiliary bath
    task: ctaux.Task = field(init=False)
    problem: Any = field(init=False)
    shares: Shares | None = field(init=False, default=None)
    setting: observables.Setting = field(init=False)
    measured: ctaux.Measured = field(init=False)
    found: np.ndarray = field(init=False)  # samples of Sigma_out
    density: np.ndarray = field(init=False)
    record: dict[str, Any] = field(init=False)  # of the history
    complete: bool = field(init=False, default=False)  # the temperature is

    # Bath --------------------------------------------------------------------------------------------------------

    @property
    def grouped(self) -> bool:
        """Whether errors come from groups of chains: an isolated cluster has no bath that could be noisy."""
        return not self.parameters.dca.isolated

    @property
    def searched(self) -> float | None:
        """The density that mu is searched for; None where mu is given, or known by particle-hole symmetry."""
        return None if self.crystal.mirror is not None else self.parameters.dca.density

    @property
    def parts(self) -> int:
        """Iterations that share the measurements of a temperature."""
        p = self.parameters
        return pooling.parts(p.dca.iterations, p.measurements(self.T)[1], self.T, self.crystal.lattice.largest_energy)

    def make_bath(self) -> None:
        """mu, the baths and the solver's problem. Collective."""
        started = time.perf_counter()
        self.mu, self.inverse_g0, self.task, self.problem = self.run.comm.together(self._bath)
        self._clock("bath", started)

    def _bath(self):
        p, mesh, at = self.parameters, self.mesh, self.at
        found = [self._bath_of(sigma) for sigma in at["sigma"]]
        mu, inverse_g0 = (np.array(part) for part in zip(*found))
        task = self._task(1 / inverse_g0[0])
        if at["phase"] == FINAL and len(mu) > 1:
            if not at["residuals"]:  # the same for all that count
                at["reference"] = at["sigma"][0] - p.model.U / 2
            weights = self._group_weights()
            task.shifts = groups.shifts(groups.own(inverse_g0, weights) - inverse_g0[0], task.g0, weights)
            near = inverse_g0[0] + groups.NEAR * task.shifts[:, None, None]
            task.own_g0 = mesh.evaluate(mesh.fit(1 / near))
            task.group_of = groups.of_chains(p.solver.bins, p.solver.chains)
        return mu, inverse_g0, task, ctaux.make_problem(self.crystal.cluster, mesh, task, p.solver)

    def _bath_of(self, sigma: np.ndarray) -> tuple[float, np.ndarray]:
        """(mu, 1/g0) of one sample."""
        p, mesh = self.parameters, self.mesh
        sigma, mu = observables.causal(sigma, mesh.omega), self.at["mu"]
        if self.searched is not None:
            with self._blaming_noise(self.at["history"]):
                mu = find_mu(self.searched, self.crystal.coarse, mesh, sigma, mu)
        elif p.dca.density is not None:
            mu = p.model.U / 2
        gbar = self.crystal.coarse.gbar(1j * mesh.omega + mu - sigma)
        # An isolated cluster has no bath: there Gbar = 1/(iw + mu - Sigma - eps_K) whatever Sigma is.
        inverse_g0 = 1 / ctaux.auxiliary_bath(mesh, 1 / (1 / gbar + sigma), p.model.U)
        return mu, odd_under_exchange(inverse_g0, self.crystal.mirror)

    @contextmanager
    def _blaming_noise(self, history: list[dict[str, Any]]) -> Iterator[None]:
        """Add to the error of a density without mu what the last record says of Sigma, and the remedy."""
        try:
            yield
        except NoSuchDensity as error:
            told = RunError(f"T = {self.T:g}, iteration {self.at['iteration']}: {error}; {noise_in_words(history)}")
            told.ranks = error.ranks
            raise told from None

    def _group_weights(self) -> np.ndarray:
        """[group] chains in each."""
        solver = self.parameters.solver
        return np.bincount(groups.of_chains(solver.bins, solver.chains)).astype(float)

    def _task(self, g0: np.ndarray) -> ctaux.Task:
        p, at, mesh = self.parameters, self.at, self.mesh
        few, many = p.measurements(self.T)
        missing = many - (int(at["pool"]["weights"].sum()) if at["pool"] else 0)
        last = p.dca.isolated or at["iteration"] == p.dca.iterations
        measurements = few if at["phase"] == APPROACH else missing if last else min(missing, -(-many // self.parts))
        task = ctaux.Task(beta=mesh.beta, U=p.model.U, K=choices.expansion_constant(p, self.crystal.cluster, mesh.beta),
                          g0=g0, measurements=measurements, order=max(at["order"], 1.0), warm_up=at["warm_up"],
                          point=self.point, iteration=at["iteration"], isolated=p.dca.isolated, tau=at["tau"])
        if at["phase"] != APPROACH and p.measures_two_particle(self.T):
            task.window = choices.window(p, mesh.beta)
            task.orbit = observables.pair_orbits(self.crystal.group)
            task.pairing = PAIRING in wanted_channels(p, self.crystal)
            task.channels = choices.measured_functions(self._channels())
        return task

    def _channels(self) -> list[tuple[str, int, int]]:
        """Two-particle functions that are wanted beside pairing at this temperature."""
        wanted = (wanted_channels(self.parameters, self.crystal)
                  if self.parameters.measures_two_particle(self.T) else [])
        return [c for c in wanted if c != PAIRING]

    # The solver, watched -----------------------------------------------------------------------------------------

    def place_shares(self, stored: dict[str, Any] | None) -> None:
        """Where two-particle sums are kept, with those there are, of which a checkpoint has ``stored`` some: in
        `Shares`, or in the chains' bins. Either is continued as the other, and on any number of ranks.
        Collective."""
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
            output = self.run.output
            numbers = lambda count: comm.on_root(lambda: output.numbers(count), share=True)
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
        """Takes the chains on until all bins are measured; yields wherever they stopped before. An error that all
        ranks have comes after the bins that are complete, if they can be kept. Then ``measured``."""
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
        self.setting = observables.Setting(crystal.cluster, crystal.group, self.mesh, crystal.coarse,
                                           p.model.U, self.task.K,
                                           float(self.mu[0]), self.task.g0, self.at["reference"], self.searched)
        self.measured, self.found, self.density = comm.together(lambda: self._measured(tally))
        self._clock("analysis", started)

    def _measured(self, tally: dict[str, float]):
        p, crystal = self.parameters, self.crystal
        measured = ctaux.collect(self.problem, self.at["chains"].bins, tally, crystal.group, self.shares,
                                 crystal.mirror)
        if measured.sign.mean() == 0:
            raise RunError(f"T = {self.T}: the average sign is 0 in {int(measured.weights.sum())} "
                           "measurements: nothing can be averaged; measure more or stay at higher temperatures")
        if self.grouped:
            measured = groups.together(measured, p.solver.bins, p.solver.chains)
        task, reference = self.task, self.at["reference"]
        if task.own_g0 is None:
            measured.own = measured.in_bath(task.g0, reference)
        else:
            measured.own = measured.in_bath(task.own_g0, reference)
            measured = groups.at_the_end(measured, task.shifts)
        measured.m = None
        sigma, density = observables.self_energy(self.setting, measured)
        return measured, groups.samples_of(sigma), groups.samples_of(density)

    # What follows from it ----------------------------------------------------------------------------------------

    def judge(self) -> None:
        """Which phase the next iteration belongs to; one that counts goes into the pool with those before. Then
        ``record``, ``complete`` and, of all that count together, ``measured`` and ``setting``."""
        started = time.perf_counter()
        p, at, measured = self.parameters, self.at, self.measured
        counts = at["phase"] == FINAL
        isolated, weight = p.dca.isolated, float(measured.weights.sum())
        self._before = {name: at[name] for name in ("pool", "residuals")}
        residual = self._residual()
        off = self._mismatch([residual])
        self._order = float(measured.histogram.mean(axis=0) @ np.arange(measured.histogram.shape[1]))
        if counts:
            at["residuals"] = at["residuals"] + [residual]
        else:
            of_all = weight / p.measurements(self.T)[1]
            at["needed"] = min(at["needed"], at["iteration"] + iterations_left(off, of_all))
        settled = at["settled"] and self._mismatch(at["residuals"]).is_noise() if counts else \
            off.within(p.dca.tolerance) and at["iteration"] >= at["needed"]
        density_error = groups.error(self.density, measured.weights)
        self.record = {
            "T": self.T, "iteration": at["iteration"], "phase": at["phase"], "mu": float(self.mu[0]),
            "mu_error": float(groups.error(self.mu, measured.weights)) if len(self.mu) > 1 else 0.0,
            "density": float(self.density[0]), "density_error": float(density_error),
            "density_mismatch": off.density, "density_mismatch_error": off.density_error,
            "sign": float(measured.sign.mean()),
            "sign_error": float(np.std(measured.sign) / np.sqrt(max(len(measured.sign) - 1, 1))),
            "order": self._order, "converged": None if isolated or p.dca.iterations == 1 else bool(settled),
            "settled": None if isolated else bool(at["settled"] if counts else settled),
            "change": None if isolated else off.sigma, "change_error": off.sigma_error,
            "measurements": int(weight), "drift": measured.drift, "acceptance": measured.acceptance,
            "block_length": self.problem.block_length, "proposals_per_sweep": self.problem.proposals_per_sweep,
            "sweeps_per_measurement": self.problem.sweeps_per_measurement, "chains_in_flight": at["chains"].in_flight}
        self._functions = self._as_functions()
        self._next_phase = FINAL
        if not counts:
            self._next_phase = next_phase(settled, at["iteration"], p.dca.iterations, p.dca.minimum_iterations,
                                          self.parts)
            at["settled"] = bool(settled)
        if counts and (at["pool"] or not isolated):
            at["pool"] = pooling.pooled(at["pool"], measured)
            self.measured = pooling.as_one(at["pool"])
        self.complete = counts and self.measured.weights.sum() >= p.measurements(self.T)[1]
        self._clock("analysis", started)

    def _residual(self) -> dict[str, Any]:
        """Samples of Sigma_out - Sigma_in, and of the cluster's density less the lattice's."""
        omega, coarse = self.mesh.omega, self.crystal.coarse
        inputs = [observables.causal(sigma, omega) for sigma in self.at["sigma"]]
        lattice = np.array([lattice_density(mu, coarse, self.mesh, sigma) for mu, sigma in zip(self.mu, inputs)])
        if self.parameters.dca.isolated:  # bins, and one input
            inputs, lattice = inputs[0], lattice[0]
        return {"weight": float(self.measured.weights.sum()), "sigma": self.found - np.array(inputs),
                "density": self.density - lattice}

    def _mismatch(self, residuals: list[dict[str, Any]]) -> Mismatch:
        """Of the weighted mean of residuals."""
        weights = self.measured.weights
        noise = 0.0
        # n answers to the noise of mu, which all groups have in common
        if self.at["phase"] == APPROACH and len(self.mu) > 1:
            sigma = observables.causal(self.at["sigma"][0], self.mesh.omega)
            noise = (compressibility(self.mu[0], self.crystal.coarse, self.mesh, sigma)
                     * groups.error(self.mu, weights))
        return convergence.mismatch(residuals, weights, noise)

    def _as_functions(self) -> dict[str, np.ndarray]:
        """What results.h5 keeps of this iteration, with all data."""
        setting, measured = self.setting, self.measured
        sums = [weighted_average(a, measured.weights) for a in (measured.norm, *vars(measured.own).values())]
        here, m = setting.sample(*sums)
        g, sigma = ctaux.dyson(here.g0, m, setting.U)
        error = groups.error(self.found, measured.weights)
        return {"Sigma_in": self.at["sigma"][0], "Sigma": sigma, "Sigma_error": error, "G": g}

    def estimates(self) -> dict[str, Estimate | SpreadEstimate]:
        """All observables of the temperature. Collective. Interrupted when the run is to stop: the state is then
        that of this iteration's bins, which are complete."""
        started = time.perf_counter()
        try:
            with self._blaming_noise([*self.at["history"], self.record]):
                found = observables.estimates(self.setting, self.measured, self.task.window, self._channels(),
                                              self.run.comm.starmap, self.shares, self.run.raise_if_stopped)
        except Interrupted:
            self.at |= self._before
            raise
        if self.searched is None:
            found["mu"] = replace(found["mu"], mean=np.array(self.mu[0]), error=np.array(0.0), jackknife=None)
        self._clock("analysis", started)
        return in_units(found, self.parameters.unit)

    def advance(self) -> None:
        """Makes ``at`` that of the next iteration. Collective."""
        p, at, record = self.parameters, self.at, self.record
        record["seconds"] = {part: at["seconds"][part] - sum(r["seconds"].get(part, 0.0) for r in at["history"])
                             for part in at["seconds"]}
        at["history"].append(record)
        self.run.comm.on_root(lambda: self.observer.iteration(record))

        if at["phase"] == APPROACH:  # iterations that are taken together measure in the same way
            at["order"] = self._order
            at["tau"] = observables.sweeps_between_independent(self.measured, self.problem.sweeps_per_measurement)
        at["phase"] = self._next_phase
        at["functions"] = at["functions"] + [self._functions]
        at["outputs"] = (at["outputs"] + [{"weight": float(record["measurements"]), "sigma": self.found}])[-DEPTH:]
        if self.grouped:
            at["sigma"] = mixed([(output["weight"], output["sigma"]) for output in at["outputs"]])
        at["iteration"] += 1
        if p.dca.mu is None:
            at["mu"] = float(self.mu[0])
        at["warm_up"] = p.solver.warmup // 4  # configurations are at hand; only the bath has moved a little
        at["chains"] = at["chains"].renewed(self.mesh.beta)

        # Processors of different makes differ in the last bits: all ranks go on from rank 0's numbers.
        at |= self.run.comm.bcast({name: at[name] for name in AGREED})

    def last(self) -> dict[str, Any]:
        """What the next temperature starts from. Collective."""
        sigma = observables.self_energy(self.setting, self.measured)[0].mean
        numbers = {"omega": self.mesh.omega, "sigma": sigma, "beta": self.mesh.beta, "mu": float(self.mu[0]),
                   "order": self._order, "tau": self.at["tau"]}
        return self.run.comm.bcast(numbers) | {"chains": self.at["chains"]}

    def kept(self) -> dict[str, Any]:
        """What it takes to measure the temperature further (plaq.dca.further)."""
        return {**self.at, "pool": self.at["pool"] or pooling.pooled(None, self.measured)}

    # Seen from outside -------------------------------------------------------------------------------------------

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
        shown = {name: last.get(name)
                 for name in ("density", "sign", "sign_error", "order", "change", "change_error")}
        self.observer.status(**shown, T=self.T, index=self.index, part_done=part,
                             seconds=sum(at["seconds"].values()) + elapsed, temperatures=len(p.dca.temperatures),
                             iterations=max(p.dca.iterations, at["iteration"]), mu=last.get("mu", at["mu"]),
                             phase=at["phase"], iteration=at["iteration"], **fields)

    def _clock(self, part: str, started: float) -> None:
        self.at["seconds"][part] = self.at["seconds"].get(part, 0.0) + time.perf_counter() - started


def noise_in_words(history: list[dict[str, Any]]) -> str:
    """Say by the last record of the history that Sigma is noise, and what would help."""
    if not history:
        return "start from another one (dca.sigma, --from)"
    last = history[-1]
    key = "solver.measurements_first" if last["phase"] == APPROACH else "solver.measurements"
    return (f"Sigma is noise: {last['measurements']} measurements made it, with an average sign of "
            f"{with_error(last['sign'], last['sign_error'])}; raise {key}, or stay where the sign is larger and n "
            "further from 0 and 2")


def wanted_channels(p: Parameters, crystal: Crystal) -> list[tuple[str, int, int]]:
    """(kind, transfer index, bosonic index) of every two-particle function that is wanted."""
    return [(kind, q, m) for kind in p.two_particle.channels for q in crystal.transfers
            for m in p.two_particle.bosonic]
