"""Two-particle functions of the interaction expansion against exact diagonalisation."""

import numpy as np
import pytest
from general_cases import GeneralCase, deviations
from isolated import OPEN_DIMER, RING, Isolated

from plaq.data import statistics
from plaq.dca.lattice.interaction import DN, UP, DensityPair, Interaction
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
        "extra": {"window": WINDOW, "pairing": True, "channels": channels}, **rest})


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
    channels = [("pp", 1, 1), ("magnetic", 1, -1)]
    measured = general_case({RIGHT: [[-1.0]], LEFT: [[-1.0]]}, ((3, 0), (0, 1)), channels).collected()
    ring = Isolated(RING, U, BETA, MU).exact
    values = [one[:, :, 0, 0, :, 0, 0] for one in (*measured.channels, measured.pairing)]
    compare(measured, values, [np.moveaxis(two_particle(ring, kind, q, m, N), 1, 2)
                               for kind, q, m in (*channels, ("pp", 0, 0))])


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
        sites = one[:, 0, :, :, 0]
        if kind == "pp":
            transformed = np.einsum("ka,kb,pc,pd,zabcdnm->zkpnm", f, of_q, f.conj(), of_q.conj(), sites)
        else:
            transformed = np.einsum("ka,kb,pc,pd,zabcdnm->zkpnm", of_q, f.conj(), f, of_q.conj(), sites)
        values.append(transformed)
        exact.append(np.moveaxis(two_particle(pair.exact, kind, Q, m, N), 1, 2))
    compare(measured, values, exact)


def test_they_need_equivalent_spins():
    field = {HERE: ([[-0.2]], [[0.2]]), RIGHT: [[-0.5]], LEFT: [[-0.5]]}
    case = general_case(field, ((2, 0), (0, 1)), [("pp", 0, 0)])
    with pytest.raises(InputError, match="two_particle: CT-INT measures two-particle functions only where"):
        case.problem
