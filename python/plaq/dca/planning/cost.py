"""Cost of a run in memory and time, on this machine or on one that a file describes.

The model follows a run: chains are dealt to ranks and workers, each warms up and measures independently, then
all bins are summed and go to all ranks, rank 0 writes, and the ranks share the jackknife samples of two-particle
functions. Only the chains and the samples become faster with more ranks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from plaq._core.dca import device_chain_bytes
from plaq.dca.inputs.checks import measures_pairing
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.particle_hole import at_half_filling
from plaq.dca.lattice.symmetry import PointGroup
from plaq.dca.parameters import Parameters
from plaq.dca.physics.vertex_parts import needed_functions
from plaq.dca.solver import choices, ctint
from plaq.dca.solver.iteration_average import final_iterations
from plaq.inputs.kinds import integer, real, text
from plaq.inputs.schema import Parameter, Schema, read_toml

APPROACH = 6  # iterations that the approach to self-consistency mostly takes
FREQUENCIES = 16  # of a single-particle function on its sparse mesh, about
COPIES_OF_BINS = 4  # at most at once: as summed, in one array, by quantity, and as complex numbers
CUBE_OF_A_MATRIX = 2e-9  # seconds of inverse, products and eigenvalues by block over the cube of its rows
VERTEX = 16  # bytes
COPIES_OF_SHARES = 3  # at most at once: the sums, their averages, those of iterations before
ARRAYS_OF_ERRORS = 6  # of which a function's errors are made

_speed, _time, _bytes = real("[1, 1e18]"), real("[0, 1e6]"), real("[0, 1e15]")
_model = choices.Rates()
MACHINE = Schema(
    {"machine": "Cores of a rank, and communication between ranks."},
    [
        Parameter("machine", "name", text(), "a typical core", "", "name of the machine"),
        Parameter("machine", "workers", integer(1, 4096), 1, "", "worker threads of a rank"),
        Parameter("machine", "walk", _speed, _model.walk, "flop/s", "products of a sweep, one core"),
        Parameter("machine", "measure", _speed, _model.measure, "flop/s", "products of a measurement"),
        Parameter("machine", "proposal", _time, _model.proposal, "s", "the rest of a proposal"),
        Parameter("machine", "measurement", _time, _model.measurement, "s", "the rest of a measurement"),
        Parameter("machine", "element", _time, _model.element, "s", "one element of G4 in a general channel"),
        Parameter("machine", "analysis", _time, 3e-8, "s",
                  "one element of G4 in one jackknife sample, for each operation of the point group"),
        Parameter("machine", "sample", _time, 2e-3, "s", "the rest of a jackknife sample"),
        Parameter("machine", "iteration", _time, 0.05, "s", "bath and self-energy of one iteration"),
        Parameter("machine", "startup", _time, 1.5, "s", "from the command to the first sweep"),
        Parameter("machine", "process", _bytes, 1e8, "bytes", "Python with its libraries"),
        Parameter("machine", "latency", _time, 1e-4, "s", "one step of an exchange of Python objects"),
        Parameter("machine", "bandwidth", _speed, 1e9, "bytes/s", "of such an exchange, to one rank and to all"),
        Parameter("machine", "gpu_memory", _bytes, 8e10, "bytes", "of a GPU, with run.device"),
        Parameter("machine", "disk", _speed, 3e8, "bytes/s", "checkpoints of rank 0"),
    ],
)


@dataclass(frozen=True)
class Machine:
    """Speeds as in the table MACHINE; the defaults are a recent server core."""

    values: object = MACHINE.read({}, "the default machine")["machine"]

    @classmethod
    def read(cls, path: Path) -> Machine:
        """Read a TOML file; InputError names file, key, value and the allowed values."""
        return cls(MACHINE.read(read_toml(path), str(path))["machine"])

    def __getattr__(self, name: str):
        return getattr(self.values, name)

    def to_toml(self) -> str:
        """Return the text of a file for `read`."""
        return MACHINE.to_toml({"machine": self.values})

    @property
    def rates(self) -> choices.Rates:
        return choices.Rates(self.walk, self.measure, self.proposal, self.measurement, self.element)


@dataclass(frozen=True)
class Cost:
    """Cost of one temperature: expansion order, positive frequencies of G4 (0: none), bytes, and seconds by part."""

    T: float
    order: float
    window: int
    chain_bytes: float  # while it runs
    rank_bytes: float  # with all bins on every rank
    distributed_bytes: float  # with distributed two-particle functions
    core_seconds: float  # of all chains together
    solver: float  # wall seconds from here on
    exchange: float
    evaluation: float
    writing: float
    device_bytes: float  # of a chain on a GPU, with its sums
    messages: float  # seconds that measurements travel, with distributed two-particle functions
    distributed_exchange: float  # in that case

    @property
    def seconds(self) -> float:
        return self.solver + self.exchange + self.evaluation + self.writing

    @property
    def distributed_seconds(self) -> float:
        """Seconds with distributed two-particle functions."""
        return self.seconds + self.messages + self.distributed_exchange - self.exchange


def cost(p: Parameters, cluster: Cluster, T: float, machine: Machine, ranks: int, workers: int) -> Cost:
    """Return the cost of the continuous-time solver at temperature T.

    It is right to a factor of two or three where speeds are guessed.
    Expansion order <k> as the loop first guesses it; cost of a sweep and of a measurement by plaq.dca.solver.choices.
    Walker of a chain: N, g0 and two work matrices for both spins, 8 x 1.5^2 k^2 numbers with room to grow.
    G4 of one configuration: four planes of 2 (N_c F)^2 single-precision numbers and two to transform them, F the
    window with the bosonic shifts. Its sums: 2 n_w^2 numbers for each pair (K, K') for pp at q = 0, nu = 0, fewer
    where symmetry joins pairs, and 2 (2 N_c n_w)^2 in any other channel; single and double precision in each chain
    that runs, and double precision in every bin. All ranks hold all bins, and a waiting chain its vertices. Where
    ranks share the rows (plaq.dca.solver.distributed_g4) and all chains run at once, a rank of p holds a p-th of all
    chains' sums and of all bins, these COPIES_OF_SHARES times, two messages of four such planes for each chain, and
    one whole function of a jackknife sample at a time, COPIES_OF_BINS times. For each of the two configurations of a
    measurement it sends every other rank the rows of the planes that are in products of its share: 1/p of them for
    pp at q = 0, nu = 0, up to 4/p in any other channel. The kernels count the memory of a chain on a GPU
    (src/plaq/dca/device), with the pairing function of every pair (K, K').

    Samples of two-particle functions that are kept are there twice while they are written.

    Chains are dealt to ranks x workers, so the solver's wall time is that of ceil(chains / (ranks workers)) of
    them one after the other, warm-up included. In a general model all orbitals count as sites, and matrices of them
    take the square of their number as long as numbers.
    """
    orbitals, operations = cluster.lattice.bands, len(PointGroup(cluster).operations)
    sites, elements = cluster.size * orbitals, orbitals**2
    order = first_order(p, cluster, T)
    pairs, solver = p.two_particle, p.solver
    measured = p.measures_two_particle(T)
    count = choices.window(p, 1 / T) if measured else 0
    wanted = channels(p, cluster, count) if measured else []
    general, numbers = len(wanted), 0.0
    functions = general + measures_pairing(pairs)
    pairing = measured and measures_pairing(pairs)
    if measured and p.is_general:
        numbers = 2.0 * parts_with_orbitals(p) * (2 * cluster.size * elements * count) ** 2
    elif measured:
        numbers = (8.0 * general + 2.0 * pairing) * (sites * count) ** 2
    single = cluster.size * elements * (2 * FREQUENCIES + 5) + 2 * order
    reach = count + max((abs(m) for _, _, m in wanted), default=0)
    chain = 8 * 8 * (1.5 * order) ** 2 + 6 * 4 * 2 * (sites * reach) ** 2 + 12 * numbers + 8 * single
    bins = 8 * solver.bins * (numbers + single)
    rank_chains, pieces = math.ceil(solver.chains / ranks), max(solver.bins, solver.chains)
    vertices = VERTEX * order * solver.chains
    alone = machine.process + min(rank_chains, workers) * chain + vertices / ranks + COPIES_OF_BINS * bins
    message = 4 * 4 * 2 * (sites * reach) ** 2 * min(1, (4 if general else 1) / ranks)  # to one rank; two are kept
    distributed = (machine.process + rank_chains * (chain - 12 * numbers) + COPIES_OF_BINS * 8 * solver.bins * single
                   + solver.chains * (12 * numbers / ranks + 2 * message) + rank_chains * 2 * (ranks - 1) * message
                   + 8 * numbers * ((COPIES_OF_SHARES * solver.bins + ARRAYS_OF_ERRORS) / ranks
                                    + COPIES_OF_BINS / max(1, functions)))
    on_device = device_chain_bytes(
        sites, math.ceil(order), choices.block_length(solver, order), FREQUENCIES, math.ceil(2 * order),
        reach if functions else 0, count, sites**2 if pairing else 0, general,
        any(kind != "pp" for kind, _, _ in wanted), -(-p.measurements(T)[1] // pieces))
    in_turn = math.ceil(rank_chains / workers)
    steps = 2 * math.ceil(math.log2(ranks))

    core = wall = exchange = distributed_exchange = messages = 0.0
    all_iterations = iterations(p, cluster, T, count, general)
    for measurements, warm_up, n_w, extra in all_iterations:
        if p.is_general:
            walk, measure = chosen = choices.expansion_costs(order, sites, FREQUENCIES,
                                                             *((reach, numbers / 2) if n_w else ()))
        else:
            walk, measure = choices.costs(order, sites, FREQUENCIES, n_w, extra, machine.rates)
            chosen = choices.costs(order, sites, FREQUENCIES, n_w, extra)  # as a run chooses, on any machine
        interval = choices.measure_every(solver, choices.TYPICAL_TAU, *chosen)
        each = -(-measurements // pieces) * pieces / solver.chains
        chain_seconds = warm_up * walk + each * (interval * walk + measure)
        core += chain_seconds * solver.chains
        wall += chain_seconds * in_turn
        if n_w:
            messages += 2 * each * rank_chains * (ranks - 1) * message / machine.bandwidth
        few = 8 * solver.bins * single
        exchange += steps * machine.latency + (bins if n_w else few) * (1 - 1 / ranks) / machine.bandwidth
        distributed_exchange += steps * machine.latency + few * (1 - 1 / ranks) / machine.bandwidth
    samples = solver.bins + 1
    evaluation = (samples * elements * machine.sample
                  + math.ceil(samples / ranks) * machine.analysis * operations * numbers)
    if p.is_general:
        evaluation += samples_with_orbitals(p, cluster.size * elements, count, ranks, machine)
    evaluation += response_seconds(p, sites, cluster.size * elements, count, ranks, machine)
    evaluation += decomposition_seconds(p, sites, count, general, ranks, machine)
    kept = kept_samples(p, sites, count)
    return Cost(T, order, count, chain, alone + 2 * kept, distributed if ranks > 1 else alone + 2 * kept, core, wall,
                exchange, evaluation + elements * machine.iteration * len(all_iterations),
                (bins + vertices + kept) / machine.disk, on_device, messages, distributed_exchange)


def first_order(p: Parameters, cluster: Cluster, T: float) -> float:
    """Return <k> as the loop first guesses it."""
    if not p.is_general:
        return choices.expected_order(p, cluster, 1 / T, p.dca.density or 1.0)
    model = SimpleNamespace(interaction=p.hamiltonian.interaction, cluster=cluster, lattice=cluster.lattice)
    filling = p.dca.density or float(cluster.lattice.bands)
    return ctint.uncorrelated_order(model, 1 / T, filling, ctint.constant_of(p.solver))


def jackknife_samples(p: Parameters) -> int:
    """Return the number of jackknife samples of two-particle functions: bins, or groups of chains in a bath."""
    return p.solver.bins if p.dca.isolated else min(p.solver.bins, p.solver.chains)


def response_seconds(p: Parameters, sites: int, pairs: int, window: int, ranks: int, machine: Machine) -> float:
    """Return the seconds of responses of the lattice: matrices of 2 N_c n_w rows for each q, nu, channel and sample.

    pairs : N_c times the square of the orbitals, of a general model.
    """
    momenta, kinds = p.two_particle.momenta, {"pp", "magnetic", "charge", "transverse"} & set(p.two_particle.channels)
    if momenta is None or not window:
        return 0.0
    count = momenta if isinstance(momenta, int) else len(momenta)
    if p.is_general:
        each = CUBE_OF_A_MATRIX * (pairs * (2.0 * window + 1)) ** 3
    else:
        each = 1.5 * machine.sample + 15 * machine.analysis * (2 * sites * window) ** 2
    return len(kinds) * len(p.two_particle.bosonic) * count * math.ceil((jackknife_samples(p) + 1) / ranks) * each


def kept_samples(p: Parameters, sites: int, window: int) -> float:
    """Return the bytes of jackknife samples of two-particle functions that are kept."""
    if not p.two_particle.samples:
        return 0.0
    functions = len(p.two_particle.channels) * len(p.two_particle.transfers) * len(p.two_particle.bosonic)
    return 16.0 * functions * jackknife_samples(p) * (2 * sites * window) ** 2


def parts_with_orbitals(p: Parameters) -> int:
    """Return the number of functions by spin that CT-INT measures: one for pp, two for magnetic and charge together."""
    kinds = {part for kind in p.two_particle.channels for part in choices.measured_as(kind)}
    return (("pp" in kinds) + 2 * bool(kinds - {"pp"})) * len(p.two_particle.transfers) * len(p.two_particle.bosonic)


def samples_with_orbitals(p: Parameters, pairs: int, window: int, ranks: int, machine: Machine) -> float:
    """Return the seconds of eigenvalues of general models: matrices of N_c b^2 2 n_w rows for each function and sample.
    """
    each = CUBE_OF_A_MATRIX * (2.0 * pairs * window) ** 3
    functions = len(p.two_particle.channels) * len(p.two_particle.transfers) * len(p.two_particle.bosonic)
    return functions * math.ceil((jackknife_samples(p) + 1) / ranks) * each


def channels(p: Parameters, cluster: Cluster, window: int) -> list[tuple[str, int, int]]:
    """Return the two-particle functions measured beside pairing at q = 0, nu = 0."""
    pairs = p.two_particle
    kinds = {part for kind in pairs.channels for part in choices.measured_as(kind)}
    transfers = [cluster.momentum_index(np.pi * np.array(p.hamiltonian.momentum(q))) for q in pairs.transfers]
    asked = {(kind, q, m) for kind in kinds for q in transfers for m in pairs.bosonic}
    needed = needed_functions(PointGroup(cluster), window) if pairs.decomposition else []
    return sorted((asked | set(needed)) - {("pp", 0, 0)})


def decomposition_seconds(p: Parameters, sites: int, window: int, functions: int, ranks: int,
                          machine: Machine) -> float:
    """Return the seconds of decompositions of the pairing vertex: matrices of 2 N_c n_w rows for each function."""
    if not p.two_particle.decomposition:
        return 0.0
    return (functions * math.ceil((jackknife_samples(p) + 1) / ranks) * 15 * machine.analysis
            * (2 * sites * window) ** 2)


def iterations(p: Parameters, cluster: Cluster, T: float, window: int,
               channels: int) -> list[tuple[int, int, int, int]]:
    """Return (measurements, warm-up sweeps, window, channels) of each iteration of a temperature.

    The approach is assumed to take its usual number of iterations. An isolated cluster has one iteration, or those of a
    search for mu.
    """
    (first, many), warm_up = p.measurements(T), p.solver.warmup
    searched = p.dca.density is not None and at_half_filling(p, cluster) is None
    if (p.dca.isolated and not searched) or p.dca.iterations == 1:
        return [(many, warm_up, window, channels)]
    again, last = warm_up // 4, final_iterations(p.dca.iterations, many, T, cluster.lattice.largest_energy)
    before = min(APPROACH, p.dca.iterations - last)
    part = (-(-many // last), again, window, channels)
    return [(first, warm_up, 0, 0), *[(first, again, 0, 0)] * (before - 1), *[part] * last]
