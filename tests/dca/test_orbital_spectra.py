"""Spectra of general models: two orbitals without a bath, from their exact G, beside their poles."""

import numpy as np
import pytest

from plaq.dca.continuation.orbital_spectra import orbital_spectra_of
from plaq.dca.continuation.run_spectra import Spectra
from plaq.dca.continuation.spectra import Settings, grid_of
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


def test_tables_figures_and_file_have_them(atom, tmp_path):
    spectra = Spectra([atom[2]], Settings().plain(), "t", "hash")
    (row,) = spectrum_rows(spectra)
    assert row[1] == "(0,0)" and row[-1] == "fits"
    assert set(spectra.drawings()) == {"spectra_momenta", "spectra_dos", "spectra_orbitals", "spectra_sigma"}
    for drawing in spectra.drawings().values():
        drawing.figure()
    again = Spectra.load(spectra.save(tmp_path).parent)
    np.testing.assert_array_equal(again.at(T)["A_orbital"].mean, atom[2]["A_orbital"].mean)
