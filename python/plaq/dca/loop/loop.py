"""The self-consistency loop of the dynamical cluster approximation, through all temperatures of a run.

At each temperature: Sigma -> mu, Gbar(K, iw) -> bath -> solver -> Sigma (plaq.dca.loop.iteration), first with few
measurements until the change of Sigma by the step in T has died out. From there on all iterations count, with
everything measured and groups of chains in baths near the mean one (plaq.dca.solver.jackknife_groups), until the
measurements asked for are made (plaq.dca.solver.iteration_average). The next temperature starts from the last one's
Sigma and configurations. A run can stop between any two bins and resume to the same bits, on any number of ranks: its
whole state (plaq.dca.loop.state) is plain arrays, and chains that are distributed over the ranks.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import scipy
import scipy.linalg  # noqa: F401  its BLAS has to be there to be limited
from threadpoolctl import threadpool_limits

from plaq.dca.lattice import matsubara
from plaq.dca.lattice.chemical_potential import cutoff
from plaq.dca.lattice.model import Model, lattice_of
from plaq.dca.loop import iteration, status
from plaq.dca.loop.convergence import APPROACH, FINAL
from plaq.dca.loop.first_sigma import first_sigma
from plaq.dca.loop.setup import Setup, asked_channels, exchanged_functions
from plaq.dca.loop.state import Predecessor, RunState, TemperatureState, deal, deal_run
from plaq.dca.loop.two_particle import distribute
from plaq.dca.physics.exact import exact_point
from plaq.dca.physics.instabilities import leading_pairing
from plaq.dca.physics.point import Point
from plaq.dca.physics.transition import across
from plaq.dca.results.results import Results
from plaq.dca.solver import choices, jackknife_groups
from plaq.dca.solver.chains import Chains
from plaq.dca.solver.distributed_g4 import DistributedEstimate, DistributedG4
from plaq.errors import Interrupted
from plaq.trace.session import region


class Loop:
    """Simulation of `plaq dca`, for `plaq.run.application`.

    parameters: plaq.dca.parameters.Parameters; run: plaq.run.driver.Run; observer: see plaq.dca.loop.observer; state:
    on rank 0 that of the last checkpoint, None to start anew and on the other ranks; started: start of the run's
    start-up (time.perf_counter), by default now.
    """

    def __init__(self, parameters, run, observer, state: RunState | None = None, started: float | None = None):
        started = time.perf_counter() if started is None else started
        self.parameters, self.run, self.comm, self.observer = parameters, run, run.comm, observer
        self.model = Model.of(parameters)
        resumed = state is not None and (state.temperature is not None or bool(state.points))
        self._unreported = self.comm.bcast(resumed)  # that the run resumes
        self._state = deal_run(self.comm, state) if self.comm.bcast(state is not None) else RunState()
        self._state.asked = list(parameters.asked())
        self._state.seconds["start-up"] += time.perf_counter() - started

    def steps(self) -> Iterator[bool]:
        """Run all unfinished temperatures, as `plaq.run.application.Simulation` says."""
        with threadpool_limits(1):  # workers belong to the chains; and bits must not depend on BLAS threads
            temperatures = self.parameters.dca.temperatures
            if self._state.index == len(temperatures):
                self._report_resume(None)
            while self._state.index < len(temperatures):
                with region("temperature"):
                    T = temperatures[self._state.index]
                    yield from self._exact(T) if self.parameters.solver.kind == "ed" else self._temperature(T)

    def results(self) -> Results:
        """Return all temperatures, and the transition."""
        points, seconds = self._state.points, defaultdict(float, self._state.seconds)
        for point in points:
            for part, value in point.seconds.items():
                seconds[part] += value
        return Results(list(points), across(points, leading_pairing(points)), dict(seconds), self.parameters.to_toml())

    # One temperature ---------------------------------------------------------------------------------------------

    def _exact(self, T: float) -> Iterator[bool]:
        self.run.raise_if_stopped()
        p = self.parameters
        self._report_resume(T)
        self.observer.show_status(T=T, index=self._state.index, temperatures=len(p.dca.temperatures),
                                  phase="exact diagonalisation")
        channels = asked_channels(p, self.model) if p.measures_two_particle(T) else []
        frequencies = choices.window(p, 1 / T) if channels else 0
        point = self.comm.together(lambda: exact_point(p, self.model, self._state.index, channels, frequencies,
                                                       exchanged_functions(p, self.model, T)))
        yield from self._finish_point(point, {})

    def _temperature(self, T: float) -> Iterator[bool]:
        mesh, index = matsubara.mesh(1 / T, cutoff(self.parameters, lattice_of(self.parameters), T)), self._state.index
        self.model.coarse_graining.prepare(np.pi * T)
        setup = Setup(self.parameters, self.model, self.run, self.observer, T, mesh, index,
                      self._state.earlier + index)
        if self._state.temperature is None:
            self._state.temperature = self._begin(setup)
        while self._state.temperature is not None:
            with region("iteration"):
                yield from self._iterate(setup)

    def _begin(self, setup: Setup) -> TemperatureState:
        """Return the state before the first iteration of a temperature, or of its further measurements. Collective."""
        state = self._state
        if state.redo:
            label = state.kept[str(state.index)]
            return deal(self.comm, self.comm.on_root(lambda: self.observer.read_kept(label, setup.T)))
        if state.predecessor is None:
            return first_state(setup)
        start, state.predecessor = state.predecessor, replace(state.predecessor, chains=None)
        return next_state(setup, start)

    def _iterate(self, setup: Setup) -> Iterator[bool]:
        """Carry out one iteration, step by step as in plaq.dca.loop.iteration; yield wherever the run may stop."""
        state = self._state.temperature
        status.report(setup, state)
        bath = iteration.make_bath(setup, state)
        stored, self._state.stored_g4 = self._state.stored_g4, []
        state = self._state.temperature = distribute(setup, state, bath.request, bath.problem, stored)
        self._report_resume(setup.T, state, bath)
        for _ in iteration.measure(setup, state, bath):
            yield from self._pause()
        solution = iteration.solve(setup, state, bath)
        verdict = iteration.judge(setup, state, bath, solution)
        try:
            estimates = iteration.evaluate(setup, state, bath, solution, verdict) if verdict.complete else {}
        except Interrupted:
            yield from self._pause()
            raise
        state = self._state.temperature = iteration.advance(setup, state, bath, solution, verdict)
        if verdict.complete:
            if setup.index >= len(self._state.points) - 1:
                self._state.predecessor = iteration.predecessor(setup, state, bath, solution, verdict)
            yield from self._finish_temperature(setup, state, estimates)

    def _finish_temperature(self, setup: Setup, state: TemperatureState, estimates: dict) -> Iterator[bool]:
        """Keep the state of a complete temperature, and record its point."""
        self._keep(setup, state)
        self._state.temperature = None
        distributed = {name: e for name, e in estimates.items() if isinstance(e, DistributedEstimate)}
        whole = {name: e for name, e in estimates.items() if name not in distributed}
        point = Point(setup.index, setup.T, setup.mesh.beta, float(whole["mu"].mean), whole, state.history,
                      state.seconds, functions=stacked(state.functions),
                      representatives=self.model.group.representatives)
        yield from self._finish_point(point, distributed)

    def _finish_point(self, point: Point, distributed: dict[str, DistributedEstimate]) -> Iterator[bool]:
        """Record a point and go to the next temperature."""
        self.comm.together(lambda: self.observer.record_point(point, distributed))
        state = self._state
        state.points[point.index:point.index + 1] = [point]
        state.redo = state.redo[1:]
        state.index = state.redo[0] if state.redo else len(state.points)
        yield from self._pause()

    def _keep(self, setup: Setup, state: TemperatureState) -> None:
        """Keep the state of a temperature for further measurements; not where ranks share its bins. Collective."""
        kept = {index: label for index, label in self._state.kept.items() if index != str(setup.index)}
        if not state.distributed:
            label = f"{setup.index:03d}.{state.iteration}"
            plain = state.plain(lambda chains: chains.gathered(self.comm))
            self.comm.on_root(lambda: self.observer.keep(label, plain))
            kept[str(setup.index)] = label
        self._state.kept = kept

    def _report_resume(self, T: float | None, state: TemperatureState | None = None,
                       bath: iteration.Bath | None = None) -> None:
        """Report once where a stopped run resumes; T is None where all temperatures are done. Collective."""
        if self._unreported:
            done = iteration.measurements(state, bath, state.chains.tally(self.comm)) if state else ()
            self.observer.report_resume(T, *((state.iteration, *done) if state else ()))
            self._unreported = False

    # Checkpoints -------------------------------------------------------------------------------------------------

    def _pause(self) -> Iterator[bool]:
        """Yield where the state is whole and can be kept; keep it when all is done, where nothing is left to stop."""
        started = time.perf_counter()
        if self._state.index == len(self.parameters.dca.temperatures):
            self.run.save(self)
        else:
            yield True
        self._state.seconds["checkpoints"] += time.perf_counter() - started

    def state(self) -> dict:
        """Return the state for a checkpoint, with all chains on rank 0. Collective."""
        return self._state.plain(lambda chains: chains.gathered(self.comm))

    def distributed_numbers(self) -> DistributedG4 | None:
        """Return the two-particle sums of which each rank has its rows, if there are any."""
        return self._state.temperature.distributed if self._state.temperature else None


def first_state(setup: Setup) -> TemperatureState:
    """Return the state before a run's first iteration, from `dca.sigma` and empty chains. Collective."""
    p, model, comm, beta = setup.parameters, setup.model, setup.run.comm, setup.mesh.beta
    filling = p.dca.density if p.dca.density is not None else float(len(p.hamiltonian.orbitals))
    omega, sigma = comm.on_root(lambda: first_sigma(p, model.cluster, 1 / beta), share=True)
    order = setup.equations.expected_order(p, beta, filling)
    mu = p.dca.mu if p.dca.mu is not None else setup.equations.first_mu
    return replace(next_state(setup, Predecessor(omega, sigma, beta, mu, order, None)), order=order)


def next_state(setup: Setup, start: Predecessor) -> TemperatureState:
    """Return the state before a temperature's first iteration, from the result of another temperature."""
    p, beta = setup.parameters, setup.mesh.beta
    if start.chains is None:
        chains = Chains.fresh(setup.run.comm, p.solver.chains, p.solver.bins)
    else:
        chains = start.chains.renewed(start.beta, beta / start.beta)
    samples = 1 if p.dca.isolated else 1 + jackknife_groups.count(p.solver.bins, p.solver.chains)
    samples = 1 if samples == 2 else samples  # with one group there is nothing to leave out
    return TemperatureState(
        phase=FINAL if (p.dca.isolated and setup.searched_density is None) or p.dca.iterations == 1 else APPROACH,
        sigma=np.array([moved_to(setup, start.omega, start.sigma)] * samples), mu=start.mu,
        order=start.order * beta / start.beta, tau=start.tau, chains=chains, warm_up=p.solver.warmup,
        needed=p.dca.iterations)


def stacked(functions: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Return each function of all iterations, [iteration, ...]."""
    return {name: np.array([entry[name] for entry in functions]) for name in functions[0]} if functions else {}


def moved_to(setup: Setup, omega: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """Return Sigma on another mesh, as the start of the loop: monotone cubics through w of both signs."""
    mesh = setup.mesh
    both = np.concatenate([-omega[::-1], omega])
    values = np.concatenate([setup.equations.algebra.adjoint(sigma[..., ::-1]), sigma], axis=-1)
    inside = np.minimum(mesh.omega, omega[-1])
    parts = [scipy.interpolate.PchipInterpolator(both, part, axis=-1)(inside) for part in (values.real, values.imag)]
    beyond = np.where(mesh.omega > omega[-1], omega[-1] / mesh.omega, 1.0)  # Im Sigma falls as 1/w
    return parts[0] + 1j * parts[1] * beyond
