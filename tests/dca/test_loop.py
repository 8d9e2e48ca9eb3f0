"""Steps of the self-consistency loop that no other module has."""

import numpy as np
from isolated import OPEN_DIMER, Isolated

from plaq.dca import observables
from plaq.dca.loop import APPROACH, FINAL, SETTLE, next_phase


def test_next_self_energy_has_the_hartree_term_of_the_density_asked_for():
    case = Isolated(OPEN_DIMER, U=4.0, beta=2.0, mu=1.2, measurements=512)
    chains = case.fresh_chains()
    case.run(chains)
    measured = case.collected(chains)
    own, density = observables.self_energy(case.setting, measured)
    fixed, _ = observables.self_energy(case.setting, measured, wanted=0.9)
    np.testing.assert_allclose(fixed.mean - own.mean, 4.0 / 2 * (0.9 - density.mean), atol=1e-12)


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
