"""Isolated clusters, solved exactly and by QMC, for the tests of the solver and of its physics."""

from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace

import numpy as np

from plaq import comm
from plaq.dca.lattice import matsubara
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.coarse_graining import CoarseGraining
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.model import Model
from plaq.dca.lattice.symmetry import PointGroup
from plaq.dca.physics import observables
from plaq.dca.physics.evaluation import Evaluation
from plaq.dca.physics.two_particle import pair_orbits
from plaq.dca.solver import ctaux
from plaq.dca.solver.chains import Chains, run_chains
from plaq.dca.solver.choices import measured_functions
from plaq.dca.solver.ed import ExactCluster


def hops(x=0.0, y=0.0, diagonal=0.0):
    """Hopping table with amplitudes x at (±1,0), y at (0,±1) and diagonal at (±1,±1)."""
    table = {(1, 0): x, (-1, 0): x, (0, 1): y, (0, -1): y}
    table |= {(dx, dy): diagonal for dx in (1, -1) for dy in (1, -1)}
    return {d: amplitude for d, amplitude in table.items() if amplitude} or {(0, 0): 0.0}


@dataclass(frozen=True)
class Geometry:
    """A hopping table and the two vectors of a cluster. Hops that leave the cluster fold back into it."""

    name: str
    hopping: dict
    vectors: tuple

    @cached_property
    def lattice(self):
        return Lattice(self.hopping)

    @cached_property
    def cluster(self):
        return Cluster(self.lattice, self.vectors)


DIMER = Geometry("dimer", hops(-1.0, -1.0), ((2, 0), (0, 1)))  # a hop along y leads back to the same site
OPEN_DIMER = Geometry("open dimer", hops(-0.5), ((2, 0), (0, 1)))  # two half hops make one bond
PLAQUETTE = Geometry("plaquette", hops(-1.0, -1.0), ((2, 0), (0, 2)))
OPEN_PLAQUETTE = Geometry("open plaquette", hops(-0.5, -0.5), ((2, 0), (0, 2)))
DIAGONAL_PLAQUETTE = Geometry("plaquette with t'", hops(-1.0, -1.0, 0.3), ((2, 0), (0, 2)))
RING = Geometry("ring of 3", hops(-1.0), ((3, 0), (0, 1)))  # the smallest with K != -K
ATOM = Geometry("atom", hops(), ((1, 0), (0, 1)))
EIGHT = Geometry("8A", hops(-1.0, -1.0), ((2, 2), (2, -2)))


@dataclass
class Isolated:
    """One cluster without a bath at (U, beta, mu): `exact` is its exact solution, `measure` runs the QMC."""

    geometry: Geometry
    U: float
    beta: float
    mu: float
    measurements: int = 4096
    bins: int = 64
    chains: int = 4
    seed: int = 1
    window: int = 0
    pairing: bool = False
    channels: list = field(default_factory=list)
    warm_up: int = 200
    K: float = 1.0

    @cached_property
    def cluster(self):
        return self.geometry.cluster

    @cached_property
    def exact(self):
        cluster = self.cluster
        return ExactCluster(cluster.hopping_matrix(), self.U, self.mu, self.beta, fourier=cluster.fourier)

    @cached_property
    def mesh(self):
        return matsubara.mesh(self.beta, matsubara.frequency_cutoff(self.geometry.lattice, self.U, self.mu))

    @cached_property
    def group(self):
        return PointGroup(self.cluster)

    @cached_property
    def bath(self):
        """1/(iw + mu - eps_K) [K, w]."""
        return 1 / (1j * self.mesh.omega + self.mu - self.cluster.energies[:, None])

    @cached_property
    def model(self):
        coarse = CoarseGraining(self.cluster, isolated=True)
        coarse.prepare(np.pi / self.beta)
        return Model(self.U, self.geometry.lattice, self.cluster, self.group, coarse, [], None)

    @cached_property
    def evaluation(self):
        g0 = ctaux.auxiliary_bath(self.mesh, self.bath, self.U)
        return Evaluation(self.model, self.mesh, self.K, self.mu, g0)

    @property
    def order(self):
        """<k> of the expansion, exact."""
        deviation = self.exact.density / 2 - self.exact.double_occupancy
        return self.K + self.beta * self.U * self.cluster.size * deviation

    @cached_property
    def problem(self):
        request = ctaux.SolverRequest(
            beta=self.beta, U=self.U, K=self.K, g0=self.evaluation.g0, measurements=self.measurements, order=self.order,
            warm_up=self.warm_up, point=0, iteration=0, isolated=True, window=self.window, pairing=self.pairing,
            orbit=pair_orbits(self.group), channels=measured_functions(self.channels))
        solver = SimpleNamespace(block_length="auto", measure_every="auto", bins=self.bins, chains=self.chains,
                                 precision="double", seed=self.seed)
        return ctaux.make_problem(self.cluster, self.mesh, request, solver)

    def fresh_chains(self):
        return Chains.fresh(comm.world(), self.chains, self.bins)

    def run(self, chains, threads="fiber", workers=2, in_flight="auto",
            watch=lambda measurements, sweeps: None):
        """Takes the chains on; returns whether all are complete."""
        how = SimpleNamespace(threads=threads, workers=workers, bind="auto", chains_in_flight=in_flight, device="none")
        return run_chains(self.problem, chains, how, comm.world(), watch)

    def collected(self, chains):
        return ctaux.collect(self.problem, chains.bins, chains.tally(comm.world()), self.group)

    def measure(self):
        """All observables, as the application reports them: {name: Estimate}."""
        chains = self.fresh_chains()
        assert self.run(chains)
        return observables.estimates(self.evaluation, self.collected(chains), self.window, self.channels)


def at_filling(geometry, U, beta, density, **rest):
    """The case whose exact density is `density`."""
    cluster = geometry.cluster
    start = ExactCluster(cluster.hopping_matrix(), U, U / 2, beta, fourier=cluster.fourier)
    return Isolated(geometry, U, beta, start.at_density(density).mu, **rest)
