"""The infinite lattice: energy and double occupancy of `plaq dca` on growing clusters, beside what others found.

    python lattice.py FOLDER [measurements times sites]

Runs the points of `POINTS`, minutes for a cluster on one core, with the results of each in FOLDER; the same command
goes on where it stopped. Then a table of every point: each cluster beside the published value of a cluster of as many
sites, and the straight line in 1/N_c, the law of DCA's errors in two dimensions (Maier, Jarrell, Phys. Rev. B 65,
041104 (2002)), at 1/N_c = 0 beside the infinite lattice.

Published: LeBlanc et al., Phys. Rev. X 5, 041041 (2015), from the data set that belongs to it (CC BY 4.0): DCA at
each N_c and extrapolated over clusters of 20 to 98 sites, and diagrammatic Monte Carlo (DiagMC), which knows no
cluster. Exact: linked clusters of up to 7 sites (tests/physics/linked_clusters.py), where they converge.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from cooldowns import of_seed, table

from plaq import dca
from plaq.data.estimate import with_error

sys.path.append(str(Path(__file__).parents[2] / "tests" / "physics"))
from linked_clusters import LinkedClusters, limit  # noqa: E402

CLUSTERS = {4: [[2, 0], [0, 2]], 8: [[2, 2], [2, -2]], 16: [[4, 0], [0, 4]], 20: [[4, 2], [-2, 4]],
            32: [[4, 4], [4, -4]], 34: [[5, 3], [-3, 5]], 50: [[5, 5], [5, -5]]}
APPROACH = {"minimum_iterations": 20, "iterations": 28}  # from the Hartree term, with no hotter temperature before
Value = tuple[float, float]  # and its error


@dataclass(frozen=True)
class Point:
    """Point of the phase diagram with its clusters.

    clusters : their sizes; smallest : of those on the line; known : E and D by N_c or by method.
    """

    U: float
    density: float
    T: float
    clusters: tuple[int, ...]
    smallest: int
    known: Mapping[int | str, tuple[Value, Value]]

    def parameters(self, sites: int, measurements: int) -> dca.Parameters:
        return dca.Parameters(model={"U": self.U, "cluster": CLUSTERS[sites]},
                              dca={"temperatures": [self.T], "density": self.density, **APPROACH},
                              solver={"measurements": measurements // sites, "seed": sites},
                              two_particle={"channels": []}, run={"workers": 1})


@cache
def linked_clusters(U: float) -> LinkedClusters:
    return LinkedClusters(U, 7)


def with_linked_clusters(point: Point) -> dict[int | str, tuple[Value, Value]]:
    """Return the known points, with their E and D where they know E to a hundredth."""
    value, error = limit(linked_clusters(point.U).at_density(point.T, point.density))
    exact = {"linked clusters": ((value[0], error[0]), (value[2], error[2]))} if error[0] < 0.01 else {}
    return {**point.known, **exact}


POINTS = [
    Point(2, 1, 0.5, (4, 8, 16, 20, 32, 34, 50), 20, {
        32: ((-1.04843, 0.00006), (0.19346, 0.00003)),
        34: ((-1.04856, 0.00003), (0.19342, 0.00003)),
        "DCA": ((-1.0506, 0.0010), (0.19269, 0.00025)),
        "DiagMC": ((-1.05001, 0.00006), (0.1928, 0.0002))}),
    Point(4, 0.875, 0.5, (4, 8, 16, 20, 32, 34, 50), 20, {
        20: ((-0.90368, 0.00003), (0.08957, 0.00002)),
        32: ((-0.90382, 0.00005), (0.08927, 0.00002)),
        34: ((-0.90407, 0.00010), (0.08924, 0.00002)),
        "DCA": ((-0.9036, 0.0005), (0.08905, 0.00023)),
        "DiagMC": ((-0.910, 0.008), (0.086, 0.010))}),
    Point(8, 1, 1, (4, 8, 16, 20, 32), 16, {}),
]


def line(sites: Sequence[int], values: np.ndarray, errors: np.ndarray) -> tuple[Value, float]:
    """At 1/N_c = 0, by weighted least squares, and chi^2 per degree of freedom: where it is above 1, the error grows
    with its root."""
    inverse = 1 / np.array(sites)
    matrix = np.stack([np.ones(len(sites)), inverse], axis=1) / errors[:, None]
    covariance = np.linalg.inv(matrix.T @ matrix)
    fit = covariance @ matrix.T @ (values / errors)
    chi2 = float(((matrix @ fit - values / errors) ** 2).sum() / (len(sites) - 2))
    return (fit[0], np.sqrt(covariance[0, 0] * max(1, chi2))), chi2


def beside(found: Value, known: Value) -> str:
    """The known value, and how many standard deviations ours is above it."""
    return f"{with_error(*known)}, {(found[0] - known[0]) / np.hypot(found[1], known[1]):+.1f}σ"


def report(point: Point, results: Mapping[int, object]) -> None:
    found = {sites: [(float(result[name].mean), float(result[name].error)) for name in ("energy", "double_occupancy")]
             for sites, result in results.items()}
    known, rows = with_linked_clusters(point), []
    for sites, values in found.items():
        rows.append([str(sites)])
        for i, value in enumerate(values):
            rows[-1] += [with_error(*value), beside(value, known[sites][i]) if sites in known else ""]
    on_line = [sites for sites in found if sites >= point.smallest]
    limits = [line(on_line, *np.array([found[sites][i] for sites in on_line]).T) for i in (0, 1)]
    rows.append(["∞", *(cell for value, chi2 in limits for cell in (f"{with_error(*value)}, χ² {chi2:.1f}", ""))])
    for method, values in known.items():
        if isinstance(method, str):
            rows.append([method, *(cell for (ours, _), theirs in zip(limits, values)
                                   for cell in ("", beside(ours, theirs)))])
    print(f"\nU = {point.U:g}, n = {point.density:g}, T = {point.T:g}\n")
    table(["N_c", "E", "known", "D", "known"], rows)


def main(folder: str, measurements: str = "640000") -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    for point in POINTS:
        name = f"U{point.U:g}_n{point.density:g}_T{point.T:g}"
        report(point, {sites: of_seed(point.parameters(sites, int(measurements)), Path(folder) / f"{name}_{sites}.h5")
                       .points[0] for sites in point.clusters})


if __name__ == "__main__":
    main(*sys.argv[1:])
