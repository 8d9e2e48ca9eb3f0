"""The error of chi^2 is that of runs, whose numbers may hang together."""

import numpy as np
import pytest
from deviations import Deviations


def test_quantities_that_say_the_same_make_chi2_no_sharper():
    deviations = Deviations()
    for run, z in enumerate(np.random.default_rng(1).normal(size=(400, 5))):
        deviations.add(run, "energy", z, 0.0, np.ones(5))
        deviations.add(run, "the same energy", z, 0.0, np.ones(5))
    chi2, error, count = deviations.reduced()
    assert (chi2, error) == pytest.approx(deviations.reduced("energy")[:2]) and count == 4000
    assert error == pytest.approx(np.sqrt(2 / 2000), rel=0.1)  # z^2 has the variance 2
    assert abs(chi2 - 1) < 4 * error


def test_numbers_fixed_by_symmetry_are_compared_without_errors():
    Deviations().add(0, "zero", 1e-7, 0.0, 0.0)
    with pytest.raises(AssertionError, match="zero"):
        Deviations().add(0, "zero", 1e-5, 0.0, 0.0)
