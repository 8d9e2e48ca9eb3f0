"""The cluster 8A without a bath, at half filling, against exact diagonalisation, which is what takes the time."""

import numpy as np
import pytest
from deviations import Deviations
from isolated import EIGHT, Isolated


@pytest.mark.slow
def test_eight_sites():
    hot = Isolated(EIGHT, U=4.0, beta=2.0, mu=2.0, measurements=32768, seed=2)
    cold = Isolated(EIGHT, U=4.0, beta=4.0, mu=2.0, measurements=32768, seed=4)
    cold.exact = hot.exact.at(beta=4.0)
    for case in (hot, cold):
        measured, exact = case.measure(), case.exact
        deviations = Deviations()
        for name in ("double_occupancy", "kinetic_energy"):
            found = measured[{"kinetic_energy": "energy_kinetic"}.get(name, name)]
            deviations.add(case.seed, name, found.mean, getattr(exact, name), found.error)
        g = exact.to_momentum(exact.green_iw(case.mesh.omega[:1]))
        independent = np.unique(case.group.representatives)
        deviations.add(case.seed, "G", *(x[independent, 0] for x in (measured["G"].mean, g, measured["G"].error)))
        identity = measured["order_identity"]
        deviations.add(case.seed, "order_identity", identity.mean, 0.0, identity.error)
        print(deviations.table())
        assert deviations.all().max() < 4**2
