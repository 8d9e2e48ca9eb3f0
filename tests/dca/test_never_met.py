"""Sectors of S^z and N that a run has not met: errors that are not 0."""

import numpy as np
import pytest
from isolated import DIMER, Isolated


def test_errors_are_at_least_those_of_one_configuration():
    """At U = 0 and low temperature the dimer stays in its ground state, S = 0 and N = 2."""
    case = Isolated(DIMER, U=0.0, beta=10.0, mu=0.0, measurements=640, bins=16)
    found, cluster = case.measure(), case.cluster
    least = 1 / (cluster.size * 640)
    at_zero = int(np.flatnonzero(np.abs(cluster.momenta).sum(axis=1) == 0)[0])
    for kind in ("spin", "charge"):
        assert found[f"{kind}_square"].error == pytest.approx(least)
        error = found[f"{kind}_susceptibility"].error
        assert error[at_zero] == pytest.approx(10 * least)
