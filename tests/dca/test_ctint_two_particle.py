"""Two-particle functions of the interaction expansion against exact diagonalisation."""

from dataclasses import replace

import numpy as np
import pytest
from general_cases import GeneralCase, deviations
from isolated import OPEN_DIMER, RING, Isolated

from plaq.data import statistics
from plaq.dca.lattice.interaction import DN, UP, DensityPair, Interaction, Torus, build_interaction
from plaq.dca.solver.ed.model import exact_cluster
from plaq.dca.solver.ed.two_particle import two_particle
from plaq.errors import InputError

HERE, RIGHT, LEFT = (0, 0), (1, 0), (-1, 0)
WINDOW, N = 2, np.arange(-2, 2)
U, BETA, MU = 3.0, 2.0, 1.2


def general_case(table, vectors, channels, **rest):
    count = np.shape(next(iter(table.values())))[-1]
    pairs = tuple(DensityPair(U, a, UP, HERE, a, DN) for a in range(count))
    return GeneralCase(table, vectors, Interaction(pairs), **{
        "beta": BETA, "mu": MU, "seed": 4, "measurements": 9600, "order": 8, "chains": 64,
        "extra": {"window": WINDOW, "channels": channels}, **rest})


def compare(measured, values, exact):
    """Compare bins of functions, times the norm, with exact values of all of them."""
    numbers = []
    for one, expected in zip(values, exact):
        found = statistics.average("G4", measured.norm, one, measured.weights)
        numbers.append(deviations((found.mean, found.error), expected).ravel())
    numbers = np.concatenate(numbers)
    assert np.abs(numbers).max() < 5.0
    assert 0.4 < np.mean(numbers**2) < 1.8


def test_they_are_exact_within_errors():
    """A ring of three sites, where K and -K differ."""
    channels = [("pp", 1, 1), ("magnetic", 1, -1), ("pp", 0, 0)]
    measured = general_case({RIGHT: [[-1.0]], LEFT: [[-1.0]]}, ((3, 0), (0, 1)), channels).collected()
    ring = Isolated(RING, U, BETA, MU).exact
    values = [one[:, :, 0, 0, :, :, 0, 0] for one in measured.channels]
    compare(measured, values, [two_particle(ring, kind, q, m, N) for kind, q, m in channels])


def test_their_orbitals_may_be_sites():
    """Two sites as the orbitals of one cell: functions of their momenta follow by Fourier transforms."""
    channels = [("pp", 0, 1), ("magnetic", 0, 0), ("charge", 0, 1)]
    cell = general_case({HERE: [[0.0, -1.0], [-1.0, 0.0]]}, ((1, 0), (0, 1)), channels)
    measured = cell.collected()
    pair = Isolated(OPEN_DIMER, U, BETA, MU)
    f, Q = pair.cluster.fourier / np.sqrt(2), 1
    of_q = f[pair.cluster.momentum_sum[:, Q]]  # K + Q, which is Q - K too
    values, exact = [], []
    for (kind, _, m), one in zip(channels, measured.channels):
        first, second = (f, of_q) if kind == "pp" else (of_q, f.conj())
        values.append(np.einsum("ka,kb,pc,pd,zabncdm->zknpm", first, second, first.conj(), second.conj(),
                                one[:, 0, :, :, :, 0]))
        exact.append(two_particle(pair.exact, kind, Q, m, N))
    compare(measured, values, exact)


def test_they_are_exact_with_orbitals_in_cells():
    """Two cells of two orbitals with Hund's coupling, spin flips and pair hopping, against exact diagonalisation."""
    table = {HERE: [[0.3, 0.0], [0.0, -0.2]], RIGHT: [[-1.0, 0.4], [0.2, -0.5]], LEFT: [[-1.0, 0.2], [0.4, -0.5]]}
    channels, vectors = [("pp", 1, 1)], ((2, 0), (0, 1))
    hund = build_interaction(Torus(vectors), [2.0, 2.0], atoms=[0, 0], U_prime=1.2, J=0.4, kanamori=True)
    case = replace(general_case(table, vectors, channels, measurements=19200), interaction=hund)
    measured = case.collected()
    exact = exact_cluster(case.cluster, case.interaction, MU, BETA)
    compare(measured, measured.channels, [two_particle(exact, kind, q, m, N) for kind, q, m in channels])


def test_their_bits_do_not_depend_on_addresses():
    found, kept = [], []
    for i in range(4):
        kept.append(bytearray(1000 + 56 * i))  # moves what comes after it
        case = general_case({HERE: [[0.0, -1.0], [-1.0, 0.0]]}, ((1, 0), (0, 1)), [("pp", 0, 0), ("magnetic", 0, 0)],
                            measurements=640, chains=16)
        chains = case.fresh_chains()
        assert case.run(chains, workers=1 + i % 2)
        found.append(chains.bins.sums().copy())
    assert all(np.array_equal(sums, found[0]) for sums in found[1:])


def test_they_need_equivalent_spins():
    field = {HERE: ([[-0.2]], [[0.2]]), RIGHT: [[-0.5]], LEFT: [[-0.5]]}
    case = general_case(field, ((2, 0), (0, 1)), [("pp", 0, 0)])
    with pytest.raises(InputError, match="two_particle: CT-INT measures two-particle functions only where"):
        case.problem
