"""One iteration of the self-consistency loop: Sigma -> mu, Gbar -> bath -> solver -> Sigma.

The steps in order, of which each takes what the ones before it returned:

    make_bath   Sigma_in(K, iw) -> mu, G0(K, iw), and the problem for the solver
    measure     Markov chains in that bath, until all bins are measured
    solve       bins -> G(K, iw), Sigma_out(K, iw), density
    judge       Sigma_out - Sigma_in -> phase of the next iteration; average over the final iterations
    evaluate    average -> all observables of the temperature, once it is complete
    advance     state of the next iteration

Only `advance` and the chains change the state, so that an iteration can stop between any two bins or samples.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from plaq.data.estimate import Estimate, with_error
from plaq.data.statistics import weighted_average
from plaq.dca.lattice.chemical_potential import NoSuchDensity, compressibility, find_mu
from plaq.dca.lattice.chemical_potential import density as lattice_density
from plaq.dca.loop import convergence, density_search, ordering, status
from plaq.dca.loop.convergence import APPROACH, FINAL, Mismatch, Residual, iterations_left, next_phase
from plaq.dca.loop.mixing import DEPTH, Output, mixed
from plaq.dca.loop.ordering import LEAST_FRACTION
from plaq.dca.loop.setup import Setup
from plaq.dca.loop.state import Predecessor, TemperatureState
from plaq.dca.physics import observables
from plaq.dca.physics.evaluation import Evaluation
from plaq.dca.physics.single_particle import self_energy
from plaq.dca.physics.two_particle import pair_orbits
from plaq.dca.solver import choices, iteration_average, jackknife_groups
from plaq.dca.solver.chains import run_chains
from plaq.dca.solver.ctaux import Measured, SolverRequest
from plaq.dca.solver.distributed_g4 import DistributedEstimate
from plaq.dca.solver.watch import Watch
from plaq.dca.units import in_units
from plaq.errors import RunError

# Processors of different makes differ in the last bits: all ranks continue with rank 0's values of these.
AGREED = ("phase", "sigma", "mu", "order", "tau", "outputs", "residuals", "needed", "settled")


@dataclass(frozen=True)
class Bath:
    """Chemical potential and bath of an iteration, and the solver's problem in it."""

    mu: np.ndarray  # [1 + group] samples
    request: SolverRequest
    problem: Any  # _core.dca.Problem
    sigma_0: np.ndarray | float  # Sigma_0 of `BathData`


@dataclass(frozen=True)
class Solution:
    """Averages that the solver returned, and the loop's quantities from them."""

    evaluation: Evaluation
    measured: Measured
    sigma: np.ndarray  # [1 + group, ...] samples of Sigma_out
    density: np.ndarray  # [1 + group] samples of the cluster's density


@dataclass(frozen=True)
class Verdict:
    """Result of `judge`: new values of a `TemperatureState`, and whether the temperature is complete."""

    record: dict[str, Any]  # of the history
    phase: str  # of the next iteration
    residuals: list[Residual]
    needed: int
    settled: bool
    average: Measured | None  # of all final iterations
    complete: bool


# Bath ----------------------------------------------------------------------------------------------------------------


def make_bath(setup: Setup, state: TemperatureState) -> Bath:
    """Return mu, the bath of the input Sigma, and the solver's problem. Collective.

    For each sample of Sigma, with the mean over a patch of the zone in Gbar:
        Gbar = <1/(iw + mu - eps_k - Sigma)>,    1/G0 = 1/Gbar + Sigma - U/2.
    """
    started = time.perf_counter()
    bath = setup.run.comm.together(lambda: _bath(setup, state))
    state.clock("bath", started)
    return bath


def _bath(setup: Setup, state: TemperatureState) -> Bath:
    equations = setup.equations
    mu, inverse_g0 = map(np.array, zip(*(bath_of(setup, state, sigma) for sigma in state.sigma)))
    request, sigma_0 = solver_request(setup, state, equations.algebra.inverse(inverse_g0[0])), state.sigma_0
    if state.phase == FINAL and len(mu) > 1:
        request = with_group_baths(setup, request, inverse_g0)
        if not state.residuals:  # the first final iteration
            sigma_0 = state.sigma[0] - equations.shift
    return Bath(mu, request, equations.make_problem(setup.mesh, request, setup.parameters.solver), sigma_0)


def with_group_baths(setup: Setup, request: SolverRequest, inverse_g0: np.ndarray) -> SolverRequest:
    """Return the request with a bath for each group of chains, from the samples of 1/G0, [1 + group, ...].

    A group's bath is 1/G0 + SHIFT_FRACTION a_g, with the shift a_g of plaq.dca.solver.jackknife_groups. A part that
    breaks a symmetry is shifted likewise: near a transition that mode, too, returns almost as a whole.
    """
    algebra, solver = setup.equations.algebra, setup.parameters.solver
    group_of = jackknife_groups.group_of_chain(solver.bins, solver.chains)
    weights = np.bincount(group_of).astype(float)
    deviations = jackknife_groups.pseudo_values(inverse_g0, weights) - inverse_g0[0]
    shifts = jackknife_groups.shifts(algebra.diagonal(deviations), algebra.diagonal(request.g0), weights)
    shifted = inverse_g0[0] + jackknife_groups.SHIFT_FRACTION * algebra.number(shifts)
    ordered, order = {}, setup.equations.order
    if order is not None:
        own = order.part(deviations)
        own = own - np.einsum("g,g...->...", weights, own) / weights.sum()
        part = ordering.fraction(order, own, inverse_g0[0], setup.mesh.omega)
        shifted = shifted + part * own
        ordered = {"order_shifts": order.size(own, setup.mesh.omega), "order_fraction": part}
    return replace(request, **ordered, shifts=shifts, group_g0=algebra.fitted(setup.mesh, algebra.inverse(shifted)),
                   group_of=group_of)


def bath_of(setup: Setup, state: TemperatureState, sigma: np.ndarray) -> tuple[float, np.ndarray]:
    """Return (mu, 1/G0) of one sample of Sigma."""
    model, mesh, shift, algebra = setup.model, setup.mesh, setup.equations.shift, setup.equations.algebra
    bare, mu = algebra.causal(sigma, mesh.omega), state.mu
    sigma = bare + setup.field if setup.is_seeded(state.history) else bare
    if setup.target_density is not None:
        with noise_explained(setup, state, state.history):
            mu = find_mu(setup.target_density, model.coarse_graining, mesh, sigma, mu)
    elif setup.parameters.dca.density is not None and setup.searched_density is None:
        mu = setup.equations.first_mu
    gbar = model.coarse_graining.gbar(algebra.at_frequencies_of(1j * mesh.omega + mu) - sigma)
    # An isolated cluster has no bath: there Gbar = 1/(iw + mu - Sigma - eps_K) whatever Sigma is.
    bath = algebra.inverse(algebra.inverse(gbar) + bare)
    g0 = algebra.fitted(mesh, algebra.inverse(algebra.inverse(bath) - shift))
    return mu, setup.equations.odd(algebra.inverse(g0))


def solver_request(setup: Setup, state: TemperatureState, g0: np.ndarray) -> SolverRequest:
    """Return the work of the solver in the bath g0: few measurements in the approach, all functions later."""
    p, beta = setup.parameters, setup.mesh.beta
    few, many = setup.measurements
    missing = many - (int(state.average.weights.sum()) if state.average else 0)
    last = (p.dca.isolated and setup.searched_density is None) or state.iteration == p.dca.iterations
    final = missing if last else min(missing, -(-many // setup.final_iterations))
    request = SolverRequest(
        beta=beta, U=setup.model.U, K=setup.equations.expansion_constant(p, beta), g0=g0,
        measurements=few if state.phase == APPROACH else final, order=max(state.order, 1.0), warm_up=state.warm_up,
        point=setup.point, iteration=state.iteration, isolated=p.dca.isolated, tau=state.tau)
    if state.phase != APPROACH and p.measures_two_particle(setup.T):
        request.window = choices.window(p, beta)
        request.orbit = pair_orbits(setup.model.group)
        request.pairing = setup.measures_real_pairing
        request.channels = choices.measured_functions([*setup.general_channels, *setup.exchanged])
    return request


# Solver --------------------------------------------------------------------------------------------------------------


def measure(setup: Setup, state: TemperatureState, bath: Bath) -> Iterator[None]:
    """Run the chains until all bins are measured; yield wherever they stopped early. Collective.

    An error that all ranks have is raised after a yield for the complete bins, if these can be kept.
    """
    comm, chains, g4 = setup.run.comm, state.chains, state.distributed
    complete, tally = False, chains.tally(comm)
    while not complete:
        before, whole = measurements(state, bath, tally)
        watch = Watch(setup.run, whole - before, partial(status.report, setup, state, before))
        started = time.perf_counter()
        try:
            complete = run_chains(bath.problem, chains, setup.parameters.run, comm, watch, g4)
        except RunError as error:
            if error.ranks == comm.size:
                chains.gather_bins(comm, False)
                if not g4 or g4.match(chains.done()):
                    yield
            raise
        earlier, tally = tally, chains.tally(comm)
        clock_chains(state, time.perf_counter() - started, earlier, tally)
        started = time.perf_counter()
        chains.gather_bins(comm, complete)
        state.clock("collection", started)
        if not complete:
            yield


def measurements(state: TemperatureState, bath: Bath, tally: dict[str, float]) -> tuple[float, int]:
    """Return the measurements of an iteration: done, and in all."""
    bins, per_bin = state.chains.bins, bath.problem.measurements_per_bin
    return per_bin * tally["bins_done"], per_bin * bins.bins * bins.group


def clock_chains(state: TemperatureState, wall: float, before: dict[str, float], after: dict[str, float]) -> None:
    """Divide the seconds that chains ran between walking and measuring, in the ratio of their own clocks."""
    walking, measuring = (after[name] - before[name] for name in ("walking_seconds", "measuring_seconds"))
    part = walking / max(walking + measuring, 1e-300)
    state.seconds["walking"] = state.seconds.get("walking", 0.0) + wall * part
    state.seconds["measuring"] = state.seconds.get("measuring", 0.0) + wall * (1 - part)


def solve(setup: Setup, state: TemperatureState, bath: Bath) -> Solution:
    """Return the averages of the bins and Sigma_out = 1/G0 + U/2 - 1/G, with its samples. Collective."""
    started = time.perf_counter()
    tally = state.chains.tally(setup.run.comm)
    solution = setup.run.comm.together(lambda: _solution(setup, state, bath, tally))
    state.clock("analysis", started)
    return solution


def _solution(setup: Setup, state: TemperatureState, bath: Bath, tally: dict[str, float]) -> Solution:
    solver, equations, request = setup.parameters.solver, setup.equations, bath.request
    measured = equations.collect(bath.problem, state.chains.bins, tally, request, state.distributed)
    if measured.sign.mean() == 0:
        raise RunError(f"T = {setup.T}: the average sign is 0 in {int(measured.weights.sum())} "
                       "measurements: nothing can be averaged; measure more or stay at higher temperatures")
    if setup.grouped:
        measured = jackknife_groups.bin_by_group(measured, solver.bins, solver.chains)
    if request.group_g0 is None:
        measured = measured.in_bath(request.g0, bath.sigma_0, equations.algebra)
    else:
        measured = measured.in_bath(request.group_g0, bath.sigma_0, equations.algebra)
        measured = extrapolated(measured, request)
    evaluation = Evaluation(setup.model, setup.mesh, request.K, float(bath.mu[0]), request.g0, bath.sigma_0,
                            setup.target_density, equations)
    sigma, density = self_energy(evaluation, measured)
    return Solution(evaluation, measured, jackknife_groups.samples_of(sigma), jackknife_groups.samples_of(density))


def extrapolated(measured: Measured, request: SolverRequest) -> Measured:
    """Return the averages of the groups in the baths that they would have as loops of their own."""
    uniform, order = request.shifts, request.order_shifts
    full = jackknife_groups.extrapolate_measured(measured, uniform, other=order)
    if order is None:
        return full
    return jackknife_groups.extrapolate_measured(full, order, max(request.order_fraction, LEAST_FRACTION), uniform)


# Convergence ---------------------------------------------------------------------------------------------------------


def judge(setup: Setup, state: TemperatureState, bath: Bath, solution: Solution) -> Verdict:
    """Return whether the loop has converged, and the average over all final iterations with this one."""
    started = time.perf_counter()
    p, measured, final = setup.parameters, solution.measured, state.phase == FINAL
    residual = residual_of(setup, state, bath, solution)
    off = mismatch_of(setup, state, bath, solution, [residual])
    if final:
        residuals, needed = [*state.residuals, residual], state.needed
        average = iteration_average.add(state.average, measured)
        complete = bool(average.weights.sum() >= setup.measurements[1])
        of_all = mismatch_of(setup, state, bath, solution, residuals)
        settled, phase = state.settled or has_settled_late(setup, state, solution, of_all, average), FINAL
        converged = settled and of_all.is_noise()
    else:
        residuals, average, complete = state.residuals, state.average, False
        part = float(measured.weights.sum()) / setup.measurements[1]
        needed = min(state.needed, state.iteration + iterations_left(off, part))
        converged = settled = bool(off.within(p.dca.tolerance) and state.iteration >= needed)
        if settled and setup.equations.order is not None:
            record = record_of(setup, state, bath, solution, off, converged, settled)
            converged = settled = ordering.has_settled([*state.history, record], p.dca.tolerance)
        phase = next_phase(settled, state.iteration, p.dca.iterations, p.dca.minimum_iterations,
                           setup.final_iterations)
    record = record_of(setup, state, bath, solution, off, converged, settled)
    verdict = Verdict(record, phase, residuals, needed, state.settled if final else settled, average, complete)
    state.clock("analysis", started)
    return verdict


def has_settled_late(setup: Setup, state: TemperatureState, solution: Solution, mismatch: Mismatch,
                     average: Measured) -> bool:
    """Return whether the final iterations show the convergence that an approach cut short did not.

    mismatch : of all final iterations; average : of their measurements.
    """
    sigma, density = self_energy(solution.evaluation, average)
    size = float(np.sqrt(np.mean(np.abs(sigma.error) ** 2)))
    if setup.equations.order is not None and not ordering.has_settled(state.history, setup.parameters.dca.tolerance):
        return False
    return convergence.has_decayed(mismatch, size, float(density.error))


def residual_of(setup: Setup, state: TemperatureState, bath: Bath, solution: Solution) -> Residual:
    """Return samples of Sigma_out - Sigma_in, and of the cluster's density less the lattice's."""
    if setup.searched_density is not None:
        return Residual(float(solution.measured.weights.sum()), np.zeros_like(solution.sigma),
                        solution.density - setup.searched_density)
    inputs = [setup.equations.algebra.causal(sigma, setup.mesh.omega) for sigma in state.sigma]
    lattice = np.array([lattice_density(mu, setup.model.coarse_graining, setup.mesh, sigma)
                        for mu, sigma in zip(bath.mu, inputs)])
    if setup.parameters.dca.isolated:  # bins, and one input
        inputs, lattice = inputs[0], lattice[0]
    change, order = solution.sigma - np.array(inputs), setup.equations.order
    return Residual(float(solution.measured.weights.sum()), change, solution.density - lattice,
                    None if order is None else order.size(change, setup.mesh.omega))


def mismatch_of(setup: Setup, state: TemperatureState, bath: Bath, solution: Solution,
                residuals: list[Residual]) -> Mismatch:
    """Return the mismatch of the weighted mean of residuals.

    In the approach the density responds to the noise of mu, which is common to all groups.
    """
    weights, noise = solution.measured.weights, 0.0
    if state.phase == APPROACH and len(bath.mu) > 1:
        sigma = setup.equations.algebra.causal(state.sigma[0], setup.mesh.omega)
        noise = (compressibility(bath.mu[0], setup.model.coarse_graining, setup.mesh, sigma)
                 * jackknife_groups.error(bath.mu, weights))
    return convergence.mismatch(residuals, weights, noise)


def record_of(setup: Setup, state: TemperatureState, bath: Bath, solution: Solution, off: Mismatch, converged: bool,
              settled: bool) -> dict[str, Any]:
    """Return the record of the iteration in the history: scalars, without its seconds."""
    measured, problem, isolated = solution.measured, bath.problem, setup.parameters.dca.isolated
    alone = isolated and setup.searched_density is None
    error = lambda samples: float(jackknife_groups.error(samples, measured.weights))
    n, beta, sites = float(solution.density[0]), setup.mesh.beta, setup.model.cluster.size
    slope = {} if setup.searched_density is None else {
        "compressibility": density_search.compressibility(setup.equations, measured, n, beta, sites)}
    ordered, order = {}, setup.equations.order
    if order is not None:
        size = lambda sigma: order.size(sigma, setup.mesh.omega)
        ordered = {"seeded": setup.is_seeded(state.history), "steady": off.is_steady(setup.parameters.dca.tolerance),
                   "order_in": float(size(state.sigma[0])),
                   "order_out": float(size(solution.sigma[0])), "order_error": error(size(solution.sigma)),
                   "order_fraction": bath.request.order_fraction}
    return {
        "T": setup.T, "iteration": state.iteration, "phase": state.phase, "mu": float(bath.mu[0]),
        "mu_error": error(bath.mu) if len(bath.mu) > 1 else 0.0,
        "density": n, "density_error": error(solution.density),
        "density_mismatch": off.density, "density_mismatch_error": off.density_error,
        "sign": float(measured.sign.mean()),
        "sign_error": float(np.std(measured.sign) / np.sqrt(max(len(measured.sign) - 1, 1))),
        "order": float(measured.histogram.mean(axis=0) @ np.arange(measured.histogram.shape[1])),
        "converged": None if alone or setup.parameters.dca.iterations == 1 else bool(converged),
        "settled": None if alone else bool(settled),
        "change": None if isolated else off.sigma, "change_error": off.sigma_error,
        "measurements": int(measured.weights.sum()), "drift": measured.drift, "acceptance": measured.acceptance,
        "block_length": getattr(problem, "block_length", None),  # CT-INT has no blocks
        "proposals_per_sweep": problem.proposals_per_sweep,
        "sweeps_per_measurement": problem.sweeps_per_measurement, "chains_in_flight": state.chains.in_flight,
        **slope, **ordered}


# Results and the next iteration --------------------------------------------------------------------------------------


def evaluate(setup: Setup, state: TemperatureState, bath: Bath, solution: Solution,
             verdict: Verdict) -> dict[str, Estimate | DistributedEstimate]:
    """Return all observables of the temperature, from all final iterations. Collective.

    Interrupted when the run is to stop: the state is then that of this iteration with complete bins.
    """
    started = time.perf_counter()
    with noise_explained(setup, state, [*state.history, verdict.record]):
        estimates = observables.estimates(solution.evaluation, verdict.average, bath.request.window,
                                          setup.general_channels, setup.run.comm.starmap, state.distributed,
                                          setup.run.raise_if_stopped, setup.parameters.two_particle.samples,
                                          setup.exchanged)
    if setup.target_density is None:
        mu, error = mu_of(setup, bath, [*state.history, verdict.record])
        estimates["mu"] = replace(estimates["mu"], mean=np.array(mu), error=np.array(error), jackknife=None)
    state.clock("analysis", started)
    return in_units(estimates, setup.parameters.unit)


def mu_of(setup: Setup, bath: Bath, history: list[dict[str, Any]]) -> tuple[float, float]:
    """Return mu and its error where the lattice's density does not give it: as given, or as searched for."""
    if setup.searched_density is None:
        return float(bath.mu[0]), 0.0
    return density_search.average_mu(history), density_search.next_mu(setup.searched_density, setup.T, history)[1]


def advance(setup: Setup, state: TemperatureState, bath: Bath, solution: Solution,
            verdict: Verdict) -> TemperatureState:
    """Return the state of the next iteration, after a report of this one. Collective."""
    p, comm = setup.parameters, setup.run.comm
    earlier = lambda part: sum(record["seconds"].get(part, 0.0) for record in state.history)
    record = verdict.record | {"seconds": {part: s - earlier(part) for part, s in state.seconds.items()}}
    comm.on_root(lambda: setup.observer.report_iteration(record))

    output = Output(float(record["measurements"]), output_of(setup, state, solution, record))
    outputs = [*state.outputs, output][-DEPTH:]
    changes = {"mu": float(bath.mu[0])} if p.dca.mu is None else {}
    if setup.searched_density is not None:
        changes["mu"] = density_search.next_mu(setup.searched_density, setup.T, [*state.history, record])[0]
    if setup.grouped:
        changes["sigma"] = mixed(outputs)
    if state.phase == APPROACH:  # iterations that are averaged measure in the same way
        changes["order"] = record["order"]
        changes["tau"] = observables.sweeps_between_independent(solution.measured, setup.equations.series_columns,
                                                                bath.problem.sweeps_per_measurement)
    new = replace(
        state, **changes, phase=verdict.phase, iteration=state.iteration + 1, sigma_0=bath.sigma_0,
        warm_up=p.solver.warmup // 4,  # configurations are at hand; only the bath has moved a little
        chains=state.chains.renewed(setup.mesh.beta), outputs=outputs, residuals=verdict.residuals,
        needed=verdict.needed, settled=verdict.settled, average=verdict.average, history=[*state.history, record],
        functions=[*state.functions, functions_of(state, solution)])
    return replace(new, **comm.bcast({name: getattr(new, name) for name in AGREED}))


def output_of(setup: Setup, state: TemperatureState, solution: Solution, record: dict[str, Any]) -> np.ndarray:
    """Return samples of Sigma_out, with a longer step of a part that breaks a symmetry."""
    order = setup.equations.order
    if order is None or record["seeded"] or not record["steady"]:
        return solution.sigma
    inputs = state.sigma if state.phase == FINAL else state.sigma[:1]  # in the approach all groups walk in one bath
    return ordering.accelerated(order, solution.sigma, inputs, ordering.slope([*state.history, record]))


def functions_of(state: TemperatureState, solution: Solution) -> dict[str, np.ndarray]:
    """Return the functions of one iteration in results.h5, from all data: Sigma_in, Sigma with its error, G."""
    measured, bath = solution.measured, solution.measured.bath
    sums = [weighted_average(a, measured.weights) for a in (measured.norm, bath.ratio, bath.inverse_g0)]
    mean, m = solution.evaluation.sample(*sums)
    g, sigma = mean.dyson(m)
    error = jackknife_groups.error(solution.sigma, measured.weights)
    return {"Sigma_in": state.sigma[0], "Sigma": sigma, "Sigma_error": error, "G": g}


def predecessor(setup: Setup, state: TemperatureState, bath: Bath, solution: Solution, verdict: Verdict) -> Predecessor:
    """Return the start of the next temperature, from the ``state`` after a complete one. Collective."""
    sigma = self_energy(solution.evaluation, verdict.average)[0].mean
    start = Predecessor(setup.mesh.omega, sigma, setup.mesh.beta, float(bath.mu[0]), verdict.record["order"], state.tau)
    return replace(setup.run.comm.bcast(start), chains=state.chains)


@contextmanager
def noise_explained(setup: Setup, state: TemperatureState, history: list[dict[str, Any]]) -> Iterator[None]:
    """Add to the error of a density without mu the noise of Sigma by the last record, and the remedy."""
    try:
        yield
    except NoSuchDensity as error:
        explained = RunError(f"T = {setup.T:g}, iteration {state.iteration}: {error}; {noise_in_words(history)}")
        explained.ranks = error.ranks
        raise explained from None


def noise_in_words(history: list[dict[str, Any]]) -> str:
    """Return that Sigma is noise, by the last record of the history, and a remedy."""
    if not history:
        return "start from another one (dca.sigma, --from)"
    last = history[-1]
    key = "solver.measurements_first" if last["phase"] == APPROACH else "solver.measurements"
    return (f"Sigma is dominated by noise: {last['measurements']} measurements, with an average sign of "
            f"{with_error(last['sign'], last['sign_error'])}; raise {key}, or stay where the sign is larger and n "
            "further from 0 and 2")
