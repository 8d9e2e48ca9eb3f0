import numpy as np
import pytest
from lattices import TRIANGLES

from plaq.dca.lattice.hopping import Lattice
from plaq.errors import InputError


def test_square_dispersion_is_the_textbook_formula():
    k = np.random.default_rng(1).uniform(-7, 7, (5, 20, 2))
    kx, ky = k[..., 0], k[..., 1]
    expected = -2 * 1.3 * (np.cos(kx) + np.cos(ky)) + 4 * 0.4 * np.cos(kx) * np.cos(ky)
    assert np.allclose(Lattice.square(1.3, -0.4).dispersion(k), expected, rtol=0, atol=1e-13)


def test_on_site_amplitude_shifts_the_energy():
    plain, shifted = Lattice.square(), Lattice(Lattice.square().hopping | {(0, 0): 0.7})
    k = np.random.default_rng(2).uniform(-4, 4, (10, 2))
    assert np.allclose(shifted.dispersion(k), plain.dispersion(k) + 0.7)


@pytest.mark.parametrize(
    "lattice, extrema",
    [
        (Lattice.square(), (-4, 4)),
        (Lattice.square(1, -0.3), (-2.8, 5.2)),
        (Lattice(TRIANGLES), (-6, 3)),
        (Lattice({(0, 0): 0.5}), (0.5, 0.5)),
        # -2 cos k + 2 t2 cos 2k is lowest at cos k = 1/(4 t2) = 0.3125, off the grid: -1/(4 t2) - 2 t2
        (Lattice({(1, 0): -1, (-1, 0): -1, (2, 0): 0.8, (-2, 0): 0.8}), (-0.3125 - 1.6, 3.6)),
    ],
)
def test_extrema(lattice, extrema):
    assert np.allclose(lattice.extrema, extrema, rtol=0, atol=1e-12)


@pytest.mark.parametrize("on_site", [0.0, 0.5])
@pytest.mark.parametrize("t", [5e-324, 1e-310, 1e-200])
@pytest.mark.filterwarnings("error")
def test_extrema_of_bands_that_are_all_but_flat(t, on_site):
    lowest, highest = Lattice(Lattice.square(t).hopping | {(0, 0): on_site}).extrema
    assert (lowest, highest) == (on_site - 4 * t, on_site + 4 * t)


@pytest.mark.parametrize(
    "hopping, order, system",
    [
        (Lattice.square().hopping, 8, "square"),
        (Lattice.square(1, 0.2).hopping, 8, "square"),
        ({(1, 0): -1, (-1, 0): -1, (0, 1): -0.5, (0, -1): -0.5}, 4, "square"),
        ({(1, 0): -1, (-1, 0): -1}, 4, "square"),
        (TRIANGLES, 12, "hexagonal, axes at 60 degrees"),
        ({(x, -y): t for (x, y), t in TRIANGLES.items()}, 12, "hexagonal, axes at 120 degrees"),
        ({(1, 0): -1, (-1, 0): -1, (3, 1): -0.5, (-3, -1): -0.5}, 2, "square"),
    ],
)
def test_point_group(hopping, order, system):
    lattice = Lattice(hopping)
    assert (len(lattice.point_group), lattice.system.name) == (order, system)
    assert np.array_equal(lattice.point_group[0], np.eye(2))
    k = np.random.default_rng(3).uniform(-4, 4, (10, 2))
    for g in lattice.point_group:
        assert np.allclose(lattice.dispersion(k @ g), lattice.dispersion(k))  # g^T k . d = k . g d


@pytest.mark.parametrize(
    "hopping, words",
    [
        ({}, ["model.hopping", "empty"]),
        ({(1, 0): -1}, ["model.hopping", "(1, 0)", "missing"]),
        ({(1, 0): -1, (-1, 0): 1}, ["model.hopping", "t(-d) must equal t(d)"]),
        ({(1, 0): float("nan"), (-1, 0): float("nan")}, ["model.hopping", "nan", "finite"]),
        ({(1, 0): 1j, (-1, 0): -1j}, ["model.hopping", "finite real"]),
        ({(0.5, 0): -1, (-0.5, 0): -1}, ["model.hopping", "integers"]),
        ({(1, 0, 0, 0): -1}, ["model.hopping", "integers"]),
        ({(1, 0): -1, (1,): -1}, ["model.hopping", "integers"]),
    ],
)
def test_bad_tables_are_refused(hopping, words):
    with pytest.raises(InputError) as error:
        Lattice(hopping)
    assert all(word in str(error.value) for word in words)
