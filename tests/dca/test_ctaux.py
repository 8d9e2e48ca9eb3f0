"""The stochastic solver: the same bits however it is run, and the limits that are known in closed form."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from isolated import ATOM, OPEN_PLAQUETTE, RING, Isolated

from plaq import _core
from plaq.dca.solver import ctaux


def small_case(**changes):
    """Every measurement switched on, cheap enough to be run many times; complex Fourier phases."""
    case = {"U": 4.0, "beta": 2.0, "mu": 1.5, "measurements": 192, "bins": 16, "warm_up": 20, "window": 2,
            "pairing": True, "channels": [("pp", 1, 1), ("charge", 0, 0)]}
    return Isolated(RING, **(case | changes))


def results(chains):
    """All that may not depend on how the chains were run, as bytes."""
    names = ("sign", "site", "spin", "tau", "drift", "proposed", "accepted")
    state = [[np.asarray(chain[name]).tobytes() for name in names] for _, chain in sorted(chains.states.items())]
    return state, chains.bins.sums().tobytes(), chains.bins.series().tobytes()


@pytest.fixture(scope="module")
def reference():
    case = small_case()
    chains = case.fresh_chains()
    assert case.run(chains, threads="os", workers=1)
    return results(chains)


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("threads", ["os", "fiber"])
def test_same_bits_on_every_back_end_with_any_workers(reference, threads, workers):
    case = small_case()
    chains = case.fresh_chains()
    assert case.run(chains, threads=threads, workers=workers)
    assert results(chains) == reference


@pytest.mark.parametrize("in_flight", [1, 4096])
@pytest.mark.parametrize("threads", ["os", "fiber"])
def test_same_bits_with_few_or_all_chains_under_way(reference, threads, in_flight):
    case = small_case()
    chains = case.fresh_chains()
    assert case.run(chains, threads=threads, in_flight=in_flight)
    assert results(chains) == reference


@pytest.mark.parametrize("wish", ["finish_bins", "abandon_bins"])
def test_same_bits_after_interruptions(reference, wish):
    case = small_case()
    chains = case.fresh_chains()
    two = _core.task.Options()
    two.workers = 2
    interruptions = 0
    # Stopped at once, then after more and more sweeps: in the warm-up, at the start of a bin, within one.
    for moment in itertools.count(0, 10):
        control, queue = _core.dca.Control(), _core.dca.ChainQueue()
        for state in chains.states.values():
            if state["bins_done"] < case.problem.bins:
                queue.add(state)
        queue.close()
        if moment == 0:
            getattr(control, wish)()
        with ThreadPoolExecutor(1) as aside:
            run = aside.submit(_core.dca.run_chains, case.problem, queue, "fiber", two, ([], 1), 0, control)
            while not run.done() and control.sweeps < moment:
                pass
            getattr(control, wish)()
            queue.close()
            run.result()
        chains.keep(queue.take_complete() + queue.take(case.chains))
        if all(chain["bins_done"] == case.problem.bins for chain in chains.states.values()):
            break
        interruptions += 1
    assert interruptions > 0
    assert results(chains) == reference


@pytest.mark.parametrize("wish", ["finish", "abandon"])
def test_same_bits_when_the_watch_stops_the_run(wish):
    case = small_case(measurements=6400)
    whole, pieces = case.fresh_chains(), case.fresh_chains()
    assert case.run(whole)
    assert not case.run(pieces, watch=lambda measurements, sweeps: wish)
    assert case.run(pieces)
    assert results(pieces) == results(whole)


def test_a_chain_that_is_complete_is_left_alone(reference):
    case = small_case()
    chains = case.fresh_chains()
    case.run(chains)
    assert case.run(chains)
    assert results(chains) == reference


@pytest.mark.parametrize("recalled", [False, True])
def test_chains_leave_between_bins_when_they_are_recalled(reference, recalled):
    case = small_case()
    chains = case.fresh_chains()
    one = _core.task.Options()
    one.workers = 1
    control, queue = _core.dca.Control(), _core.dca.ChainQueue()
    for state in chains.states.values():
        queue.add(state)
    with ThreadPoolExecutor(1) as aside:
        run = aside.submit(_core.dca.run_chains, case.problem, queue, "fiber", one, ([], 1), 0, control)
        back = 0
        while len(found := queue.take_complete()) < case.chains and sum(queue.load()) and not run.done():
            chains.keep(found)
            if recalled:
                queue.recall(1)
                while queue.load() == (case.chains, 0) and not run.done():
                    pass
                back += 1
        queue.close()
        run.result()
    chains.keep(found + queue.take_complete())
    assert queue.load() == (0, 0) and results(chains) == reference


def test_seeds_chains_and_bins_differ():
    case = small_case()
    chains = case.fresh_chains()
    case.run(chains)
    other = small_case(seed=2)
    others = other.fresh_chains()
    other.run(others)
    bins = [b.tobytes() for one in (chains, others) for b in one.bins.sums()]
    assert len(set(bins)) == len(bins)


def test_without_interaction_all_is_exact():
    case = Isolated(OPEN_PLAQUETTE, U=0.0, beta=5.0, mu=0.3, measurements=32000, window=2, pairing=True,
                    channels=[("magnetic", 1, 0)])
    exact, measured = case.exact, case.measure()
    assert float(measured["sign"].mean) == 1.0
    np.testing.assert_allclose(measured["density"].mean, exact.density, atol=1e-8)
    np.testing.assert_allclose(measured["double_occupancy"].mean, (exact.density / 2) ** 2, atol=1e-8)
    np.testing.assert_allclose(measured["energy"].mean, exact.total_energy, atol=1e-7)
    np.testing.assert_allclose(measured["G"].mean, case.bath, atol=1e-8)
    np.testing.assert_allclose(measured["Sigma"].mean, 0, atol=1e-12)
    np.testing.assert_allclose(measured["spin_correlation"].mean, exact.spin_correlation()[:, 0], atol=1e-7)
    assert np.all(measured["G"].error == 0)
    # The orders are Poisson distributed with mean K.
    assert abs(measured["expansion_order"].mean - case.K) < 5 * measured["expansion_order"].error
    g = case.mesh.at_frequencies(case.bath, np.arange(-2, 2))
    diagonal = np.einsum("ab,nm->anbm", np.eye(4), np.eye(4))  # delta_kk' as [K, n, K', n']
    pairs = np.abs(g)[:, :, None, None] ** 2 * diagonal
    # 128 configurations are added up in single precision before they go into double
    np.testing.assert_allclose(measured["G4_pp"].mean, pairs[:, 2:], rtol=128 * 2**-24, atol=1e-6)
    # At q > 0 only the exchange part is left.
    exchange = -(g * g[case.cluster.momentum_sum[:, 1]])[:, :, None, None] * diagonal
    np.testing.assert_allclose(measured["G4_magnetic_q1_m0"].mean, exchange, atol=1e-6)


def atom(U, beta, mu):
    """Density, double occupancy and G(iw) of one site without hopping."""
    weights = np.exp(beta * np.array([0.0, mu, mu, 2 * mu - U]))
    weights /= weights.sum()
    density, docc = weights[1] + weights[2] + 2 * weights[3], weights[3]
    return density, docc, lambda iw: (1 - density / 2) / (iw + mu) + density / 2 / (iw + mu - U)


@pytest.mark.parametrize("mu", [2.0, 1.0, 0.0, 4.5])
def test_atomic_limit(mu):
    U, beta = 4.0, 3.0
    case = Isolated(ATOM, U=U, beta=beta, mu=mu, measurements=64000, seed=3)
    density, docc, g = atom(U, beta, mu)
    measured = case.measure()
    for name, exact in (("density", density), ("double_occupancy", docc), ("energy", U * docc)):
        # 4 standard errors and the rounding of single precision.
        assert abs(measured[name].mean - exact) < 4 * measured[name].error + 1e-6, name
    found, error = measured["G"].mean[0], measured["G"].error[0]
    deviation = found - g(1j * case.mesh.omega)
    assert np.all(np.abs(deviation.real) < 4 * error.real + 1e-6)
    assert np.all(np.abs(deviation.imag) < 4 * error.imag + 1e-6)
    assert np.max(error.imag) < 0.02


def test_time_table_is_within_its_accuracy():
    case = small_case()
    table = ctaux.time_table(case.mesh, case.cluster, case.evaluation.g0)
    segments = table.shape[1]
    tau = np.random.default_rng(1).uniform(0, case.beta, 500)
    segment, x = np.divmod(tau * segments / case.beta, 1)
    found = np.einsum("rsp,sp->rs", table[:, segment.astype(int)], x[:, None] ** np.arange(ctaux.TABLE_TERMS))
    exact = -case.cluster.to_sites(case.mesh.at_tau(case.evaluation.g0, tau)).real
    assert np.abs(found - exact).max() < 2 * ctaux.TABLE_ACCURACY
