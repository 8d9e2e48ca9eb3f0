"""The linked-cluster expansion itself: clusters, levels, and limits where the infinite lattice is known."""

from collections import Counter

import numpy as np
import pytest
from linked_clusters import LinkedClusters, animals, bonds, connected_parts, graph, levels, limit

from plaq.dca.solver.ed import ExactCluster


def test_clusters():
    """Numbers of fixed polyominoes and polycubes, and of clusters with different bonds (Tang et al. 2013)."""
    found = animals(7)
    assert [len(of_size) for of_size in found] == [1, 2, 6, 19, 63, 216, 760]
    assert [len(of_size) for of_size in animals(5, dimension=3)] == [1, 3, 15, 86, 534]
    assert [len({graph(c) for c in of_size}) for of_size in found] == [1, 1, 1, 3, 4, 10, 19]


def test_parts():
    """A plaquette holds four sites, bonds and corners."""
    plaquette = ((0, 0), (0, 1), (1, 0), (1, 1))
    assert Counter(len(part) for part in connected_parts(plaquette).elements()) == {1: 4, 2: 4, 3: 4}


@pytest.mark.parametrize("sites", [((0, 0),), ((0, 0), (1, 0)), ((0, 0), (0, 1), (1, 0), (1, 1)),
                                   ((0, 0), (1, 0), (1, 1), (2, 0))])
@pytest.mark.parametrize("mu", [0.5, 2.0, 4.1])
def test_levels_are_those_of_exact_diagonalisation(sites, mu):
    T = 0.4
    exact = ExactCluster(-1.0 * bonds(sites), 4, mu=mu, beta=1 / T)
    found = levels(sites, 4.0).sums(T, mu) / len(sites)
    entropy = exact.log_z / len(sites) + (exact.total_energy - mu * exact.density) / T
    assert found == pytest.approx([exact.total_energy, exact.density, exact.double_occupancy, entropy], abs=1e-11)


@pytest.mark.parametrize("mu, T, largest, dimension", [(0.0, 4.0, 6, 2), (-1.0, 4.0, 6, 2), (-1.0, 12.0, 5, 3)])
def test_free_electrons(mu, T, largest, dimension):
    k = 2 * np.pi * np.arange(64) / 64
    band = -2 * sum(np.cos(x) for x in np.meshgrid(*[k] * dimension))
    occupied = 1 / (np.exp((band - mu) / T) + 1)
    n = 2 * occupied.mean()
    found, error = limit(LinkedClusters(0.0, largest, dimension).partial_sums(T, mu))
    entropy = -2 * (occupied * np.log(occupied) + (1 - occupied) * np.log(1 - occupied)).mean()
    assert np.all(error < 3e-4)
    assert np.all(np.abs(found - [2 * (band * occupied).mean(), n, n**2 / 4, entropy]) < error / 2 + 1e-12)


def test_second_order_in_the_hopping():
    """At half filling <k> = -8 int_0^beta A^2 dtau + O(beta^3), A(tau) = <c(tau) c+(0)> of an atom."""
    U, T = 200.0, 100.0
    tau = (np.arange(1000) + 0.5) / (1000 * T)
    atom = (np.exp(U * tau / 2) + np.exp(U * (1 / T - tau) / 2)) / (2 + 2 * np.exp(U / (2 * T)))
    energy, _, double, _ = LinkedClusters(U, 4).partial_sums(T, U / 2)[-1]
    assert energy - U * double == pytest.approx(-8 * np.mean(atom**2) / T, rel=1e-3)


def test_density():
    """Every partial sum at the mu of its own."""
    expansion = LinkedClusters(8.0, 5)
    sums = expansion.at_density(1.0, 0.9)
    for sites, (energy, mu, double) in enumerate(sums):
        assert expansion.partial_sums(1.0, mu)[sites, :3] == pytest.approx([energy, 0.9, double], abs=1e-8)
