"""The state of the loop: whole in a checkpoint, dealt to ranks, and changed by `advance` alone."""

from types import SimpleNamespace

import numpy as np
import pytest

from plaq.comm import world
from plaq.dca.lattice import matsubara
from plaq.dca.lattice.chemical_potential import cutoff
from plaq.dca.lattice.model import Model
from plaq.dca.loop import iteration
from plaq.dca.loop.convergence import APPROACH, FINAL
from plaq.dca.loop.loop import first_state, next_state
from plaq.dca.loop.observer import QuietObserver
from plaq.dca.loop.setup import Setup
from plaq.dca.loop.state import RunState, deal_run
from plaq.dca.loop.two_particle import distribute
from plaq.dca.parameters import Parameters
from plaq.files.packed import pack, unpack
from plaq.run.driver import Run

NEVER = SimpleNamespace(requested=lambda: None)
P = Parameters(model={"U": 4}, dca={"temperatures": [0.5, 0.4], "density": 0.95, "iterations": 3},
               solver={"measurements": 320, "measurements_first": 64, "chains": 4, "bins": 64, "warmup": 5},
               two_particle={"below": 0.5, "frequencies": 2}, run={"workers": 1})


def setup_at(T, index=0):
    model = Model.of(P)
    model.coarse_graining.prepare(np.pi * T)
    mesh = matsubara.mesh(1 / T, cutoff(P, model.lattice, T))
    return Setup(P, model, Run(world(), NEVER), QuietObserver(), T, mesh, index, index)


def iterated(setup, state):
    """Return (bath, solution, verdict) of one iteration."""
    bath = iteration.make_bath(setup, state)
    assert distribute(setup, state, bath.request, bath.problem, []).distributed is None
    assert not list(iteration.measure(setup, state, bath)), "no stop was asked for"
    solution = iteration.solve(setup, state, bath)
    return bath, solution, iteration.judge(setup, state, bath, solution)


@pytest.fixture(scope="module")
def loop():
    """A temperature to its end: setup, the state before each iteration and after the last one, and the last result."""
    setup, states = setup_at(0.5), []
    states.append(first_state(setup))
    complete = False
    while not complete:
        bath, solution, verdict = iterated(setup, states[-1])
        states.append(iteration.advance(setup, states[-1], bath, solution, verdict))
        complete = verdict.complete
    return setup, states, (bath, solution, verdict)


def same(a, b):
    """Return whether two nested values agree in every bit."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return np.array_equal(a, b, equal_nan=isinstance(a, float)) if a is not None else b is None


def test_a_run_that_is_packed_and_unpacked_is_the_same(loop):
    setup, states, last = loop
    run = RunState(index=1, asked=[320, 320], temperature=states[-1], kept={"0": "000.4"}, grown=[[64, 64]],
                   predecessor=iteration.predecessor(setup, states[-1], *last), earlier=2, redo=[1])
    plain = run.plain()
    again = RunState.from_plain(unpack(*pack(plain)))
    assert same(again.plain(), plain)
    assert again.temperature.average.bath.ratio.shape == states[-1].average.bath.ratio.shape
    assert [r.weight for r in again.temperature.residuals] == [r.weight for r in states[-1].residuals]


def test_every_rank_gets_the_state_and_its_chains(loop):
    setup, states, last = loop
    run = RunState(temperature=states[1], predecessor=iteration.predecessor(setup, states[-1], *last))
    dealt = deal_run(world(), RunState.from_plain(run.plain()))
    assert same(dealt.plain(), run.plain()) and list(dealt.temperature.chains.states) == [0, 1, 2, 3]
    empty = deal_run(world(), RunState())
    assert empty.temperature is None and empty.predecessor is None


def test_an_iteration_leaves_its_state_as_it_was(loop):
    """Chains and clocks go on; an interrupted analysis needs everything else."""
    setup, states, _ = loop
    for state in states[:2]:
        before = {name: value for name, value in vars(state).items() if name not in ("chains", "seconds")}
        plain = {name: value for name, value in state.plain().items() if name in before}
        iterated(setup, state)
        assert all(getattr(state, name) is value for name, value in before.items())
        assert same({name: value for name, value in state.plain().items() if name in before}, plain)


def test_states_follow_each_other_from_approach_to_final(loop):
    setup, states, (bath, solution, verdict) = loop
    assert [state.iteration for state in states] == list(range(1, len(states) + 1))
    assert states[0].phase == APPROACH and states[-1].phase == FINAL
    assert [record["phase"] for record in states[-1].history] == [state.phase for state in states[:-1]]
    assert len(states[-1].functions) == len(states) - 1 and len(states[-1].outputs) == 2
    final = [state for state in states[:-1] if state.phase == FINAL]
    assert len(states[-1].residuals) == states[-1].average.parts == len(final)
    np.testing.assert_array_equal(states[-1].outputs[-1].sigma, solution.sigma)
    weights = [output.weight for output in states[-1].outputs]
    mean = sum(w * output.sigma for w, output in zip(weights, states[-1].outputs)) / sum(weights)
    np.testing.assert_allclose(states[-1].sigma, mean)
    assert states[-1].mu == bath.mu[0] and verdict.record["measurements"] == weights[-1]


def test_the_next_temperature_starts_from_the_last_one(loop):
    setup, states, last = loop
    start = iteration.predecessor(setup, states[-1], *last)
    colder = setup_at(0.4, 1)
    state = next_state(colder, start)
    assert state.phase == APPROACH and state.iteration == 1 and not state.history
    assert (state.mu, state.tau) == (start.mu, start.tau) and state.order == start.order * 2.5 / 2
    assert state.sigma.shape == (5, 4, len(colder.mesh.omega)) and np.ptp(state.sigma, axis=0).max() == 0
    for number, chain in state.chains.states.items():
        assert not chain["warm"] and len(chain["tau"]) == len(start.chains.states[number]["tau"])
        assert np.all((chain["tau"] >= 0) & (chain["tau"] < 2.5))
