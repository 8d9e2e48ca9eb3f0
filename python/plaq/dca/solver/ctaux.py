"""Continuous-time auxiliary-field QMC: one cluster problem in, bins of averages out.

The Markov chains run in C++ (src/plaq/dca), on all ranks (plaq.dca.solver.chains). Here the bath function becomes
a table in imaginary time, and the sums of the bins become averages. Conventions and formulas: docs/conventions.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from plaq import _core
from plaq.dca.lattice.algebra import SCALARS
from plaq.dca.lattice.particle_hole import odd_under_exchange
from plaq.dca.solver import choices
from plaq.dca.solver.distributed_g4 import DistributedG4
from plaq.errors import RunError
from plaq.trace.session import region

TABLE_ACCURACY = 1e-8  # of g0(tau), absolute; the statistical error of any run is far above it
TABLE_TERMS = 8  # g0_table::terms
OF_CONFIGURATIONS = ("density", "double_occupancy")
OF_DISPLACEMENTS = ("spin", "charge", "static_spin", "static_charge")


def auxiliary_bath(mesh, bath, U):
    """Return G0 of the auxiliary-field problem, 1/G0 = 1/bath - U/2 = iw + mu - U/2 - eps_K - Delta_K, [K, w].

    `bath` is the physical bath function on the mesh. The result is projected on the basis of the mesh, so that its
    values in imaginary time and at any frequency belong to one and the same function.
    """
    return SCALARS.fitted(mesh, 1 / (1 / bath - U / 2))


def time_table(mesh, cluster, g0):
    """Return coefficients [R, segment, TABLE_TERMS] of g(R, tau) = -G0(R, tau) on equal segments of [0, beta].
    """
    return polynomials(mesh.beta, lambda tau: -cluster.to_sites(mesh.at_tau(g0, tau)).real)


def polynomials(beta, function):
    """Return coefficients [..., segment, TABLE_TERMS] of function(tau) [..., tau] on equal segments of [0, beta].

    Each segment has a polynomial in 0 <= x < 1, constant first, that interpolates the function at Chebyshev points.
    There are as many segments as keep the polynomials within TABLE_ACCURACY of it at points between.
    """
    def values(x, segments):
        tau = (np.arange(segments)[:, None] + x) * (beta / segments)
        at = function(tau.ravel())
        return at.reshape(*at.shape[:-1], segments, len(x))

    nodes = (1 - np.cos(np.pi * (np.arange(TABLE_TERMS) + 0.5) / TABLE_TERMS)) / 2
    between = np.concatenate([[0], (nodes[1:] + nodes[:-1]) / 2, [1]])
    to_coefficients = np.linalg.inv(np.vander(nodes, increasing=True)).T
    segments = 32
    while True:
        coefficients = values(nodes, segments) @ to_coefficients
        interpolated = coefficients @ np.vander(between, TABLE_TERMS, increasing=True).T
        if np.abs(interpolated - values(between, segments)).max() < TABLE_ACCURACY:
            return np.ascontiguousarray(coefficients)
        segments *= 2
        if segments > 2**15:
            raise RunError(f"the bath function cannot be tabulated to {TABLE_ACCURACY}: it is not smooth in time")


@dataclass
class SolverRequest:
    """Work of the solver in one iteration.

    ``channels`` are (kind, transfer index, bosonic index). Baths of groups of chains, where each has its own, are in
    ``group_g0``; then ``shifts`` are those of `plaq.dca.solver.jackknife_groups` and ``group_of`` the group of a chain.
    """

    beta: float
    U: float
    K: float
    g0: np.ndarray  # [K, w] auxiliary bath function on the mesh
    measurements: int
    order: float  # expected expansion order: one sweep makes that many proposals
    warm_up: int  # sweeps
    point: int  # numbers the random streams, with the iteration
    iteration: int
    isolated: bool = False
    tau: float | None = None  # autocorrelation time in sweeps, where known
    window: int = 0  # positive frequencies of two-particle functions
    pairing: bool = False
    orbit: np.ndarray | None = None  # [K, K'] block of a pair of momenta
    channels: list[tuple[str, int, int]] = field(default_factory=list)
    group_g0: np.ndarray | None = None  # [group, K, w]
    shifts: np.ndarray | None = None  # [group]
    order_shifts: np.ndarray | None = None  # [group] of the part that breaks a symmetry, None where there is none
    order_fraction: float = 1.0  # of these shifts, that the chains walk in
    group_of: np.ndarray | None = None  # [chain]


@dataclass
class BathData:
    """Single-particle data of each bin in its bath, [bin, K, w], times the norm; [bin, S, K, a, b, w] of matrices.

    ``inverse_g0`` is 1/g0. ``ratio`` is G (1/g0 - Sigma_0): G = g0 - g0 m g0 over its value in this bath with a
    self-energy Sigma_0 that is the same for all bins. G is nonlinear in the bath, as 1/(1/g0 - Sigma) shows, so its
    mean over baths differs from G of the mean bath; the ratio is linear up to the response of Sigma.
    """

    ratio: np.ndarray
    inverse_g0: np.ndarray


@dataclass
class Measured:
    """Averages per bin, in the order of the chains that filled them.

    Sign, order and histogram are of the walk. All other quantities O are measured on configurations of the walk and
    their neighbours, with the weights w of the neighbours in src/plaq/dca. An average is then <w O>/<w>, with <w> in
    ``norm``. Rows of two-particle functions are (block, n) for pairing and (K, K', n) for channels: all rows, or this
    rank's where ranks share them. Either ``m`` or ``bath`` is there: `in_bath` replaces the first by the second.
    """

    weights: np.ndarray  # [bin] measurements
    sign: np.ndarray  # [bin] s
    order: np.ndarray  # [bin] s k
    norm: np.ndarray  # [bin] w
    m: np.ndarray | None  # [bin, K, w] w M(K, iw)/(beta N_c) on the mesh
    correlations: dict[str, np.ndarray]  # [bin], [bin, R], or [bin, K] of equal_time: g(K) = 1 - n_K of either spin
    histogram: np.ndarray  # [bin, k] not signed
    pairing: np.ndarray | list[np.ndarray] | None  # [bin, row, n']
    channels: list[np.ndarray | list[np.ndarray]]  # [bin, row, n'] each
    series: np.ndarray  # [chain, time, column of _core.dca.series_columns] of the first chain of each bin
    drift: float  # largest change of an element of the walker's matrix at a refresh
    acceptance: float  # accepted part of the proposals
    walking_seconds: float
    measuring_seconds: float
    parts: int = 1  # iterations in each bin, each with a stretch of its chain
    bath: BathData | None = None

    @property
    def chains(self) -> int:
        """Number of independent chains: bins of one chain are consecutive, or each bin has chains of its own."""
        return len(self.series)

    def in_bath(self, g0, sigma_0=0.0, algebra=SCALARS) -> Measured:
        """Return these averages with ``bath`` in place of m; as they are where they have it.

        g0 : of all bins, or of each bin; sigma_0 : Sigma_0 of `BathData`; algebra : of these functions.
        """
        if self.bath:
            return self
        norm, one = algebra.number(self.norm), algebra.number(1.0)
        ratio = algebra.times(norm - algebra.times(g0, self.m), one - algebra.times(g0, sigma_0))
        return replace(self, m=None, bath=BathData(ratio, algebra.over(norm, g0)))

    def plain(self) -> dict[str, Any]:
        """Return these averages, in their bath, as nested dicts for a checkpoint."""
        return {name: value for name, value in vars(self).items() if name != "m"} | {"bath": vars(self.bath)}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Measured:
        """Return the inverse of `plain`."""
        return cls(**{**plain, "m": None, "bath": BathData(**plain["bath"])})


@region("bath")
def make_problem(cluster, mesh, request, solver):
    """Return the C++ description of `request`; `solver` is the parameter section of that name."""
    table = time_table(mesh, cluster, request.g0)
    index = lambda a: np.ascontiguousarray(a, dtype=np.int32).ravel()
    problem = _core.dca.Problem(
        beta=request.beta, U=request.U, K=request.K, sites=cluster.size, segments=table.shape[1],
        g0_coefficients=table.ravel(),
        difference=index(cluster.site_difference), fourier=np.ascontiguousarray(cluster.fourier).ravel(),
        momentum_sum=index(cluster.momentum_sum), minus=index(cluster.minus), odd_frequencies=index(2 * mesh.n + 1))
    frequencies = request.window + max([abs(m) for _, _, m in request.channels], default=0) if request.window else 0
    at_frequencies = lambda g0: np.ascontiguousarray(mesh.at_frequencies(g0, np.arange(frequencies)).ravel()
                                                     if frequencies else np.zeros(0, complex))
    if request.group_g0 is not None:
        tables = [time_table(mesh, cluster, g0) for g0 in request.group_g0]
        problem.set_baths([(t.shape[1], t.ravel()) for t in tables], [at_frequencies(g0) for g0 in request.group_g0],
                          request.group_of.tolist())
    if request.window:
        kinds, transfers, bosonic = (list(x) for x in zip(*request.channels)) if request.channels else ([], [], [])
        problem.measure_two_particle(
            window=request.window, frequencies=frequencies, pairing=request.pairing, orbit=index(request.orbit),
            g0_frequency=at_frequencies(request.g0),
            kinds=kinds, transfers=transfers, bosonic=bosonic)
    problem.proposals_per_sweep = max(1, round(request.order))
    problem.block_length = choices.block_length(solver, request.order)
    costs = choices.costs(request.order, cluster.size, len(mesh.omega), request.window, len(request.channels))
    problem.sweeps_per_measurement = choices.measure_every(solver, request.tau, *costs)
    problem.sweeps_between_worms = choices.sweeps_between_worms(request.isolated)
    problem.sweeps_between_charge_worms = choices.sweeps_between_charge_worms(request.isolated)
    problem.warm_up_sweeps = request.warm_up
    pieces = max(solver.bins, solver.chains)  # see plaq.data.bins
    problem.bins = pieces // solver.chains
    problem.measurements_per_bin = -(-request.measurements // pieces)
    problem.histogram_size = int(2 * request.order + 10 * np.sqrt(request.order) + 20)
    problem.single_precision = solver.precision == "float"
    problem.seed, problem.point, problem.iteration = solver.seed, request.point, request.iteration
    return problem


@region("collect bins")
def collect(problem, bins, tally, group, distributed: DistributedG4 | None = None, mirror=None):
    """Return the averages of complete `plaq.data.bins.Bins` as `Measured`, with `Chains.tally`.

    Functions of K and R are averaged over the point group. `mirror` [K] has the partners of
    plaq.dca.lattice.particle_hole where that exchange is a symmetry. `distributed` holds two-particle functions whose
    rows ranks share.
    """
    layout = problem.layout()  # src/plaq/dca/bin_layout.hpp
    per_bin = problem.measurements_per_bin * bins.group
    sums = bins.sums()
    cluster, n = group.cluster, group.cluster.size

    def part(name):
        a = layout[name]
        return (sums[:, a.offset:a.offset + a.size] / per_bin).view(a.dtype).reshape(len(sums), *a.shape)

    def averaged(values, orbits):
        for orbit in orbits:
            values[:, orbit] = values[:, orbit].mean(axis=1, keepdims=True)
        return values

    m = averaged(np.einsum("kr,brw->bkw", cluster.fourier, part("single_particle")), group.momentum_orbits)
    series = bins.series().reshape(min(bins.bins, bins.chains), -1, len(_core.dca.series_columns))
    norm = part("weight")
    correlations = {name: part(name) for name in OF_CONFIGURATIONS}
    correlations |= {name: averaged(part(name), group.site_orbits) for name in OF_DISPLACEMENTS}
    equal_time = np.einsum("kr,br->bk", cluster.fourier, part("equal_time")).real
    correlations["equal_time"] = averaged(equal_time, group.momentum_orbits)
    if mirror is not None:
        m = odd_under_exchange(m, mirror)
        correlations = alike(correlations, norm, mirror, problem.beta)
        series = series.copy()
        series[..., list(_core.dca.series_columns).index("density")] = 1

    def pairs(name):
        if distributed:
            return distributed.averages(name, per_bin)
        return part(name).reshape(len(sums), -1, layout[name].shape[-1])

    pairing = pairs("pairing") if "pairing" in layout else None
    channels = [pairs(f"channel_{i}") for i in range(sum(name.startswith("channel_") for name in layout))]
    return Measured(
        weights=np.full(len(sums), per_bin), sign=part("sign"), order=part("order"), norm=norm,
        m=m / (problem.beta * n),
        correlations=correlations,
        histogram=part("histogram"), pairing=pairing, channels=channels,
        series=series, drift=tally["drift"], acceptance=tally["accepted"] / max(tally["proposed"], 1),
        walking_seconds=tally["walking_seconds"], measuring_seconds=tally["measuring_seconds"])


def alike(correlations, norm, mirror, beta):
    """Return the mean of correlations and of their values after the exchange of particles and holes, n -> 2 - n.

    A noisy bath has g(0+) + g(0-) = 1 to some 1e-4 only, and so has the density of every configuration.
    """
    excess, g = correlations["density"] - norm, correlations["equal_time"]
    return correlations | {"density": norm, "double_occupancy": correlations["double_occupancy"] - excess / 2,
                           "charge": correlations["charge"] - 2 * excess[:, None],
                           "static_charge": correlations["static_charge"] - 2 * beta * excess[:, None],
                           "equal_time": (norm[:, None] + g - g[:, mirror]) / 2}
