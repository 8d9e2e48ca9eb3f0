"""The self-consistency loop of the dynamical cluster approximation, through all temperatures of a run.

At each temperature: Sigma -> mu, Gbar(K, iw) -> bath -> solver -> Sigma, first with few measurements until Sigma
changes by less than its error, then with many, everything measured, until that holds again. From there on all
iterations count, until their measurements together are as many as were asked for (plaq.dca.solver.pool). The next temperature
starts from the last one's Sigma and configurations. The whole state is a nested dict of plain arrays and of chains that
are spread over the ranks, so that a run can stop between any two bins and continue to the same bits, on any number of
ranks.
"""

from __future__ import annotations

import time
from collections import defaultdict
from functools import partial

import numpy as np
from scipy.interpolate import PchipInterpolator
from threadpoolctl import threadpool_limits

from plaq.dca.lattice import matsubara
from plaq.dca.lattice.chemical_potential import cutoff, find_mu
from plaq.dca.lattice.chemical_potential import density as lattice_density
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.coarse_graining import CoarseGraining
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.symmetry import PointGroup
from plaq.dca.mixing import DEPTH, mixed
from plaq.dca.physics import observables
from plaq.dca.physics.exact import exact_point
from plaq.dca.physics.point import Point
from plaq.dca.physics.transition import across
from plaq.dca.planning.distribution import in_shares
from plaq.dca.planning.progress import part_done
from plaq.dca.results.results import Results
from plaq.dca.solver import ctaux, pool, tuning
from plaq.dca.solver.chains import Chains, run_chains
from plaq.dca.solver.pool import PARTS
from plaq.dca.solver.shares import Shares, SpreadEstimate, pair_functions
from plaq.dca.solver.watch import Watch, stop_reason
from plaq.errors import Interrupted, RunError
from plaq.trace.session import region

APPROACH, SETTLE, FINAL = "approach", "settle", "final"
AGREED = ("phase", "sigma", "error", "density_error", "mu", "guess", "order", "tau", "mixing")


class Loop:
    """A run of `plaq dca` that can be stopped and continued.

    parameters: plaq.dca.parameters.Parameters; comm: plaq.comm.Communicator, every rank makes the same calls;
    observer: see plaq.dca.observer; state: on rank 0 what observer.checkpoint was given last, None to start anew and on
    the other ranks; started: when the run's start-up began (time.perf_counter), by default now.
    """

    def __init__(self, parameters, comm, observer, state=None, started=None):
        started = time.perf_counter() if started is None else started
        self.parameters = p = parameters
        self.comm, self.observer = comm, observer
        self.lattice = Lattice(p.hopping())
        self.cluster = Cluster(self.lattice, p.model.cluster)
        self.group = PointGroup(self.cluster)
        representatives = self.group.representatives
        self.orbits = [np.flatnonzero(representatives == k) for k in np.unique(representatives)]
        self.coarse = CoarseGraining(self.cluster, isolated=p.dca.isolated)
        self.transfers = [self.cluster.momentum_index(np.pi * np.array(q)) for q in p.two_particle.transfers]
        self.state = {"points": [], "index": 0, "seconds": {"start-up": 0.0, "checkpoints": 0.0}}
        begun = state is not None and ("loop" in state or bool(state["points"]))
        self.goes_on = self.comm.bcast(begun)  # until it has been said where
        if self.comm.bcast(state is not None):
            self.state = self._restored(state)
        self.state["seconds"]["start-up"] += time.perf_counter() - started

    def run(self) -> Results:
        """All temperatures that are not done yet, then the transition. Raises Interrupted with everything saved."""
        with threadpool_limits(1):  # workers belong to the chains; and bits must not depend on BLAS threads
            temperatures = self.parameters.dca.temperatures
            if self.state["index"] == len(temperatures):
                self._say_where(None)
            while self.state["index"] < len(temperatures):
                if self.parameters.solver.kind == "ed":
                    self._exact(temperatures[self.state["index"]])
                else:
                    self._temperature(temperatures[self.state["index"]])
            points = [Point.from_state(point) for point in self.state["points"]]
            seconds = defaultdict(float, self.state["seconds"])
            for point in points:
                for part, value in point.seconds.items():
                    seconds[part] += value
            return Results(points, across(points, "lambda_d"), dict(seconds))

    @region("temperature")
    def _exact(self, T):
        self._obey()
        p = self.parameters
        self._say_where(T)
        channels = self._channels() if p.measures_two_particle(T) else []
        frequencies = tuning.window(p, 1 / T) if channels else 0
        index = self.state["index"]
        point = self.comm.together(lambda: exact_point(p, self.cluster, index, channels, frequencies))
        self._finish_point(point, spread={})

    def _obey(self):
        """Raises Interrupted on all ranks if one of them is to stop. Collective."""
        reason = stop_reason(self.comm, self.observer)
        if reason:
            raise Interrupted(reason)

    def _channels(self):
        """(kind, transfer index, bosonic index) of every two-particle function that is wanted."""
        return [(kind, q, m) for kind in self.parameters.two_particle.channels for q in self.transfers
                for m in self.parameters.two_particle.bosonic]

    # One temperature -------------------------------------------------------------------------------------------

    @region("temperature")
    def _temperature(self, T):
        mesh = matsubara.mesh(1 / T, cutoff(self.parameters, self.lattice, T))
        self.coarse.prepare(np.pi * T)
        if "loop" not in self.state:
            self._begin_temperature(mesh)
        while "loop" in self.state:
            self._iteration(T, mesh)

    def _begin_temperature(self, mesh):
        p, state = self.parameters, self.state
        if state.get("redo"):
            label = state["kept"][str(state["index"])]
            kept = self.comm.on_root(lambda: self.observer.kept(label, 1 / mesh.beta))
            state["loop"] = self._restored(kept and {"loop": kept})["loop"]
            return
        previous = state.get("last")
        if previous is None:
            filling = p.dca.density if p.dca.density is not None else 1.0
            sigma = np.full((self.cluster.size, len(mesh.omega)), p.model.U * filling / 2, dtype=complex)
            order = tuning.expected_order(p, self.cluster, mesh.beta, filling)
            chains = Chains.fresh(self.comm, p.solver.chains, p.solver.bins)
            mu = p.dca.mu if p.dca.mu is not None else p.model.U / 2
            tau = None
        else:
            sigma = moved_to(mesh, previous["omega"], previous["sigma"])
            order = previous["order"] * mesh.beta / previous["beta"]
            chains = previous.pop("chains", None)
            if chains is None:  # of another run, which keeps those of its last temperature only
                chains = Chains.fresh(self.comm, p.solver.chains, p.solver.bins)
            else:
                chains = chains.renewed(previous["beta"], mesh.beta / previous["beta"])
            mu, tau = previous["mu"], previous["tau"]
        state["loop"] = {"iteration": 1, "phase": FINAL if p.dca.isolated else APPROACH, "sigma": sigma,
                         "error": np.zeros_like(sigma), "density_error": 0.0, "mu": mu, "guess": mu,
                         "order": order, "tau": tau, "chains": chains,
                         "warm_up": p.solver.warmup, "mixing": [], "pool": None, "history": [], "seconds": {}}

    @region("iteration")
    def _iteration(self, T, mesh):
        p, loop = self.parameters, self.state["loop"]
        self._report(loop, T)
        started = time.perf_counter()
        sigma = observables.causal(loop["sigma"])
        g0, task, problem = self.comm.together(lambda: self._problem(T, mesh, loop, sigma))
        self._clock(loop, "bath", started)

        shares = self._shares(problem, task, T, loop)
        tally = self._solve(problem, T, loop, shares)

        started = time.perf_counter()
        setting = observables.Setting(self.cluster, self.group, mesh, self.coarse, p.model.U, task.K, loop["mu"], g0)
        measured, found, density = self.comm.together(lambda: self._measured(T, problem, loop, tally, shares, setting))
        sign = float(measured.sign.mean())
        order = float(measured.histogram.mean(axis=0) @ np.arange(measured.histogram.shape[1]))
        # Both are zero at self-consistency; each is judged by the noise of this and of the last iteration.
        change = float(np.sqrt(np.mean(np.abs(found.mean - sigma) ** 2)))
        change_error = float(np.sqrt(np.mean(np.abs(found.error) ** 2 + np.abs(loop["error"]) ** 2)))
        mismatch = float(density.mean) - lattice_density(loop["mu"], self.coarse, mesh, sigma)
        mismatch_error = float(np.hypot(density.error, loop["density_error"]))
        left = p.dca.iterations - loop["iteration"]
        converged = (change <= p.dca.tolerance * change_error and abs(mismatch) <= p.dca.tolerance * mismatch_error
                     and loop["iteration"] > p.dca.minimum_iterations - PARTS)
        phase = next_phase(loop["phase"], converged, left)
        counts = phase == FINAL  # then this iteration was the first of the final ones, or one of them
        record = {"T": T, "iteration": loop["iteration"], "phase": FINAL if counts else loop["phase"], "mu": loop["mu"],
                  "density": float(density.mean), "density_error": float(density.error),
                  "density_mismatch": mismatch, "density_mismatch_error": mismatch_error, "sign": sign,
                  "sign_error": float(np.std(measured.sign) / np.sqrt(len(measured.sign) - 1)),
                  "order": order, "converged": None if p.dca.isolated else bool(converged),
                  "change": None if p.dca.isolated else change, "change_error": change_error,
                  "measurements": int(measured.weights.sum()), "drift": measured.drift,
                  "acceptance": measured.acceptance, "block_length": problem.block_length,
                  "proposals_per_sweep": problem.proposals_per_sweep,
                  "sweeps_per_measurement": problem.sweeps_per_measurement,
                  "chains_in_flight": loop["chains"].in_flight}
        pooled_before = loop["pool"]
        if counts and (loop["pool"] or not p.dca.isolated):
            loop["pool"] = pool.pooled(loop["pool"], measured, g0, loop["mu"])
            measured, setting.g0, setting.mu = pool.as_one(loop["pool"])
        complete = counts and measured.weights.sum() >= p.measurements(T)[1]
        if complete:
            try:
                values = observables.estimates(setting, measured, task.window, task.channels, self.comm.starmap, shares,
                                               self._obey)
            except Interrupted:
                loop["pool"] = pooled_before  # goes on with this iteration's bins, which are complete
                self._checkpoint(loop, shares)
                raise
        self._clock(loop, "analysis", started)
        record["seconds"] = {part: loop["seconds"][part] - sum(r["seconds"].get(part, 0.0) for r in loop["history"])
                             for part in loop["seconds"]}
        loop["history"].append(record)
        self.comm.on_root(lambda: self.observer.iteration(record))

        loop["phase"] = phase
        if not counts:  # iterations that are taken together measure in the same way
            loop["order"] = order
            loop["tau"] = observables.sweeps_between_independent(measured, problem.sweeps_per_measurement)
        loop["mixing"] = (loop["mixing"] + [{"input": sigma, "output": found.mean}])[-DEPTH:]
        pairs = [(m["input"], m["output"]) for m in loop["mixing"]]
        loop["sigma"] = mixed(pairs, p.dca.mixing_factor, p.dca.mixing)
        loop["error"], loop["density_error"] = found.error, float(density.error)
        loop["iteration"] += 1
        loop["guess"] = loop["mu"]
        loop["warm_up"] = p.solver.warmup // 4  # configurations are at hand; only the bath has moved a little
        loop["chains"] = loop["chains"].renewed(mesh.beta)

        # Processors of different makes differ in the last bits: all ranks go on from rank 0's numbers.
        loop |= self.comm.bcast({name: loop[name] for name in AGREED})

        if complete:
            spread = {name: e for name, e in values.items() if isinstance(e, SpreadEstimate)}
            here = {name: e for name, e in values.items() if name not in spread}
            point = Point(self.state["index"], T, 1 / T, setting.mu, here, loop["history"], loop["seconds"])
            if self.state["index"] >= len(self.state["points"]) - 1:
                sigma = observables.self_energy(setting, measured, p.dca.density)[0].mean
                last = {"omega": mesh.omega, "sigma": sigma, "beta": mesh.beta, "mu": setting.mu, "order": order,
                        "tau": loop["tau"]}
                self.state["last"] = self.comm.bcast(last) | {"chains": loop["chains"]}
            self._keep({**loop, "pool": loop["pool"] or pool.pooled(None, measured, g0, setting.mu)}, shares)
            del self.state["loop"]
            self._finish_point(point, spread)

    def _problem(self, T, mesh, loop, sigma):
        """(bath, task, problem) of this iteration; finds mu."""
        p = self.parameters
        if p.dca.density is not None:
            loop["mu"] = find_mu(p.dca.density, self.coarse, mesh, sigma, loop["guess"])
        gbar = self.coarse.gbar(1j * mesh.omega + loop["mu"] - sigma)
        # An isolated cluster has no bath: there Gbar = 1/(iw + mu - Sigma - eps_K) whatever Sigma is.
        g0 = ctaux.auxiliary_bath(mesh, 1 / (1 / gbar + sigma), p.model.U)
        task = self._task(T, mesh, loop, g0)
        return g0, task, ctaux.make_problem(self.cluster, mesh, task, p.solver)

    def _measured(self, T, problem, loop, tally, shares, setting):
        """(bins, Sigma, density) of this iteration."""
        measured = ctaux.collect(problem, loop["chains"].bins, tally, self.cluster, self.orbits, shares)
        if measured.sign.mean() == 0:
            raise RunError(f"T = {T}: the average sign is 0 in {int(measured.weights.sum())} measurements: nothing can be "
                           "averaged; measure more or stay at higher temperatures")
        return measured, *observables.self_energy(setting, measured, self.parameters.dca.density)

    def _task(self, T, mesh, loop, g0):
        p = self.parameters
        few, many = p.measurements(T)
        missing = many - (int(loop["pool"]["weight"]) if loop["pool"] else 0)
        last = p.dca.isolated or loop["iteration"] == p.dca.iterations
        measurements = few if loop["phase"] == APPROACH else missing if last else min(missing, -(-many // PARTS))
        order = loop["order"]
        task = ctaux.Task(beta=mesh.beta, U=p.model.U, K=tuning.expansion_constant(p.solver), g0=g0,
                          measurements=measurements, order=max(order, 1.0), warm_up=loop["warm_up"],
                          point=self.state.get("earlier", 0) + self.state["index"],
                          iteration=loop["iteration"], tau=loop["tau"])
        if loop["phase"] != APPROACH and p.measures_two_particle(T):
            task.window = tuning.window(p, mesh.beta)
            task.orbit = observables.pair_orbits(self.group)
            wanted = self._channels()
            task.pairing = ("pp", 0, 0) in wanted
            task.channels = [c for c in wanted if c != ("pp", 0, 0)]
        return task

    # The solver, watched ------------------------------------------------------------------------------------------

    def _shares(self, problem, task, T, loop):
        """Where two-particle sums are kept, with those there are; None if that is in the chains' bins.

        Either is continued as the other, and on any number of ranks."""
        stored = self.state.pop("spread", None)
        if not task.window:
            return None
        spread = in_shares(self.parameters, self.cluster, T, self.comm)
        if not stored and not spread:
            return None
        orbit = task.orbit if task.pairing else None
        functions = pair_functions(task.window, self.cluster.size, orbit, len(task.channels))
        solver, bins = self.parameters.solver, loop["chains"].bins
        shares = Shares(self.comm if spread else self.comm.split(self.comm.rank), functions, solver.bins, solver.chains,
                        f"{self.state['index']}.{loop['iteration']}")
        if stored:
            numbers = lambda count: self.comm.on_root(lambda: self.observer.numbers(count), share=True)
            shares.restore(stored["places"], numbers)
            if loop["pool"]:
                loop["pool"] = pool.with_functions(loop["pool"], shares.pool)
        else:
            shares.cut_from(bins, min(at for name, (at, _) in problem.layout().items() if name in functions))
            if loop["pool"]:
                shares.pool = shares.cut(pool.functions(loop["pool"]))
                loop["pool"] = pool.with_functions(loop["pool"], shares.pool)
        if not spread:
            shares.join_to(bins)
        return shares if spread else None

    def _solve(self, problem, T, loop, shares):
        """All bins of the iteration; returns the chains' tally."""
        chains, bins = loop["chains"], loop["chains"].bins
        tally = chains.tally(self.comm)
        whole = problem.measurements_per_bin * bins.bins * bins.group
        self._say_where(T, loop["iteration"], problem.measurements_per_bin * tally["bins_done"], whole)
        while True:
            before = problem.measurements_per_bin * tally["bins_done"]
            watch = Watch(self.comm, self.observer, whole - before, partial(self._report, loop, T, before))
            started, before = time.perf_counter(), tally
            try:
                done = run_chains(problem, chains, self.parameters.run, self.comm, watch, shares)
            except RunError as error:
                if error.ranks == self.comm.size:
                    chains.gather_bins(self.comm, False)
                    if not shares or shares.match(chains.done()):
                        self._checkpoint(loop, shares)  # bins that are complete are kept
                raise
            tally = chains.tally(self.comm)
            walking, measuring = (tally[name] - before[name] for name in ("walking_seconds", "measuring_seconds"))
            wall = time.perf_counter() - started
            share = walking / max(walking + measuring, 1e-300)
            loop["seconds"]["walking"] = loop["seconds"].get("walking", 0.0) + wall * share
            loop["seconds"]["measuring"] = loop["seconds"].get("measuring", 0.0) + wall * (1 - share)
            started = time.perf_counter()
            chains.gather_bins(self.comm, done)
            self._clock(loop, "collection", started)
            if done:
                return tally
            self._checkpoint(loop, shares)
            if watch.reason:
                raise Interrupted(watch.reason)

    def _finish_point(self, point, spread):
        self.comm.together(lambda: self.observer.point(point, spread))
        state = self.state
        state["points"][point.index:point.index + 1] = [point.state()]
        state["redo"] = state.get("redo", [])[1:]
        state["index"] = state["redo"][0] if state["redo"] else len(state["points"])
        self._checkpoint()

    def _keep(self, loop, shares):
        """Of this temperature, what it takes to measure it further (plaq.dca.further); not where ranks share its bins.
        Collective."""
        kept = dict(self.state.get("kept", {}))
        kept.pop(str(self.state["index"]), None)
        if not shares:
            label = f"{self.state['index']:03d}.{loop['iteration']}"
            whole = {**loop, "chains": loop["chains"].gathered(self.comm)}
            self.comm.on_root(lambda: self.observer.keep(label, whole))
            kept[str(self.state["index"])] = label
        self.state["kept"] = kept

    # The state, of which chains are spread over the ranks ---------------------------------------------------------

    @region("checkpoint")
    def _checkpoint(self, loop=None, shares=None):
        """Rank 0 keeps everything. Collective."""
        started = time.perf_counter()
        whole = dict(self.state)
        if shares and loop["pool"]:  # its functions are in the shares
            whole["loop"] = {**loop, "pool": pool.with_functions(loop["pool"], {})}
        for part in ("loop", "last"):
            if "chains" in whole.get(part, {}):
                whole[part] = whole[part] | {"chains": whole[part]["chains"].gathered(self.comm)}
        self.comm.together(lambda: self.observer.checkpoint(whole, shares))
        self.state["seconds"]["checkpoints"] += time.perf_counter() - started

    def _restored(self, whole):
        """The state on every rank from what rank 0 kept; `whole` is None on the others. Collective."""
        kept = {part: whole[part].pop("chains", None) for part in ("loop", "last") if part in whole} if whole else {}
        state = self.comm.bcast(whole)
        for part in ("loop", "last"):
            if self.comm.bcast(kept.get(part) is not None):
                state[part]["chains"] = Chains.dealt(self.comm, kept.get(part))
        return state

    def _clock(self, loop, part, started):
        loop["seconds"][part] = loop["seconds"].get(part, 0.0) + time.perf_counter() - started

    def _say_where(self, T, *at):
        """Once in a run that goes on: where; `at` as observer.goes_on takes it."""
        if self.goes_on:
            self.observer.goes_on(T, *at)
            self.goes_on = False

    def _report(self, loop, T, before=0, measurements=0, elapsed=0.0, **fields):
        """To the live view; of this iteration: measurements until now, in two parts, and seconds since the second one
        began."""
        p, final = self.parameters, loop["phase"] == FINAL
        few, many = p.measurements(T)
        complete = sum(r["measurements"] for r in loop["history"] if (r["phase"] == FINAL) == final)
        part = part_done(final, complete, before + measurements, 0 if p.dca.isolated else few, many)
        last = loop["history"][-1] if loop["history"] else {}
        shown = {name: last.get(name) for name in ("density", "sign", "sign_error", "order", "change", "change_error")}
        self.observer.status(**shown, T=T, index=self.state["index"], part_done=part,
                             seconds=sum(loop["seconds"].values()) + elapsed,
                             temperatures=len(self.parameters.dca.temperatures),
                             iterations=max(self.parameters.dca.iterations, loop["iteration"]), mu=loop["mu"],
                             phase=loop["phase"], iteration=loop["iteration"], **fields)


def next_phase(phase, converged, left):
    """The phase that the next iteration belongs to; `left` iterations are allowed after this one.

    After a settling iteration, FINAL says that this one counts already; the last one that is allowed always does.
    """
    if phase == APPROACH:
        return SETTLE if converged or left <= PARTS else APPROACH
    return FINAL if converged or phase == FINAL or left == 0 else SETTLE


def moved_to(mesh, omega, sigma):
    """Sigma [K, w] on another mesh, as the start of the loop: monotone cubics through w of both signs."""
    both = np.concatenate([-omega[::-1], omega])
    values = np.concatenate([sigma[:, ::-1].conj(), sigma], axis=1)
    wanted = np.minimum(mesh.omega, omega[-1])
    parts = [PchipInterpolator(both, part, axis=1)(wanted) for part in (values.real, values.imag)]
    beyond = np.where(mesh.omega > omega[-1], omega[-1] / mesh.omega, 1.0)  # Im Sigma falls as 1/w
    return parts[0] + 1j * parts[1] * beyond
