"""The loop against the infinite lattice: errors of DCA fall as 1/N_c in two dimensions, so two clusters tell it."""

import numpy as np
from linked_clusters import LinkedClusters, limit

from plaq import dca

U, T = 8.0, 1.5
CLUSTERS = {8: [[2, 2], [2, -2]], 16: [[4, 0], [0, 4]]}


def energy_and_double_occupancy(sites):
    """Means and errors at half filling."""
    point = dca.run(dca.Parameters(
        model={"U": U, "cluster": CLUSTERS[sites]}, dca={"temperatures": [T], "density": 1.0},
        solver={"measurements": 320_000 // sites, "seed": sites}, two_particle={"channels": []})).points[0]
    found = [point[name] for name in ("energy", "double_occupancy")]
    return np.array([float(x.mean) for x in found]), np.array([float(x.error) for x in found])


def test_two_clusters_extrapolate_to_the_infinite_lattice():
    known, uncertainty = (x[[0, 2]] for x in limit(LinkedClusters(U, 6).partial_sums(T, U / 2)))
    (small, small_error), (large, large_error) = (energy_and_double_occupancy(sites) for sites in CLUSTERS)
    found, error = 2 * large - small, np.hypot(2 * large_error, small_error)
    assert np.all(error < [0.005, 0.002])
    assert np.all(np.abs(found - known) < 3.5 * error + uncertainty)
    # of 8 sites alone one could not have said so
    assert np.abs(small - known)[0] > 3 * small_error[0] + uncertainty[0]
