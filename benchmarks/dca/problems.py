"""The cluster problems that the benchmarks walk through, and one function that times the solver on them."""

from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np

from plaq.comm import world
from plaq.data.bins import Bins
from plaq.dca.lattice import matsubara
from plaq.dca.lattice.algebra import SCALARS
from plaq.dca.lattice.chemical_potential import find_mu
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.coarse_graining import CoarseGraining
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.model import Model
from plaq.dca.lattice.symmetry import PointGroup
from plaq.dca.physics.two_particle import pair_orbits
from plaq.dca.solver import choices, ctaux
from plaq.dca.solver.chains import Chains, fresh_chain, run_chains


class Problem:
    """2D Hubbard model on a cluster in the bath of a given self-energy (none: the non-interacting lattice)."""

    def __init__(self, vectors, U, beta, density, sigma=None):
        self.U, self.beta = U, beta
        lattice = Lattice.square()
        self.cluster = Cluster(lattice, vectors)
        self.group = PointGroup(self.cluster)
        self.coarse = CoarseGraining(self.cluster)
        self.coarse.prepare(np.pi / beta)
        self.model = Model(U, lattice, self.cluster, self.group, self.coarse, [], None)
        self.mesh = matsubara.mesh(beta, matsubara.frequency_cutoff(self.cluster.lattice, U))
        if sigma is None:
            sigma = np.full((self.cluster.size, len(self.mesh.omega)), U * density / 2, dtype=complex)
        self.density, self.sigma = density, sigma
        self.K = choices.constant_at(density, False, U, beta * self.cluster.size)
        self.update()

    def update(self):
        """The bath that belongs to the self-energy."""
        self.mu = find_mu(self.density, self.coarse, self.mesh, self.sigma, self.U / 2)
        gbar = self.coarse.gbar(1j * self.mesh.omega + self.mu - self.sigma)
        self.g0 = ctaux.auxiliary_bath(self.mesh, 1 / (1 / gbar + self.sigma), self.U)

    def converge(self, iterations, measurements):
        """A few iterations of the loop; returns the expansion order."""
        for _ in range(iterations):
            found = self.run(measurements=measurements, bins=16, warm_up=100)
            m = found.measured.m.mean(axis=0) / found.measured.sign.mean()
            self.sigma = SCALARS.causal(SCALARS.dyson(self.g0, m, self.U / 2)[1], self.mesh.omega)
            self.update()
        return found.order

    def run(self, order=None, measurements=200, bins=4, warm_up=50, window=0, every=1, block="auto", precision="double",
            threads="fiber", workers=1, chains=1, start=None, in_flight="auto",
            device="none"):
        """Walk and measure; seconds are of the process's CPU for one worker, of the wall otherwise and on a device."""
        if order is None:
            order = self.K + self.beta * self.U * self.cluster.size * self.density * (4 - self.density) / 16
        solver = SimpleNamespace(block_length=block, measure_every=every, bins=bins, chains=chains, precision=precision,
                                 seed=11)
        request = ctaux.SolverRequest(
            beta=self.beta, U=self.U, K=self.K, g0=self.g0, measurements=measurements, order=order, warm_up=warm_up,
            point=0, iteration=0, window=window, pairing=window > 0, orbit=pair_orbits(self.group))
        problem = ctaux.make_problem(self.cluster, self.mesh, request, solver)
        taken = Chains(Bins(bins, chains), (fresh_chain(c, start and start[c]) for c in range(chains)))
        run = SimpleNamespace(threads=threads, workers=workers, bind="auto", chains_in_flight=in_flight, device=device)
        started, cpu = time.perf_counter(), time.process_time()
        run_chains(problem, taken, run, world(), lambda *_: None)
        wall, cpu = time.perf_counter() - started, time.process_time() - cpu
        measured = ctaux.collect(problem, taken.bins, taken.tally(world()), self.group)
        count = measured.weights.sum()
        return SimpleNamespace(
            wall=wall, seconds=cpu if workers == 1 and device == "none" else wall, walking=measured.walking_seconds,
            measuring=measured.measuring_seconds,
            measurements=count, sweeps=count * problem.sweeps_per_measurement, proposals=problem.proposals_per_sweep,
            block=problem.block_length, order=float(measured.order.mean() / measured.sign.mean()), measured=measured,
            states=[{**s, "beta": self.beta} for _, s in sorted(taken.states.items())],
            bins=taken.bins, acceptance=measured.acceptance)
