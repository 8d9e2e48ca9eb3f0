"""Steps of the self-consistency loop that no other module has."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from isolated import DIMER, OPEN_DIMER, Isolated

from plaq.comm import world
from plaq.dca.iteration import APPROACH, FINAL, SETTLE, next_phase
from plaq.dca.loop import Loop
from plaq.dca.observer import QuietObserver
from plaq.dca.parameters import Parameters
from plaq.dca.physics import bethe_salpeter, observables
from plaq.errors import Interrupted
from plaq.run.driver import Run


def test_next_self_energy_has_the_hartree_term_of_the_density_asked_for():
    case = Isolated(OPEN_DIMER, U=4.0, beta=2.0, mu=1.2, measurements=512)
    chains = case.fresh_chains()
    case.run(chains)
    measured = case.collected(chains)
    own, density = observables.self_energy(case.setting, measured)
    fixed, _ = observables.self_energy(case.setting, measured, wanted=0.9)
    np.testing.assert_allclose(fixed.mean - own.mean, 4.0 / 2 * (0.9 - density.mean), atol=1e-12)


@pytest.mark.parametrize("failing", [(1, 2), (4,)])  # with all data, and in one jackknife sample
def test_a_general_channel_without_a_solution_is_nan_with_a_note(monkeypatch, failing):
    """As in the pairing channel: what else was measured is kept."""
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
        self.left, self.saved, evaluate = after, None, observables.pairing
        monkeypatch.setattr(observables, "pairing", lambda *a: (setattr(self, "left", self.left - 1), evaluate(*a))[1])

    def stop_reason(self):
        return "SIGTERM" if self.left <= 0 else None

    def save(self, simulation):
        self.saved = pickle.dumps(simulation.state())


def carried_out(p, run, state=None):
    return run.carry_out(Loop(p, run, QuietObserver(), state))


@pytest.mark.parametrize("after", [1, 40])
def test_a_run_stops_between_samples_of_the_analysis_and_goes_on_with_the_same_bits(monkeypatch, after):
    p = Parameters(model={"U": 4}, dca={"temperatures": [0.5], "density": 0.95, "iterations": 3},
                   solver={"measurements": 320, "measurements_first": 64, "chains": 4, "bins": 64, "warmup": 5},
                   two_particle={"below": 0.5, "frequencies": 2}, run={"workers": 1})
    whole = carried_out(p, Run(world(), NEVER)).at(0.5)
    with monkeypatch.context() as patch:
        stopped = StoppedInTheAnalysis(patch, after)
        with pytest.raises(Interrupted, match="SIGTERM"):
            carried_out(p, stopped)
        assert stopped.left == 0  # not one sample more
    found = carried_out(p, Run(world(), NEVER), pickle.loads(stopped.saved)).at(0.5)
    for name, estimate in whole.observables.items():
        assert np.array_equal(found[name].mean, estimate.mean) and np.array_equal(found[name].error, estimate.error)


def test_phases_go_on_when_converged_and_always_end_with_the_final_ones():
    def phases(converged, iterations):
        """converged: one answer per iteration, False where it has none."""
        found = [APPROACH]
        for i in range(1, iterations):
            if found[-1] == FINAL:
                break
            found.append(next_phase(found[-1], i in converged, iterations - i))
        return found

    assert phases({1, 2}, 10) == [APPROACH, SETTLE, FINAL]
    assert phases({3, 6}, 10) == [APPROACH] * 3 + [SETTLE] * 3 + [FINAL]  # the bath had not settled at once
    assert phases({}, 10) == [APPROACH] * 6 + [SETTLE] * 4  # and the last of them counts all the same
    assert phases({2, 9}, 10) == [APPROACH] * 2 + [SETTLE] * 7 + [FINAL]
    assert next_phase(SETTLE, False, 0) == next_phase(FINAL, False, 3) == FINAL
