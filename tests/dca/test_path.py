import numpy as np
import pytest
from lattices import (
    CHAIN,
    CUBIC,
    DIAMOND,
    HONEYCOMB,
    KAGOME,
    STRIPES,
    T_PRIME,
    TRIANGLES,
    TRIANGULAR,
    orbital_lattice,
    table_of,
)

from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.path import corners, path

LAYERS = table_of(1, ((1, 0, 0), 0, 0, -1.0), ((0, 1, 0), 0, 0, -1.0), ((0, 0, 1), 0, 0, -0.5))
BODY = table_of(1, *((d, 0, 0, -1.0) for d in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1))))  # eight neighbours
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


# energies at the corners by hand; eps = -2 sum cos for cubes and chains
@pytest.mark.parametrize("table, labels, energies", [
    (CHAIN, "ΓX", [[-2], [2]]), (CUBIC, "ΓXMΓRX", [[-6], [-2], [2], [-6], [6], [-2]]),
    (HONEYCOMB, "ΓKMΓ", [[-3, 3], [0, 0], [-1, 1], [-3, 3]]),
    (KAGOME, "ΓKMΓ", [[-4, 2, 2], [-1, -1, 2], [-2, 0, 2], [-4, 2, 2]]),
    # diamond: |1 + three phases| is 4 at Γ, 0 at X and W, 2 at L
    (DIAMOND, "ΓXWKΓL", [[-4, 4], [0, 0], [0, 0], None, [-4, 4], [-2, 2]]),
    (LAYERS, "ΓXMΓZRAZ", [[-5], [-1], [3], [-5], [-3], [1], [5], [-3]]),
    (BODY, "ΓHNΓP", [[-8], [8], [0], [-8], [0]])])
def test_energies_at_the_corners(table, labels, energies):
    lattice = orbital_lattice(table)
    p = path(lattice)
    assert "".join(p.labels) == labels
    for k, expected in zip(p.points[p.corners], energies):
        if expected is not None:
            assert np.allclose(lattice.energies(k), expected, atol=1e-12)


def test_corners_of_face_and_body_centred_zones_are_where_they_should_be():
    """Distances in units of 2π over the edge of the cube: X 1, W √5/2, K 3/√8, L √3/2; H 1, N 1/√2, P √3/2."""
    for table, wanted in ((DIAMOND, {"X": 1, "W": 5**0.5 / 2, "K": 3 / 8**0.5, "L": 3**0.5 / 2}),
                          (BODY, {"H": 1, "N": 0.5**0.5, "P": 3**0.5 / 2})):
        lattice = orbital_lattice(table)
        inverse = np.linalg.inv(np.array(lattice.system.metric, dtype=float))
        edge = {"face-centred cubic": 2.0, "body-centred cubic": 2.0}[lattice.system.name]  # metric: a^2/4 = 1
        names, places = corners(lattice)
        for name, k in zip(names, places):
            if name != "Γ":
                assert np.isclose(np.sqrt(k @ inverse @ k) * edge / (2 * np.pi), wanted[name]), name


def test_two_directions_of_three_that_differ():
    table = table_of(1, ((1, 0, 0), 0, 0, -1.0), ((0, 1, 0), 0, 0, -0.5), ((0, 0, 1), 0, 0, -0.2))
    assert "".join(path(orbital_lattice(table)).labels) == "ΓXSYΓZURTZ"
