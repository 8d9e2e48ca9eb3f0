"""Runs of general models through the whole loop, solved by CT-INT."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from plaq.comm import world
from plaq.dca.loop import iteration
from plaq.dca.loop.loop import Loop
from plaq.dca.loop.observer import QuietObserver
from plaq.dca.loop.state import RunState
from plaq.dca.parameters import Parameters
from plaq.dca.physics import checks
from plaq.errors import Interrupted
from plaq.run.driver import Run

NEVER = SimpleNamespace(requested=lambda: None)
MANY = {"measurements": 6400, "chains": 16, "warmup": 50}
FEW = {"measurements": 640, "chains": 8, "warmup": 5}
HUND = {"hopping": {"1,0": [[-1, 0.3], [0.3, -0.5]], "0,1": [[-1, -0.3], [-0.3, -0.5]]}, "U": 4, "J": 0.5,
        "energies": {"1": 0.2}, "kanamori": True, "cluster": [[1, 0], [0, 1]]}


def carried_out(p, run=None, state=None):
    return (run or Run(world(), NEVER)).carry_out(Loop(p, run or Run(world(), NEVER), QuietObserver(), state))


def parameters(model, solver, channels=(), q=(0, 0), **dca):
    return Parameters(model=model, dca={"temperatures": [0.5], **dca}, solver=solver, run={"workers": 1},
                      two_particle={"channels": list(channels), "frequencies": 3, "transfers": [list(q)]})


def deviation(a, b, scale=1.0, offset=0.0):
    """Deviation of a from offset + scale b in standard errors."""
    return np.abs(a.mean - offset - scale * b.mean) / np.hypot(a.error, scale * b.error)


def test_attraction_at_half_filling_is_repulsion_with_spin_and_charge_exchanged():
    """D(-U) = 1/2 - D(U), equal kinetic energies, chi_c(-U) = 4 chi_s(U), 4 chi_s(-U) = chi_c(U); 4.5 errors.

    The eigenvalue of s-wave pairing is that of magnetism at (pi, pi).
    """
    attractive = carried_out(parameters({"U": -4}, MANY, ["pp"], mu=-2.0)).at(0.5)
    repulsive = carried_out(parameters({"U": 4}, MANY, ["magnetic"], (1, 1), density=1.0)).at(0.5)
    assert deviation(attractive["lambda_s"], repulsive["lambda_magnetic_q3_m0_s"]) < 4.5
    assert attractive["lambda_s"].mean > 10 * attractive["lambda_s"].error > 0
    assert deviation(attractive["double_occupancy"], repulsive["double_occupancy"], -1, 0.5) < 4.5
    assert deviation(attractive["energy_kinetic"], repulsive["energy_kinetic"]) < 4.5
    assert np.all(deviation(attractive["charge_susceptibility"], repulsive["spin_susceptibility"], 4) < 4.5)
    assert np.all(deviation(attractive["spin_susceptibility"], repulsive["charge_susceptibility"], 0.25) < 4.5)
    assert attractive["double_occupancy"].error < 0.01 and not checks.violated(attractive)
    assert [axis.name for axis in attractive["G"].axes] == ["K", "omega"]  # one orbital, as one band


def test_both_solvers_find_the_same_lattice():
    """One band away from half filling; 4.5 errors."""
    found = [carried_out(parameters({"U": 4}, MANY | {"kind": kind}, ["pp", "charge"], density=0.85)).at(0.5)
             for kind in ("ctaux", "ctint")]
    for name in ("lambda_s", "lambda_d", "lambda_charge_q0_m0_s", "lambda_charge_q0_m0_d",
                 "mu", "double_occupancy", "energy_kinetic", "spin_susceptibility", "charge_susceptibility",
                 "spin_square"):
        assert np.all(deviation(found[0][name], found[1][name]) < 4.5), name
    one, other = (point["Sigma"][:, 0] for point in found)
    for part in ("real", "imag"):
        assert np.all(deviation(getattr(one, part), getattr(other, part)) < 4.5)


class StopsInTheThirdIteration(Run):
    """Stops when the chains of the third iteration have run, before their bins are used; keeps the checkpoint."""

    def __init__(self, monkeypatch):
        super().__init__(world(), NEVER)
        self.saved, self.loop, run_chains = None, None, iteration.run_chains
        monkeypatch.setattr(iteration, "run_chains", lambda *a: run_chains(*a) and not self.stop_reason())

    def stop_reason(self):
        temperature = self.loop._state.temperature
        return "SIGTERM" if temperature is not None and temperature.iteration == 3 else None

    def save(self, simulation):
        self.saved = pickle.dumps(simulation.state())


def test_a_run_with_orbitals_resumes_to_the_same_bits(monkeypatch):
    p = parameters(HUND, FEW, ["pp", "magnetic"], density=1.9, iterations=4).replace(
        two_particle={"momenta": [[0, 0], [0.4, 0.1]]})
    whole = carried_out(p).at(0.5)
    with monkeypatch.context() as patch:
        stopped = StopsInTheThirdIteration(patch)
        stopped.loop = Loop(p, stopped, QuietObserver(), None)
        with pytest.raises(Interrupted, match="SIGTERM"):
            stopped.carry_out(stopped.loop)
    found = carried_out(p, state=RunState.from_plain(pickle.loads(stopped.saved))).at(0.5)
    assert whole["chi_s_orbital"].mean.shape == (2, 1, 2, 2) and np.isfinite(whole["chi_s"].error).all()
    for name, estimate in whole.observables.items():
        assert np.array_equal(found[name].mean, estimate.mean, equal_nan=True) and np.array_equal(
            found[name].error, estimate.error, equal_nan=True)


def test_observables_of_orbitals_add_up():
    point = carried_out(parameters(HUND, FEW, density=1.9, iterations=4)).at(0.5)
    shapes = {name: tuple(axis.name for axis in e.axes) for name, e in point.observables.items()}
    assert shapes["G"] == ("K", "orbital", "orbital'", "omega") and shapes["density_orbital"] == ("orbital",)
    assert point["Sigma"].axes[1].values.tolist() == ["1", "2"]
    assert point["density_orbital"].mean.sum() == pytest.approx(point["density"].mean)
    assert point["double_occupancy_orbital"].mean.sum() == pytest.approx(point["double_occupancy"].mean)
    np.testing.assert_allclose(point["spin_susceptibility_orbital"].mean.sum(axis=(1, 2)),
                               point["spin_susceptibility"].mean)
    np.testing.assert_allclose(point["G_tau"].mean[0, [0, 1], [0, 1], -1].sum(), -point["density"].mean / 2, atol=1e-9)
    assert abs(point["order_identity"].mean) < 5 * point["order_identity"].error
    tail = point["Sigma"].mean[..., -1] - point["Sigma_infinity"].mean
    assert np.all(np.abs(tail.real) <= 4.5 * point["Sigma"].error[..., -1].real + 1e-12)


def test_a_staggered_field_magnetises_the_sublattices():
    model = {"U": 4, "staggered_field": 0.5, "cluster": [[1, 1], [1, -1]]}
    point = carried_out(parameters(model, FEW, density=2.0, iterations=4)).at(0.5)
    m = point["magnetisation_orbital"]
    assert m.mean[0] > 3 * m.error[0] > 0 and m.mean[1] == pytest.approx(-m.mean[0])
    assert abs(point["magnetisation"].mean) < 1e-12
    up, down = point["Sigma"].pick(spin=0).mean, point["Sigma"].pick(spin=1).mean
    np.testing.assert_allclose(up[:, 0, 0], down[:, 1, 1], atol=1e-10)
