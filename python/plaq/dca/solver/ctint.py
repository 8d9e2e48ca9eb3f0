"""Continuous-time interaction expansion of general models: one cluster problem in, bins of averages out.

The Markov chains run in C++ (src/plaq/dca/ctint). Here the interaction becomes vertices, the bath function tables in
imaginary time, and the sums of the bins become averages. Conventions and formulas: docs/ctint.md.

Functions of momentum and frequency are [S, K, a, b, w] with S = 1 where up and down are equivalent, else 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plaq import _core
from plaq.dca.lattice.interaction import DN, UP, DensityPair, ExchangeTerm
from plaq.dca.lattice.pair_symmetry import PairSymmetry
from plaq.dca.solver import choices
from plaq.dca.solver.ctaux import Measured, polynomials
from plaq.errors import InputError
from plaq.trace.session import region

series_columns = _core.dca.series_columns
SIGNS = np.array([1.0, -1.0])  # auxiliary values s
EXCHANGE_ALPHA = 0.01  # of c+ c between different orbitals; a larger one makes a sign


@dataclass(frozen=True)
class Vertex:
    """Term v A B of the Hamiltonian, summed over the cells, as 1/2 sum_s v (A - alpha_s) (B - alpha'_s) and the rest.

    term : its pair or exchange term; alpha, alpha_right : [s] of A and of B.
    """

    term: DensityPair | ExchangeTerm
    alpha: np.ndarray
    alpha_right: np.ndarray

    @property
    def constant(self) -> float:
        """Mean of alpha_s alpha'_s."""
        return float(np.mean(self.alpha * self.alpha_right))


def vertices(model: Any, beta: float, K: float = 1.0) -> list[Vertex]:
    """Return the vertices of the model's interaction.

    Densities have alpha = 1/2 +- delta with delta^2 = 1/4 + K/(beta N_c sum |v|), the sum over pairs: opposite signs on
    both legs where they repel each other, equal ones where they attract. All vertices together then have the order K
    more than with delta = 1/2. Raises InputError where delta is not real.
    """
    pairs = model.interaction.pairs
    volume = beta * model.cluster.size * sum(abs(pair.value) for pair in pairs)
    if 4 * K < -volume:
        raise InputError(f"solver.K = {K:g}: not possible for this interaction; allowed: {-volume / 4:g} or more")
    spread = np.sqrt(0.25 + K / volume) if pairs else 0.0
    means = [(pair, 0.5, spread) for pair in pairs] + [(term, 0.0, EXCHANGE_ALPHA) for term in
                                                       model.interaction.exchanges]
    return [Vertex(term, mean + alpha * SIGNS, mean - alpha * SIGNS * np.sign(term.value))
            for term, mean, alpha in means]


def partner(term: DensityPair | ExchangeTerm, model: Any) -> int:
    """Return the number of the conjugate of an exchange term among the vertices; -1 of a pair."""
    if isinstance(term, DensityPair):
        return -1
    exchanges = model.interaction.exchanges
    changes = lambda e: (e.a, e.b, e.c, e.d)
    conjugate = (term.b, term.a, term.d, term.c)
    return len(model.interaction.pairs) + [changes(e) for e in exchanges].index(conjugate)


def reversals(these: list[Vertex], model: Any) -> list[list[list[tuple[int, int]]]]:
    """Return involutions [vertex][s] of (vertex, s): all spins of a cell reversed, then those of each orbital alone.

    In a spinor a vertex gets the other s instead. A vertex stays (an empty list) where a leg is in another cell, or
    where the image is no vertex.
    """
    def legs(vertex: Vertex, s: int, orbitals_reversed: set[int]) -> tuple | None:
        out = []
        for (block, create, annihilate), alpha in zip(legs_of(vertex.term, model),
                                                      (vertex.alpha[s], vertex.alpha_right[s])):
            changes = {int(flavours[0]) in orbitals_reversed for flavours in (create, annihilate)}
            if len(changes) == 2:
                return None
            out.append((1 - block if changes.pop() else block, create[0], annihilate[0], alpha))
        return tuple(sorted(out))

    local = [isinstance(v.term, ExchangeTerm) or not any(v.term.d) for v in these]
    if model.spinor is not None:  # both components of a cell filled where they were empty
        return [[[(i, 1), (i, 0)] if here else [] for i, here in enumerate(local)]]
    known = {legs(v, s, set()): (i, s) for i, v in enumerate(these) if local[i] for s in (0, 1)}
    whole = set(range(orbitals(model)))
    out = []
    for which in [whole, *({a} for a in whole if len(whole) > 1)]:
        images = [[known.get(legs(v, s, which)) for s in (0, 1)] if here else [] for v, here in zip(these, local)]
        out.append([[] if None in image else image for image in images])
    return out


def auxiliary_shift(model: Any) -> np.ndarray:
    """Return the one-particle part of the vertices, [S, 1, a, b]: 1/G0 = 1/bath - shift.

    v n n' = 1/2 sum_s v (n - alpha_s) (n' - alpha'_s) + v (n + n')/2 + constant.
    """
    shift = np.zeros((2, 1, orbitals(model), orbitals(model)))
    if model.spinor is not None:  # the components of a spinor: with the one-particle terms of v n n' of the electrons
        tau = model.spinor.tau
        for pair in model.interaction.pairs:
            shift[UP, 0, pair.a, pair.a] += tau[pair.b] * pair.value / 2
            shift[UP, 0, pair.b, pair.b] += tau[pair.a] * pair.value / 2
        return shift[:1]
    for pair in model.interaction.pairs:
        shift[pair.spin_a, 0, pair.a, pair.a] += pair.value / 2
        shift[pair.spin_b, 0, pair.b, pair.b] += pair.value / 2
    if model.spins == 2:
        return shift
    if not np.allclose(shift[UP], shift[DN], rtol=0, atol=1e-12):
        raise ValueError("an interaction that differs for up and down needs two spins")
    return shift[:1]


def expected_order(model: Any, correlations: dict[str, np.ndarray], beta: float, K: float = 1.0) -> np.ndarray:
    """Return <k> = -beta N_c sum v (<A B> - (<n> + <n'>)/2 + mean alpha alpha') from correlations without a norm."""
    return -beta * model.cluster.size * sum(
        vertex.term.value * (correlations["vertices"][..., i] - densities(vertex.term, correlations["density"])
                             + vertex.constant) for i, vertex in enumerate(vertices(model, beta, K)))


def uncorrelated_order(model: Any, beta: float, filling: float, K: float = 1.0) -> float:
    """Return <k> without correlations where all orbitals have the same part of ``filling`` electrons per cell."""
    n = filling / (2 * orbitals(model))
    averages = {"density": np.full((2, orbitals(model)), n),
                "vertices": np.array([n**2 * isinstance(term, DensityPair) for term in
                                      (*model.interaction.pairs, *model.interaction.exchanges)])}
    return float(expected_order(model, averages, beta, K))


def densities(term: DensityPair | ExchangeTerm, density: np.ndarray) -> np.ndarray | float:
    """Return (<n> + <n'>)/2 of a pair from density [..., spin, a]; 0 of an exchange term."""
    if isinstance(term, ExchangeTerm):
        return 0.0
    return (density[..., term.spin_a, term.a] + density[..., term.spin_b, term.b]) / 2


def orbitals(model: Any) -> int:
    return len(model.lattice.orbitals)


def constant_of(solver: Any) -> float:
    """Return K by the parameter section ``solver``."""
    return 1.0 if solver.K == "auto" else solver.K


def legs_of(term: DensityPair | ExchangeTerm, model: Any) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """Return (block, flavour created, flavour annihilated) of both legs, flavours [cell]."""
    cluster, count = model.cluster, orbitals(model)
    here = np.arange(cluster.size)
    flavour = lambda cell, orbital: np.ascontiguousarray(cell * count + orbital, dtype=np.int32)
    if isinstance(term, ExchangeTerm):
        return [(UP, flavour(here, term.a), flavour(here, term.b)), (DN, flavour(here, term.c), flavour(here, term.d))]
    there = np.array([cluster.site_index(r + np.array(term.d)) for r in cluster.sites])
    left, right = flavour(here, term.a), flavour(there, term.b)
    return [(term.spin_a, left, left), (term.spin_b, right, right)]


def time_tables(model: Any, mesh: Any, g0: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """Return (segments, coefficients) of -G0(R, a, b, tau) for each of the S spins; g0 : [S, K, a, b, w]."""
    cluster = model.cluster
    in_space = np.einsum("kr,skabw->srabw", cluster.fourier.conj(), g0) / cluster.size
    tables = [polynomials(mesh.beta, lambda tau, f=f: -mesh.at_tau(f, tau))
              for f in in_space.reshape(len(g0), -1, g0.shape[-1])]
    return [(table.shape[1], table.ravel()) for table in tables]


@region("bath")
def make_problem(model: Any, mesh: Any, request: Any, solver: Any) -> Any:
    """Return the C++ description of a `plaq.dca.solver.ctaux.SolverRequest` whose g0 is [S, K, a, b, w].

    ``solver`` is the parameter section of that name; K of the request is not used, but that of the section. Raises
    InputError for settings that CT-INT does not have.
    """
    refuse(solver, request)
    cluster, count = model.cluster, orbitals(model)
    these = vertices(model, request.beta, constant_of(solver))
    orbital = np.arange(count)
    difference = (cluster.site_difference[:, None, :, None] * count + orbital[:, None, None]) * count + orbital
    problem = _core.dca.GeneralProblem(
        beta=request.beta, cells=cluster.size, orbitals=count,
        species=[0] if model.spinor is not None else [0, model.spins - 1],
        g0=time_tables(model, mesh, request.g0), difference=np.ascontiguousarray(difference, dtype=np.int32).ravel(),
        types=[(np.full(2, vertex.term.value / 2),
                *((*leg, alpha) for leg, alpha in zip(legs_of(vertex.term, model),
                                                      (vertex.alpha, vertex.alpha_right))),
                partner(vertex.term, model)) for vertex in these],
        reversals=reversals(these, model),
        odd_frequencies=np.ascontiguousarray(2 * mesh.n + 1, dtype=np.int32))
    measured = two_particle_functions(request)
    frequencies = request.window + max([abs(m) for _, _, m in measured], default=0)
    at_frequencies = lambda g0: g0_at(model, mesh, g0, frequencies) if measured else np.zeros(0, complex)
    if request.group_g0 is not None:
        problem.set_baths([(time_tables(model, mesh, g0), at_frequencies(g0)) for g0 in request.group_g0],
                          request.group_of.tolist())
    if measured:
        index = lambda a: np.ascontiguousarray(a, dtype=np.int32).ravel()
        problem.measure_two_particle(
            window=request.window, frequencies=frequencies, g0_frequency=at_frequencies(request.g0),
            fourier=np.ascontiguousarray(cluster.fourier).ravel(), momentum_sum=index(cluster.momentum_sum),
            minus=index(cluster.minus), requests=measured)
    problem.proposals_per_sweep = max(1, round(request.order))
    parts = sum(1 if pairs else 2 for pairs, _, _ in measured)  # by spin
    costs = choices.expansion_costs(request.order, cluster.size * count, len(mesh.omega),
                                    frequencies if measured else 0,
                                    parts * (2 * cluster.size * count**2 * request.window) ** 2)
    problem.sweeps_per_measurement = choices.measure_every(solver, request.tau or choices.TYPICAL_TAU, *costs)
    problem.warm_up_sweeps = request.warm_up
    pieces = max(solver.bins, solver.chains)  # see plaq.data.bins
    problem.bins = pieces // solver.chains
    problem.measurements_per_bin = -(-request.measurements // pieces)
    problem.histogram_size = int(2 * request.order + 10 * np.sqrt(request.order) + 20)
    problem.seed, problem.point, problem.iteration = solver.seed, request.point, request.iteration
    return problem


def refuse(solver: Any, request: Any) -> None:
    """Raise InputError for settings that CT-INT does not have."""
    if solver.precision != "double":
        raise InputError(f'solver.precision = "{solver.precision}": CT-INT walks in double precision; allowed: double')
    if solver.block_length != "auto":
        raise InputError(f"solver.block_length = {solver.block_length}: CT-INT has no blocks; allowed: auto")
    if request.window and len(request.g0) == 2:
        raise InputError("two_particle: CT-INT measures two-particle functions only where up and down are equivalent")


def two_particle_functions(request: Any) -> list[tuple[bool, int, int]]:
    """Return (pp, transfer index, bosonic index) of the functions that C++ measures for a request, once each.

    Those of "magnetic" and "charge" are the same ph function.
    """
    if request is None or not request.window:
        return []
    return list(dict.fromkeys((kind == "pp", q, m) for kind, q, m in request.channels))


def channel(kind: str, parts: np.ndarray) -> np.ndarray:
    """Return a channel [bin, K, a, b, n, K', a', b', n'] from its parts by spin, [bin, part, K, a, b, K', c, d, n, n'].

    Rows and columns are pairs of one kind: (a', b') is (c, d) of pp and (d, c) of ph.
    """
    if kind == "pp":
        return parts[:, 0].transpose(0, 1, 2, 3, 7, 4, 5, 6, 8)
    equal, opposite = parts[:, 0], parts[:, 1]
    return (equal - opposite if kind == "magnetic" else equal + opposite).transpose(0, 1, 2, 3, 7, 4, 6, 5, 8)


def g0_at(model: Any, mesh: Any, g0: np.ndarray, count: int) -> np.ndarray:
    """Return g0 at w_0 ... w_(count-1), flat; g0 : [S, K, a, b, w]."""
    fourier = model.cluster.fourier
    in_space = np.einsum("kr,skabw->srabw", fourier.conj(), g0) / model.cluster.size
    values = mesh.at_frequencies(in_space, np.arange(count))
    return np.ascontiguousarray(np.einsum("kr,srabw->skabw", fourier, values)).ravel()


@region("collect bins")
def collect(problem: Any, bins: Any, tally: dict[str, float], model: Any, request: Any = None) -> Measured:
    """Return the averages of complete `plaq.data.bins.Bins` as `Measured`, with `Chains.tally`.

    Two-particle functions are those of the ``request``, if it is given: channels, each
    [bin, K, a, b, n, K', a', b', n'], n = -F ... F-1, averaged over the operations that leave the transfer.

    m is [bin, S, K, a, b, w]. Correlations are those of docs/ctint.md, times the norm: density [bin, spin, a], pairs
    and static [bin, spin, spin', R, a, b], equal_time [bin, S, K, a, b], vertices [bin, term]. All are averaged over
    the point group, and where S = 1 over the reversal of all spins.
    """
    layout = problem.layout()  # src/plaq/dca/ctint/accumulator.cpp
    per_bin = problem.measurements_per_bin * bins.group
    sums = bins.sums()
    cluster, count, action = model.cluster, orbitals(model), model.group.action

    def part(name: str) -> np.ndarray:
        a = layout[name]
        return (sums[:, a.offset:a.offset + a.size] / per_bin).view(a.dtype).reshape(len(sums), *a.shape)

    def averaged(average: Any, values: np.ndarray) -> np.ndarray:
        return np.array([average(one) for one in values])

    def correlation(name: str) -> np.ndarray:
        values = part(name)
        return averaged(action.average_pairs, values if model.spins == 2 else (values + values[:, ::-1, ::-1]) / 2)

    def invariant(values: np.ndarray, half: np.ndarray | float = 0.0) -> np.ndarray:
        return model.invariant(averaged(action.average, values) - half) + half

    measured = two_particle_functions(request)

    def function(kind: str, q: int, m: int) -> np.ndarray:
        values = channel(kind, part(f"channel_{measured.index((kind == 'pp', q, m))}"))
        symmetry = PairSymmetry(model.group, kind == "pp", q)
        return averaged(lambda one: symmetry.average(one, static=m == 0), values)

    m = np.einsum("kr,bsracw->bskacw", cluster.fourier, part("single_particle"))
    norm, orbital = part("weight"), np.arange(count)
    half = np.multiply.outer(norm / 2, np.eye(count))[:, None, None, ..., None]  # of <c c+>, at the middle of the band
    equal_time = np.einsum("kr,bsrac->bskac", cluster.fourier, part("equal_time"))[..., None]
    equal_time = invariant(equal_time, half)[..., 0]
    density = norm[:, None, None] - equal_time[..., orbital, orbital].real.mean(axis=2)
    correlations = {"density": np.broadcast_to(density, (len(sums), 2, count)).copy(), "pairs": correlation("pairs"),
                    "static": correlation("static_pairs"), "equal_time": equal_time, "vertices": part("vertices")}
    series = bins.series().reshape(min(bins.bins, bins.chains), -1, len(series_columns))
    return Measured(
        weights=np.full(len(sums), per_bin), sign=part("sign"), order=part("order"), norm=norm,
        m=invariant(m) / (problem.beta * cluster.size), correlations=correlations,
        histogram=part("histogram"), pairing=None,
        channels=[function(*wanted) for wanted in request.channels] if measured else [],
        series=series, drift=tally["drift"], acceptance=tally["accepted"] / max(tally["proposed"], 1),
        walking_seconds=tally["walking_seconds"], measuring_seconds=tally["measuring_seconds"])
