"""``plaq check``: the cluster of an input in words, and what the run will need."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from plaq.dca import tuning
from plaq.dca.cluster import Cluster
from plaq.dca.lattice import Lattice
from plaq.dca.loop import expected_order
from plaq.dca.parameters import Parameters
from plaq.dca.symmetry import PointGroup, irrep_projectors
from plaq.errors import InputError
from plaq.live import duration
from plaq.machine import workers_of
from plaq.schema import to_toml

FREQUENCIES = 16  # of a single-particle function on its sparse mesh, about
TYPICAL_TAU = 3.0  # autocorrelation time in sweeps, about


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

    Expansion order <k> as the loop first guesses it.
    Walker of a chain: N, g0 and two work matrices for both spins, 8 x 1.5^2 k^2 numbers with room to grow.
    Pairing window: G4 of one configuration and its sums are (N_c n_w) x (2 N_c n_w) numbers for pp, four times as
    many complex ones elsewhere: single and double precision in each chain, double precision in every bin of the
    rank. Seconds are those of the cost model in plaq.dca.tuning.
    """
    sites = cluster.size
    order = expected_order(p, cluster, 1 / T, p.dca.density or 1.0)
    w = math.pi * T
    pairs = p.two_particle
    count = int(pairs.omega_max / w + 1) // 2 if pairs.omega_max is not None else int(pairs.frequencies)
    m = sites * (count if p.measures_two_particle(T) else 0)
    transfers = len(pairs.transfers) * len(pairs.bosonic)
    numbers = sum(2 * m**2 if channel == "pp" else 8 * m**2 for channel in pairs.channels) * transfers
    single = sites * 16 * 20.0
    chain = 8 * 8 * (1.5 * order) ** 2 + 12 * numbers + 4 * 16 * 2 * m**2 + 8 * single
    seconds = sum(
        count * (tuning.measure_every(p.solver, order, TYPICAL_TAU, sites, FREQUENCIES, window) * walk + measure)
        for count, window in iterations(p, m // sites)
        for walk, measure in [tuning.costs(order, sites, FREQUENCIES, window)]
    )
    return Needs(
        T,
        order,
        count if m else 0,
        chain,
        p.solver.chains * chain + 8 * p.solver.bins * (numbers + single),
        seconds,
    )


def iterations(p: Parameters, window: int) -> list[tuple[int, int]]:
    """(measurements, window) of a temperature's iterations when two of them converge."""
    if p.dca.isolated:
        return [(p.solver.measurements, window)]
    first = p.solver.measurements_first
    return [(first, 0), (first, 0), (max(first, p.solver.measurements // 2), 0), (p.solver.measurements, window)]


def describe(p: Parameters) -> str:
    """The text that ``plaq check`` prints. InputError for a cluster or transfer that cannot be."""
    lattice = Lattice(p.hopping())
    cluster = Cluster(lattice, p.model.cluster)
    for q in p.two_particle.transfers:
        try:
            cluster.momentum_index(np.pi * np.array(q))
        except InputError:
            raise InputError(
                f"two_particle.transfers: {to_toml(q)} pi/a is not a momentum of the cluster; these are "
                f"{' '.join(cluster.names)}"
            ) from None
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
        dimension = 4**cluster.size
        return "\n".join(lines + [f"exact diagonalisation: {dimension} states, less than a minute"])
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


def size(count: float) -> str:
    """Bytes in a readable unit."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"
