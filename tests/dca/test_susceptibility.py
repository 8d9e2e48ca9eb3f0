"""Response of the lattice: free electrons, isolated clusters against exact diagonalisation, RPA, windows."""

import functools

import numpy as np
import pytest

from plaq.dca.lattice import matsubara
from plaq.dca.lattice.model import Model
from plaq.dca.lattice.transfers import assign, needed_transfers
from plaq.dca.parameters import Parameters
from plaq.dca.physics.evaluation import Evaluation
from plaq.dca.physics.lattice_response import CHANNELS, LatticeFunctions, TransferResponse, d_wave
from plaq.dca.physics.susceptibility import Spectrum, Sums, Window, susceptibilities, vertex
from plaq.dca.solver import ed
from plaq.errors import InputError


def system(U, beta, mu, vectors, isolated=False, t_prime=0.0):
    """Return (model, mesh, evaluation)."""
    p = Parameters("x", model={"U": U, "cluster": vectors, "t_prime": t_prime},
                   dca={"temperatures": [1 / beta], "mu": mu, "isolated": isolated})
    model = Model.of(p)
    mesh = matsubara.mesh(beta, matsubara.frequency_cutoff(model.lattice, U, mu))
    model.coarse_graining.prepare(np.pi / beta)
    return model, mesh, Evaluation(model, mesh, 0.0, mu, None)


def response(model, mesh, kind, Q, momenta, window=6, m=0):
    return TransferResponse(model, mesh.beta, mesh.wmax, kind, Q, m, window, momenta)


def diagonal(chi0):
    """Return [K, n, K', n'] with chi0 [K, n] on the diagonal."""
    return np.diag(chi0.ravel()).reshape(*chi0.shape, *chi0.shape)


def without_vertex(transfer_response, functions):
    """Return the two-particle function of the cluster without vertex corrections."""
    window = transfer_response.windows[0]
    g4 = diagonal(transfer_response.chi0_cluster(functions, window, window.n))
    if (transfer_response.kind, transfer_response.transfer, window.m) == ("charge", 0, 0):
        g = functions.g(window.n)
        g4 = g4 + 2 * g[:, :, None, None] * g
    return g4


MU, BETA = -0.5, 5.0


@functools.cache
def free(vectors):
    model, mesh, evaluation = system(0.0, BETA, MU, [list(v) for v in vectors], t_prime=-0.2)
    g = model.coarse_graining.gbar(np.repeat(1j * mesh.omega[None] + MU, model.cluster.size, axis=0))
    return model, mesh, LatticeFunctions.of(evaluation, g, 0 * g, np.zeros(model.cluster.size))


@pytest.mark.parametrize("vectors", [((1, 0), (0, 1)), ((2, 0), (0, 2)), ((2, 2), (2, -2))])
@pytest.mark.parametrize("at", [(0, 0), (1, 0), (24, 10), (128, 128), (128, 40)])
def test_free_electrons_respond_as_the_lindhard_function_says(vectors, at):
    """To 1e-4, also for q -> 0 and at nesting (π,π); chi_pair with both form factors."""
    (model, mesh, functions), size = free(vectors), 256
    k = 2 * np.pi * np.stack(np.meshgrid(*[np.arange(size)] * 2), axis=-1).reshape(-1, 2) / size
    q = 2 * np.pi * np.array(at) / size
    fermi = lambda e: 1 / (np.exp(BETA * (e - MU)) + 1)
    slope = lambda e: BETA * fermi(e) * (1 - fermi(e))
    e, shifted, partner = (model.lattice.dispersion(x) for x in (k, k + q, q - k))
    apart, energy = e - shifted, e + partner - 2 * MU
    flat, zero = np.abs(apart) < 1e-7, np.abs(energy) < 1e-7
    lindhard = np.where(flat, slope(e), (fermi(shifted) - fermi(e)) / np.where(flat, 1, apart)).mean()
    pairs = np.where(zero, slope(e), (1 - fermi(e) - fermi(partner)) / np.where(zero, 1, energy))
    exact = {"chi_s": lindhard / 2, "chi_c": 2 * lindhard, "chi_pair_s": pairs.mean(),
             "chi_pair_d": (pairs * d_wave(q)(k) ** 2).mean()}
    for kind in CHANNELS:
        Q = needed_transfers(model.group, [q])[0]
        (_, image), = assign(model.group, q[None], [Q])[Q]
        part = response(model, mesh, kind, Q, [image])
        values = part(functions, without_vertex(part, functions), [None])
        for name in part.names:
            assert values[name][0] == pytest.approx(exact[name], rel=2e-4, abs=1e-6)
            assert abs(values[f"{name}_window"][0]) < 1e-9


@functools.cache
def exact_cluster(U, beta, mu, vectors):
    model, mesh, evaluation = system(U, beta, mu, [list(v) for v in vectors], isolated=True)
    exact = ed.ExactCluster(model.cluster.hopping_matrix(), U, mu, beta, fourier=model.cluster.fourier)
    g = exact.to_momentum(exact.green_iw(mesh.omega))
    sigma = 1j * mesh.omega + mu - model.cluster.energies[:, None] - 1 / g
    return model, mesh, exact, LatticeFunctions.of(evaluation, g, sigma, np.full(len(g), U * exact.density / 2))


@pytest.mark.parametrize("case, window, tolerance", [
    ((4.0, 2.0, 1.5, ((2, 0), (0, 1))), 6, 2e-4), ((8.0, 5.0, 2.0, ((2, 0), (0, 1))), 8, 4e-3),
    ((4.0, 5.0, 1.0, ((1, 0), (0, 1))), 8, 1e-3)], ids=["dimer", "dimer, strong", "site"])
def test_isolated_clusters_have_their_exact_static_susceptibilities(case, window, tolerance):
    """Absolute tolerance; the sum over the window alone is off by .02 to .2."""
    model, mesh, exact, functions = exact_cluster(*case)
    direct = {name: model.cluster.to_momenta(np.asarray(values)[:, 0]).real for name, values in
              (("chi_s", exact.spin_susceptibility()), ("chi_c", exact.charge_susceptibility()))}
    for kind, name in (("magnetic", "chi_s"), ("charge", "chi_c")):
        for Q in range(model.cluster.size):
            g4 = ed.two_particle(exact, kind, Q, 0, np.arange(-window, window))
            part = response(model, mesh, kind, Q, [model.cluster.momenta[Q]], window)
            value = part(functions, g4, [None])[name][0]
            assert value == pytest.approx(direct[name][Q], abs=tolerance)


def test_windows_of_all_sizes_agree_at_finite_bosonic_frequency():
    """To 3e-3 between 4 and 8 frequencies, where the plain sums differ by .05."""
    model, mesh, exact, functions = exact_cluster(4.0, 2.0, 1.5, ((2, 0), (0, 1)))
    for kind in CHANNELS:
        chi = []
        for window in (4, 8):
            part = response(model, mesh, kind, 1, [model.cluster.momenta[1]], window, m=1)
            chi.append(part(functions, ed.two_particle(exact, kind, 1, 1, part.windows[0].n), [None])[part.names[0]][0])
        assert chi[0] == pytest.approx(chi[1], abs=3e-4)


def test_a_bare_vertex_gives_the_random_phase_approximation():
    """chi0/(1 -+ U chi0) at any q, whatever the window, with the first eigenvalue U chi0."""
    U, (model, mesh, functions) = 1.5, free(((2, 0), (0, 2)))
    model = type(model)(**{**vars(model), "U": U})
    q = np.array([0.4, 0.9])
    for kind, sign, scale in (("magnetic", 1, 0.5), ("charge", -1, 2)):
        part = response(model, mesh, kind, 0, [q], window=3)
        window = part.windows[0]
        chi0 = part.chi0_cluster(functions, window, window.n)
        bare = sign * U / (mesh.beta * 4)
        outside = window.sum_outside(lambda n: part.chi0_cluster(functions, window, n).sum(axis=0))
        inside = np.diag(1 / chi0.ravel()) - bare - bare**2 * outside / (1 - bare * outside)
        g4 = np.linalg.inv(inside).reshape(*chi0.shape, *chi0.shape)
        if kind == "charge":
            g = functions.g(window.n)
            g4 = g4 + 2 * g[:, :, None, None] * g
        bubble = part.sums(functions, part.bubbles[0], window).square[0].real / (mesh.beta * 4)
        values = part(functions, g4, part.references(functions, g4))
        assert values[part.names[0]][0] == pytest.approx(scale * bubble / (1 - sign * U * bubble), rel=1e-6)
        assert abs(values[f"{part.names[0]}_window"][0]) < 1e-6
        if sign > 0:
            assert values["leading_magnetic"][0] == pytest.approx(U * bubble, rel=1e-6)


def test_eigenvalues_of_other_data_are_followed():
    rng = np.random.default_rng(3)
    gamma, chi0 = rng.normal(size=(12, 12)), rng.uniform(1, 2, 12)
    gamma = gamma + gamma.T
    first = Spectrum.of(gamma, chi0)
    nearby = gamma + 0.02 * (lambda a: a + a.T)(rng.normal(size=(12, 12)))
    value, vector = first.follow(nearby, chi0)
    assert value == pytest.approx(Spectrum.of(nearby, chi0).value.real, abs=1e-10)
    assert np.allclose(nearby @ (chi0 * vector), value * vector)
    second = Spectrum.of(gamma, chi0, skip=1)
    assert second.value.real < first.value.real and second.above_one == first.above_one


def test_sums_outside_the_window_are_those_of_a_million_frequencies():
    for pairs, m in ((False, 0), (False, 3), (True, 2)):
        window = Window(4, m, pairs, 30)
        z = lambda n: 1j * (2 * n + 1) - 5.0
        function = lambda n: np.array([1 / (z(n) * (z(window.partner(n)) + 2.0))])
        n = np.arange(-500_000, 500_000)
        n = n[(n >= 4) | (n < -4)]
        rest = 1e-6 * (1 if pairs else -1)  # beyond: sum of 1/(2n)^2 over both signs
        assert window.sum_outside(function)[0] == pytest.approx(function(n).sum() + rest, abs=1e-7)


def test_one_more_row_for_what_lies_outside_is_elimination():
    """The response from a window is that of the whole matrix where the vertex outside is bare."""
    rng, bare = np.random.default_rng(5), 0.1
    chi0 = rng.uniform(0.2, 1, 9)
    gamma = np.full((9, 9), bare)
    gamma[:5, :5] = rng.normal(size=(5, 5)) / 5
    gamma[:5, :5] += gamma[:5, :5].T
    cluster = np.linalg.inv(np.diag(1 / chi0) - gamma)
    found = vertex(cluster[:5, :5], chi0[:5], chi0[5:].sum(), bare)
    assert np.allclose(found[:5, :5], gamma[:5, :5])
    lattice, factor = rng.uniform(0.2, 1, 9), rng.normal(size=9)
    full = np.linalg.inv(np.diag(1 / lattice) - gamma)
    parts = np.array([lattice, factor * lattice, factor**2 * lattice])
    values = susceptibilities(found, Sums.of(parts[:, :5], parts[:, 5:].sum(axis=1)))
    assert np.allclose(values, [full.sum(), factor @ full @ factor])


@pytest.mark.parametrize("pairs, words", [
    ({"momenta": [[1, 1]], "transfers": [[0, 0]]}, r"\(1, 1\) pi/a needs the two-particle function at the transfer"),
    ({"momenta": 9, "channels": ["upup"]}, "two_particle.momenta needs"),
    ({"momenta": 1}, "an integer from 2 to 1000"),
])
def test_momenta_that_cannot_be_evaluated_are_refused(pairs, words):
    with pytest.raises(InputError, match=words):
        Parameters("x", model={"U": 4}, dca={"temperatures": [1], "density": 0.9}, two_particle=pairs)
    with pytest.raises(InputError, match=r"\(0.5, 0\) pi/a is not a momentum of the isolated cluster"):
        Parameters("x", model={"U": 4}, dca={"temperatures": [1], "mu": 2, "isolated": True},
                   two_particle={"momenta": [[1, 0], [0.5, 0]]})


def test_transfers_are_those_that_the_momenta_need():
    p = Parameters("x", model={"U": 4}, dca={"temperatures": [1], "density": 0.9}, two_particle={"momenta": 9})
    assert p.two_particle.transfers == ((0, 0), (1, 0), (1, 1))
    p = Parameters("x", model={"U": 4}, dca={"temperatures": [1], "density": 0.9})
    assert p.two_particle.transfers == ((0, 0),)
