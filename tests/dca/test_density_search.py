"""mu of an isolated cluster at a density: the root search with noise, and a run against exact diagonalisation."""

import numpy as np
import pytest

from plaq.dca import commands
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.loop.density_search import average_mu, next_mu
from plaq.dca.parameters import Parameters
from plaq.dca.solver import ed

PLAQUETTE = Cluster(Lattice.square(), [[2, 0], [0, 2]])


def exact(U, T):
    return ed.ExactCluster(PLAQUETTE.hopping_matrix(), U, U / 2, 1 / T, fourier=PLAQUETTE.fourier)


def slope(solution, mu):
    return (solution.at(mu=mu + 1e-3).density - solution.at(mu=mu - 1e-3).density) / 2e-3


@pytest.mark.parametrize("T, n", [(1.0, 0.9), (0.25, 0.8), (0.1, 0.6), (2.0, 1.7)])
def test_the_search_finds_mu_within_its_error(T, n):
    solution, rng, error = exact(8.0, T), np.random.default_rng(4), 3e-3
    wanted = solution.at_density(n).mu
    deviations = []
    for _ in range(6):
        mu, records = 4.0, []
        for i in range(16):
            here = solution.at(mu=mu)
            records.append({"mu": mu, "density": here.density + error * rng.normal(), "density_error": error,
                            "compressibility": slope(solution, mu) * (1 + 0.1 * rng.normal()),
                            "phase": "final" if i > 11 else "approach", "measurements": 10})
            mu, width = next_mu(n, T, records)
        deviations.append((average_mu(records) - wanted) / width)
        assert abs(solution.at(mu=average_mu(records)).density - n) < 2.5 * error
    assert np.sqrt(np.mean(np.square(deviations))) < 2.5


def test_a_run_has_the_density_and_the_exact_results():
    p = Parameters("input.toml", model={"U": 4.0},
                   dca={"temperatures": [1.0, 0.5], "density": 0.8, "isolated": True},
                   solver={"measurements": 8192}, two_particle={"channels": []}, run={"workers": 1})
    results = commands.run(p, progress=False)
    for point in results.points:
        there = exact(4.0, point.T).at_density(0.8)
        assert abs(float(point["density"].mean) - 0.8) < 3 * float(point["density"].error)
        assert abs(float(point["mu"].mean) - there.mu) < 4 * float(point["mu"].error) and point["mu"].error > 0
        for name, value in (("double_occupancy", there.double_occupancy), ("energy_kinetic", there.kinetic_energy)):
            assert abs(float(point[name].mean) - value) < 4 * float(point[name].error)
        assert point.history[-1]["converged"] and point.history[0]["phase"] == "approach"
        assert sum(r["phase"] == "final" for r in point.history) > 1
    assert not results.warnings(0.8)


def test_a_model_of_two_orbitals_has_the_density_too():
    p = Parameters("input.toml", model={
        "U": 3.0, "J": 0.5, "cluster": [[2, 0], [0, 1]], "orbitals": ["a", "b"],
        "hopping": {"1,0": [[-0.5, 0.0], [0.0, -0.3]]}, "energies": {"a": 0.0, "b": 0.4}},
        dca={"temperatures": [0.8], "density": 1.6, "isolated": True}, run={"workers": 1},
        solver={"measurements": 4096, "measurements_first": 512})
    point = commands.run(p, progress=False).points[0]
    there = commands.run(p.replace(solver={"kind": "ed"}), progress=False).points[0]
    assert abs(float(point["density"].mean) - 1.6) < 4 * float(point["density"].error) < 0.1
    for name in ("mu", "double_occupancy", "energy"):
        assert abs(float(point[name].mean - there[name].mean)) < 4 * float(point[name].error), name
