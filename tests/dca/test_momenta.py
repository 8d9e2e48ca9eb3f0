"""Every inequivalent momentum is shown once, by its name, wherever a run shows momenta."""


import numpy as np
import pytest
import synthetic
from lattices import STRIPES, both_signs

from plaq import dca
from plaq.data.estimate import Axis, Estimate
from plaq.data.formatting import momentum
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.symmetry import PointGroup
from plaq.dca.physics.point import Point
from plaq.dca.physics.response import responses
from plaq.dca.results import export, plot, sweep_table
from plaq.dca.results.file import read_results, write_results
from plaq.dca.results.report_tables import momentum_table
from plaq.dca.results.results import Results, summary

SQUARE = Lattice.square(1.0, -0.2)
TRIANGULAR = Lattice(both_signs({(1, 0): -1.0, (0, 1): -1.0, (1, 1): -1.0}))
CLUSTERS = {  # by the names of Betts, Lin and Flynn, Can. J. Phys. 77, 353 (1999)
    "1": [[1, 0], [0, 1]], "4": [[2, 0], [0, 2]], "8A": [[2, 2], [2, -2]], "10A": [[3, 1], [-1, 3]],
    "12A": [[2, 2], [-4, 2]], "13": [[3, 2], [-2, 3]], "16A": [[4, 0], [0, 4]], "16B": [[4, 2], [0, 4]],
    "20A": [[4, 2], [-2, 4]], "24A": [[4, 4], [4, -2]], "26A": [[5, 1], [-1, 5]], "32": [[4, 4], [4, -4]],
    "34": [[5, 3], [-3, 5]], "50": [[5, 5], [5, -5]], "3": [[1, 1], [-1, 2]], "9": [[3, 0], [0, 3]],
    "12": [[2, 2], [-2, 4]], "61": [[5, 4], [-4, 9]]}


def shown(lattice, vectors):
    """(cluster, group, a point whose susceptibility at K is the index of K) of a run at one temperature."""
    cluster = Cluster(lattice, vectors)
    group = PointGroup(cluster)
    K = Axis("K", cluster.momenta, "1/a")
    numbers = np.arange(cluster.size, dtype=float)
    point = Point(0, 0.5, 2.0, 1.0, representatives=group.representatives)
    for name in ("spin_susceptibility", "charge_susceptibility"):
        point.observables[name] = Estimate(name, numbers, 0.1 + 0 * numbers, axes=(K,))
    omega = Axis("omega", np.pi / 2 * np.arange(1, 6, 2), "t")
    sigma = numbers[:, None] - 1j / omega.values
    point.observables["Sigma"] = Estimate("Sigma", sigma, 0.1 + 0 * sigma, axes=(K, omega))
    return cluster, group, point


@pytest.mark.parametrize("lattice", [SQUARE, STRIPES, TRIANGULAR], ids=["square", "stripes", "triangular"])
@pytest.mark.parametrize("vectors", CLUSTERS.values(), ids=CLUSTERS)
def test_every_orbit_is_shown_exactly_once(lattice, vectors):
    cluster, group, point = shown(lattice, vectors)
    rows = [cluster.momentum_index(row.q) for row in responses(point)]
    orbits = {frozenset(group.momentum_permutations[:, k].tolist()) for k in range(cluster.size)}
    assert sorted(sum(k in orbit for k in rows) for orbit in orbits) == [1] * len(orbits) and len(rows) == len(orbits)
    assert len(set(cluster.names)) == cluster.size
    assert [str(row) for row in responses(point)] == [cluster.names[k] for k in rows]


@pytest.mark.parametrize("name, lost", [("10A", "(-4π/5,2π/5)"), ("24A", "(-π/3,π/3)"), ("13", "(6π/13,4π/13)")])
def test_all_places_show_it(tmp_path, name, lost):
    cluster, group, point = shown(SQUARE, CLUSTERS[name])
    p = synthetic.parameters(model={"cluster": CLUSTERS[name]}, dca={"temperatures": [0.5]})
    write_results(tmp_path / "results.h5", Results([point]), p.to_toml(), {})
    results = read_results(tmp_path / "results.h5")[0]
    point = Point.from_state(results.points[0].state())
    count = len(set(group.representatives))
    assert lost in map(str, responses(point)) and len(responses(point)) == count
    assert f"<td>{lost}</td>" in momentum_table(results)
    assert len(summary(results, {})["temperatures"][0]["momenta"]) == count
    rows = export.by_momentum(results)
    assert [row["spin_susceptibility"] for row in rows] == sorted(set(group.representatives))
    entry = sweep_table.Entry(name, {}, "found", results)
    assert f"spin_susceptibility{lost}" in sweep_table.point_row(entry, point)
    for draw in (plot.susceptibilities, plot.self_energy):
        axes = draw(results, plot.Theme()).axes[0]
        handles, labels = axes.get_legend_handles_labels()
        assert labels == [cluster.names[k] for k in sorted(set(group.representatives))]
        looks = {(h.lines[0].get_color(), h.lines[0].get_marker()) for h in handles}
        assert len(looks) == min(count, 36)


def test_a_run_knows_its_momenta():
    stripes = {"hopping": {"1,0": -1.0, "0,1": -0.5}, "U": 4.0}
    p = dca.Parameters(model=stripes, dca={"temperatures": [1.0], "mu": 1.0, "isolated": True},
                       solver={"kind": "ed"}, two_particle={"channels": []})
    point = dca.run(p).points[0]
    assert [str(row) for row in responses(point)] == ["(0,0)", "(π,0)", "(0,π)", "(π,π)"]
    one, other = (row.values["spin_susceptibility"].mean for row in responses(point)[1:3])
    assert abs(one - other) > 0.01
    walked = dca.run(p.replace(solver={"kind": "ctaux", "measurements": 64, "warmup": 5}, run={"workers": 1})).points[0]
    assert [str(row) for row in responses(walked)] == ["(0,0)", "(π,0)", "(0,π)", "(π,π)"]


def test_names_are_fractions_of_pi():
    assert momentum(np.pi * np.array([2 / 13, -10 / 13])) == "(2π/13,-10π/13)"
    assert momentum(np.pi * np.array([0.0, 1.0])) == "(0,π)" and momentum([np.pi / 2, -np.pi / 61]) == "(π/2,-π/61)"
    assert momentum([1.0, 0.0]) == "(0.318π,0)"  # which no cluster has
