"""Steps of the self-consistency loop that no other module has."""

import pickle
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from isolated import DIMER, OPEN_DIMER, Isolated

from plaq.comm import world
from plaq.dca.lattice import matsubara
from plaq.dca.lattice.algebra import SCALARS
from plaq.dca.lattice.chemical_potential import cutoff, density, find_mu
from plaq.dca.lattice.model import Model
from plaq.dca.loop.convergence import APPROACH, FINAL, next_phase
from plaq.dca.loop.loop import Loop
from plaq.dca.loop.observer import QuietObserver
from plaq.dca.loop.state import RunState
from plaq.dca.parameters import Parameters
from plaq.dca.physics import bethe_salpeter, checks, observables, pair_estimates
from plaq.dca.physics.single_particle import self_energy
from plaq.dca.results.advice import advice
from plaq.dca.solver import ctaux
from plaq.dca.solver.iteration_average import final_iterations
from plaq.errors import Interrupted, RunError
from plaq.run.driver import Run


def test_self_energy_has_the_hartree_term_of_the_density_asked_for():
    case = Isolated(OPEN_DIMER, U=4.0, beta=2.0, mu=1.2, measurements=512)
    chains = case.fresh_chains()
    case.run(chains)
    measured = case.collected(chains)
    plain, found = self_energy(case.evaluation, measured)
    fixed, _ = self_energy(replace(case.evaluation, target_density=0.9), measured)
    np.testing.assert_allclose(fixed.mean - plain.mean, 4.0 / 2 * (0.9 - found.mean), atol=1e-12)


@pytest.mark.parametrize("failing", [(1, 2), (4,)])  # with all data, and in one jackknife sample
def test_a_general_channel_without_a_solution_is_nan_with_a_note(monkeypatch, failing):
    """Other measurements are kept, as in the pairing channel."""
    case = Isolated(DIMER, U=4.0, beta=1.0, mu=2.0, measurements=64, bins=16, chains=16, warm_up=5, window=2,
                    channels=[("magnetic", 0, 0)])
    average, calls = bethe_salpeter.group_average, []

    def averaged(g4, permutations):
        calls.append(g4)
        return average(g4, permutations) * (len(calls) not in failing)

    monkeypatch.setattr(bethe_salpeter, "group_average", averaged)
    found = case.measure()
    names = [name for name in found if name.startswith("eigenvalues_magnetic_q0_m0")]
    for name in names:
        assert np.isnan(found[name].mean).all() == (1 in failing) and found[name].note == observables.UNSOLVED
    assert names and np.isfinite(found["energy"].mean) and np.isfinite(found["G4_magnetic_q0_m0"].mean).all()


NEVER = SimpleNamespace(requested=lambda: None)


class StoppedInTheAnalysis(Run):
    """Asks to stop when so many samples of the pairing channel have been evaluated; keeps the last checkpoint."""

    def __init__(self, monkeypatch, after):
        super().__init__(world(), NEVER)
        self.left, self.saved, evaluate = after, None, pair_estimates.pairing
        counted = lambda *a: (setattr(self, "left", self.left - 1), evaluate(*a))[1]
        monkeypatch.setattr(pair_estimates, "pairing", counted)

    def stop_reason(self):
        return "SIGTERM" if self.left <= 0 else None

    def save(self, simulation):
        self.saved = pickle.dumps(simulation.state())


def carried_out(p, run, state=None):
    return run.carry_out(Loop(p, run, QuietObserver(), state))


@pytest.mark.parametrize("after", [1, 4])
def test_a_run_stops_between_samples_of_the_analysis_and_resumes_to_the_same_bits(monkeypatch, after):
    p = Parameters(model={"U": 4}, dca={"temperatures": [0.5], "density": 0.95, "iterations": 3},
                   solver={"measurements": 320, "measurements_first": 64, "chains": 4, "bins": 64, "warmup": 5},
                   two_particle={"below": 0.5, "frequencies": 2}, run={"workers": 1})
    whole = carried_out(p, Run(world(), NEVER)).at(0.5)
    with monkeypatch.context() as patch:
        stopped = StoppedInTheAnalysis(patch, after)
        with pytest.raises(Interrupted, match="SIGTERM"):
            carried_out(p, stopped)
        assert stopped.left == 0  # not one sample more
    found = carried_out(p, Run(world(), NEVER), RunState.from_plain(pickle.loads(stopped.saved))).at(0.5)
    for name, estimate in whole.observables.items():
        assert np.array_equal(found[name].mean, estimate.mean) and np.array_equal(found[name].error, estimate.error)


@pytest.mark.parametrize("settled, most, fewest, expected", [
    (2, 12, 1, 2), (2, 12, 9, 5), (7, 12, 1, 7), (99, 12, 1, 8), (99, 3, 1, 2), (1, 3, 3, 2), (99, 2, 1, 1)])
def test_the_approach_ends_when_it_has_settled_and_leaves_room_for_final_iterations(settled, most, fewest, expected):
    """settled: the iteration that says so; expected: iterations of the approach. Those and what counts are at least the
    fewest, and never more than are allowed."""
    last = final_iterations(most, 1000, 0.5, 4.0)
    approach = next(i for i in range(1, 100) if next_phase(i >= settled, i, most, fewest, last) == FINAL)
    assert approach == expected and fewest <= approach + last <= most
    assert next_phase(False, 1, 12, 1, 4) == APPROACH


@pytest.mark.parametrize("most, measurements, T, expected", [
    (20, 15_999, 0.2, 4), (20, 16_000, 0.2, 8), (20, 3999, 0.1, 4), (20, 4000, 0.1, 8), (20, 10**6, 1.0, 8),
    (12, 10**6, 1.0, 6), (3, 10**6, 0.01, 1), (7, 1000, 1.0, 3), (1, 1, 1.0, 1)])
def test_more_iterations_count_in_the_cold_and_where_each_has_many_measurements(most, measurements, T, expected):
    assert final_iterations(most, measurements, T, largest_energy=4.0) == expected


def test_one_iteration_in_the_bath_of_a_given_self_energy():
    p = Parameters(model={"U": 4}, dca={"temperatures": [0.5], "mu": 1.2, "iterations": 1},
                   two_particle={"channels": []},
                   solver={"measurements": 640, "chains": 8, "warmup": 5}, run={"workers": 1})
    point = carried_out(p, Run(world(), NEVER)).at(0.5)
    assert [record["phase"] for record in point.history] == [FINAL] and point.mu == 1.2 and point["mu"].error == 0
    np.testing.assert_allclose(point.functions["Sigma_in"][0], 2.0)  # U n/2 with n = 1
    np.testing.assert_allclose(point.functions["Sigma"][0], point["Sigma"].mean)
    np.testing.assert_allclose(point.functions["G"][0], point["G"].mean)


def test_half_filling_is_exact_where_hops_change_the_sublattice():
    p = Parameters(model={"U": 4}, dca={"temperatures": [1.0], "density": 1.0}, two_particle={"channels": []},
                   solver={"measurements": 640, "chains": 8, "warmup": 5}, run={"workers": 1})
    point = carried_out(p, Run(world(), NEVER)).at(1.0)
    assert point.mu == 2.0 and all(record["mu"] == 2.0 for record in point.history)
    assert abs(point["density"].mean - 1) < 1e-12 and point.history[-1]["converged"]
    assert not checks.density_is_off(point, 1.0) and checks.mixes(point)  # by the rounding of measurements
    sigma = point["Sigma"].mean
    np.testing.assert_allclose(sigma[3], 4.0 - sigma[0].conj(), atol=1e-9)  # (0,0) and (pi,pi)
    assert Model.of(p.replace(model={"t_prime": -0.2})).mirror is None
    assert Model.of(p.replace(model={"cluster": [[3, 0], [0, 1]]})).mirror is None


def test_the_baths_of_groups_scatter_and_their_mean_is_that_of_all(monkeypatch):
    """Half of the way to the pseudo-values of what is in the samples, along the mode that comes back."""
    tasks, make = [], ctaux.make_problem
    monkeypatch.setattr(ctaux, "make_problem", lambda *a: (tasks.append(a[2]), make(*a))[1])
    p = Parameters(model={"U": 4}, dca={"temperatures": [0.5], "density": 0.9, "iterations": 4},
                   two_particle={"channels": []}, solver={"measurements": 640, "chains": 8, "warmup": 5},
                   run={"workers": 1})
    point = carried_out(p, Run(world(), NEVER)).at(0.5)
    assert [request.group_g0 is None for request in tasks] == [record["phase"] == APPROACH for record in point.history]
    request = tasks[-1]
    assert request.group_g0.shape[0] == request.shifts.size == 8 and np.ptp(request.shifts) > 1e-3
    np.testing.assert_allclose(1 / request.group_g0[:, 1, 0], 1 / request.g0[1, 0] + request.shifts / 2, atol=1e-6)
    assert abs(request.shifts.mean()) < 1e-12



def test_sigma_and_mu_are_those_of_a_lattice_with_the_density_asked_for():
    p = Parameters(model={"U": 4}, dca={"temperatures": [0.5], "density": 0.9, "iterations": 4},
                   two_particle={"channels": []}, solver={"measurements": 6400, "chains": 8, "warmup": 5},
                   run={"workers": 1})
    point = carried_out(p, Run(world(), NEVER)).at(0.5)
    coarse = Model.of(p).coarse_graining
    mesh = matsubara.mesh(2.0, cutoff(p, Model.of(p).lattice, 0.5))
    coarse.prepare(np.pi / 2)
    np.testing.assert_allclose(point["Sigma"].axes[1].values, mesh.omega)
    for mu, sigma in [(point["mu"].mean, point["Sigma"].mean), (point["mu"].jackknife[3], point["Sigma"].jackknife[3])]:
        assert density(float(mu), coarse, mesh, SCALARS.causal(sigma, mesh.omega)) == pytest.approx(0.9, abs=1e-10)
    assert np.all(point["Sigma_infinity"].mean == 1.8) and np.all(point["Sigma_infinity"].error == 0)
    assert point["density"].error > 0, "that of the cluster is measured"
    mus = [record["mu"] for record in point.history if record["phase"] == FINAL]
    assert point["mu"].error > 0 and abs(point["mu"].mean - np.mean(mus)) < 0.05


def test_one_iteration_that_was_asked_for_is_not_one_too_few():
    p = Parameters(model={"U": 4}, dca={"temperatures": [0.5], "mu": 1.0, "iterations": 1},
                   two_particle={"channels": []}, solver={"measurements": 1600, "chains": 8, "warmup": 20},
                   run={"workers": 1})
    results = carried_out(p, Run(world(), NEVER))
    assert results.at(0.5).history[-1]["converged"] is None and "converged" not in results.answer()


def test_a_density_out_of_reach_by_noise_is_reported_as_noise(monkeypatch):
    p = Parameters(model={"U": 4}, dca={"temperatures": [0.5], "density": 0.9}, two_particle={"channels": []},
                   solver={"measurements": 640, "measurements_first": 64, "chains": 8, "warmup": 5}, run={"workers": 1})
    monkeypatch.setattr("plaq.dca.loop.iteration.find_mu", lambda target, coarse, mesh, sigma, guess: find_mu(
        target if np.ptp(sigma.real) == 0 else 2.5, coarse, mesh, sigma, guess))  # what was measured gives no such n
    with pytest.raises(RunError, match=r"T = 0.5, iteration 2: no mu gives density 2.5: with this self-energy the "
                                       r"lattice has .*; Sigma is dominated by noise: 64 measurements, with an average "
                                       r"sign of .*; "
                                       r"raise solver.measurements_first, or stay"):
        carried_out(p, Run(world(), NEVER))


def test_chains_that_hardly_have_a_vertex_raise_no_warning():
    p = Parameters(model={"U": 4}, dca={"temperatures": [300.0], "density": 0.9}, two_particle={"channels": []},
                   solver={"measurements": 1024}, run={"workers": 1})
    point = carried_out(p, Run(world(), NEVER)).at(300.0)
    assert point["order_histogram"].mean[0] > 0.9 and checks.mixes(point)


@pytest.mark.parametrize("dca", [{"density": 0.9}, {"mu": -0.7}, {"mu": -0.7, "isolated": True}])
def test_without_interaction_energies_and_eigenvalues_are_exact(dca):
    p = Parameters(model={"U": 0, "t_prime": 0.2}, dca={"temperatures": [0.2], **dca},
                   two_particle={"channels": ["pp", "charge"], "frequencies": 2},
                   solver={"measurements": 256, "chains": 8, "warmup": 5}, run={"workers": 1})
    point = carried_out(p, Run(world(), NEVER)).at(0.2)
    mu, eps = float(point["mu"].mean), Model.of(p).cluster.energies
    if "isolated" not in dca:
        k = 2 * np.pi * (np.arange(400) + 0.5) / 400
        eps = Model.of(p).lattice.dispersion(np.stack(np.meshgrid(k, k), axis=-1))
    filled = 2 / (1 + np.exp((eps - mu) / 0.2))
    assert point["energy"].mean == pytest.approx(np.mean(eps * filled), abs=1e-11)
    assert point["density"].mean == pytest.approx(np.mean(filled), abs=1e-8 if "density" in dca else 1e-11)
    assert point["double_occupancy"].mean == point["density"].mean ** 2 / 4
    for name in ("energy", "energy_potential", "lambda_d", "lambda_charge_q0_m0_s"):
        assert point[name].error == 0 and (name == "energy" or point[name].mean == 0), name


def test_a_lack_of_self_consistency_is_reported():
    """Strong coupling, few iterations: the warning, and with it answer and summary, says so."""
    p = Parameters(model={"U": 8}, dca={"temperatures": [0.25], "density": 0.8, "iterations": 2},
                   two_particle={"channels": []}, solver={"measurements": 6400, "chains": 8, "warmup": 20},
                   run={"workers": 1})
    results = carried_out(p, Run(world(), NEVER))
    assert results.at(0.25).history[-1]["converged"] is False
    assert "not converged" in results.answer() and "dca.iterations" in " ".join(advice(results, p))
