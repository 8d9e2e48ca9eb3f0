"""chi''(q, omega) from bosonic Matsubara frequencies: sums over poles, free electrons, exact clusters, a run."""

import numpy as np
import pytest

from plaq import dca
from plaq.data.estimate import Axis, Estimate
from plaq.dca.continuation.bosonic import Bosonic
from plaq.dca.continuation.dynamic import of_orbitals
from plaq.dca.continuation.kernel import Grid
from plaq.dca.continuation.one_function import Choice, continued
from plaq.dca.continuation.run_spectra import Settings, spectra_of_points

GRID = Grid.up_to(16.0)
CHOICE = Choice(model="gaussian", alpha="classic")


def with_noise(nu, exact, error, samples=16, seed=2):
    """chi at nu with relative noise that neighbouring frequencies share."""
    rng = np.random.default_rng(seed)
    distance = np.abs(np.arange(len(nu))[:, None] - np.arange(len(nu)))
    groups = exact * (1 + error * np.sqrt(samples) * rng.normal(size=(samples, len(nu)))
                      @ np.linalg.cholesky(np.exp(-distance / 3.0)).T)
    left_out = (groups.sum(axis=0) - groups) / (samples - 1)
    spread = np.sqrt((samples - 1) / samples * np.sum((left_out - left_out.mean(axis=0)) ** 2, axis=0))
    return Bosonic(nu, groups.mean(axis=0), spread, left_out)


def mean_frequency(S):
    """Mean of |omega| and of omega^2 in S."""
    weight = GRID.integral(S)
    return GRID.integral(np.abs(GRID.omega) * S) / weight, GRID.integral(GRID.omega**2 * S) / weight


def test_the_kernel_is_the_sum_over_a_pole():
    nu = 2 * np.pi * 0.2 * np.arange(5)
    pole = np.zeros(len(GRID.omega))
    at = len(pole) // 2 + 120
    pole[at] = 1 / GRID.weights[at]
    omega = GRID.omega[at]
    assert np.allclose(GRID.bosonic_kernel(nu) @ pole, omega**2 / (omega**2 + nu**2))


@pytest.mark.parametrize("T, modes", [(0.2, {1.2: 1.0}), (0.1, {0.8: 0.7, 4.5: 0.3}), (0.25, {3.0: 1.0})],
                         ids=["one", "two", "high"])
def test_modes_are_found(T, modes):
    """Eight frequencies, noise of 1e-3: mean |omega| to 5 %, second moment (the f-sum) to 15 %."""
    nu = 2 * np.pi * T * np.arange(8)
    exact = sum(w * m**2 / (m**2 + nu**2) for m, w in modes.items())
    found = continued(GRID, with_noise(nu, exact, 1e-3), CHOICE)
    assert found.fits and set(found.beside) == {"stochastic"}
    mean, second = mean_frequency(found.spectrum)
    assert mean == pytest.approx(sum(w * m for m, w in modes.items()), rel=0.05)
    assert second == pytest.approx(sum(w * m**2 for m, w in modes.items()), rel=0.15)


def test_free_electrons_have_lindhards_spectrum():
    """q = (pi, pi/2), T = 0.3: weight of chi''/omega in four ranges of frequency to 0.05 of chi(0)."""
    T, mu, size = 0.3, -0.4, 128
    k = 2 * np.pi * np.stack(np.meshgrid(*[np.arange(size)] * 2), axis=-1).reshape(-1, 2) / size
    energy = lambda k: -2 * np.cos(k).sum(axis=-1)
    fermi = lambda e: 1 / (np.exp((e - mu) / T) + 1)
    e, shifted = energy(k), energy(k + np.array([np.pi, np.pi / 2]))
    gap = shifted - e
    flat = np.abs(gap) < 1e-7
    strength = np.where(flat, fermi(e) * (1 - fermi(e)) / T, (fermi(e) - fermi(shifted)) / np.where(flat, 1, gap))
    strength /= strength.sum()  # of S at omega = gap, and with it at -gap
    nu = 2 * np.pi * T * np.arange(8)
    exact = np.array([np.sum(strength * np.where(n == 0, 1.0, gap**2 / (gap**2 + max(n, 1e-9) ** 2))) for n in nu])
    found = continued(GRID, with_noise(nu, exact, 1e-3), CHOICE)
    assert found.fits
    for low, high in ((0, 1), (1, 2.5), (2.5, 4.5), (4.5, 16)):
        inside = (np.abs(GRID.omega) >= low) & (np.abs(GRID.omega) < high)
        truth = strength[(np.abs(gap) >= low) & (np.abs(gap) < high)].sum()
        assert GRID.weights[inside] @ found.spectrum[inside] == pytest.approx(truth, abs=0.06)


@pytest.fixture(scope="module")
def dimer():
    """Isolated dimer, solved exactly: its only spin mode at q = pi is the triplet."""
    parameters = dca.Parameters(
        model={"U": 4, "cluster": [[2, 0], [0, 1]]}, dca={"temperatures": [0.4], "mu": 0, "isolated": True},
        solver={"kind": "ed"}, two_particle={"channels": ["magnetic"], "frequencies": 4, "bosonic": [0, 1, 2, 3],
                                             "momenta": [[0, 0], [1, 0]]})
    return parameters, dca.run(parameters, progress=False)


def test_an_exact_cluster_has_its_mode_at_the_triplet(dimer):
    """Singlet and triplet are (sqrt(U^2 + 64) - U)/2 apart: two bonds of t. q = 0 does not move; mu = U/2 - 2 t_y."""
    parameters, results = dimer
    point = spectra_of_points(results.points, parameters, Settings(), []).points[0]
    spectrum = point["chi_s_imag"]
    assert spectrum.mean.shape[0] == 1 and np.allclose(spectrum.mean, -spectrum.mean[:, ::-1])
    omega = point.omega
    positive = omega > 0
    peak = omega[positive][np.argmax((spectrum.mean[0] / np.where(omega == 0, 1, omega))[positive])]
    assert peak == pytest.approx((np.sqrt(16 + 64) - 4) / 2, rel=0.1)
    weight = 2 / np.pi * np.sum((spectrum.mean[0, positive] / omega[positive]) * np.gradient(omega)[positive])
    assert weight == pytest.approx(results.points[0]["chi_s"].mean[1, 0], rel=0.02)
    assert point["chi_s_imag_low"].values.shape == (1, len(omega))
    assert any(row["function"] == "chi_s" and row["main"] for row in point.fits)


def test_orbitals_have_their_parts():
    """Two orbitals with a mode each, at q = (pi, 0): the weights are chi_aa(q, 0), the mean frequencies those modes."""
    T, modes, weights = 0.3, np.array([1.2, 3.0]), np.array([0.7, 0.4])
    nu, q = 2 * np.pi * T * np.arange(6), np.array([[0, 0], [np.pi, 0]])
    diagonal = weights * modes**2 / (modes**2 + nu[:, None] ** 2)
    parts = np.tile(diagonal[:, :, None] * np.eye(2), (2, 1, 1, 1)).astype(complex)  # [q, nu, a, b]
    axes = Axis("q", q, "1/a"), Axis("nu", nu, "t")
    orbitals = Axis("orbital", np.array(["a", "b"])), Axis("orbital'", np.array(["a", "b"]))
    noise = lambda values: np.full(values.shape, 1e-4 + 1e-4j if np.iscomplexobj(values) else 1e-4)
    estimate = lambda name, values, axes: Estimate(name, values, noise(values), None, axes, "1/t", "")
    whole = parts.sum(axis=(2, 3)).real
    point = {"chi_s": estimate("chi_s", whole, axes), "chi_s_window": estimate("chi_s_window", 0 * whole, axes),
             "chi_s_orbital": estimate("chi_s_orbital", parts, (*axes, *orbitals))}
    found, fits = of_orbitals(point, "chi_s", GRID, CHOICE)
    assert [axis.name for axis in found.axes] == ["q", "orbital", "omega"] and found.mean.shape[:2] == (1, 2)
    assert {row["momentum"].split()[-1] for row in fits} == {"a", "b"}
    for a in range(2):
        S = np.divide(found.mean[0, a], np.pi * GRID.omega, out=np.zeros(len(GRID.omega)), where=GRID.omega != 0)
        assert GRID.integral(S) == pytest.approx(weights[a], rel=0.02)
        assert mean_frequency(S)[0] == pytest.approx(modes[a], rel=0.05)
