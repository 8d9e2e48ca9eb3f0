"""Markov chains of an iteration on all ranks: their distribution, and their run.

The input determines the chains; their distribution over ranks does not affect results. A chain stays where it ran
last, so a slow rank comes to have fewer. While chains run, waiting ones move from late ranks to idle ones
(plaq.batch.balance). Bins are summed in an order of their own (plaq.data.bins).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from plaq import _core
from plaq.batch.balance import Load, plan
from plaq.data.bins import Bins
from plaq.dca.solver import devices
from plaq.dca.solver.distributed_g4 import DistributedG4
from plaq.errors import RunError
from plaq.machine import pool_options
from plaq.trace.session import region

FIRST_PERIOD, LONGEST_PERIOD = 0.01, 0.2  # seconds between two exchanges of loads: first, and at most
POLL_PERIOD = 0.005  # seconds between two checks of this rank's chains, on several ranks
TIMEOUT = 5.0  # seconds that a failing rank waits for its tasks
COUNTS = ("proposed", "accepted", "walking_seconds", "measuring_seconds")  # of a chain, added up
ARRAYS = {"site": np.int32, "spin": np.int32, "tau": np.float64}  # of a chain's vertices
ALL = 2**31


def fresh_chain(number, previous=None, stretch=1.0):
    """Return state of a chain before warm-up: empty, or the last configuration of `previous` with times multiplied."""
    state = dict(number=number, warm=False, sign=1.0, drift=0.0, proposed=0, accepted=0, walking_seconds=0.0,
                 measuring_seconds=0.0, bins_done=0, bins=[], series=[])
    state |= {name: np.zeros(0, dtype) for name, dtype in ARRAYS.items()}
    if previous is not None:
        state |= {name: previous[name] for name in ("site", "spin", "sign")}
        state["tau"] = np.minimum(previous["tau"] * stretch, np.nextafter(previous["beta"] * stretch, 0))
    return state


class Chains:
    """Markov chains of one rank, and sums of measurements.

    states : states of the rank's chains by number; bins : sums of their measurements and of others'; in_flight : number
    of chains that could run at once when they last ran here, at the end. Each piece of the sums is on one rank, until
    they are complete and `gather_bins` gives all of them to every rank.
    """

    def __init__(self, bins: Bins, states: Iterable[dict[str, Any]]):
        self.bins = bins
        self.states = {state["number"]: state for state in states}
        self.in_flight = 0

    @classmethod
    def fresh(cls, comm: Any, chains: int, bins: int) -> Chains:
        """Return empty chains, a block of neighbours on each rank."""
        return cls(Bins(bins, chains), map(fresh_chain, comm.share(chains)))

    def renewed(self, beta: float, stretch: float = 1.0) -> Chains:
        """Return chains that start from these configurations, at inverse temperature beta, with times multiplied."""
        states = (fresh_chain(number, {**old, "beta": beta}, stretch) for number, old in self.states.items())
        return Chains(Bins(self.bins.bins, self.bins.chains), states)

    def rank_of(self, comm: Any) -> list[int]:
        """Return the rank that each chain is on. Collective."""
        everywhere = comm.allgather(list(self.states))
        return [rank for _, rank in sorted((number, rank) for rank, here in enumerate(everywhere) for number in here)]

    def done(self) -> dict[int, int]:
        """Return {chain: number of its complete bins} of this rank's chains."""
        return {number: state["bins_done"] for number, state in self.states.items()}

    def keep(self, states: Iterable[dict[str, Any]]) -> None:
        """Take back chains that ran, and what they measured into the sums."""
        for state in states:
            first = state["bins_done"] - len(state["bins"])
            for i, (sums, series) in enumerate(zip(state["bins"], state["series"])):
                self.bins.add(state["number"], first + i, sums, series)
            self.states[state["number"]] = state | {"bins": [], "series": []}

    def tally(self, comm: Any) -> dict[str, float]:
        """Return totals over all chains on all ranks: bins_done, sums of `COUNTS`, and the largest drift. Collective.
        """
        states = self.states.values()
        names = ("bins_done", *COUNTS)
        sums = comm.allreduce(np.array([sum(s[name] for s in states) for name in names], float))
        drift = comm.allreduce(max((s["drift"] for s in states), default=0.0), "max")
        return dict(zip(names, map(float, sums))) | {"drift": drift}

    @region("collection")
    def gather_bins(self, comm: Any, complete: bool) -> None:
        """Bring all sums to rank 0, and if they are complete to every rank. Collective."""
        bins = comm.fold(self.bins.take_all(), lambda a, b: a.join(b))
        if complete:
            bins = comm.bcast(bins)
        if bins is not None:
            self.bins = bins

    def plain(self) -> dict[str, Any]:
        """Return all chains of this rank, and the sums, as a dict of arrays."""
        return {"states": in_columns(self.states.values()), "bins": self.bins.state()}

    @region("gather chains")
    def gathered(self, comm: Any) -> dict[str, Any] | None:
        """Return `plain` of all ranks' chains on rank 0, None elsewhere; the sums have to be there. Collective."""
        states = comm.fold(in_columns(self.states.values()), joined_columns)
        return None if states is None else {"states": states, "bins": self.bins.state()}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Chains:
        """Return all chains, on this rank, from the data of `gathered`."""
        states = sorted(out_of_columns(plain["states"]), key=lambda state: state["number"])
        return cls(Bins.from_state(plain["bins"]), states)

    @classmethod
    @region("deal chains")
    def dealt(cls, comm: Any, whole: Chains | None) -> Chains:
        """Return this rank's part of rank 0's chains: sums there, a block of neighbours on each rank. Collective."""
        shape = comm.bcast((whole.bins.bins, whole.bins.chains) if comm.rank == 0 else None)
        if comm.rank > 0:
            return cls(Bins(*shape), comm.receive(0))
        states = list(whole.states.values())
        for rank in range(1, comm.size):
            comm.send([states[i] for i in comm.share(len(states), rank)], rank)
        return cls(whole.bins, [states[i] for i in comm.share(len(states))])


def in_columns(states: Iterable[dict[str, Any]]) -> dict[str, np.ndarray]:
    """Return states of chains as a few arrays, [chain] and [vertex]: faster to send and to store than many small ones.
    """
    states = list(states)
    names = ("number", "warm", "sign", "drift", "bins_done", *COUNTS)
    out = {name: np.array([state[name] for state in states], type(fresh_chain(0)[name])) for name in names}
    out["vertices"] = np.array([len(state["tau"]) for state in states], int)
    for name, dtype in ARRAYS.items():
        out[name] = np.concatenate([np.zeros(0, dtype), *(state[name] for state in states)])
    return out


def joined_columns(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the states of both, in columns."""
    return {name: np.concatenate([a[name], b[name]]) for name in a}


def out_of_columns(columns: dict[str, np.ndarray]) -> list[dict[str, Any]]:
    """Return the inverse of `in_columns`."""
    ends = np.cumsum(columns["vertices"])
    plain = {name: values.tolist() for name, values in columns.items() if name not in ("vertices", *ARRAYS)}
    states = []
    for i, (end, count) in enumerate(zip(ends, columns["vertices"])):
        state = fresh_chain(0) | {name: values[i] for name, values in plain.items()}
        states.append(state | {name: columns[name][end - count:end].copy() for name in ARRAYS})
    return states


@region("chains")
def run_chains(problem, chains: Chains, run, comm, watch: Callable, distributed: DistributedG4 | None = None) -> bool:
    """Run all chains until they are complete or `watch` asks for a stop; return whether they are complete. Collective.

    Their bins are then where they ran: `Chains.gather_bins` brings them together. `watch(measurements, sweeps)` is
    called at every exchange of loads on every rank, with the counts of all ranks. It returns None, "finish" (stop when
    the bins in progress are complete) or "abandon" (stop now). A request of one rank holds for all. Chains may end on
    another rank than they started on. With `distributed`, two-particle sums go there instead of into the chains' bins,
    and chains stay on their rank.
    """
    runner = Runner(problem, chains, run, comm, distributed)
    requests = (None, "finish", "abandon")
    try:
        period = FIRST_PERIOD
        while True:
            runner.wait(period)
            period = min(1.5 * period, LONGEST_PERIOD)
            done = runner.exchange_loads(2 * period)
            request = max(requests.index(runner.request(watch)), 1 if runner.failure else 0)
            runner.stop(requests[int(comm.allreduce(np.array([request], dtype=float), "max")[0])])
            if done:
                break
    except BaseException:
        runner.end(TIMEOUT if distributed else None)
        raise
    runner.end()
    if distributed:
        distributed.take(runner.exchange)
        for state in list(chains.states.values())[:1]:  # counts are sums over chains: any of this rank will do
            state["measuring_seconds"] += runner.exchange.remote_seconds
    missing = any(c["bins_done"] != problem.bins for c in chains.states.values())
    missing, failed = comm.allreduce(np.array([missing, bool(runner.failure)]), "max")
    if failed:
        errors = comm.allgather(str(runner.failure[0]) if runner.failure else None)
        error = RunError(next(e for e in errors if e))
        error.ranks = comm.size
        raise error
    return not missing


class Runner:
    """Chains of this rank running on another thread.

    ``measurements`` and ``sweeps`` count those of all ranks at the last exchange of loads; ``failure`` holds an error
    of this rank; ``exchange`` sums two-particle functions for `distributed`.
    """

    def __init__(self, problem, chains: Chains, run, comm, distributed: DistributedG4 | None):
        self._problem, self._chains, self._comm, self._move = problem, chains, comm, not distributed and comm.size > 1
        self._options = pool_options(run.workers, run.bind)
        gpus = devices.chosen_for(problem, run.device)
        gpus = devices.alike(run.device, gpus, comm)
        self._control, self._queue = _core.dca.Control(), _core.dca.ChainQueue()
        self._finished = threading.Event()  # Thread.join counts a thread as dead once a signal has interrupted it
        self._stopped = False
        self._busy = self._assigned = 0.0  # seconds of all workers; sweeps of all chains that this rank has had
        self._exchanged = time.monotonic()
        self.failure: list[Exception] = []
        self.measurements = self.sweeps = 0.0
        self.exchange = exchange = distributed.exchange(problem, chains.rank_of(comm)) if distributed else None
        # With distributed sums complete chains start too: the other ranks wait for their end.
        self._start([c for c in chains.states.values() if distributed or c["bins_done"] < problem.bins])
        if not self._move:
            self._queue.close()

        def work():
            try:
                places = 0 if run.chains_in_flight == "auto" else run.chains_in_flight
                start = (problem, self._queue, run.threads, self._options, gpus)
                if exchange:
                    _core.dca.run_chains_distributed(*start, self._control, exchange)
                else:
                    _core.dca.run_chains(*start, places, self._control)
            except Exception as error:  # carried to the main thread
                self.failure.append(error)
            finally:
                self._finished.set()

        threading.Thread(target=work, name="plaq chains").start()

    def _start(self, states: list[dict[str, Any]]) -> None:
        for state in states:
            del self._chains.states[state["number"]]
            self._assigned += self._sweeps_left(state)
            self._queue.add(state)

    def _sweeps_left(self, state: dict[str, Any]) -> float:
        p = self._problem
        per_bin = p.measurements_per_bin * p.sweeps_per_measurement
        return (p.bins - state["bins_done"]) * per_bin + (0 if state["warm"] else p.warm_up_sweeps)

    @region("wait for chains")
    def wait(self, period: float) -> None:
        """Wait for ``period`` seconds, or until no chain runs here.

        Ranks meet in `exchange_loads`. A rank whose chains are done arrives first, and waits for the others without
        using its core.
        """
        alone = self._comm.size == 1
        until = time.monotonic() + period
        while (left := until - time.monotonic()) > 0:
            if self._finished.wait(left if alone else min(left, POLL_PERIOD)) or not (alone or any(self._queue.load())):
                return

    def exchange_loads(self, ahead: float) -> bool:
        """Exchange loads with all ranks and move chains for the next ``ahead`` seconds; return whether all is done.

        Collective.
        """
        self._chains.keep(self._queue.take_complete())
        waiting, running = self._queue.load()
        if self._comm.size == 1:
            running = int(not self._finished.is_set())
        now = time.monotonic()
        self._busy += running * (now - self._exchanged)
        self._exchanged = now
        sweeps = self._control.sweeps
        left = max(self._assigned - sweeps, 0.0) if waiting + running else 0.0
        places = self._control.places or self._options.workers  # none yet: the chains have just been started
        row = [waiting, running, places, left, sweeps / self._busy if self._busy else 0.0,
               self._control.measurements, sweeps]
        table = self._comm.table(np.array(row, float))
        self.measurements, self.sweeps = table[:, 5:].sum(axis=0)
        if self._move and not self._stopped:
            self._balance([Load(int(w), int(r), int(n), work, speed) for w, r, n, work, speed in table[:, :5]], ahead)
            return not table[:, :2].any()
        return not table[:, 1].any() and (self._stopped or not table[:, 0].any())

    def _balance(self, loads: list[Load], ahead: float) -> None:
        p, rank = self._problem, self._comm.rank
        moves, recalled = plan(loads, ahead, p.measurements_per_bin * p.sweeps_per_measurement)
        if moves:
            self._carry_out(moves)
        self._queue.recall(recalled[rank])

    @region("move chains")
    def _carry_out(self, moves) -> None:
        """Carry out the moves in the same order on all ranks, so that no ranks wait for each other in a circle."""
        for move in moves:
            if move.giver == self._comm.rank:
                states = self._queue.take(move.chains)
                self._chains.keep(states)
                states = [self._chains.states.pop(s["number"]) for s in states]
                self._assigned -= sum(map(self._sweeps_left, states))
                self._comm.send(states, move.taker)
            elif move.taker == self._comm.rank:
                for state in self._comm.receive(move.giver):
                    self._chains.states[state["number"]] = state
                    self._start([state])

    def request(self, watch: Callable) -> str | None:
        """Return the request of `watch`; its error counts as one of this rank's chains."""
        try:
            return watch(self.measurements, self.sweeps)
        except (RunError, OSError) as error:
            self.failure.append(error)
            return None

    def stop(self, request: str | None) -> None:
        """Stop the chains as in `run_chains`, with the same request on all ranks."""
        if request is None:
            return
        self._control.finish_bins() if request == "finish" else self._control.abandon_bins()
        self._stopped = True
        self._queue.close()

    def end(self, timeout: float | None = None) -> None:
        """Take all chains back; the C++ thread ends before the run. Chains that still run are abandoned.

        timeout : seconds, for chains that wait for messages of ranks which do not know of the end.
        """
        self._control.abandon_bins()
        self._queue.close()
        self._finished.wait(timeout)
        self._chains.in_flight = self._control.places
        self._chains.keep(self._queue.take_complete())
        self._chains.keep(self._queue.take(ALL))
