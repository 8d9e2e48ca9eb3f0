"""Isolated clusters: two-particle functions of the QMC in every channel against exact diagonalisation."""

import numpy as np
import pytest
from deviations import Deviations
from isolated_cases import BETAS, COUPLINGS, GEOMETRIES, isolated_case

from plaq.data import statistics
from plaq.dca.physics.two_particle import pair_orbits
from plaq.dca.solver.distributed_g4 import pair_functions
from plaq.dca.solver.ed.two_particle import FourPoint, _element

KINDS = ("pp", "magnetic", "charge")
WINDOW = 2
FEW = 8  # numbers drawn from every array of a run


def two_particle_case(g, u, b, f):
    """Three channels, at q = 0 and above and at nu = 0 and above, each in another combination from case to case."""
    size, turn = GEOMETRIES[g].cluster.size, g + u + b
    channels = [(kind, (size - 1) * ((i + turn) // 2 % 2), (i + turn) % 2) for i, kind in enumerate(KINDS)]
    return isolated_case(g, u, b, f, seed=5000, measurements=4096, window=WINDOW, pairing=True, channels=channels,
                         K=BETAS[b] * COUPLINGS[u] * size / 2)


def compare(case, deviations):
    """A few numbers at one pair (K, K') of each function."""
    chains = case.fresh_chains()
    assert case.run(chains)
    bins = case.collected(chains)
    random = np.random.default_rng(case.seed)
    frequencies = np.arange(-WINDOW, WINDOW)
    functions = pair_functions(WINDOW, case.cluster.size, pair_orbits(case.group), len(case.channels))
    wanted = [(channel, values, functions[f"channel_{i}"])
              for i, (channel, values) in enumerate(zip(case.channels, bins.channels))]
    wanted.append((None, bins.pairing, functions["pairing"]))
    for channel, values, function in wanted:
        k1, k2 = random.integers(case.cluster.size, size=2)
        values = np.array([function.whole(rows)[k1, :, k2] for rows in values])
        found = statistics.average("G4", bins.norm, values, bins.weights)
        assert found.supported, found.note
        if channel is None:
            exact, label = exact_g4(case, "pp", 0, 0, frequencies, k1, k2)[WINDOW:].real, "G4_pp, real form"
        else:
            kind, q, m = channel
            exact = exact_g4(case, kind, q, m, frequencies, k1, k2)
            label = f"G4_{kind}, q {'= 0' if q == 0 else '> 0'}, m = {m}"
        numbers = random.choice(exact.size, FEW, replace=False)
        deviations.add(case.seed, label, *(np.ravel(x)[numbers] for x in (found.mean, exact, found.error)))


def exact_g4(case, kind, q, m, n, k1, k2):
    """[w, w'] of the exact two-particle function at one pair of momenta."""
    group = case.exact.spectrum.group
    row, column = ((k, group.add[q, group.minus[k] if kind == "pp" else k]) for k in (k1, k2))
    return _element(FourPoint(case.exact, m, n), kind, row, column)


@pytest.mark.slow
def test_two_particle():
    """A factor of 1.02 in all exact numbers is found."""
    deviations = Deviations()
    cases = [(g, 0, 0, f) for g in range(6) for f in range(2)] + [(g, u, 1, 1) for g in range(2, 6) for u in range(2)]
    for case in cases:
        compare(two_particle_case(*case), deviations)
    print(deviations.table())
    chi2, error, _ = deviations.reduced()
    assert error < 0.15
    assert abs(chi2 - 1.04) < 3 * error


def test_two_particle_at_strong_coupling():
    """G4 of a configuration has poles where determinants vanish, and a variance that need not be finite: worst where
    those of both spins vanish together, at half filling. Then a few runs miss by many errors, and the mean of z^2
    means nothing. The median does: 0.45 for a normal distribution, far above 1 for any wrong sign or index, and above
    0.9 for a factor of 1.1.
    """
    deviations = Deviations()
    for g, u, f in [(g, u, (g + u) % 2) for g in range(6) for u in (1, 2)]:
        compare(two_particle_case(g, u, 0, f), deviations)
    print(deviations.table())
    assert np.median(deviations.all()) < 0.9
