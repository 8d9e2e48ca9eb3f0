"""Entropy of the Hubbard model at half filling by integration, beside linked clusters.

    python entropy.py square | cubic FOLDER [sites]

Runs `plaq dca` on 2x2 or 2x2x2 sites at U = 8 from T = 16 to 0.25 or 0.36, minutes on one core, with the results in
FOLDER; the same command goes on where it stopped. Then a table of s(T) with its standard error and the estimated error
from the finite number of temperatures. Exact: the infinite lattice by clusters of up to ``sites`` sites, 6 by default
(tests/physics/linked_clusters.py), where they converge.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cooldowns import table

from plaq import dca
from plaq.data.estimate import with_error

sys.path.append(str(Path(__file__).parents[2] / "tests" / "physics"))
from linked_clusters import LinkedClusters, limit  # noqa: E402

U = 8.0
KNOWN = 0.01  # error of the linked clusters beyond which they are not shown
HIGH = [16, 11, 8, 5.6, 4, 2.8, 2, 1.4, 1, 0.7, 0.5]
SQUARE = {"temperatures": [*HIGH, 0.4, 0.3, 0.25], "measurements": 20_000}
CUBIC = {"temperatures": [*HIGH, 0.42, 0.36], "measurements": 6000}


def parameters(lattice: str, temperatures: list[float], measurements: int) -> dca.Parameters:
    dimension = {"square": 2, "cubic": 3}[lattice]
    cluster = [[2 * (i == j) for j in range(dimension)] for i in range(dimension)]
    return dca.Parameters(
        model={"lattice": lattice, "cluster": cluster, "U": U}, two_particle={"channels": []},
        solver={"measurements": measurements}, run={"workers": 1},
        dca={"temperatures": temperatures, "density": 1.0})


def main(lattice: str, folder: Path, sites: int = 6) -> None:
    p = parameters(lattice, **{"square": SQUARE, "cubic": CUBIC}[lattice])
    results = dca.run(p, folder, progress=False)
    found, clusters = results.thermodynamics, LinkedClusters(U, sites, len(p.model.cluster))
    s, width = found["entropy"], found.uncertainty["entropy"]
    rows = []
    for i, T in enumerate(found.T):
        mean, error = limit(clusters.partial_sums(T, U / 2))
        known, energy = error[3] < KNOWN, results.at(T)["energy"]
        off = (float(s.mean[i]) - mean[3]) / float((s.error[i] ** 2 + width[i] ** 2 + error[3] ** 2) ** 0.5)
        rows.append([f"{T:g}", str(s[i]), f"{width[i]:.1g}", with_error(mean[3], error[3]) if known else "",
                     f"{off:+.1f}σ" if known else "", str(energy), with_error(mean[0], error[0]) if known else ""])
    table(["T", "s", "± discretisation", "linked clusters", "difference", "E", "linked clusters"], rows)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:]))
