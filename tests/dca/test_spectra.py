"""Spectra of runs: functions of the lattice, the file, the command, the report."""

import re
import sys

import numpy as np
import pytest

from plaq import dca
from plaq.data.estimate import Axis, Estimate
from plaq.dca.continuation import run_spectra
from plaq.dca.continuation.kernel import Grid
from plaq.dca.continuation.lattice_functions import PERIODISATIONS, fourier_weights, lattice_spectrum, patches
from plaq.dca.continuation.one_function import Choice
from plaq.dca.continuation.spectra import Settings
from plaq.dca.lattice import matsubara
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.coarse_graining import CoarseGraining
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.model import cluster_of
from plaq.dca.lattice.path import path
from plaq.dca.parameters import Parameters
from plaq.dca.physics.point import Point
from plaq.errors import InputError
from plaq.main import main

PLAQUETTE, EIGHT = ((2, 0), (0, 2)), ((2, 2), (2, -2))
SQUARE = Lattice.square(t_prime=-0.2)


@pytest.fixture
def command(monkeypatch, capsys):
    """The command line in this process: (exit code, standard output, standard error)."""
    def run(*words):
        monkeypatch.setattr(sys, "argv", ["plaq", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, *capsys.readouterr()

    return run


@pytest.fixture(scope="module")
def isolated_run(tmp_path_factory):
    """Exact results of an isolated dimer at two temperatures."""
    folder = tmp_path_factory.mktemp("exact") / "run"
    p = Parameters(model={"U": 6.0, "cluster": [[2, 0], [0, 1]]}, solver={"kind": "ed"}, two_particle={"channels": []},
                   dca={"temperatures": [0.5, 0.2], "mu": 3.0, "isolated": True})
    dca.run(p, folder)
    return folder


def free_points(p, error=1e-6):
    """Points of free electrons in the patches, with noise of 16 groups."""
    cluster = cluster_of(p)
    coarse, points = CoarseGraining(cluster), []
    for index, T in enumerate(p.dca.temperatures):
        mesh = matsubara.mesh(1 / T, 10.0)
        coarse.prepare(np.pi * T)
        exact = coarse.gbar(np.broadcast_to(1j * mesh.omega + p.dca.mu, (cluster.size, len(mesh.omega))))
        rng = np.random.default_rng(index)
        noise = error * np.abs(exact) * (rng.normal(size=(16, *exact.shape)) + 1j * rng.normal(size=(16, *exact.shape)))
        noise -= noise.mean(axis=0)
        axes = Axis("K", np.array(cluster.momenta)), Axis("omega", mesh.omega)
        spread = lambda part: np.sqrt(15 / 16 * np.sum(part**2, axis=0))
        zeros = np.zeros(cluster.size)
        points.append(Point(index, T, 1 / T, p.dca.mu, {
            "G": Estimate("G", exact, spread(noise.real) + 1j * spread(noise.imag), exact + noise, axes),
            "Sigma": Estimate("Sigma", 0 * exact, 0 * exact, None, axes),
            "Sigma_infinity": Estimate("Sigma_infinity", zeros, zeros),
            "Sigma_moment": Estimate("Sigma_moment", zeros, zeros)}))
    return points


def test_free_electrons_have_their_bands():
    p = Parameters(model={"U": 0.0, "t_prime": -0.2}, dca={"temperatures": [0.25], "mu": -0.7})
    found = run_spectra.spectra_of_points(free_points(p, 1e-4), p, Settings(), []).points[0]
    assert not found.warnings()
    A_k, k = found.estimates["A_k"], path(SQUARE, 121).points
    steps = np.gradient(found.omega)
    energies = SQUARE.dispersion(k) + 0.7
    assert np.all(np.abs(found.omega[A_k.mean.argmax(axis=1)] - energies) <= np.interp(energies, found.omega, steps))
    assert np.allclose(A_k.mean @ Grid(found.omega).weights, 1, atol=0.1)  # of lines one step wide, drawn on the steps
    assert not found.estimates["Sigma"].mean.any()
    # The density of states below 0, and its mean energy, against the mean over the zone.
    x = 2 * np.pi * np.arange(200) / 200
    band = SQUARE.dispersion(np.stack(np.meshgrid(x, x), axis=-1)) + 0.7
    dos, weights = found.estimates["dos"].mean, Grid(found.omega).weights
    assert abs(dos @ (weights * (found.omega < 0)) - np.mean(band < 0)) < 0.02
    assert abs(dos @ (weights * found.omega) - band.mean()) < 1e-3


def patch_weights(cluster, k):
    return patches(cluster, k)[0].sum(axis=1)


@pytest.mark.parametrize("vectors", [PLAQUETTE, EIGHT, ((4, 0), (0, 4)), ((1, 0), (0, 1))])
@pytest.mark.parametrize("weights", [patch_weights, lambda cluster, k: fourier_weights(cluster, k)[..., 0, 0]])
def test_periodisations_keep_the_functions_of_the_cluster(vectors, weights):
    cluster = Cluster(SQUARE, vectors)
    values = np.random.default_rng(1).normal(size=cluster.size)
    values += values[cluster.minus]  # functions of the lattice are even
    at_momenta = weights(cluster, cluster.momenta + 2 * np.pi * np.array([1, -1]))
    assert np.allclose(at_momenta @ values, values, atol=1e-12)
    assert np.allclose(weights(cluster, path(SQUARE, 31).points).sum(axis=1), 1)


def test_the_patch_of_a_momentum_is_the_nearest():
    cluster = Cluster(SQUARE, PLAQUETTE)
    k = np.pi * np.array([[0.9, 0.2], [0.4, 0.4], [0.5, 0.1], [0.5, 0.5]])
    assert np.allclose(patch_weights(cluster, k), [[0, 1, 0, 0], [1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.25] * 4])


def test_periodisations_of_free_electrons_agree_and_at_cluster_momenta_all_do():
    cluster, omega = Cluster(SQUARE, PLAQUETTE), np.linspace(-6, 6, 241)
    constant = np.full((4, len(omega)), 0.5 - 0.3j)
    k = path(SQUARE, 31).points
    of = lambda sigma, k: {name: lattice_spectrum(cluster, k, omega, 0.2, *(f[:, None, None] for f in (sigma, 1 / (
        omega + 0.05j + 0.2 - cluster.energies[:, None] - sigma))), name) for name in PERIODISATIONS}
    found = of(constant, k)
    assert np.allclose(found["patch"], found["sigma"]) and np.allclose(found["patch"], found["cumulant"])
    pole = 4 / (omega + 0.4j - np.array([1.0, 0, 0, -1])[:, None])
    found = of(pole, cluster.momenta)
    for name in PERIODISATIONS[1:]:
        assert np.allclose(found["patch"], found[name], atol=1e-10)


def test_spectra_of_a_run_and_their_file(isolated_run):
    found = dca.spectra(isolated_run, temperatures=[0.2])
    (point,) = found.points
    assert "A_k" not in point and {"A", "dos", "Sigma"} == point.estimates.keys()
    assert not found.warnings() and not point["A"].error.any()
    # Bonding and antibonding state at mu = U/2: poles at -5, -1, 1 and 5.
    for k, side in ((0, -1), (1, 1)):
        peak = point.omega[point["A"].mean[k].argmax()]
        assert abs(peak - 5 * side) < 0.5 or abs(peak - side) < 0.5
    path = found.save(isolated_run)
    again = dca.Spectra.load(isolated_run)
    assert path.name == "spectra.h5" and repr(again) == repr(found)
    assert np.array_equal(again.at(0.2)["A"].mean, point["A"].mean)
    assert np.array_equal(again.at(0.2)["A_low"].values, point["A_low"].values) and again.at(0.2).fits == point.fits
    with pytest.raises(KeyError, match="no spectra at T = 0.5"):
        again.at(0.5)
    with pytest.raises(KeyError, match="there are A, dos, Sigma"):
        point["B"]
    html = found._repr_html_()
    assert "Spectra of the cluster momenta" in html and "stochastic" in html


def test_the_command_writes_file_figures_report_and_export(isolated_run, command):
    before = dca.digest(isolated_run)
    code, shown, _ = command("dca", "spectra", isolated_run, "-T", "0.2", "--method", "pade")
    assert code == 0 and "peak above" in shown and "spectra.h5" in shown and "report.html" in shown
    assert {"spectra_momenta.png", "spectra_dos.png", "spectra_sigma.png"} <= {
        file.name for file in (isolated_run / "figures").iterdir()}
    report = (isolated_run / "report.html").read_text()
    assert "<h2>Spectra</h2>" in report and "method pade" in report
    assert command("dca", "export", isolated_run)[0] == 0
    rows = (isolated_run / "export" / "spectra_A.csv").read_text().splitlines()
    assert rows[0] == "T,K_x,K_y,omega,value,error" and len(rows) > 401
    assert dca.digest(isolated_run) == before
    assert "derived from the results" in command("verify", isolated_run)[1]


def test_spectra_of_other_results_are_not_shown(isolated_run):
    found = dca.spectra(isolated_run, temperatures=[0.2])
    found.of = "0" * 64
    found.save(isolated_run)
    dca.report(isolated_run)
    report = (isolated_run / "report.html").read_text()
    assert "spectra.h5 is of other results" in report and "Spectra of the cluster momenta" not in report


def test_damaged_spectra_are_an_error(isolated_run):
    path = dca.spectra(isolated_run, temperatures=[0.2]).save(isolated_run)
    content = path.read_bytes()
    path.write_bytes(content[:9000] + bytes([content[9000] ^ 1]) + content[9001:])
    with pytest.raises(InputError, match="spectra.h5: damaged.*plaq dca spectra"):
        dca.Spectra.load(isolated_run)
    path.unlink()


@pytest.mark.parametrize("options, words", [
    ({"method": "bayes"}, "method = 'bayes': not one of maxent, stochastic, pade"),
    ({"model": "round"}, "model = 'round': not one of flat, gaussian, hotter"),
    ({"alpha": "1"}, "alpha = '1': not one of chi2kink, classic, bryan"),
    ({"periodisation": "m"}, "periodisation = 'm': not one of patch, sigma, cumulant, green"),
    ({"method": "pade", "alpha": "bryan"}, "model = 'flat', alpha = 'bryan': these are settings of maxent"),
    ({"periodisation": "green"}, "is of an isolated cluster or has no band"),
    ({"temperatures": [0.3]}, "temperature = 0.3: the run has no such temperature; there are: 0.5, 0.2"),
])
def test_wrong_options_are_one_line(isolated_run, options, words):
    with pytest.raises(InputError, match=re.escape(words)):
        dca.spectra(isolated_run, **options)


def test_a_wrong_option_ends_the_command_with_one_line(isolated_run, command):
    code, _, error = command("dca", "spectra", isolated_run, "--method", "bayes")
    assert code == 2 and error.count("\n") == 1


def test_temperatures_without_a_rational_function_are_left_out():
    p = Parameters(model={"U": 0.0, "t_prime": -0.2}, dca={"temperatures": [0.5, 0.25], "mu": -0.7})
    good, noisy, pade = free_points(p, 1e-4), free_points(p, 0.5), Settings(Choice("pade"))
    found = run_spectra.spectra_of_points([good[0], noisy[1]], p, pade, [])
    line = "T = 0.25: left out, no rational function has a positive spectrum of the right norm"
    assert [point.T for point in found.points] == [0.5] and line in found.warnings()
    assert found.of == run_spectra.hash_of(good[:1])
    with pytest.raises(InputError, match=re.escape(f"method = 'pade': no temperature has spectra; {line}")):
        run_spectra.spectra_of_points(noisy[1:], p, pade, [])


def test_a_hotter_model_and_a_spectrum_that_does_not_fit():
    p = Parameters(model={"U": 0.0, "t_prime": -0.2}, dca={"temperatures": [0.5, 0.25], "mu": -0.7})
    points = free_points(p, 1e-4)
    found = run_spectra.spectra_of_points(points, p, Settings(Choice(model="hotter")), [])
    assert not found.warnings() and len(found.points) == 2
    g = points[1].observables["G"]
    g.mean, g.jackknife = 1.5 * g.mean.real + 1j * g.mean.imag, 1.5 * g.jackknife.real + 1j * g.jackknife.imag
    found = run_spectra.spectra_of_points(points, p, Settings(), [])
    assert any("T = 0.25, G at K = (0,0) by maxent: does not fit the data" in line for line in found.warnings())


def test_a_temperature_without_errors_is_left_out():
    p = Parameters(model={"U": 0.0}, dca={"temperatures": [0.5], "mu": -0.7})
    (point,) = free_points(p)
    needed = "G", "Sigma", "Sigma_infinity", "Sigma_moment"
    assert run_spectra.unusable(point, needed) == ""
    g = point.observables["G"]
    g.error, g.note = np.full_like(g.error, np.inf), "15 bins, fewer than 16"
    assert run_spectra.unusable(point, needed) == "G has no errors: 15 bins, fewer than 16"
