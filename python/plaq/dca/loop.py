"""The self-consistency loop of the dynamical cluster approximation, through all temperatures of a run.

At each temperature: Sigma -> mu, Gbar(K, iw) -> bath -> solver -> Sigma (plaq.dca.iteration), first with few
measurements until what the step in T did to Sigma has died out. From there on all iterations count, with
everything measured and groups of chains in baths near the mean one (plaq.dca.solver.groups), until their
measurements together are as many as were asked for (plaq.dca.solver.pooling). The next temperature starts from the
last one's Sigma and configurations. The whole state is a nested dict of plain arrays and of chains that are spread
over the ranks, so that a run can stop between any two bins and continue to the same bits, on any number of ranks.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from scipy.interpolate import PchipInterpolator
from threadpoolctl import threadpool_limits

from plaq.dca.convergence import APPROACH, FINAL
from plaq.dca.iteration import Iteration, wanted_channels
from plaq.dca.lattice import matsubara
from plaq.dca.lattice.chemical_potential import cutoff
from plaq.dca.lattice.crystal import Crystal
from plaq.dca.physics.exact import exact_point
from plaq.dca.physics.point import Point
from plaq.dca.physics.transition import across
from plaq.dca.results.results import Results
from plaq.dca.solver import choices, groups
from plaq.dca.solver.chains import Chains
from plaq.dca.solver.shares import Shares, SpreadEstimate
from plaq.dca.start import first_sigma
from plaq.errors import Interrupted
from plaq.trace.session import region


class Loop:
    """The simulation of `plaq dca`, as `plaq.run.application` says.

    parameters: plaq.dca.parameters.Parameters; run: plaq.run.driver.Run; observer: see plaq.dca.observer; state:
    on rank 0 what `state` gave last, None to start anew and on the other ranks; started: when the run's start-up
    began (time.perf_counter), by default now.
    """

    def __init__(self, parameters, run, observer, state=None, started=None):
        started = time.perf_counter() if started is None else started
        self.parameters, self.run, self.comm, self.observer = parameters, run, run.comm, observer
        self.crystal = Crystal.of(parameters)
        self._iteration: Iteration | None = None  # the one under way
        self._state = {"points": [], "index": 0, "seconds": {"start-up": 0.0, "checkpoints": 0.0}}
        begun = state is not None and ("loop" in state or bool(state["points"]))
        self._goes_on = self.comm.bcast(begun)  # until it has been said where
        if self.comm.bcast(state is not None):
            self._state = self._restored(state)
        self._state["asked"] = list(parameters.asked())
        self._state["seconds"]["start-up"] += time.perf_counter() - started

    def steps(self) -> Iterator[bool]:
        """All temperatures that are not done yet."""
        with threadpool_limits(1):  # workers belong to the chains; and bits must not depend on BLAS threads
            temperatures = self.parameters.dca.temperatures
            if self._state["index"] == len(temperatures):
                self._say_where(None)
            while self._state["index"] < len(temperatures):
                with region("temperature"):
                    T = temperatures[self._state["index"]]
                    yield from self._exact(T) if self.parameters.solver.kind == "ed" else self._temperature(T)

    def results(self) -> Results:
        """Of all temperatures, and the transition."""
        points = [Point.from_state(point) for point in self._state["points"]]
        seconds = defaultdict(float, self._state["seconds"])
        for point in points:
            for part, value in point.seconds.items():
                seconds[part] += value
        return Results(points, across(points, "lambda_d"), dict(seconds))

    # One temperature ---------------------------------------------------------------------------------------------

    def _exact(self, T: float) -> Iterator[bool]:
        self.run.raise_if_stopped()
        p = self.parameters
        self._say_where(T)
        channels = wanted_channels(p, self.crystal) if p.measures_two_particle(T) else []
        frequencies = choices.window(p, 1 / T) if channels else 0
        index = self._state["index"]
        point = self.comm.together(lambda: exact_point(p, self.crystal.cluster, index, channels, frequencies))
        yield from self._finish_point(point, spread={})

    def _temperature(self, T: float) -> Iterator[bool]:
        mesh = matsubara.mesh(1 / T, cutoff(self.parameters, self.crystal.lattice, T))
        self.crystal.coarse.prepare(np.pi * T)
        if "loop" not in self._state:
            self._begin_temperature(mesh)
        while "loop" in self._state:
            with region("iteration"):
                yield from self._iterate(T, mesh)

    def _begin_temperature(self, mesh: matsubara.Mesh) -> None:
        p, state = self.parameters, self._state
        if state.get("redo"):
            label = state["kept"][str(state["index"])]
            kept = self.comm.on_root(lambda: self.observer.kept(label, 1 / mesh.beta))
            state["loop"] = self._restored(kept and {"loop": kept})["loop"]
            return
        previous = state.get("last")
        if previous is None:
            filling = p.dca.density if p.dca.density is not None else 1.0
            given = self.comm.on_root(lambda: first_sigma(p, self.crystal.cluster, 1 / mesh.beta), share=True)
            sigma = moved_to(mesh, *given)
            order = choices.expected_order(p, self.crystal.cluster, mesh.beta, filling)
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
        alone = p.dca.isolated or p.dca.iterations == 1
        samples = 1 if p.dca.isolated else 1 + groups.count(p.solver.bins, p.solver.chains)
        samples = 1 if samples == 2 else samples  # of one group there is nothing to leave out
        state["loop"] = {"iteration": 1, "phase": FINAL if alone else APPROACH, "sigma": np.array([sigma] * samples),
                         "mu": mu, "order": order, "tau": tau, "chains": chains, "warm_up": p.solver.warmup,
                         "outputs": [], "residuals": [], "reference": 0.0, "needed": p.dca.iterations,
                         "settled": True, "functions": [], "pool": None, "history": [], "seconds": {}}

    def _iterate(self, T: float, mesh: matsubara.Mesh) -> Iterator[bool]:
        state, index = self._state, self._state["index"]
        where = lambda measured, of: self._say_where(T, state["loop"]["iteration"], measured, of)
        self._iteration = now = Iteration(self.parameters, self.crystal, self.run, self.observer, T, mesh, index,
                                          state.get("earlier", 0) + index, state["loop"], where)
        now.report()
        now.make_bath()
        now.place_shares(state.pop("spread", None))
        for _ in now.solve():
            yield from self._pause()
        now.judge()
        try:
            values = now.estimates() if now.complete else {}
        except Interrupted:
            yield from self._pause()
            raise
        now.advance()
        if now.complete:
            if index >= len(state["points"]) - 1:
                state["last"] = now.last()
            self._keep(now)
            spread = {name: e for name, e in values.items() if isinstance(e, SpreadEstimate)}
            here = {name: e for name, e in values.items() if name not in spread}
            point = Point(index, T, mesh.beta, float(here["mu"].mean), here, now.at["history"], now.at["seconds"],
                          functions=stacked(now.at["functions"]),
                          representatives=self.crystal.group.representatives)
            del state["loop"]
            self._iteration = None
            yield from self._finish_point(point, spread)

    def _finish_point(self, point: Point, spread: dict[str, SpreadEstimate]) -> Iterator[bool]:
        self.comm.together(lambda: self.observer.point(point, spread))
        state = self._state
        state["points"][point.index:point.index + 1] = [point.state()]
        state["redo"] = state.get("redo", [])[1:]
        state["index"] = state["redo"][0] if state["redo"] else len(state["points"])
        yield from self._pause()

    def _keep(self, iteration: Iteration) -> None:
        """Of this temperature, what it takes to measure it further; not where ranks share its bins. Collective."""
        kept = dict(self._state.get("kept", {}))
        kept.pop(str(iteration.index), None)
        if not iteration.shares:
            label = f"{iteration.index:03d}.{iteration.at['iteration']}"
            whole = {**iteration.kept(), "chains": iteration.at["chains"].gathered(self.comm)}
            self.comm.on_root(lambda: self.observer.keep(label, whole))
            kept[str(iteration.index)] = label
        self._state["kept"] = kept

    def _say_where(self, T: float | None, *at: float) -> None:
        """Once in a run that goes on: where; ``at`` as observer.report_resume takes it."""
        if self._goes_on:
            self.observer.report_resume(T, *at)
            self._goes_on = False

    # The state, of which chains are spread over the ranks --------------------------------------------------------

    def _pause(self) -> Iterator[bool]:
        """Where the state is whole and is kept; when all is done there is nothing left to be stopped."""
        started = time.perf_counter()
        if self._state["index"] == len(self.parameters.dca.temperatures):
            self.run.save(self)
        else:
            yield True
        self._state["seconds"]["checkpoints"] += time.perf_counter() - started

    def state(self) -> dict:
        whole = dict(self._state)
        if self._iteration:
            whole["loop"] = self._iteration.state()
        for part in ("loop", "last"):
            if "chains" in whole.get(part, {}):
                whole[part] = whole[part] | {"chains": whole[part]["chains"].gathered(self.comm)}
        return whole

    def distributed_numbers(self) -> Shares | None:
        return self._iteration.shares if self._iteration else None

    def _restored(self, whole: dict | None) -> dict:
        """The state on every rank from what rank 0 kept; ``whole`` is None on the others. Collective."""
        kept = {part: whole[part].pop("chains", None) for part in ("loop", "last") if part in whole} if whole else {}
        state = self.comm.bcast(whole)
        for part in ("loop", "last"):
            if self.comm.bcast(kept.get(part) is not None):
                state[part]["chains"] = Chains.dealt(self.comm, kept.get(part))
        return state


def stacked(functions: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """[iteration, K, w] of each."""
    return {name: np.array([entry[name] for entry in functions]) for name in functions[0]} if functions else {}


def moved_to(mesh: matsubara.Mesh, omega: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """Sigma [K, w] on another mesh, as the start of the loop: monotone cubics through w of both signs."""
    both = np.concatenate([-omega[::-1], omega])
    values = np.concatenate([sigma[:, ::-1].conj(), sigma], axis=1)
    wanted = np.minimum(mesh.omega, omega[-1])
    parts = [PchipInterpolator(both, part, axis=1)(wanted) for part in (values.real, values.imag)]
    beyond = np.where(mesh.omega > omega[-1], omega[-1] / mesh.omega, 1.0)  # Im Sigma falls as 1/w
    return parts[0] + 1j * parts[1] * beyond
