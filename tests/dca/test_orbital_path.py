"""A(k, omega) with orbitals along a path, and Sigma as a matrix: free bands, symmetry, exact eigenstates."""

import numpy as np
import pytest

from plaq.data.estimate import Axis, Estimate
from plaq.dca.continuation import run_spectra
from plaq.dca.continuation.kernel import Grid
from plaq.dca.continuation.lattice_functions import PERIODISATIONS, causal, lattice_spectrum
from plaq.dca.continuation.matrix_functions import MatrixFunction, spectral_matrix
from plaq.dca.continuation.one_function import Choice
from plaq.dca.continuation.orbital_spectra import self_energy
from plaq.dca.continuation.spectra import Settings, grid_of
from plaq.dca.lattice import matsubara
from plaq.dca.lattice.chemical_potential import cutoff
from plaq.dca.lattice.model import Model
from plaq.dca.lattice.path import path
from plaq.dca.parameters import Parameters
from plaq.dca.physics.exact import exact_point, solved
from plaq.dca.physics.point import Point

OMEGA = np.linspace(-8, 8, 161)
MODELS = {"bilayer": [[1, 1], [1, -1]], "honeycomb": [[2, 0], [0, 2]], "kagome": [[1, 0], [0, 1]],
          "nickelate": [[1, 1], [1, -1]]}


def model_of(lattice, **dca):
    hund = {"J": 0.0} if lattice == "nickelate" else {}
    p = Parameters(model={"lattice": lattice, "U": 0.0, "cluster": MODELS[lattice]} | hund, solver={"kind": "ctint"},
                   dca={"temperatures": [0.5], "mu": 0.4} | dca, two_particle={"channels": []})
    return p, Model.of(p)


def causal_sigma(model):
    """Return a retarded Sigma [K, a, b, x] with all symmetries of the model and poles that differ in all elements."""
    rng, shape = np.random.default_rng(2), model.coarse_graining.h_mean.shape
    sigma = np.zeros((*shape, len(OMEGA)), complex)
    for position in (-1.5, 0.4, 2.0):
        c = rng.normal(size=shape) + 1j * rng.normal(size=shape)
        sigma += (c @ c.swapaxes(-1, -2).conj())[..., None] / (OMEGA + 0.5j - position)
    return model.group.action.average(sigma)[0] / shape[-1]


@pytest.mark.parametrize("lattice", MODELS)
def test_free_electrons_have_their_bands_and_orbitals(lattice):
    _, model = model_of(lattice)
    k = path(model.lattice, 13).points
    step, bands = OMEGA[1] - OMEGA[0], model.lattice.bands
    energies, u = np.linalg.eigh(model.lattice.hamiltonian(k))
    lines = step / np.pi / ((OMEGA + 0.4 - energies[..., None]) ** 2 + step**2)
    expected = np.einsum("kai,kix->kax", np.abs(u) ** 2, lines)
    zero = np.zeros((model.cluster.size, bands, bands, len(OMEGA)))
    for name in PERIODISATIONS[:3]:
        found = lattice_spectrum(model.cluster, k, OMEGA, 0.4, zero, zero, name)
        np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("lattice", MODELS)
def test_periodisations_agree_at_cluster_momenta_and_have_the_symmetry_of_the_lattice(lattice):
    _, model = model_of(lattice)
    cluster, sigma = model.cluster, causal_sigma(model)
    z = np.eye(model.lattice.bands)[..., None] * (OMEGA + 1j * (OMEGA[1] - OMEGA[0]) + 0.4)
    inverse = z - model.lattice.hamiltonian(cluster.momenta)[..., None] - sigma
    green = np.moveaxis(np.linalg.inv(np.moveaxis(inverse, -1, 1)), 1, -1)
    direct = -np.einsum("kaax->kax", green).imag / np.pi
    spectrum = lambda k, name: lattice_spectrum(cluster, k, OMEGA, 0.4, sigma, green, name)
    k = np.array([0.7, 0.3]) + cluster.momenta[:2]
    for name in PERIODISATIONS:
        np.testing.assert_allclose(spectrum(cluster.momenta + 2 * np.pi * np.array([1, -1]), name), direct, atol=1e-9)
        for g, op in zip(model.group.operations, model.group.action.operations):
            moved = spectrum(k @ np.linalg.inv(g), name)[:, op.orbitals]
            np.testing.assert_allclose(moved, spectrum(k, name), atol=1e-9)


def test_a_path_of_free_electrons_from_noisy_data(tmp_path):
    """Both bands of the bilayer, with the run's figures, file and errors."""
    p, model = model_of("bilayer")
    T, coarse = 0.5, model.coarse_graining
    mesh = matsubara.mesh(1 / T, cutoff(p, model.lattice, T))
    coarse.prepare(np.pi * T)
    one = np.broadcast_to(np.eye(2)[..., None], (1, 2, 2, 2, len(mesh.omega)))
    g = coarse.gbar(one * (1j * mesh.omega + 0.4))[0]
    noise = 1e-4 * np.random.default_rng(0).normal(size=(16, *g.shape, 2)) @ [1, 1j]
    noise = model.group.action.average(noise - noise.mean(axis=0))
    error = np.sqrt(15 / 16 * np.sum(noise.real**2, axis=0)) + 1j * np.sqrt(15 / 16 * np.sum(noise.imag**2, axis=0))
    axes = [Axis("K", np.array(model.cluster.momenta)), Axis("orbital", np.array(["1", "2"])),
            Axis("orbital'", np.array(["1", "2"])), Axis("omega", mesh.omega)]
    zero = np.zeros((2, 2, 2))
    point = Point(0, T, 1 / T, 0.4, {
        "G": Estimate("G", g, error, g + noise, tuple(axes)),
        "Sigma": Estimate("Sigma", 0 * g, 0 * g, None, tuple(axes)),
        "Sigma_infinity": Estimate("Sigma_infinity", zero, zero, axes=tuple(axes[:3]))})
    found = run_spectra.spectra_of_points([point], p, Settings(periodisation="green"), [])
    (spectra,) = found.points
    assert spectra.labels == ["Γ", "X", "M", "Γ"] and spectra["A_k_orbital"].mean.shape == (121, 2, 501)
    A_k, weights = spectra["A_k"].mean, Grid(spectra.omega).weights
    np.testing.assert_allclose(A_k, spectra["A_k_orbital"].mean.sum(axis=1), atol=1e-12)
    assert np.allclose(A_k @ weights, 2, atol=0.01) and spectra["A_k"].error.max() > 0
    means = np.einsum("kaa->k", coarse.h_mean[0]).real - 2 * 0.4  # of the patches of Γ and M
    np.testing.assert_allclose((A_k @ (weights * spectra.omega))[[0, -1]], means[0], atol=0.02)
    assert {"spectra_map", "spectra_map_orbitals"} <= found.drawings().keys()
    again = run_spectra.Spectra.load(found.save(tmp_path).parent)
    np.testing.assert_array_equal(again.points[0]["A_k_orbital"].mean, spectra["A_k_orbital"].mean)


def test_sigma_as_a_matrix_is_that_of_the_eigenstates():
    """Two orbitals with hops between them, U, U' and Hund's coupling: all elements at omega + i to 1 %."""
    T, mu = 0.2, 2.0
    p = Parameters(model={"hopping": {"0,0": [[0.2, -0.6], [-0.6, -0.2]]}, "U": {"1": 4.0, "2": 3.0}, "J": 0.5,
                          "U_prime": 1.0, "kanamori": True, "cluster": [[1, 0], [0, 1]]},
                   dca={"temperatures": [T], "mu": mu, "isolated": True}, solver={"kind": "ed"},
                   two_particle={"channels": []})
    model = Model.of(p)
    point, exact = exact_point(p, model, 0), solved(model, mu, 1 / T)
    grid, (function,) = grid_of(p, [point]), self_energy(point, p, model, grid_of(p, [point])).values()
    found = spectral_matrix(grid, function, Choice(), ("1", "2"))
    assert found.modes == ("mode 1", "mode 2") and len(found.found) == 4
    z = np.linspace(-6, 6, 25) + 1j
    continued = np.einsum("abx,zx->abz", found.matrix * grid.weights, 1 / (z[:, None] - grid.omega))
    continued += point["Sigma_infinity"].mean[0][..., None]
    g = np.zeros((2, 2, len(z)), complex)
    for orbitals, m, n, c in exact._hops(0):
        gap, weight = exact.levels[n] - exact.levels[m][:, None], exact.weights[m][:, None] + exact.weights[n]
        g[np.ix_(orbitals, orbitals)] += np.einsum("imn,jmn,mnz->ijz", c, c.conj(), weight[..., None] / (
            z - gap[..., None]))
    expected = np.eye(2)[..., None] * (z + mu) - model.coarse_graining.h_mean[0, 0][..., None] - np.moveaxis(
        np.linalg.inv(np.moveaxis(g, -1, 0)), 0, -1)
    assert np.abs(continued - expected).max() < 0.01 * np.abs(expected).max()
    off = expected[0, 1] - point["Sigma_infinity"].mean[0, 0, 1]
    assert np.abs(continued[0, 1] - expected[0, 1]).max() < 0.03 * np.abs(off).max()


def test_a_causal_sigma_stays_and_another_becomes_causal():
    rng = np.random.default_rng(0)
    s = rng.normal(size=(3, 3, 50)) + 1j * rng.normal(size=(3, 3, 50))
    f = np.einsum("acx,bcx->abx", s, s.conj())
    hermitian = s + s.swapaxes(0, 1).conj()
    np.testing.assert_allclose(causal(hermitian - 1j * f), hermitian - 1j * f, atol=1e-12)
    changed = causal(hermitian + 1j * hermitian)
    np.testing.assert_allclose(changed + changed.swapaxes(0, 1).conj(), 2 * hermitian, atol=1e-12)
    part = np.moveaxis(changed - changed.swapaxes(0, 1).conj(), -1, 0) / 2j
    assert np.linalg.eigvalsh(part).max() < 1e-12


def test_sums_and_differences_of_modes_give_complex_elements():
    """A Hermitian spectral matrix with a complex element, exactly known, from its Matsubara function."""
    grid, omega = Grid.up_to(8.0), (2 * np.arange(30) + 1) * np.pi * 0.2
    line = lambda x: grid.gaussian(x, 0.3)
    u = np.array([[1, 1], [0.5j, -1]]) / np.sqrt(2)
    s = np.einsum("ai,bi,ix->abx", u, u.conj(), np.array([line(-1.0), line(1.5)]))
    values = np.einsum("abx,wx->abw", s * grid.weights, 1 / (1j * omega[:, None] - grid.omega))
    function = MatrixFunction(omega, values, 0 * values, None, s @ grid.weights, None, 4 * np.eye(2))
    found = spectral_matrix(grid, function, Choice(), ("1", "2")).matrix
    assert np.abs(found - s) @ grid.weights == pytest.approx(np.zeros((2, 2)), abs=0.08)
