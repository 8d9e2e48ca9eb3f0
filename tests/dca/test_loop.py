"""Steps of the self-consistency loop that no other module has."""

import numpy as np
from isolated import OPEN_DIMER, Isolated

from plaq.dca import observables


def test_next_self_energy_has_the_hartree_term_of_the_density_asked_for():
    case = Isolated(OPEN_DIMER, U=4.0, beta=2.0, mu=1.2, measurements=512)
    chains = case.fresh_chains()
    case.run(chains)
    measured = case.collected(chains)
    own, density = observables.self_energy(case.setting, measured)
    fixed, _ = observables.self_energy(case.setting, measured, wanted=0.9)
    np.testing.assert_allclose(fixed.mean - own.mean, 4.0 / 2 * (0.9 - density.mean), atol=1e-12)
