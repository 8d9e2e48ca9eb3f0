"""``plaq check``: the cluster of an input in words, and what the run will need."""

from __future__ import annotations

from dataclasses import dataclass

from plaq.dca import tuning
from plaq.dca.cluster import Cluster
from plaq.dca.lattice import Lattice
from plaq.dca.loop import expected_order, window
from plaq.dca.parameters import Parameters
from plaq.dca.symmetry import PointGroup, irrep_projectors
from plaq.live import duration
from plaq.machine import workers_of

FREQUENCIES = 16  # of a single-particle function on its sparse mesh, about
TYPICAL_TAU = 3.0  # autocorrelation time in sweeps, about
PROCESS_BYTES = 1e8  # Python with its libraries
COPIES_OF_BINS = 4  # at most at once: of the chains, in one array, by quantity, and as complex numbers


@dataclass(frozen=True)
class Needs:
    """Estimates for one temperature: expansion order, bytes per chain and per rank, seconds of one core."""

    T: float
    order: float
    window: int
    chain_bytes: float
    rank_bytes: float
    core_seconds: float


def needs(p: Parameters, cluster: Cluster, T: float) -> Needs:
    """What the continuous-time solver needs at temperature T, to a factor of two or three.

    Expansion order <k> as the loop first guesses it; seconds are those of the cost model in plaq.dca.tuning.
    Walker of a chain: N, g0 and two work matrices for both spins, 8 x 1.5^2 k^2 numbers with room to grow.
    G4 of one configuration: four planes of 2 (N_c F)^2 single-precision numbers and two to transform them, F the
    window with the bosonic shifts. Its sums: 2 n_w^2 numbers for each pair (K, K') for pp at q = 0, nu = 0, fewer
    where symmetry joins pairs, and 2 (2 N_c n_w)^2 in any other channel; single and double precision in each chain,
    and double precision in every bin. All ranks hold the bins of all chains.
    """
    sites = cluster.size
    order = expected_order(p, cluster, 1 / T, p.dca.density or 1.0)
    pairs = p.two_particle
    measured = p.measures_two_particle(T)
    count = window(p, 1 / T) if measured else 0
    general, numbers = channels(p) if measured else 0, 0.0
    if measured:
        numbers = 8.0 * general * (sites * count) ** 2 + (2.0 * (sites * count) ** 2 if measures_pairing(p) else 0)
    single = sites * 2 * FREQUENCIES + 2 * order + 4 * sites
    reach = count + max(abs(m) for m in pairs.bosonic) if general else count
    chain = 8 * 8 * (1.5 * order) ** 2 + 6 * 4 * 2 * (sites * reach) ** 2 + 12 * numbers + 8 * single
    seconds = sum(
        measurements * (interval * walk + measure)
        for measurements, w, extra in iterations(p, count, general)
        for interval in [tuning.measure_every(p.solver, order, TYPICAL_TAU, sites, FREQUENCIES, w, extra)]
        for walk, measure in [tuning.costs(order, sites, FREQUENCIES, w, extra)]
    )
    bins = 8 * p.solver.bins * (numbers + single)
    return Needs(T, order, count, chain, PROCESS_BYTES + p.solver.chains * chain + COPIES_OF_BINS * bins, seconds)


def measures_pairing(p: Parameters) -> bool:
    """Whether pp at q = 0, nu = 0 is among the two-particle functions: it alone is stored in its real form."""
    pairs = p.two_particle
    at_zero = any(all(x % 2 == 0 for x in q) for q in pairs.transfers)
    return "pp" in pairs.channels and at_zero and 0 in pairs.bosonic


def channels(p: Parameters) -> int:
    """Number of two-particle functions beside that."""
    pairs = p.two_particle
    return len(pairs.channels) * len(pairs.transfers) * len(pairs.bosonic) - measures_pairing(p)


def iterations(p: Parameters, window: int, channels: int) -> list[tuple[int, int, int]]:
    """(measurements, window, channels) of a temperature's iterations when two of them converge."""
    final = (p.solver.measurements, window, channels)
    if p.dca.isolated:
        return [final]
    first = p.solver.measurements_first
    return [(first, 0, 0), (first, 0, 0), (max(first, p.solver.measurements // 2), 0, 0), final]


def describe(p: Parameters) -> str:
    """The text that ``plaq check`` prints."""
    lattice = Lattice(p.hopping())
    cluster = Cluster(lattice, p.model.cluster)
    group = PointGroup(cluster)
    filling = f"density {p.dca.density}" if p.dca.density is not None else f"mu = {p.dca.mu} t"
    low, high = lattice.extrema
    lines = [
        f"model:       U = {p.model.U} t, {filling}, band from {low:.4g} t to {high:.4g} t",
        f"cluster:     {cluster.size} sites, vectors {[list(v) for v in p.model.cluster]}"
        + (", isolated" if p.dca.isolated else ""),
        f"sites:       {' '.join(f'({x},{y})' for x, y in cluster.sites)}",
        f"momenta:     {' '.join(cluster.names)}",
        f"point group: {group.name}, {len(group.operations)} of the {len(lattice.point_group)} operations of the "
        f"lattice ({lattice.system.name})",
        f"irreps:      {' '.join(irrep_projectors(cluster))}",
        "",
    ]
    if p.solver.kind == "ed":
        return "\n".join([*lines, exact_needs(p, cluster)])
    workers = workers_of(p.run.workers, 1)
    lines.append(f"{'T':>8} {'<k>':>8} {'window':>8} {'per chain':>12} {'one rank':>12} {'time':>14}")
    total, largest = 0.0, 0.0
    for T in p.dca.temperatures:
        n = needs(p, cluster, T)
        seconds = n.core_seconds / min(workers, p.solver.chains)
        total, largest = total + seconds, max(largest, n.rank_bytes)
        lines.append(
            f"{T:8.4g} {n.order:8.0f} {n.window or '–':>8} {size(n.chain_bytes):>12} {size(n.rank_bytes):>12} "
            f"{duration(seconds):>14}"
        )
    lines += [
        "",
        f"estimate:    {size(largest)} on one rank, {duration(total)} on {workers} worker(s) here, with four",
        "             iterations at every temperature; both numbers to a factor of two or three",
    ]
    return "\n".join(lines)


def exact_needs(p: Parameters, cluster: Cluster) -> str:
    """What exact diagonalisation takes, to a factor of three: measured for windows of up to 16 frequencies."""
    functions = len(p.two_particle.channels) * len(p.two_particle.transfers) * len(p.two_particle.bosonic)
    total = sum(
        1.0 + (functions * (10.0 if cluster.size == 4 else 1.0) if p.measures_two_particle(T) else 0.0)
        for T in p.dca.temperatures
    )
    return f"estimate:    {4**cluster.size} states, exact diagonalisation in about {duration(total)}"


def size(count: float) -> str:
    """Bytes in a readable unit."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"
