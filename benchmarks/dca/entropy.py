"""Entropy of the Hubbard model at half filling by integration, beside linked clusters.

    python entropy.py FOLDER [sites]

Runs `plaq dca` on 2x2 sites at U = 8 from T = 16 to 0.25, minutes on one core, with the results in FOLDER; the same
command goes on where it stopped. Then a table of s(T) with its standard error and the estimated error from the finite
number of temperatures. Exact: the infinite lattice by clusters of up to ``sites`` sites, 6 by default
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
P = dca.Parameters(
    model={"U": U}, two_particle={"channels": []}, solver={"measurements": 20_000}, run={"workers": 1},
    dca={"temperatures": [16, 11, 8, 5.6, 4, 2.8, 2, 1.4, 1, 0.7, 0.5, 0.4, 0.3, 0.25], "density": 1.0})


def main(folder: Path, sites: int = 6) -> None:
    found = dca.run(P, folder, progress=False).thermodynamics
    clusters = LinkedClusters(U, sites)
    s, width = found["entropy"], found.uncertainty["entropy"]
    rows = []
    for i, T in enumerate(found.T):
        value, error = (x[3] for x in limit(clusters.partial_sums(T, U / 2)))
        known = error < KNOWN
        off = (float(s.mean[i]) - value) / float((s.error[i] ** 2 + width[i] ** 2 + error**2) ** 0.5)
        rows.append([f"{T:g}", str(s[i]), f"{width[i]:.1g}", with_error(value, error) if known else "",
                     f"{off:+.1f}σ" if known else ""])
    table(["T", "s", "± discretisation", "linked clusters", "difference"], rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
