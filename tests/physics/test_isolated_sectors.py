"""An isolated cluster whose particle number is a mixture, at a temperature where single vertices never change it."""

import numpy as np
from isolated import OPEN_DIMER, at_filling

from plaq import _core
from plaq.dca.physics import observables


def test_chains_change_the_number_of_electrons():
    """One electron or two on a dimer, at 4 to 6. Without charge worms every chain keeps what it had first, most of them
    one, and the density is 0.500000(2)."""
    case = at_filling(OPEN_DIMER, 6.0, 10.0, 0.8, measurements=12288, chains=16, seed=3)
    chains = case.fresh_chains()
    assert case.run(chains)
    collected = case.collected(chains)
    numbers = 2 * collected.series[:, :, list(_core.dca.series_columns).index("density")]
    assert np.quantile(np.abs(numbers - np.round(numbers)), 0.99) < 1e-3
    assert set(np.unique(np.round(numbers))) == {1.0, 2.0}
    changes = (np.diff(np.round(numbers), axis=1) != 0).sum(axis=1)
    print(changes)
    assert changes.min() >= 1 and changes.sum() > 60
    measured = observables.estimates(case.evaluation, collected)
    exact = {"density": case.exact.density, "double_occupancy": case.exact.double_occupancy,
             "expansion_order": case.order}
    for name, wanted in exact.items():
        found = measured[name]
        print(name, found, wanted)
        assert found.supported and abs(found.mean - wanted) < 4 * found.error
    assert measured["density"].error < 0.04
