"""Spectra of general models: two orbitals without a bath, from their exact G, beside their poles."""

from types import SimpleNamespace

import numpy as np
import pytest

from plaq.dca.continuation.kernel import Grid
from plaq.dca.continuation.matrix_functions import MatrixFunction, spectral_matrix
from plaq.dca.continuation.one_function import Choice
from plaq.dca.continuation.orbital_spectra import fits, orbital_spectra_of
from plaq.dca.continuation.run_spectra import Spectra
from plaq.dca.continuation.spectra import Settings, SpectralPoint, grid_of
from plaq.dca.continuation.tables import spectrum_rows
from plaq.dca.lattice.model import Model
from plaq.dca.parameters import Parameters
from plaq.dca.physics.exact import exact_point, solved

T, MU = 0.2, 2.0


@pytest.fixture(scope="module")
def atom():
    """Two orbitals with hops between them, U = 4 and Hund's coupling: exact G, its spectra, and its poles."""
    p = Parameters(model={"hopping": {"0,0": [[0.2, -0.6], [-0.6, -0.2]]}, "U": 4.0, "J": 0.5, "U_prime": 1.0,
                          "kanamori": True, "cluster": [[1, 0], [0, 1]]},
                   dca={"temperatures": [T], "mu": MU, "isolated": True}, solver={"kind": "ed"},
                   two_particle={"channels": []})
    point = exact_point(p, Model.of(p), 0)
    exact = solved(Model.of(p), MU, 1 / T)
    return point, exact, orbital_spectra_of(point, p, Settings(), grid_of(p, [point]))


def poles(exact, orbital):
    """Return (positions, weights) of the spectrum of an orbital."""
    lines = [(exact.levels[n] - exact.levels[m][:, None], np.abs(c[orbitals.index(orbital)]) ** 2
              * (exact.weights[m][:, None] + exact.weights[n])) for orbitals, m, n, c in exact._hops(0)
             if orbital in orbitals]
    return np.concatenate([x.ravel() for x, _ in lines]), np.concatenate([w.ravel() for _, w in lines])


def test_weights_and_moments_of_orbitals_are_exact(atom):
    point, exact, found = atom
    A = found["A_orbital"]
    assert [axis.name for axis in A.axes] == ["K", "orbital", "omega"] and not found.warnings()
    weights = np.gradient(found.omega)
    for a in (0, 1):
        x, w = poles(exact, a)
        assert w.sum() == pytest.approx(1)
        assert A.mean[0, a] @ weights == pytest.approx(1, abs=2e-3)
        assert (A.mean[0, a] * found.omega) @ weights == pytest.approx(w @ x, abs=0.01)
        assert A.mean[0, a][found.omega < 0] @ weights[found.omega < 0] == pytest.approx(w[x < 0].sum(), abs=0.02)
        for side, there in ((x < 0, found.omega < 0), (x > 0, found.omega > 0)):  # mean of the poles on either side
            center = (A.mean[0, a] * found.omega)[there] @ weights[there] / (A.mean[0, a][there] @ weights[there])
            assert center == pytest.approx(w[side] @ x[side] / w[side].sum(), rel=0.05)


def test_sums_over_orbitals(atom):
    _, _, found = atom
    np.testing.assert_allclose(found["A"].mean, found["A_orbital"].mean.sum(axis=1))
    np.testing.assert_allclose(found["dos"].mean, found["dos_orbital"].mean.sum(axis=0))
    assert np.all(found["A_low"].values <= found["A"].mean + 1e-9)
    assert np.all(found["A_high"].values >= found["A"].mean - 1e-9)


def test_spectra_between_orbitals_are_exact(atom):
    """G_12(omega + i) to 2 % of G_11, and its diagonal is that of the orbitals."""
    _, exact, found = atom
    A, grid = found["A_matrix"], Grid(found.omega)
    assert [axis.name for axis in A.axes] == ["K", "orbital", "orbital'", "omega"]
    np.testing.assert_allclose(A.mean[0, [0, 1], [0, 1]], found["A_orbital"].mean[0], atol=1e-12)
    np.testing.assert_allclose(A.mean[0, 0, 1], A.mean[0, 1, 0].conj())
    z = np.linspace(-5, 5, 21) + 1j
    g = np.zeros((2, 2, len(z)), complex)
    for orbitals, m, n, c in exact._hops(0):
        gap, weight = exact.levels[n] - exact.levels[m][:, None], exact.weights[m][:, None] + exact.weights[n]
        g[np.ix_(orbitals, orbitals)] += np.einsum("imn,jmn,mnz->ijz", c, c.conj(), weight[..., None] / (
            z - gap[..., None]))
    there = np.einsum("abx,zx->abz", A.mean[0] * grid.weights, 1 / (z[:, None] - grid.omega))
    largest = np.abs(g[0, 0]).max()
    assert np.abs(there - g).max() < 0.02 * largest < 0.2 * np.abs(g[0, 1]).max()
    assert abs(A.mean[0, 0, 1] @ grid.weights) < 1e-3


def test_equivalent_orbitals_are_continued_and_drawn_once():
    """Two degenerate orbitals with Hund's coupling, which do not mix, and one of another energy."""
    p = Parameters(model={"hopping": {"0,0": [[0.0, 0, 0], [0, 0.0, 0], [0, 0, 1.0]]}, "U": 2.0, "J": 0.2,
                          "U_prime": 1.0, "cluster": [[1, 0], [0, 1]]},
                   dca={"temperatures": [T], "mu": 1.0, "isolated": True}, solver={"kind": "ed"},
                   two_particle={"channels": []})
    point = exact_point(p, Model.of(p), 0)
    found = orbital_spectra_of(point, p, Settings(), grid_of(p, [point]))
    assert "A_matrix" not in found
    functions = [row["function"] for row in found.fits if row["main"]]
    assert functions == ["G 1", "G 3", "Sigma 1", "Sigma 3"]
    np.testing.assert_array_equal(found["A_orbital"].mean[0, 0], found["A_orbital"].mean[0, 1])
    drawn = Spectra([found], Settings().plain(), "t", "hash").drawings()["spectra_orbitals"].figure()
    assert [line.get_label() for line in drawn.axes[0].lines[:2]] == ["1, 2", "3"]


def test_a_self_energy_lost_in_noise_is_a_warning():
    omega, grid = np.pi * T * (2 * np.arange(4) + 1), Grid(np.linspace(-4, 4, 81))
    values = np.zeros((2, 2, 4), dtype=complex)
    values[0, 0], values[1, 1] = -1 / (1j * omega), 1 / (1j * omega - 1)
    function = MatrixFunction(omega, values, 1e-3 * np.ones_like(values), None, np.diag([-1.0, 1.0]), None, np.eye(2))
    found = spectral_matrix(grid, function, Choice(), ("a", "b"))
    assert found.noise == ("a",) and list(found.found) == ["b"] and not found.matrix[0].any()
    model = SimpleNamespace(lattice=SimpleNamespace(orbitals=("a", "b")), cluster=SimpleNamespace(names=["(0,0)"]))
    point = SpectralPoint(0, T, {}, {}, fits({"Sigma": {(0, 0): found}}, model, 1, "maxent"), np.array([0]))
    assert ("T = 0.2, Sigma a at K = (0,0) by maxent: taken as constant: its noise is larger than its spectrum"
            in point.warnings())


def test_tables_figures_and_file_have_them(atom, tmp_path):
    spectra = Spectra([atom[2]], Settings().plain(), "t", "hash")
    (row,) = spectrum_rows(spectra)
    assert row[1] == "(0,0)" and row[-1] == "fits"
    assert set(spectra.drawings()) == {"spectra_momenta", "spectra_dos", "spectra_orbitals", "spectra_between",
                                       "spectra_sigma"}
    for drawing in spectra.drawings().values():
        drawing.figure()
    again = Spectra.load(spectra.save(tmp_path).parent)
    np.testing.assert_array_equal(again.at(T)["A_orbital"].mean, atom[2]["A_orbital"].mean)
