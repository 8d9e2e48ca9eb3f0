"""The cluster 8A without a bath, at half filling: exact, which is what takes the time, and by QMC."""

import numpy as np
import pytest
from deviations import Deviations
from isolated import EIGHT, Isolated

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def exact():
    """The exact solution at U = 4 and beta = 2."""
    return Isolated(EIGHT, U=4.0, beta=2.0, mu=2.0).exact


def test_symmetry_and_sum_rules(exact):
    """Particle-hole symmetry, and sums that are known from independent results."""
    beta, h = 5.0, EIGHT.cluster.hopping_matrix()
    cold = exact.at(beta=beta)
    g = cold.green_tau([0.0, beta])
    spins = cold.spin_correlation()
    assert cold.density == pytest.approx(1.0, abs=1e-12)
    assert 2 * np.sum(h * (g[..., 0] + np.eye(8))) / 8 == pytest.approx(cold.kinetic_energy, abs=1e-11)
    np.testing.assert_allclose(np.diagonal(g), -0.5, atol=1e-11)
    assert np.trace(spins) / 8 == pytest.approx((1 - 2 * cold.double_occupancy) / 4, abs=1e-11)


@pytest.mark.parametrize("beta, seed", [(2.0, 2), (4.0, 4)])
def test_eight_sites(exact, beta, seed):
    case = Isolated(EIGHT, U=4.0, beta=beta, mu=2.0, measurements=32768, seed=seed)
    case.exact = exact = exact.at(beta=beta)
    measured, deviations = case.measure(), Deviations()
    for name, of_run in (("double_occupancy", "double_occupancy"), ("kinetic_energy", "energy_kinetic")):
        found = measured[of_run]
        deviations.add(seed, name, found.mean, getattr(exact, name), found.error)
    g = exact.to_momentum(exact.green_iw(case.mesh.omega[:1]))
    independent = np.unique(case.group.representatives)
    deviations.add(seed, "G", *(x[independent, 0] for x in (measured["G"].mean, g, measured["G"].error)))
    identity = measured["order_identity"]
    deviations.add(seed, "order_identity", identity.mean, 0.0, identity.error)
    print(deviations.table())
    assert deviations.all().max() < 4**2
