"""Entropy, specific heat, free energy: exact clusters, free electrons, the limit T = inf, errors, what is missing."""

import numpy as np
import pytest
import synthetic
from scipy.optimize import brentq
from scipy.special import expit

from plaq.data.estimate import Estimate
from plaq.data.figures import Theme
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.model import cluster_of
from plaq.dca.physics.entropy import Integration
from plaq.dca.physics.high_temperature import ensemble, limit, moments, one_band
from plaq.dca.physics.maxwell import Grid
from plaq.dca.physics.point import Point
from plaq.dca.results import equation_of_state
from plaq.dca.results.results import Results
from plaq.dca.results.sweep_table import Entry
from plaq.dca.results.thermodynamics import thermodynamics
from plaq.dca.solver import ed

FINE = 16 * 2 ** (-np.arange(15) / 2)
COARSE = 16 * 2.0 ** -np.arange(8)


class Exact:
    """Levels of an isolated cluster: k = e - mu n, s and c per site at fixed mu."""

    def __init__(self, vectors, U, mu):
        self.cluster = Cluster(Lattice.square(), vectors)
        self.solution = ed.ExactCluster(self.cluster.hopping_matrix(), U, mu, 1.0, fourier=self.cluster.fourier)
        self.U, self.mu = U, mu
        self.limit = limit(one_band(U, self.cluster.energies.mean(), self.cluster.energies.var()), mu=mu)

    def at(self, T):
        here = self.solution.at(beta=1 / T)
        levels = np.concatenate(here.levels)
        weight = np.exp(-levels / T)
        Z, N = weight.sum(), self.cluster.size
        mean, square = (levels**p @ weight / Z for p in (1, 2))
        return here.total_energy - self.mu * here.density, (np.log(Z) + mean / T) / N, (square - mean**2) / T**2 / N

    def density(self, T):
        return self.solution.at(beta=1 / T).density


CLUSTERS = [([[2, 0], [0, 2]], 8.0, 4.0), ([[2, 0], [0, 2]], 8.0, 1.0), ([[2, 0], [0, 1]], 4.0, 0.5),
            ([[1, 0], [0, 1]], 6.0, 3.0)]


@pytest.mark.parametrize("vectors, U, mu", CLUSTERS)
def test_entropy_of_isolated_clusters_is_exact(vectors, U, mu):
    exact = Exact(vectors, U, mu)
    for T, accuracy in ((FINE, 5e-4), (COARSE, 7e-3)):
        k, s, c = np.array([exact.at(t) for t in T]).T
        integration = Integration(1 / T, exact.limit)
        off = np.abs(integration.entropy(k) - s)
        assert off.max() < accuracy
        assert np.all(off < 2.5 * integration.entropy_uncertainty(k) + 1e-7)
        assert np.abs(integration.specific_heat(k) - c)[:-1].max() < 20 * accuracy
        assert np.abs(integration.entropy_uncertainty(k)).max() < 12 * accuracy


@pytest.mark.parametrize("vectors, U, mu", CLUSTERS)
def test_the_limit_of_infinite_temperature_is_exact(vectors, U, mu):
    exact = Exact(vectors, U, mu)
    b = 1e-4
    k, s, _ = exact.at(1 / b)
    assert k == pytest.approx(exact.limit.energy + b * exact.limit.slope, abs=3e-6)
    assert s == pytest.approx(np.log(4) + exact.limit.slope * b**2 / 2, abs=1e-8)


@pytest.mark.parametrize("n", [1.0, 0.7])
def test_the_slope_at_fixed_density_is_exact(n):
    cluster, U = Cluster(Lattice.square(), [[2, 0], [0, 2]]), 5.0
    exact = limit(one_band(U, cluster.energies.mean(), cluster.energies.var()), n)
    energy = []
    for beta in (1e-3, 2e-3):
        start = ed.ExactCluster(cluster.hopping_matrix(), U, U / 2, beta, fourier=cluster.fourier)
        energy.append(start.at_density(n).total_energy)
    assert 2 * energy[0] - energy[1] == pytest.approx(exact.energy, abs=1e-4)
    assert (4 * energy[0] - energy[1] - 3 * exact.energy) / 2e-3 == pytest.approx(exact.slope, abs=2e-3)


def test_free_electrons_at_fixed_density():
    k = 2 * np.pi * (np.arange(64) + 0.5) / 64
    eps = Lattice.square(t_prime=0.3).dispersion(np.stack(np.meshgrid(k, k), axis=-1)).ravel()
    n, T = 0.8, FINE[:13]
    p = synthetic.parameters(model={"U": 0.0, "t_prime": 0.3}, dca={"density": n, "temperatures": [1.0]})
    energy, entropy = [], []
    for t in T:
        mu = brentq(lambda mu: 2 * expit((mu - eps) / t).mean() - n, -40, 40, xtol=1e-13)
        f = np.clip(expit((mu - eps) / t), 1e-15, 1 - 1e-15)
        energy.append(2 * (eps * f).mean())
        entropy.append(-2 * (f * np.log(f) + (1 - f) * np.log1p(-f)).mean())
    integration = Integration(1 / T, ensemble(p))
    assert np.abs(integration.entropy(np.array(energy)) - entropy).max() < 5e-4


def made_up(exact, T, error, rng):
    """Points of an isolated cluster with noise."""
    points = []
    for i, t in enumerate(T):
        k, n = exact.at(t)[0], exact.density(t)
        values = {"energy": k + exact.mu * n, "density": n}
        points.append(Point(i, t, 1 / t, exact.mu, {name: synthetic.estimate(rng, name, v + error * rng.normal(), error)
                                                    for name, v in values.items()}))
    return points


def test_errors_are_those_of_the_scatter():
    exact, rng = Exact(*CLUSTERS[1]), np.random.default_rng(8)
    truth = np.array([exact.at(t) for t in FINE])
    deviations = []
    for _ in range(16):
        found = thermodynamics(made_up(exact, FINE, 2e-3, rng), exact.limit, "t")
        s, c, f = found["entropy"], found["specific_heat"], found["free_energy"]
        deviations.append([(s.mean - truth[:, 1]) / s.error, (c.mean - truth[:, 2]) / c.error,
                           (f.mean - truth[:, 0] + FINE * truth[:, 1]) / f.error])
    rms = np.sqrt(np.mean(np.square(deviations), axis=(0, 2)))
    assert np.all(np.abs(rms - 1) < 0.25)


def test_tables_and_display_of_a_run(tmp_path):
    exact = Exact(*CLUSTERS[0])
    points = made_up(exact, FINE[::-1], 1e-3, np.random.default_rng(1))
    p = synthetic.parameters(model={"U": 8.0}, dca={"density": 1.0, "isolated": False, "temperatures": [1.0]})
    half = limit(one_band(8.0, 0.0, exact.cluster.energies.var()), 1.0)
    for point in points:  # at half filling both ensembles have the same s
        point.observables["density"] = Estimate("density", np.array(1.0), np.array(0.0))
    found = thermodynamics(points, half, "t")
    assert found.T[0] == 16 and not found.missing and "compressibility" not in found
    rows = found.rows()
    assert rows[-1]["entropy"] == found["entropy"].mean[-1] and rows[0]["entropy_discretisation"] < 1e-3
    assert "s = 0.0" in repr(found) and "<svg" in found._repr_html_() and found.plot() is not None
    results = Results(points, input=p.to_toml())
    assert results.thermodynamics["entropy"].error[0] > 0 and "entropy" in results.drawings()


def test_what_is_missing_is_said():
    exact = Exact(*CLUSTERS[0])
    points = made_up(exact, [1.0, 0.5, 0.25, 0.125], 1e-3, np.random.default_rng(1))
    low = thermodynamics(points, exact.limit, "t").missing
    assert "the highest temperature, 1, is too low" in low and "begin dca.temperatures at 8" in low
    assert "needs the energy at 3 temperatures" in thermodynamics(points[:2], exact.limit, "t").missing
    with pytest.raises(KeyError, match="none: no entropy"):
        Results(points).thermodynamics["entropy"]


def test_the_limit_of_one_band_is_that_of_its_input():
    bath = moments(synthetic.parameters(model={"U": 3.0, "t_prime": 0.3}))
    assert bath.hops == pytest.approx(2 * 4.36) and bath.squares == 9 and list(bath.levels) == [0, 0]
    small = synthetic.parameters(model={"U": 3.0, "cluster": [[1, 0], [0, 1]]},
                                 dca={"density": None, "mu": 1.0, "isolated": True}, two_particle={"channels": []})
    assert list(moments(small).levels) == [-4, -4] and moments(small).hops == 0, "its own images"


def operators(count):
    """Annihilators of fermions by Jordan and Wigner."""
    z, c = np.diag([1.0, -1.0]), np.array([[0.0, 1.0], [0.0, 0.0]])
    found = []
    for i in range(count):
        matrix = np.eye(1)
        for factor in [z] * i + [c] + [np.eye(2)] * (count - i - 1):
            matrix = np.kron(matrix, factor)
        found.append(matrix)
    return found


@pytest.mark.parametrize("density", [None, 1.3])
def test_the_limit_of_orbitals_is_the_variance_of_their_hamiltonian(density):
    model = {"U": 4.0, "J": 0.5, "kanamori": True, "V": {"1,0": [[0.7, 0.3], [0.3, -0.4]]}, "orbitals": ["x", "y"],
             "energies": {"x": 0.3, "y": -0.2}, "field": 0.4, "hopping": {"1,0": [[-1.0, 0.2], [0.2, -0.5]]},
             "cluster": [[2, 0], [0, 1]]}
    p = synthetic.parameters(model=model, dca={"density": None, "mu": 0.6, "isolated": True},
                             solver={"kind": "ed"}, two_particle={"channels": []})
    cluster, h = cluster_of(p), p.hamiltonian
    index = lambda cell, orbital, spin: 4 * spin + 2 * cell + orbital  # noqa: E731
    c = operators(8)
    n = [x.T @ x for x in c]
    H = sum(cluster.hopping_matrix(spin)[i, j] * c[4 * spin + i].T @ c[4 * spin + j]
            for spin in (0, 1) for i in range(4) for j in range(4)).real
    for cell in range(2):
        for v in h.interaction.pairs:
            far = (cell + cluster.site_index(v.d)) % 2
            H = H + v.value * n[index(cell, v.a, v.spin_a)] @ n[index(far, v.b, v.spin_b)]
        for x in h.interaction.exchanges:
            H = H + x.value * (c[index(cell, x.a, 0)].T @ c[index(cell, x.b, 0)]
                               @ c[index(cell, x.c, 1)].T @ c[index(cell, x.d, 1)])
    N = sum(n)
    found = limit(moments(p), density, 0.6)
    f = 0.5 if density is None else density / 4
    weight = (f ** np.diag(N)) * ((1 - f) ** (8 - np.diag(N)))
    K = H - 0.6 * N if density is None else H
    mean = weight @ np.diag(K)
    square = weight @ np.diag(K @ K) - mean**2
    if density is not None:
        square -= (weight @ np.diag(K @ N) - mean * (weight @ np.diag(N))) ** 2 / (8 * f * (1 - f))
    assert found.energy == pytest.approx(mean / 2) and found.slope == pytest.approx(-square / 2)
    assert found.entropy == pytest.approx(-weight @ np.log(weight) / 2)


def test_maxwell_relations_of_a_cluster_are_exact():
    exact, T = Exact([[2, 0], [0, 2]], 8.0, 4.0), FINE[:9]
    solution, mu = exact.solution, np.linspace(-6, 4, 9)
    s_of = lambda e, t: (np.log(np.exp(-np.concatenate(e.levels) / t).sum())  # noqa: E731
                         + e.beta * sum(w @ lv for w, lv in zip(e.weights, e.levels))) / 4
    for fixed, x in (("mu", mu), ("density", np.array([0.7, 0.8, 0.85, 0.9, 0.95, 1.0]))):
        at = [[solution.at(mu=v, beta=1 / t) if fixed == "mu" else solution.at(beta=1 / t).at_density(v) for t in T]
              for v in x]
        y = np.array([[e.density if fixed == "mu" else e.mu for e in line] for line in at])
        s = np.array([[s_of(e, t) for e, t in zip(line, T)] for line in at])
        start = np.ones(len(x)) if fixed == "mu" else np.log(x / (2 - x))
        grid = Grid(fixed, x, 1 / T, y, np.full(y.shape, 1e-3), 0.4, start)
        change, error, width = grid.entropy_change(len(x) - 1)
        off = np.abs(change + s[-1] - s)
        assert off[:, :7].max() < 2e-3 and np.all((off < 3 * width + 6e-3)[:, :7]) and np.all(error[:-1] > 0)
        kappa, _, width = grid.compressibility()
        chi = np.array([[e.charge_susceptibility().sum() / 4 for e in line] for line in at])
        assert np.all(np.abs(kappa - chi)[:, :6] < 1.2 * width[:, :6] + 2e-3)
        assert np.abs(kappa / chi - 1)[1:-1, :6].max() < 0.1


def test_a_sweep_over_mu_has_an_equation_of_state():
    mus, T, entries = np.linspace(-2, 8, 11), FINE[:6], []
    for mu in mus.tolist():
        atom = Exact([[1, 0], [0, 1]], 6.0, mu)
        points = [Point(i, t, 1 / t, mu, {name: Estimate(name, np.array(value), np.array(0.0)) for name, value in (
            ("energy", atom.at(t)[0] + mu * atom.density(t)), ("density", atom.density(t)))}) for i, t in enumerate(T)]
        p = synthetic.parameters(model={"U": 6.0, "cluster": [[1, 0], [0, 1]]}, two_particle={"channels": []},
                                 dca={"density": None, "mu": mu, "isolated": True, "temperatures": T.tolist()})
        entries.append(Entry(f"mu={mu}", {"model.U": "6.0", "dca.mu": str(mu)}, "not measured",
                             Results(points, input=p.to_toml())))
    table = equation_of_state.rows(entries)
    assert len(table) == len(mus) * len(T) and equation_of_state.rows(entries[:2]) == []
    for row in table:
        atom = Exact([[1, 0], [0, 1]], 6.0, row["mu"])
        s = atom.at(row["T"])[1]
        chi = atom.solution.at(beta=1 / row["T"]).charge_susceptibility().sum()
        assert abs(row["entropy"] - s) < 1e-3 and abs(row["entropy_maxwell"] - s) < 5e-2
        assert abs(row["entropy_maxwell"] - s) < 2.5 * row["entropy_maxwell_discretisation"] + 2e-3
        assert abs(row["compressibility"] - chi) < 1.2 * row["compressibility_discretisation"] + 0.01
        assert row["entropy_maxwell_error"] == 0
    assert equation_of_state.draw(table, Theme(), "t").axes
