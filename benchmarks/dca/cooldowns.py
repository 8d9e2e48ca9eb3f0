"""Whole cooldowns over seeds: does a result scatter as its error bar says?

    python cooldowns.py FOLDER SEEDS INPUT.toml [KEY=VALUE ...]

Runs INPUT with solver.seed = 1 ... SEEDS and keeps the results of each in FOLDER; the same command goes on where it
stopped, with the seeds that are not done yet, and more SEEDS add runs. Then a table: at every temperature the scatter
over seeds of n, mu, D, E, Sigma, lambda_d and the sign, over the root mean square of the reported errors, with its own
error 1/sqrt(2 (N-1)); a quantity with several components has the root mean square of theirs. Below it, the means over
seeds.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from plaq import dca
from plaq.data.estimate import with_error
from plaq.dca.physics import checks
from plaq.dca.results.file import read_results, write_results


def scalar(name):
    return lambda point: (np.atleast_1d(point[name].mean), np.atleast_1d(point[name].error))


def sigma(part, frequencies):
    """Real or imaginary part of Sigma at the inequivalent K of the 2x2 cluster and these frequencies."""
    def values(point):
        return tuple(getattr(x[[0, 1, 3]][:, frequencies], part).ravel()
                     for x in (point["Sigma"].mean, point["Sigma"].error))
    return values


QUANTITIES = {
    "n": scalar("density"), "μ": scalar("mu"), "D": scalar("double_occupancy"), "E": scalar("energy"),
    "Re Σ(ω₀)": sigma("real", [0]), "Im Σ(ω₀)": sigma("imag", [0]),
    "Re Σ(ω₁…ω₃)": sigma("real", [1, 2, 3]), "Im Σ(ω₁…ω₃)": sigma("imag", [1, 2, 3]),
    "sign": scalar("sign"), "λ_d": scalar("lambda_d"),
}


def table(head, rows):
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")


def ratio(values, errors):
    """Scatter over bar from [seed, component], components without noise aside; nan where there are none."""
    noisy = (errors > 1e-9).all(axis=0)
    if not noisy.any():
        return np.nan
    return np.sqrt(np.mean(values.var(axis=0, ddof=1)[noisy] / np.mean(errors**2, axis=0)[noisy]))


def of_seed(p, path):
    """The results in this file, or of a run that then fills it."""
    if path.exists():
        results, toml, _ = read_results(path, functions=False)
        assert toml == p.to_toml(), f"{path}: holds the results of another input"
        return results
    results = dca.run(p)
    write_results(path, results, p.to_toml(), {})
    print(f"{path}: {sum(results.seconds.values()):.0f} s", file=sys.stderr, flush=True)
    return results


def main(folder, seeds, source, *settings):
    p = dca.Parameters.read(source, settings)
    Path(folder).mkdir(parents=True, exist_ok=True)
    runs = [of_seed(p.replace(solver={"seed": seed}), Path(folder) / f"{seed:03d}.h5") for seed in range(1, seeds + 1)]
    print(f"\n{seeds} seeds: scatter over bar; one ratio is known to {100 / np.sqrt(2 * (seeds - 1)):.0f} %\n")
    ratios, means = [], []
    for T in p.dca.temperatures:
        points = [run.at(T) for run in runs]
        row, line = [f"{T:g}"], [f"{T:g}"]
        for name, values in QUANTITIES.items():
            if name == "λ_d" and "lambda_d" not in points[0]:
                row, line = [*row, ""], [*line, ""]
                continue
            found, errors = (np.array(x) for x in zip(*map(values, points)))
            row.append(f"{ratio(found, errors):.2f}")
            mean = found.mean(axis=0)[found.shape[1] // 2]
            line.append(with_error(mean, found.std(axis=0, ddof=1)[found.shape[1] // 2] / np.sqrt(seeds)))
        ratios.append([*row, str(sum(len(checks.warnings(point, p.dca.density)) for point in points))])
        means.append(line)
    table(["T", *QUANTITIES, "doubts"], ratios)
    print("\nMeans over seeds, with the error of the scatter; of Σ at (π,0)\n")
    table(["T", *QUANTITIES], means)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
