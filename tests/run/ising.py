"""The Ising model on a square lattice: all parts of a new application, in sixty lines."""

import time

import numpy as np

from plaq.cli.run import Commands
from plaq.data.results_file import Findings
from plaq.data.statistics import jackknife
from plaq.inputs import parameters, running
from plaq.inputs.kinds import integer, real
from plaq.inputs.schema import REQUIRED, Parameter, Schema
from plaq.run.application import Application

BINS = 32  # of each chain


class Parameters(parameters.Parameters):
    SCHEMA = Schema({"model": "Spins on a square lattice, periodic.", "solver": "Markov chains.", "run": running.DOC}, [
        Parameter("model", "beta", real("(0, 10]"), REQUIRED, "1/J", "inverse temperature"),
        Parameter("model", "size", integer(3, 64), 4, "a", "sites along an edge"),
        Parameter("solver", "sweeps", integer(BINS, 10**6), 2048, "", "of each chain, after the first tenth"),
        Parameter("solver", "chains", integer(1, 1000), 4, "", "independent ones"),
        Parameter("solver", "seed", integer(0, 2**63 - 1), 1, "", "of all random numbers"),
        *running.rows()])


class Chains:
    """The simulation: spins [chain, x, y] of this rank's chains, and their energies [chain, sweep] so far."""

    def __init__(self, p, run):
        self.p, self.comm, chains, size = p, run.comm, p.solver.chains, p.model.size
        state = run.resume() or {"spins": np.ones((chains, size, size), np.int8), "energies": np.zeros((chains, 0))}
        self.mine = self.comm.share(chains)
        self.spins, self.energies = (state[name][self.mine.start:self.mine.stop] for name in ("spins", "energies"))
        self.sweeps, self.seconds = p.solver.sweeps + p.solver.sweeps // 10, 0.0

    def steps(self):
        while (step := self.energies.shape[1]) < self.sweeps:
            started = time.perf_counter()
            found = [self.sweep(spins, chain, step) for spins, chain in zip(self.spins, self.mine)]
            self.energies = np.column_stack([self.energies, np.array(found, float)])
            self.seconds += time.perf_counter() - started
            yield

    def sweep(self, spins, chain, step):
        """Heat bath of both sublattices, in place; the energy per site."""
        random = np.random.default_rng([self.p.solver.seed, chain, step])
        x, y = np.indices(spins.shape)
        neighbours = lambda: sum(np.roll(spins, shift, axis) for shift in (1, -1) for axis in (0, 1))
        for colour in ((x + y) % 2 == 0, (x + y) % 2 == 1):
            up = 1 / (1 + np.exp(-2 * self.p.model.beta * neighbours()))
            spins[colour] = np.where(random.random(spins.shape) < up, 1, -1)[colour]
        return -(spins * neighbours()).mean() / 2

    def state(self):
        parts = self.comm.gather((self.spins, self.energies))
        return parts and {"spins": np.concatenate([s for s, _ in parts]),
                          "energies": np.concatenate([e for _, e in parts])}

    def distributed_numbers(self):
        return None

    def results(self):
        kept = np.concatenate(self.comm.allgather(self.energies))[:, -self.p.solver.sweeps:]
        bins = np.array([part.mean() for chain in kept for part in np.array_split(chain, BINS)])
        energy = jackknife(lambda e: e, bins, weights=np.ones(len(bins))).estimate("energy", unit="J",
                                                                                   convention="per site")
        return Findings({"energy": energy}, [f"E = {energy} J per site"], {"sweeps": self.seconds})


class Ising(Application):
    name, Parameters = "plaq ising", Parameters

    def prepare(self, run, started):
        return Chains(self.parameters, run)


app = Commands("ising", "The Ising model.", lambda: Parameters, lambda: Ising)
