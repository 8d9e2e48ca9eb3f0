import numpy as np
import pytest
from lattices import STRIPES, T_PRIME, TRIANGLES, TRIANGULAR

from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.path import path

MIRRORED = Lattice({(x, -y): t for (x, y), t in TRIANGLES.items()})


@pytest.mark.parametrize("lattice, labels, lengths", [
    (T_PRIME, "ΓXMΓ", np.array([1, 1, np.sqrt(2)]) * np.pi), (STRIPES, "ΓXMYΓ", np.ones(4) * np.pi),
    (TRIANGULAR, "ΓKMΓ", np.array([4 / 3, 2 / 3, 2 / np.sqrt(3)]) * np.pi),
    (MIRRORED, "ΓKMΓ", np.array([4 / 3, 2 / 3, 2 / np.sqrt(3)]) * np.pi)])
def test_corners_and_their_distances(lattice, labels, lengths):
    p = path(lattice, 101)
    assert "".join(p.labels) == labels and p.points.shape == (101, 2) and p.positions.shape == (101,)
    assert np.allclose(np.diff(p.ticks), lengths)
    assert np.allclose(p.positions[p.corners], p.ticks) and np.all(np.diff(p.positions) > 0)
    assert np.allclose(p.points[0], 0) and p.corners[-1] == 100


@pytest.mark.parametrize("lattice", [TRIANGULAR, MIRRORED])
def test_bands_of_the_triangular_lattice_at_its_points(lattice):
    p = path(lattice)
    energies = lattice.dispersion(p.points)
    # eps = -2 t sum of three cosines: -6 t at Γ, 3 t at K, 2 t at M
    assert np.allclose(energies[p.corners], [-6, 3, 2, -6])
    assert len(p.points) == 200


def test_few_points_still_have_all_corners():
    p = path(T_PRIME, 1)
    assert len(p.points) == 4 and p.corners.tolist() == [0, 1, 2, 3]
